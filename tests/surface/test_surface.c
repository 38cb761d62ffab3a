/* Surfaces of meshes as they come: welded, closed, turned; distances to them against closed forms
 * and against every triangle looked at. */
#include "surface/shapes.h"
#include "mesh/surface/solid.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double low[3] = {-0.5, -0.3, -0.2}, high[3] = {0.5, 0.4, 0.3};

static double volume_of(const double lower[3], const double upper[3])
{
  return (upper[0] - lower[0]) * (upper[1] - lower[1]) * (upper[2] - lower[2]);
}

static bool near(double a, double b, double within)
{
  return fabs(a - b) <= within;
}

/* Makes a surface that must come out whole, of a volume. */
static surface made(const char *what, shape *s, double volume, surface_report *report)
{
  const abut_body_def def = shape_def(s);
  surface out;
  REQUIRE_OK(surface_create(&def, &out, report));
  double whole;
  REQUIRE_OK(surface_solid_volume(&out, report, &whole));
  check(near(whole, volume, 1e-12 + 1e-9 * fabs(volume)), "%s: volume %.12g, not %.12g", what,
        whole, volume);
  return out;
}

/* Distances at random places in and around a solid against a closed form. */
static void distances(const char *what, const surface *s, double (*distance)(const double x[3]),
                      double within)
{
  solid inside;
  uint64_t seed = 7;
  double worst = 0.0;
  REQUIRE_OK(solid_create(&inside, s));
  for (int i = 0; i < 2000; ++i) {
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = s->lower[k] + (2.0 * random_uniform(&seed) - 0.5) * (s->upper[k] - s->lower[k]);
    }
    worst = fmax(worst, fabs(solid_distance(&inside, x) - distance(x)));
  }
  check(worst <= within, "%s: a distance is off by %g", what, worst);
  if (atomic_load(&inside.overlaps)) {
    CHECK_OK(solid_find_border(&inside, 0.01));
    worst = 0.0;
    for (int i = 0; i < 2000; ++i) {
      double x[3];
      for (int k = 0; k < 3; ++k) {
        x[k] = s->lower[k] + (2.0 * random_uniform(&seed) - 0.5) * (s->upper[k] - s->lower[k]);
      }
      worst = fmax(worst, fabs(solid_distance(&inside, x) - distance(x)));
    }
    check(worst <= 0.01, "%s: a distance to the border is off by %g", what, worst);
  }
  solid_free(&inside);
}

static double distance_to_box(const double x[3])
{
  return box_distance(low, high, x);
}

static void boxes(void)
{
  surface_report r;
  shape s = {0};
  shape_box(&s, low, high, 3);
  surface f = made("box of loose triangles", &s, volume_of(low, high), &r);
  CHECK_EQUAL(r.welded, s.vertex_count - 56);
  CHECK_EQUAL(r.shells, 1);
  CHECK_EQUAL(r.holes + r.open_edges + r.tangled_edges + r.turned + r.repeated, 0);
  distances("box", &f, distance_to_box, 1e-12);
  surface_free(&f);

  /* Single faces the wrong way round. */
  for (size_t i = 0; i < 40; i += 3) {
    shape_turn(&s, i);
  }
  f = made("box of turned faces", &s, volume_of(low, high), &r);
  CHECK_EQUAL(r.turned, 14);
  distances("box of turned faces", &f, distance_to_box, 1e-12);
  surface_free(&f);

  /* Faces twice, some of them backwards. */
  const size_t once = s.face_count;
  for (size_t i = 0; i < once; ++i) {
    const uint32_t *t = s.faces + 3 * i;
    shape_face(&s, t[0], t[i % 2 ? 2 : 1], t[i % 2 ? 1 : 2]);
  }
  f = made("box of repeated faces", &s, volume_of(low, high), &r);
  CHECK_EQUAL(r.repeated, once);
  CHECK_EQUAL(r.tangled_edges, 0);
  distances("box of repeated faces", &f, distance_to_box, 1e-12);
  surface_free(&f);
  shape_free(&s);
}

