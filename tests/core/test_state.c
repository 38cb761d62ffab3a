/* Arrays that stay on devices: test_state PRECISION
 *
 * A loop on a state gives, to the bit, what the same loop through host memory gives, on one device
 * and on two, in chunks of any kind, with nothing going up or down between its steps; all kinds of
 * calls read and write it; its own computations; copies; what is refused. */
#include "core/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 150, STEPS = 6, PARTS = 2 };

static abut_precision precision;

static size_t size(void)
{
  return real_size(precision);
}

/* ---- where ---- */

/* The device of the tests; PARTS of it, of the host path as many threads. False where it has no
 * parts. */
static bool open_parts(size_t count, uint32_t chunk, abut_context *out)
{
  const char *device = getenv("ABUT_TEST_DEVICE");
  abut_device_choice parts[ABUT_DEVICES_MOST];
  size_t found = 0;
  char name[64];
  abut_context_def def = abut_default_context_def();
  if (count == 1) {
    return open_context(precision, chunk, 0, out);
  }
  const bool host = !device || !strcmp(device, "host");
  snprintf(name, sizeof name, host ? "%s" : "%s/1", device ? device : "host");
  if (abut_find_devices(name, parts, ABUT_DEVICES_MOST, &found) != ABUT_SUCCESS) {
    return false;
  }
  parts[1] = host ? parts[0] : parts[1];
  found = host ? count : found;
  if (found < count) {
    return false;
  }
  def.devices = parts;
  def.device_count = (uint32_t)count;
  def.precision = precision;
  def.chunk = chunk;
  return CHECK_OK(abut_create_context(&def, out));
}

/* ---- what ---- */

typedef struct world {
  abut_context context;
  abut_pair pair;
  abut_layout layout;
  size_t width; /* of a row of a gradient */
  void *pose[2];
} world;

enum { NO_EDGES, EDGES_IN_PAIRS, EDGES_IN_FIELDS };

static bool make_pair(world *w, int edges)
{
  static const double halves[2][3] = {{0.5, 0.4, 0.3}, {0.3, 0.3, 0.6}};
  abut_smoothing s = abut_default_smoothing();
  abut_body a, b;
  s.edge_edge = edges != NO_EDGES;
  if (edges == EDGES_IN_FIELDS) {
    s.edge_contacts = ABUT_EDGES_FIELD;
    s.select = ABUT_SELECT_GATE;
  }
  s.edges[0] = s.edges[1] = 3;
  s.penetration = 0.1;
  return make_box(w->context, halves[0], &a) && make_box(w->context, halves[1], &b) &&
         CHECK_OK(abut_create_pair(a, b, &s, &w->pair)) &&
         CHECK_OK(abut_get_layout(w->pair, &w->layout));
}

static bool make_world(world *w, size_t devices, uint32_t chunk, int edges)
{
  double poses[2][7 * ROWS];
  uint64_t seed = 11;
  if (!open_parts(devices, chunk, &w->context)) {
    return false;
  }
  for (size_t i = 0; i < ROWS; ++i) {
    random_pose(&seed, 0.1, &poses[0][7 * i]);
    random_pose(&seed, 0.4, &poses[1][7 * i]);
  }
  w->width = 7;
  for (int i = 0; i < 2; ++i) {
    w->pose[i] = to_reals(poses[i], 7 * ROWS, precision);
  }
  return make_pair(w, edges);
}

static void free_world(world *w)
{
  free(w->pose[0]);
  free(w->pose[1]);
  CHECK_OK(abut_destroy_context(w->context));
}

static bool same(const void *a, const void *b, size_t reals, const char *what)
{
  return check(!memcmp(a, b, reals * size()), "%s differs", what);
}

/* An array of a state, read whole. */
static void *whole(abut_state_array a, size_t width)
{
  void *reals = calloc(ROWS * width, size());
  CHECK_OK(abut_read_state(a, 0, ROWS, reals));
  return reals;
}

