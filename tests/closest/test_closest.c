/* Closest points of random pairs: test_closest PRECISION
 *
 * Distances against closed forms (spheres, boxes, capsules); answers of all kinds of shapes against
 * support maps of the test's own; pairs swapped and moved as one; warm starts; cutoffs. */
#include "closest/rows.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOLIDS = 24, ROWS = 1600 };

static abut_precision precision;
static abut_context context;

/* What rounding may cost a distance of two shapes, apart from `far` from the world's origin. */
static double rounding(double spans, double far)
{
  return precision == ABUT_FLOAT64 ? 1e-13 * spans + 1e-15 * far : 2e-6 * spans + 4e-7 * far;
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void read3(const rows *r, int array, size_t row, double out[3])
{
  for (size_t k = 0; k < 3; ++k) {
    out[k] = rows_at(r, array, 3 * row + k);
  }
}

static double spans_of(const rows *r, size_t row, const solid *solids)
{
  return span_of(&solids[r->one[row]]) + span_of(&solids[r->two[row]]);
}

static bool solve(const rows *r, const abut_shape *shapes)
{
  abut_closest_batch b = rows_batch(r, shapes, SOLIDS, 0, r->count);
  return CHECK_OK(abut_closest(context, &b));
}

/* ---- closed forms ---- */

/* The nearest points of two segments (Ericson 2005, Real-time collision detection, 5.1.9), of which
 * none is a point. */
static double between_segments(const double p[3], const double d1[3], const double q[3],
                               const double d2[3])
{
  double r[3], x[3];
  for (int k = 0; k < 3; ++k) {
    r[k] = p[k] - q[k];
  }
  const double a = dot(d1, d1), e = dot(d2, d2), b = dot(d1, d2), c = dot(d1, r), f = dot(d2, r);
  const double denominator = a * e - b * b;
  double s = denominator > 0.0 ? fmin(fmax((b * f - c * e) / denominator, 0.0), 1.0) : 0.0;
  const double t = fmin(fmax((b * s + f) / e, 0.0), 1.0);
  s = fmin(fmax((b * t - c) / a, 0.0), 1.0);
  for (int k = 0; k < 3; ++k) {
    x[k] = r[k] + s * d1[k] - t * d2[k];
  }
  return sqrt(dot(x, x));
}

typedef struct frame {
  double x[7];       /* of the shape's own frame in the world */
  double axes[3][3]; /* unit */
} frame;

static frame frame_of(const rows *r, size_t row, int side, const solid *s)
{
  double pose[7], place[7];
  frame f;
  rows_pose(r, row, side, pose);
  const double length =
    sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]);
  for (int k = 3; k < 7; ++k) {
    pose[k] /= length;
  }
  memcpy(place, s->def.position, sizeof s->def.position);
  memcpy(place + 3, s->def.quaternion, sizeof s->def.quaternion);
  compose(pose, place, f.x);
  for (int k = 0; k < 3; ++k) {
    const double axis[3] = {k == 0, k == 1, k == 2};
    apply(f.x, axis, true, f.axes[k]);
  }
  return f;
}

static double spheres(const frame f[2], const solid *const s[2])
{
  const double t[3] = {f[1].x[0] - f[0].x[0], f[1].x[1] - f[0].x[1], f[1].x[2] - f[0].x[2]};
  return sqrt(dot(t, t)) - s[0]->def.size[0] - s[1]->def.size[0];
}

static double capsules(const frame f[2], const solid *const s[2])
{
  double from[2][3], along[2][3];
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < 3; ++k) {
      along[side][k] = 2.0 * s[side]->def.size[1] * f[side].axes[2][k];
      from[side][k] = f[side].x[k] - 0.5 * along[side][k];
    }
  }
  return between_segments(from[0], along[0], from[1], along[1]) - s[0]->def.size[0] -
         s[1]->def.size[0];
}

/* How far apart boxes are along an axis of any length; -INFINITY along one of none. */
static double apart_along(const frame f[2], const solid *const s[2], const double axis[3])
{
  const double length = sqrt(dot(axis, axis));
  double reach = 0.0, middle = 0.0;
  for (int k = 0; k < 3; ++k) {
    reach += s[0]->def.size[k] * fabs(dot(f[0].axes[k], axis)) +
             s[1]->def.size[k] * fabs(dot(f[1].axes[k], axis));
    middle += axis[k] * (f[1].x[k] - f[0].x[k]);
  }
  return length > 1e-8 ? (fabs(middle) - reach) / length : -(double)INFINITY;
}