static void inside_out(void)
{
  surface_report r;
  shape s = {0};
  shape_box(&s, low, high, 2);
  for (size_t i = 0; i < s.face_count; ++i) {
    shape_turn(&s, i);
  }
  surface f = made("box inside out", &s, volume_of(low, high), &r);
  CHECK_EQUAL(r.shells_turned, 1);
  CHECK_EQUAL(r.turned, 0);
  distances("box inside out", &f, distance_to_box, 1e-12);
  surface_free(&f);
  shape_free(&s);
}

static void holes(void)
{
  surface_report r;
  shape s = {0};
  shape_box(&s, low, high, 4);
  /* A window in one side, and a side's whole corner region in another. */
  shape_drop(&s, 12);
  shape_drop(&s, 11);
  shape_drop(&s, 10);
  surface f = made("box with a hole", &s, volume_of(low, high), &r);
  CHECK(r.holes == 1);
  CHECK_EQUAL(r.open_edges, 0);
  CHECK(r.hole_widest > 0.1 && r.hole_widest < 0.5);
  CHECK(f.closing_count > 0);
  distances("box with a hole", &f, distance_to_box, 1e-12);
  surface_free(&f);
  shape_free(&s);

  /* No lid. */
  shape_box(&s, low, high, 1);
  shape_drop(&s, 11);
  shape_drop(&s, 10);
  f = made("box without a lid", &s, volume_of(low, high), &r);
  CHECK_EQUAL(r.holes, 1);
  CHECK_EQUAL(f.closing_count, 2);
  surface_free(&f);
  shape_free(&s);
}

/* Some sides of a box are cut finer than their neighbours, as by another program. */
static void junctions(void)
{
  surface_report r;
  for (unsigned which = 1; which < 64; ++which) {
    shape s = {0}, fine = {0}, coarse = {0};
    char what[32];
    shape_box(&coarse, low, high, 1);
    shape_box(&fine, low, high, 3);
    for (unsigned side = 0; side < 6; ++side) {
      const shape *from = which >> side & 1 ? &fine : &coarse;
      const size_t count = from->face_count / 6;
      for (size_t i = side * count; i < (side + 1) * count; ++i) {
        uint32_t at[3];
        for (size_t k = 0; k < 3; ++k) {
          const double *v = from->vertices + 3 * (size_t)from->faces[3 * i + k];
          at[k] = shape_vertex(&s, v[0], v[1], v[2]);
        }
        shape_face(&s, at[0], at[1], at[2]);
      }
    }
    snprintf(what, sizeof what, "box of fine sides %u", which);
    surface f = made(what, &s, volume_of(low, high), &r);
    check(!r.holes && !r.open_edges && !r.tangled_edges && r.shells == 1,
          "%s: %zu holes, %zu open "
          "edges, %zu shells",
          what, r.holes, r.open_edges, r.shells);
    surface_free(&f);
    shape_free(&s);
    shape_free(&fine);
    shape_free(&coarse);
  }
}

/* Faces that are lines, along edges and across faces. */
static void flat_faces(void)
{
  surface_report r;
  shape s = {0};
  shape_box(&s, low, high, 1);
  const uint32_t a = shape_vertex(&s, low[0], low[1], low[2]);
  const uint32_t b = shape_vertex(&s, high[0], low[1], low[2]);
  const uint32_t middle = shape_vertex(&s, 0.5 * (low[0] + high[0]), low[1], low[2]);
  const uint32_t across = shape_vertex(&s, high[0], high[1], low[2]);
  shape_face(&s, a, b, middle);
  shape_face(&s, a, middle, b);
  shape_face(&s, a, across, across);
  surface f = made("box with flat faces", &s, volume_of(low, high), &r);
  CHECK_EQUAL(r.shells, 1);
  CHECK_EQUAL(r.holes + r.open_edges + r.tangled_edges, 0);
  CHECK_EQUAL(f.triangle_count, 12);
  surface_free(&f);
  shape_free(&s);
}