static void same_as_state(const void *expected, abut_state_array a, size_t width, const char *what)
{
  void *got = whole(a, width);
  same(expected, got, ROWS * width, what);
  free(got);
}

static abut_counters counters_of(const world *w)
{
  abut_counters c;
  CHECK_OK(abut_get_counters(w->context, &c));
  return c;
}

/* ---- the loop ---- */

enum { POSE1, POSE2, SLOPE, SOFT, LEAST, BEST, BEST_SOFT, LOOP_ARRAYS };
static const size_t loop_widths[LOOP_ARRAYS] = {7, 7, 7, 1, 1, 7, 1};

#define UP 0.01

/* y + a x, rounded once, as the devices do it. */
static void add_scaled(void *y, const void *x, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (precision == ABUT_FLOAT64) {
      ((double *)y)[i] = fma(UP, ((const double *)x)[i], ((double *)y)[i]);
    } else {
      ((float *)y)[i] = fmaf((float)UP, ((const float *)x)[i], ((float *)y)[i]);
    }
  }
}

static void choose(void *y, const void *x, size_t width, const void *left, const void *right)
{
  for (size_t i = 0; i < ROWS; ++i) {
    if (real_at(left, precision, i) > real_at(right, precision, i)) {
      memcpy((char *)y + i * width * size(), (const char *)x + i * width * size(), width * size());
    }
  }
}

/* The loop with its arrays in host memory. */
static void loop_on_host(const world *w, void *arrays[LOOP_ARRAYS])
{
  abut_batch batch = abut_default_batch();
  const abut_gradients gradients = {NULL, arrays[SLOPE]};
  memcpy(arrays[POSE1], w->pose[0], 7 * ROWS * size());
  memcpy(arrays[POSE2], w->pose[1], 7 * ROWS * size());
  batch.count = ROWS;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = arrays[POSE1];
  batch.pose2 = arrays[POSE2];
  batch.reductions.soft_minimum = arrays[SOFT];
  batch.reductions.minimum_distance = arrays[LEAST];
  for (int i = 0; i < STEPS; ++i) {
    CHECK_OK(abut_gradient(w->pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients));
    choose(arrays[BEST], arrays[POSE2], 7, arrays[SOFT], arrays[BEST_SOFT]);
    choose(arrays[BEST_SOFT], arrays[SOFT], 1, arrays[SOFT], arrays[BEST_SOFT]);
    add_scaled(arrays[POSE2], arrays[SLOPE], 7 * ROWS);
  }
}

static abut_state_array array_of(abut_state s, uint32_t i)
{
  return (abut_state_array){s, i};
}

static bool step_on_state(const world *w, abut_state s)
{
  abut_state_array a[LOOP_ARRAYS];
  abut_batch batch = abut_default_batch();
  for (uint32_t i = 0; i < LOOP_ARRAYS; ++i) {
    a[i] = array_of(s, i);
  }
  const abut_gradients gradients = {NULL, &a[SLOPE]};
  batch.count = ROWS;
  batch.memory = ABUT_MEMORY_STATE;
  batch.poses = ABUT_POSE_QUATERNION;
  batch.pose1 = &a[POSE1];
  batch.pose2 = &a[POSE2];
  batch.reductions.soft_minimum = &a[SOFT];
  batch.reductions.minimum_distance = &a[LEAST];
  return CHECK_OK(
           abut_gradient(w->pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients)) &&
         CHECK_OK(abut_choose_state(a[BEST], a[POSE2], a[SOFT], a[BEST_SOFT])) &&
         CHECK_OK(abut_choose_state(a[BEST_SOFT], a[SOFT], a[SOFT], a[BEST_SOFT])) &&
         CHECK_OK(abut_combine_state(a[POSE2], 1.0, a[SLOPE], UP));
}

/* What begins the loop, in host memory. */
static void start_arrays(void *arrays[LOOP_ARRAYS])
{
  for (size_t i = 0; i < LOOP_ARRAYS; ++i) {
    arrays[i] = calloc(ROWS * loop_widths[i], size());
  }
  for (size_t i = 0; i < ROWS; ++i) {
    real_put(arrays[BEST_SOFT], precision, i, -1e3);
  }
}

