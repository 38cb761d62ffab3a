/* Boxes of the points below planes, against all vertices that three planes have. */
#include "support/check.h"

#include "body/parts.h"
#include "body/family/planes_box.h"
#include "geometry/layout.h"

#include <math.h>
#include <stdlib.h>

enum { PLANES_MOST = 48 };

/* Normal and distance of each, as packed: n . x <= d. */
typedef struct sides {
  size_t count;
  double rows[6 * PLANES_MOST];
} sides;

static void add_side(sides *s, double x, double y, double z, double distance)
{
  const double length2 = x * x + y * y + z * z;
  double *row = s->rows + 6 * s->count++;
  const double n[3] = {x, y, z};
  for (int k = 0; k < 3; ++k) {
    row[k] = n[k];
    row[3 + k] = distance * n[k] / length2 * sqrt(length2);
  }
}

static bool box_of(const sides *s, size_t real, double reach, box *out)
{
  const abut_polyhedron one = {s->rows, s->count, ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  int *head;
  size_t count;
  reals shape;
  def.polyhedra = &one;
  def.polyhedron_count = 1;
  REQUIRE_OK(pack_primitives(&def, real, &head, &count, &shape));
  const packed p = packed_of(head, &shape, ABUT_ADD, 1);
  REQUIRE(p.count == 1);
  const plane_set all = {&p, (size_t)p.ranges[0], (size_t)p.ranges[1]};
  const bool found = planes_box(&all, reach, out);
  free(head);
  free(shape.data);
  return found;
}

static double side_distance(const sides *s, size_t i, const double x[3])
{
  const double *r = s->rows + 6 * i, length = hypot(hypot(r[0], r[1]), r[2]);
  return (r[0] * (x[0] - r[3]) + r[1] * (x[1] - r[4]) + r[2] * (x[2] - r[5])) / length;
}

/* The point at which three sides are `reach` away. */
static bool meet(const sides *s, const size_t which[3], double reach, double x[3])
{
  double m[3][3], b[3], volume = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double origin[3] = {0.0, 0.0, 0.0}, *r = s->rows + 6 * which[i];
    const double length = hypot(hypot(r[0], r[1]), r[2]);
    for (int k = 0; k < 3; ++k) {
      m[i][k] = r[k] / length;
    }
    b[i] = reach - side_distance(s, which[i], origin);
  }
  for (int k = 0; k < 3; ++k) {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    volume += m[0][k] * (m[1][u] * m[2][v] - m[1][v] * m[2][u]);
  }
  for (int k = 0; k < 3; ++k) {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    x[k] = (b[0] * (m[1][u] * m[2][v] - m[1][v] * m[2][u]) +
            b[1] * (m[2][u] * m[0][v] - m[2][v] * m[0][u]) +
            b[2] * (m[0][u] * m[1][v] - m[0][v] * m[1][u])) /
           volume;
  }
  return fabs(volume) > 1e-7;
}

/* The box of all vertices, by each three sides. */
static box box_of_vertices(const sides *s, double reach)
{
  box b = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
  size_t w[3];
  for (w[0] = 0; w[0] < s->count; ++w[0]) {
    for (w[1] = w[0] + 1; w[1] < s->count; ++w[1]) {
      for (w[2] = w[1] + 1; w[2] < s->count; ++w[2]) {
        double x[3];
        bool inside = meet(s, w, reach, x);
        for (size_t i = 0; inside && i < s->count; ++i) {
          inside = side_distance(s, i, x) <= reach + 1e-9;
        }
        if (inside) {
          box_cover(&b, x);
        }
      }
    }
  }
  return b;
}

static void compare_boxes(const char *what, const sides *s, size_t real, double reach, double most)
{
  box got;
  if (!check(box_of(s, real, reach, &got), "%s: has no end", what)) {
    return;
  }
  const box least = box_of_vertices(s, reach);
  for (int k = 0; k < 3; ++k) {
    const double below = least.lower[k] - got.lower[k], above = got.upper[k] - least.upper[k];
    check(below >= -1e-9 && above >= -1e-9, "%s: a box misses %g, %g along axis %d", what, below,
          above, k);
    check(below <= most && above <= most, "%s: a box is %g, %g too large along axis %d", what,
          below, above, k);
  }
}

static void random_sides(uint64_t *seed, size_t count, sides *s)
{
  const double stretch = pow(10.0, 2.0 * random_uniform(seed) - 1.0);
  s->count = 0;
  for (size_t i = 0; i < count; ++i) {
    const double n[3] = {random_normal(seed), random_normal(seed), stretch * random_normal(seed)};
    add_side(s, n[0], n[1], n[2], 0.3 + random_uniform(seed));
  }
  for (int i = 0; i < 6; ++i) { /* beyond most of the others, so that there is an end */
    const double sign = i % 2 ? 4.0 : -4.0;
    add_side(s, i / 2 == 0 ? sign : 0.0, i / 2 == 1 ? sign : 0.0, i / 2 == 2 ? sign : 0.0, 4.0);
  }
}

static void random_planes(void)
{
  uint64_t seed = 3;
  for (int i = 0; i < 400; ++i) {
    sides s;
    char what[40];
    random_sides(&seed, 1 + (size_t)(30.0 * random_uniform(&seed)), &s);
    snprintf(what, sizeof what, "random planes %d", i);
    compare_boxes(what, &s, sizeof(double), i % 3 * 0.2, 1e-9);
    compare_boxes(what, &s, sizeof(float), i % 3 * 0.2, 1e-3);
  }
}

/* Many sides through one vertex, and sides twice: weights of 0, in which a search could go in
 * circles. */