/* Over the axes among which the faces of the boxes' difference have their normals. */
static double separating_axes(const frame f[2], const solid *const s[2])
{
  double most = -(double)INFINITY;
  for (int i = 0; i < 3; ++i) {
    most = fmax(most, fmax(apart_along(f, s, f[0].axes[i]), apart_along(f, s, f[1].axes[i])));
    for (int j = 0; j < 3; ++j) {
      const double *a = f[0].axes[i], *b = f[1].axes[j];
      const double axis[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                              a[0] * b[1] - a[1] * b[0]};
      most = fmax(most, apart_along(f, s, axis));
    }
  }
  return most;
}

static void corner_of(const frame *f, const solid *s, int which, double out[3])
{
  const double own[3] = {which & 1 ? s->def.size[0] : -s->def.size[0],
                         which & 2 ? s->def.size[1] : -s->def.size[1],
                         which & 4 ? s->def.size[2] : -s->def.size[2]};
  apply(f->x, own, false, out);
}

static double point_to_box(const frame *f, const solid *s, const double x[3])
{
  const double from[3] = {x[0] - f->x[0], x[1] - f->x[1], x[2] - f->x[2]};
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double out = fmax(fabs(dot(from, f->axes[k])) - s->def.size[k], 0.0);
    sum += out * out;
  }
  return sqrt(sum);
}

/* Edge number `which` of a box. */
static void edge_of(const frame *f, const solid *s, int which, double from[3], double along[3])
{
  const int axis = which / 4, a = (axis + 1) % 3, b = (axis + 2) % 3;
  const int corner = (which & 1) << a | (which >> 1 & 1) << b;
  corner_of(f, s, corner, from);
  for (int k = 0; k < 3; ++k) {
    along[k] = 2.0 * s->def.size[axis] * f->axes[axis][k];
  }
}

/* Apart, boxes are nearest at a corner and the other box, or at two edges. */
static double boxes_apart(const frame f[2], const solid *const s[2])
{
  double least = (double)INFINITY, x[3], from[2][3], along[2][3];
  for (int i = 0; i < 8; ++i) {
    corner_of(&f[0], s[0], i, x);
    least = fmin(least, point_to_box(&f[1], s[1], x));
    corner_of(&f[1], s[1], i, x);
    least = fmin(least, point_to_box(&f[0], s[0], x));
  }
  for (int i = 0; i < 144; ++i) {
    edge_of(&f[0], s[0], i / 12, from[0], along[0]);
    edge_of(&f[1], s[1], i % 12, from[1], along[1]);
    least = fmin(least, between_segments(from[0], along[0], from[1], along[1]));
  }
  return least;
}

static double boxes(const frame f[2], const solid *const s[2])
{
  const double along = separating_axes(f, s);
  return along > 0.0 ? boxes_apart(f, s) : along;
}

static void compare_form(const rows *r, const solid *solids, const char *name,
                         double (*form)(const frame f[2], const solid *const s[2]))
{
  size_t below = 0;
  double worst = 0.0;
  for (size_t i = 0; i < r->count; ++i) {
    const solid *const s[2] = {&solids[r->one[i]], &solids[r->two[i]]};
    const frame f[2] = {frame_of(r, i, 0, s[0]), frame_of(r, i, 1, s[1])};
    const double right = form(f, s) - s[0]->def.radius - s[1]->def.radius,
                 spans = spans_of(r, i, solids);
    const double error = fabs(rows_at(r, ROW_D, i) - right) / spans;
    worst = error <= worst ? worst : error;
    below += right < 0.0;
    check(error <= (precision == ABUT_FLOAT64 ? 4e-12 : 4e-6), "%s %zu: d is %.17g, not %.17g",
          name, i, rows_at(r, ROW_D, i), right);
    check(r->status[i] == ABUT_CLOSEST_CONVERGED || r->status[i] == ABUT_CLOSEST_DEGENERATE,
          "%s %zu: status %d", name, i, r->status[i]);
  }
  check(below > r->count / 10 && below < r->count, "%s: %zu of %zu overlap", name, below, r->count);
  printf("%s: worst %.2e of the spans\n", name, worst);
}

static void test_form(abut_shape_kind kind, const char *name,
                      double (*form)(const frame f[2], const solid *const s[2]))
{
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  uint64_t seed = 1 + (uint64_t)kind;
  rows r;
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, kind, &solids[i]);
  }
  rows_create(&r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    random_row(&seed, &r, i, solids, SOLIDS);
  }
  if (make_shapes(context, solids, SOLIDS, shapes) && solve(&r, shapes)) {
    compare_form(&r, solids, name, form);
  }
  rows_free(&r);
}

