/* The paper's figures 3 and 5, and what SoftSort makes of a box: test_figures PRECISION [CSV].
 *
 * CSV, if given, gets figure 3's curves. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figure 3: an edge turning past parallel ---- */

enum { ANGLES = 4001, CURVES = 3 };
static const char *const curve_names[CURVES] = {"hard", "ridge", "smooth"};

static double angle_of(size_t i)
{
  return 0.2 * ((double)i / (ANGLES - 1) - 0.5) * 2.0;
}

/* A fixed edge of length 1 along x, and one 0.2 above it turning about its middle in their common
 * plane. */
static void turning_edges(double *p, double *q)
{
  for (size_t i = 0; i < ANGLES; ++i) {
    const double c = 0.5 * cos(angle_of(i)), s = 0.5 * sin(angle_of(i));
    const double fixed[6] = {-0.5, 0, 0, 0.5, 0, 0}, turned[6] = {-c, 0, 0.2 - s, c, 0, 0.2 + s};
    memcpy(p + 6 * i, fixed, sizeof fixed);
    memcpy(q + 6 * i, turned, sizeof turned);
  }
}

static abut_smoothing curve_smoothing(int curve)
{
  abut_smoothing s = abut_default_smoothing();
  if (curve < 2) {
    s.clip = s.minimum = s.compare = 1e-6;
    s.ridge = curve == 0 ? 1e-9 : 0.01;
  }
  return s;
}

/* x of the first edge's witness point at every angle. */
static bool trace_curve(abut_context context, abut_precision precision, int curve, double *x)
{
  double *p = calloc(6 * ANGLES, sizeof *p), *q = calloc(6 * ANGLES, sizeof *q);
  turning_edges(p, q);
  void *edges1 = to_reals(p, 6 * ANGLES, precision), *edges2 = to_reals(q, 6 * ANGLES, precision);
  void *points = calloc(3 * ANGLES, real_size(precision));
  const abut_smoothing s = curve_smoothing(curve);
  const bool ran =
    CHECK_OK(abut_witness_edges(context, &s, ANGLES, edges1, edges2, points, NULL, NULL));
  for (size_t i = 0; i < ANGLES; ++i) {
    x[i] = real_at(points, precision, 3 * i);
  }
  free(p);
  free(q);
  free(edges1);
  free(edges2);
  free(points);
  return ran;
}

typedef struct shape {
  double step, slope, bend; /* largest change, change per radian, change of that per radian */
} shape;

static shape shape_of(const double *x)
{
  const double h = angle_of(1) - angle_of(0);
  shape s = {0, 0, 0};
  for (size_t i = 1; i + 1 < ANGLES; ++i) {
    s.step = fmax(s.step, fabs(x[i + 1] - x[i]));
    /* over four steps: float32's rounding would fill the quotient of one */
    if (i >= 4 && i + 4 < ANGLES) {
      s.slope = fmax(s.slope, fabs(x[i + 4] - x[i - 4]) / (8 * h));
      s.bend = fmax(s.bend, fabs(x[i + 4] - 2 * x[i] + x[i - 4]) / (16 * h * h));
    }
  }
  return s;
}

static void write_curves(const char *path, double (*x)[ANGLES])
{
  FILE *file = fopen(path, "w");
  if (!check(file != NULL, "%s cannot be written", path)) {
    return;
  }
  fprintf(file, "angle,%s,%s,%s\n", curve_names[0], curve_names[1], curve_names[2]);
  for (size_t i = 0; i < ANGLES; ++i) {
    fprintf(file, "%.6f,%.9g,%.9g,%.9g\n", angle_of(i), x[0][i], x[1][i], x[2][i]);
  }
  fclose(file);
}

static void test_turning_edge(abut_context context, abut_precision precision, const char *path)
{
  static double x[CURVES][ANGLES];
  shape s[CURVES];
  for (int i = 0; i < CURVES; ++i) {
    if (!trace_curve(context, precision, i, x[i])) {
      return;
    }
    s[i] = shape_of(x[i]);
    printf("turning edge, %-6s: x from %.4f to %.4f, largest step %.3e, slope %.3g, bend %.3g\n",
           curve_names[i], x[i][0], x[i][ANGLES - 1], s[i].step, s[i].slope, s[i].bend);
    /* odd in the angle, whatever the smoothing */
    for (size_t k = 0; k < ANGLES; ++k) {
      const double odd = fabs(x[i][k] + x[i][ANGLES - 1 - k]);
      if (odd > 2e-4) {
        check(false, "%s: not odd at %g: %g", curve_names[i], angle_of(k), odd);
        break;
      }
    }
  }
  /* Towards the end that dips: at a positive angle the turned edge's first end, near x = -1/2. */
  check(fabs(x[0][0] - 0.5 * cos(0.2)) < 1e-3 && x[0][ANGLES - 1] < 0.0,
        "hard: %g at one end, %g at the other", x[0][0], x[0][ANGLES - 1]);
  const double h = angle_of(1) - angle_of(0);
  check(s[0].step > 0.49, "hard: jumps by %g within 1e-4 rad", s[0].step);
  check(fabs(x[0][ANGLES / 2 - 2] - x[0][ANGLES / 2 + 2] - 1.0) < 1e-2, "hard: from end to end");
  /* The minimiser's slope at parallel is height / (2 ridge) = 10; further on it has kinks. */
  check(s[1].step < 11 * h && s[1].slope > 9 && s[1].slope < 11, "ridge: continuous, steep: %g",
        s[1].slope);
  check(s[2].step < 11 * h && s[2].slope <= s[1].slope, "smooth: slope %g", s[2].slope);
  check(s[2].bend < 0.1 * s[1].bend, "smooth: bend %g, with the ridge alone %g", s[2].bend,
        s[1].bend);
  if (path) {
    write_curves(path, x);
  }
}

