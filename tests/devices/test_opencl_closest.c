/* Closest points whose arrays lie in the caller's OpenCL memory, on the caller's queue:
 * test_opencl_closest PRECISION
 *
 * Every output and derivative to the bit as with host arrays, whole and in chunks; what is refused;
 * and the caller's objects as they were. On the device of ABUT_TEST_DEVICE; 77 where it is not
 * there. */
#include "opencl_caller.h"

#include "closest/slopes_of_rows.h"
#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOLIDS = 8, ROWS = 211 };

/* Arrays in the order in which a call has them. */
enum {
  IN_POSE1,
  IN_POSE2,
  IN_BAR,
  IN_TWISTS,
  OUT_D1,
  OUT_N1,
  OUT_P1_,
  OUT_P2_,
  OUT_GAP,
  OUT_TWISTS,
  OUT_POSE2,
  OUT_BY_N,
  OUT_BY_D,
  OUT_TANGENT,
  CLOSEST_ARRAYS
};
static const size_t widths[CLOSEST_ARRAYS] = {7, 7, 3, 12, 1, 3, 3, 3, 1, 12, 7, 36, 12, 3};

typedef struct place {
  abut_context context;
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  void *at[CLOSEST_ARRAYS];
  uint8_t status[ROWS];
  abut_memory memory;
} place;

static size_t bytes_of(int array)
{
  return ROWS * widths[array] * real_size(precision);
}

static bool open_place(place *p, bool mine, uint32_t chunk, const rows *r)
{
  const abut_context_def def = def_of(mine, chunk);
  uint64_t seed = 4;
  p->memory = mine ? ABUT_MEMORY_OPENCL : ABUT_MEMORY_HOST;
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, (abut_shape_kind)i, &p->solids[i]);
  }
  for (int i = 0; i < CLOSEST_ARRAYS; ++i) {
    void *host = calloc(1, bytes_of(i));
    for (size_t k = 0; i >= IN_BAR && i < OUT_D1 && k < ROWS * widths[i]; ++k) {
      real_put(host, precision, k, random_normal(&seed));
    }
    if (i < IN_BAR) {
      memcpy(host, r->pose[i], bytes_of(i));
    }
    p->at[i] = mine ? (void *)new_memory(me.context, bytes_of(i), host) : host;
    if (mine) {
      free(host);
    }
  }
  return CHECK_OK(abut_create_context(&def, &p->context)) &&
         make_shapes(p->context, p->solids, SOLIDS, p->shapes);
}

static void close_place(place *p)
{
  CHECK_OK(abut_destroy_context(p->context));
  for (int i = 0; i < CLOSEST_ARRAYS; ++i) {
    if (p->memory == ABUT_MEMORY_OPENCL) {
      check(is_held_once(p->at[i]), "array %d is held by others", i);
      clReleaseMemObject(p->at[i]);
    } else {
      free(p->at[i]);
    }
  }
}

static abut_closest_batch batch_at(place *p, const rows *r)
{
  abut_closest_batch b = abut_default_closest_batch();
  b.count = ROWS;
  b.shapes = p->shapes;
  b.shape_count = SOLIDS;
  b.one = r->one;
  b.two = r->two;
  b.memory = p->memory;
  b.pose1 = p->at[IN_POSE1];
  b.pose2 = p->at[IN_POSE2];
  b.d = p->at[OUT_D1];
  b.n = p->at[OUT_N1];
  b.p1 = p->at[OUT_P1_];
  b.p2 = p->at[OUT_P2_];
  b.gap = p->at[OUT_GAP];
  b.status = p->status;
  return b;
}

static abut_status run(place *p, const rows *r, int method)
{
  const abut_closest_smoothing s = smoothing_of(method);
  const abut_closest_cotangents bars = {.p1 = p->at[IN_BAR], .n = p->at[IN_BAR]};
  const abut_closest_gradients gradients = {.twists = p->at[OUT_TWISTS], .pose2 = p->at[OUT_POSE2]};
  const abut_closest_jacobians jacobians = {.n = p->at[OUT_BY_N], .d = p->at[OUT_BY_D]};
  const abut_closest_tangents tangents = {.p2 = p->at[OUT_TANGENT]};
  abut_closest_batch b = batch_at(p, r);
  abut_status status = abut_closest(p->context, &b);
  status = status == ABUT_SUCCESS ? abut_closest_vjp(p->context, &b, &s, &bars, &gradients)
                                  : status;
  status = status == ABUT_SUCCESS ? abut_closest_jacobian(p->context, &b, &s, &jacobians) : status;
  return status == ABUT_SUCCESS ? abut_closest_jvp(p->context, &b, &s, p->at[IN_TWISTS], &tangents)
                                : status;
}

