#include "core/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its functions are static, and some are unused. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wwrite-strings"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_easy_font.h>
#pragma GCC diagnostic pop

enum { TEXT_SCALE = 2, TEXT_BYTES = 40000, TEXT_LENGTH = 128 };

exit_code chart_open(chart *c, int width, int height)
{
  size_t bytes = 0;
  *c = (chart){NULL, width, height};
  c->pixels = multiply((size_t)width, (size_t)height, 3, &bytes) ? malloc(bytes) : NULL;
  if (!c->pixels) {
    return report(EXIT_RUN, "not enough memory for %d x %d pixels", width, height);
  }
  memset(c->pixels, 255, bytes);
  return EXIT_GOOD;
}

void chart_close(chart *c)
{
  free(c->pixels);
  c->pixels = NULL;
}

exit_code chart_write(const chart *c, const char *path)
{
  return report_status(abut_write_png(path, (uint32_t)c->width, (uint32_t)c->height, c->pixels));
}

static uint8_t *pixel(chart *c, int x, int y)
{
  return c->pixels + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
}

void chart_fill(chart *c, double x0, double y0, double x1, double y1, rgb colour)
{
  const int left = x0 < 0 ? 0 : (int)x0, right = x1 > c->width ? c->width : (int)x1;
  const int top = y0 < 0 ? 0 : (int)y0, bottom = y1 > c->height ? c->height : (int)y1;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      memcpy(pixel(c, x, y), &colour, 3);
    }
  }
}

/* Returns the distance of a point from a line segment. */
static double distance_to(const double from[2], const double to[2], double x, double y)
{
  const double along[2] = {to[0] - from[0], to[1] - from[1]};
  const double square = along[0] * along[0] + along[1] * along[1];
  const double at = square > 0.0 ? ((x - from[0]) * along[0] + (y - from[1]) * along[1]) / square
                                 : 0.0;
  const double share = fmin(fmax(at, 0.0), 1.0);
  return hypot(x - from[0] - share * along[0], y - from[1] - share * along[1]);
}

static void blend(uint8_t *to, rgb colour, double share)
{
  const uint8_t parts[3] = {colour.r, colour.g, colour.b};
  for (int i = 0; i < 3; ++i) {
    to[i] = (uint8_t)(to[i] + share * (parts[i] - to[i]) + 0.5);
  }
}

void chart_stroke(chart *c, const double from[2], const double to[2], double width, rgb colour)
{
  const double reach = width / 2.0 + 1.0;
  const int left = (int)fmax(fmin(from[0], to[0]) - reach, 0.0);
  const int right = (int)fmin(fmax(from[0], to[0]) + reach, c->width - 1.0);
  const int top = (int)fmax(fmin(from[1], to[1]) - reach, 0.0);
  const int bottom = (int)fmin(fmax(from[1], to[1]) + reach, c->height - 1.0);
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const double d = width / 2.0 + 0.5 - distance_to(from, to, x + 0.5, y + 0.5);
      if (d > 0.0) {
        blend(pixel(c, x, y), colour, fmin(d, 1.0));
      }
    }
  }
}

/* ---- text ---- */

/* The font has only ASCII, but a driver's name may contain any characters. */
static void copy_text(const char *text, char copy[TEXT_LENGTH])
{
  snprintf(copy, TEXT_LENGTH, "%s", text);
  for (char *c = copy; *c; ++c) {
    *c = *c < ' ' || *c > '~' ? '?' : *c;
  }
}

/* The font represents each stroke by a box with four corners. */
exit_code chart_text(chart *c, double x, double y, const char *text, rgb colour)
{
  char copy[TEXT_LENGTH];
  float *corners = malloc(TEXT_BYTES);
  if (!corners) {
    return report(EXIT_RUN, "not enough memory for the text of a picture");
  }
  copy_text(text, copy);
  const int boxes = stb_easy_font_print(0, 0, copy, NULL, corners, TEXT_BYTES);
  for (int i = 0; i < boxes; ++i) {
    const float *first = corners + 16 * i, *third = first + 8; /* x, y, z, colour per corner */
    chart_fill(c, x + TEXT_SCALE * (double)first[0], y + TEXT_SCALE * (double)first[1],
               x + TEXT_SCALE * (double)third[0], y + TEXT_SCALE * (double)third[1], colour);
  }
  free(corners);
  return EXIT_GOOD;
}

double chart_text_width(const char *text)
{
  char copy[TEXT_LENGTH];
  copy_text(text, copy);
  return (double)TEXT_SCALE * stb_easy_font_width(copy);
}

double chart_tick(double range)
{
  const double power = pow(10.0, floor(log10(range / 5.0))), ratio = range / 5.0 / power;
  return power * (ratio >= 5.0 ? 5.0 : ratio >= 2.0 ? 2.0 : 1.0);
}