static abut_state start_state(const world *w, void *const arrays[LOOP_ARRAYS], const double *parts)
{
  abut_state s;
  CHECK_OK(abut_create_state(w->context, ROWS, loop_widths, LOOP_ARRAYS, parts, &s));
  CHECK_OK(abut_write_state(array_of(s, POSE1), 0, ROWS, w->pose[0]));
  CHECK_OK(abut_write_state(array_of(s, POSE2), 0, ROWS, w->pose[1]));
  CHECK_OK(abut_write_state(array_of(s, BEST_SOFT), 0, ROWS, arrays[BEST_SOFT]));
  return s;
}

/* No array goes up or down between steps, and all steps launch the same kernels. */
static void steps_that_stay(const world *w, abut_state s)
{
  uint64_t launches = 0;
  step_on_state(w, s); /* brings all there that stays */
  for (int i = 1; i < STEPS; ++i) {
    const abut_counters before = counters_of(w);
    step_on_state(w, s);
    const abut_counters after = counters_of(w);
    check(after.bytes_up == before.bytes_up, "step %d brings %llu bytes up", i,
          (unsigned long long)(after.bytes_up - before.bytes_up));
    check(after.bytes_down == before.bytes_down, "step %d brings %llu bytes down", i,
          (unsigned long long)(after.bytes_down - before.bytes_down));
    check(after.resident == before.resident, "step %d takes memory", i);
    check(i == 1 || after.launches - before.launches == launches, "step %d launches otherwise", i);
    launches = after.launches - before.launches;
  }
  check(launches > 0, "a step launches something");
}

static void test_loop(size_t devices, uint32_t chunk, const double *parts, size_t ranges)
{
  world w;
  void *arrays[LOOP_ARRAYS], *start[LOOP_ARRAYS];
  abut_state_info info;
  if (!make_world(&w, devices, chunk, EDGES_IN_PAIRS)) {
    printf("not run: %zu parts of a device\n", devices);
    return;
  }
  start_arrays(arrays);
  start_arrays(start);
  loop_on_host(&w, arrays);
  const abut_state s = start_state(&w, start, parts);
  CHECK_OK(abut_get_state_info(s, &info));
  check(info.ranges == 0 && info.changes == 0, "a state that has only been written is the copy");
  steps_that_stay(&w, s);
  CHECK_OK(abut_get_state_info(s, &info));
  check(info.ranges == ranges && info.changes == 4 * STEPS && info.saved == 0 &&
          info.count == ROWS && info.arrays == LOOP_ARRAYS,
        "%zu ranges, %llu changes", info.ranges, (unsigned long long)info.changes);
  for (uint32_t i = 0; i < LOOP_ARRAYS; ++i) {
    char what[64];
    snprintf(what, sizeof what, "array %u of %zu devices, chunk %u,", i, devices, chunk);
    same_as_state(arrays[i], array_of(s, i), loop_widths[i], what);
    free(arrays[i]);
    free(start[i]);
  }
  CHECK_OK(abut_destroy_state(s));
  check(abut_destroy_state(s) == ABUT_ERROR_HANDLE, "a state is destroyed once");
  free_world(&w);
}

/* ---- every call ---- */

enum {
  IN1,
  IN2,
  ALONG1,
  P,
  D,
  N,
  A,
  PD,
  PA,
  BARS_D,
  BARS_N,
  GRAD1,
  GRAD2,
  HESS1,
  HESS2,
  WHOLE,
  SLOPE2,
  MEAN,
  SUM,
  ENERGY,
  SECOND1,
  SECOND2,
  CALL_ARRAYS
};

typedef struct arrays {
  size_t widths[CALL_ARRAYS];
  void *host[CALL_ARRAYS];
  abut_state_array there[CALL_ARRAYS];
} arrays;