/* Solids that touch with whole faces are one; a box of which each face is there from both sides is
 * a box. */
static void walls(void)
{
  static const double middle[3] = {0.0, 0.4, 0.3}, beside[3] = {0.0, -0.3, -0.2};
  surface_report r;
  shape s = {0};
  shape_box(&s, low, middle, 2);
  shape_box(&s, beside, high, 2);
  surface f = made("boxes with a wall between", &s, volume_of(low, high), &r);
  CHECK_EQUAL(r.holes + r.open_edges + r.tangled_edges, 0);
  distances("boxes with a wall between", &f, distance_to_box, 1e-12);
  surface_free(&f);
  shape_free(&s);
  shape_box(&s, low, high, 2);
  for (size_t i = 0, once = s.face_count; i < once; ++i) {
    const uint32_t *t = s.faces + 3 * i;
    shape_face(&s, t[0], t[2], t[1]);
  }
  f = made("box from both sides", &s, volume_of(low, high), &r);
  distances("box from both sides", &f, distance_to_box, 1e-12);
  surface_free(&f);
  shape_free(&s);
}

/* Numbers next to the smallest there are make no boxes to sort by. */
static void smallest(void)
{
  static const double least[3] = {1e-41, 1e-41, 1e-41}, most[3] = {3e-41, 3e-41, 3e-41};
  surface_report r;
  surface f;
  solid inside;
  shape s = {0};
  shape_box(&s, least, most, 3);
  const abut_body_def alone = shape_def(&s);
  CHECK_EQUAL(surface_create(&alone, &f, &r), ABUT_ERROR_BODY);
  shape_box(&s, low, high, 1);
  const abut_body_def both = shape_def(&s);
  REQUIRE_OK(surface_create(&both, &f, &r));
  REQUIRE_OK(solid_create(&inside, &f));
  const double x[3] = {0.1, 0.1, 0.1};
  CHECK(near(solid_distance(&inside, x), box_distance(low, high, x), 1e-12) ||
        solid_distance(&inside, x) > -0.18); /* the speck is a surface too */
  solid_free(&inside);
  surface_free(&f);
  shape_free(&s);
}

/* As many cavities as there are. */
static void many_cavities(void)
{
  surface_report r;
  shape s = {0};
  double hollow = 0.0;
  shape_box(&s, low, high, 1);
  for (int i = 0; i < 80; ++i) {
    const size_t first = s.face_count;
    const double a[3] = {-0.45 + 0.09 * (i % 10), -0.25 + 0.15 * (i / 10 % 4),
                         -0.1 + 0.2 * (i / 40)};
    const double b[3] = {a[0] + 0.05, a[1] + 0.1, a[2] + 0.1};
    shape_box(&s, a, b, 1);
    hollow += volume_of(a, b);
    for (size_t k = first; k < s.face_count; ++k) {
      shape_turn(&s, k);
    }
  }
  surface f = made("box of 80 cavities", &s, volume_of(low, high) - hollow, &r);
  CHECK_EQUAL(r.shells_turned, 0);
  surface_free(&f);
  shape_free(&s);
}

static const double cavity_low[3] = {-0.2, -0.1, -0.1}, cavity_high[3] = {0.2, 0.1, 0.1};

static double distance_to_hollow(const double x[3])
{
  return fmax(box_distance(low, high, x), -box_distance(cavity_low, cavity_high, x));
}

