#include "dev/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POSES_MOST 64

static const char *const names[TUNE_OUTPUTS] = {"p", "d", "n", "activity", "the gradient"};

/* The agreement that docs/dev/spec.md requires, by precision: of every entry, and of 99 % of all
 * entries. */
static const struct {
  double every, most;
} tolerances[2][TUNE_OUTPUTS] = {
  {{5e-5, 3e-5}, {1e-3, 2e-4}, {1e-2, 1e-3}, {3e-4, 3e-5}, {1e-2, 2e-3}},
  {{1e-9, 1e-9}, {1e-9, 1e-9}, {1e-8, 1e-8}, {1e-9, 1e-9}, {1e-7, 1e-7}},
};
#define SHARE 0.01

/* Start of each output in p, n, d, activity, and its width. */
static const struct {
  size_t first, width;
} places[TUNE_GRADIENT] = {{0, 3}, {6, 1}, {3, 3}, {7, 1}};

exit_code tune_load(session *s, const options *o)
{
  if (o->operand_count) {
    CLI_TRY(session_bodies(s, o));
  } else {
    CLI_TRY(create_figure(s->context, 0, &s->bodies[0]));
    CLI_TRY(create_figure(s->context, 1, &s->bodies[1]));
  }
  CLI_TRY(session_smoothing(s, o, false));
  CLI_TRY(report_status(abut_create_pair(s->bodies[0], s->bodies[1], &s->smoothing, &s->pair)));
  return report_status(abut_get_layout(s->pair, &s->layout));
}

/* ---- comparison ---- */

typedef struct tally {
  double worst;
  size_t beyond, count;
} tally;

static void count_error(tally *t, double got, double want, double scale, double most)
{
  const double error = isnan(got) && isnan(want) ? 0.0 : fabs(got - want) / scale;
  t->worst = error <= t->worst ? t->worst : isnan(error) ? INFINITY : error;
  t->beyond += !(error <= most);
  ++t->count;
}

static double scale_of(const tune_answers *a, int output)
{
  return output == TUNE_GRADIENT                ? a->largest
         : output == TUNE_P || output == TUNE_D ? a->length
                                                : 1.0;
}

static tally judge_values(const tune_answers *a, const bench_memory *m, abut_precision precision,
                          int output)
{
  tally t = {0.0, 0, 0};
  const size_t width = places[output].width * a->contacts, first = places[output].first;
  const double *want = a->values + first * a->poses.count * a->contacts;
  const size_t start = first * m->numbers;
  for (size_t i = 0; i < m->poses.count; ++i) {
    for (size_t j = 0; j < width; ++j) {
      count_error(&t, real_at(m->contacts, precision, start + i * width + j),
                  want[i % a->poses.count * width + j], scale_of(a, output),
                  tolerances[precision][output].most);
    }
  }
  return t;
}

static tally judge_gradients(const tune_answers *a, const bench_memory *m, abut_precision precision)
{
  tally t = {0.0, 0, 0};
  const size_t width = pose_width(a->poses.kind);
  for (size_t i = 0; i < 2 * m->poses.count; ++i) {
    const size_t pose = i / 2;
    const double *want = a->gradients + (i % 2 * a->poses.count + pose % a->poses.count) * width;
    for (size_t j = 0; j < width; ++j) {
      count_error(&t, real_at(m->gradient[i % 2], precision, pose * width + j), want[j], a->largest,
                  tolerances[precision][TUNE_GRADIENT].most);
    }
  }
  return t;
}

tune_error tune_judge(const tune_answers *a, const bench_memory *m, abut_precision precision)
{
  tune_error e;
  for (int i = 0; i < TUNE_OUTPUTS; ++i) {
    const tally t = i == TUNE_GRADIENT ? judge_gradients(a, m, precision)
                                       : judge_values(a, m, precision, i);
    e.worst[i] = t.worst;
    e.beyond[i] = t.count ? (double)t.beyond / (double)t.count : 0.0;
  }
  return e;
}

bool tune_right(const tune_error *allowed, const tune_error *e, char *trouble, size_t room)
{
  for (int i = 0; i < TUNE_OUTPUTS; ++i) {
    if (!(e->worst[i] <= allowed->worst[i])) {
      snprintf(trouble, room, "wrong: the error of %s is %.1e", names[i], e->worst[i]);
      return false;
    }
    if (!(e->beyond[i] <= allowed->beyond[i])) {
      snprintf(trouble, room, "wrong: %s differs in %.1f %% of the entries", names[i],
               100.0 * e->beyond[i]);
      return false;
    }
  }
  return true;
}

/* ---- the reference ---- */

