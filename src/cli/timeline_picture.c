#include "timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its functions are static, and not all are used. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wwrite-strings"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_easy_font.h>
#pragma GCC diagnostic pop

enum { WIDTH = 1400, MARGIN = 24, LABELS = 120, TITLE = 56, ROW = 26, BAR = 20, LINE = 24 };
enum { AXIS = 48, LEGEND = 56, SWATCH = 16 };
enum { TEXT_SCALE = 2, TEXT_BYTES = 40000, TEXT_LENGTH = 128 };

typedef struct rgb {
  uint8_t r, g, b;
} rgb;

/* Chunks one after the other take turns in lightness, so that they can be told apart. */
static const char turns_text[] = "dark and light by turns: one chunk after the other";
static const char *const phase_meanings[PHASES] = {"upload: poses", "compute: kernels",
                                                   "download: results"};
static const rgb phase_colours[PHASES][2] = {
  {{0, 114, 178}, {86, 180, 233}}, {{0, 130, 95}, {95, 195, 160}}, {{200, 85, 0}, {240, 160, 60}}};
static const rgb ink = {30, 30, 34}, grey = {105, 105, 112}, faint = {222, 222, 228},
                 band = {246, 246, 249};

typedef struct picture {
  uint8_t *pixels;
  int height;
  double seconds; /* the width of the plot */
} picture;

/* The part of a box that lies in the picture. */
static void fill(picture *p, double x0, double y0, double x1, double y1, rgb c)
{
  const int left = x0 < 0 ? 0 : (int)x0, right = x1 > WIDTH ? WIDTH : (int)x1;
  const int top = y0 < 0 ? 0 : (int)y0, bottom = y1 > p->height ? p->height : (int)y1;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      memcpy(p->pixels + 3 * ((size_t)y * WIDTH + (size_t)x), &c, 3);
    }
  }
}

/* The font has ASCII alone; a driver may call itself anything. */
static void copy_text(const char *text, char copy[TEXT_LENGTH])
{
  snprintf(copy, TEXT_LENGTH, "%s", text);
  for (char *c = copy; *c; ++c) {
    *c = *c < ' ' || *c > '~' ? '?' : *c;
  }
}

/* The font gives each stroke as a box of four corners. */
static exit_code write_text(picture *p, double x, double y, const char *text, rgb colour)
{
  char copy[TEXT_LENGTH];
  float *corners = malloc(TEXT_BYTES);
  if (!corners) {
    return report(EXIT_RUN, "no memory for a timeline");
  }
  copy_text(text, copy);
  const int boxes = stb_easy_font_print(0, 0, copy, NULL, corners, TEXT_BYTES);
  for (int i = 0; i < boxes; ++i) {
    const float *first = corners + 16 * i, *third = first + 8; /* x, y, z, colour a corner */
    fill(p, x + TEXT_SCALE * (double)first[0], y + TEXT_SCALE * (double)first[1],
         x + TEXT_SCALE * (double)third[0], y + TEXT_SCALE * (double)third[1], colour);
  }
  free(corners);
  return EXIT_GOOD;
}

static double place_of(const picture *p, double seconds)
{
  return MARGIN + LABELS + (WIDTH - 2 * MARGIN - LABELS) * seconds / p->seconds;
}

static double row_of(size_t device, size_t phase)
{
  return MARGIN + (double)device * (TITLE + PHASES * ROW + MARGIN) + TITLE + (double)phase * ROW;
}

/* 1, 2 or 5 times a power of ten: from five to twelve of them. */
static double tick_of(double seconds)
{
  const double power = pow(10.0, floor(log10(seconds / 5.0))), ratio = seconds / 5.0 / power;
  return power * (ratio >= 5.0 ? 5.0 : ratio >= 2.0 ? 2.0 : 1.0);
}

static double text_width(const char *text)
{
  char copy[TEXT_LENGTH];
  copy_text(text, copy);
  return (double)TEXT_SCALE * stb_easy_font_width(copy);
}

static void draw_bands(picture *p, size_t devices)
{
  for (size_t d = 0; d < devices; ++d) {
    for (size_t k = 0; k < PHASES; ++k) {
      fill(p, MARGIN + LABELS, row_of(d, k), WIDTH - MARGIN, row_of(d, k) + BAR, band);
    }
  }
}