static void fill(const world *w, arrays *a)
{
  const size_t c = w->layout.contacts;
  const size_t widths[CALL_ARRAYS] = {7, 7, 7, 3 * c, c,  3 * c, c, c, c, c, 3 * c,
                                      7, 7, 7, 7,     49, 7,     1, 1, 1, 7, 7};
  memcpy(a->widths, widths, sizeof widths);
  for (size_t i = 0; i < CALL_ARRAYS; ++i) {
    a->host[i] = calloc(ROWS * widths[i], size());
  }
  memcpy(a->host[IN1], w->pose[0], 7 * ROWS * size());
  memcpy(a->host[IN2], w->pose[1], 7 * ROWS * size());
  real_put(a->host[IN2], precision, 7 * 20, NAN);
  for (size_t i = 0; i < 3 * c * ROWS; ++i) {
    real_put(a->host[BARS_N], precision, i, sin((double)i));
    real_put(a->host[BARS_D], precision, i / 3, cos((double)i));
    real_put(a->host[ALONG1], precision, i % (7 * ROWS), sin(2.0 * (double)i));
  }
}

/* Where a call's array lies: in host memory, or the name of it in the state. */
static void *at(arrays *a, bool there, int i)
{
  return there ? (void *)&a->there[i] : a->host[i];
}

static abut_batch batch_of(arrays *a, bool there)
{
  abut_batch b = abut_default_batch();
  b.count = ROWS;
  b.memory = there ? ABUT_MEMORY_STATE : ABUT_MEMORY_HOST;
  b.poses = ABUT_POSE_QUATERNION;
  b.pose1 = at(a, there, IN1);
  b.pose2 = at(a, there, IN2);
  return b;
}

static void do_calls(const world *w, arrays *a, bool there, abut_compact *list, uint8_t *status)
{
  abut_batch b = batch_of(a, there);
  b.p = at(a, there, P);
  b.d = at(a, there, D);
  b.n = at(a, there, N);
  b.activity = at(a, there, A);
  b.status = status;
  b.compact = list;
  b.reductions.mean_distance = at(a, there, MEAN);
  b.reductions.activity = at(a, there, SUM);
  b.reductions.energy = at(a, there, ENERGY);
  CHECK_OK(abut_contacts(w->pair, &b));
  check(b.rejected == 1, "%zu poses are rejected", b.rejected);
  const abut_cotangents bars = {.d = at(a, there, BARS_D), .n = at(a, there, BARS_N)};
  const abut_gradients gradients = {at(a, there, GRAD1), at(a, there, GRAD2)};
  b = batch_of(a, there);
  CHECK_OK(abut_vjp(w->pair, ABUT_SAME_PAIR, &b, &bars, &gradients));
  const abut_pose_tangents along = {at(a, there, ALONG1), NULL};
  const abut_tangents tangents = {.d = at(a, there, PD), .activity = at(a, there, PA)};
  b = batch_of(a, there);
  CHECK_OK(abut_jvp(w->pair, ABUT_SAME_PAIR, &b, &along, &tangents));
  const abut_gradients products = {at(a, there, HESS1), at(a, there, HESS2)};
  b = batch_of(a, there);
  CHECK_OK(abut_hessian_product(w->pair, &b, ABUT_REDUCE_ENERGY, &along, NULL, &products));
  const abut_cotangents of_bars = {.p = at(a, there, P),
                                   .d = at(a, there, BARS_D),
                                   .activity = at(a, there, A)};
  const abut_gradients seconds = {at(a, there, SECOND1), at(a, there, SECOND2)};
  b = batch_of(a, there);
  CHECK_OK(abut_vjp_tangent(w->pair, &b, &bars, &of_bars, &along, NULL, &seconds));
  const abut_gradients second = {NULL, at(a, there, SLOPE2)};
  b = batch_of(a, there);
  CHECK_OK(
    abut_hessian(w->pair, &b, ABUT_REDUCE_SOFT_MINIMUM, ABUT_BODY_2, &second, at(a, there, WHOLE)));
}

