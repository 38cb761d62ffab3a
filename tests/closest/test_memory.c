/* Closest points whose arrays stay on devices: test_closest_memory PRECISION
 *
 * Every array of a call in a state gives what it gives in host memory, to the bit, on one device
 * and on two, in chunks of any kind; a loop of derivatives and steps brings nothing up or down;
 * what is refused. */
#include "closest/rows.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 150, STEPS = 5, SOLIDS = 2 };

/* The state's arrays. */
enum {
  POSE1,
  POSE2,
  D,
  N,
  P1,
  P2,
  GAP,
  BAR_D,
  BAR_N,
  TWISTS,
  BY_TWISTS,
  BY_POSE1,
  BY_POSE2,
  BY_P1,
  BY_P2,
  BY_N,
  BY_D,
  TANGENT_P1,
  TANGENT_D,
  ARRAYS
};
static const size_t widths[ARRAYS] = {7,  7, 1, 3,  3,  3,  1,  1, 3, 12,
                                      12, 7, 7, 36, 36, 36, 12, 3, 1};

static abut_precision precision;

static size_t size(void)
{
  return real_size(precision);
}

typedef struct fixture {
  abut_context context;
  abut_shape shapes[SOLIDS];
  void *host[ARRAYS];
  abut_state state;
  abut_state_array there[ARRAYS];
} fixture;

/* The device of the tests, or two parts of it; of the host path, two threads. */
static bool open_parts(size_t count, uint32_t chunk, abut_context *out)
{
  const char *device = getenv("ABUT_TEST_DEVICE");
  const bool host = !device || !strcmp(device, "host");
  abut_device_choice parts[ABUT_DEVICES_MOST];
  abut_context_def def = abut_default_context_def();
  size_t found = 0;
  char name[64];
  if (count == 1) {
    return open_context(precision, chunk, 0, out);
  }
  snprintf(name, sizeof name, host ? "%s" : "%s/1", device ? device : "host");
  if (abut_find_devices(name, parts, ABUT_DEVICES_MOST, &found) != ABUT_SUCCESS ||
      (!host && found < count)) {
    return false;
  }
  parts[1] = host ? parts[0] : parts[1];
  def.devices = parts;
  def.device_count = (uint32_t)count;
  def.precision = precision;
  def.chunk = chunk;
  return CHECK_OK(abut_create_context(&def, out));
}

static void fill(fixture *f, const solid *solids)
{
  uint64_t seed = 3;
  rows r;
  rows_create(&r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    random_row(&seed, &r, i, solids, SOLIDS);
  }
  for (int i = 0; i < ARRAYS; ++i) {
    f->host[i] = calloc(ROWS * widths[i], size());
    REQUIRE(f->host[i] != NULL);
  }
  memcpy(f->host[POSE1], r.pose[0], 7 * ROWS * size());
  memcpy(f->host[POSE2], r.pose[1], 7 * ROWS * size());
  for (size_t i = 0; i < 12 * ROWS; ++i) {
    real_put(f->host[TWISTS], precision, i, sin((double)i));
    real_put(f->host[i < ROWS ? BAR_D : BAR_N], precision, i < ROWS ? i : i % (3 * ROWS),
             cos((double)i));
  }
  rows_free(&r);
}

static bool make_fixture(fixture *f, size_t devices, uint32_t chunk)
{
  solid solids[SOLIDS];
  uint64_t seed = 9;
  random_solid(&seed, ABUT_SHAPE_HULL, &solids[0]);
  random_solid(&seed, ABUT_SHAPE_CYLINDER, &solids[1]);
  fill(f, solids);
  if (!open_parts(devices, chunk, &f->context)) {
    printf("not run: %zu parts of a device\n", devices);
    return false;
  }
  REQUIRE(make_shapes(f->context, solids, SOLIDS, f->shapes));
  REQUIRE_OK(abut_create_state(f->context, ROWS, widths, ARRAYS, NULL, &f->state));
  for (uint32_t i = 0; i < ARRAYS; ++i) {
    f->there[i] = (abut_state_array){f->state, i};
    CHECK_OK(abut_write_state(f->there[i], 0, ROWS, f->host[i]));
  }
  return true;
}

