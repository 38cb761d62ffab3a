#include "bench.h"

#include "json_text.h"
#include "random.h"
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORLDS_STEP, WORLDS_STEP_VJP, WORLDS_TRANSITION, WORLDS_WHATS };

static const char *const names[WORLDS_WHATS] = {"step", "step-vjp", "transition"};
static const char *const precisions[] = {"f32", "f64"};
static const char ending[] = "scene.json";

#define STEPS_MOST 100000
#define SEED 0x2545f4914f6cdd1du

typedef struct plan {
  const options *o;
  size_t batch[LIST_ROOM], what[LIST_ROOM], precision[LIST_ROOM];
  size_t batches, whats, precisions, steps;
  json_t *list; /* NULL: print a table */
} plan;

/* A scene on the devices of one precision. */
typedef struct stage {
  scene scene;
  abut_scene links;
  abut_scene_info info;
} stage;

/* What is called, and with which arrays of the caller's, all of whose memory `owned` holds. */
typedef struct step_calls {
  const size_t *whats;
  abut_scene links;
  abut_worlds worlds;
  abut_worlds_gradients gradients;
  abut_worlds_transition transition;
  void *owned[16];
  size_t owned_count;
} step_calls;

bool is_scene_file(const char *path)
{
  const size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

/* Where it is among those that are asked for; their number if it is not. */
static size_t place_of(const plan *p, size_t what)
{
  size_t i = 0;
  while (i < p->whats && p->what[i] != what) {
    ++i;
  }
  return i;
}

static exit_code call_worlds(void *user, size_t i)
{
  const step_calls *c = user;
  abut_worlds w = c->worlds;
  switch (c->whats[i]) {
    case WORLDS_STEP_VJP:
      w.q_next = w.v_next = NULL; /* gradients alone */
      CLI_TRY(report_status(abut_vjp_worlds(c->links, &w, &c->gradients)));
      break;
    case WORLDS_TRANSITION:
      CLI_TRY(report_status(abut_transition_worlds(c->links, &w, &c->transition)));
      break;
    default:
      CLI_TRY(report_status(abut_step_worlds(c->links, &w)));
      break;
  }
  return report_failures(w.failures);
}

/* ---- the caller's memory ---- */

static exit_code own(step_calls *c, const stage *s, size_t width, void **out)
{
  size_t numbers = 0;
  *out = multiply(c->worlds.count, width, 1, &numbers)
           ? calloc(numbers + 1, real_bytes(s->scene.precision)) : NULL;
  if (!*out) {
    return report(EXIT_RUN, "no memory for %zu worlds", c->worlds.count);
  }
  c->owned[c->owned_count++] = *out;
  return EXIT_GOOD;
}

static exit_code open_states(step_calls *c, const plan *p, const stage *s)
{
  void *q = NULL, *v = NULL;
  const exit_code code =
    repeat_states(&s->scene, p->o, s->links, &s->info, c->worlds.count, &q, &v);
  c->owned[c->owned_count++] = q;
  c->owned[c->owned_count++] = v;
  CLI_TRY(code);
  c->worlds.q = q;
  c->worlds.v = v;
  CLI_TRY(own(c, s, s->info.nq, &c->worlds.q_next));
  CLI_TRY(own(c, s, s->info.nv, &c->worlds.v_next));
  c->worlds.status = calloc(c->worlds.count, sizeof *c->worlds.status);
  c->owned[c->owned_count++] = c->worlds.status;
  return c->worlds.status ? EXIT_GOOD
                          : report(EXIT_RUN, "no memory for %zu worlds", c->worlds.count);
}

/* Random cotangents of the last state, and room for gradients by state and controls. */
static exit_code open_gradients(step_calls *c, const stage *s)
{
  const size_t width = 2 * s->info.nv;
  uint64_t random = SEED;
  void *state = NULL;
  CLI_TRY(own(c, s, width, &state));
  for (size_t i = 0; i < c->worlds.count * width; ++i) {
    if (s->scene.precision == ABUT_FLOAT64) {
      ((double *)state)[i] = random_normal(&random);
    } else {
      ((float *)state)[i] = (float)random_normal(&random);
    }
  }
  c->gradients.state = state;
  CLI_TRY(own(c, s, s->info.nv, &c->gradients.q));
  CLI_TRY(own(c, s, s->info.nv, &c->gradients.v));
  return own(c, s, s->info.nu, &c->gradients.u);
}

static exit_code open_matrices(step_calls *c, const stage *s)
{
  const size_t width = 2 * s->info.nv;
  size_t entries = 0;
  CLI_TRY(multiply(width, width, 1, &entries)
            ? EXIT_GOOD : report(EXIT_RUN, "no memory for matrices of %zu numbers", width));
  CLI_TRY(own(c, s, entries, &c->transition.A));
  return own(c, s, width * s->info.nu, &c->transition.B);
}

static exit_code open_calls(step_calls *c, const plan *p, const stage *s, size_t batch)
{
  c->worlds.count = batch;
  c->worlds.steps = p->steps;
  CLI_TRY(open_states(c, p, s));
  if (place_of(p, WORLDS_STEP_VJP) < p->whats) {
    CLI_TRY(open_gradients(c, s));
  }
  return place_of(p, WORLDS_TRANSITION) < p->whats ? open_matrices(c, s) : EXIT_GOOD;
}

/* From q and v to the answers, all in the caller's memory; each call from the same. */
static exit_code time_batch(const plan *p, const stage *s, size_t batch, bench_result *out)
{
  step_calls c = {.whats = p->what, .links = s->links, .worlds = abut_default_worlds(),
                  .gradients = abut_default_worlds_gradients(),
                  .transition = abut_default_worlds_transition()};
  exit_code code = open_calls(&c, p, s, batch);
  if (code == EXIT_GOOD) {
    code = time_rounds(call_worlds, &c, p->whats, place_of(p, WORLDS_STEP), out);
  }
  if (code == EXIT_GOOD) {
    warn_worlds(c.worlds.status, batch);
  }
  for (size_t i = 0; i < c.owned_count; ++i) {
    free(c.owned[i]);
  }
  return code;
}

/* ---- results ---- */

static exit_code add_json(const plan *p, const stage *s, size_t what, size_t batch, bench_result r)
{
  json_t *entry =
    json_pack("{s:o, s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:f}", "device",
              json_text(s->scene.devices), "precision", precision_name(s->scene.precision),
              "what", names[what], "batch",
              (json_int_t)batch, "steps", (json_int_t)p->steps, "contacts",
              (json_int_t)s->info.contacts, "seconds_median", r.median, "seconds_min", r.least,
              "steps_per_s", (double)batch * (double)p->steps / r.median);
  bool good = entry != NULL;
  if (r.ratio > 0.0) {
    good = good && json_object_set_new(entry, "ratio_to_step", json_real(r.ratio)) == 0;
  }
  return json_array_append_new(p->list, entry) == 0 && good
           ? EXIT_GOOD : report(EXIT_RUN, "no memory for a result");
}

static void print_title(const stage *s)
{
  printf("%s (%s), %s\n%-10s %8s %8s %9s %12s %12s %13s %9s\n", s->scene.devices,
         s->scene.device.platform, precision_name(s->scene.precision), "what", "batch", "steps",
         "contacts", "median [s]", "least [s]", "steps/s", "x step");
  fflush(stdout);
}

static void print_result(const plan *p, const stage *s, size_t what, size_t batch, bench_result r)
{
  char ratio[32] = "-";
  if (r.ratio > 0.0) {
    snprintf(ratio, sizeof ratio, "%.2f", r.ratio);
  }
  printf("%-10s %8zu %8zu %9zu %12.3e %12.3e %13.1f %9s\n", names[what], batch, p->steps,
         s->info.contacts, r.median, r.least, (double)batch * (double)p->steps / r.median, ratio);
  fflush(stdout);
}

static exit_code run_batch(const plan *p, const stage *s, size_t batch)
{
  bench_result results[LIST_ROOM] = {{0.0, 0.0, 0.0, 0.0, 0.0}};
  progress shown = progress_begin(p->o, "");
  progress_say(&shown, "%zu worlds", batch);
  const exit_code code = time_batch(p, s, batch, results);
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

static exit_code run_precision(const plan *p, stage *s, abut_precision precision)
{
  CLI_TRY(scene_open(&s->scene, p->o, precision));
  CLI_TRY(load_scene(&s->scene, p->o, &s->links, &s->info));
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
  *p = (plan){.o = o, .batch = {1, 64, 1024}, .batches = 3, .whats = 1, .precisions = 1,
              .steps = 1};
  for (size_t i = 0; i < sizeof of_pairs / sizeof *of_pairs; ++i) {
    if (o->value[of_pairs[i]]) {
      return usage_error(o->command, "%s is of two bodies, not of a scene",
                         option_name(of_pairs[i]));
    }
  }
  CLI_TRY(option_whole(o, OPTION_STEPS, 1, STEPS_MOST, &p->steps));
  CLI_TRY(option_whole_list(o, OPTION_BATCH, p->batch, &p->batches));
  CLI_TRY(option_word_list(o, OPTION_WHAT, names, WORLDS_WHATS, p->what, &p->whats));
  CLI_TRY(option_word_list(o, OPTION_PRECISION, precisions, 2, p->precision, &p->precisions));
  if (p->steps > 1 && place_of(p, WORLDS_TRANSITION) < p->whats) {
    return usage_error(o->command, "--what transition is of one step, without --steps");
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
    CLI_TRY(p.list ? EXIT_GOOD : report(EXIT_RUN, "no memory for results"));
  }
  for (size_t i = 0; code == EXIT_GOOD && i < p.precisions; ++i) {
    stage s = {0};
    code = run_precision(&p, &s, (abut_precision)p.precision[i]);
    scene_close(&s.scene);
  }
  code = code == EXIT_GOOD ? write_json(&p) : code;
  json_decref(p.list);
  return code;
}
