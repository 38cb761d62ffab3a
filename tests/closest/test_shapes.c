/* Shapes on the host: what is refused, what is packed, how lists are kept, and files of shapes. */
#include "io/shapes_file.h"
#include "query/shape.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context wide, narrow; /* in double, in float */

static const double cube[] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                              -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1};

static abut_shape_def def_of(abut_shape_kind kind, double a, double b, double c)
{
  abut_shape_def def = abut_default_shape_def();
  def.kind = kind;
  def.size[0] = a;
  def.size[1] = b;
  def.size[2] = c;
  if (kind == ABUT_SHAPE_HULL) {
    def.vertices = cube;
    def.vertex_count = 8;
  }
  return def;
}

static abut_shape make(abut_context c, const abut_shape_def *def)
{
  abut_shape made = {0, 0};
  REQUIRE_OK(abut_create_shape(c, def, &made));
  return made;
}

static abut_shape make_kind(abut_context c, abut_shape_kind kind, double a, double b, double h)
{
  const abut_shape_def def = def_of(kind, a, b, h);
  return make(c, &def);
}

static bool near_to(double got, double wanted)
{
  return fabs(got - wanted) <= 4e-16 * fabs(wanted);
}

/* ---- what is refused ---- */

static void refuses(const abut_shape_def *def, const char *part)
{
  abut_shape made;
  expect_failure(abut_create_shape(wide, def, &made), ABUT_ERROR_ARGUMENT, "", part);
}

static void test_refused_hulls(void)
{
  double vertices[6] = {0, 0, 0, 1, 2, 3};
  abut_shape_def def = abut_default_shape_def();
  refuses(&def, "a hull needs 1 to 16777216 vertices: the count is 0, and the array is NULL");
  def.vertex_count = 2;
  refuses(&def, "NULL");
  def.vertices = vertices;
  def.vertex_count = 0;
  refuses(&def, "the count is 0");
  def.vertex_count = ((size_t)1 << 24) + 1;
  refuses(&def,
          "a hull needs 1 to 16777216 vertices: the count is 16777217, and the array is given");
  def.vertex_count = 2;
  vertices[4] = NAN;
  refuses(&def, "vertex 1 of the hull is not within");
  vertices[4] = 1.0001e6;
  refuses(&def, "vertex 1 of the hull is not within");
  vertices[4] = -INFINITY;
  refuses(&def, "vertex 1 of the hull is not within");
  vertices[4] = 2;
  def.kind = (abut_shape_kind)8;
  refuses(&def, "unknown kind of shapes 8");
  def.kind = (abut_shape_kind)-1;
  refuses(&def, "unknown kind of shapes -1");
}

