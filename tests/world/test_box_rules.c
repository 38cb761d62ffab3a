/* Rules of the boxes of pairs: where nothing can be left out, and when two boxes are apart. */
#include "core/scene.h"

#include "contact/active.h"
#include "world/boxes.h"

#include <float.h>
#include <math.h>

static abut_context where;

/* ---- which pairs have boxes ---- */

static abut_body body_of(bool polyhedron, bool cloud, abut_operation of_cloud)
{
  static const double half[3] = {0.5, 0.5, 0.5}, plane[6] = {0, 0, 1, 0, 0, 0};
  static const double points[14] = {0, 0, 0.2, 0, 0, 1, 0.1, 0.1, 0, 0.2, 0, 0, 1, 0.1};
  double vertices[24];
  abut_body_def def;
  abut_body out;
  const abut_superquadric ball = {{0.5, 0.5, 0.5}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  const abut_polyhedron space = {plane, 1, ABUT_ADD};
  const abut_pointcloud one = {points, 2, of_cloud};
  cube_def(half, vertices, &def);
  def.superquadrics = &ball;
  def.superquadric_count = !polyhedron;
  def.polyhedra = &space;
  def.polyhedron_count = polyhedron;
  def.pointclouds = &one;
  def.pointcloud_count = cloud;
  REQUIRE_OK(abut_create_body(where, &def, &out));
  return out;
}

static pair_boxes boxes_of(abut_body a, abut_body b, const abut_smoothing *s)
{
  abut_pair pair_;
  pair_boxes out;
  REQUIRE_OK(abut_create_pair(a, b, s, &pair_));
  REQUIRE_OK(boxes_of_pair(pair_get(pair_), active_cutoff(pair_get(pair_), 0.0), &out));
  abut_destroy_pair(pair_);
  return out;
}

static bool has_boxes(abut_body a, abut_body b, const abut_smoothing *s)
{
  const pair_boxes x = boxes_of(a, b, s);
  const bool ends = x.points[0].half[0] < HUGE_VAL;
  CHECK(ends == x.bounded);
  return x.bounded;
}

static void which_pairs(void)
{
  const abut_body ball = body_of(false, false, ABUT_ADD), space = body_of(true, false, ABUT_ADD);
  const abut_body cloud = body_of(false, true, ABUT_ADD),
                  less = body_of(false, true, ABUT_SUBTRACT);
  abut_smoothing s, other;
  REQUIRE_OK(abut_fit_edge_pairs(ball, ball, &s));
  s.floor = 1e-3;
  CHECK(has_boxes(ball, ball, &s) && has_boxes(ball, less, &s));
  CHECK(!has_boxes(ball, cloud, &s) && !has_boxes(space, ball, &s));
  other = s;
  other.floor = 0.0;
  CHECK(!has_boxes(ball, ball, &other));
  other = s;
  other.vertices[1] = 4;
  CHECK(!has_boxes(ball, ball, &other));
  other = s;
  other.trace = 2;
  CHECK(!has_boxes(ball, ball, &other));
  other = s;
  other.select = ABUT_SELECT_SOFTSORT;
  other.edges[0] = 4;
  CHECK(!has_boxes(ball, ball, &other));
  other = s;
  other.edge_edge = other.two_sided = false; /* body 2 has no points, which body 1's field could
                                                meet */
  CHECK(has_boxes(space, ball, &other) && !has_boxes(ball, space, &other));
  CHECK(boxes_of(ball, ball, &other).points[1].half[0] < 0.0);
}

/* The boxes of a ball of 0.5 m within a cube's mesh, whose edges have a length of 1 m. */
static void known_boxes(void)
{
  const abut_body ball = body_of(false, false, ABUT_ADD);
  abut_smoothing s = abut_default_smoothing();
  s.select = ABUT_SELECT_GATE;
  s.floor = 1e-3;
  const pair_boxes b = boxes_of(ball, ball, &s);
  const double reach = 0.01 * log(1.0 / (0.9999 * 1e-3) - 1.0);
  for (int k = 0; k < 3; ++k) {
    CHECK(fabs(b.points[0].half[k] - 0.528) < 1e-12 && b.points[0].centre[k] == 0.0);
    CHECK(b.field[0].half[k] > 0.5 + reach && b.field[0].half[k] < (0.5 + reach) * (1.0 + 2e-5));
  }
}

/* ---- two boxes ---- */

static void apart_or_not(void)
{
  const body_box unit = {{0, 0, 0}, {1, 1, 1}}, off = {{0, 0, 5}, {1, 1, 1}},
                 none = {{0, 0, 0}, {-1, -1, -1}};
  const body_box slab = {{0, 0, -1}, {HUGE_VAL, HUGE_VAL, 1}};
  const double here[7] = {0, 0, 0, 1, 0, 0, 0}, beside[7] = {2.001, 0, 0, 2, 0, 0, 0};
  const double touching[7] = {2.0, 0, 0, 1, 0, 0, 0}, upside[7] = {0, 0, 0, 0, 1, 0, 0};
  const double turned[7] = {2.3, 0, 0, 0.92387953251128674, 0, 0, 0.38268343236508978};
  const double bad[7] = {NAN, 0, 0, 1, 0, 0, 0}, flat[7] = {5, 0, 0, 0, 0, 0, 0},
               up[7] = {30, 40, 1.1, 1, 0, 0, 0};
  CHECK(boxes_apart(&unit, here, &unit, beside, DBL_EPSILON));
  CHECK(!boxes_apart(&unit, here, &unit, beside, 1e-4)); /* rounding of this size could have them
                                                            meet */
  CHECK(!boxes_apart(&unit, here, &unit, touching, DBL_EPSILON) &&
        !boxes_apart(&unit, here, &unit, turned, 0.0));
  CHECK(boxes_apart(&unit, here, &off, here, DBL_EPSILON) &&
        boxes_apart(&off, here, &off, upside, DBL_EPSILON));
  CHECK(boxes_apart(&unit, here, &none, here, DBL_EPSILON) &&
        boxes_apart(&none, bad, &unit, here, DBL_EPSILON));
  CHECK(!boxes_apart(&unit, here, &unit, bad, DBL_EPSILON) &&
        !boxes_apart(&unit, here, &unit, flat, DBL_EPSILON));
  CHECK(boxes_apart(&slab, here, &unit, up, DBL_EPSILON) &&
        !boxes_apart(&slab, here, &unit, here, DBL_EPSILON));
  CHECK(!boxes_apart(&slab, beside, &slab, turned, DBL_EPSILON));
}

/* Two bars across each other, edge to edge: only the axis across both edges has them apart. */
static void across_edges(void)
{
  const body_box bar = {{0, 0, 0}, {10, 1, 1}};
  const double s = sqrt(0.5), c = 0.92387953251128674, d = 0.38268343236508978;
  const double along_x[7] = {0, 0, 0, c, d, 0, 0}; /* on its edge */
  for (int i = 0; i < 2; ++i) {
    const double height = 2.0 * sqrt(2.0) + (i ? 1e-6 : -1e-6);
    const double turn[7] = {0, 0, 0, s, 0, 0, s};
    double along_y[7];
    compose(turn, along_x, along_y);
    along_y[2] = height;
    const double tilt[7] = {0, 0, 0, cos(0.2), sin(0.2) * s, sin(0.2) * s, 0.0};
    double a[7], b[7]; /* so that no axis of the world is the one */
    compose(tilt, along_x, a);
    compose(tilt, along_y, b);
    CHECK(boxes_apart(&bar, a, &bar, b, DBL_EPSILON) == (i == 1));
  }
}

/* Boxes that are found apart share no point. */
static void random_boxes(void)
{
  uint64_t seed = 21;
  size_t apart = 0;
  for (int i = 0; i < 3000; ++i) {
    body_box box_[2];
    double pose[2][7], x[3], y[3];
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < 3; ++k) {
        box_[side].centre[k] = random_normal(&seed);
        box_[side].half[k] = 0.1 + random_uniform(&seed);
      }
      random_pose(&seed, 2.0, pose[side]);
    }
    const bool says = boxes_apart(&box_[0], pose[0], &box_[1], pose[1], DBL_EPSILON);
    apart += says;
    for (int k = 0; says && k < 200; ++k) {
      for (int j = 0; j < 3; ++j) {
        x[j] = box_[0].centre[j] + (2.0 * random_uniform(&seed) - 1.0) * box_[0].half[j];
      }
      apply(pose[0], x, false, y);
      for (int j = 0; j < 3; ++j) {
        x[j] = y[j] - pose[1][j];
      }
      const double back[7] = {0, 0, 0, pose[1][3], -pose[1][4], -pose[1][5], -pose[1][6]};
      apply(back, x, false, y);
      bool within = true;
      for (int j = 0; j < 3; ++j) {
        within = within && fabs(y[j] - box_[1].centre[j]) <= box_[1].half[j];
      }
      if (!check(!within, "boxes %d are apart and share a point", i)) {
        break;
      }
    }
  }
  CHECK(apart > 1000 && apart < 2900);
}

int main(void)
{
  if (!test_context(ABUT_FLOAT64, &where)) {
    return check_finish();
  }
  which_pairs();
  known_boxes();
  apart_or_not();
  across_edges();
  random_boxes();
  abut_destroy_context(where);
  return check_finish();
}
