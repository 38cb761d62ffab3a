/* Hulls of known sets and of random ones, flat ones, and of every size; corners of half spaces. */
#include "query/half_spaces.h"
#include "query/hull.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MOST 20000

static double points[3 * POINTS_MOST];
static uint64_t random_state = 20260201;

/* ---- what holds of every hull ---- */

static const int *ring_of(const hull *h, size_t vertex, int *count)
{
  *count = h->rings[vertex + 1] - h->rings[vertex];
  return h->rings + h->rings[vertex];
}

static bool has_neighbour(const hull *h, size_t vertex, int other)
{
  int count;
  const int *ring = ring_of(h, vertex, &count);
  for (int i = 0; i < count; ++i) {
    if (ring[i] == other) {
      return true;
    }
  }
  return false;
}

/* Rings are ascending, within the hull, without the vertex itself, and the same from both sides. */
static bool rings_hold(const hull *h)
{
  bool holds = h->rings[0] == (int)h->count + 1 && h->rings[h->count] == (int)h->ring_ints;
  for (size_t i = 0; i < h->count && holds; ++i) {
    int count;
    const int *ring = ring_of(h, i, &count);
    for (int k = 0; k < count && holds; ++k) {
      holds = ring[k] >= 0 && ring[k] < (int)h->count && ring[k] != (int)i &&
              (!k || ring[k] > ring[k - 1]) && has_neighbour(h, (size_t)ring[k], (int)i);
    }
  }
  return holds;
}

static double dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* How much farther any point is than all of the hull's vertices, over random directions. */
static double lost(const hull *h, const double *given, size_t count)
{
  double most = 0.0;
  for (int trial = 0; trial < 300; ++trial) {
    const double u[3] = {random_normal(&random_state), random_normal(&random_state),
                         random_normal(&random_state)};
    double all = -HUGE_VAL, kept = -HUGE_VAL;
    for (size_t i = 0; i < count; ++i) {
      all = fmax(all, dot(u, given + 3 * i));
    }
    for (size_t i = 0; i < h->count; ++i) {
      kept = fmax(kept, dot(u, given + 3 * (size_t)h->vertices[i]));
    }
    most = fmax(most, (all - kept) / sqrt(dot(u, u)));
  }
  return most;
}

/* Makes the hull of `count` points, and checks what every hull must be. size: of the set. */
static hull hull_of(const char *what, const double *given, size_t count, size_t dimensions,
                    double size)
{
  hull h;
  REQUIRE_OK(hull_create(&h, given, count));
  check(h.dimensions == dimensions, "%s: %zu dimensions, not %zu", what, h.dimensions, dimensions);
  check(rings_hold(&h), "%s: rings", what);
  for (size_t i = 1; i < h.count; ++i) {
    if (h.vertices[i] <= h.vertices[i - 1]) {
      check(false, "%s: vertices are not ascending", what);
    }
  }
  const double off = lost(&h, given, count);
  check(off <= 1e-13 * size, "%s: a point is outside by %g", what, off);
  return h;
}

static void put(size_t i, double x, double y, double z)
{
  points[3 * i] = x;
  points[3 * i + 1] = y;
  points[3 * i + 2] = z;
}

/* ---- known sets ---- */

/* Corners first, in the order of their bits; then points inside, in faces and on edges, and the
 * corners once more. */
