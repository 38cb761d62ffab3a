#include "dev/bench/world_calls.h"
#include "core/random.h"

#include <stdlib.h>
#include <string.h>

/* Threshold for a step's contacts of its pairs: those above the smoothing's floor, or all. */
#define ANY_ACTIVITY 1e-30
#define QUATERNION_POSE 7
#define SEED 0x2545f4914f6cdd1du

const char *const world_call_names[WORLD_CALLS] = {"step", "step-vjp", "transition", "contacts",
                                                   "list"};

/* ---- the calls ---- */

static exit_code transition(const world_calls *c, abut_worlds *w)
{
  abut_worlds_transition t = abut_default_worlds_transition();
  t.A = c->matrices;
  t.B = c->info->nu ? (char *)c->matrices + c->bytes_of_a : NULL;
  return report_status(abut_transition_worlds(c->links, w, &t));
}

static exit_code step_vjp(const world_calls *c, abut_worlds *w)
{
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = c->cotangents;
  g.q = c->gradients[0];
  g.v = c->gradients[1];
  g.u = c->info->nu ? c->gradients[2] : NULL;
  return report_status(abut_vjp_worlds(c->links, w, &g));
}

/* Computes a pair's contacts at the current poses of the worlds. */
static exit_code pair_contacts(const world_calls *c, size_t i, bool listed, size_t *failures)
{
  abut_scene_pair pair = {0};
  abut_compact *list = &c->lists[i];
  abut_batch batch = abut_default_batch();
  const size_t row = QUATERNION_POSE * real_bytes(c->precision);
  CLI_TRY(report_status(abut_get_scene_pair(c->links, i, &pair)));
  if (!pair.pair.index && !pair.pair.generation) {
    return EXIT_GOOD; /* the caller supplies its contacts */
  }
  batch.count = c->count;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = (const char *)c->poses[0] + i * c->count * row;
  batch.pose2 = (const char *)c->poses[1] + i * c->count * row;
  batch.compact = listed ? list : NULL;
  batch.reductions.activity = listed ? NULL : c->sums;
  CLI_TRY(report_status(abut_contacts(pair.pair, &batch)));
  *failures += batch.failures;
  return EXIT_GOOD;
}

static exit_code contacts(const world_calls *c, bool listed)
{
  size_t failures = 0;
  for (size_t i = 0; i < c->info->pairs; ++i) {
    CLI_TRY(pair_contacts(c, i, listed, &failures));
  }
  return report_failures(failures);
}

/* Returns the kernel time on the device with the most. */
static double busiest(const abut_span *spans, size_t count)
{
  double most = 0.0;
  for (size_t i = 0; i < count; ++i) {
    double sum = 0.0;
    for (size_t k = 0; k < count; ++k) {
      const bool same = spans[k].device == spans[i].device;
      sum += same && spans[k].phase == ABUT_PHASE_COMPUTE ? spans[k].end - spans[k].begin : 0.0;
    }
    most = sum > most ? sum : most;
  }
  return most;
}

static exit_code keep_device_time(world_calls *c)
{
  size_t count = 0;
  CLI_TRY(report_status(abut_get_timeline(c->context, NULL, 0, &count)));
  abut_span *spans = calloc(count + 1, sizeof *spans);
  exit_code code = spans ? report_status(abut_get_timeline(c->context, spans, count, &count))
                         : report(EXIT_RUN, "no memory for %zu times", count);
  if (code == EXIT_GOOD && c->listings < CALLS_KEPT) {
    c->on_device[c->listings++] = busiest(spans, count);
  }
  free(spans);
  return code;
}

static exit_code list_contacts(world_calls *c)
{
  CLI_TRY(report_status(abut_start_timeline(c->context)));
  CLI_TRY(contacts(c, true));
  CLI_TRY(report_status(abut_stop_timeline(c->context)));
  return keep_device_time(c);
}

static exit_code call_worlds(void *user, size_t i)
{
  world_calls *c = user;
  abut_worlds w = c->worlds;
  switch (c->whats[i]) {
  case WORLD_CONTACTS_CALL:
    return contacts(c, false);
  case WORLD_LIST_CALL:
    return list_contacts(c);
  case WORLD_VJP_CALL:
    w.q_next = w.v_next = NULL; /* only gradients */
    CLI_TRY(step_vjp(c, &w));
    break;
  case WORLD_TRANSITION_CALL:
    CLI_TRY(transition(c, &w));
    break;
  default:
    CLI_TRY(report_status(abut_step_worlds(c->links, &w)));
  }
  return report_failures(w.failures);
}

/* ---- memory ---- */

static exit_code reals(const world_calls *c, size_t width, void **out)
{
  return reals_of("worlds", c->count, width, c->precision, out);
}

