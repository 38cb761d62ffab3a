#include "dev/bench/bench.h"
#include "core/random.h"

#include <stdlib.h>
#include <string.h>

/* For lists: the limit is the smoothing's floor or, without a floor, this one. */
#define LIST_THRESHOLD 1e-3
#define LEAST_ACTIVITY 1e-30
#define SEED 0x6a09e667f3bcc909u

const char *const bench_names[BENCH_WHATS] = {"forward",  "mean-gradient", "vjp",
                                              "jvp",      "hessian",       "list",
                                              "list-vjp", "jacobian",      "full-hessian"};

/* ---- the calls ---- */

static double list_threshold(const session *s)
{
  return s->smoothing.floor > 0.0 ? LEAST_ACTIVITY : LIST_THRESHOLD;
}

/* Returns a list with room for all contacts. */
static abut_compact active_list(const session *s, const bench_memory *m)
{
  const size_t real = real_bytes(s->precision);
  return (abut_compact){.threshold = list_threshold(s),
                        .capacity = m->numbers,
                        .pose = m->places,
                        .slot = m->places + m->numbers,
                        .feature = m->places + 2 * m->numbers,
                        .p = m->contacts,
                        .n = m->contacts + 3 * m->numbers * real,
                        .d = m->contacts + 6 * m->numbers * real,
                        .activity = m->contacts + 7 * m->numbers * real};
}

/* Entries of the list: its positions are those of the last call that made a list. */
static abut_status list_vjp(const session *s, const bench_memory *m, abut_batch *batch)
{
  const size_t real = real_bytes(s->precision);
  abut_compact list = active_list(s, m);
  const char *bar = m->cotangents;
  const abut_cotangents bars = {.p = bar,
                                .d = bar + 6 * m->numbers * real,
                                .n = bar + 3 * m->numbers * real,
                                .activity = bar + 7 * m->numbers * real};
  const abut_gradients gradients = {m->gradient[0], m->gradient[1]};
  list.count = m->listed;
  return abut_list_vjp(s->pair, batch, &list, &bars, &gradients);
}

/* Computes active contacts with their blocks, in a list that allocates its own memory. */
static abut_status jacobian(const session *s, abut_batch *batch)
{
  abut_compact list = {.threshold = list_threshold(s), .grows = true};
  batch->compact = &list;
  const abut_status status = abut_jacobian(s->pair, ABUT_SAME_PAIR, batch, NULL);
  abut_free_compact(&list);
  return status;
}

static abut_status run_call(const session *s, const bench_memory *m, size_t what, abut_batch *batch)
{
  const size_t real = real_bytes(s->precision);
  const abut_gradients gradients = {m->gradient[0], m->gradient[1]};
  char *const at[] = {m->contacts, m->contacts + 3 * m->numbers * real,
                      m->contacts + 6 * m->numbers * real, m->contacts + 7 * m->numbers * real};
  if (what == BENCH_MEAN_GRADIENT) {
    return abut_gradient(s->pair, ABUT_SAME_PAIR, batch, ABUT_REDUCE_MEAN_DISTANCE, &gradients);
  }
  if (what == BENCH_VJP) {
    const char *bar = m->cotangents;
    const abut_cotangents bars = {.p = bar,
                                  .d = bar + 6 * m->numbers * real,
                                  .n = bar + 3 * m->numbers * real,
                                  .activity = bar + 7 * m->numbers * real};
    return abut_vjp(s->pair, ABUT_SAME_PAIR, batch, &bars, &gradients);
  }
  const abut_pose_tangents along = {m->tangent[0], m->tangent[1]};
  if (what == BENCH_HESSIAN) {
    const abut_gradients products = {m->product[0], m->product[1]};
    return abut_hessian_product(s->pair, batch, ABUT_REDUCE_MEAN_DISTANCE, &along, &gradients,
                                &products);
  }
  if (what == BENCH_FULL_HESSIAN) {
    return abut_hessian(s->pair, batch, ABUT_REDUCE_MEAN_DISTANCE, ABUT_BOTH_BODIES, &gradients,
                        m->hessian);
  }
  if (what == BENCH_JVP) {
    const abut_tangents to = {.p = at[0], .d = at[2], .n = at[1], .activity = at[3]};
    return abut_jvp(s->pair, ABUT_SAME_PAIR, batch, &along, &to);
  }
  if (what == BENCH_LIST_VJP) {
    return list_vjp(s, m, batch);
  }
  if (what == BENCH_JACOBIAN) {
    return jacobian(s, batch);
  }
  if (what == BENCH_LIST) {
    abut_compact list = active_list(s, m);
    batch->compact = &list;
    return abut_contacts(s->pair, batch);
  }
  batch->p = at[0];
  batch->n = at[1];
  batch->d = at[2];
  batch->activity = at[3];
  return abut_contacts(s->pair, batch);
}

abut_status bench_call(const session *s, const bench_memory *m, size_t what)
{
  abut_batch batch = m->poses;
  return run_call(s, m, what, &batch);
}

/* ---- memory ---- */

/* Makes `count` poses by repeating those of `from`. */
static exit_code cycle(const double *from, size_t there, size_t width, size_t count,
                       abut_precision precision, void **out)
{
  void *once = NULL;
  size_t bytes = 0;
  CLI_TRY(poses_to_reals(from, there * width, precision, &once));
  const size_t row = width * real_bytes(precision);
  *out = multiply(count, row, 1, &bytes) ? malloc(bytes) : NULL;
  for (size_t i = 0; *out && i < count; ++i) {
    memcpy((char *)*out + i * row, (const char *)once + i % there * row, row);
  }
  free(once);
  return *out ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu poses", count);
}

