#include "dev/bench/bench.h"
#include "dev/commands.h"

#include "core/json_text.h"
#include <stdio.h>
#include <string.h>

enum { VARIANT_FULL, VARIANT_VERTICES_ONLY, VARIANT_ONE_SIDED, VARIANTS };

static const char *const variants[VARIANTS] = {"full", "vertices-only", "one-sided"};
static const char *const precisions[] = {"f32", "f64"};

#define APART_MOST 1000.0
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Lists of the command line. `variant`, `what` and `precision` contain indices into the arrays
 * above. */
typedef struct plan {
  size_t batch[LIST_ROOM], variant[LIST_ROOM], what[LIST_ROOM], precision[LIST_ROOM];
  size_t batches, variants, whats, precisions;
} plan;

/* A bench in progress: its settings and results. */
typedef struct bench {
  const options *o;
  plan plan;
  abut_poses poses;
  double apart; /* see random_poses */
  json_t *list; /* NULL: print a table */
} bench;

static exit_code read_plan(const options *o, plan *p)
{
  *p = (plan){.batch = {1, 64, 1024}, .batches = 3, .variants = 1, .whats = 1, .precisions = 1};
  CLI_TRY(option_whole_list(o, OPTION_BATCH, p->batch, &p->batches));
  CLI_TRY(option_word_list(o, OPTION_VARIANT, variants, VARIANTS, p->variant, &p->variants));
  CLI_TRY(option_word_list(o, OPTION_WHAT, bench_names, BENCH_WHATS, p->what, &p->whats));
  return option_word_list(o, OPTION_PRECISION, precisions, COUNT_OF(precisions), p->precision,
                          &p->precisions);
}

static exit_code add_json(const bench *b, const session *s, size_t variant, size_t what,
                          size_t batch, bench_result r)
{
  json_t *entry = json_pack("{s:o, s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:f}", "device",
                            json_text(s->devices), "precision", precision_name(s->precision),
                            "variant", variants[variant], "what", bench_names[what], "batch",
                            (json_int_t)batch, "contacts", (json_int_t)s->layout.contacts,
                            "seconds_median", r.time.median, "seconds_min", r.time.least,
                            "poses_per_s", (double)batch / r.time.median);
  bool good = entry != NULL;
  if (r.time.ratio > 0.0) {
    good = good && json_object_set_new(entry, "ratio_to_forward", json_real(r.time.ratio)) == 0;
  }
  if (r.entries >= 0.0) {
    good = good && json_object_set_new(entry, "entries_per_pose", json_real(r.entries)) == 0 &&
           json_object_set_new(entry, "threshold", json_real(r.threshold)) == 0;
  }
  return json_array_append_new(b->list, entry) == 0 && good
           ? EXIT_GOOD
           : report(EXIT_RUN, "not enough memory for a result");
}

static void print_title(const session *s, const options *o, abut_precision precision)
{
  size_t lanes = s->device.lanes[precision];
  option_whole(o, OPTION_LANES, 1, 16, &lanes); /* the context has accepted it as valid */
  printf("%s (%s), %s, %zu lanes\n%-14s %-13s %8s %9s %12s %12s %13s %9s\n", s->devices,
         s->device.platform, precision_name(precision), lanes, "variant", "what", "batch",
         "contacts", "median [s]", "least [s]", "poses/s", "x forward");
  fflush(stdout);
}

static void print_result(const session *s, size_t variant, size_t what, size_t batch,
                         bench_result r)
{
  char ratio[32] = "-";
  if (r.time.ratio > 0.0) {
    snprintf(ratio, sizeof ratio, "%.2f", r.time.ratio);
  }
  printf("%-14s %-13s %8zu %9zu %12.3e %12.3e %13.1f %9s\n", variants[variant], bench_names[what],
         batch, s->layout.contacts, r.time.median, r.time.least, (double)batch / r.time.median,
         ratio);
  if (r.entries >= 0.0) {
    printf("%29s%.4g entries per pose with an activity of at least %g\n", "", r.entries,
           r.threshold);
  }
  fflush(stdout);
}

static exit_code run_case(const bench *b, const session *s, size_t variant, size_t batch)
{
  bench_result results[LIST_ROOM] = {{0}};
  progress p = progress_begin(b->o, "");
  progress_say(&p, "%s, %zu poses of %zu contacts", variants[variant], batch, s->layout.contacts);
  const exit_code code = time_calls(s, &b->poses, batch, b->plan.what, b->plan.whats, results);
  progress_end(&p);
  CLI_TRY(code);
  for (size_t i = 0; i < b->plan.whats; ++i) {
    if (b->list) {
      CLI_TRY(add_json(b, s, variant, b->plan.what[i], batch, results[i]));
    } else {
      print_result(s, variant, b->plan.what[i], batch, results[i]);
    }
  }
  return EXIT_GOOD;
}