static void same_lists(const abut_compact *a, const abut_compact *b)
{
  const size_t count = a->count;
  check(count == b->count && count > 0, "lists of %zu and %zu", count, b->count);
  check(!memcmp(a->pose, b->pose, count * sizeof *a->pose) &&
          !memcmp(a->slot, b->slot, count * sizeof *a->slot),
        "lists differ");
}

static void test_calls(size_t devices, uint32_t chunk, int edges)
{
  enum { LIST = 20000 };
  static uint32_t poses[2][LIST], slots[2][LIST];
  abut_compact lists[2];
  uint8_t status[2][ROWS] = {{0}, {1}};
  world w;
  arrays a;
  abut_state s;
  if (!make_world(&w, devices, chunk, edges)) {
    return;
  }
  for (int i = 0; i < 2; ++i) {
    lists[i] =
      (abut_compact){.threshold = 0.1, .capacity = LIST, .pose = poses[i], .slot = slots[i]};
  }
  fill(&w, &a);
  CHECK_OK(abut_create_state(w.context, ROWS, a.widths, CALL_ARRAYS, NULL, &s));
  for (uint32_t i = 0; i < CALL_ARRAYS; ++i) {
    a.there[i] = array_of(s, i);
    CHECK_OK(abut_write_state(a.there[i], 0, ROWS, a.host[i]));
  }
  do_calls(&w, &a, false, &lists[0], status[0]);
  do_calls(&w, &a, true, &lists[1], status[1]);
  for (int i = 0; i < CALL_ARRAYS; ++i) {
    char what[80];
    snprintf(what, sizeof what, "array %d of calls, edges %d, %zu devices, chunk %u,", i, edges,
             devices, chunk);
    same_as_state(a.host[i], a.there[i], a.widths[i], what);
    free(a.host[i]);
  }
  same_lists(&lists[0], &lists[1]);
  check(!memcmp(status[0], status[1], ROWS), "statuses differ");
  free_world(&w); /* and the state with it */
  check(abut_destroy_state(s) == ABUT_ERROR_HANDLE, "a state goes with its context");
}

/* ---- its own computations ---- */

static double read_at(abut_state_array a, size_t width, size_t row, size_t k)
{
  double real[16];
  CHECK_OK(abut_read_state(a, row, 1, real));
  (void)width;
  return real_at(real, precision, k);
}