/* An inner shell is a cavity where it is turned inwards, and nothing new where it is not. */
static void cavities(void)
{
  surface_report r;
  shape s = {0};
  shape_box(&s, low, high, 1);
  shape_box(&s, cavity_low, cavity_high, 1);
  surface f = made("box in a box", &s, volume_of(low, high), &r);
  CHECK_EQUAL(r.shells, 2);
  CHECK_EQUAL(r.shells_turned, 0);
  solid inside;
  REQUIRE_OK(solid_create(&inside, &f));
  const double middle[3] = {0.0, 0.0, 0.0};
  CHECK(solid_distance(&inside, middle) < 0.0);
  CHECK_OK(solid_find_border(&inside, 0.01));
  CHECK(near(solid_distance(&inside, middle), box_distance(low, high, middle), 1e-12));
  solid_free(&inside);
  surface_free(&f);
  for (size_t i = 12; i < 24; ++i) {
    shape_turn(&s, i);
  }
  f = made("hollow box", &s, volume_of(low, high) - volume_of(cavity_low, cavity_high), &r);
  CHECK_EQUAL(r.shells_turned, 0);
  distances("hollow box", &f, distance_to_hollow, 1e-12);
  surface_free(&f);
  shape_free(&s);
}

static const double other_low[3] = {0.1, 0.0, -0.1}, other_high[3] = {0.9, 0.8, 0.1};

/* Outside the union a distance is the lesser one of both boxes. */
static double distance_to_both(const double x[3])
{
  const double d = fmin(box_distance(low, high, x), box_distance(other_low, other_high, x));
  if (d > 0.0) {
    return d;
  }
  /* Inside: to what of both lies on the border, by parts of each side. */
  double least2 = HUGE_VAL;
  for (int which = 0; which < 2; ++which) {
    const double *a = which ? other_low : low, *b = which ? other_high : high;
    const double *c = which ? low : other_low, *e = which ? high : other_high;
    for (int side = 0; side < 6; ++side) {
      const int axis = side / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
      for (int i = 0; i <= 160; ++i) {
        for (int j = 0; j <= 160; ++j) {
          double p[3];
          p[axis] = side % 2 ? b[axis] : a[axis];
          p[u] = a[u] + (b[u] - a[u]) * i / 160.0;
          p[v] = a[v] + (b[v] - a[v]) * j / 160.0;
          if (box_distance(c, e, p) > -1e-12) {
            double sum = 0.0;
            for (int k = 0; k < 3; ++k) {
              sum += (p[k] - x[k]) * (p[k] - x[k]);
            }
            least2 = fmin(least2, sum);
          }
        }
      }
    }
  }
  return -sqrt(least2);
}

static void overlaps(void)
{
  surface_report r;
  shape s = {0};
  shape_box(&s, low, high, 1);
  shape_box(&s, other_low, other_high, 1);
  double common_low[3], common_high[3];
  for (int k = 0; k < 3; ++k) {
    common_low[k] = fmax(low[k], other_low[k]);
    common_high[k] = fmin(high[k], other_high[k]);
  }
  surface f = made("boxes in each other", &s,
                   volume_of(low, high) + volume_of(other_low, other_high) -
                     volume_of(common_low, common_high),
                   &r);
  solid inside;
  uint64_t seed = 3;
  double worst = 0.0;
  REQUIRE_OK(solid_create(&inside, &f));
  const double both[3] = {0.3, 0.2, 0.0};
  CHECK(solid_distance(&inside, both) < 0.0);
  CHECK(atomic_load(&inside.overlaps));
  CHECK_OK(solid_find_border(&inside, 0.005));
  for (int i = 0; i < 200; ++i) {
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = f.lower[k] + (1.2 * random_uniform(&seed) - 0.1) * (f.upper[k] - f.lower[k]);
    }
    worst = fmax(worst, fabs(solid_distance(&inside, x) - distance_to_both(x)));
  }
  check(worst <= 0.006, "boxes in each other: a distance is off by %g", worst);
  solid_free(&inside);
  surface_free(&f);
  shape_free(&s);
}

