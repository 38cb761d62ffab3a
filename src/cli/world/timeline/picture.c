#include "world/timeline/timeline.h"

#include "core/chart.h"
#include <math.h>
#include <stdio.h>

enum { WIDTH = 1400, MARGIN = 24, LABELS = 120, TITLE = 56, ROW = 26, BAR = 20 };
enum { AXIS = 48, LEGEND = 56, SWATCH = 16, TEXT_LENGTH = 128 };

/* Consecutive chunks alternate in lightness, so that they can be distinguished. */
static const char turns_text[] = "dark and light in turn: one chunk after the other";
static const char *const phase_meanings[PHASES] = {"upload: poses", "compute: kernels",
                                                   "download: results"};
static const rgb phase_colours[PHASES][2] = {{{0, 114, 178}, {86, 180, 233}},
                                             {{0, 130, 95}, {95, 195, 160}},
                                             {{200, 85, 0}, {240, 160, 60}}};

typedef struct picture {
  chart chart;
  double seconds; /* the width of the plot */
} picture;

static double place_of(const picture *p, double seconds)
{
  return MARGIN + LABELS + (WIDTH - 2 * MARGIN - LABELS) * seconds / p->seconds;
}

static double row_of(size_t device, size_t phase)
{
  return MARGIN + (double)device * (TITLE + PHASES * ROW + MARGIN) + TITLE + (double)phase * ROW;
}

static void draw_bands(picture *p, size_t devices)
{
  for (size_t d = 0; d < devices; ++d) {
    for (size_t k = 0; k < PHASES; ++k) {
      chart_fill(&p->chart, MARGIN + LABELS, row_of(d, k), WIDTH - MARGIN, row_of(d, k) + BAR,
                 chart_band);
    }
  }
}

static exit_code draw_axis(picture *p, size_t devices)
{
  const double tick = chart_tick(p->seconds), bottom = row_of(devices, 0) - TITLE - MARGIN + 4;
  for (int i = 0; i * tick <= p->seconds; ++i) {
    char text[32];
    const double x = place_of(p, i * tick);
    for (size_t d = 0; d < devices; ++d) {
      chart_fill(&p->chart, x, row_of(d, 0) - 4, x + 1, row_of(d, PHASES) - ROW + BAR + 4,
                 chart_faint);
    }
    snprintf(text, sizeof text, "%g", 1e3 * i * tick);
    CLI_TRY(chart_text(&p->chart, x - chart_text_width(text) / 2.0, bottom + 8, text, chart_ink));
  }
  return chart_text(&p->chart, MARGIN, bottom + 8, "time [ms]", chart_ink);
}

/* Explains the colours and their two shades. */
static exit_code draw_legend(picture *p)
{
  const double y = p->chart.height - LEGEND;
  double x = MARGIN;
  for (size_t k = 0; k < PHASES; ++k) {
    for (size_t turn = 0; turn < 2; ++turn, x += SWATCH) {
      chart_fill(&p->chart, x, y, x + SWATCH, y + SWATCH, phase_colours[k][turn]);
    }
    CLI_TRY(chart_text(&p->chart, x + 8, y, phase_meanings[k], chart_ink));
    x += 8 + chart_text_width(phase_meanings[k]) + CHART_LINE;
  }
  return chart_text(&p->chart, x + 8, y, turns_text, chart_grey);
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
    CLI_TRY(chart_text(&p->chart, MARGIN, y, title, chart_ink));
    CLI_TRY(chart_text(&p->chart, MARGIN, y + CHART_LINE, about, chart_grey));
    for (size_t k = 0; k < PHASES; ++k) {
      CLI_TRY(chart_text(&p->chart, MARGIN, row_of(d, k) + 3, phase_names[k], chart_ink));
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
    chart_fill(&p->chart, x, y, fmax(place_of(p, s->end), x + 1), y + BAR,
               phase_colours[s->phase][turn]);
  }
}

exit_code draw_timeline(const timeline *t, const char *path)
{
  const int rows = (int)row_of(t->device_count, 0) - TITLE - MARGIN;
  picture p = {.seconds = 1e-6};
  exit_code code = EXIT_GOOD;
  for (size_t i = 0; i < t->span_count; ++i) {
    p.seconds = fmax(p.seconds, t->spans[i].end);
  }
  CLI_TRY_DONE(chart_open(&p.chart, WIDTH, rows + AXIS + LEGEND));
  draw_bands(&p, t->device_count);
  CLI_TRY_DONE(draw_axis(&p, t->device_count));
  CLI_TRY_DONE(draw_rows(&p, t));
  CLI_TRY_DONE(draw_legend(&p));
  draw_spans(&p, t);
  CLI_TRY_DONE(chart_write(&p.chart, path));
done:
  chart_close(&p.chart);
  return code;
}
