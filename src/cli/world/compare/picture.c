#include "world/compare/compare.h"

#include "core/chart.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 1400, HEIGHT = 1040, MARGIN = 24, HEAD = 88, LABELS = 112, TITLE = 32, AXIS = 32 };
enum { COLUMNS = 2, PANELS = 4, GAP = 24, SWATCH = 32, TEXT_LENGTH = 128 };
#define DECADES_MOST 5.0 /* of a logarithmic axis */
#define ROOM 0.04        /* margin above and below the data, as a share of its range */

static const rgb law_colours[LAWS] = {{0, 114, 178}, {213, 94, 0}, {0, 150, 110}};

typedef enum series { SERIES_ENERGY, SERIES_PENETRATION, SERIES_FORCE, SERIES_SENSITIVITY } series;

typedef struct panel {
  series of;
  bool logarithmic;
  char title[TEXT_LENGTH];
  double left, top, right, bottom; /* of the plot [pixels] */
  double low, high;                /* of the axis, or of its logarithm */
} panel;

typedef struct picture {
  const comparison *c;
  chart chart;
} picture;

static double value_of(const comparison *c, const law_run *r, series of, size_t row)
{
  const abut_precision precision = c->worlds.session.precision;
  switch (of) {
  case SERIES_ENERGY:
    return real_at(r->energy, precision, 2 * row) + real_at(r->energy, precision, 2 * row + 1);
  case SERIES_PENETRATION:
    return 1e3 * r->penetration[row];
  case SERIES_FORCE:
    return r->force[row];
  default:
    return r->sensitivity[row];
  }
}

/* ---- axes ---- */

/* Converts to the axis' scale; on a logarithmic axis, values up to 0 are below the range. */
static double counted(const panel *p, double x)
{
  return p->logarithmic ? (x > 0.0 ? log10(x) : -(double)INFINITY) : x;
}

/* Finds the range of all laws with a margin; at most some decades on a logarithmic axis. */
static void find_range(const comparison *c, panel *p)
{
  double low = (double)INFINITY, high = -(double)INFINITY;
  for (size_t k = 0; k < c->run_count; ++k) {
    for (size_t i = 0; i < c->rows; ++i) {
      const double x = counted(p, value_of(c, &c->runs[k], p->of, i));
      low = isfinite(x) ? fmin(low, x) : low;
      high = isfinite(x) ? fmax(high, x) : high;
    }
  }
  if (low > high) { /* no data */
    low = p->logarithmic ? -1.0 : 0.0;
    high = p->logarithmic ? 0.0 : 1.0;
  }
  if (p->logarithmic) {
    p->high = ceil(high + ROOM);
    p->low = fmin(fmax(floor(low - ROOM), p->high - DECADES_MOST), p->high - 1.0);
    return;
  }
  const double least = fmax(fabs(low), fabs(high)) * 1e-6 + 1e-12;
  const double room = fmax(ROOM * (high - low), least);
  p->low = p->of == SERIES_PENETRATION ? 0.0 : low - room;
  p->high = high + room;
}

static double across(const picture *q, const panel *p, double seconds)
{
  const double all = q->c->time[q->c->rows - 1];
  return p->left + (p->right - p->left) * seconds / (all > 0.0 ? all : 1.0);
}

static double down(const panel *p, double x)
{
  const double share = (counted(p, x) - p->low) / (p->high - p->low);
  return p->bottom - (p->bottom - p->top) * fmin(fmax(share, 0.0), 1.0);
}

static exit_code draw_level(picture *q, const panel *p, double x, double value)
{
  char text[32];
  const double y = down(p, value);
  chart_fill(&q->chart, p->left, y, p->right, y + 1, chart_faint);
  snprintf(text, sizeof text, "%g", x);
  return chart_text(&q->chart, p->left - 8 - chart_text_width(text), y - 8, text, chart_ink);
}

static exit_code draw_levels(picture *q, const panel *p)
{
  if (p->logarithmic) {
    for (double k = p->low; k <= p->high + 0.5; k += 1.0) {
      CLI_TRY(draw_level(q, p, pow(10.0, k), pow(10.0, k)));
    }
    return EXIT_GOOD;
  }
  const double tick = chart_tick(p->high - p->low), first = ceil(p->low / tick);
  for (double k = first; k * tick <= p->high; k += 1.0) {
    CLI_TRY(draw_level(q, p, k * tick + 0.0, k * tick));
  }
  return EXIT_GOOD;
}

static exit_code draw_times(picture *q, const panel *p)
{
  const double all = q->c->time[q->c->rows - 1], tick = chart_tick(all > 0.0 ? all : 1.0);
  for (int i = 0; i * tick <= all * (1.0 + 1e-9); ++i) {
    char text[32];
    const double x = across(q, p, i * tick);
    chart_fill(&q->chart, x, p->top, x + 1, p->bottom, chart_faint);
    snprintf(text, sizeof text, "%g", i * tick);
    CLI_TRY(
      chart_text(&q->chart, x - chart_text_width(text) / 2.0, p->bottom + 8, text, chart_ink));
  }
  return EXIT_GOOD;
}