/* ---- all kinds ---- */

typedef struct fixture {
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  rows r;
} fixture;

static bool make_fixture(fixture *f, uint64_t seed)
{
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, (abut_shape_kind)(i % ABUT_SHAPE_KINDS), &f->solids[i]);
  }
  rows_create(&f->r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    random_row(&seed, &f->r, i, f->solids, SOLIDS);
  }
  return make_shapes(context, f->solids, SOLIDS, f->shapes) && solve(&f->r, f->shapes);
}

static double certificate(const rows *r, size_t row, const solid *solids, const double n[3])
{
  double pose1[7], pose2[7];
  rows_pose(r, row, 0, pose1);
  rows_pose(r, row, 1, pose2);
  return separation(&solids[r->one[row]], &solids[r->two[row]], pose1, pose2, n);
}

/* A witness point lies in its shape: no farther along any direction than the support map goes. */
static double outside(const rows *r, size_t row, int side, const solid *s, const double p[3],
                      uint64_t *seed)
{
  double pose[7], worst = -(double)INFINITY;
  rows_pose(r, row, side, pose);
  const double length =
    sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]);
  for (int k = 3; k < 7; ++k) {
    pose[k] /= length;
  }
  const double back[7] = {0, 0, 0, pose[3], -pose[4], -pose[5], -pose[6]};
  const double x[3] = {p[0] - pose[0], p[1] - pose[1], p[2] - pose[2]};
  double own[3];
  apply(back, x, true, own);
  for (int i = 0; i < 12; ++i) {
    double u[3], at[3];
    for (int k = 0; k < 3; ++k) {
      u[k] = i ? random_normal(seed) : own[k];
    }
    support_of(s, u, at);
    worst = fmax(worst, (dot(u, own) - dot(u, at)) / sqrt(dot(u, u)));
  }
  return worst;
}

static void check_row(const fixture *f, size_t row, uint64_t *seed)
{
  const rows *r = &f->r;
  const solid *one = &f->solids[r->one[row]], *two = &f->solids[r->two[row]];
  const double spans = spans_of(r, row, f->solids), slack = rounding(spans, 2.0);
  const double d = rows_at(r, ROW_D, row), gap = rows_at(r, ROW_GAP, row);
  double n[3], p1[3], p2[3], apart = 0.0;
  read3(r, ROW_N, row, n);
  read3(r, ROW_P1, row, p1);
  read3(r, ROW_P2, row, p2);
  /* Thin triangles cost the bound of curved shapes up to 0.7 of the tolerance by rounding. */
  const double g = certificate(r, row, f->solids, n),
               tolerance = (precision == ABUT_FLOAT64 ? 1e-12 : 1e-6) * spans;
  check(fabs(sqrt(dot(n, n)) - 1.0) < (precision == ABUT_FLOAT64 ? 1e-14 : 1e-6),
        "row %zu: n is not unit", row);
  check(gap >= 0.0 && g <= d + slack && d - g <= gap + slack + tolerance,
        "row %zu of kinds %d and %d: d %.17g, g %.17g, gap %g", row, one->def.kind, two->def.kind,
        d, g, gap);
  for (int k = 0; k < 3; ++k) {
    apart = fmax(apart, fabs(p2[k] - p1[k] - d * n[k]));
  }
  check(apart <= slack, "row %zu: p2 is %g from p1 + d n", row, apart);
  check(outside(r, row, 0, one, p1, seed) <= gap + slack &&
          outside(r, row, 1, two, p2, seed) <= gap + slack,
        "row %zu of kinds %d and %d: a witness point is outside by %g, %g; d %g, gap %g", row,
        one->def.kind, two->def.kind, outside(r, row, 0, one, p1, seed),
        outside(r, row, 1, two, p2, seed), d, gap);
  check(r->status[row] <= ABUT_CLOSEST_DEGENERATE &&
          (r->status[row] != ABUT_CLOSEST_CONVERGED || gap <= 1.001 * tolerance),
        "row %zu: status %d with a gap of %g", row, r->status[row], gap);
}