/* Cubes of a lattice that overlap by a fifth are one box, but for their seams, whatever is near;
 * what is left of them is no more than a few pieces for each face. */
static void many_overlaps(void)
{
  surface_report r;
  shape s = {0};
  for (int i = 0; i < 125; ++i) {
    const double a[3] = {0.8 * (i % 5), 0.8 * (i / 5 % 5), 0.8 * (i / 25)};
    const double b[3] = {a[0] + 1.0, a[1] + 1.0, a[2] + 1.0};
    shape_box(&s, a, b, 1);
  }
  const double all_low[3] = {0, 0, 0}, all_high[3] = {4.2, 4.2, 4.2};
  surface f = made("125 cubes", &s, 4.2 * 4.2 * 4.2, &r);
  solid inside;
  uint64_t seed = 5;
  double worst = 0.0;
  REQUIRE_OK(solid_create(&inside, &f));
  CHECK_OK(solid_find_border(&inside, 1e-3));
  for (int i = 0; i < 2000; ++i) {
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = 6.0 * random_uniform(&seed) - 0.9;
    }
    worst = fmax(worst, fabs(solid_distance(&inside, x) - box_distance(all_low, all_high, x)));
  }
  check(worst <= 1e-9, "125 cubes: a distance is off by %g", worst);
  check(inside.border.count < 4 * f.triangle_count, "125 cubes are %zu pieces",
        inside.border.count);
  solid_free(&inside);
  surface_free(&f);
  shape_free(&s);
}

/* Where nothing is crossed nothing is cut: a ring of boxes that only nearly touch. */
static void apart(void)
{
  surface_report r;
  shape s = {0};
  for (int i = 0; i < 6; ++i) {
    const double from[3] = {1.05 * i, 0.1 * (i % 2), 0.0};
    const double to[3] = {from[0] + 1.0, from[1] + 1.0, 1.0};
    shape_box(&s, from, to, 1);
  }
  const abut_body_def def = shape_def(&s);
  surface f;
  solid inside;
  REQUIRE_OK(surface_create(&def, &f, &r));
  REQUIRE_OK(solid_create(&inside, &f));
  CHECK_OK(solid_find_border(&inside, 1e-3));
  CHECK_EQUAL(inside.border.count, f.triangle_count);
  solid_free(&inside);
  surface_free(&f);
  shape_free(&s);
}

/* A box with a fin, whose sides stay open: beside them winding numbers pass slowly from inside to
 * outside, and a sign follows from one beside it only as far as they are away from a half. */
static void open_fin(void)
{
  surface_report r;
  shape s = {0};
  const double from[3] = {0.0, 0.0, 0.0}, to[3] = {1.0, 1.0, 1.0};
  shape_box(&s, from, to, 4);
  const uint32_t a = shape_vertex(&s, 1.0, 0.5, 0.5), b = shape_vertex(&s, 1.0, 0.5, 0.75);
  shape_face(&s, a, shape_vertex(&s, 1.3, 0.5, 0.6), b);
  const abut_body_def def = shape_def(&s);
  surface f;
  solid inside;
  double values[21 * 21 * 21];
  const double origin[3] = {-0.4, -0.4, -0.4}, spacing = 0.1;
  const size_t size[3] = {21, 21, 21};
  size_t off = 0;
  REQUIRE_OK(surface_create(&def, &f, &r));
  CHECK_EQUAL(r.open_edges, 2);
  REQUIRE_OK(solid_create(&inside, &f));
  CHECK(inside.blur_radius > 0.1 && inside.blur_radius < 1.0);
  CHECK(near(inside.blur_centre[0], 1.15, 1e-12));
  solid_lattice(&inside, origin, spacing, size, values);
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    const double x[3] = {origin[0] + spacing * (double)(i / 441),
                         origin[1] + spacing * (double)(i / 21 % 21),
                         origin[2] + spacing * (double)(i % 21)};
    off += values[i] != solid_distance(&inside, x);
  }
  CHECK_EQUAL(off, 0);
  solid_free(&inside);
  surface_free(&f);
  shape_free(&s);
}