/* ---- lines ---- */

/* Earlier laws have wider lines, which remain visible behind an identical later one. */
static void draw_line(picture *q, const panel *p, size_t run)
{
  const comparison *c = q->c;
  const double width = 2.0 + 2.5 * (double)(c->run_count - 1 - run);
  const rgb colour = law_colours[c->runs[run].law - laws];
  double before[2] = {0.0, 0.0};
  bool open = false;
  for (size_t i = 0; i < c->rows; ++i) {
    const double x = value_of(c, &c->runs[run], p->of, i);
    const double at[2] = {across(q, p, c->time[i]), isnan(x) ? 0.0 : down(p, x)};
    if (open && !isnan(x)) {
      chart_stroke(&q->chart, before, at, width, colour);
    }
    open = !isnan(x);
    memcpy(before, at, sizeof at);
  }
}

static exit_code draw_panel(picture *q, panel *p)
{
  find_range(q->c, p);
  chart_fill(&q->chart, p->left, p->top, p->right, p->bottom, chart_band);
  CLI_TRY(chart_text(&q->chart, p->left, p->top - TITLE + 4, p->title, chart_ink));
  CLI_TRY(draw_times(q, p));
  CLI_TRY(draw_levels(q, p));
  for (size_t k = 0; k < q->c->run_count; ++k) {
    draw_line(q, p, k);
  }
  return EXIT_GOOD;
}

/* ---- the whole picture ---- */

static exit_code draw_head(picture *q)
{
  const comparison *c = q->c;
  const char *path = c->worlds.o->operands[0];
  char text[TEXT_LENGTH];
  double x = MARGIN;
  snprintf(text, sizeof text, "%.48s, %zu steps of %g s, over time [s]", base_name(path),
           c->worlds.steps, c->worlds.info.timestep);
  CLI_TRY(chart_text(&q->chart, MARGIN, MARGIN, text, chart_ink));
  for (size_t k = 0; k < c->run_count; ++k) {
    const law *l = c->runs[k].law;
    const bool stopped = c->runs[k].status & ABUT_WORLD_STOPS;
    const double y = MARGIN + CHART_LINE + 16;
    const double from[2] = {x, y}, to[2] = {x + SWATCH, y};
    snprintf(text, sizeof text, "%s%s", l->name, stopped ? ", which stopped" : "");
    chart_stroke(&q->chart, from, to, 5.0, law_colours[l - laws]);
    CLI_TRY(chart_text(&q->chart, x + SWATCH + 12, y - 8, text, chart_ink));
    x += SWATCH + 12 + chart_text_width(text) + 2 * CHART_LINE;
  }
  for (size_t k = 0; k < c->out_count; ++k) {
    snprintf(text, sizeof text, "without %s", c->out[k].law->name);
    CLI_TRY(chart_text(&q->chart, x, MARGIN + CHART_LINE + 8, text, chart_grey));
    x += chart_text_width(text) + 2 * CHART_LINE;
  }
  return EXIT_GOOD;
}

/* Forces and gradients vary by orders of magnitude between impact and rest. */
static panel panel_of(const comparison *c, size_t k)
{
  static const char *const titles[PANELS] = {"total energy [J]", "deepest penetration [mm]",
                                             "contact forces along normals, sum [N]",
                                             "gradient of "};
  const double width = (WIDTH - 2.0 * MARGIN - GAP) / COLUMNS;
  const double height = (HEIGHT - HEAD - MARGIN) / 2.0;
  const double left = MARGIN + (double)(k % COLUMNS) * (width + GAP);
  const double top = HEAD + (double)(k / COLUMNS) * height;
  panel p = {.of = (series)k,
             .logarithmic = k == SERIES_FORCE || k == SERIES_SENSITIVITY,
             .left = left + LABELS,
             .top = top + TITLE,
             .right = left + width,
             .bottom = top + height - AXIS - 8};
  snprintf(p.title, sizeof p.title, "%s%s%s", titles[k], k == SERIES_SENSITIVITY ? c->label : "",
           k == SERIES_SENSITIVITY ? " by v [s]" : "");
  return p;
}

exit_code compare_picture(const comparison *c, const char *path)
{
  picture q = {.c = c};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(chart_open(&q.chart, WIDTH, HEIGHT));
  CLI_TRY_DONE(draw_head(&q));
  for (size_t k = 0; k < PANELS; ++k) {
    panel p = panel_of(c, k);
    CLI_TRY_DONE(draw_panel(&q, &p));
  }
  CLI_TRY_DONE(chart_write(&q.chart, path));
done:
  chart_close(&q.chart);
  return code;
}
