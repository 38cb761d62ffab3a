#include "base/glyphs.h"
#include "view/render/canvas.h"

#include <string.h>

#define LEAST_SIDE 160 /* pixels: smaller pictures have no bar */
#define INK ((colour){0.05f, 0.05f, 0.06f})

/* Colours in linear light, from pale to dark. Lightness falls evenly, so that the order is clear
 * without a legend and high activity stands out on white and on both bodies. */
static const colour stops[] = {
  {0.90f, 0.76f, 0.16f},  {0.86f, 0.38f, 0.04f},  {0.72f, 0.09f, 0.05f},
  {0.36f, 0.015f, 0.13f}, {0.10f, 0.005f, 0.13f},
};

colour ramp(double activity)
{
  const int last = (int)(sizeof stops / sizeof stops[0]) - 1;
  const double x = fmin(fmax(activity, 0.0), 1.0) * last;
  const int i = x >= last ? last - 1 : (int)x;
  return colour_mix(stops[i], stops[i + 1], (float)(x - i));
}

static void put(canvas *c, size_t x, size_t y, colour paint)
{
  if (x < c->width && y < c->height) {
    c->light[y * c->width + x] = paint;
  }
}

static void write_text(canvas *c, size_t x, size_t y, size_t scale, const char *text)
{
  for (; *text; ++text, x += (GLYPH_WIDTH + 1) * scale) {
    for (size_t k = 0; k < GLYPH_WIDTH * GLYPH_HEIGHT; ++k) {
      const size_t column = k % GLYPH_WIDTH, row = k / GLYPH_WIDTH;
      if (!glyph_ink(*text, column, row)) {
        continue;
      }
      for (size_t i = 0; i < scale * scale; ++i) {
        put(c, x + column * scale + i % scale, y + row * scale + i / scale, INK);
      }
    }
  }
}

/* Draws a bar in the lower right corner, with 0 left, 1 right and its name above. */
void draw_bar(canvas *c)
{
  const size_t shorter = c->width < c->height ? c->width : c->height;
  if (shorter < LEAST_SIDE) {
    return;
  }
  const size_t scale = 1 + shorter / 700, gap = 8 * scale;
  const size_t length = shorter / 5, thick = 9 * scale;
  const size_t left = c->width - length - 3 * gap, top = c->height - 4 * gap - thick / 2;
  for (size_t y = 0; y < thick; ++y) {
    for (size_t x = 0; x < length; ++x) {
      const bool border = y == 0 || x == 0 || y + 1 == thick || x + 1 == length;
      put(c, left + x, top + y, border ? INK : ramp((double)x / (double)(length - 1)));
    }
  }
  const char *name = "activity";
  const size_t name_width = strlen(name) * (GLYPH_WIDTH + 1) * scale;
  /* On small pictures the name is wider than the bar and extends beyond it on both sides. */
  const size_t name_left = left + length / 2 - name_width / 2;
  write_text(c, name_left, top - (GLYPH_HEIGHT + 2) * scale, scale, name);
  write_text(c, left, top + thick + 3 * scale, scale, "0");
  write_text(c, left + length - GLYPH_WIDTH * scale, top + thick + 3 * scale, scale, "1");
}
