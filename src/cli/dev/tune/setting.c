#include "dev/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A timed call: its duration, and limit on its results. */
#define CALL_SHARE 600.0 /* divisor of the available time */
#define CALL_LEAST 0.02  /* [s] */
#define CALL_MOST 0.2
#define CALL_BYTES ((size_t)256 << 20)
/* This many chunks are needed to distinguish sizes of scratch memory. For them a call may take
 * longer by this factor. */
#define CHUNKS 4
#define CHUNKS_COST 4.0
#define ROUNDS_LEAST 3

static const size_t calls[TUNE_CALLS] = {BENCH_FORWARD, BENCH_MEAN_GRADIENT};

static void no_good(tune_setting *c)
{
  const char *text = abut_last_error();
  c->good = false;
  snprintf(c->trouble, sizeof c->trouble, "cannot run: %.*s", (int)strcspn(text, "\n"), text);
}

static abut_status open_context(tune_setting *c, const tuner *u)
{
  abut_context_def def = abut_default_context_def();
  def.devices = u->choice;
  def.device_count = 1;
  def.timeout = u->timeout;
  def.precision = u->precision;
  def.lanes = c->t.lanes;
  def.group = c->t.group;
  def.items = c->t.items;
  def.scratch_bytes = c->t.scratch_bytes;
  def.fallback = ABUT_FALLBACK_NONE; /* the host path must not replace the device */
  c->s = (session){.device = u->device, .precision = u->precision};
  const abut_status status = abut_create_context(&def, &c->s.context);
  c->s.open = status == ABUT_SUCCESS;
  return status == ABUT_SUCCESS ? abut_context_device(c->s.context, &c->s.device) : status;
}

/* Fills results with NaN, so that a result that was not written is never right. */
static void spoil(const tuner *u)
{
  const size_t real = real_bytes(u->precision), width = pose_width(u->poses.kind);
  memset(u->memory.contacts, 0xff, 8 * u->memory.numbers * real);
  for (int i = 0; i < 2; ++i) {
    memset(u->memory.gradient[i], 0xff, u->memory.poses.count * width * real);
  }
}

static void check(tuner *u, tune_setting *c)
{
  spoil(u);
  for (int i = 0; i < TUNE_CALLS && c->good; ++i) {
    if (bench_call(&c->s, &u->memory, calls[i]) != ABUT_SUCCESS) {
      no_good(c);
    }
  }
  if (c->good) {
    const tune_error e = tune_judge(&u->answers, &u->memory, u->precision);
    c->good = tune_right(&u->answers.allowed, &e, c->trouble, sizeof c->trouble);
  }
}

static exit_code set_batch(tuner *u, const session *s, size_t count)
{
  const size_t numbers = count * pose_width(u->poses.kind);
  bench_memory_close(&u->memory);
  CLI_TRY(bench_memory_open(&u->memory, s, &u->answers.poses, count, false));
  for (int i = 0; i < 2; ++i) {
    u->memory.gradient[i] = calloc(numbers, real_bytes(u->precision));
    CLI_TRY(u->memory.gradient[i] ? EXIT_GOOD : report(EXIT_RUN, "no memory for gradients"));
  }
  return EXIT_GOOD;
}

exit_code tune_try(tuner *u, const abut_tuning *t, tune_setting **out)
{
  tune_setting *c = &u->settings[u->count++];
  progress p = progress_begin(u->o, "");
  const double start = now();
  exit_code code = EXIT_GOOD;
  *c = (tune_setting){.t = *t, .good = true};
  *out = c;
  progress_say(&p, "building %u lanes, work-groups of %u and %u", t->lanes, t->group, t->items);
  if (open_context(c, u) != ABUT_SUCCESS) {
    no_good(c);
    goto done;
  }
  CLI_TRY_DONE(tune_load(&c->s, u->o));
  if (!u->memory.contacts) {
    CLI_TRY_DONE(set_batch(u, &c->s, u->answers.poses.count));
  }
  check(u, c);
done:
  progress_end(&p);
  c->ready = now() - start;
  u->longest = fmax(u->longest, c->ready);
  if (!c->good) {
    tune_close(c);
  }
  return code;
}

void tune_close(tune_setting *c)
{
  session_close(&c->s);
}

/* Checks a setting with calls of `count` poses, and counts the chunks per call. */
static exit_code try_size(tuner *u, tune_setting *c, size_t count, uint64_t *chunks)
{
  abut_counters before, after;
  CLI_TRY(set_batch(u, &c->s, count));
  CLI_TRY(report_status(abut_get_counters(c->s.context, &before)));
  check(u, c);
  CLI_TRY(report_status(abut_get_counters(c->s.context, &after)));
  *chunks = (after.chunks - before.chunks) / TUNE_CALLS;
  return EXIT_GOOD;
}

exit_code tune_size(tuner *u, tune_setting *present)
{
  const double wish = fmin(fmax(u->seconds / CALL_SHARE, CALL_LEAST), CALL_MOST);
  const double start = now();
  CLI_TRY(report_status(bench_call(&present->s, &u->memory, BENCH_FORWARD)));
  const double pose = (now() - start) / (double)u->memory.poses.count;
  const double bytes = 8.0 * (double)(real_bytes(u->precision) * (present->s.layout.contacts + 1));
  const double most = (double)CALL_BYTES / bytes;
  uint64_t chunks = 0;
  size_t count = 1;
  while (2.0 * (double)count <= fmin(wish / pose, most)) {
    count *= 2;
  }
  CLI_TRY(try_size(u, present, count, &chunks));
  while (present->good && chunks < CHUNKS &&
         2.0 * (double)count <= fmin(CHUNKS_COST * wish / pose, most)) {
    count *= 2;
    CLI_TRY(try_size(u, present, count, &chunks));
  }
  return EXIT_GOOD;
}

static exit_code time_both(tuner *u, tune_setting *c, size_t round)
{
  for (int i = 0; i < TUNE_CALLS; ++i) {
    const double start = now();
    CLI_TRY(report_status(bench_call(&c->s, &u->memory, calls[i])));
    c->seconds[i][round] = now() - start;
  }
  return EXIT_GOOD;
}

/* Combines two equally important calls; both are from the same rounds. */
static double ratio_of(const tune_setting *first, const tune_setting *c, size_t rounds)
{
  double ratios[TUNE_ROUNDS];
  for (size_t i = 0; i < rounds; ++i) {
    ratios[i] =
      sqrt(first->seconds[0][i] / c->seconds[0][i] * first->seconds[1][i] / c->seconds[1][i]);
  }
  return median_of(ratios, rounds);
}

exit_code tune_race(tuner *u, tune_setting **list, size_t count, double seconds)
{
  const double end = now() + seconds;
  progress p = progress_begin(u->o, "");
  size_t rounds = 0;
  exit_code code = EXIT_GOOD;
  progress_say(&p, "timing %zu settings in turn", count);
  for (; rounds < TUNE_ROUNDS && (rounds < ROUNDS_LEAST || now() < end); ++rounds) {
    for (size_t i = 0; i < count; ++i) {
      CLI_TRY_DONE(time_both(u, list[i], rounds));
    }
  }
  for (size_t i = count; i-- > 0;) { /* the first is the reference of the others */
    list[i]->ratio = list[0]->ratio * ratio_of(list[0], list[i], rounds);
  }
  for (size_t i = 0; i < count; ++i) {
    for (int j = 0; j < TUNE_CALLS; ++j) {
      list[i]->rate[j] = (double)u->memory.poses.count / median_of(list[i]->seconds[j], rounds);
    }
  }
done:
  progress_end(&p);
  return code;
}
