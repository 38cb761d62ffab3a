/* Self-tests of continuous collision detection, one for each kind of features and one for meshes.
 * tools/make_ccd_self_test.py proves whether rows that nearly touch collide or not. A device with
 * rounding other than the certificate assumes, with more flushing, fused operations or reordering,
 * fails on some of them. */
#include "base/error.h"
#include "geometry/ccd.h"
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include <abut/ccd.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows with their correct results: the allowed outcomes, as bits, and bounds on the time. */
typedef struct known_rows {
  size_t count;
  const double *x0, *x1, *separations, *earliest, *latest;
  const unsigned char *ends;
} known_rows;

#include "query/ccd_self_test_answers.inl"

enum {
  ROWS = 37,
  ROW_NUMBERS = 12,
  ROOM = ROWS * 64
}; /* whole blocks of lanes, and a partial one */

static const char *const names[ABUT_CCD_KINDS] = {"points", "a point and an edge",
                                                  "a point and a triangle", "edges"};
static const size_t vertices_of[ABUT_CCD_KINDS] = {2, 3, 4, 4};

static const known_rows *known(const self_test *t, abut_ccd_kind kind)
{
  return &answers[t->one->def.precision == ABUT_FLOAT64][kind];
}

static abut_status refuse(const self_test *t, const char *of, const char *what, size_t row,
                          double got, double right)
{
  return fail(ABUT_ERROR_SELF_TEST,
              "device %s gives wrong results: %s, %s, row %zu is %.9g, expected %.9g",
              device_info(t->one->members[0].device)->name, of, what, row, got, right);
}

static abut_status judge(const self_test *t, abut_ccd_kind kind, const uint8_t *status,
                         const void *toi)
{
  const known_rows *k = known(t, kind);
  char of[64];
  snprintf(of, sizeof of, "collision of %s", names[kind]);
  for (size_t i = 0; i < ROWS; ++i) {
    const size_t row = i % k->count;
    const double time = self_test_number(t, toi, i);
    if (status[i] > ABUT_CCD_BAD_INPUT || !(k->ends[row] >> status[i] & 1)) {
      return refuse(t, of, "ends as bits", i, status[i] < 8 ? 1 << status[i] : status[i],
                    k->ends[row]);
    }
    if (!(time >= k->earliest[row])) {
      return refuse(t, of, "earliest time", i, time, k->earliest[row]);
    }
    if (!(time <= k->latest[row])) {
      return refuse(t, of, "latest time", i, time, k->latest[row]);
    }
  }
  return ABUT_SUCCESS;
}

static abut_ccd_queries rows_of(self_test *t, abut_ccd_kind kind)
{
  const known_rows *k = known(t, kind);
  const size_t width = 3 * vertices_of[kind];
  abut_ccd_queries q = abut_default_ccd_queries();
  q.kind = kind;
  q.count = ROWS;
  q.x0 = self_test_put(t, k->x0, ROWS * width, k->count * width);
  q.x1 = self_test_put(t, k->x1, ROWS * width, k->count * width);
  q.separations = self_test_put(t, k->separations, ROWS, k->count);
  q.toi = self_test_room(t, ROWS);
  return q;
}

/* Runs all rows in one call, once with the test of boxes first and once without. */
static abut_status query(self_test *t, abut_ccd_kind kind)
{
  uint8_t status[ROWS];
  abut_ccd_queries q = rows_of(t, kind);
  memset(status, -1, sizeof status);
  q.status = status;
  TRY(abut_run_ccd_queries(self_test_context(t), &q));
  TRY(judge(t, kind, status, q.toi));
  memset(status, -1, sizeof status);
  q.n = self_test_room(t, 3 * ROWS);
  q.d0 = self_test_room(t, ROWS);
  TRY(abut_run_ccd_queries(self_test_context(t), &q));
  return judge(t, kind, status, q.toi);
}

/* ---- derivatives ---- */

