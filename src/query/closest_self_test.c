/* Self-tests of closest points: separated and overlapping pairs of shapes with results in closed
 * form. */
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include <abut/closest.h>

enum { KNOWN = 4, ROWS = 35, ROOM = ROWS * 64 };

/* A cube of half length 0.5 at the origin, and beside it a ball of radius 0.25 or another cube. */
static const double cube[] = {-0.5, -0.5, -0.5, 0.5, -0.5, -0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5,
                              -0.5, -0.5, 0.5,  0.5, -0.5, 0.5,  -0.5, 0.5, 0.5,  0.5, 0.5, 0.5};
static const double places[KNOWN * 7] = {2,    0.1,   0.2,     1, 0, 0, 0,
                                         0.25, 0.125, -0.0625, 1, 0, 0, 0, //
                                         0.1,  -1.25, 0.2,     1, 0, 0, 0,
                                         0.1,  0.2,   0.75,    1, 0, 0, 0};
static const double distances[KNOWN] = {1.25, -0.5, 0.25, -0.25};
static const double normals[KNOWN * 3] = {1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 1};

static abut_status make_shapes(self_test *t, abut_shape shapes[3])
{
  abut_shape_def def = abut_default_shape_def();
  def.vertices = cube;
  def.vertex_count = 8;
  TRY(abut_create_shape(self_test_context(t), &def, &shapes[0]));
  def.kind = ABUT_SHAPE_SPHERE;
  def.size[0] = 0.25;
  TRY(abut_create_shape(self_test_context(t), &def, &shapes[1]));
  def.kind = ABUT_SHAPE_BOX;
  def.size[0] = def.size[1] = def.size[2] = 0.5;
  return abut_create_shape(self_test_context(t), &def, &shapes[2]);
}

static abut_status query(self_test *t)
{
  static const answer answers[] = {{"distances of shapes", distances, 1, 1, {1e-5, 1e-11}, false},
                                   {"normals of shapes", normals, 1, 3, {1e-5, 1e-11}, false}};
  static const double origin[] = {0, 0, 0, 1, 0, 0, 0};
  abut_shape shapes[3];
  uint32_t one[ROWS], two[ROWS];
  for (uint32_t i = 0; i < ROWS; ++i) {
    one[i] = 0;
    two[i] = i % KNOWN < 2 ? 1 : 2;
  }
  TRY(make_shapes(t, shapes));
  abut_closest_batch b = abut_default_closest_batch();
  b.shapes = shapes;
  b.shape_count = 3;
  b.count = ROWS;
  b.one = one;
  b.two = two;
  b.pose1 = self_test_put(t, origin, ROWS * 7, 7);
  b.pose2 = self_test_put(t, places, ROWS * 7, KNOWN * 7);
  b.d = self_test_room(t, ROWS);
  b.n = self_test_room(t, ROWS * 3);
  TRY(abut_closest(self_test_context(t), &b));
  TRY(self_test_compare(t, &answers[0], b.d, ROWS, KNOWN));
  return self_test_compare(t, &answers[1], b.n, ROWS, KNOWN);
}

/* ---- derivatives ---- */

/* Two balls 2 m apart along x: moving them apart across x by some length turns the normal by half
 * of it. */
static const double normal_by[3 * 12] = {0, 0,    0,    0, 0, 0, 0, 0,   0,   0, 0, 0, //
                                         0, -0.5, 0,    0, 0, 0, 0, 0.5, 0,   0, 0, 0, //
                                         0, 0,    -0.5, 0, 0, 0, 0, 0,   0.5, 0, 0, 0};
static const double distance_by[12] = {-1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0};

static abut_status derive(self_test *t)
{
  static const answer answers[] = {
    {"the Jacobian of normals", normal_by, 3, 12, {1e-5, 1e-11}, false},
    {"the Jacobian of distances", distance_by, 1, 12, {1e-5, 1e-11}, false}};
  static const double here[] = {0, 0, 0, 1, 0, 0, 0}, there[] = {2, 0, 0, 1, 0, 0, 0};
  abut_shape shapes[3];
  uint32_t ball[ROWS];
  for (uint32_t i = 0; i < ROWS; ++i) {
    ball[i] = 1;
  }
  TRY(make_shapes(t, shapes));
  abut_closest_batch b = abut_default_closest_batch();
  b.shapes = shapes;
  b.shape_count = 3;
  b.count = ROWS;
  b.one = b.two = ball;
  b.pose1 = self_test_put(t, here, ROWS * 7, 7);
  b.pose2 = self_test_put(t, there, ROWS * 7, 7);
  abut_closest_smoothing s = abut_default_closest_smoothing();
  s.method = ABUT_CLOSEST_EXACT;
  const abut_closest_jacobians by = {.n = self_test_room(t, ROWS * 36),
                                     .d = self_test_room(t, ROWS * 12)};
  TRY(abut_closest_jacobian(self_test_context(t), &b, &s, &by));
  TRY(self_test_compare(t, &answers[0], by.n, ROWS, 1));
  return self_test_compare(t, &answers[1], by.d, ROWS, 1);
}

static abut_status test(context *one)
{
  return self_test_run(one, ROOM, query);
}

static abut_status test_derivatives(context *one)
{
  return self_test_run(one, ROOM, derive);
}

const module_self_tests closest_self_tests = {
  {[SELF_TEST_MAIN] = {
     [PROGRAM_KIND(PROGRAM_PLAIN, false)] = test,
     [PROGRAM_KIND(PROGRAM_PLAIN, true)] = test_derivatives,
   }}};