static void close_fixture(fixture *f)
{
  for (int i = 0; i < ARRAYS; ++i) {
    free(f->host[i]);
  }
  CHECK_OK(abut_destroy_context(f->context));
}

/* An array of the host's, or of the state's. */
static void *at(fixture *f, bool state, int array)
{
  return state ? (void *)&f->there[array] : f->host[array];
}

static abut_closest_batch batch_of(fixture *f, bool state)
{
  abut_closest_batch b = abut_default_closest_batch();
  b.count = ROWS;
  b.shapes = f->shapes;
  b.shape_count = SOLIDS;
  b.memory = state ? ABUT_MEMORY_STATE : ABUT_MEMORY_HOST;
  b.pose1 = at(f, state, POSE1);
  b.pose2 = at(f, state, POSE2);
  b.d = at(f, state, D);
  b.n = at(f, state, N);
  b.p1 = at(f, state, P1);
  b.p2 = at(f, state, P2);
  return b;
}

static abut_closest_smoothing smoothing_of(int method)
{
  abut_closest_smoothing s = abut_default_closest_smoothing();
  s.method = (abut_closest_method)method;
  s.samples = 3;
  s.seed = 5;
  return s;
}

/* ---- every call ---- */

static void run_calls(fixture *f, bool state, int method, uint8_t status[ROWS])
{
  const abut_closest_smoothing s = smoothing_of(method);
  const abut_closest_jacobians jacobians = {at(f, state, BY_P1), at(f, state, BY_P2),
                                            at(f, state, BY_N), at(f, state, BY_D)};
  const abut_closest_cotangents bars = {.n = at(f, state, BAR_N), .d = at(f, state, BAR_D)};
  const abut_closest_gradients gradients = {at(f, state, BY_TWISTS), at(f, state, BY_POSE1),
                                            at(f, state, BY_POSE2)};
  const abut_closest_tangents tangents = {.p1 = at(f, state, TANGENT_P1),
                                          .d = at(f, state, TANGENT_D)};
  abut_closest_batch b = batch_of(f, state);
  b.gap = at(f, state, GAP);
  b.status = status;
  CHECK_OK(abut_closest(f->context, &b));
  CHECK_OK(abut_closest_jacobian(f->context, &b, &s, &jacobians));
  CHECK_OK(abut_closest_vjp(f->context, &b, &s, &bars, &gradients));
  CHECK_OK(abut_closest_jvp(f->context, &b, &s, at(f, state, TWISTS), &tangents));
}

static void compare(fixture *f, const char *what)
{
  for (int i = 0; i < ARRAYS; ++i) {
    void *got = calloc(ROWS * widths[i], size());
    CHECK_OK(abut_read_state(f->there[i], 0, ROWS, got));
    check(!memcmp(got, f->host[i], ROWS * widths[i] * size()), "%s: array %d differs", what, i);
    free(got);
  }
}

static void test_calls(size_t devices, uint32_t chunk)
{
  fixture f;
  if (make_fixture(&f, devices, chunk)) {
    for (int method = 0; method < 4; ++method) {
      uint8_t statuses[2][ROWS];
      char what[64];
      snprintf(what, sizeof what, "%zu devices, chunks of %u, method %d", devices, chunk, method);
      run_calls(&f, false, method, statuses[0]);
      run_calls(&f, true, method, statuses[1]);
      compare(&f, what);
      check(!memcmp(statuses[0], statuses[1], ROWS), "%s: statuses differ", what);
    }
    close_fixture(&f);
  }
}

/* ---- a loop ---- */

#define STEP 0.01