static void tied_planes(void)
{
  sides cone = {0}, twice = {0};
  for (int i = 0; i < 32; ++i) {
    const double angle = 0.19634954084936207 * i;
    add_side(&cone, cos(angle), sin(angle), 0.25, 0.25);
  }
  add_side(&cone, 0.0, 0.0, -1.0, 0.5);
  compare_boxes("a cone", &cone, sizeof(double), 0.0, 1e-9);
  compare_boxes("a cone", &cone, sizeof(double), 0.125, 1e-9);
  for (int i = 0; i < 36; ++i) {
    const double sign = i % 2 ? 1.0 : -1.0;
    add_side(&twice, i / 2 % 3 == 0 ? sign : 0.0, i / 2 % 3 == 1 ? sign : 0.0,
             i / 2 % 3 == 2 ? sign : 0.0, 0.5 + i / 18 * 0.25);
  }
  compare_boxes("a cube's sides, six of each", &twice, sizeof(double), 0.1, 1e-9);
}

/* A needle of a slope of one in 500: its planes, moved out a little, meet far away. */
static void needle(void)
{
  sides s = {0};
  add_side(&s, 1.0, 0.0, 0.002, 0.1);
  add_side(&s, -0.5, 0.75, 0.002, 0.1);
  add_side(&s, -0.5, -0.75, 0.002, 0.1);
  add_side(&s, 0.0, 0.0, -1.0, 0.1);
  compare_boxes("a needle", &s, sizeof(double), 0.0, 1e-6);
  compare_boxes("a needle", &s, sizeof(double), 0.01, 1e-6);
  compare_boxes("a needle", &s, sizeof(float), 0.01, 1.0);
}

/* Ramps: what lies farthest along each axis are corners of the slope, whose middle lies in the
 * slope. */
static void ramps(void)
{
  uint64_t seed = 5;
  for (int i = 0; i < 300; ++i) {
    sides s = {0};
    char what[40];
    const double height = 0.2 + random_uniform(&seed), off = 1e-3;
    add_side(&s, height, off * random_normal(&seed), 1.0, 0.5);
    add_side(&s, -1.0, off * random_normal(&seed), off * random_normal(&seed), 0.3);
    add_side(&s, off * random_normal(&seed), off * random_normal(&seed), -1.0, 0.3);
    add_side(&s, -off * random_uniform(&seed), -1.0, -off * random_uniform(&seed), 0.3);
    add_side(&s, -off * random_uniform(&seed), 1.0, -off * random_uniform(&seed), 0.3);
    snprintf(what, sizeof what, "ramp %d", i);
    compare_boxes(what, &s, sizeof(double), 0.0, 1e-9);
    compare_boxes(what, &s, sizeof(double), 0.01, 1e-9);
    compare_boxes(what, &s, sizeof(float), 0.0, 1e-3);
  }
}

/* Flat pyramids, turned: the farthest corners along all axes are mostly three of one plane, and so
 * is their middle. */
static void flat_pyramids(void)
{
  uint64_t seed = 7;
  for (int turn = 0; turn < 100; ++turn) {
    sides s = {0};
    double n[3], along[3], across[3], square[2] = {0.0, 0.0};
    char what[40];
    for (int k = 0; k < 3; ++k) {
      n[k] = random_normal(&seed);
      square[0] += n[k] * n[k];
    }
    for (int k = 0; k < 3; ++k) {
      n[k] /= sqrt(square[0]);
    }
    along[0] = n[1] - n[2];
    along[1] = n[2] - n[0];
    along[2] = n[0] - n[1];
    for (int k = 0; k < 3; ++k) {
      square[1] += along[k] * along[k];
    }
    for (int k = 0; k < 3; ++k) {
      across[k] = (n[(k + 1) % 3] * along[(k + 2) % 3] - n[(k + 2) % 3] * along[(k + 1) % 3]) /
                  sqrt(square[1]);
    }
    const double place[3] = {0.3, -0.2, 0.5}, height = 0.05;
    add_side(&s, -n[0], -n[1], -n[2], -n[0] * place[0] - n[1] * place[1] - n[2] * place[2]);
    for (int i = 0; i < 3; ++i) {
      const double angle = 2.0943951023931953 * i, length = sqrt(1.0 + height * height);
      double side[3], distance = height / length;
      for (int k = 0; k < 3; ++k) {
        side[k] =
          (n[k] + height * (cos(angle) * along[k] / sqrt(square[1]) + sin(angle) * across[k])) /
          length;
        distance += side[k] * place[k];
      }
      add_side(&s, side[0], side[1], side[2], distance);
    }
    snprintf(what, sizeof what, "a flat pyramid %d", turn);
    compare_boxes(what, &s, sizeof(double), 0.0, 1e-9);
    compare_boxes(what, &s, sizeof(float), 0.0, 5e-3);
  }
}

static void no_end(void)
{
  sides s = {0};
  box b;
  for (int i = 0; i < 5; ++i) { /* a half space, a slab, a trough, one with an end, a shaft */
    const double sign = i % 2 ? 1.0 : -1.0;
    add_side(&s, i / 2 == 0 ? sign : 0.0, i / 2 == 1 ? sign : 0.0, i / 2 == 2 ? sign : 0.0, 0.5);
    check(!box_of(&s, sizeof(double), 0.1, &b), "%d sides have a box", i + 1);
  }
  add_side(&s, 0.0, 0.0, 1.0, -0.8); /* behind the opposite side: nothing lies below both */
  CHECK(!box_of(&s, sizeof(double), 0.1, &b));
  CHECK(box_of(&s, sizeof(double), 0.2, &b));
}

int main(void)
{
  random_planes();
  tied_planes();
  flat_pyramids();
  needle();
  ramps();
  no_end();
  return check_finish();
}