static void test_cube(void)
{
  size_t count = 0;
  for (int again = 0; again < 2; ++again) {
    for (int i = 0; i < 8; ++i) {
      put(count++, i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    }
    put(count++, 0, 0, 0);
    put(count++, 1, 0.25, -0.5);
    put(count++, 0.5, -1, 0.125);
    put(count++, 1, 1, 0.5);
    put(count++, -0.75, 1, -1);
  }
  hull h = hull_of("cube", points, count, 3, 2.0);
  CHECK_EQUAL(h.count, 8);
  CHECK_EQUAL(h.ring_ints, 9 + 36); /* 12 edges and 6 diagonals, from both sides */
  for (uint32_t i = 0; i < 8 && h.count == 8; ++i) {
    CHECK_EQUAL(h.vertices[i], i); /* the first of equal ones */
    CHECK(has_neighbour(&h, i, (int)(i ^ 1)) && has_neighbour(&h, i, (int)(i ^ 2)) &&
          has_neighbour(&h, i, (int)(i ^ 4)));
  }
  hull_free(&h);
}

/* A grid of 6 x 6 x 6 points in a turned cube: faces hold 36 points each within rounding. */
static void test_turned_grid(double size)
{
  static const double r[3][3] = {{2. / 3, -1. / 3, 2. / 3},
                                 {2. / 3, 2. / 3, -1. / 3},
                                 {-1. / 3, 2. / 3, 2. / 3}};
  for (int i = 0; i < 216; ++i) {
    const double x[3] = {i % 6 / 5.0, i / 6 % 6 / 5.0, i / 36 / 5.0};
    put((size_t)i, size * dot(r[0], x), size * dot(r[1], x), size * dot(r[2], x));
  }
  hull h = hull_of("turned grid", points, 216, 3, size);
  check(h.count >= 8 && h.count <= 60, "turned grid: %zu vertices", h.count);
  hull_free(&h);
}

static void test_tetrahedron(void)
{
  const double given[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 0.1, 0.1};
  hull h = hull_of("tetrahedron", given, 5, 3, 1.0);
  require(CHECK_EQUAL(h.count, 4) && CHECK_EQUAL(h.ring_ints, 5 + 12));
  for (size_t i = 0; i < 4; ++i) {
    int count, expected = 0;
    const int *ring = ring_of(&h, i, &count);
    CHECK_EQUAL(count, 3);
    for (int k = 0; k < 3; ++k, ++expected) {
      expected += expected == (int)i;
      CHECK_EQUAL(ring[k], expected);
    }
  }
  hull_free(&h);
}

/* On a sphere all are vertices, and triangles are as many as Euler says. */
static void test_sphere(size_t count, double size)
{
  for (size_t i = 0; i < count; ++i) {
    double *x = points + 3 * i;
    for (int k = 0; k < 3; ++k) {
      x[k] = random_normal(&random_state);
    }
    const double length = sqrt(dot(x, x));
    for (int k = 0; k < 3; ++k) {
      x[k] *= size / length;
    }
  }
  hull h = hull_of("sphere", points, count, 3, size);
  CHECK_EQUAL(h.count, count);
  CHECK_EQUAL(h.ring_ints, count + 1 + 2 * (3 * count - 6));
  hull_free(&h);
}

static void test_random(void)
{
  static const size_t counts[] = {4, 5, 6, 8, 20, 60, 500};
  for (size_t i = 0; i < 70; ++i) {
    const size_t count = counts[i % 7];
    for (size_t k = 0; k < 3 * count; ++k) {
      points[k] = random_normal(&random_state) * (k % 3 == 0 ? 0.01 : 1.0);
    }
    hull h = hull_of("random points", points, count, 3, 1.0);
    CHECK_EQUAL(h.ring_ints, h.count + 1 + 2 * (3 * h.count - 6)); /* no four are in a plane */
    hull_free(&h);
  }
}

/* ---- flat ones, segments, points ---- */

/* Puts 40 points that span `dimensions` axes of a turned frame, with given widths, far from the
 * origin or not: ends of the axes first. */
static void put_flat(size_t dimensions, const double widths[3], const double middle[3])
{
  static const double axes[3][3] = {{0.6, 0.8, 0}, {-0.48, 0.36, 0.8}, {0.64, -0.48, 0.6}};
  for (size_t i = 0; i < 40; ++i) {
    double x[3] = {middle[0], middle[1], middle[2]};
    for (size_t axis = 0; axis < dimensions; ++axis) {
      const double end = i == 2 * axis ? 1.0 : i == 2 * axis + 1 ? -1.0 : 0.0;
      const double at = i < 2 * dimensions ? end
                                           : 0.3 * (2.0 * random_uniform(&random_state) - 1.0);
      for (int k = 0; k < 3; ++k) {
        x[k] += at * widths[axis] * axes[axis][k];
      }
    }
    put(i, x[0], x[1], x[2]);
  }
}

static void test_flat(double size)
{
  static const double here[3] = {0, 0, 0};
  const double far[3] = {300.0 * size, -200.0 * size, 100.0 * size};
  const double even[3] = {size, size, size}, thin[3] = {size, 1e-3 * size, 1e-6 * size},
               thinnest[3] = {size, size, 1e-9 * size};
  for (size_t dimensions = 0; dimensions <= 3; ++dimensions) {
    for (int place = 0; place < 2; ++place) {
      put_flat(dimensions, even, place ? far : here);
      hull h = hull_of("set", points, 40, dimensions, place ? 300.0 * size : size);
      check(h.count == (dimensions ? 2 * dimensions : 1), "%zu dimensions of %g m: %zu vertices",
            dimensions, size, h.count);
      for (size_t i = 0; i < h.count; ++i) {
        CHECK_EQUAL(h.vertices[i], i);
      }
      hull_free(&h);
    }
    put_flat(dimensions, thin, here);
    hull h = hull_of("thin set", points, 40, dimensions, size);
    check(h.count >= (dimensions ? 2 * dimensions : 1),
          "thin, %zu dimensions of %g m: %zu vertices", dimensions, size, h.count);
    hull_free(&h);
  }
  put_flat(3, thinnest, here);
  hull h = hull_of("thinnest set", points, 40, 3, size);
  hull_free(&h);
}

/* A polygon's neighbours are those beside it. */
static void test_polygon(void)
{
  for (int i = 0; i < 12; ++i) {
    put((size_t)i, cos(0.5235987755982988 * i), 3.0, sin(0.5235987755982988 * i));
  }
  put(12, 0.1, 3.0, 0.2);
  hull h = hull_of("polygon", points, 13, 2, 1.0);
  require(CHECK_EQUAL(h.count, 12) && CHECK_EQUAL(h.ring_ints, 13 + 24));
  for (int i = 0; i < 12; ++i) {
    CHECK(has_neighbour(&h, (size_t)i, (i + 1) % 12) &&
          has_neighbour(&h, (size_t)i, (i + 11) % 12));
  }
  hull_free(&h);
}

static void test_few(void)
{
  const double two[] = {1, 2, 3, 1, 2, 4}, triangle[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  hull h = hull_of("point", two, 1, 0, 1.0);
  CHECK(h.count == 1 && h.vertices[0] == 0 && h.ring_ints == 2);
  hull_free(&h);
  h = hull_of("segment", two, 2, 1, 1.0);
  CHECK(h.count == 2 && has_neighbour(&h, 0, 1) && has_neighbour(&h, 1, 0));
  hull_free(&h);
  h = hull_of("triangle", triangle, 3, 2, 1.0);
  CHECK(h.count == 3 && h.ring_ints == 4 + 6);
  hull_free(&h);
  for (size_t i = 0; i < 5000; ++i) {
    put(i, 0.1, -0.0, 0.3);
  }
  points[1] = 0.0; /* which equals -0 */
  h = hull_of("equal points", points, 5000, 0, 1.0);
  CHECK(h.count == 1 && h.vertices[0] == 0);
  hull_free(&h);
  put(4000, 0.1, 0.0, 0.4);
  h = hull_of("equal points but one", points, 5000, 1, 1.0);
  CHECK(h.count == 2 && h.vertices[0] == 0 && h.vertices[1] == 4000);
  hull_free(&h);
}

/* Corners that are there many times within rounding. */
static void test_noise(double noise)
{
  for (size_t i = 0; i < 800; ++i) {
    put(i, i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    for (int k = 0; k < 3; ++k) {
      points[3 * i + k] += noise * random_normal(&random_state);
    }
  }
  hull h = hull_of("noisy cube", points, 800, 3, 2.0 + 100.0 * noise);
  hull_free(&h);
}

/* ---- half spaces ---- */

static void put_plane(double *planes, size_t i, double nx, double ny, double nz, double at)
{
  const double n2 = nx * nx + ny * ny + nz * nz;
  const double plane[6] = {nx, ny, nz, nx * at / n2, ny * at / n2, nz * at / n2};
  memcpy(planes + 6 * i, plane, sizeof plane);
}

static bool has_corner(const corners *c, double x, double y, double z)
{
  for (size_t i = 0; i < c->count; ++i) {
    if (fabs(c->at[3 * i] - x) < 1e-14 && fabs(c->at[3 * i + 1] - y) < 1e-14 &&
        fabs(c->at[3 * i + 2] - z) < 1e-14) {
      return true;
    }
  }
  return false;
}

/* A cube with each plane twice and with some that cut nothing off; an octahedron, four planes a
 * corner. */
static void test_known_corners(void)
{
  double planes[6 * 20];
  corners c;
  size_t count = 0;
  for (int k = 0; k < 12; ++k) {
    const double side = k % 2 ? -3.0 : 3.0;
    put_plane(planes, count++, k / 2 % 3 == 0 ? side : 0, k / 2 % 3 == 1 ? side : 0,
              k / 2 % 3 == 2 ? side : 0, 3.0);
  }
  put_plane(planes, count++, 1, 1, 1, 3.0); /* through a corner */
  put_plane(planes, count++, 1, 1, 0, 2.0); /* through an edge */
  put_plane(planes, count++, 1, 2, -1, 50.0);
  REQUIRE_OK(find_corners(&c, planes, count));
  CHECK(c.is_bounded);
  CHECK_EQUAL(c.count, 8);
  for (int i = 0; i < 8; ++i) {
    CHECK(has_corner(&c, i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
  }
  corners_free(&c);
  for (int i = 0; i < 8; ++i) {
    put_plane(planes, (size_t)i, i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1, 1e-3);
  }
  REQUIRE_OK(find_corners(&c, planes, 8));
  CHECK_EQUAL(c.count, 6);
  CHECK(has_corner(&c, 1e-3, 0, 0) && has_corner(&c, 0, -1e-3, 0) && has_corner(&c, 0, 0, 1e-3));
  corners_free(&c);
}

static void test_no_corners(void)
{
  double planes[6 * 6];
  corners c;
  put_plane(planes, 0, 1, 0, 0, 1);
  REQUIRE_OK(find_corners(&c, planes, 1));
  CHECK(c.count && !c.is_bounded);
  corners_free(&c);
  for (int k = 0; k < 5; ++k) { /* a box without a lid */
    put_plane(planes, (size_t)k,
              k == 0   ? 1
              : k == 1 ? -1
                       : 0,
              k == 2   ? 1
              : k == 3 ? -1
                       : 0,
              k == 4 ? -1 : 0, 1.0);
  }
  REQUIRE_OK(find_corners(&c, planes, 5));
  CHECK(c.count && !c.is_bounded);
  corners_free(&c);
  put_plane(planes, 5, 0, 0, 1, -2.0); /* its lid below its ground */
  REQUIRE_OK(find_corners(&c, planes, 6));
  CHECK_EQUAL(c.count, 0);
  corners_free(&c);
}

/* Planes that touch a sphere somewhere, far from the origin: each is a face, and three meet at a
 * corner. */
static void test_random_corners(size_t count, double size, double away)
{
  double *planes = malloc(6 * count * sizeof *planes);
  const double middle[3] = {away, -2.0 * away, 0.5 * away};
  corners c;
  REQUIRE(planes);
  for (size_t i = 0; i < count; ++i) {
    double *n = planes + 6 * i;
    for (int k = 0; k < 3; ++k) {
      n[k] = random_normal(&random_state);
    }
    const double length = sqrt(dot(n, n));
    for (int k = 0; k < 3; ++k) {
      n[3 + k] = middle[k] + size * n[k] / length;
    }
  }
  REQUIRE_OK(find_corners(&c, planes, count));
  CHECK_EQUAL(c.count, 2 * count - 4);
  double most = 0.0;
  for (size_t i = 0; i < c.count; ++i) {
    for (size_t k = 0; k < count; ++k) {
      const double *n = planes + 6 * k;
      const double way[3] = {c.at[3 * i] - n[3], c.at[3 * i + 1] - n[4], c.at[3 * i + 2] - n[5]};
      most = fmax(most, dot(n, way) / sqrt(dot(n, n)));
    }
  }
  check(most <= 1e-14 * size + 4e-16 * fabs(4.0 * away), "a corner is outside by %g of %g", most,
        size);
  corners_free(&c);
  free(planes);
}

int main(void)
{
  test_cube();
  test_tetrahedron();
  test_polygon();
  test_few();
  test_random();
  static const double sizes[] = {1.0, 1e-5, 1e4, 1e-9, 1e6};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    test_turned_grid(sizes[i]);
    test_sphere(i ? 300 : POINTS_MOST, sizes[i]);
    test_flat(sizes[i] / 500.0);
  }
  test_noise(1e-16);
  test_noise(1e-15);
  test_noise(1e-13);
  test_known_corners();
  test_no_corners();
  test_random_corners(30, 1.0, 0.0);
  test_random_corners(200, 1e-3, 10.0);
  test_random_corners(30, 100.0, 1e5);
  return check_finish();
}
