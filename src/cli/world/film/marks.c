#include "world/film/marks.h"

#include "base/glyphs.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST_SIDE 100 /* pixels: smaller views have no marks */
#define GAP 8          /* pixels from the corner, times the scale */
#define ARROW 24       /* pixels of the longest arrow, times the scale */
#define SAMPLES 4      /* a side, of each pixel of an arrow */
#define ACROSS 0.2     /* an arrow of a smaller share of its length points along the camera's way */

typedef struct plane {
  uint8_t *rgb;
  size_t width, height;
} plane;

/* Mixes dark ink with the pixel; `halo` mixes white, which marks have around them. */
static void mix(const plane *to, long x, long y, double share, bool halo)
{
  const double ink[3] = {halo ? 255.0 : 25.0, halo ? 255.0 : 25.0, halo ? 255.0 : 30.0};
  if (x < 0 || y < 0 || x >= (long)to->width || y >= (long)to->height) {
    return;
  }
  uint8_t *at = to->rgb + 3 * ((size_t)y * to->width + (size_t)x);
  for (int k = 0; k < 3; ++k) {
    at[k] = (uint8_t)(at[k] + share * (ink[k] - at[k]) + 0.5);
  }
}

static size_t shorter_side(const abut_view *view)
{
  return view->width < view->height ? view->width : view->height;
}

static size_t scale_of(const abut_view *view)
{
  return 1 + shorter_side(view) / 400;
}

/* ---- text ---- */

static void fill(const plane *to, size_t left, size_t top, size_t scale, bool halo)
{
  const long edge = halo ? (long)scale : 0;
  for (long y = -edge; y < (long)scale + edge; ++y) {
    for (long x = -edge; x < (long)scale + edge; ++x) {
      mix(to, (long)left + x, (long)top + y, 1.0, halo);
    }
  }
}

static void write_once(const plane *to, size_t left, size_t top, size_t scale, const char *text,
                       bool halo)
{
  for (; *text; ++text, left += (GLYPH_WIDTH + 1) * scale) {
    for (size_t k = 0; k < GLYPH_WIDTH * GLYPH_HEIGHT; ++k) {
      const size_t column = k % GLYPH_WIDTH, row = k / GLYPH_WIDTH;
      if (glyph_ink(*text, column, row)) {
        fill(to, left + column * scale, top + row * scale, scale, halo);
      }
    }
  }
}

static void write_text(const plane *to, size_t left, size_t top, size_t scale, const char *text)
{
  write_once(to, left, top, scale, text, true);
  write_once(to, left, top, scale, text, false);
}

int decimals_of(double seconds)
{
  const double wanted = seconds > 0.0 ? ceil(2.0 - log10(seconds)) : 3.0;
  return (int)fmin(fmax(wanted, 3.0), 9.0);
}

void mark_time(uint8_t *rgb, size_t width, const abut_view *view, double seconds, int decimals)
{
  char text[64];
  const size_t scale = scale_of(view);
  const plane to = {rgb, width, view->height};
  if (shorter_side(view) >= LEAST_SIDE) {
    snprintf(text, sizeof text, "t = %.*f s", decimals, seconds);
    write_text(&to, GAP * scale, GAP * scale, scale, text);
  }
}

/* ---- gravity ---- */

/* Half a mark's line, in pixels, as wide as its halo where that is drawn. */
typedef struct arrow {
  double x, y;   /* its middle, in pixels */
  double dx, dy; /* its direction, rightwards and downwards, of length 1 */
  double length; /* 0: it points along the camera's way */
  bool away;     /* from the camera */
  double line;   /* half of its width */
} arrow;

/* The distance to a stroke from a to b. */
static double off_stroke(double x, double y, double ax, double ay, double bx, double by)
{
  const double ux = bx - ax, uy = by - ay, all = ux * ux + uy * uy;
  const double share = all > 0.0 ? ((x - ax) * ux + (y - ay) * uy) / all : 0.0;
  const double at = fmin(fmax(share, 0.0), 1.0);
  return hypot(x - ax - at * ux, y - ay - at * uy);
}