static void step_on_host(fixture *f)
{
  const abut_closest_smoothing s = smoothing_of(ABUT_CLOSEST_GUMBEL);
  const abut_closest_cotangents bars = {.d = f->host[BAR_D]};
  const abut_closest_gradients gradients = {.pose2 = f->host[BY_POSE2]};
  abut_closest_batch b = batch_of(f, false);
  CHECK_OK(abut_closest_vjp(f->context, &b, &s, &bars, &gradients));
  for (size_t i = 0; i < 7 * ROWS; ++i) {
    if (precision == ABUT_FLOAT64) {
      double *y = f->host[POSE2];
      y[i] = fma(STEP, ((const double *)f->host[BY_POSE2])[i], y[i]);
    } else {
      float *y = f->host[POSE2];
      y[i] = fmaf((float)STEP, ((const float *)f->host[BY_POSE2])[i], y[i]);
    }
  }
}

static void step_on_state(fixture *f)
{
  const abut_closest_smoothing s = smoothing_of(ABUT_CLOSEST_GUMBEL);
  const abut_closest_cotangents bars = {.d = &f->there[BAR_D]};
  const abut_closest_gradients gradients = {.pose2 = &f->there[BY_POSE2]};
  abut_closest_batch b = batch_of(f, true);
  CHECK_OK(abut_closest_vjp(f->context, &b, &s, &bars, &gradients));
  CHECK_OK(abut_combine_state(f->there[POSE2], 1.0, f->there[BY_POSE2], STEP));
}

/* Where the host path is the device, all that a call needs of shapes lies there already. */
static void test_loop(size_t devices, uint32_t chunk)
{
  fixture f;
  if (!make_fixture(&f, devices, chunk)) {
    return;
  }
  for (int i = 0; i < STEPS; ++i) {
    abut_counters before, after;
    step_on_host(&f);
    CHECK_OK(abut_get_counters(f.context, &before));
    step_on_state(&f);
    CHECK_OK(abut_get_counters(f.context, &after));
    check(i < 1 || after.bytes_down == before.bytes_down, "step %d brings %llu bytes down", i,
          (unsigned long long)(after.bytes_down - before.bytes_down));
    check(i < 1 || after.bytes_up - before.bytes_up < 64 * devices, "step %d brings %llu bytes up",
          i, (unsigned long long)(after.bytes_up - before.bytes_up));
  }
  compare(&f, "a loop");
  close_fixture(&f);
}

/* ---- what is refused ---- */

static void refused(fixture *f, abut_closest_batch *b, const char *text)
{
  const abut_status status = abut_closest(f->context, b);
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), text), "%s: %d, %s", text,
        status, abut_last_error());
}

static void test_refusals(void)
{
  fixture f;
  if (!make_fixture(&f, 1, 0)) {
    return;
  }
  abut_closest_batch b = batch_of(&f, true);
  b.count = ROWS - 1;
  refused(&f, &b, "the call has 149 poses");
  b = batch_of(&f, true);
  b.poses = ABUT_POSE_TWIST;
  refused(&f, &b, "pose1");
  b = batch_of(&f, true);
  b.d = &f.there[N];
  refused(&f, &b, "numbers per row");
  b = batch_of(&f, true);
  b.n = &f.there[P1];
  refused(&f, &b, "the same array");
  const abut_closest_smoothing s = smoothing_of(ABUT_CLOSEST_GUMBEL);
  const abut_closest_jacobians to = {.p1 = &f.there[N]};
  b = batch_of(&f, true);
  check(abut_closest_jacobian(f.context, &b, &s, &to) == ABUT_ERROR_ARGUMENT &&
          strstr(abut_last_error(), "the Jacobian of p1"),
        "a Jacobian in a narrow array: %s", abut_last_error());
  close_fixture(&f);
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  CHECK_OK(abut_destroy_context(context));
  test_calls(1, 0);
  test_calls(1, 7);
  test_calls(2, 0);
  test_calls(2, 16);
  test_loop(1, 0);
  test_loop(2, 7);
  test_refusals();
  return check_finish();
}