static exit_code draw_axis(picture *p, size_t devices)
{
  const double tick = tick_of(p->seconds), bottom = row_of(devices, 0) - TITLE - MARGIN + 4;
  for (int i = 0; i * tick <= p->seconds; ++i) {
    char text[32];
    const double x = place_of(p, i * tick);
    for (size_t d = 0; d < devices; ++d) {
      fill(p, x, row_of(d, 0) - 4, x + 1, row_of(d, PHASES) - ROW + BAR + 4, faint);
    }
    snprintf(text, sizeof text, "%g", 1e3 * i * tick);
    CLI_TRY(write_text(p, x - text_width(text) / 2.0, bottom + 8, text, ink));
  }
  return write_text(p, MARGIN, bottom + 8, "time [ms]", ink);
}

/* What the colours and their two shades mean. */
static exit_code draw_legend(picture *p)
{
  const double y = p->height - LEGEND;
  double x = MARGIN;
  for (size_t k = 0; k < PHASES; ++k) {
    for (size_t turn = 0; turn < 2; ++turn, x += SWATCH) {
      fill(p, x, y, x + SWATCH, y + SWATCH, phase_colours[k][turn]);
    }
    CLI_TRY(write_text(p, x + 8, y, phase_meanings[k], ink));
    x += 8 + text_width(phase_meanings[k]) + LINE;
  }
  return write_text(p, x + 8, y, turns_text, grey);
}

static exit_code draw_rows(picture *p, const timeline *t)
{
  for (size_t d = 0; d < t->device_count; ++d) {
    char title[TEXT_LENGTH], about[TEXT_LENGTH];
    const abut_device_report *r = &t->devices[d];
    const double y = row_of(d, 0) - TITLE;
    snprintf(title, sizeof title, "%zu: %.100s", d, r->info.name);
    snprintf(about, sizeof about, "%s, %llu poses in %llu chunks%s", r->info.platform,
             (unsigned long long)r->elements, (unsigned long long)r->chunks,
             r->status == ABUT_SUCCESS ? "" : ", failed");
    CLI_TRY(write_text(p, MARGIN, y, title, ink));
    CLI_TRY(write_text(p, MARGIN, y + LINE, about, grey));
    for (size_t k = 0; k < PHASES; ++k) {
      CLI_TRY(write_text(p, MARGIN, row_of(d, k) + 3, phase_names[k], ink));
    }
  }
  return EXIT_GOOD;
}

static void draw_spans(picture *p, const timeline *t)
{
  size_t turns[DEVICES][PHASES] = {{0}};
  for (size_t i = 0; i < t->span_count; ++i) {
    const abut_span *s = &t->spans[i];
    if (s->device >= t->device_count || (size_t)s->phase >= PHASES) {
      continue;
    }
    const size_t turn = turns[s->device][s->phase]++ % 2;
    const double x = place_of(p, s->begin), y = row_of(s->device, s->phase);
    fill(p, x, y, fmax(place_of(p, s->end), x + 1), y + BAR, phase_colours[s->phase][turn]);
  }
}

exit_code draw_timeline(const timeline *t, const char *path)
{
  const int rows = (int)row_of(t->device_count, 0) - TITLE - MARGIN;
  picture p = {NULL, rows + AXIS + LEGEND, 1e-6};
  const size_t bytes = 3 * (size_t)WIDTH * (size_t)p.height;
  exit_code code = EXIT_GOOD;
  for (size_t i = 0; i < t->span_count; ++i) {
    p.seconds = fmax(p.seconds, t->spans[i].end);
  }
  p.pixels = malloc(bytes);
  CLI_TRY_DONE(p.pixels ? EXIT_GOOD : report(EXIT_RUN, "no memory for a timeline"));
  memset(p.pixels, 255, bytes);
  draw_bands(&p, t->device_count);
  CLI_TRY_DONE(draw_axis(&p, t->device_count));
  CLI_TRY_DONE(draw_rows(&p, t));
  CLI_TRY_DONE(draw_legend(&p));
  draw_spans(&p, t);
  CLI_TRY_DONE(report_status(abut_write_png(path, WIDTH, (uint32_t)p.height, p.pixels)));
done:
  free(p.pixels);
  return code;
}