/* A box of which one edge has many corners, from which slivers run across two faces: nodes of a
 * lattice that lie on them take no sign from the last digit of a distance. */
static void corners_on_edge(void)
{
  enum { CORNERS = UNLESS_SANITIZED(4000, 400), SIDE = 41 };
  static double values[SIDE * SIDE * SIDE];
  static const size_t size[3] = {1, SIDE, SIDE};
  surface_report r;
  shape s = {0};
  uint32_t at[8];
  for (int i = 0; i < 8; ++i) {
    at[i] = shape_vertex(&s, i >> 2 & 1, i >> 1 & 1, i & 1);
  }
  shape_quad(&s, at[0], at[1], at[3], at[2]);
  shape_quad(&s, at[0], at[4], at[5], at[1]);
  shape_quad(&s, at[2], at[3], at[7], at[6]);
  shape_quad(&s, at[1], at[5], at[7], at[3]);
  shape_face(&s, at[5], at[6], at[7]);
  shape_face(&s, at[0], at[2], at[6]);
  for (uint32_t i = 0, from = at[4]; i < CORNERS; ++i) {
    const uint32_t to = i + 1 < CORNERS ? shape_vertex(&s, 1, (i + 1.0) / CORNERS, 0) : at[6];
    shape_face(&s, at[5], from, to);
    shape_face(&s, at[0], to, from);
    from = to;
  }
  surface f = made("box with corners on an edge", &s, 1.0, &r);
  solid inside;
  size_t off = 0;
  REQUIRE_OK(solid_create(&inside, &f));
  for (size_t i = 0; i < SIDE; ++i) { /* each layer alone, so that signs are asked for */
    const double origin[3] = {((double)i - 4.0) / 32.0, -0.125, -0.125};
    solid_lattice(&inside, origin, 1.0 / 32.0, size, values + i * SIDE * SIDE);
  }
  for (size_t i = 0; i < SIDE * SIDE * SIDE; ++i) {
    const double x[3] = {((double)(i / (SIDE * SIDE)) - 4.0) / 32.0,
                         ((double)(i / SIDE % SIDE) - 4.0) / 32.0,
                         ((double)(i % SIDE) - 4.0) / 32.0};
    const double d = box_distance((const double[3]){0, 0, 0}, (const double[3]){1, 1, 1}, x);
    off += !near(d == 0.0 ? fabs(values[i]) : values[i], d, 1e-9);
  }
  check(!off, "box with corners on an edge: %zu distances are off", off);
  CHECK(!atomic_load(&inside.overlaps));
  solid_free(&inside);
  surface_free(&f);
  shape_free(&s);
}

/* What encloses nothing, or holds no area, is refused. */
static void refusals(void)
{
  surface_report r;
  surface f;
  shape s = {0};
  for (uint32_t i = 0; i < 4; ++i) {
    shape_vertex(&s, i & 1, i >> 1, 1e-6 * (i == 3));
  }
  shape_face(&s, 0, 1, 2);
  shape_face(&s, 1, 3, 2);
  abut_body_def def = shape_def(&s);
  CHECK_EQUAL(surface_create(&def, &f, &r), ABUT_ERROR_BODY);
  CHECK(strstr(abut_last_error(), "volume") != NULL);
  shape_free(&s);
  /* A terrain, which a face across its rim would close. */
  const uint32_t n = 20;
  for (uint32_t i = 0; i < n * n; ++i) {
    const double x = (double)(i / n), y = (double)(i % n);
    shape_vertex(&s, x, y, 0.3 * sin(x) * cos(1.3 * y));
  }
  for (uint32_t i = 0; i + 1 < n; ++i) {
    for (uint32_t j = 0; j + 1 < n; ++j) {
      shape_quad(&s, i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1);
    }
  }
  def = shape_def(&s);
  CHECK_EQUAL(surface_create(&def, &f, &r), ABUT_ERROR_BODY);
  CHECK(strstr(abut_last_error(), "open sheet") != NULL);
  shape_free(&s);
  for (uint32_t i = 0; i < 3; ++i) {
    shape_vertex(&s, 1.0, 2.0, 3.0);
  }
  shape_face(&s, 0, 1, 2);
  def = shape_def(&s);
  CHECK_EQUAL(surface_create(&def, &f, &r), ABUT_ERROR_BODY);
  CHECK(strstr(abut_last_error(), "every face of the mesh has area 0") != NULL);
  shape_free(&s);
}

