#include "dev/bench/world_calls.h"
#include "core/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const precisions[] = {"f32", "f64"};
static const char ending[] = "scene.json";

#define STEPS_MOST 100000

typedef struct plan {
  const options *o;
  size_t batch[LIST_ROOM], what[LIST_ROOM], precision[LIST_ROOM];
  size_t batches, whats, precisions, steps;
  json_t *list; /* NULL: print a table */
} plan;

/* A scene on the devices at one precision. */
typedef struct stage {
  session session;
  abut_scene links;
  abut_scene_info info;
} stage;

bool is_scene_file(const char *path)
{
  const size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

/* By abut_lcp_how. */
static const char *const solved_names[SOLVED_WAYS] = {"warm",     "pivoted", "lemke",
                                                      "squeezed", "failed",  "bad"};

static bool is_solved(const bench_result *r)
{
  size_t sum = 0;
  for (size_t i = 0; i < SOLVED_WAYS; ++i) {
    sum += r->solved[i];
  }
  return sum > 0;
}

static bool add_solved(json_t *entry, const bench_result *r)
{
  json_t *solved = json_object();
  bool good = solved != NULL;
  for (size_t i = 0; i < SOLVED_WAYS; ++i) {
    json_t *count = json_integer((json_int_t)r->solved[i]);
    good = json_object_set_new(solved, solved_names[i], count) == 0 && good;
  }
  return json_object_set_new(entry, "solved", solved) == 0 && good;
}

static const char *const count_names[ABUT_WORLD_COUNTS - 1] = {"items", "entries", "contacts",
                                                               "islands", "panel_numbers"};

static bool add_counts(json_t *entry, const step_counts *c)
{
  bool good = true;
  for (size_t i = 0; c->some && i < ABUT_WORLD_COUNTS - 1; ++i) {
    good = json_object_set_new(entry, count_names[i], json_real(c->of[i])) == 0 && good;
  }
  good = json_object_set_new(entry, "launches", json_real(c->launches)) == 0 && good;
  return json_object_set_new(entry, "bytes_per_world", json_real(c->bytes)) == 0 && good;
}

static void print_solved(const bench_result *r)
{
  const char *between = "";
  printf("%29s", "");
  for (size_t i = 0; i < SOLVED_WAYS; ++i) {
    if (r->solved[i]) {
      printf("%s%zu %s", between, r->solved[i], solved_names[i]);
      between = ", ";
    }
  }
  putchar('\n');
}

static exit_code add_json(const plan *p, const stage *s, size_t what, size_t batch, bench_result r)
{
  json_t *entry = json_pack("{s:o, s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:f}", "device",
                            json_text(s->session.devices), "precision",
                            precision_name(s->session.precision), "what", world_call_names[what],
                            "batch", (json_int_t)batch, "steps", (json_int_t)p->steps, "slots",
                            (json_int_t)s->info.contacts, "seconds_median", r.time.median,
                            "seconds_min", r.time.least, "steps_per_s",
                            (double)batch * (double)p->steps / r.time.median);
  bool good = entry != NULL;
  if (r.time.ratio > 0.0) {
    good = good && json_object_set_new(entry, "ratio_to_step", json_real(r.time.ratio)) == 0;
  }
  if (r.entries >= 0.0) {
    good = good && json_object_set_new(entry, "entries_per_world", json_real(r.entries)) == 0 &&
           json_object_set_new(entry, "seconds_on_device", json_real(r.on_device)) == 0;
  }
  if (r.iterations >= 0.0) {
    good = good && json_object_set_new(entry, "iterations", json_real(r.iterations)) == 0;
  }
  good = good && (!is_solved(&r) || add_solved(entry, &r));
  good = good && (what != WORLD_STEP_CALL || add_counts(entry, &r.counts));
  return json_array_append_new(p->list, entry) == 0 && good
           ? EXIT_GOOD
           : report(EXIT_RUN, "not enough memory for a result");
}

static void print_title(const stage *s)
{
  printf("%s (%s), %s\n%-10s %8s %8s %9s %12s %12s %13s %9s\n", s->session.devices,
         s->session.device.platform, precision_name(s->session.precision), "what", "batch", "steps",
         "slots", "median [s]", "least [s]", "steps/s", "x step");
  fflush(stdout);
}

static void print_result(const plan *p, const stage *s, size_t what, size_t batch, bench_result r)
{
  char ratio[32] = "-";
  if (r.time.ratio > 0.0) {
    snprintf(ratio, sizeof ratio, "%.2f", r.time.ratio);
  }
  printf("%-10s %8zu %8zu %9zu %12.3e %12.3e %13.1f %9s\n", world_call_names[what], batch, p->steps,
         s->info.contacts, r.time.median, r.time.least,
         (double)batch * (double)p->steps / r.time.median, ratio);
  if (r.entries >= 0.0) {
    printf("%29s%.4g active contacts per world; kernels took %.3e s\n", "", r.entries, r.on_device);
  }
  if (is_solved(&r)) {
    print_solved(&r);
  }
  if (r.counts.some) {
    printf("%29s%.4g items and %.4g entries per world; %.4g launches per step, %.4g kB per world\n",
           "", r.counts.of[ABUT_COUNT_ITEMS - 1], r.counts.of[ABUT_COUNT_ENTRIES - 1],
           r.counts.launches, 1e-3 * r.counts.bytes);
  }
  fflush(stdout);
}

static exit_code run_batch(const plan *p, const stage *s, size_t batch)
{
  bench_result results[LIST_ROOM] = {{0}};
  progress shown = progress_begin(p->o, "");
  progress_say(&shown, "%zu worlds", batch);
  const exit_code code =
    time_worlds(&s->session, p->o, s->links, &s->info, batch, p->steps, p->what, p->whats, results);
  progress_end(&shown);
  CLI_TRY(code);
  for (size_t i = 0; i < p->whats; ++i) {
    if (p->list) {
      CLI_TRY(add_json(p, s, p->what[i], batch, results[i]));
    } else {
      print_result(p, s, p->what[i], batch, results[i]);
    }
  }
  return EXIT_GOOD;
}

static exit_code check_whats(const plan *p, const stage *s)
{
  for (size_t i = 0; i < p->whats; ++i) {
    const size_t what = p->what[i];
    if (what == WORLD_CONTACTS_CALL || what == WORLD_LIST_CALL) {
      CLI_TRY(need_contacts("--what contacts and list", p->o, &s->info));
      CLI_TRY(need_listed("--what contacts and list", p->o, &s->info));
    }
  }
  return EXIT_GOOD;
}

static exit_code run_precision(const plan *p, stage *s, abut_precision precision)
{
  CLI_TRY(session_open(&s->session, p->o, precision));
  CLI_TRY(load_scene(&s->session, p->o, &s->links, &s->info));
  CLI_TRY(check_whats(p, s));
  if (!p->list) {
    print_title(s);
  }
  for (size_t i = 0; i < p->batches; ++i) {
    CLI_TRY(run_batch(p, s, p->batch[i]));
  }
  return EXIT_GOOD;
}

static exit_code read_plan(plan *p, const options *o)
{
  static const option_id of_pairs[] = {OPTION_APART, OPTION_POSES, OPTION_VARIANT, OPTION_SMOOTHING,
                                       OPTION_SHOW_SMOOTHING};
  *p =
    (plan){.o = o, .batch = {1, 64, 1024}, .batches = 3, .whats = 1, .precisions = 1, .steps = 1};
  for (size_t i = 0; i < sizeof of_pairs / sizeof *of_pairs; ++i) {
    if (o->value[of_pairs[i]]) {
      return usage_error(o->command, "%s works only with two bodies, not with a scene",
                         option_name(of_pairs[i]));
    }
  }
  CLI_TRY(option_whole(o, OPTION_STEPS, 1, STEPS_MOST, &p->steps));
  CLI_TRY(option_whole_list(o, OPTION_BATCH, p->batch, &p->batches));
  CLI_TRY(option_word_list(o, OPTION_WHAT, world_call_names, WORLD_CALLS, p->what, &p->whats));
  CLI_TRY(option_word_list(o, OPTION_PRECISION, precisions, 2, p->precision, &p->precisions));
  for (size_t i = 0; i < p->whats; ++i) {
    if (p->what[i] == WORLD_TRANSITION_CALL && p->steps != 1) {
      return usage_error(o->command, "--what transition needs one step: leave out --steps");
    }
  }
  return check_inputs(o);
}

static exit_code write_json(const plan *p)
{
  if (p->list && json_dumpf(p->list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0) {
    return report(EXIT_RUN, "the results cannot be written");
  }
  if (p->list) {
    putchar('\n');
  }
  return EXIT_GOOD;
}

exit_code bench_worlds(const options *o)
{
  plan p;
  exit_code code = EXIT_GOOD;
  CLI_TRY(read_plan(&p, o));
  if (o->value[OPTION_JSON]) {
    p.list = json_array();
    CLI_TRY(p.list ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for results"));
  }
  for (size_t i = 0; code == EXIT_GOOD && i < p.precisions; ++i) {
    stage s = {0};
    code = run_precision(&p, &s, (abut_precision)p.precision[i]);
    session_close(&s.session);
  }
  code = code == EXIT_GOOD ? write_json(&p) : code;
  json_decref(p.list);
  return code;
}