static void test_refused_sizes(void)
{
  static const struct {
    abut_shape_kind kind;
    size_t sizes;
    double least; /* that is allowed */
    const char *name;
  } kinds[] = {
    {ABUT_SHAPE_SPHERE, 1, 0.0, "sphere"},
    {ABUT_SHAPE_BOX, 3, 0.0, "box"},
    {ABUT_SHAPE_ELLIPSOID, 3, 1e-9, "ellipsoid"},
    {ABUT_SHAPE_CAPSULE, 2, 0.0, "capsule"},
    {ABUT_SHAPE_CYLINDER, 2, 0.0, "cylinder"},
    {ABUT_SHAPE_CONE, 2, 0.0, "cone"},
    {ABUT_SHAPE_SUPERQUADRIC, 3, 1e-9, "superquadric"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    for (size_t k = 0; k < kinds[i].sizes; ++k) {
      const double wrong[] = {-1e-300, NAN, 1.0001e6, INFINITY, 0.99e-9};
      char text[64];
      snprintf(text, sizeof text, "size %zu of the %s is", k, kinds[i].name);
      abut_shape_def def = def_of(kinds[i].kind, 1, 1, 1);
      for (size_t w = 0; w < (kinds[i].least > 0.0 ? 5 : 4); ++w) {
        def.size[k] = wrong[w];
        refuses(&def, text);
      }
      def.size[k] = kinds[i].least;
      CHECK_OK(abut_destroy_shape(make(wide, &def)));
      def.size[k] = 1e6;
      CHECK_OK(abut_destroy_shape(make(wide, &def)));
    }
  }
}

static void test_refused_others(void)
{
  static const double wrong_exponents[] = {0.0999, 1.9001, 0, -1, NAN, INFINITY};
  for (size_t i = 0; i < 6; ++i) {
    for (size_t k = 0; k < 2; ++k) {
      abut_shape_def def = def_of(ABUT_SHAPE_SUPERQUADRIC, 1, 1, 1);
      def.exponents[k] = wrong_exponents[i];
      refuses(&def, k ? "exponent 1 of the superquadric is" : "exponent 0 of the superquadric is");
    }
  }
  abut_shape_def def = def_of(ABUT_SHAPE_HULL, 0, 0, 0);
  const double wrong_radii[] = {-1e-9, NAN, 2e6, INFINITY};
  for (size_t i = 0; i < 4; ++i) {
    def.radius = wrong_radii[i];
    refuses(&def, "radius of the hull is");
  }
  def.radius = 0;
  def.position[2] = -1.1e6;
  refuses(&def, "position of the hull is not within");
  def.position[2] = NAN;
  refuses(&def, "position of the hull is not within");
  def.position[2] = 0;
  def.quaternion[0] = 0;
  refuses(&def, "quaternion of the hull has length 0 or is not finite");
  def.quaternion[1] = INFINITY;
  refuses(&def, "quaternion of the hull has length 0 or is not finite");
  def.quaternion[1] = NAN;
  refuses(&def, "quaternion of the hull has length 0 or is not finite");
  def.quaternion[1] = 1;
  def.cookie = 0;
  refuses(&def, "abut_default_shape_def");
}

static void test_refused_calls(void)
{
  const abut_context none = {0, 0};
  const abut_shape null = {0, 0};
  const abut_shape_def def = def_of(ABUT_SHAPE_SPHERE, 1, 0, 0);
  abut_shape made = make(wide, &def);
  abut_shape_info info;
  double vertices[3];
  expect_failure(abut_create_shape(none, &def, &made), ABUT_ERROR_HANDLE, "", "null");
  expect_failure(abut_create_shape(wide, NULL, &made), ABUT_ERROR_ARGUMENT, "", "definition");
  expect_failure(abut_create_shape(wide, &def, NULL), ABUT_ERROR_ARGUMENT, "",
                 "the handle is NULL");
  expect_failure(abut_destroy_shape(null), ABUT_ERROR_HANDLE, "", "shape handle is null");
  expect_failure(abut_get_shape_info(null, &info), ABUT_ERROR_HANDLE, "", "null");
  expect_failure(abut_get_shape_info(made, NULL), ABUT_ERROR_ARGUMENT, "", "a place");
  expect_failure(abut_get_shape_vertices(null, vertices), ABUT_ERROR_HANDLE, "", "null");
  expect_failure(abut_get_shape_vertices(made, NULL), ABUT_ERROR_ARGUMENT, "", "a place");
  CHECK_OK(abut_get_shape_vertices(made, vertices)); /* a sphere has none */
  CHECK_OK(abut_destroy_shape(made));
  expect_failure(abut_destroy_shape(made), ABUT_ERROR_HANDLE, "", "shape handle is stale");
  expect_failure(abut_get_shape_info(made, &info), ABUT_ERROR_HANDLE, "", "stale");
}

/* ---- what is packed ---- */

/* A kind's record: its radius, sizes, and extents without the definition's radius. */
static void check_record(const abut_shape_def *def, int kind, double radius, const double size[3],
                         const double extents[3])
{
  const abut_shape made = make(wide, def);
  const shape *s = shape_get(made);
  const double *e = extents, more = 2.0 * def->radius;
  const double diagonal = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
  const double span = sqrt((e[0] + more) * (e[0] + more) + (e[1] + more) * (e[1] + more) +
                           (e[2] + more) * (e[2] + more));
  abut_shape_info info;
  CHECK_OK(abut_get_shape_info(made, &info));
  CHECK_EQUAL(s->head[SHAPE_KIND], kind);
  CHECK(near_to(s->record[SHAPE_RADIUS], radius));
  CHECK(!memcmp(s->record + SHAPE_SIZE, size, 3 * sizeof *size));
  CHECK(near_to(s->record[SHAPE_DIAGONAL], diagonal) && info.diagonal == s->record[SHAPE_DIAGONAL]);
  CHECK(near_to(s->record[SHAPE_SPAN], span) && info.span == s->record[SHAPE_SPAN]);
  CHECK_EQUAL(info.kind, def->kind);
  CHECK_EQUAL(info.dimensions, 3);
  CHECK_EQUAL(info.vertices, def->kind == ABUT_SHAPE_BOX ? 8 : 0);
  CHECK_OK(abut_destroy_shape(made));
}

#define TRIPLE(a, b, c) ((const double[3]){a, b, c})

static void test_records(void)
{
  for (int rounded = 0; rounded < 2; ++rounded) {
    const double radius = rounded ? 0.25 : 0.0;
    static const struct {
      abut_shape_kind kind;
      int packed;
      double given[3], own, size[3], extents[3];
    } cases[] = {
      {ABUT_SHAPE_SPHERE, SHAPE_POINT, {0.5, 9, 9}, 0.5, {0, 0, 0}, {1, 1, 1}},
      {ABUT_SHAPE_BOX, SHAPE_BOX, {1, 2, 3}, 0, {1, 2, 3}, {2, 4, 6}},
      {ABUT_SHAPE_ELLIPSOID, SHAPE_ELLIPSOID, {1, 2, 3}, 0, {1, 2, 3}, {2, 4, 6}},
      {ABUT_SHAPE_CAPSULE, SHAPE_CAPSULE, {0.5, 2, 9}, 0.5, {2, 0, 0}, {1, 1, 5}},
      {ABUT_SHAPE_CYLINDER, SHAPE_CYLINDER, {0.5, 2, 9}, 0, {0.5, 2, 0}, {1, 1, 4}},
      {ABUT_SHAPE_CONE, SHAPE_CONE, {0.5, 2, 9}, 0, {0.5, 2, 0}, {1, 1, 4}},
      {ABUT_SHAPE_SUPERQUADRIC, SHAPE_SUPERQUADRIC, {1, 2, 3}, 0, {1, 2, 3}, {2, 4, 6}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
      abut_shape_def def =
        def_of(cases[i].kind, cases[i].given[0], cases[i].given[1], cases[i].given[2]);
      def.radius = radius;
      check_record(&def, cases[i].packed, radius + cases[i].own, cases[i].size, cases[i].extents);
    }
  }
  abut_shape_def def = def_of(ABUT_SHAPE_SUPERQUADRIC, 1, 1, 1);
  def.exponents[0] = 0.5;
  def.exponents[1] = 1.75;
  const abut_shape made = make(wide, &def);
  CHECK(near_to(shape_get(made)->record[SHAPE_EXPONENTS], 4.0 / 3.0));
  CHECK(near_to(shape_get(made)->record[SHAPE_EXPONENTS + 1], 8.0));
  CHECK_OK(abut_destroy_shape(made));
}

/* A quarter turn around z, of a quaternion of length 2, and a hull away from its own origin. */
static void test_frame(void)
{
  double vertices[24], back[24];
  abut_shape_def def = def_of(ABUT_SHAPE_HULL, 0, 0, 0);
  def.vertices = vertices;
  for (size_t i = 0; i < 24; ++i) {
    vertices[i] = cube[i] + (i % 3 == 0 ? 5.0 : i % 3 == 1 ? 7.0 : -1.0);
  }
  def.quaternion[0] = def.quaternion[3] = sqrt(2.0);
  def.position[0] = 100.0;
  const abut_shape made = make(wide, &def);
  const double *r = shape_get(made)->record;
  const double turned[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, offset[3] = {93, 5, -1};
  for (int i = 0; i < 9; ++i) {
    CHECK(fabs(r[SHAPE_ROTATION + i] - turned[i]) < 1e-15);
  }
  for (int k = 0; k < 3; ++k) {
    CHECK(fabs(r[SHAPE_OFFSET + k] - offset[k]) < 1e-13);
  }
  CHECK(near_to(r[SHAPE_DIAGONAL], sqrt(12.0)));
  CHECK_OK(abut_get_shape_vertices(made, back));
  CHECK(!memcmp(back, vertices, sizeof back)); /* to the bit */
  CHECK_OK(abut_destroy_shape(made));
}

/* A hull leaves out what is inside, and tells how flat it is. */
static void test_hull_info(void)
{
  static const double set[] = {0, 0, 0, 4, 0, 0, 1, 1, 0, 0, 4, 0, 0, 0, 0, 4, 4, 0, 2, 2, 0};
  static const size_t dimensions[] = {0, 1, 2, 2, 2, 2, 2};
  abut_shape_info info;
  double back[12];
  abut_shape_def def = abut_default_shape_def();
  def.vertices = set;
  def.radius = 0.5;
  for (size_t count = 1; count <= 7; ++count) {
    def.vertex_count = count;
    const abut_shape made = make(wide, &def);
    CHECK_OK(abut_get_shape_info(made, &info));
    CHECK_EQUAL(info.dimensions, dimensions[count - 1]);
    if (count == 7) {
      CHECK_EQUAL(info.vertices, 4);
      CHECK(near_to(info.diagonal, sqrt(32.0)) && near_to(info.span, sqrt(51.0)));
      CHECK_OK(abut_get_shape_vertices(made, back));
      CHECK(back[3] == 4 && back[4] == 0 && back[7] == 4 && back[9] == 4 && back[10] == 4);
    }
    CHECK_OK(abut_destroy_shape(made));
  }
}

/* A box has corners by bits, and 18 edges and diagonals. */
static void test_box(void)
{
  double back[24];
  const abut_shape made = make_kind(wide, ABUT_SHAPE_BOX, 1, 1, 1);
  const shape *s = shape_get(made);
  CHECK_OK(abut_get_shape_vertices(made, back));
  CHECK(!memcmp(back, cube, sizeof back));
  CHECK_EQUAL(s->head[SHAPE_COUNT], 8);
  CHECK_EQUAL(s->head[SHAPE_PADDED], 16);
  require(CHECK_EQUAL(s->ring_ints, 9 + 36) && CHECK_EQUAL(s->rings[8], 9 + 36));
  for (int i = 0; i < 8; ++i) {
    int edges = 0;
    for (int k = s->rings[i]; k < s->rings[i + 1]; ++k) {
      const int bits = i ^ s->rings[k];
      edges += bits == 1 || bits == 2 || bits == 4;
      CHECK(bits > 0 && bits < 7);
    }
    CHECK_EQUAL(edges, 3);
  }
  CHECK_OK(abut_destroy_shape(made));
}

/* ---- lists ---- */

static context *of(abut_context c)
{
  context *found = context_get(c);
  REQUIRE(found);
  return found;
}

static void check_list(abut_context c, const abut_shape *shapes, size_t count)
{
  shape_list *l;
  REQUIRE_OK(shape_list_of(of(c), shapes, count, &l));
  const size_t size = context_real_bytes(of(c));
  const abut_precision precision = size == 8 ? ABUT_FLOAT64 : ABUT_FLOAT32;
  size_t most = 0, ring = count * SHAPE_INTS;
  CHECK_EQUAL(l->numbers.size, size);
  for (size_t i = 0; i < count; ++i) {
    const shape *s = shape_get(shapes[i]);
    const int *head = l->ints + i * SHAPE_INTS, padding = head[SHAPE_PADDED];
    CHECK_EQUAL(head[SHAPE_KIND], s->head[SHAPE_KIND]);
    CHECK_EQUAL(head[SHAPE_COUNT], s->info.vertices);
    CHECK(padding % SHAPE_PAD == 0 && padding >= head[SHAPE_COUNT] &&
          padding < head[SHAPE_COUNT] + SHAPE_PAD);
    CHECK(head[SHAPE_PLANES] % SHAPE_PAD == 0 && head[SHAPE_PLANES] >= (int)(count * SHAPE_REALS));
    CHECK(head[SHAPE_PLANES] + 3 * padding <= (int)l->numbers.count);
    CHECK_EQUAL(head[SHAPE_RINGS], ring);
    for (int k = 0; k < SHAPE_REALS; ++k) {
      const double wanted = s->record[k];
      CHECK(real_at(l->numbers.data, precision, (size_t)(head[SHAPE_RECORD] + k)) ==
            (size == 8 ? wanted : (double)(float)wanted));
    }
    for (int k = 0; k < 3 * padding; ++k) {
      const int vertex = k % padding < head[SHAPE_COUNT] ? k % padding : 0;
      const double wanted = s->planes[k / padding * padding + vertex];
      CHECK(real_at(l->numbers.data, precision, (size_t)(head[SHAPE_PLANES] + k)) ==
            (size == 8 ? wanted : (double)(float)wanted));
    }
    CHECK(!s->ring_ints || !memcmp(l->ints + ring, s->rings, s->ring_ints * sizeof(int)));
    ring += s->ring_ints;
    most = s->info.vertices > most ? s->info.vertices : most;
  }
  CHECK_EQUAL(l->ints_count, ring);
  CHECK_EQUAL(l->vertices_most, most);
  CHECK_OK(shape_list_on(l, context_first(of(c))));
  CHECK(l->ints_on[context_first(of(c))] && l->numbers_on[context_first(of(c))]);
  CHECK_OK(shape_list_on(l, context_first(of(c))));
}

static void test_lists(abut_context c)
{
  abut_shape shapes[8];
  shape_list *first, *again;
  shapes[0] = make_kind(c, ABUT_SHAPE_SPHERE, 0.5, 0, 0);
  shapes[1] = make_kind(c, ABUT_SHAPE_HULL, 0, 0, 0);
  shapes[2] = make_kind(c, ABUT_SHAPE_CONE, 0.1, 0.3, 0);
  shapes[3] = make_kind(c, ABUT_SHAPE_BOX, 0.1, 0.2, 0.3);
  shapes[4] = make_kind(c, ABUT_SHAPE_SUPERQUADRIC, 0.1, 0.2, 0.3);
  shapes[5] = shapes[1]; /* twice */
  check_list(c, shapes, 6);
  check_list(c, shapes, 1);
  check_list(c, shapes + 1, 1);
  REQUIRE_OK(shape_list_of(of(c), shapes, 6, &first));
  REQUIRE_OK(shape_list_of(of(c), shapes, 6, &again));
  CHECK(first == again);
  REQUIRE_OK(shape_list_of(of(c), shapes, 5, &again));
  CHECK(first != again);
  CHECK_OK(abut_destroy_shape(shapes[1]));
  expect_failure(shape_list_of(of(c), shapes, 6, &again), ABUT_ERROR_HANDLE, "",
                 "index 1 is stale");
  const abut_shape old = shapes[1];
  shapes[1] = shapes[5] = make_kind(c, ABUT_SHAPE_SPHERE, 7, 0, 0);
  CHECK(old.index == shapes[1].index && old.generation != shapes[1].generation);
  check_list(c, shapes, 6);
  for (int i = 0; i < 5; ++i) {
    CHECK_OK(abut_destroy_shape(shapes[i]));
  }
}

static size_t lists_of(abut_context c)
{
  size_t count = 0;
  for (const owned *o = of(c)->newest; o; o = o->next) {
    count += o->pool == &shape_list_pool;
  }
  return count;
}

/* So many lists are kept; the one that was not asked for the longest goes, unless it is held. */
static void test_kept_lists(void)
{
  enum { SHAPES = SHAPE_LISTS_MOST + 3 };
  abut_shape shapes[SHAPES];
  shape_list *lists[SHAPES], *again;
  for (size_t i = 0; i < SHAPES; ++i) {
    shapes[i] = make_kind(wide, ABUT_SHAPE_SPHERE, 1, 0, 0);
  }
  for (size_t i = 0; i < SHAPE_LISTS_MOST; ++i) {
    REQUIRE_OK(shape_list_of(of(wide), shapes + i, 1, &lists[i]));
  }
  CHECK_EQUAL(lists_of(wide), SHAPE_LISTS_MOST);
  shape_list_hold(lists[1]);
  REQUIRE_OK(shape_list_of(of(wide), shapes, 1, &again)); /* makes 2 the oldest that is not held */
  CHECK(again == lists[0]);
  REQUIRE_OK(shape_list_of(of(wide), shapes + 8, 1, &lists[8]));
  CHECK_EQUAL(lists_of(wide), SHAPE_LISTS_MOST);
  CHECK_EQUAL(shape_get(shapes[2])->lists, 0);
  CHECK_EQUAL(shape_get(shapes[1])->lists, 1);
  shape_list_let_go(lists[1]);
  REQUIRE_OK(shape_list_of(of(wide), shapes + 9, 1, &lists[9]));
  CHECK_EQUAL(shape_get(shapes[1])->lists, 0);
  CHECK_EQUAL(shape_get(shapes[0])->lists, 1);
  for (size_t i = 0; i < SHAPES; ++i) {
    CHECK_OK(abut_destroy_shape(shapes[i]));
  }
  CHECK_EQUAL(lists_of(wide), 0);
}

static void test_refused_lists(void)
{
  const abut_shape there = make_kind(wide, ABUT_SHAPE_SPHERE, 1, 0, 0);
  const abut_shape other = make_kind(narrow, ABUT_SHAPE_SPHERE, 1, 0, 0);
  const abut_shape mixed[3] = {there, there, other}, none[2] = {there, {0, 0}};
  shape_list *l;
  expect_failure(shape_list_of(of(wide), mixed, 3, &l), ABUT_ERROR_HANDLE, "",
                 "the shape at index 2 belongs to another context");
  expect_failure(shape_list_of(of(wide), none, 2, &l), ABUT_ERROR_HANDLE, "", "index 1 is null");
  expect_failure(shape_list_of(of(wide), mixed, 0, &l), ABUT_ERROR_ARGUMENT, "", "0 shapes");
  expect_failure(shape_list_of(of(wide), NULL, 2, &l), ABUT_ERROR_ARGUMENT, "",
                 "2 shapes are counted, but their array is NULL");
  expect_failure(shape_list_of(of(wide), mixed, (size_t)1 << 31, &l), ABUT_ERROR_ARGUMENT, "",
                 "2147483648 shapes");
  CHECK_OK(abut_destroy_shape(there));
  CHECK_OK(abut_destroy_shape(other));
}

/* Many shapes take no time that grows with their square. */
static void test_many(void)
{
  enum { MANY = 100000 };
  void *memory = NULL;
  REQUIRE_OK(allocate(&memory, MANY, sizeof(abut_shape)));
  abut_shape *shapes = memory;
  shape_list *l;
  for (size_t i = 0; i < MANY; ++i) {
    shapes[i] = make_kind(wide, ABUT_SHAPE_SPHERE, 1, 0, 0);
  }
  REQUIRE_OK(shape_list_of(of(wide), shapes, MANY, &l));
  CHECK_EQUAL(l->count, MANY);
  for (size_t i = 0; i < MANY; ++i) {
    REQUIRE_OK(abut_destroy_shape(shapes[i]));
  }
  CHECK_EQUAL(lists_of(wide), 0);
  free(memory);
}

/* ---- files ---- */

static const char good[] =
  "[{\"kind\": \"hull\", \"numbers\": [[[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3], [0.1, 0.1, "
  "0.1]]]},\n"
  " {\"kind\": \"sphere\", \"numbers\": [0.5], \"radius\": 0.25},\n"
  " {\"kind\": \"box\", \"numbers\": [[1, 2, 3]], \"position\": [1, -2, 3]},\n"
  " {\"kind\": \"ellipsoid\", \"numbers\": [[1, 2, 3]], \"quaternion\": [0, 0, 2, 0]},\n"
  " {\"kind\": \"capsule\", \"numbers\": [[1, 2]]}, {\"kind\": \"cylinder\", \"numbers\": [[3, "
  "4]]},\n"
  " {\"kind\": \"cone\", \"numbers\": [[5, 6]]},\n"
  " {\"kind\": \"superquadric\", \"numbers\": [[1, 2, 3], [0.5, 1.5]]}]\n";

static void test_file(void)
{
  shapes_file s;
  abut_shape *shapes;
  abut_shape_info info;
  size_t count;
  REQUIRE_OK(shapes_file_parse("t", good, strlen(good), &s));
  require(CHECK_EQUAL(s.count, 8));
  for (int i = 0; i < 8; ++i) {
    CHECK_EQUAL(s.defs[i].kind, i);
  }
  CHECK(s.defs[0].vertex_count == 5 && s.defs[0].vertices[7] == 2);
  CHECK(s.defs[1].size[0] == 0.5 && s.defs[1].radius == 0.25 && s.defs[0].radius == 0);
  CHECK(s.defs[2].size[2] == 3 && s.defs[2].position[1] == -2 && s.defs[2].quaternion[0] == 1);
  CHECK(s.defs[3].quaternion[2] == 2 && s.defs[3].quaternion[0] == 0);
  CHECK(s.defs[7].exponents[0] == 0.5 && s.defs[7].exponents[1] == 1.5);
  shapes_file_free(&s);
  REQUIRE_OK(abut_load_shapes(wide, write_text("s.json", good), &count, &shapes));
  require(CHECK_EQUAL(count, 8));
  CHECK_OK(abut_get_shape_info(shapes[0], &info));
  CHECK(info.kind == ABUT_SHAPE_HULL && info.vertices == 4);
  for (size_t i = 0; i < count; ++i) {
    CHECK_OK(abut_destroy_shape(shapes[i]));
  }
  abut_free(shapes);
}

static void test_refused_files(void)
{
  static const struct {
    const char *text, *start, *part;
  } cases[] = {
    {"", "t:1: ", ""},
    {"{}", "t:1: ", "must be an array"},
    {"[]", "t:1: ", "contains no shape"},
    {"[\n3]", "t:2: ", "[0]: must be an object"},
    {"[{}]", "t:1: ", "[0]: the key 'kind' is missing"},
    {"[{\"kind\":\n1}]", "t:1: ", "[0].kind: must be a string"},
    {"[\n{\n\"kind\": \"cube\"}]", "t:3: ", "[0].kind: unknown kind of shape"},
    {"[\n{\"kind\": \"box\"}]", "t:2: ", "[0]: the key 'numbers' is missing"},
    {"[{\"kind\": \"box\",\n\"numbers\": 1}]", "t:2: ", "numbers: must be an array"},
    {"[{\"kind\": \"box\",\n\"numbers\": []}]", "t:2: ", "numbers: has 0 elements, expected 1"},
    {"[{\"kind\": \"box\",\n\"numbers\": [1, 2, 3]}]",
     "t:2: ", "numbers: has 3 elements, expected 1"},
    {"[{\"kind\": \"box\",\n\"numbers\": [\n[1, 2]]}]",
     "t:3: ", "numbers[0]: has 2 elements, expected 3"},
    {"[{\"kind\": \"box\", \"numbers\": [[1,\n-2, 3]]}]",
     "t:2: ", "numbers[0][1]: -2 is not in [0, 1e+06]"},
    {"[{\"kind\": \"box\", \"numbers\": [[1,\n\"2\", 3]]}]",
     "t:2: ", "[0].numbers[0][1]: must be a number"},
    {"[{\"kind\": \"sphere\", \"numbers\": [[1]]}]", "t:1: ", "numbers[0]: must be a number"},
    {"[{\"kind\": \"sphere\", \"numbers\": [-1]}]", "t:1: ", "numbers[0]: -1 is not in [0, 1e+06]"},
    {"[{\"kind\": \"ellipsoid\", \"numbers\": [[1, 1, 0]]}]", "t:1: ", "numbers[0][2]: 0 is not"},
    {"[{\"kind\": \"cone\", \"numbers\": [[1, 2, 3]]}]",
     "t:1: ", "[0].numbers[0]: has 3 elements, expected 2"},
    {"[{\"kind\": \"superquadric\", \"numbers\": [[1, 1, 1]]}]",
     "t:1: ", "[0].numbers: has 1 elements, expected 2"},
    {"[{\"kind\": \"superquadric\", \"numbers\": [[1, 1, 1],\n[1, 2]]}]",
     "t:2: ", "numbers[1][1]: 2 is not in [0.1, 1.9]"},
    {"[{\"kind\": \"hull\", \"numbers\": [[]]}]", "t:1: ", "numbers[0]: must not be empty"},
    {"[{\"kind\": \"hull\", \"numbers\": [[[0, 0, 0],\n[1, 0]]]}]",
     "t:2: ", "numbers[0][1]: has 2 elements, expected 3"},
    {"[{\"kind\": \"hull\", \"numbers\": [[[0, 0,\n2e6]]]}]",
     "t:2: ", "numbers[0][0][2]: 2000000 is"},
    {"[{\"kind\": \"sphere\", \"numbers\": [1],\n\"radius\": -1}]",
     "t:2: ", "radius: -1 is not in [0, 1e+06]"},
    {"[{\"kind\": \"sphere\", \"numbers\": [1],\n\"position\": [0, 0]}]",
     "t:2: ", "[0].position: has 2 elements, expected 3"},
    {"[{\"kind\": \"sphere\", \"numbers\": [1],\n\"position\": [0, 0, 2e6]}]",
     "t:2: ", "position[2]"},
    {"[{\"kind\": \"sphere\", \"numbers\": [1],\n\"quaternion\": [0, 0, 0, 0]}]",
     "t:2: ", "the quaternion has length 0"},
    {"[{\"kind\": \"sphere\", \"numbers\": [1],\n\"colour\": 1}]",
     "t:2: ", "[0].colour: unknown key"},
    {"[{\"kind\": \"sphere\", \"numbers\": [1]},\n\n{\"kind\": \"sphere\", \"numbers\": [1e7]}]",
     "t:3: ", "[1].numbers[0]: 10000000 is not in [0, 1e+06]"},
  };
  shapes_file s;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    expect_failure(shapes_file_parse("t", cases[i].text, strlen(cases[i].text), &s),
                   ABUT_ERROR_FORMAT, cases[i].start, cases[i].part);
    CHECK(!s.defs && !s.count && !s.memory.at);
  }
  const abut_context none = {0, 0};
  abut_shape *shapes;
  size_t count;
  expect_failure(abut_load_shapes(wide, NULL, &count, &shapes), ABUT_ERROR_ARGUMENT, "", "path");
  expect_failure(abut_load_shapes(wide, "x", NULL, &shapes), ABUT_ERROR_ARGUMENT, "", "count");
  expect_failure(abut_load_shapes(wide, in_folder("none.json"), &count, &shapes), ABUT_ERROR_READ,
                 "", "none.json");
  expect_failure(abut_load_shapes(none, write_text("s.json", good), &count, &shapes),
                 ABUT_ERROR_HANDLE, "", "null");
  CHECK(!shapes && !count);
}

/* The shapes of the golden answers. */
static void test_shared_files(void)
{
  static const struct {
    const char *part;
    size_t count;
  } files[] = {{"polytopes", 480}, {"awkward", 64}, {"mixed", 192}};
  const char *shared = getenv("ABUT_SHARED");
  if (!shared) {
    printf("not run: shapes of golden answers, ABUT_SHARED is not set\n");
    return;
  }
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    char path[1024];
    abut_shape *shapes;
    abut_shape_info info;
    size_t count;
    snprintf(path, sizeof path, "%s/golden-closest/%s/shapes.json", shared, files[i].part);
    REQUIRE_OK(abut_load_shapes(wide, path, &count, &shapes));
    CHECK_EQUAL(count, files[i].count);
    check_list(wide, shapes, count);
    for (size_t k = 0; k < count; ++k) {
      CHECK_OK(abut_get_shape_info(shapes[k], &info));
      CHECK_EQUAL(info.dimensions, 3);
      CHECK_OK(abut_destroy_shape(shapes[k]));
    }
    abut_free(shapes);
  }
}

int main(void)
{
  folder_make();
  if (!test_context(ABUT_FLOAT64, &wide) || !test_context(ABUT_FLOAT32, &narrow)) {
    return check_finish();
  }
  test_refused_hulls();
  test_refused_sizes();
  test_refused_others();
  test_refused_calls();
  test_records();
  test_frame();
  test_hull_info();
  test_box();
  test_lists(wide);
  test_lists(narrow);
  test_kept_lists();
  test_refused_lists();
  test_many();
  test_file();
  test_refused_files();
  test_shared_files();
  CHECK_OK(abut_destroy_context(wide));
  CHECK_OK(abut_destroy_context(narrow));
  folder_remove();
  return check_finish();
}