/* A face of five corners, one of them turned inwards, on both ends of a prism. */
static void polygons(void)
{
  static const double outline[5][2] = {{0, 0}, {2, 0}, {2, 2}, {1, 0.5}, {0, 2}};
  static const uint32_t sizes[7] = {5, 5, 4, 4, 4, 4, 4};
  uint32_t indices[30], at = 0;
  double vertices[30];
  for (uint32_t i = 0; i < 10; ++i) {
    vertices[3 * i] = outline[i % 5][0];
    vertices[3 * i + 1] = outline[i % 5][1];
    vertices[3 * i + 2] = i < 5 ? 0.0 : 1.0;
  }
  for (uint32_t i = 0; i < 5; ++i) {
    indices[at++] = 4 - i;
  }
  for (uint32_t i = 0; i < 5; ++i) {
    indices[at++] = 5 + i;
  }
  for (uint32_t i = 0; i < 5; ++i) {
    const uint32_t next = (i + 1) % 5;
    indices[at++] = i;
    indices[at++] = next;
    indices[at++] = 5 + next;
    indices[at++] = 5 + i;
  }
  abut_body_def def = abut_default_body_def();
  def.vertices = vertices;
  def.vertex_count = 10;
  def.face_sizes = sizes;
  def.face_indices = indices;
  def.face_count = 7;
  surface f;
  surface_report r;
  REQUIRE_OK(surface_create(&def, &f, &r));
  check(near(f.volume, 2.5, 1e-12), "prism: volume %g, not 2.5", f.volume);
  check(near(f.area, 5.0 + 2.0 + 2.0 + 2.0 + 2.0 * sqrt(3.25), 1e-12), "prism: area %g", f.area);
  CHECK_EQUAL(f.triangle_count, 16);
  surface_free(&f);
}

/* Triangles of all sizes, a good part of them long and thin or without area: the tree's floats may
 * not decide what is nearest. */
static void needles(void)
{
  uint64_t seed = 23;
  const double scales[3] = {1e-5, 1.0, 1e6};
  for (int c = 0; c < 3; ++c) {
    double corners[400][9], shift = c == 1 ? 30.0 : 0.0, worst = 0.0;
    tree whole, one;
    for (int i = 0; i < 400; ++i) {
      const double size = pow(10.0, -3.0 * random_uniform(&seed));
      const double width = i % 4 == 3 ? 0.0 : pow(10.0, -9.0 * random_uniform(&seed));
      for (int k = 0; k < 3; ++k) {
        const double along = size * (random_uniform(&seed) - 0.5);
        const double share = random_uniform(&seed);
        corners[i][k] = shift + random_uniform(&seed);
        corners[i][3 + k] = corners[i][k] + along;
        corners[i][6 + k] = corners[i][k] + share * along + width * size * random_uniform(&seed);
      }
      for (int k = 0; k < 9; ++k) {
        corners[i][k] *= scales[c];
      }
    }
    REQUIRE_OK(tree_of_corners(corners[0], 400, &whole));
    for (int i = 0; i < 200; ++i) {
      double x[3], least2 = HUGE_VAL;
      const double reach = i % 3 == 2 ? 1000.0 : 1.5;
      for (int k = 0; k < 3; ++k) {
        x[k] = scales[c] * (shift + reach * (random_uniform(&seed) - 0.25));
      }
      for (uint32_t t = 0; t < 400; ++t) {
        REQUIRE_OK(tree_of_corners(corners[t], 1, &one));
        least2 = fmin(least2, tree_nearest(&one, x, HUGE_VAL).distance2);
        tree_free(&one);
      }
      const nearest n = tree_nearest(&whole, x, HUGE_VAL);
      worst = fmax(worst, fabs(n.distance2 - least2) / least2);
      worst = fmax(worst, fabs(tree_nearest_from(&whole, x, 7).distance2 - least2) / least2);
    }
    check(worst == 0.0, "a nearest triangle is missed by %g", worst);
    tree_free(&whole);
  }
}