static void test_steps(size_t devices)
{
  enum { X, Y, Z, ROW, LEFT, RIGHT, ARRAYS };
  static const size_t widths[ARRAYS] = {3, 3, 3, 1, 1, 1};
  world w;
  abut_state s;
  abut_state_array a[ARRAYS];
  double x[3 * ROWS], z[3 * ROWS], row[ROWS], left[ROWS], right[ROWS];
  if (!make_world(&w, devices, 0, NO_EDGES)) {
    return;
  }
  for (size_t i = 0; i < ROWS; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      x[3 * i + k] = (double)(i + k) / 4.0;
      z[3 * i + k] = (double)(1 + k) / 2.0;
    }
    row[i] = (double)i / 8.0;
    left[i] = i % 3 == 2 ? NAN : (double)(i % 3);
    right[i] = 0.5;
  }
  const double *const from[ARRAYS] = {x, x, z, row, left, right};
  CHECK_OK(abut_create_state(w.context, ROWS, widths, ARRAYS, NULL, &s));
  for (uint32_t i = 0; i < ARRAYS; ++i) {
    void *reals = to_reals(from[i], ROWS * widths[i], precision);
    a[i] = array_of(s, i);
    CHECK_OK(abut_write_state(a[i], 0, ROWS, reals));
    free(reals);
  }
  CHECK_OK(abut_multiply_state(a[Y], a[X], a[ROW]));
  check(read_at(a[Y], 3, 10, 2) == 12.0 / 4.0 * (10.0 / 8.0), "a product with a number a row");
  CHECK_OK(abut_multiply_state(a[Y], a[Y], a[Z]));
  check(read_at(a[Y], 3, 10, 2) == 12.0 / 4.0 * (10.0 / 8.0) * 1.5, "a product in place");
  CHECK_OK(abut_combine_state(a[Y], 0.0, a[X], 2.0));
  check(read_at(a[Y], 3, 149, 0) == 149.0 / 2.0, "twice x");
  CHECK_OK(abut_combine_state(a[Y], 0.5, a[Y], 1.0));
  check(read_at(a[Y], 3, 149, 0) == 149.0 * 0.75, "an array with itself");
  CHECK_OK(abut_choose_state(a[Y], a[Z], a[LEFT], a[RIGHT]));
  check(read_at(a[Y], 3, 75, 1) == 76.0 * 0.75 && read_at(a[Y], 3, 76, 1) == 1.0 &&
          read_at(a[Y], 3, 77, 1) == 78.0 * 0.75,
        "rows by which is greater; NaN is not");
  CHECK_OK(abut_steepest_state(a[Y], a[X], a[Z]));
  const double g[3] = {4.0 / 4.0, 5.0 / 4.0, 6.0 / 4.0};
  const double length = sqrt(0.5 * g[0] * g[0] + g[1] * g[1] + 1.5 * g[2] * g[2]);
  check(fabs(read_at(a[Y], 3, 4, 2) - 1.5 * g[2] / length) < 1e-6, "the steepest way");
  CHECK_OK(abut_combine_state(a[X], 0.0, a[X], 0.0));
  CHECK_OK(abut_steepest_state(a[Y], a[X], a[Z]));
  check(read_at(a[Y], 3, 4, 2) == 0.0, "no way is the steepest where all is level");
  free_world(&w);
}

/* ---- copies ---- */

static void test_copies(size_t devices)
{
  static const size_t widths[] = {7, 1};
  world w;
  abut_state s;
  abut_state_info info;
  double row[7] = {1, 2, 3, 4, 5, 6, 7};
  abut_span spans[64];
  size_t count = 0;
  if (!make_world(&w, devices, 0, NO_EDGES)) {
    return;
  }
  void *reals = to_reals(row, 7, precision);
  CHECK_OK(abut_create_state(w.context, ROWS, widths, 2, NULL, &s));
  const abut_state_array a = array_of(s, 0), b = array_of(s, 1);
  CHECK_OK(abut_write_state(a, 74, 1, reals));
  CHECK_OK(abut_write_state(a, 76, 1, reals));
  const uint64_t up = counters_of(&w).bytes_up;
  check(read_at(a, 7, 74, 3) == 4.0 && read_at(a, 7, 75, 3) == 0.0, "rows that are written");
  CHECK_OK(abut_start_timeline(w.context));
  CHECK_OK(abut_combine_state(a, 2.0, a, 0.0));
  CHECK_OK(abut_stop_timeline(w.context));
  CHECK_OK(abut_get_timeline(w.context, spans, 64, &count));
  check(count == 3 * devices, "%zu spans of %zu devices", count, devices);
  check(counters_of(&w).bytes_up - up == ROWS * 8 * size(), "a state goes up once");
  check(read_at(a, 7, 74, 3) == 8.0, "read after a computation");
  CHECK_OK(abut_get_state_info(s, &info));
  check(info.changes == 1 && info.saved == 0, "%llu changes", (unsigned long long)info.changes);
  CHECK_OK(abut_write_state(a, 75, 1, reals));
  check(read_at(a, 7, 75, 3) == 4.0, "written after a computation");
  CHECK_OK(abut_restore_state(s));
  CHECK_OK(abut_get_state_info(s, &info));
  check(info.changes == 0 && info.ranges == 0, "restored");
  check(read_at(a, 7, 74, 3) == 4.0 && read_at(a, 7, 75, 3) == 0.0, "back before all that");
  CHECK_OK(abut_combine_state(a, 3.0, a, 0.0));
  CHECK_OK(abut_save_state(s));
  CHECK_OK(abut_save_state(s));
  CHECK_OK(abut_combine_state(a, 3.0, a, 0.0));
  CHECK_OK(abut_restore_state(s));
  check(read_at(a, 7, 76, 0) == 3.0, "back to what was saved");
  CHECK_OK(abut_combine_state(b, 1.0, b, 1.0));
  check(read_at(a, 7, 76, 0) == 3.0, "and there again");
  CHECK_OK(abut_read_state(a, ROWS, 0, NULL));
  free(reals);
  free_world(&w);
}