/* The distance to the middle of the nearest line of a mark. */
static double off_arrow(const arrow *a, double x, double y)
{
  if (a->length <= 0.0) {
    const double radius = 5.0 * a->line, r = hypot(x - a->x, y - a->y), k = radius * sqrt(0.5);
    const double across = fmin(off_stroke(x, y, a->x - k, a->y - k, a->x + k, a->y + k),
                               off_stroke(x, y, a->x - k, a->y + k, a->x + k, a->y - k));
    return fmin(fabs(r - radius), a->away ? across : fmax(r - a->line, 0.0));
  }
  const double half = 0.5 * a->length, side = 4.0 * a->line;
  const double tip_x = a->x + half * a->dx, tip_y = a->y + half * a->dy;
  const double back_x = tip_x - side * a->dx, back_y = tip_y - side * a->dy;
  const double one = off_stroke(x, y, tip_x, tip_y, back_x - side * a->dy, back_y + side * a->dx);
  const double other = off_stroke(x, y, tip_x, tip_y, back_x + side * a->dy, back_y - side * a->dx);
  const double shaft = off_stroke(x, y, tip_x, tip_y, a->x - half * a->dx, a->y - half * a->dy);
  return fmin(shaft, fmin(one, other));
}

static void draw_arrow(const plane *to, const arrow *a, double around, bool halo)
{
  const double reach = a->line * (halo ? 2.0 : 1.0);
  for (long y = (long)(a->y - around); y <= (long)(a->y + around); ++y) {
    for (long x = (long)(a->x - around); x <= (long)(a->x + around); ++x) {
      int inside = 0;
      for (int k = 0; k < SAMPLES * SAMPLES; ++k) {
        const double at_x = (double)x + (k % SAMPLES + 0.5) / SAMPLES;
        const double at_y = (double)y + (k / SAMPLES + 0.5) / SAMPLES;
        inside += off_arrow(a, at_x, at_y) <= reach;
      }
      mix(to, x, y, (double)inside / (SAMPLES * SAMPLES), halo);
    }
  }
}

void mark_gravity(uint8_t *rgb, const abut_view *view, const double gravity[3])
{
  const double g =
    sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
  if (shorter_side(view) < LEAST_SIDE || !(g > 0.0)) {
    return;
  }
  /* The camera's axes: z is up, and at azimuth 0 the camera is on the x axis. */
  const double ca = cos(view->azimuth), sa = sin(view->azimuth);
  const double ce = cos(view->elevation), se = sin(view->elevation);
  const double right = (-sa * gravity[0] + ca * gravity[1]) / g;
  const double up = (-se * (ca * gravity[0] + sa * gravity[1]) + ce * gravity[2]) / g;
  const double nearer = (ce * (ca * gravity[0] + sa * gravity[1]) + se * gravity[2]) / g;
  const double share = hypot(right, up);
  const size_t scale = scale_of(view), room = ARROW * scale, corner = GAP * scale;
  const plane to = {rgb, view->width, view->height};
  const arrow a = {.x = (double)corner + 0.5 * (double)room,
                   .y = (double)view->height - (double)corner - 0.5 * (double)room,
                   .dx = share > 0.0 ? right / share : 0.0,
                   .dy = share > 0.0 ? -up / share : 0.0,
                   .length = share > ACROSS ? share * (double)room : 0.0,
                   .away = nearer < 0.0,
                   .line = 1.1 * (double)scale};
  const double around = 0.5 * (double)room + (double)(4 * scale);
  draw_arrow(&to, &a, around, true);
  draw_arrow(&to, &a, around, false);
  write_text(&to, corner + room + 2 * scale,
             view->height - corner - room / 2 - GLYPH_HEIGHT * scale / 2, scale, "g");
}