static exit_code random_reals(size_t count, abut_precision precision, uint64_t *state, void **out)
{
  size_t bytes = 0;
  *out = multiply(count, real_bytes(precision), 1, &bytes) ? malloc(bytes) : NULL;
  if (!*out) {
    return report(EXIT_RUN, "no memory for %zu numbers", count);
  }
  for (size_t i = 0; i < count; ++i) {
    const double x = random_normal(state);
    if (precision == ABUT_FLOAT64) {
      ((double *)*out)[i] = x;
    } else {
      ((float *)*out)[i] = (float)x;
    }
  }
  return EXIT_GOOD;
}

static exit_code take_poses(bench_memory *m, const session *s, const abut_poses *poses,
                            size_t count)
{
  const size_t width = pose_width(poses->kind);
  CLI_TRY(cycle(poses->pose1, poses->count, width, count, s->precision, &m->pose[0]));
  CLI_TRY(cycle(poses->pose2, poses->count, width, count, s->precision, &m->pose[1]));
  m->poses = abut_default_batch();
  m->poses.count = count;
  m->poses.poses = poses->kind;
  m->poses.pose1 = m->pose[0];
  m->poses.pose2 = m->pose[1];
  return EXIT_GOOD;
}

exit_code bench_memory_open(bench_memory *m, const session *s, const abut_poses *poses,
                            size_t count, bool derivatives)
{
  uint64_t state = SEED;
  size_t bytes = 0;
  const size_t numbers = count * pose_width(poses->kind);
  void *bars = NULL;
  CLI_TRY(take_poses(m, s, poses, count));
  if (multiply(count, s->layout.contacts, 1, &m->numbers) &&
      multiply(m->numbers, 8, real_bytes(s->precision), &bytes)) {
    m->contacts = malloc(bytes);
  }
  m->places = m->contacts ? malloc(m->numbers * 4 * sizeof *m->places + 1) : NULL;
  if (!m->places) {
    return report(EXIT_RUN, "no memory for %zu poses of %zu contacts", count, s->layout.contacts);
  }
  for (int i = 0; i < 2 && derivatives; ++i) {
    CLI_TRY(random_reals(numbers, s->precision, &state, &m->tangent[i]));
    CLI_TRY(random_reals(numbers, s->precision, &state, &m->gradient[i]));
    CLI_TRY(random_reals(numbers, s->precision, &state, &m->product[i]));
  }
  if (derivatives) {
    CLI_TRY(random_reals(4 * numbers * pose_width(poses->kind), s->precision, &state, &m->hessian));
    CLI_TRY(random_reals(8 * m->numbers, s->precision, &state, &bars));
    m->cotangents = bars;
  }
  return EXIT_GOOD;
}

void bench_memory_close(bench_memory *m)
{
  for (int i = 0; i < 2; ++i) {
    free(m->pose[i]);
    free(m->tangent[i]);
    free(m->gradient[i]);
    free(m->product[i]);
  }
  free(m->hessian);
  free(m->contacts);
  free(m->places);
  free(m->cotangents);
  *m = (bench_memory){0};
}

/* ---- timing ---- */

static bool lists(size_t what)
{
  return what == BENCH_LIST || what == BENCH_LIST_VJP || what == BENCH_JACOBIAN;
}

/* Lists the contacts, for timing of a VJP. */
static exit_code list_once(const session *s, bench_memory *m)
{
  abut_batch batch = m->poses;
  abut_compact list = active_list(s, m);
  batch.compact = &list;
  CLI_TRY(report_status(abut_contacts(s->pair, &batch)));
  m->listed = list.count;
  return EXIT_GOOD;
}

/* Calls on a batch of poses. */
typedef struct pose_calls {
  const session *session;
  const bench_memory *memory;
  const size_t *whats;
} pose_calls;

static exit_code call_poses(void *user, size_t i)
{
  const pose_calls *c = user;
  abut_batch batch = c->memory->poses;
  CLI_TRY(report_status(run_call(c->session, c->memory, c->whats[i], &batch)));
  return report_failures(batch.failures);
}

static size_t place_of_forward(const size_t *whats, size_t count)
{
  size_t i = 0;
  while (i < count && whats[i] != BENCH_FORWARD) {
    ++i;
  }
  return i;
}

exit_code time_calls(const session *s, const abut_poses *poses, size_t batch, const size_t *whats,
                     size_t count, bench_result *out)
{
  bench_memory m = {0};
  timing times[LIST_ROOM] = {{0}};
  bool derivatives = false, entries = false;
  for (size_t i = 0; i < count; ++i) {
    derivatives = derivatives || whats[i] != BENCH_FORWARD;
    entries = entries || lists(whats[i]);
  }
  exit_code code = bench_memory_open(&m, s, poses, batch, derivatives);
  if (code == EXIT_GOOD && entries) {
    code = list_once(s, &m);
  }
  if (code == EXIT_GOOD) {
    pose_calls calls = {s, &m, whats};
    code = time_rounds(call_poses, &calls, count, place_of_forward(whats, count), times);
  }
  for (size_t i = 0; i < count; ++i) {
    out[i].time = times[i];
    out[i].entries = lists(whats[i]) ? (double)m.listed / (double)batch : -1.0;
    out[i].threshold = list_threshold(s);
    out[i].iterations = -1.0;
  }
  bench_memory_close(&m);
  return code;
}