/* In rows with results in closed form, features fall from height 3 to -1: their vertices, and the
 * weight of each vertex. */
static const double shapes[ABUT_CCD_KINDS][ROW_NUMBERS] = {{0, 0, 3, 0, 0, 0},
                                                           {0.25, 0, 3, -1, 0, 0, 1, 0, 0},
                                                           {0.125, 0.125, 3, -1, -1, 0, 2, -1, 0, 0,
                                                            2, 0},
                                                           {-1, -1, 3, 1, 1, 3, -1, 1, 0, 3, -3,
                                                            0}};
static const double weights[ABUT_CCD_KINDS][4] = {{1, -1},
                                                  {1, -0.375, -0.625},
                                                  {1, -0.375, -0.25, -0.375},
                                                  {0.5, 0.5, -0.75, -0.25}};

/* The distance falls by 4 in total and reaches 1/2 at 5/8. */
static abut_status compare_slopes(const self_test *t, abut_ccd_kind kind, const void *got,
                                  double share)
{
  double expected[ROW_NUMBERS] = {0};
  const size_t width = 3 * vertices_of[kind];
  const answer a = {share > 0.5 ? "times of impact by vertices at 1"
                                : "times of impact by vertices at 0",
                    expected,
                    1,
                    width,
                    {1e-4, 1e-11},
                    false};
  for (size_t i = 0; i < vertices_of[kind]; ++i) {
    expected[3 * i + 2] = share * 0.25 * weights[kind][i];
  }
  return self_test_compare(t, &a, got, ROWS, 1);
}

static abut_status derive(self_test *t, abut_ccd_kind kind)
{
  const size_t width = 3 * vertices_of[kind], first = kind == ABUT_CCD_EDGE_EDGE ? 2 : 1;
  double x1[ROW_NUMBERS];
  memcpy(x1, shapes[kind], sizeof x1);
  for (size_t i = 0; i < first; ++i) {
    x1[3 * i + 2] = -1.0;
  }
  abut_ccd_queries q = abut_default_ccd_queries();
  q.kind = kind;
  q.count = ROWS;
  q.separation = 0.5;
  q.x0 = self_test_put(t, shapes[kind], ROWS * width, width);
  q.x1 = self_test_put(t, x1, ROWS * width, width);
  void *by_x0 = self_test_room(t, ROWS * width), *by_x1 = self_test_room(t, ROWS * width);
  TRY(abut_ccd_queries_gradient(self_test_context(t), &q, by_x0, by_x1));
  TRY(compare_slopes(t, kind, by_x0, 0.375));
  return compare_slopes(t, kind, by_x1, 0.625);
}

/* ---- meshes ---- */