static void test_certificate(const fixture *f)
{
  uint64_t seed = 77;
  size_t open = 0, below = 0;
  for (size_t i = 0; i < ROWS; ++i) {
    check_row(f, i, &seed);
    open += f->r.status[i] != ABUT_CLOSEST_CONVERGED;
    below += rows_at(&f->r, ROW_D, i) < 0.0;
  }
  printf("%zu of %d rows unsettled, %zu overlap\n", open, ROWS, below);
  check(open <= ROWS / 20, "%zu of %d rows are unsettled", open, ROWS);
}

/* ---- support points ---- */

/* How many support points a row has, whose numbers must be those of the shapes' vertices, and the
 * last of them. */
static size_t support_points(const fixture *f, size_t row, int32_t last[2])
{
  const uint32_t which[2] = {f->r.one[row], f->r.two[row]};
  size_t used = 0;
  for (size_t k = 0; k < 4; ++k) {
    const int32_t *code = f->r.simplex + 8 * row + 2 * k;
    check((code[0] < 0) == (code[1] < 0), "row %zu: half a support point", row);
    for (int side = 0; side < 2 && code[0] >= 0; ++side) {
      abut_shape_info info;
      CHECK_OK(abut_get_shape_info(f->shapes[which[side]], &info));
      const int32_t most = info.kind == ABUT_SHAPE_SPHERE    ? 1
                           : info.kind == ABUT_SHAPE_CAPSULE ? 2
                                                             : (int32_t)info.vertices;
      check(most == 0 || code[side] < most, "row %zu: kind %d has no support point %d", row,
            (int)info.kind, code[side]);
      last[side] = code[side];
    }
    used += code[0] >= 0;
  }
  return used;
}

/* A vertex in the world, moved along u by the radius. */
static void vertex_at(const fixture *f, size_t row, int side, int32_t which, const double u[3],
                      double out[3])
{
  const uint32_t shape = side ? f->r.two[row] : f->r.one[row];
  const frame place = frame_of(&f->r, row, side, &f->solids[shape]);
  abut_shape_info info;
  CHECK_OK(abut_get_shape_info(f->shapes[shape], &info));
  double *vertices = calloc(3 * info.vertices, sizeof *vertices);
  REQUIRE(vertices != NULL);
  CHECK_OK(abut_get_shape_vertices(f->shapes[shape], vertices));
  apply(place.x, vertices + 3 * which, false, out);
  for (int k = 0; k < 3; ++k) {
    out[k] += f->solids[shape].def.radius * (side ? -u[k] : u[k]);
  }
  free(vertices);
}

static bool has_vertices(const fixture *f, uint32_t shape)
{
  return f->solids[shape].def.kind == ABUT_SHAPE_HULL ||
         f->solids[shape].def.kind == ABUT_SHAPE_BOX;
}

/* Where one pair of points is the answer, they are the witness points. */
static void test_support_points(const fixture *f)
{
  size_t single = 0;
  for (size_t i = 0; i < ROWS; ++i) {
    int32_t last[2] = {0, 0};
    const size_t used = support_points(f, i, last);
    check(used >= 1, "row %zu has no support point", i);
    for (int side = 0; side < 2 && used == 1; ++side) {
      double n[3], p[3], at[3], off = 0.0;
      if (!has_vertices(f, side ? f->r.two[i] : f->r.one[i])) {
        continue;
      }
      read3(&f->r, ROW_N, i, n);
      read3(&f->r, side ? ROW_P2 : ROW_P1, i, p);
      vertex_at(f, i, side, last[side], n, at);
      for (int k = 0; k < 3; ++k) {
        off = fmax(off, fabs(p[k] - at[k]));
      }
      ++single;
      check(off <= rounding(spans_of(&f->r, i, f->solids), 4.0),
            "row %zu: p%d is %g from vertex %d", i, side + 1, off, last[side]);
    }
  }
  check(single > 20, "only %zu vertices are witness points", single);
}

/* Normals follow from distances by a bound for shapes apart, whose normals are unique. */
static void compare_answers(const fixture *f, const rows *other, double sign, const double turn[7],
                            const char *what)
{
  for (size_t i = 0; i < ROWS; ++i) {
    const double spans = spans_of(&f->r, i, f->solids), slack = 2.0 * rounding(spans, 4.0);
    const double d = rows_at(&f->r, ROW_D, i),
                 gaps = rows_at(&f->r, ROW_GAP, i) + rows_at(other, ROW_GAP, i);
    double n[3], turned[3], moved[3], off = 0.0;
    check(fabs(d - rows_at(other, ROW_D, i)) <= gaps + slack, "%s, row %zu: d is %.17g and %.17g",
          what, i, d, rows_at(other, ROW_D, i));
    read3(&f->r, ROW_N, i, n);
    read3(other, ROW_N, i, moved);
    apply(turn, n, true, turned);
    for (int k = 0; k < 3; ++k) {
      off = fmax(off, fabs(moved[k] - sign * turned[k]));
    }
    const double radii = f->solids[f->r.one[i]].def.radius + f->solids[f->r.two[i]].def.radius;
    check(d < 0.1 || off <= 4.0 * sqrt((gaps + slack) / (d + radii)),
          "%s, row %zu: n is off by %g, d %g", what, i, off, d);
  }
}

