/* The self-test of derivatives by shapes, for two bodies with every kind of primitive, in the poses
 * of the manifold's self-test. */
#include "engine/self_test/bodies.h"
#include "engine/self_test/runner.h"
#include "engine/self_test/self_test.h"
#include <abut/shape.h>
#include <string.h>

#include "contact/self_test_shapes.inl"

#define POSES SELF_TEST_SHAPE_POSES
#define POSE_REALS 6
#define ARRAYS 15      /* per body */
#define ARRAYS_USED 12 /* that at least one of the bodies has */
#define GRID_AT 7      /* index of the first body's grid coefficients */
#define MOST 2560      /* numbers per array */
#define ROOM (2 * POSES * POSE_REALS + POSES * SELF_TEST_SHAPE_CONTACTS * 8 + 2 * ARRAYS * MOST)

/* The number of elements of a body's array, and their expected values. */
typedef struct known {
  const char *name;
  const double *expected;
  size_t count;
} known;

#define KNOWN(name, body)                                                   \
  {                                                                         \
    "derivatives by " #name " of body " #body, expected_by_##name##_##body, \
      sizeof expected_by_##name##_##body / sizeof(double)                   \
  }
static const known of_both[2][ARRAYS] = {
  {KNOWN(vertices, 1), KNOWN(axes, 1), KNOWN(exponents, 1), KNOWN(position, 1), KNOWN(rotation, 1),
   KNOWN(plane_normals, 1), KNOWN(plane_points, 1), KNOWN(grid, 1), KNOWN(core_half, 1),
   KNOWN(core_radius, 1), KNOWN(core_position, 1), KNOWN(core_rotation, 1)},
  {KNOWN(vertices, 2), KNOWN(axes, 2), KNOWN(exponents, 2), KNOWN(position, 2), KNOWN(rotation, 2),
   KNOWN(cloud_points, 2), KNOWN(cloud_normals, 2), KNOWN(cloud_widths, 2), KNOWN(core_half, 2),
   KNOWN(core_radius, 2), KNOWN(core_position, 2), KNOWN(core_rotation, 2)}};

/* A body's arrays, consecutive in that order. */
typedef struct numbers {
  double of[ARRAYS][MOST];
} numbers;

static abut_shape_gradients arrays_of(numbers *n, int which)
{
  abut_shape_gradients g = {.vertices = n->of[0],
                            .axes = n->of[1],
                            .exponents = n->of[2],
                            .position = n->of[3],
                            .rotation = n->of[4],
                            .core_half = n->of[8],
                            .core_radius = n->of[9],
                            .core_position = n->of[10],
                            .core_rotation = n->of[11]};
  if (which) {
    g.cloud_points = n->of[5];
    g.cloud_normals = n->of[6];
    g.cloud_widths = n->of[7];
  } else {
    g.plane_normals = n->of[5];
    g.plane_points = n->of[6];
    g.grid_coefficients = n->of[7];
  }
  return g;
}

/* Replaces a grid's derivatives by their products with patterns. */
static void take_patterns(double *grid, size_t count)
{
  double products[SELF_TEST_PATTERNS];
  for (size_t k = 0; k < SELF_TEST_PATTERNS; ++k) {
    products[k] = 0.0;
    for (size_t i = 0; i < count; ++i) {
      products[k] += grid[i] * (double)((int)((i * 7 + k) % 11) - 5);
    }
  }
  memcpy(grid, products, sizeof products);
}

static void *put_cotangents(self_test *t, size_t components)
{
  double row[SELF_TEST_SHAPE_CONTACTS * 3];
  const size_t count = SELF_TEST_SHAPE_CONTACTS * components;
  for (size_t i = 0; i < count; ++i) {
    row[i] = (double)((int)(i * 7 % 11) - 5) / 4.0;
  }
  return self_test_put(t, row, POSES * count, count);
}

static abut_status compare(self_test *t, int which, const numbers *n)
{
  for (int i = 0; i < ARRAYS && of_both[which][i].name; ++i) {
    const known *k = &of_both[which][i];
    const answer a = {k->name, k->expected, k->count, 1, OF_SLOPES};
    TRY(self_test_compare(t, &a, self_test_put(t, n->of[i], k->count, k->count), 1, 1));
  }
  return ABUT_SUCCESS;
}

static abut_status run_shapes_test(self_test *t)
{
  abut_smoothing smoothing = self_test_smoothing();
  abut_body bodies[2];
  abut_pair pair;
  numbers *found = NULL;
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  for (int i = 0; i < 2; ++i) {
    TRY(self_test_body(self_test_context(t), i, &bodies[i]));
  }
  TRY(abut_create_pair(bodies[0], bodies[1], &smoothing, &pair));
  abut_shape_sizes sizes;
  TRY(abut_get_shape_sizes(bodies[0], &sizes));
  TRY(allocate(&memory, 2, sizeof *found));
  found = memory;
  const abut_shape_gradients to[2] = {arrays_of(&found[0], 0), arrays_of(&found[1], 1)};
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.pose1 = self_test_put(t, shape_pose_1, POSES * POSE_REALS, POSES * POSE_REALS);
  batch.pose2 = self_test_put(t, shape_pose_2, POSES * POSE_REALS, POSES * POSE_REALS);
  const abut_cotangents bars = {.p = put_cotangents(t, 3),
                                .d = put_cotangents(t, 1),
                                .n = put_cotangents(t, 3),
                                .activity = put_cotangents(t, 1)};
  TRY_DONE(abut_shape_vjp(pair, &batch, &bars, &to[0], &to[1], ABUT_SHAPE_SUMS));
  take_patterns(found[0].of[7], sizes.coefficients);
  TRY_DONE(compare(t, 0, &found[0]));
  TRY_DONE(compare(t, 1, &found[1]));
done:
  free(memory);
  return status;
}