static void set(const world_calls *c, void *to, size_t at, double x)
{
  if (c->precision == ABUT_FLOAT64) {
    ((double *)to)[at] = x;
  } else {
    ((float *)to)[at] = (float)x;
  }
}

static double get(const world_calls *c, const void *from, size_t at)
{
  return c->precision == ABUT_FLOAT64 ? ((const double *)from)[at] : ((const float *)from)[at];
}

/* `both`: room for a world's q and its pairs' poses, first of body 1, then of body 2. */
static exit_code place_worlds(world_calls *c, double *both)
{
  const size_t row = QUATERNION_POSE, pairs = c->info->pairs;
  double *q = both + 2 * pairs * row;
  for (size_t world = 0; world < c->count; ++world) {
    for (size_t k = 0; k < c->info->nq; ++k) {
      q[k] = get(c, c->q, world * c->info->nq + k);
    }
    CLI_TRY(report_status(abut_place_pairs(c->links, q, both, both + pairs * row)));
    for (size_t k = 0; k < 2 * pairs * row; ++k) {
      const size_t side = k / (pairs * row), i = k / row % pairs;
      set(c, c->poses[side], (i * c->count + world) * row + k % row, both[k]);
    }
  }
  return EXIT_GOOD;
}

static exit_code take_pairs(world_calls *c)
{
  const size_t row = QUATERNION_POSE, pairs = c->info->pairs;
  CLI_TRY(reals(c, pairs * row, &c->poses[0]));
  CLI_TRY(reals(c, pairs * row, &c->poses[1]));
  CLI_TRY(reals(c, 1, &c->sums));
  c->lists = calloc(pairs + 1, sizeof *c->lists);
  c->on_device = calloc(CALLS_KEPT, sizeof *c->on_device);
  double *both = calloc(2 * pairs * row + c->info->nq + 1, sizeof *both);
  exit_code code = c->lists && c->on_device && both
                     ? place_worlds(c, both)
                     : report(EXIT_RUN, "no memory for %zu pairs", pairs);
  for (size_t i = 0; c->lists && i < pairs; ++i) {
    c->lists[i].threshold = ANY_ACTIVITY;
    c->lists[i].grows = true;
  }
  free(both);
  return code;
}

static exit_code take_derivatives(world_calls *c)
{
  const abut_scene_info *n = c->info;
  size_t reals_of_a = 0;
  uint64_t random = SEED;
  CLI_TRY(reals(c, 2 * n->nv, &c->cotangents));
  for (size_t i = 0; i < c->count * 2 * n->nv; ++i) {
    set(c, c->cotangents, i, random_normal(&random));
  }
  CLI_TRY(reals(c, n->nv, &c->gradients[0]));
  CLI_TRY(reals(c, n->nv, &c->gradients[1]));
  CLI_TRY(reals(c, n->nu, &c->gradients[2]));
  if (!multiply(c->count, 4 * n->nv * n->nv, 1, &reals_of_a)) {
    return report(EXIT_RUN, "no memory for %zu worlds", c->count);
  }
  c->bytes_of_a = reals_of_a * real_bytes(c->precision);
  return reals(c, 2 * n->nv * (2 * n->nv + n->nu), &c->matrices);
}

static exit_code take_states(world_calls *c)
{
  CLI_TRY(reals(c, c->info->nq, &c->q_next));
  CLI_TRY(reals(c, c->info->nv, &c->v_next));
  c->status = calloc(c->count + 1, 2 * sizeof *c->status);
  return c->status ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu worlds", c->count);
}

static void begin_worlds(world_calls *c, size_t steps)
{
  c->worlds = abut_default_worlds();
  c->worlds.count = c->count;
  c->worlds.steps = steps;
  c->worlds.q = c->q;
  c->worlds.v = c->v;
  c->worlds.q_next = c->q_next;
  c->worlds.v_next = c->v_next;
  c->worlds.status = c->status;
  c->worlds.iterations = c->status + c->count;
}

