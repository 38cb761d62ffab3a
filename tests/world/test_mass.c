/* Masses of closed meshes against closed forms: boxes, tetrahedra, spheres as polyhedra grow round;
 * moved, turned, reversed, added up; and what is refused. */
#include "support.h"
#include "scene/mass.h"
#include "scene/shape_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static void check_mass(const char *what, const mass *got, const mass *wanted, double tolerance)
{
  double size = 0.0;
  for (int i = 0; i < 9; i++) {
    size = fmax(size, fabs(wanted->inertia[i]));
  }
  check(fabs(got->mass - wanted->mass) <= tolerance * wanted->mass, "%s: mass %.17g, not %.17g",
        what, got->mass, wanted->mass);
  for (int k = 0; k < 3; k++) {
    const double reach = fmax(1.0, fabs(wanted->com[k]));
    check(fabs(got->com[k] - wanted->com[k]) <= tolerance * reach, "%s: com[%d] %.17g, not %.17g",
          what, k, got->com[k], wanted->com[k]);
  }
  for (int i = 0; i < 9; i++) {
    check(fabs(got->inertia[i] - wanted->inertia[i]) <= tolerance * size,
          "%s: inertia[%d] %.17g, not %.17g", what, i, got->inertia[i], wanted->inertia[i]);
  }
}

/* ---- closed forms ---- */

static mass box_mass(const double half[3], const double centre[3], double density)
{
  mass m = {.mass = density * 8.0 * half[0] * half[1] * half[2]};
  for (int k = 0; k < 3; k++) {
    const double a = half[(k + 1) % 3], b = half[(k + 2) % 3];
    m.com[k] = centre[k];
    m.inertia[4 * k] = m.mass / 3.0 * (a * a + b * b);
  }
  return m;
}

static void box_of(const double half[3], const double centre[3], arena *memory, abut_body_def *out)
{
  double lower[3], upper[3];
  for (int k = 0; k < 3; k++) {
    lower[k] = centre[k] - half[k];
    upper[k] = centre[k] + half[k];
  }
  REQUIRE_OK(make_box_mesh(lower, upper, memory, out));
}