/* ---- boxes ---- */

static const double upright[7] = {0, 0, 0, 1, 0, 0, 0};

static bool run_bodies(const abut_body bodies[2], abut_precision precision,
                       const abut_smoothing *smoothing, const double pose1[7],
                       const double pose2[7], abut_layout *layout, outputs *out)
{
  abut_pair pair;
  return CHECK_OK(abut_create_pair(bodies[0], bodies[1], smoothing, &pair)) &&
         CHECK_OK(abut_get_layout(pair, layout)) &&
         outputs_create(out, pair, precision, 1, layout->contacts, 0.0) &&
         CHECK_OK(run_poses(pair, ABUT_POSE_QUATERNION, pose1, pose2, out));
}

static bool run_boxes(abut_context context, abut_precision precision, const double half1[3],
                      const double half2[3], const abut_smoothing *smoothing, const double pose1[7],
                      const double pose2[7], abut_layout *layout, outputs *out)
{
  abut_body bodies[2];
  return make_box(context, half1, &bodies[0]) && make_box(context, half2, &bodies[1]) &&
         run_bodies(bodies, precision, smoothing, pose1, pose2, layout, out);
}

/* Figure 5's smoothing, that of the golden answers box-on-box. */
static abut_smoothing box_smoothing(void)
{
  abut_smoothing s = abut_default_smoothing();
  s.penetration = s.neighbour = 0.02;
  s.clip = s.minimum = 0.02;
  s.compare = 0.05;
  s.ridge = 0.001;
  return s;
}