static void test_swap(const fixture *f)
{
  static const double still[7] = {0, 0, 0, 1, 0, 0, 0};
  rows swapped;
  rows_create(&swapped, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double pose1[7], pose2[7];
    rows_pose(&f->r, i, 0, pose1);
    rows_pose(&f->r, i, 1, pose2);
    rows_put(&swapped, i, f->r.two[i], f->r.one[i], pose2, pose1);
  }
  if (solve(&swapped, f->shapes)) {
    compare_answers(f, &swapped, -1.0, still, "swapped");
  }
  rows_free(&swapped);
}

static void test_motion(const fixture *f)
{
  uint64_t seed = 5;
  double motion[7];
  rows moved;
  random_pose(&seed, 2.0, motion);
  rows_create(&moved, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double pose[2][7], out[2][7];
    for (int side = 0; side < 2; ++side) {
      rows_pose(&f->r, i, side, pose[side]);
      compose(motion, pose[side], out[side]);
    }
    rows_put(&moved, i, f->r.one[i], f->r.two[i], out[0], out[1]);
  }
  if (solve(&moved, f->shapes)) {
    compare_answers(f, &moved, 1.0, motion, "moved");
  }
  rows_free(&moved);
}

/* The same poses as twists. */
static void test_twists(const fixture *f)
{
  static const double still[7] = {0, 0, 0, 1, 0, 0, 0};
  rows r;
  rows_create(&r, precision, ABUT_POSE_TWIST, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double pose[2][7], twist[2][6];
    rows_pose(&f->r, i, 0, pose[0]);
    rows_pose(&f->r, i, 1, pose[1]);
    CHECK_OK(abut_pose_log(ABUT_FLOAT64, 2, pose, twist));
    rows_put(&r, i, f->r.one[i], f->r.two[i], twist[0], twist[1]);
  }
  if (solve(&r, f->shapes)) {
    compare_answers(f, &r, 1.0, still, "twists");
  }
  rows_free(&r);
}

/* ---- warm starts ---- */

static size_t sum_of(const rows *r)
{
  size_t sum = 0;
  for (size_t i = 0; i < r->count; ++i) {
    sum += r->iterations[i];
  }
  return sum;
}

/* The same of pairs apart that have vertices, whose support points are found again as they were. */
static size_t sum_of_vertices(const fixture *f, const rows *r)
{
  size_t sum = 0;
  for (size_t i = 0; i < r->count; ++i) {
    const abut_shape_kind one = f->solids[r->one[i]].def.kind, two = f->solids[r->two[i]].def.kind;
    const bool has = (one == ABUT_SHAPE_HULL || one == ABUT_SHAPE_BOX) &&
                     (two == ABUT_SHAPE_HULL || two == ABUT_SHAPE_BOX);
    sum += has && rows_at(&f->r, ROW_D, i) > 0.1 ? r->iterations[i] : 0;
  }
  return sum;
}