/* ---- along directions: the transpose, whose products with cotangents follow from the same answers
 * ---- */

/* A direction of one array: the first pattern of take_patterns. */
static double pattern_at(size_t i)
{
  return (double)((int)(i * 7 % 11) - 5);
}

static double expected_along(int which, int array)
{
  const known *k = &of_both[which][array];
  const bool patterns = which == 0 && array == GRID_AT; /* a grid's answers are already products */
  double sum = 0.0;
  for (size_t i = 0; i < k->count && !patterns; ++i) {
    sum += k->expected[i] * pattern_at(i);
  }
  return patterns ? k->expected[0] : sum;
}

static abut_shape_tangents direction_of(double *const of[ARRAYS_USED], int which, int array)
{
  const double *one[ARRAYS_USED] = {NULL};
  one[array] = of[array];
  abut_shape_tangents t = {.vertices = one[0],
                           .axes = one[1],
                           .exponents = one[2],
                           .position = one[3],
                           .rotation = one[4],
                           .core_half = one[8],
                           .core_radius = one[9],
                           .core_position = one[10],
                           .core_rotation = one[11]};
  if (which) {
    t.cloud_points = one[5];
    t.cloud_normals = one[6];
    t.cloud_widths = one[7];
  } else {
    t.plane_normals = one[5];
    t.plane_points = one[6];
    t.grid_coefficients = one[7];
  }
  return t;
}

/* Returns the sum over poses of the outputs' tangents times the cotangents of put_cotangents. */
static double product_with_bars(const self_test *t, const abut_tangents *found)
{
  const void *const of[] = {found->p, found->d, found->n, found->activity};
  double sum = 0.0;
  for (size_t k = 0; k < 4; ++k) {
    const size_t row = SELF_TEST_SHAPE_CONTACTS * (k % 2 ? 1 : 3);
    for (size_t i = 0; i < POSES * row; ++i) {
      sum += self_test_number(t, of[k], i) * pattern_at(i % row) / 4.0;
    }
  }
  return sum;
}

static abut_status run_directions_test(self_test *t)
{
  double pattern[MOST];
  abut_smoothing smoothing = self_test_smoothing();
  abut_body bodies[2];
  abut_pair pair;
  double *all[ARRAYS_USED];
  for (size_t i = 0; i < MOST; ++i) {
    pattern[i] = pattern_at(i);
  }
  for (int i = 0; i < ARRAYS_USED; ++i) {
    all[i] = pattern;
  }
  for (int i = 0; i < 2; ++i) {
    TRY(self_test_body(self_test_context(t), i, &bodies[i]));
  }
  TRY(abut_create_pair(bodies[0], bodies[1], &smoothing, &pair));
  abut_batch batch = abut_default_batch();
  batch.count = POSES;
  batch.pose1 = self_test_put(t, shape_pose_1, POSES * POSE_REALS, POSES * POSE_REALS);
  batch.pose2 = self_test_put(t, shape_pose_2, POSES * POSE_REALS, POSES * POSE_REALS);
  const abut_tangents found = {.p = self_test_room(t, POSES * SELF_TEST_SHAPE_CONTACTS * 3),
                               .d = self_test_room(t, POSES * SELF_TEST_SHAPE_CONTACTS),
                               .n = self_test_room(t, POSES * SELF_TEST_SHAPE_CONTACTS * 3),
                               .activity = self_test_room(t, POSES * SELF_TEST_SHAPE_CONTACTS)};
  for (int which = 0; which < 2; ++which) {
    double expected[ARRAYS_USED], got[ARRAYS_USED];
    for (int i = 0; i < ARRAYS_USED; ++i) {
      const abut_shape_tangents along = direction_of(all, which, i);
      TRY(abut_shape_jvp(pair, &batch, which ? NULL : &along, which ? &along : NULL, NULL, &found,
                         ABUT_SHAPE_SUMS));
      expected[i] = expected_along(which, i);
      got[i] = product_with_bars(t, &found);
    }
    const answer a = {which ? "products along directions of body 2"
                            : "products along directions of body 1",
                      expected, ARRAYS_USED, 1, OF_SLOPES};
    TRY(self_test_compare(t, &a, self_test_put(t, got, ARRAYS_USED, ARRAYS_USED), 1, 1));
  }
  return ABUT_SUCCESS;
}

static abut_status test_directions(context *one)
{
  return self_test_run(one, ROOM, run_directions_test);
}

static abut_status test_shapes(context *one)
{
  return self_test_run(one, ROOM, run_shapes_test);
}

const module_self_tests shape_self_tests = {{
  [SELF_TEST_MAIN] = {[PROGRAM_KIND(PROGRAM_PLAIN, false)] = test_shapes,
                      [PROGRAM_KIND(PROGRAM_DUAL, false)] = test_directions},
}};