/* Where the outline of a unit square meets that of one turned by `angle`: eight points. */
static int crossings(double angle, double out[8][2])
{
  const double c = cos(angle), s = sin(angle),
               corner[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
  int count = 0;
  for (int i = 0; i < 16; ++i) {
    const double *a = corner[i / 4], *b = corner[(i / 4 + 1) % 4];
    double q[2][2];
    for (int k = 0; k < 2; ++k) {
      const double *from = corner[(i % 4 + k) % 4];
      q[k][0] = c * from[0] - s * from[1];
      q[k][1] = s * from[0] + c * from[1];
    }
    const double t[2] = {b[0] - a[0], b[1] - a[1]}, u[2] = {q[1][0] - q[0][0], q[1][1] - q[0][1]};
    const double w[2] = {q[0][0] - a[0], q[0][1] - a[1]}, det = t[0] * u[1] - t[1] * u[0];
    const double x = (w[0] * u[1] - w[1] * u[0]) / det, y = (w[0] * t[1] - w[1] * t[0]) / det;
    if (x > 0 && x < 1 && y > 0 && y < 1 && count < 8) {
      out[count][0] = a[0] + x * t[0];
      out[count++][1] = a[1] + x * t[1];
    }
  }
  return count;
}

static void test_turned_boxes(abut_context context, abut_precision precision)
{
  const double half[3] = {0.5, 0.5, 0.5}, angle = 0.6, depth = 0.05;
  const double above[7] = {0, 0, 1.0 - depth, cos(angle / 2), 0, 0, sin(angle / 2)};
  const abut_smoothing smoothing = box_smoothing();
  abut_layout l;
  outputs o = {0};
  double expected[8][2];
  check(crossings(angle, expected) == 8, "two squares have eight crossings");
  if (!run_boxes(context, precision, half, half, &smoothing, upright, above, &l, &o)) {
    return;
  }
  const double threshold = 0.1;
  for (int side = 0; side < 2; ++side) {
    int active = 0, met = 0;
    double least = 1.0, most = 0.0, off = 0.0, tilt = 0.0, wrong = 0.0;
    for (size_t k = 0; k < l.edges[0] * l.edges[1]; ++k) {
      const size_t i = l.edge_offset[side] + k;
      const double a = out_at(&o, OUT_ACTIVITY, i);
      if (a < threshold) {
        most = fmax(most, a);
        continue;
      }
      ++active;
      least = fmin(least, a);
      const double x = out_at(&o, OUT_P, 3 * i), y = out_at(&o, OUT_P, 3 * i + 1);
      const double z = out_at(&o, OUT_P, 3 * i + 2) - (side ? 0.5 - depth : 0.5);
      double nearest = 1.0;
      for (int c = 0; c < 8; ++c) {
        nearest = fmin(nearest, hypot(x - expected[c][0], y - expected[c][1]));
      }
      off = fmax(off, fmax(nearest, fabs(z)));
      met += nearest < 0.02;
      /* Body 1's normal points out of the upper box, downwards: the point is inside it. */
      tilt = fmax(tilt, fabs(out_at(&o, OUT_N, 3 * i + 2) - (side ? 1.0 : -1.0)));
      wrong = fmax(wrong, fabs(out_at(&o, OUT_D, i) + depth));
    }
    printf("turned boxes, body %d: %d active, activity at least %.3f (others at most %.1e), off by "
           "%.1e m, normal by %.1e, distance by %.1e\n",
           side + 1, active, least, most, off, tilt, wrong);
    check(active == 8 && met == 8, "body %d has %d active edge contacts, %d on crossings", side + 1,
          active, met);
    check(most < 0.5 * least, "activities part: %g and %g", most, least);
    check(off < 2e-3, "body %d: a point is off its crossing by %g", side + 1, off);
    check(tilt < 1e-2, "body %d: a normal is off the z axis by %g", side + 1, tilt);
    check(wrong < 1e-3, "body %d: a distance is off by %g", side + 1, wrong);
  }
  outputs_free(&o);
}

/* ---- SoftSort on tied scores ---- */

/* Four edges of a cube's bottom face are equally deep. SoftSort averages them into one edge through
 * the face's centre, four times; the gate keeps the four. */
static void test_tied_edges(abut_context context, abut_precision precision)
{
  const double half[3] = {0.5, 0.5, 0.5}, plane[3] = {4.0, 3.0, 0.5};
  const double above[7] = {0, 0, 0.98, 1, 0, 0, 0};
  for (int gate = 0; gate < 2; ++gate) {
    abut_smoothing smoothing = box_smoothing();
    smoothing.select = gate ? ABUT_SELECT_GATE : ABUT_SELECT_SOFTSORT;
    smoothing.edges[0] = 4;
    abut_layout l;
    outputs o = {0};
    if (!run_boxes(context, precision, half, plane, &smoothing, above, upright, &l, &o)) {
      return;
    }
    double off_diagonal = 0.0, farthest = 0.0, off_outline = 0.0, off_face = 0.0;
    unsigned seen = 0;
    for (size_t k = 0; k < l.edges[0]; ++k) {
      seen |= 1u << o.compact.feature[2 * (l.edge_offset[0] + k * l.edges[1])];
      for (size_t j = 0; j < l.edges[1]; ++j) {
        const size_t i = l.edge_offset[0] + k * l.edges[1] + j;
        const double x = out_at(&o, OUT_P, 3 * i), y = out_at(&o, OUT_P, 3 * i + 1);
        off_face = fmax(off_face, fabs(out_at(&o, OUT_P, 3 * i + 2) - 0.48));
        off_diagonal = fmax(off_diagonal, fabs(x - y));
        farthest = fmax(farthest, fmax(fabs(x), fabs(y)));
        off_outline = fmax(off_outline, fmin(fabs(fabs(x) - 0.5), fabs(fabs(y) - 0.5)));
      }
    }
    printf("tied edges, %s: off the face by %.1e, off the diagonal by %.1e, at most %.3f from the "
           "centre, off the outline by %.1e\n",
           gate ? "gate" : "SoftSort", off_face, off_diagonal, farthest, off_outline);
    /* Edges (0,2), (0,4), (2,6), (4,6) of the bottom face, as i < j in lexicographic order. */
    check(seen == (1u << 1 | 1u << 2 | 1u << 6 | 1u << 9), "the bottom edges are kept: %x", seen);
    check(off_face < 1e-6, "kept edges lie in the bottom face: %g", off_face);
    if (gate) {
      check(off_outline < 1e-6, "the gate keeps the cube's own edges: %g", off_outline);
      check(off_diagonal > 0.4, "and not an average: %g", off_diagonal);
    } else {
      check(off_diagonal < 1e-5, "SoftSort's edges are one diagonal: %g", off_diagonal);
      check(farthest < 0.26 && off_outline > 0.2, "from -1/4 to 1/4 about the centre: %g",
            farthest);
    }
    outputs_free(&o);
  }
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  test_turning_edge(context, precision, argc > 2 ? argv[2] : NULL);
  test_turned_boxes(context, precision);
  test_tied_edges(context, precision);
  return finish_context(context);
}