/* A thorn that points down, with its tip off centre, above a plate. */
static const double thorn[] = {0.25, 0.125, -1, 0.375, 0.125, 0, 0.125, 0.25, 0, 0.125, 0, 0};
static const uint32_t thorn_faces[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
static const double plate[] = {-2, -2, 0, 2, -2, 0, 2, 2, 0, -2, 2, 0};
static const uint32_t plate_faces[] = {0, 1, 2, 0, 2, 3};

/* It falls on the plate, slowly and fast, stays above it, passes beside it, starts within 1/2, and
 * has a bad pose. */
enum { FALLS, FALLS_FAST, STAYS_ABOVE, STAYS_ASIDE, IS_WITHIN, IS_NONE, MOTIONS, MESH_ROWS = 11 };
static const double from[MOTIONS * 7] = {0, 0, 3,    1, 0, 0, 0, 0, 0,   401, 1, 0, 0, 0,
                                         0, 0, 3,    1, 0, 0, 0, 8, 0.5, 3,   1, 0, 0, 0,
                                         0, 0, 1.25, 1, 0, 0, 0, 0, 0,   3,   1, 0, 0, 0};
static const double to[MOTIONS * 7] = {0, 0, -1,   1, 0, 0, 0, 0, 0,   -399, 1, 0, 0, 0,
                                       0, 0, 1.75, 1, 0, 0, 0, 8, 0.5, -1,   1, 0, 0, 0,
                                       0, 0, 5,    1, 0, 0, 0, 0, 0,   NAN,  1, 0, 0, 0};
static const double still[] = {0, 0, 0, 1, 0, 0, 0};
static const uint8_t ends[MOTIONS] = {ABUT_CCD_HIT,  ABUT_CCD_HIT,    ABUT_CCD_FREE,
                                      ABUT_CCD_FREE, ABUT_CCD_WITHIN, ABUT_CCD_BAD_INPUT};
static const double times[MOTIONS] = {0.375, 0.499375, 1, 1, 0, 0};

static abut_status make_meshes(const self_test *t, abut_ccd_mesh meshes[2])
{
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  def.vertices = thorn;
  def.vertex_count = 4;
  def.face_indices = thorn_faces;
  def.face_count = 4;
  TRY(abut_create_ccd_mesh(self_test_context(t), &def, &meshes[0]));
  def.vertices = plate;
  def.face_indices = plate_faces;
  def.face_count = 2;
  return abut_create_ccd_mesh(self_test_context(t), &def, &meshes[1]);
}

static abut_ccd_batch batch_of(self_test *t, const double *start, const double *end, size_t motions)
{
  abut_ccd_batch b = abut_default_ccd_batch();
  b.count = MESH_ROWS;
  b.from1 = self_test_put(t, start, MESH_ROWS * 7, motions * 7);
  b.to1 = self_test_put(t, end, MESH_ROWS * 7, motions * 7);
  b.from2 = b.to2 = self_test_put(t, still, MESH_ROWS * 7, 7);
  b.toi = self_test_room(t, MESH_ROWS);
  return b;
}

/* The time may be slightly early, but never late. */
static abut_status judge_time(const self_test *t, const abut_ccd_batch *b, size_t row, double right)
{
  const double least = right - (t->one->def.precision == ABUT_FLOAT64 ? 1e-7 : 1e-4);
  const double time = self_test_number(t, b->toi, row);
  return time >= least && time <= right
           ? ABUT_SUCCESS
           : refuse(t, "collision of meshes", "time", row, time, right);
}

static abut_status fall(self_test *t)
{
  abut_ccd_mesh meshes[2];
  uint8_t status[MESH_ROWS];
  int32_t kind[MESH_ROWS];
  TRY(make_meshes(t, meshes));
  abut_ccd_batch b = batch_of(t, from, to, MOTIONS);
  b.separation = 0.5;
  b.status = status;
  b.kind = kind;
  memset(status, -1, sizeof status);
  TRY(abut_ccd(meshes[0], meshes[1], &b));
  for (size_t i = 0; i < MESH_ROWS; ++i) {
    const size_t motion = i % MOTIONS;
    if (status[i] != ends[motion]) {
      return refuse(t, "collision of meshes", "status", i, status[i], ends[motion]);
    }
    if (motion <= FALLS_FAST && kind[i] != ABUT_CCD_VERTEX_TRIANGLE) {
      return refuse(t, "collision of meshes", "kind of features", i, kind[i],
                    ABUT_CCD_VERTEX_TRIANGLE);
    }
    TRY(judge_time(t, &b, i, times[motion]));
  }
  return ABUT_SUCCESS;
}

/* The thorn turns from level to upright about a centre 1/2 above the plate. Its tip touches the
 * plate after a third of the turn. */
static abut_status swing(self_test *t)
{
  static const double level[] = {0, 0, 0.375, 0.70710678118654752, 0.70710678118654752, 0, 0};
  static const double upright[] = {0, 0, 0.5, 1, 0, 0, 0};
  abut_ccd_mesh meshes[2];
  TRY(make_meshes(t, meshes));
  abut_ccd_batch b = batch_of(t, level, upright, 1);
  b.motion = ABUT_CCD_ARC;
  b.center1[1] = 0.125;
  TRY(abut_ccd(meshes[0], meshes[1], &b));
  for (size_t i = 0; i < MESH_ROWS; ++i) {
    TRY(judge_time(t, &b, i, 1.0 / 3.0 + 1e-9));
  }
  return ABUT_SUCCESS;
}

static abut_status derive_meshes(self_test *t)
{
  static const double by1[] = {0, 0, 0.15625, 0.01953125, -0.0390625, 0,
                               0, 0, 0.09375, 0.01171875, -0.0234375, 0};
  static const double by2[] = {0, 0, -0.15625, -0.01953125, 0.0390625, 0,
                               0, 0, -0.09375, -0.01171875, 0.0234375, 0};
  static const answer of[2] = {
    {"times of impact by the poses of mesh 1", by1, 1, 12, {1e-4, 1e-8}, false},
    {"times of impact by the poses of mesh 2", by2, 1, 12, {1e-4, 1e-8}, false}};
  abut_ccd_mesh meshes[2];
  TRY(make_meshes(t, meshes));
  abut_ccd_batch b = batch_of(t, from + 7 * FALLS, to + 7 * FALLS, 1);
  b.separation = 0.5;
  const abut_ccd_gradients g = {.by1 = self_test_room(t, MESH_ROWS * 12),
                                .by2 = self_test_room(t, MESH_ROWS * 12)};
  TRY(abut_ccd_gradient(meshes[0], meshes[1], &b, &g));
  TRY(self_test_compare(t, &of[0], g.by1, MESH_ROWS, 1));
  return self_test_compare(t, &of[1], g.by2, MESH_ROWS, 1);
}

/* ---- parts ---- */

#define PART(name, kind)                                   \
  static abut_status query_##name(self_test *t)            \
  {                                                        \
    return query(t, kind);                                 \
  }                                                        \
  static abut_status derive_##name(self_test *t)           \
  {                                                        \
    return derive(t, kind);                                \
  }                                                        \
  static abut_status test_##name(context *one)             \
  {                                                        \
    return self_test_run(one, ROOM, query_##name);         \
  }                                                        \
  static abut_status test_derivatives_##name(context *one) \
  {                                                        \
    return self_test_run(one, ROOM, derive_##name);        \
  }

PART(points, ABUT_CCD_POINT_POINT)
PART(point_edge, ABUT_CCD_POINT_EDGE)
PART(point_triangle, ABUT_CCD_POINT_TRIANGLE)
PART(edges, ABUT_CCD_EDGE_EDGE)

static abut_status test_meshes(context *one)
{
  TRY(self_test_run(one, ROOM, fall));
  return self_test_run(one, ROOM, swing);
}

static abut_status test_derivatives_of_meshes(context *one)
{
  return self_test_run(one, ROOM, derive_meshes);
}

#define OF(forward, adjoint)                                                                      \
  {                                                                                               \
    [PROGRAM_KIND(PROGRAM_PLAIN, false)] = forward, [PROGRAM_KIND(PROGRAM_PLAIN, true)] = adjoint \
  }

const module_self_tests ccd_self_tests = {{
  [SELF_TEST_KIND + ABUT_CCD_POINT_POINT] = OF(test_points, test_derivatives_points),
  [SELF_TEST_KIND + ABUT_CCD_POINT_EDGE] = OF(test_point_edge, test_derivatives_point_edge),
  [SELF_TEST_KIND + ABUT_CCD_POINT_TRIANGLE] =
    OF(test_point_triangle, test_derivatives_point_triangle),
  [SELF_TEST_KIND + ABUT_CCD_EDGE_EDGE] = OF(test_edges, test_derivatives_edges),
  [SELF_TEST_MESHES] = OF(test_meshes, test_derivatives_of_meshes),
}};