/* The tree against every triangle. */
static void trees(void)
{
  surface_report r;
  shape s = {0};
  const double centre[3] = {0.3, -0.2, 0.1};
  shape_ball(&s, centre, 0.7, 3);
  const abut_body_def def = shape_def(&s);
  surface f;
  tree whole, one;
  uint64_t seed = 11;
  double worst = 0.0, winding = 0.0;
  REQUIRE_OK(surface_create(&def, &f, &r));
  REQUIRE_OK(tree_create(&f, NULL, f.triangle_count, &whole));
  CHECK_EQUAL(f.triangle_count, 1280);
  for (int i = 0; i < 60; ++i) {
    double x[3], least2 = HUGE_VAL;
    for (int k = 0; k < 3; ++k) {
      x[k] = centre[k] + 2.4 * (random_uniform(&seed) - 0.5);
    }
    for (uint32_t t = 0; t < f.triangle_count; ++t) {
      REQUIRE_OK(tree_create(&f, &t, 1, &one));
      least2 = fmin(least2, tree_nearest(&one, x, HUGE_VAL).distance2);
      tree_free(&one);
    }
    const nearest n = tree_nearest(&whole, x, HUGE_VAL);
    double d2 = 0.0, from2 = 0.0;
    for (int k = 0; k < 3; ++k) {
      d2 += (n.point[k] - x[k]) * (n.point[k] - x[k]);
      from2 += (x[k] - centre[k]) * (x[k] - centre[k]);
    }
    worst = fmax(worst, fmax(fabs(d2 - least2), fabs(d2 - n.distance2)));
    CHECK(tree_nearest(&whole, x, 0.99 * least2).at == UINT32_MAX);
    if (fabs(sqrt(from2) - 0.7) > 0.05) {
      winding = fmax(winding, fabs(tree_winding(&whole, x) - (from2 < 0.49)));
    }
    /* A ray through the middle leaves on the other side. */
    const double d[3] = {(centre[0] - x[0]) / sqrt(from2), (centre[1] - x[1]) / sqrt(from2),
                         (centre[2] - x[2]) / sqrt(from2)};
    const double first = tree_cast(&whole, x, d, 1e-9, 10.0);
    const double meets = from2 < 0.49 ? sqrt(from2) + 0.7 : sqrt(from2) - 0.7;
    check(near(first, meets, 0.01), "a ray ends after %g, not %g", first, meets);
    CHECK(tree_cast(&whole, x, d, 1e-9, 0.9 * meets) == HUGE_VAL);
  }
  check(worst < 1e-14, "a squared distance is off by %g", worst);
  check(winding < 0.05, "a winding number is off by %g", winding); /* a half decides */
  tree_free(&whole);
  surface_free(&f);
  shape_free(&s);
}

int main(void)
{
  boxes();
  inside_out();
  holes();
  junctions();
  flat_faces();
  walls();
  smallest();
  many_cavities();
  cavities();
  overlaps();
  many_overlaps();
  apart();
  open_fin();
  corners_on_edge();
  refusals();
  polygons();
  trees();
  needles();
  return check_finish();
}