/* From points that were found at poses a little off: as good an answer, in fewer steps. */
static void test_warm(const fixture *f)
{
  static const double still[7] = {0, 0, 0, 1, 0, 0, 0};
  uint64_t seed = 31;
  rows before, warm;
  rows_create(&before, precision, ABUT_POSE_QUATERNION, ROWS);
  rows_create(&warm, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double pose1[7], pose2[7];
    rows_pose(&f->r, i, 0, pose1);
    rows_pose(&f->r, i, 1, pose2);
    rows_put(&warm, i, f->r.one[i], f->r.two[i], pose1, pose2);
    for (int k = 0; k < 7; ++k) {
      pose2[k] += 1e-3 * random_normal(&seed);
    }
    rows_put(&before, i, f->r.one[i], f->r.two[i], pose1, pose2);
  }
  abut_closest_batch b = rows_batch(&warm, f->shapes, SOLIDS, 0, ROWS);
  b.warm = before.simplex;
  if (solve(&before, f->shapes) && CHECK_OK(abut_closest(context, &b))) {
    compare_answers(f, &warm, 1.0, still, "warm");
    const size_t some = sum_of_vertices(f, &warm), cold = sum_of_vertices(f, &f->r);
    printf("warm: %zu iterations, cold %zu; with vertices %zu and %zu\n", sum_of(&warm),
           sum_of(&f->r), some, cold);
    check(some < cold && sum_of(&warm) < sum_of(&f->r),
          "warm: %zu iterations with vertices, cold %zu", some, cold);
  }
  /* Numbers that no call has given: the answer is as good, and nothing is read outside a shape. */
  for (size_t i = 0; i < 8 * ROWS; ++i) {
    before.simplex[i] = (int32_t)(4294967295.0 * random_uniform(&seed) - 2147483648.0);
    before.simplex[i] = i % 5 == 3 ? INT32_MAX : before.simplex[i];
  }
  if (CHECK_OK(abut_closest(context, &b))) {
    compare_answers(f, &warm, 1.0, still, "wrong warm");
  }
  rows_free(&before);
  rows_free(&warm);
}

/* ---- cutoffs ---- */

static void check_cutoff(const fixture *f, const rows *cut, size_t row, double cutoff)
{
  const double d = rows_at(&f->r, ROW_D, row), gap = rows_at(&f->r, ROW_GAP, row),
               got = rows_at(cut, ROW_D, row);
  const double slack = gap + rounding(spans_of(&f->r, row, f->solids), 2.0);
  if (cut->status[row] != ABUT_CLOSEST_BEYOND) {
    check(fabs(got - d) <= slack + rows_at(cut, ROW_GAP, row),
          "cutoff %g, row %zu: d is %g, not %g", cutoff, row, got, d);
    return;
  }
  check(got > cutoff - slack && d > cutoff - slack,
        "cutoff %g, row %zu: d is %g, and %g where it was cut off", cutoff, row, d, got);
  check(got <= d + slack && got + rows_at(cut, ROW_GAP, row) >= d - slack,
        "cutoff %g, row %zu: %g and a gap of %g do not hold %g", cutoff, row, got,
        rows_at(cut, ROW_GAP, row), d);
}

static void test_cutoff(const fixture *f)
{
  static const double cutoffs[] = {0.3, 0.01, 0.0, -0.05};
  for (size_t k = 0; k < 4; ++k) {
    size_t beyond = 0, above = 0;
    rows cut;
    rows_create(&cut, precision, ABUT_POSE_QUATERNION, ROWS);
    for (size_t i = 0; i < ROWS; ++i) {
      double pose1[7], pose2[7];
      rows_pose(&f->r, i, 0, pose1);
      rows_pose(&f->r, i, 1, pose2);
      rows_put(&cut, i, f->r.one[i], f->r.two[i], pose1, pose2);
    }
    abut_closest_batch b = rows_batch(&cut, f->shapes, SOLIDS, 0, ROWS);
    b.cutoff = cutoffs[k];
    CHECK_OK(abut_closest(context, &b));
    for (size_t i = 0; i < ROWS; ++i) {
      check_cutoff(f, &cut, i, cutoffs[k]);
      beyond += cut.status[i] == ABUT_CLOSEST_BEYOND;
      above += rows_at(&f->r, ROW_D, i) > cutoffs[k];
    }
    printf("cutoff %g: %zu of %zu rows beyond, %zu iterations for %zu\n", cutoffs[k], beyond, above,
           sum_of(&cut), sum_of(&f->r));
    check(2 * beyond > above && sum_of(&cut) < sum_of(&f->r),
          "cutoff %g: %zu of %zu rows are beyond", cutoffs[k], beyond, above);
    rows_free(&cut);
  }
}

int main(int argc, char **argv)
{
  static fixture f;
  precision = precision_of(argc, argv);
  context = require_context(precision);
  test_form(ABUT_SHAPE_SPHERE, "spheres", spheres);
  test_form(ABUT_SHAPE_BOX, "boxes", boxes);
  test_form(ABUT_SHAPE_CAPSULE, "capsules", capsules);
  if (make_fixture(&f, 3)) {
    test_certificate(&f);
    test_support_points(&f);
    test_swap(&f);
    test_motion(&f);
    test_twists(&f);
    test_warm(&f);
    test_cutoff(&f);
  }
  rows_free(&f.r);
  return finish_context(context);
}