static void world_calls_close(world_calls *c)
{
  for (size_t i = 0; c->lists && i < c->info->pairs; ++i) {
    abut_free_compact(&c->lists[i]);
  }
  void *const all[] = {
    c->q,        c->v,          c->q_next,       c->v_next,       c->status,
    c->lists,    c->on_device,  c->poses[0],     c->poses[1],     c->sums,
    c->matrices, c->cotangents, c->gradients[0], c->gradients[1], c->gradients[2]};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

/* ---- timing ---- */

static bool wants(const world_calls *c, size_t first, size_t second)
{
  bool any = false;
  for (size_t i = 0; i < c->what_count; ++i) {
    any = any || c->whats[i] == first || c->whats[i] == second;
  }
  return any;
}

/* Counts worlds by the method that solved their last step. */
static void count_solved(const world_calls *c, bench_result *out)
{
  for (size_t i = 0; i < c->count; ++i) {
    const size_t how = c->worlds.iterations[i];
    out->solved[how < SOLVED_WAYS ? how : SOLVED_WAYS - 1] += 1;
  }
}

/* Computes means over the worlds, for the timed calls. */
static void say_means(const world_calls *c, bench_result *out)
{
  double iterations = 0.0, entries = 0.0;
  for (size_t i = 0; i < c->count; ++i) {
    iterations += c->worlds.iterations[i];
  }
  for (size_t i = 0; c->lists && i < c->info->pairs; ++i) {
    entries += (double)c->lists[i].count;
  }
  for (size_t i = 0; i < c->what_count; ++i) {
    const size_t what = c->whats[i];
    const bool solves = what < WORLD_CONTACTS_CALL;
    out[i].iterations = solves && !c->info->hard ? iterations / (double)c->count : -1.0;
    if (solves && c->info->hard) {
      count_solved(c, &out[i]);
    }
    out[i].on_device = what == WORLD_LIST_CALL ? median_of(c->on_device, c->listings) : 0.0;
    out[i].entries = what == WORLD_LIST_CALL ? entries / (double)c->count : -1.0;
  }
}

/* Steps the worlds once more, outside the timing, to count the work on the devices. */
static exit_code count_steps(const world_calls *c, step_counts *out)
{
  abut_worlds w = c->worlds;
  abut_counters before, after;
  double sums[ABUT_WORLD_COUNTS] = {0};
  exit_code code;
  CLI_TRY(report_status(abut_get_counters(c->context, &before)));
  CLI_TRY(report_status(abut_step_worlds(c->links, &w)));
  CLI_TRY(report_status(abut_get_counters(c->context, &after)));
  out->launches = (double)(after.launches - before.launches) / (double)w.steps;
  out->bytes = w.bytes;
  w.counts = calloc(c->count * ABUT_WORLD_COUNTS + 1, sizeof *w.counts);
  code = w.counts ? report_status(abut_step_worlds(c->links, &w))
                  : report(EXIT_RUN, "no memory for %zu worlds", c->count);
  for (size_t i = 0; code == EXIT_GOOD && i < c->count * ABUT_WORLD_COUNTS; ++i) {
    sums[i % ABUT_WORLD_COUNTS] += w.counts[i];
  }
  out->some = sums[ABUT_COUNT_SOLVES] > 0.0;
  for (size_t i = 1; out->some && i < ABUT_WORLD_COUNTS; ++i) {
    out->of[i - 1] = sums[i] / sums[ABUT_COUNT_SOLVES];
  }
  free(w.counts);
  return code;
}

static exit_code count_all(const world_calls *c, bench_result *out)
{
  for (size_t i = 0; i < c->what_count; ++i) {
    if (c->whats[i] == WORLD_STEP_CALL) {
      CLI_TRY(count_steps(c, &out[i].counts));
    }
  }
  return EXIT_GOOD;
}

static exit_code take_all(world_calls *c, const session *s, const options *o, size_t steps)
{
  CLI_TRY(repeat_states(s, o, c->links, c->info, c->count, &c->q, &c->v));
  CLI_TRY(take_states(c));
  begin_worlds(c, steps);
  if (wants(c, WORLD_VJP_CALL, WORLD_TRANSITION_CALL)) {
    CLI_TRY(take_derivatives(c));
  }
  return wants(c, WORLD_CONTACTS_CALL, WORLD_LIST_CALL) ? take_pairs(c) : EXIT_GOOD;
}

exit_code time_worlds(const session *s, const options *o, abut_scene links,
                      const abut_scene_info *info, size_t batch, size_t steps, const size_t *whats,
                      size_t count, bench_result *out)
{
  world_calls c = {.links = links,
                   .context = s->context,
                   .info = info,
                   .count = batch,
                   .whats = whats,
                   .what_count = count,
                   .precision = s->precision};
  timing times[LIST_ROOM] = {{0}};
  size_t base = 0;
  while (base < count && whats[base] != WORLD_STEP_CALL) {
    ++base;
  }
  exit_code code = take_all(&c, s, o, steps);
  code = code == EXIT_GOOD ? time_rounds(call_worlds, &c, count, base, times) : code;
  for (size_t i = 0; i < count; ++i) {
    out[i].time = times[i];
  }
  code = code == EXIT_GOOD ? count_all(&c, out) : code;
  if (code == EXIT_GOOD) {
    say_means(&c, out);
    warn_worlds(c.status, NULL, NULL, batch);
  }
  world_calls_close(&c);
  return code;
}