static void compare(const place *host, const place *device, const char *what)
{
  for (int i = 0; i < CLOSEST_ARRAYS; ++i) {
    void *got = malloc(bytes_of(i));
    check_cl(clEnqueueReadBuffer(me.queue, device->at[i], CL_TRUE, 0, bytes_of(i), got, 0, NULL,
                                 NULL),
             "clEnqueueReadBuffer");
    check(!memcmp(got, host->at[i], bytes_of(i)), "%s: array %d differs", what, i);
    free(got);
  }
  check(!memcmp(host->status, device->status, ROWS), "%s: statuses differ", what);
}

static void test_calls(const rows *r, uint32_t chunk)
{
  static place host, device;
  if (open_place(&host, false, 0, r) && open_place(&device, true, chunk, r)) {
    for (int method = 0; method < METHODS_OF_FLOAT; ++method) {
      char what[64];
      snprintf(what, sizeof what, "chunks of %u, %s", chunk, method_names[method]);
      CHECK_OK(run(&host, r, method));
      CHECK_OK(run(&device, r, method));
      compare(&host, &device, what);
    }
  }
  close_place(&host);
  close_place(&device);
}

/* Each array a byte too short, and of another context. */
static void test_refusals(const rows *r)
{
  static const char *const names[CLOSEST_ARRAYS] = {"pose1",
                                                    "pose2",
                                                    "the cotangent of p1",
                                                    "twists",
                                                    "d ",
                                                    "n ",
                                                    "p1",
                                                    "p2",
                                                    "gap",
                                                    "the gradient by twists",
                                                    "the gradient of pose2",
                                                    "the Jacobian of n",
                                                    "the Jacobian of d",
                                                    "the tangent of p2"};
  static place p;
  const cl_context elsewhere = new_context();
  if (open_place(&p, true, 0, r)) {
    for (int i = 0; i < CLOSEST_ARRAYS; ++i) {
      void *right = p.at[i];
      for (int other = 0; other < 2; ++other) {
        p.at[i] = new_memory(other ? elsewhere : me.context, bytes_of(i) - (other ? 0 : 1), NULL);
        const abut_status status = run(&p, r, ABUT_CLOSEST_GUMBEL);
        check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), names[i]), "%s: %d, %s",
              names[i], status, abut_last_error());
        clReleaseMemObject(p.at[i]);
      }
      p.at[i] = right;
    }
    CHECK_OK(run(&p, r, ABUT_CLOSEST_GUMBEL));
  }
  close_place(&p);
  check_cl(clReleaseContext(elsewhere), "clReleaseContext");
}

int main(int argc, char **argv)
{
  static const uint32_t chunks[] = {0, 7, 64};
  solid solids[SOLIDS];
  uint64_t seed = 4, row_seed = 30;
  cl_int code = CL_SUCCESS;
  rows r;
  precision = precision_of(argc, argv);
  if (!find_device()) {
    return 77;
  }
  me.context = new_context();
  me.queue = clCreateCommandQueue(me.context, me.device, 0, &code);
  if (!check_cl(code, "clCreateCommandQueue")) {
    return check_finish();
  }
  const references before = count_references(NULL);
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, (abut_shape_kind)i, &solids[i]);
  }
  rows_create(&r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    random_row(&row_seed, &r, i, solids, SOLIDS);
  }
  real_put(r.pose[1], precision, 7 * 20, (double)NAN);
  for (size_t i = 0; i < sizeof chunks / sizeof *chunks; ++i) {
    test_calls(&r, chunks[i]);
  }
  test_refusals(&r);
  rows_free(&r);
  const references after = count_references(&before);
  check(before.context == after.context && before.queue == after.queue,
        "the context is held %u times, not %u; the queue %u, not %u", after.context, before.context,
        after.queue, before.queue);
  check_cl(clReleaseCommandQueue(me.queue), "clReleaseCommandQueue");
  check_cl(clReleaseContext(me.context), "clReleaseContext");
  return check_finish();
}