static exit_code run_variant(const bench *b, session *s, size_t variant)
{
  abut_smoothing smoothing = s->smoothing;
  smoothing.edge_edge = smoothing.edge_edge && variant == VARIANT_FULL;
  smoothing.two_sided = smoothing.two_sided && variant != VARIANT_ONE_SIDED;
  if (variant != VARIANT_FULL) { /* cones need the vertices and edges of both bodies */
    smoothing.cone_inner = smoothing.cone_outer = smoothing.cone_hold = smoothing.cone_inset = 0.0;
  }
  CLI_TRY(report_status(abut_create_pair(s->bodies[0], s->bodies[1], &smoothing, &s->pair)));
  CLI_TRY(report_status(abut_get_layout(s->pair, &s->layout)));
  for (size_t i = 0; i < b->plan.batches; ++i) {
    CLI_TRY(run_case(b, s, variant, b->plan.batch[i]));
  }
  return report_status(abut_destroy_pair(s->pair));
}

static exit_code load(bench *b, session *s, bool first)
{
  const options *o = b->o;
  if (o->operand_count) {
    CLI_TRY(session_bodies(s, o));
  } else {
    CLI_TRY(create_figure(s->context, 0, &s->bodies[0]));
    CLI_TRY(create_figure(s->context, 1, &s->bodies[1]));
  }
  CLI_TRY(session_smoothing(s, o, first && (o->operand_count || o->value[OPTION_SHOW_SMOOTHING])));
  return first && !o->value[OPTION_POSES]
           ? random_poses(s->bodies, BENCH_POSES, b->apart, &b->poses)
           : EXIT_GOOD;
}

static exit_code run_precision(bench *b, session *s, size_t place)
{
  const abut_precision precision = (abut_precision)b->plan.precision[place];
  CLI_TRY(session_open(s, b->o, precision));
  CLI_TRY(load(b, s, place == 0));
  if (!b->list) {
    print_title(s, b->o, precision);
  }
  for (size_t i = 0; i < b->plan.variants; ++i) {
    CLI_TRY(run_variant(b, s, b->plan.variant[i]));
  }
  return EXIT_GOOD;
}

static exit_code run_all(bench *b)
{
  for (size_t i = 0; i < b->plan.precisions; ++i) {
    session s = {0};
    const exit_code code = run_precision(b, &s, i);
    session_close(&s);
    CLI_TRY(code);
  }
  if (b->list && json_dumpf(b->list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0) {
    return report(EXIT_RUN, "the results cannot be written");
  }
  return EXIT_GOOD;
}

static exit_code load_poses(bench *b)
{
  const char *path = b->o->value[OPTION_POSES];
  if (!path) {
    return EXIT_GOOD;
  }
  CLI_TRY(report_status(abut_load_poses(path, &b->poses)));
  return b->poses.count ? EXIT_GOOD : report(EXIT_INPUT, "%s: contains no poses", path);
}

exit_code cmd_bench(const options *o)
{
  bench b = {.o = o, .apart = RANDOM_APART};
  exit_code code = EXIT_GOOD;
  if (o->operand_count == 1 && is_scene_file(o->operands[0])) {
    return bench_worlds(o);
  }
  if (o->operand_count) {
    CLI_TRY(need_operands(o, 2, "two bodies, A and B, a scene, or none"));
  }
  if (o->value[OPTION_STATES] || o->value[OPTION_STEPS]) {
    return usage_error(o->command, "--states and --steps work only with a scene");
  }
  if (o->value[OPTION_APART] && o->value[OPTION_POSES]) {
    return usage_error(o->command, "--apart makes its own poses: leave out --poses");
  }
  CLI_TRY(option_real(o, OPTION_APART, -APART_MOST, APART_MOST, &b.apart));
  CLI_TRY(read_plan(o, &b.plan));
  CLI_TRY(check_inputs(o));
  if (o->value[OPTION_JSON]) {
    b.list = json_array();
    CLI_TRY(b.list ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for results"));
  }
  CLI_TRY_DONE(load_poses(&b));
  CLI_TRY_DONE(run_all(&b));
  if (b.list) {
    putchar('\n');
  }
done:
  abut_free_poses(&b.poses);
  json_decref(b.list);
  return code;
}