/* Makes both calls on the host path at the first `count` poses, and measures their time. */
static exit_code ask(const session *s, const abut_poses *poses, size_t count, bench_memory *m,
                     double *seconds)
{
  abut_poses first = *poses;
  first.count = count;
  CLI_TRY(bench_memory_open(m, s, &first, count, false));
  for (int i = 0; i < 2; ++i) {
    m->gradient[i] = calloc(count * pose_width(poses->kind), real_bytes(s->precision));
    CLI_TRY(m->gradient[i] ? EXIT_GOOD : report(EXIT_RUN, "no memory for gradients"));
  }
  const double start = now();
  CLI_TRY(report_status(bench_call(s, m, BENCH_FORWARD)));
  CLI_TRY(report_status(bench_call(s, m, BENCH_MEAN_GRADIENT)));
  *seconds = now() - start;
  return EXIT_GOOD;
}

static exit_code keep(tune_answers *a, const session *s, const bench_memory *m)
{
  const size_t width = pose_width(a->poses.kind), count = a->poses.count;
  a->contacts = s->layout.contacts;
  a->values = calloc(8 * m->numbers + 1, sizeof *a->values);
  a->gradients = calloc(2 * count * width, sizeof *a->gradients);
  if (!a->values || !a->gradients) {
    return report(EXIT_RUN, "not enough memory for the results of %zu poses", count);
  }
  memcpy(a->values, m->contacts, 8 * m->numbers * sizeof *a->values);
  for (size_t i = 0; i < 2 * count * width; ++i) {
    a->gradients[i] = real_at(m->gradient[i / (count * width)], s->precision, i % (count * width));
    a->largest = fmax(a->largest, fabs(a->gradients[i])); /* fmax ignores NaN */
  }
  a->largest = a->largest > 0.0 ? a->largest : 1.0;
  return EXIT_GOOD;
}

static exit_code open_host(session *s, const options *o, abut_precision precision)
{
  abut_context_def def = abut_default_context_def();
  *s = (session){.precision = precision};
  CLI_TRY(report_status(abut_find_device("host", &def.device)));
  def.precision = precision;
  CLI_TRY(report_status(abut_create_context(&def, &s->context)));
  s->open = true;
  return tune_load(s, o);
}

static exit_code measure_bodies(tune_answers *a, const session *s)
{
  a->length = 1.0;
  for (int i = 0; i < 2; ++i) {
    abut_body_info info;
    CLI_TRY(report_status(abut_get_body_info(s->bodies[i], &info)));
    a->length = fmax(a->length, info.diagonal);
  }
  return EXIT_GOOD;
}

static void round_poses(abut_poses *p)
{
  for (size_t i = 0; i < p->count * pose_width(p->kind); ++i) {
    p->pose1[i] = (double)(float)p->pose1[i];
    p->pose2[i] = (double)(float)p->pose2[i];
  }
}

/* Computes as many poses as the host can in the given time, estimated from the first one. */
static exit_code answer(tune_answers *a, const session *s, const abut_poses *poses, double seconds)
{
  bench_memory m = {0};
  double one = 0.0, all = 0.0;
  exit_code code = ask(s, poses, 1, &m, &one);
  bench_memory_close(&m);
  CLI_TRY(code);
  const double most = fmin(seconds / one, (double)POSES_MOST);
  a->poses.count = most > 1.0 ? (size_t)most : 1;
  a->poses.count = a->poses.count < poses->count ? a->poses.count : poses->count;
  code = ask(s, poses, a->poses.count, &m, &all);
  if (code == EXIT_GOOD) {
    code = keep(a, s, &m);
  }
  bench_memory_close(&m);
  return code;
}

/* Widens tolerances by the error of the host path's own arithmetic on these bodies. */
static exit_code allow(tune_answers *a, const options *o, abut_precision precision)
{
  session s = {0};
  bench_memory m = {0};
  double seconds = 0.0;
  exit_code code = EXIT_GOOD;
  tune_error host = {{0.0}, {0.0}};
  if (precision == ABUT_FLOAT32) {
    CLI_TRY_DONE(open_host(&s, o, precision));
    CLI_TRY_DONE(ask(&s, &a->poses, a->poses.count, &m, &seconds));
    host = tune_judge(a, &m, precision);
  }
  for (int i = 0; i < TUNE_OUTPUTS; ++i) {
    a->allowed.worst[i] = fmax(tolerances[precision][i].every, 2.0 * host.worst[i]);
    a->allowed.beyond[i] = fmax(SHARE, 2.0 * host.beyond[i]);
  }
done:
  bench_memory_close(&m);
  session_close(&s);
  return code;
}

exit_code tune_answers_make(tune_answers *a, const options *o, abut_precision precision,
                            abut_poses *poses, double seconds)
{
  session s = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(open_host(&s, o, ABUT_FLOAT64));
  CLI_TRY_DONE(measure_bodies(a, &s));
  if (!poses->count) {
    CLI_TRY_DONE(random_poses(s.bodies, BENCH_POSES, RANDOM_APART, poses));
  }
  if (precision == ABUT_FLOAT32) {
    round_poses(poses);
  }
  a->poses = *poses;
  CLI_TRY_DONE(answer(a, &s, poses, seconds));
  code = allow(a, o, precision);
done:
  session_close(&s);
  return code;
}

void tune_answers_free(tune_answers *a)
{
  free(a->values);
  free(a->gradients);
  *a = (tune_answers){.values = NULL};
}
