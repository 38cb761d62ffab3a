/* Witness points on a device that fails or lacks memory: points projected in place are read again
 * by the next device, and a device without memory for a chunk takes smaller ones. */
#include "failures.h"

#include "engine/device/context.h"
#include "shim.h"
#include <abut/derivatives.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES = 5000, FEW = 40, BYTES = 1 << 16 }; /* of a buffer; 1024 queries fit it */

static double points[3 * QUERIES], triangles[9 * QUERIES], in_place[3 * QUERIES];
static double expected[2][9 * QUERIES], got[2][9 * QUERIES];
static uint8_t statuses[QUERIES], expected_statuses[QUERIES];

static void make_queries(void)
{
  for (size_t i = 0; i < 3 * QUERIES; ++i) {
    points[i] = sin(1.0 + (double)i);
  }
  for (size_t i = 0; i < 9 * QUERIES; ++i) {
    triangles[i] = cos(0.5 * (double)i * (double)(i % 13));
  }
}

static bool near_arrays(const double *a, const double *b, size_t count, double tolerance)
{
  double worst = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double difference = fabs(a[i] - b[i]);
    worst = difference <= worst ? worst : difference; /* a NaN stays */
  }
  return worst <= tolerance;
}

static abut_device_report first_report(const world *w)
{
  abut_device_report reports[ABUT_DEVICES_MOST + 1];
  size_t count = 0;
  CHECK_OK(abut_context_devices(w->context, reports, ABUT_DEVICES_MOST + 1, &count));
  return reports[0];
}

/* ---- in place ---- */

/* The next call asks for memory again. */
static void forget_memory(abut_context of)
{
  context *c = context_get(of);
  for (size_t i = 0; i < c->count; ++i) {
    buffer_pools_free(c->members[i].pools);
    c->members[i].pools = NULL;
  }
}

/* Devices that were made to fail are whole. */
static void heal(const world *w)
{
  context *c = context_get(w->context);
  for (size_t i = 0; i < c->count; ++i) {
    c->members[i].status = ABUT_SUCCESS;
  }
  forget_memory(w->context);
  member_close(&c->members[c->count]); /* the host path, which stood in */
}

/* Whether the fault came: the n-th call fails, and another device, or the host path, does what is
 * left. */
static bool project_in_place(const world *w, long n, bool adjoint)
{
  const abut_smoothing smoothing = abut_default_smoothing();
  abut_status status = ABUT_SUCCESS;
  memcpy(in_place, points, sizeof in_place);
  memset(statuses, 7, sizeof statuses);
  shim_fail(SHIM_CALLS, n, n, CL_OUT_OF_RESOURCES);
  if (adjoint) {
    status = abut_witness_faces_vjp(w->context, &smoothing, FEW, in_place, triangles, points,
                                    in_place, got[1], statuses, NULL);
  } else {
    status = abut_witness_faces(w->context, &smoothing, FEW, in_place, triangles, in_place,
                                statuses, NULL);
  }
  const bool came = shim_failed() > 0;
  shim_stop();
  check_ok(status, shim_first_failed());
  check(near_arrays(in_place, expected[adjoint], 3 * FEW, 1e-9),
        "%s %ld fails, adjoint %d: other "
        "points come",
        shim_first_failed(), n, adjoint);
  check(!memcmp(statuses, expected_statuses, FEW), "%s %ld fails: other statuses",
        shim_first_failed(), n);
  heal(w);
  return came;
}

static void test_in_place(const setting *s)
{
  const abut_smoothing smoothing = abut_default_smoothing();
  world w;
  if (!CHECK_OK(create_context(s, &w))) {
    return;
  }
  CHECK_OK(abut_witness_faces(w.context, &smoothing, FEW, points, triangles, expected[0],
                              expected_statuses, NULL));
  CHECK_OK(abut_witness_faces_vjp(w.context, &smoothing, FEW, points, triangles, points,
                                  expected[1], got[1], NULL, NULL));
  for (int adjoint = 0; adjoint < 2; ++adjoint) {
    long n = 1;
    while (project_in_place(&w, n, adjoint)) {
      ++n;
    }
    check(n > 20, "only %ld calls", n);
  }
  CHECK_OK(abut_destroy_context(w.context));
}

/* ---- memory ---- */

typedef abut_status (*query)(abut_context of, double to[2][9 * QUERIES]);

