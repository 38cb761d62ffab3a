#include "core/chart.h"
#include "core/json_text.h"
#include "mesh/fields.h"
#include "mesh/query_time.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 900, PLOT = 150, MARGIN = 24, HEAD = 60, FOOT = 32, SETS = 3 };

static const rgb bar_colour = {0, 114, 178}, mark_colour = {213, 94, 0};

typedef struct advice {
  abut_suggestion found;
  size_t contacts[2]; /* per pose, with the given and the suggested smoothing */
  double seconds[2];  /* per pose */
} advice;

static exit_code check_usage(const options *o, abut_suggest_options *settings)
{
  size_t poses = 0, seed = 0;
  CLI_TRY(need_operands(o, 2, "two bodies, A and B"));
  CLI_TRY(option_whole(o, OPTION_SAMPLES, 1, ABUT_SUGGEST_POSES_MOST, &poses));
  CLI_TRY(option_whole(o, OPTION_SEED, 0, (size_t)-1, &seed));
  *settings = abut_default_suggest_options();
  settings->poses = (uint32_t)poses;
  settings->seed = seed;
  CLI_TRY(check_inputs(o));
  if (!o->value[OPTION_OUTPUT]) {
    return EXIT_GOOD;
  }
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  return check_own_output(o);
}

/* ---- cost ---- */

static exit_code time_pair(session *s, size_t *contacts, double *seconds)
{
  CLI_TRY(report_status(abut_create_pair(s->bodies[0], s->bodies[1], &s->smoothing, &s->pair)));
  CLI_TRY(report_status(abut_get_layout(s->pair, &s->layout)));
  CLI_TRY(time_query(s, seconds));
  *contacts = s->layout.contacts;
  return report_status(abut_destroy_pair(s->pair));
}

/* Measures the given smoothing, then the suggested one. */
static exit_code measure_cost(session *s, advice *a)
{
  CLI_TRY(time_pair(s, &a->contacts[0], &a->seconds[0]));
  for (int i = 0; i < 2; ++i) {
    s->smoothing.edges[i] = a->found.edges[i];
    s->smoothing.vertices[i] = a->found.vertices[i];
  }
  return time_pair(s, &a->contacts[1], &a->seconds[1]);
}

/* ---- the picture ---- */

typedef struct histogram {
  char title[160];
  const uint32_t *counts;
  uint32_t mark; /* the suggested number; 0: none */
} histogram;

static exit_code draw_histogram(chart *c, const histogram *h, size_t poses, int top)
{
  uint32_t most = h->mark;
  for (size_t i = 0; i < poses; ++i) {
    most = h->counts[i] > most ? h->counts[i] : most;
  }
  size_t *bars = calloc((size_t)most + 1, sizeof *bars), highest = 1;
  if (!bars) {
    return report(EXIT_RUN, "not enough memory for a picture");
  }
  for (size_t i = 0; i < poses; ++i) {
    const size_t count = ++bars[h->counts[i]];
    highest = count > highest ? count : highest;
  }
  exit_code code = chart_text(c, MARGIN, top, h->title, chart_ink);
  const double left = MARGIN, right = WIDTH - MARGIN, bottom = top + CHART_LINE + PLOT;
  const double step = (right - left) / ((double)most + 1.0);
  chart_fill(c, left, bottom, right, bottom + 1, chart_grey);
  for (uint32_t i = 0; i <= most; ++i) {
    const double height = PLOT * (double)bars[i] / (double)highest;
    chart_fill(c, left + step * i + 1.0, bottom - height, left + step * (i + 1) - 1.0, bottom,
               bar_colour);
  }
  if (h->mark) {
    const double at = left + step * (h->mark + 0.5);
    const double from[2] = {at, top + CHART_LINE}, to[2] = {at, bottom};
    chart_stroke(c, from, to, 2.0, mark_colour);
  }
  const double tick = chart_tick((double)most + 1.0);
  for (double x = 0.0; x <= (double)most && code == EXIT_GOOD; x += tick < 1.0 ? 1.0 : tick) {
    char number[32];
    snprintf(number, sizeof number, "%.0f", x);
    code = chart_text(c, left + step * (x + 0.5) - 0.5 * chart_text_width(number), bottom + 4,
                      number, chart_grey);
  }
  free(bars);
  return code;
}

static exit_code draw(const options *o, const advice *a, double quantile)
{
  const abut_suggestion *f = &a->found;
  const int each = CHART_LINE + PLOT + CHART_LINE + FOOT;
  histogram sets[SETS] = {{.counts = f->pairs},
                          {.counts = f->deepest[0], .mark = f->vertices[0]},
                          {.counts = f->deepest[1], .mark = f->vertices[1]}};
  char head[256];
  chart c = {0};
  exit_code code = EXIT_GOOD;
  snprintf(sets[0].title, sizeof sets[0].title,
           "pairs of edges per pose: %.3g %% kept by %u and %u edges", 100.0 * f->pairs_held,
           f->edges[0], f->edges[1]);
  for (int i = 0; i < 2; ++i) {
    snprintf(sets[1 + i].title, sizeof sets[0].title,
             "vertices of %s deeper than their neighbours, per pose: %u for %.0f %% of the poses",
             i ? "B" : "A", f->vertices[i], 100.0 * quantile);
  }
  snprintf(head, sizeof head, "%zu random poses in collision", f->poses);
  CLI_TRY_DONE(chart_open(&c, WIDTH, HEAD + SETS * each));
  CLI_TRY_DONE(chart_text(&c, MARGIN, MARGIN, head, chart_ink));
  for (int i = 0; i < SETS; ++i) {
    CLI_TRY_DONE(draw_histogram(&c, &sets[i], f->poses, HEAD + i * each));
  }
  code = chart_write(&c, o->value[OPTION_OUTPUT]);
done:
  chart_close(&c);
  return code;
}