static void boxes(void)
{
  static const double cases[][6] = {{0.5, 0.5, 0.5, 0, 0, 0},
                                    {0.1, 0.02, 0.3, 4, -5, 6},
                                    {1e-4, 2e-4, 3e-4, 0.001, 0, 0},
                                    {500, 20, 1e-3, -1000, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    arena memory = {0};
    abut_body_def def = {0};
    mass got;
    box_of(cases[i], cases[i] + 3, &memory, &def);
    REQUIRE_OK(mass_of_mesh(&def, 700.0, &got));
    const mass wanted = box_mass(cases[i], cases[i] + 3, 700.0);
    check_mass("a box", &got, &wanted, i < 3 ? 1e-13 : 1e-9); /* 1 mm at 1 km has 4 digits less */
    arena_free(&memory);
  }
}

/* The corner of a cube: mass 1/6, centre at a quarter, moments (3/80 + 3/80) m about it. */
static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const uint32_t threes[4] = {3, 3, 3, 3};
static const uint32_t corner_faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static abut_body_def tetrahedron(const uint32_t *faces, size_t count)
{
  return (abut_body_def){.vertices = corner,
                         .vertex_count = 4,
                         .face_sizes = threes,
                         .face_indices = faces,
                         .face_count = count};
}

static const mass corner_mass = {1.0 / 6.0,
                                 {0.25, 0.25, 0.25},
                                 {1.0 / 80, 1.0 / 480, 1.0 / 480, 1.0 / 480, 1.0 / 80, 1.0 / 480,
                                  1.0 / 480, 1.0 / 480, 1.0 / 80}};

static void tetrahedra(void)
{
  uint32_t reversed[12];
  mass got;
  abut_body_def def = tetrahedron(corner_faces, 4);
  REQUIRE_OK(mass_of_mesh(&def, 1.0, &got));
  check_mass("a tetrahedron", &got, &corner_mass, 1e-15);
  for (int i = 0; i < 12; i++) {
    reversed[i] = corner_faces[11 - i];
  }
  def = tetrahedron(reversed, 4);
  REQUIRE_OK(mass_of_mesh(&def, 1.0, &got));
  check_mass("a tetrahedron inside out", &got, &corner_mass, 1e-15);
}

/* A ball of rings: mass and inertia fall short by O(1/n^2), and two sizes tell the limit. */
static mass ball_mass(size_t n)
{
  enum { RINGS_MOST = 200 };
  double rings[RINGS_MOST][2];
  arena memory = {0};
  abut_body_def def = {0};
  mass m;
  require(n <= RINGS_MOST);
  for (size_t i = 0; i < n; i++) {
    const double angle = PI * ((double)(i + 1) / (double)(n + 1) - 0.5);
    rings[i][0] = cos(angle);
    rings[i][1] = sin(angle);
  }
  REQUIRE_OK(make_turned_mesh(rings, n, 1.0, &memory, &def));
  REQUIRE_OK(mass_of_mesh(&def, 1.0, &m));
  arena_free(&memory);
  return m;
}

/* Of 32 sides about z: the polygon's area and second moments stand for the circle's. */
static void balls(void)
{
  const double n = SHAPE_SIDES, s = sin(2.0 * PI / n), c = cos(2.0 * PI / n);
  const double area = n / 2.0 * s / PI, moment = n / 12.0 * s * (2.0 + c) / (PI / 2.0);
  const mass m[2] = {ball_mass(99), ball_mass(199)};
  mass limit = m[1];
  limit.mass += (m[1].mass - m[0].mass) / 3.0;
  for (int i = 0; i < 9; i++) {
    limit.inertia[i] += (m[1].inertia[i] - m[0].inertia[i]) / 3.0;
  }
  mass wanted = {.mass = 4.0 / 3.0 * PI * area};
  const double z2 = 4.0 / 15.0 * PI * area, x2 = 4.0 / 15.0 * PI * moment;
  wanted.inertia[0] = wanted.inertia[4] = z2 + x2;
  wanted.inertia[8] = 2.0 * x2;
  check_mass("the limit of balls", &limit, &wanted, 1e-7);
  CHECK(m[0].mass < m[1].mass && m[1].mass < wanted.mass);
}

/* ---- moved, and added up ---- */

static void moved(void)
{
  const double quaternion[4] = {0.5, -0.5, 0.1, 0.7}, position[3] = {3, -2, 5};
  double length = 0.0, q[4], r[9], vertices[12];
  for (int k = 0; k < 4; k++) {
    length += quaternion[k] * quaternion[k];
  }
  for (int k = 0; k < 4; k++) {
    q[k] = quaternion[k] / sqrt(length);
  }
  for (int k = 0; k < 3; k++) { /* the columns are where unit vectors go */
    mass unit = {.mass = 1.0};
    unit.com[k] = 1.0;
    const mass turned = mass_moved(&unit, (const double[3]){0, 0, 0}, q);
    for (int i = 0; i < 3; i++) {
      r[3 * i + k] = turned.com[i];
    }
  }
  const double det = r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
                     r[2] * (r[3] * r[7] - r[4] * r[6]);
  CHECK(fabs(det - 1.0) < 1e-14);
  CHECK(fabs(r[7] - 2.0 * (q[2] * q[3] + q[0] * q[1])) < 1e-15);
  for (int i = 0; i < 12; i++) {
    const double *x = corner + i / 3 * 3, *row = r + i % 3 * 3;
    vertices[i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + position[i % 3];
  }
  abut_body_def def = tetrahedron(corner_faces, 4);
  def.vertices = vertices;
  mass got;
  REQUIRE_OK(mass_of_mesh(&def, 1.0, &got));
  const mass wanted = mass_moved(&corner_mass, position, q);
  check_mass("a tetrahedron elsewhere", &got, &wanted, 1e-14);
}

/* Two halves of a box are the box; what overlaps counts twice. */
static void sums(void)
{
  const double half[3] = {0.5, 0.2, 0.3}, whole[3] = {1.0, 0.2, 0.3};
  const double left[3] = {-0.5 + 7, 1, 2}, right[3] = {0.5 + 7, 1, 2}, middle[3] = {7, 1, 2};
  const mass a = box_mass(half, left, 10.0), b = box_mass(half, right, 10.0);
  const mass sum = mass_sum(&a, &b), wanted = box_mass(whole, middle, 10.0);
  check_mass("two halves", &sum, &wanted, 1e-14);
  const mass twice = mass_sum(&a, &a), dense = box_mass(half, left, 20.0);
  check_mass("a box twice", &twice, &dense, 1e-14);
  const mass none = {0}, same = mass_sum(&none, &a);
  check_mass("a box and nothing", &same, &a, 1e-15);
}

/* ---- several shells ---- */

#define SHELLS 3

/* Boxes in one mesh, each with 8 corners and 6 faces of its own; those whose bit is set run the
 * other way round. */
static void boxes_of(const double (*box)[6], size_t count, unsigned reversed, arena *memory,
                     abut_body_def *out)
{
  void *vertices, *sizes, *indices;
  REQUIRE_OK(arena_allocate(memory, &vertices, 8 * count, 3 * sizeof(double)));
  REQUIRE_OK(arena_allocate(memory, &sizes, 6 * count, sizeof(uint32_t)));
  REQUIRE_OK(arena_allocate(memory, &indices, 24 * count, sizeof(uint32_t)));
  for (size_t b = 0; b < count; ++b) {
    abut_body_def one = {0};
    box_of(box[b], box[b] + 3, memory, &one);
    require(one.vertex_count == 8 && one.face_count == 6);
    memcpy((double *)vertices + 24 * b, one.vertices, 24 * sizeof(double));
    for (size_t i = 0; i < 24; ++i) {
      const size_t from = reversed >> b & 1 ? 23 - i : i;
      ((uint32_t *)indices)[24 * b + i] = one.face_indices[from] + (uint32_t)(8 * b);
    }
    for (size_t i = 0; i < 6; ++i) {
      ((uint32_t *)sizes)[6 * b + i] = 4;
    }
  }
  *out = (abut_body_def){.vertices = vertices,
                         .vertex_count = 8 * count,
                         .face_sizes = sizes,
                         .face_indices = indices,
                         .face_count = 6 * count};
}

/* The solid of several boxes is a sum of boxes, some of which are taken away. */
static void shells(void)
{
  static const struct {
    const char *what;
    size_t count;
    unsigned reversed;
    double box[SHELLS][6];
    size_t parts;
    double part[4][6], sign[4];
  } cases[] = {
    {"apart",
     2,
     0,
     {{1, 1, 1, 0, 0, 0}, {1, 1, 0.5, 5, 0, 0}},
     2,
     {{1, 1, 1, 0, 0, 0}, {1, 1, 0.5, 5, 0, 0}},
     {1, 1}},
    {"apart, one inside out",
     2,
     2,
     {{1, 1, 1, 0, 0, 0}, {1, 1, 0.5, 5, 0, 0}},
     2,
     {{1, 1, 1, 0, 0, 0}, {1, 1, 0.5, 5, 0, 0}},
     {1, 1}},
    {"overlapping in line",
     2,
     0,
     {{1, 0.5, 0.5, 0, 0, 0}, {1, 0.5, 0.5, 1, 0, 0}},
     1,
     {{1.5, 0.5, 0.5, 0.5, 0, 0}},
     {1}},
    {"overlapping",
     2,
     0,
     {{1, 1, 1, 0, 0, 0}, {1, 1, 1, 1, 0.5, 1.5}},
     3,
     {{1, 1, 1, 0, 0, 0}, {1, 1, 1, 1, 0.5, 1.5}, {0.5, 0.75, 0.25, 0.5, 0.25, 0.75}},
     {1, 1, -1}},
    {"overlapping by a hundredth",
     2,
     0,
     {{0.5, 1, 1, 0, 0, 0}, {0.5, 1, 1, 0.995, 0.1, 0.1}},
     3,
     {{0.5, 1, 1, 0, 0, 0}, {0.5, 1, 1, 0.995, 0.1, 0.1}, {0.0025, 0.95, 0.95, 0.4975, 0.05, 0.05}},
     {1, 1, -1}},
    {"there twice", 2, 0, {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}}, 1, {{1, 2, 3, 4, 5, 6}}, {1}},
    {"nested",
     2,
     0,
     {{1, 1, 1, 0, 0, 0}, {0.5, 0.5, 0.5, 0.2, 0, 0}},
     1,
     {{1, 1, 1, 0, 0, 0}},
     {1}},
    {"with a cavity",
     2,
     2,
     {{1, 1, 1, 0, 0, 0}, {0.5, 0.5, 0.5, 0.2, 0, 0}},
     2,
     {{1, 1, 1, 0, 0, 0}, {0.5, 0.5, 0.5, 0.2, 0, 0}},
     {1, -1}},
    {"in a cavity",
     3,
     2,
     {{1, 1, 1, 0, 0, 0}, {0.5, 0.5, 0.5, 0, 0, 0}, {0.1, 0.2, 0.3, 0.1, 0, 0}},
     3,
     {{1, 1, 1, 0, 0, 0}, {0.5, 0.5, 0.5, 0, 0, 0}, {0.1, 0.2, 0.3, 0.1, 0, 0}},
     {1, -1, 1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    arena memory = {0};
    abut_body_def def;
    mass got, wanted = {0};
    boxes_of(cases[i].box, cases[i].count, cases[i].reversed, &memory, &def);
    REQUIRE_OK(mass_of_mesh(&def, 700.0, &got));
    for (size_t k = 0; k < cases[i].parts; ++k) {
      const mass one = box_mass(cases[i].part[k], cases[i].part[k] + 3, 700.0 * cases[i].sign[k]);
      wanted = k ? mass_sum(&wanted, &one) : one;
    }
    check_mass(cases[i].what, &got, &wanted, 1e-9);
    arena_free(&memory);
  }
}

/* Two balls that overlap, as polyhedra: the same sum over a fine lattice that asks the polyhedra
 * where a place lies is slow, so that it is the lens of round balls that says what is right, to
 * what they lack. */
static void balls_overlap(void)
{
  enum { RINGS = 120 };
  double rings[RINGS][2];
  const double apart = 1.2; /* of radius 1 */
  arena memory = {0};
  abut_body_def one = {0};
  mass got, single;
  void *vertices, *sizes, *indices;
  for (size_t i = 0; i < RINGS; ++i) {
    const double angle = PI * ((double)(i + 1) / (RINGS + 1) - 0.5);
    rings[i][0] = cos(angle);
    rings[i][1] = sin(angle);
  }
  REQUIRE_OK(make_turned_mesh(rings, RINGS, 1.0, &memory, &one));
  REQUIRE_OK(mass_of_mesh(&one, 1.0, &single));
  size_t corners = 0;
  for (size_t i = 0; i < one.face_count; ++i) {
    corners += one.face_sizes[i];
  }
  REQUIRE_OK(arena_allocate(&memory, &vertices, 2 * one.vertex_count, 3 * sizeof(double)));
  REQUIRE_OK(arena_allocate(&memory, &sizes, 2 * one.face_count, sizeof(uint32_t)));
  REQUIRE_OK(arena_allocate(&memory, &indices, 2 * corners, sizeof(uint32_t)));
  for (size_t i = 0; i < 6 * one.vertex_count;
       ++i) { /* along z, so that both polygons' sections are alike */
    const size_t own = 3 * one.vertex_count;
    ((double *)vertices)[i] = one.vertices[i % own] + (i >= own && i % 3 == 2 ? apart : 0.0);
  }
  for (size_t i = 0; i < 2 * one.face_count; ++i) {
    ((uint32_t *)sizes)[i] = one.face_sizes[i % one.face_count];
  }
  for (size_t i = 0; i < 2 * corners; ++i) {
    ((uint32_t *)indices)[i] =
      one.face_indices[i % corners] + (uint32_t)(i >= corners ? one.vertex_count : 0);
  }
  const abut_body_def def = {.vertices = vertices,
                             .vertex_count = 2 * one.vertex_count,
                             .face_sizes = sizes,
                             .face_indices = indices,
                             .face_count = 2 * one.face_count};
  REQUIRE_OK(mass_of_mesh(&def, 1.0, &got));
  const double lens =
    PI * (2.0 + apart / 2.0) * (1.0 - apart / 2.0) * (1.0 - apart / 2.0) * 2.0 / 3.0;
  const double share = single.mass / (4.0 / 3.0 * PI);
  check(fabs(got.mass - (2.0 * single.mass - lens * share)) < 5e-4 * got.mass,
        "two balls weigh %g, not %g", got.mass, 2.0 * single.mass - lens * share);
  CHECK(fabs(got.com[2] - apart / 2.0) < 1e-5 && fabs(got.com[0]) < 1e-5);
  arena_free(&memory);
}

/* ---- refusals ---- */

static void refuse(const uint32_t *faces, size_t count, const double *vertices, const char *text)
{
  abut_body_def def = tetrahedron(faces, count);
  mass m;
  def.vertices = vertices;
  expect_failure(mass_of_mesh(&def, 1.0, &m), ABUT_ERROR_BODY, "", text);
}

static void refusals(void)
{
  static const uint32_t turned[12] = {0, 1, 2, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  static const uint32_t doubled[12] = {0, 2, 1, 0, 2, 1, 0, 1, 2, 0, 1, 2};
  static const uint32_t sheet[6] = {0, 2, 1, 0, 1, 2};
  static const double flat[12] = {0.1, 0.2, 0.3, 1.7, 0.2, 0.9, 0.4, 1.1, 0.7, 2.0, 1.1, 1.3};
  /* Of a face that is there, not of the one that is missing. */
  refuse(corner_faces, 3, corner, "the edge from vertex 2 to vertex 1");
  refuse(turned, 4, corner, "is not closed");
  refuse(doubled, 4, corner, "is not closed");
  refuse(sheet, 2, corner, "the mesh encloses no volume");
  refuse(corner_faces, 4, flat, "the mesh encloses no volume"); /* a parallelogram, and rounding */
  refuse(corner_faces, 0, corner,
         "its mesh has no faces: name a mesh with faces by `surface` in the body file, or give the "
         "link mass, com and inertia");
}

int main(void)
{
  boxes();
  tetrahedra();
  balls();
  moved();
  sums();
  shells();
  balls_overlap();
  refusals();
  return check_finish();
}
