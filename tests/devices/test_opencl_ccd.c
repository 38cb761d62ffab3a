/* Collision in time whose arrays lie in the caller's OpenCL memory, on the caller's queue:
 * test_opencl_ccd PRECISION
 *
 * Every output and derivative to the bit as with host arrays, whole and in chunks; what is refused;
 * and the caller's objects as they were. On the device of ABUT_TEST_DEVICE; 77 where it is not
 * there. */
#include "opencl_caller.h"

#include "ccd/pairs.h"
#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 211 };

/* Arrays in the order in which a call has them. */
enum {
  IN_X0,
  IN_X1,
  IN_SEPARATIONS,
  OUT_TOI,
  OUT_NORMAL,
  OUT_D0,
  OUT_BY_X0,
  OUT_BY_X1,
  CCD_ARRAYS
};
static const size_t widths[CCD_ARRAYS] = {12, 12, 1, 1, 3, 1, 12, 12};

typedef struct place {
  abut_context context;
  void *at[CCD_ARRAYS];
  uint8_t status[ROWS];
  uint32_t iterations[2 * ROWS];
  abut_memory memory;
} place;

static size_t bytes_of(int array)
{
  return ROWS * widths[array] * real_size(precision);
}

static void fill(int array, void *host)
{
  uint64_t seed = 8;
  for (size_t i = 0; i < ROWS; ++i) {
    double x[2][12];
    random_pair(&seed, i % 2 ? TOUCHING : RANDOM, precision, ABUT_CCD_EDGE_EDGE, x[0], x[1]);
    for (size_t k = 0; k < widths[array]; ++k) {
      real_put(host, precision, i * widths[array] + k,
               array == IN_SEPARATIONS ? (double)(i % 3) / 32.0 : x[array][k]);
    }
  }
}

static bool open_place(place *p, bool mine, uint32_t chunk)
{
  const abut_context_def def = def_of(mine, chunk);
  p->memory = mine ? ABUT_MEMORY_OPENCL : ABUT_MEMORY_HOST;
  for (int i = 0; i < CCD_ARRAYS; ++i) {
    void *host = calloc(1, bytes_of(i));
    REQUIRE(host != NULL);
    if (i < OUT_TOI) {
      fill(i, host);
    }
    p->at[i] = mine ? (void *)new_memory(me.context, bytes_of(i), host) : host;
    if (mine) {
      free(host);
    }
  }
  return CHECK_OK(abut_create_context(&def, &p->context));
}

static void close_place(place *p)
{
  CHECK_OK(abut_destroy_context(p->context));
  for (int i = 0; i < CCD_ARRAYS; ++i) {
    if (p->memory == ABUT_MEMORY_OPENCL) {
      check(is_held_once(p->at[i]), "array %d is held by others", i);
      clReleaseMemObject(p->at[i]);
    } else {
      free(p->at[i]);
    }
  }
}

static abut_status run(place *p)
{
  abut_ccd_queries q = abut_default_ccd_queries();
  q.kind = ABUT_CCD_EDGE_EDGE;
  q.count = ROWS;
  q.memory = p->memory;
  q.x0 = p->at[IN_X0];
  q.x1 = p->at[IN_X1];
  q.separations = p->at[IN_SEPARATIONS];
  q.toi = p->at[OUT_TOI];
  q.n = p->at[OUT_NORMAL];
  q.d0 = p->at[OUT_D0];
  q.status = p->status;
  q.iterations = p->iterations;
  return abut_ccd_queries_gradient(p->context, &q, p->at[OUT_BY_X0], p->at[OUT_BY_X1]);
}

static void compare(const place *host, const place *device, const char *what)
{
  for (int i = 0; i < CCD_ARRAYS; ++i) {
    void *got = malloc(bytes_of(i));
    REQUIRE(got != NULL);
    check_cl(clEnqueueReadBuffer(me.queue, device->at[i], CL_TRUE, 0, bytes_of(i), got, 0, NULL,
                                 NULL),
             "clEnqueueReadBuffer");
    check(!memcmp(got, host->at[i], bytes_of(i)), "%s: array %d differs", what, i);
    free(got);
  }
  check(!memcmp(host->status, device->status, ROWS), "%s: statuses differ", what);
  check(!memcmp(host->iterations, device->iterations, sizeof host->iterations),
        "%s: iterations differ", what);
}

static void test_calls(uint32_t chunk)
{
  static place host, device;
  char what[64];
  snprintf(what, sizeof what, "chunks of %u", chunk);
  if (open_place(&host, false, 0) && open_place(&device, true, chunk)) {
    CHECK_OK(run(&host));
    CHECK_OK(run(&device));
    compare(&host, &device, what);
  }
  close_place(&host);
  close_place(&device);
}

/* Each array a byte too short, and of another context. */
static void test_refusals(void)
{
  static const char *const names[CCD_ARRAYS] = {"x0", "x1", "separations", "toi",
                                                "n ", "d0", "toi_by_x0",   "toi_by_x1"};
  static place p;
  const cl_context elsewhere = new_context();
  if (open_place(&p, true, 0)) {
    for (int i = 0; i < CCD_ARRAYS; ++i) {
      void *right = p.at[i];
      for (int other = 0; other < 2; ++other) {
        p.at[i] = new_memory(other ? elsewhere : me.context, bytes_of(i) - (other ? 0 : 1), NULL);
        const abut_status status = run(&p);
        check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), names[i]), "%s: %d, %s",
              names[i], status, abut_last_error());
        clReleaseMemObject(p.at[i]);
      }
      p.at[i] = right;
    }
    CHECK_OK(run(&p));
  }
  close_place(&p);
  check_cl(clReleaseContext(elsewhere), "clReleaseContext");
}

int main(int argc, char **argv)
{
  static const uint32_t chunks[] = {0, 7, 64};
  cl_int code = CL_SUCCESS;
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
  for (size_t i = 0; i < sizeof chunks / sizeof *chunks; ++i) {
    test_calls(chunks[i]);
  }
  test_refusals();
  const references after = count_references(&before);
  check(before.context == after.context && before.queue == after.queue,
        "the context is held %u times, not %u; the queue %u, not %u", after.context, before.context,
        after.queue, before.queue);
  check_cl(clReleaseCommandQueue(me.queue), "clReleaseCommandQueue");
  check_cl(clReleaseContext(me.context), "clReleaseContext");
  return check_finish();
}
