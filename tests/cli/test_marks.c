/* The marks of films: where their ink is in a white picture. */
#include "world/film/marks.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 160
#define HEIGHT 120
#define QUARTER 1.57079632679489662

static uint8_t rgb[3 * WIDTH * HEIGHT];

static abut_view blank(double azimuth, double elevation)
{
  abut_view v = abut_default_view();
  v.width = WIDTH;
  v.height = HEIGHT;
  v.azimuth = azimuth;
  v.elevation = elevation;
  memset(rgb, 255, sizeof rgb);
  return v;
}

/* Dark pixels of columns from x0 up to x1 and rows from y0 up to y1. */
static int ink(int x0, int y0, int x1, int y1)
{
  int count = 0;
  for (int y = y0; y < y1; ++y) {
    for (int x = x0; x < x1; ++x) {
      count += rgb[3 * (y * WIDTH + x)] < 128;
    }
  }
  return count;
}

/* The arrow is in a square of 24 pixels, 8 from the corner; its head has more ink than its tail. */
static void test_gravity(void)
{
  enum { LEFT = 8, RIGHT = 32, TOP = HEIGHT - 32, BOTTOM = HEIGHT - 8, X = 20, Y = HEIGHT - 20 };
  static const struct {
    double gravity[3], azimuth, elevation;
    int right, down; /* the way it points; both 0: along the camera's */
  } cases[] = {{{0, 0, -9.81}, 0.6, 0.35, 0, 1},  {{0, 0, 9.81}, 0.6, 0.35, 0, -1},
               {{0, 1, 0}, 0, 0, 1, 0},           {{0, -1e-3, 0}, 0, 0, -1, 0},
               {{-1, 0, 0}, QUARTER, 0, 1, 0},    {{0, 0, -9.81}, 1, QUARTER, 0, 0},
               {{0, 0, -9.81}, 1, -QUARTER, 0, 0}};
  int along[2] = {0, 0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const abut_view v = blank(cases[i].azimuth, cases[i].elevation);
    mark_gravity(rgb, &v, cases[i].gravity);
    const int across = ink(X, TOP, RIGHT, BOTTOM) - ink(LEFT, TOP, X, BOTTOM);
    const int down = ink(LEFT, Y, RIGHT, BOTTOM) - ink(LEFT, TOP, RIGHT, Y);
    const int wanted = cases[i].right ? cases[i].right * across : cases[i].down * down;
    check(ink(0, 0, WIDTH, TOP) == 0 && ink(RIGHT, TOP, 48, BOTTOM) > 8, "%zu: no g beside it", i);
    if (cases[i].right || cases[i].down) {
      check(wanted > 15 && abs(cases[i].right ? down : across) < 6, "%zu: %d right, %d down", i,
            across, down);
    } else {
      check(abs(across) < 6 && abs(down) < 6, "%zu: %d right, %d down", i, across, down);
      along[cases[i].elevation < 0] = ink(LEFT, TOP, RIGHT, BOTTOM);
    }
  }
  check(along[0] > along[1] && along[1] > 20, "a cross of %d pixels, a dot of %d", along[0],
        along[1]);
  const double none[3] = {0.0, 0.0, 0.0};
  const abut_view v = blank(0.6, 0.35);
  mark_gravity(rgb, &v, none);
  check(ink(0, 0, WIDTH, HEIGHT) == 0, "an arrow without gravity");
}

/* Letters are 6 pixels apart, from 8 pixels of the corner on. */
static void test_time(void)
{
  static uint8_t before[sizeof rgb];
  enum { LAST = 8 + 8 * 6 };
  abut_view v = blank(0.0, 0.0);
  mark_time(rgb, WIDTH, &v, 0.125, 3);
  check(ink(8, 8, 8 + 11 * 6, 17) > 60 && ink(0, 17, WIDTH, HEIGHT) == 0, "no time is there");
  check(ink(8, 8, 13, 17) == 11 && ink(LAST, 8, LAST + 5, 17) == 17, "no t, or no 5");
  memcpy(before, rgb, sizeof rgb);
  v = blank(0.0, 0.0);
  mark_time(rgb, WIDTH, &v, 0.126, 3);
  for (size_t i = 0; i < sizeof rgb; ++i) {
    const size_t x = i / 3 % WIDTH;
    if (rgb[i] != before[i] && (x + 1 < LAST || x > LAST + 5)) {
      check(false, "another digit at column %zu", x);
      break;
    }
  }
  check(memcmp(rgb, before, sizeof rgb) != 0, "the last digit stays");
  check(decimals_of(3.0) == 3 && decimals_of(0.0) == 3 && decimals_of(2e-3) == 5, "decimals");
}

static void test_small(void)
{
  const double gravity[3] = {0.0, 0.0, -9.81};
  abut_view v = blank(0.0, 0.0);
  v.height = 99;
  mark_time(rgb, WIDTH, &v, 0.125, 3);
  mark_gravity(rgb, &v, gravity);
  check(ink(0, 0, WIDTH, HEIGHT) == 0, "a small view has marks");
}

int main(void)
{
  test_gravity();
  test_time();
  test_small();
  return check_finish();
}