/* ---- refusals ---- */

static void refused(abut_status status, abut_status expected, const char *words)
{
  check(status == expected && strstr(abut_last_error(), words), "%s: %d, %s", words, status,
        abut_last_error());
}

static void test_refused_batches(const world *w, abut_state s)
{
  static const size_t one = 1;
  abut_state_array a[4] = {array_of(s, 0), array_of(s, 1), array_of(s, 2), array_of(s, 9)};
  abut_state other;
  CHECK_OK(abut_create_state(w->context, ROWS, &one, 1, NULL, &other));
  const abut_state_array strange = array_of(other, 0);
  abut_batch b = abut_default_batch();
  b.memory = ABUT_MEMORY_STATE;
  b.poses = ABUT_POSE_QUATERNION;
  b.count = ROWS;
  refused(abut_contacts(w->pair, &b), ABUT_ERROR_ARGUMENT, "NULL");
  b.pose1 = &a[0];
  b.pose2 = &a[1];
  b.count = ROWS - 1;
  refused(abut_contacts(w->pair, &b), ABUT_ERROR_ARGUMENT, "the call has 149 poses");
  b.count = ROWS;
  b.d = &a[2];
  refused(abut_contacts(w->pair, &b), ABUT_ERROR_ARGUMENT, "numbers per row");
  b.d = NULL;
  b.pose2 = &a[3];
  refused(abut_contacts(w->pair, &b), ABUT_ERROR_ARGUMENT, "no array 9");
  b.pose2 = &a[1];
  b.reductions.energy = (void *)(uintptr_t)&strange;
  refused(abut_contacts(w->pair, &b), ABUT_ERROR_ARGUMENT, "another state");
  b.reductions.energy = NULL;
  const abut_gradients gradients = {NULL, &a[1]};
  refused(abut_gradient(w->pair, ABUT_SAME_PAIR, &b, ABUT_REDUCE_ENERGY, &gradients),
          ABUT_ERROR_ARGUMENT, "the same array, 1");
  b.memory = (abut_memory)3;
  refused(abut_contacts(w->pair, &b), ABUT_ERROR_ARGUMENT, "unknown kind of memory 3");
  refused(abut_combine_state(a[0], 1.0, a[2], 1.0), ABUT_ERROR_ARGUMENT, "x needs 7 numbers");
  refused(abut_combine_state(a[0], 1.0, strange, 1.0), ABUT_ERROR_ARGUMENT, "another state");
  refused(abut_choose_state(a[0], a[1], a[0], a[2]), ABUT_ERROR_ARGUMENT, "left needs 1 numbers");
  CHECK_OK(abut_destroy_state(other));
  refused(abut_combine_state(a[0], 1.0, strange, 1.0), ABUT_ERROR_HANDLE, "stale");
}