static abut_status edges(abut_context of, double to[2][9 * QUERIES])
{
  const abut_smoothing smoothing = abut_default_smoothing();
  return abut_witness_edges(of, &smoothing, QUERIES, triangles, triangles + 3 * QUERIES, to[0],
                            to[1], NULL);
}

static abut_status edges_along(abut_context of, double to[2][9 * QUERIES])
{
  const abut_smoothing smoothing = abut_default_smoothing();
  return abut_witness_edges_jvp(of, &smoothing, QUERIES, triangles, triangles + 3 * QUERIES,
                                triangles, NULL, to[0], to[1], NULL);
}

static abut_status faces_in_place(abut_context of, double to[2][9 * QUERIES])
{
  const abut_smoothing smoothing = abut_default_smoothing();
  memcpy(to[0], points, sizeof points);
  return abut_witness_faces(of, &smoothing, QUERIES, to[0], triangles, to[0], NULL, NULL);
}

static void try_memory(const world *w, query run, size_t bytes, cl_int code, bool enough)
{
  memset(expected, 0, sizeof expected);
  memset(got, 0, sizeof got);
  CHECK_OK(run(w->context, expected));
  forget_memory(w->context);
  shim_limit_memory(bytes, code);
  CHECK_OK(run(w->context, got));
  check(shim_limit_memory(0, code) > 0, "nothing was refused");
  const abut_device_report report = first_report(w);
  check(report.status == (enough ? ABUT_SUCCESS : code), "%d at %zu bytes: status %d, %s", code,
        bytes, report.status, report.text);
  for (int i = 0; i < 2; ++i) { /* the host path's last digits differ */
    check(enough ? !memcmp(got[i], expected[i], sizeof got[i])
                 : near_arrays(got[i], expected[i], 3 * QUERIES, 1e-9),
          "%d at %zu bytes: answers differ", code, bytes);
  }
}

static void test_memory(const setting *s)
{
  static const cl_int codes[] = {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
                                 CL_OUT_OF_HOST_MEMORY, CL_INVALID_BUFFER_SIZE};
  static const query queries[] = {edges, edges_along, faces_in_place};
  for (size_t i = 0; i < sizeof queries / sizeof *queries; ++i) {
    abut_context_def def = abut_default_context_def();
    world w = {.context = {0, 0}};
    def.device = s->devices[0].device;
    def.precision = ABUT_FLOAT64;
    if (!CHECK_OK(abut_create_context(&def, &w.context))) {
      return;
    }
    for (size_t k = 0; k < sizeof codes / sizeof *codes; ++k) {
      try_memory(&w, queries[i], 2 * BYTES, codes[k], true);
    }
    try_memory(&w, queries[i], BYTES / 4, codes[i], false);
    CHECK_OK(abut_destroy_context(w.context));
  }
}

/* What a chunk may take bounds the device's memory, where it is the device's. */
static void test_bounds(const setting *s)
{
  abut_context_def def = abut_default_context_def();
  abut_context of;
  def.device = s->devices[0].device;
  def.precision = ABUT_FLOAT64;
  def.scratch_bytes = BYTES;
  if (!CHECK_OK(abut_create_context(&def, &of))) {
    return;
  }
  CHECK_OK(edges_along(of, expected));
  forget_memory(of);
  shim_limit_memory(BYTES, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  CHECK_OK(edges_along(of, got));
  check(shim_limit_memory(0, 0) == 0, "more than %d bytes were asked for", BYTES);
  CHECK_OK(abut_destroy_context(of));
  def.scratch_bytes = 0;
  def.chunk = 100;
  if (CHECK_OK(abut_create_context(&def, &of))) {
    shim_limit_memory((size_t)BYTES, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    CHECK_OK(edges(of, expected));
    check(shim_limit_memory(0, 0) == 0, "chunks are longer than the caller's bound");
    CHECK_OK(abut_destroy_context(of));
  }
}

int main(void)
{
  setting s;
  if (!shim_open()) {
    puts("not run: there is no OpenCL");
    return 77;
  }
  if (!find_setting(1, &s)) {
    return 77;
  }
  make_queries();
  test_in_place(&s);
  test_memory(&s);
  test_bounds(&s);
  if (find_setting(2, &s)) {
    test_in_place(&s);
  }
  return check_finish();
}