/* ---- output ---- */

/* Returns how many poses have 0, 1, ... of something. */
static json_t *bars_of(const uint32_t *counts, size_t poses)
{
  uint32_t most = 0;
  for (size_t i = 0; i < poses; ++i) {
    most = counts[i] > most ? counts[i] : most;
  }
  json_t *out = json_array();
  for (uint32_t n = 0; n <= most && out; ++n) {
    json_int_t bar = 0;
    for (size_t i = 0; i < poses; ++i) {
      bar += counts[i] == n;
    }
    if (json_array_append_new(out, json_integer(bar)) != 0) {
      json_decref(out);
      return NULL;
    }
  }
  return out;
}

static json_t *advice_json(const advice *a, double quantile)
{
  const abut_suggestion *f = &a->found;
  return json_pack("{s:I, s:f, s:[I,I], s:[I,I], s:f, s:o, s:[o,o], s:{s:I, s:f}, s:{s:I, s:f}}",
                   "poses", (json_int_t)f->poses, "quantile", quantile, "edges",
                   (json_int_t)f->edges[0], (json_int_t)f->edges[1], "vertices",
                   (json_int_t)f->vertices[0], (json_int_t)f->vertices[1], "pairs_held",
                   f->pairs_held, "pairs_histogram", bars_of(f->pairs, f->poses),
                   "vertices_histograms", bars_of(f->deepest[0], f->poses),
                   bars_of(f->deepest[1], f->poses), "as_it_is", "contacts",
                   (json_int_t)a->contacts[0], "seconds_a_pose", a->seconds[0], "suggested",
                   "contacts", (json_int_t)a->contacts[1], "seconds_a_pose", a->seconds[1]);
}

static void summarise(const advice *a, double quantile)
{
  const abut_suggestion *f = &a->found;
  double pairs = 0.0;
  for (size_t i = 0; i < f->poses; ++i) {
    pairs += f->pairs[i] / (double)f->poses;
  }
  printf("%zu random poses in collision: %.3g pairs of edges each, of which %.3g %% have both "
         "edges kept by\n"
         "  \"edges\": [%u, %u]\n",
         f->poses, pairs, 100.0 * f->pairs_held, f->edges[0], f->edges[1]);
  printf("vertices deeper than their neighbours: at %.0f %% of the poses at most\n  \"vertices\": "
         "[%u, %u]\n",
         100.0 * quantile, f->vertices[0], f->vertices[1]);
  printf("a query with these numbers: %zu contacts, %.3g ms; with the present smoothing: %zu "
         "contacts, %.3g ms\n",
         a->contacts[1], 1e3 * a->seconds[1], a->contacts[0], 1e3 * a->seconds[0]);
}

exit_code cmd_suggest(const options *o)
{
  const double quantile = 0.95;
  abut_suggest_options settings;
  advice a = {0};
  session s = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(check_usage(o, &settings));
  settings.quantile = quantile;
  CLI_TRY_DONE(session_open(&s, o, ABUT_FLOAT32));
  CLI_TRY_DONE(session_bodies(&s, o));
  CLI_TRY_DONE(session_smoothing(&s, o, false));
  if (!o->value[OPTION_SMOOTHING]) { /* pairs of edges are counted, so they are needed */
    CLI_TRY_DONE(report_status(abut_fit_edge_pairs(s.bodies[0], s.bodies[1], &s.smoothing)));
  }
  if (s.smoothing.edge_contacts == ABUT_EDGES_FIELD) {
    warn("this smoothing has edge contacts in fields, but the counts are of pairs of edges of both "
         "meshes: keep all edges (\"edges\": [0, 0]); each has two slots");
  }
  progress p = progress_begin(o, "");
  progress_say(&p, "counting in random poses");
  const abut_status status =
    abut_suggest_kept(s.bodies[0], s.bodies[1], &s.smoothing, &settings, &a.found);
  progress_end(&p);
  CLI_TRY_DONE(report_status(status));
  CLI_TRY_DONE(measure_cost(&s, &a));
  if (o->value[OPTION_OUTPUT]) {
    CLI_TRY_DONE(draw(o, &a, quantile));
  }
  if (o->value[OPTION_JSON]) {
    code = print_object(advice_json(&a, quantile), 6);
  } else if (sums_up(o)) {
    summarise(&a, quantile);
  }
done:
  abut_free_suggestion(&a.found);
  session_close(&s);
  return code;
}