static void test_refusals(void)
{
  static const size_t widths[] = {7, 7, 1}, zero[] = {7, 0}, vast[] = {SIZE_MAX / 8};
  static const double none[ABUT_DEVICES_MOST] = {0.0}, less[ABUT_DEVICES_MOST] = {-1.0};
  world w, second;
  abut_state s;
  double reals[7] = {0};
  if (!make_world(&w, 1, 0, NO_EDGES) || !make_world(&second, 1, 0, NO_EDGES)) {
    return;
  }
  refused(abut_create_state(w.context, ROWS, widths, 0, NULL, &s), ABUT_ERROR_ARGUMENT, "1 to 64");
  refused(abut_create_state(w.context, ROWS, widths, 65, NULL, &s), ABUT_ERROR_ARGUMENT, "1 to 64");
  refused(abut_create_state(w.context, ROWS, NULL, 1, NULL, &s), ABUT_ERROR_ARGUMENT, "NULL");
  refused(abut_create_state(w.context, ROWS, zero, 2, NULL, &s), ABUT_ERROR_ARGUMENT, "array 1");
  refused(abut_create_state(w.context, ROWS, vast, 1, NULL, &s), ABUT_ERROR_ARGUMENT, "array 0");
  refused(abut_create_state(w.context, ROWS, widths, 3, none, &s), ABUT_ERROR_ARGUMENT,
          "every dev");
  refused(abut_create_state(w.context, ROWS, widths, 3, less, &s), ABUT_ERROR_ARGUMENT, "-1");
  refused(abut_create_state(w.context, ROWS, widths, 3, NULL, NULL), ABUT_ERROR_ARGUMENT, "handle");
  refused(abut_get_state_info((abut_state){0, 0}, NULL), ABUT_ERROR_HANDLE, "null");
  CHECK_OK(abut_create_state(w.context, ROWS, widths, 3, NULL, &s));
  refused(abut_get_state_info(s, NULL), ABUT_ERROR_ARGUMENT, "answer");
  refused(abut_write_state(array_of(s, 0), 0, ROWS + 1, reals), ABUT_ERROR_ARGUMENT, "0 + 151");
  refused(abut_read_state(array_of(s, 0), 151, 0, reals), ABUT_ERROR_ARGUMENT, "rows 151");
  refused(abut_read_state(array_of(s, 3), 0, 1, reals), ABUT_ERROR_ARGUMENT, "no array 3");
  refused(abut_read_state(array_of(s, 0), 0, 1, NULL), ABUT_ERROR_ARGUMENT, "NULL");
  test_refused_batches(&w, s);
  abut_state_array a[2] = {array_of(s, 0), array_of(s, 1)};
  abut_batch b = abut_default_batch();
  b.memory = ABUT_MEMORY_STATE;
  b.count = ROWS;
  b.poses = ABUT_POSE_QUATERNION;
  b.pose1 = &a[0];
  b.pose2 = &a[1];
  refused(abut_contacts(second.pair, &b), ABUT_ERROR_ARGUMENT, "another context");
  CHECK_OK(abut_create_state(w.context, 0, widths, 3, NULL, &s));
  CHECK_OK(abut_combine_state(array_of(s, 0), 1.0, array_of(s, 1), 1.0));
  refused(abut_combine_state(array_of(s, 0), 1.0, array_of(s, 1), NAN), ABUT_ERROR_ARGUMENT,
          "cannot be combined");
  CHECK_OK(abut_save_state(s));
  refused(abut_create_state(w.context, SIZE_MAX / 8, widths, 1, NULL, &s), ABUT_ERROR_ARGUMENT,
          "of a state is too large:");
  free_world(&w);
  free_world(&second);
}

int main(int argc, char **argv)
{
  static const double uneven[ABUT_DEVICES_MOST] = {1.0, 3.0};
  static const double second[ABUT_DEVICES_MOST] = {0.0, 1.0};
  abut_context probe;
  precision = precision_of(argc, argv);
  if (!open_context(precision, 0, 0, &probe)) {
    return 77;
  }
  CHECK_OK(abut_destroy_context(probe));
  for (size_t devices = 1; devices <= PARTS; ++devices) {
    test_loop(devices, 0, NULL, devices);
    test_loop(devices, 17, NULL, devices);
    test_calls(devices, 0, EDGES_IN_PAIRS);
    test_calls(devices, 32, EDGES_IN_PAIRS);
    test_calls(devices, 32, EDGES_IN_FIELDS);
    test_steps(devices);
    test_copies(devices);
  }
  test_loop(1, 128, NULL, 1);
  test_loop(PARTS, 0, uneven, PARTS);
  test_loop(PARTS, 0, second, 1);
  test_refusals();
  return check_finish();
}
