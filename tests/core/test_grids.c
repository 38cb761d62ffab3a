/* Grids on a device against their definition, and what is refused of them: test_grids PRECISION. */
#include "grids.h"
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1500 };

static abut_precision precision;
static grid_sample sample; /* its arrays are large */

static abut_body_def def_of(const abut_grid *grids, size_t count)
{
  static const double vertices[9] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0};
  static const uint32_t sizes[1] = {3}, indices[3] = {0, 1, 2};
  abut_body_def def = abut_default_body_def();
  def.vertices = vertices;
  def.vertex_count = 3;
  def.face_sizes = sizes;
  def.face_indices = indices;
  def.face_count = 1;
  def.grids = grids;
  def.grid_count = count;
  return def;
}

/* ---- fields ---- */

/* In cells, by turns: within the grid, in blocks, on the borders of blocks and cells, where
 * clipping is soft, at the corners, outside and far away. */
static double coordinate(uint64_t *seed, int kind, double size)
{
  static const double borders[] = {4.0, 4.0 + 1e-6, 4.0 - 1e-6, 8.0, 6.0, 5.0, 3.0, 7.5};
  const double t = random_uniform(seed);
  switch (kind) {
  case 0:
    return 1.0 + t * (size - 3.0);
  case 1:
    return 3.0 + t * (size - 7.0);
  case 2:
    return borders[(size_t)(8.0 * t)];
  case 3:
    return t < 0.5 ? 4.0 * t : size - 1.0 - 4.0 * (t - 0.5);
  case 4:
    return -3.0 + t * (size + 5.0);
  default:
    return 40.0 * random_normal(seed);
  }
}

static void put_points(const abut_grid *g, double *x)
{
  uint64_t seed = 91;
  for (int i = 0; i < POINTS; ++i) {
    for (int k = 0; k < 3; ++k) {
      const int kind = i % 7 == 6 ? (int)(6.0 * random_uniform(&seed)) : i % 7;
      const double u = coordinate(&seed, kind, (double)g->size[k]);
      const double at = g->origin[k] + g->spacing * u;
      x[3 * i + k] = precision == ABUT_FLOAT32 ? (double)(float)at : at;
    }
  }
}

static void compare_fields(const abut_grid *g, const double *x, const void *d, const void *n,
                           const char *what)
{
  const double d_bound = (precision == ABUT_FLOAT64 ? 1e-13 : 1e-5) * g->spacing;
  const double n_bound = precision == ABUT_FLOAT64 ? 1e-10 : 2e-3;
  double worst_d = 0.0, worst_n = 0.0;
  for (size_t i = 0; i < POINTS; ++i) {
    double raw[3];
    const double wanted = grid_field(g, x + 3 * i, raw);
    const double length = sqrt(raw[0] * raw[0] + raw[1] * raw[1] + raw[2] * raw[2] + 1e-12);
    const double off = fabs(real_at(d, precision, i) - wanted) / (1.0 + fabs(wanted) / g->spacing);
    worst_d = off > worst_d || !(off == off) ? off : worst_d;
    for (size_t k = 0; k < 3 && length > 0.05; ++k) {
      const double gap = fabs(real_at(n, precision, 3 * i + k) - raw[k] / length);
      worst_n = gap > worst_n || !(gap == gap) ? gap : worst_n;
    }
  }
  printf("%-24s distances off by %.1e of %g, normals by %.1e\n", what, worst_d, g->spacing,
         worst_n);
  check(worst_d <= d_bound, "%s: a distance is off by %g", what, worst_d);
  check(worst_n <= n_bound, "%s: a normal is off by %g", what, worst_n);
}

static void test_field(abut_context context, size_t levels, double size)
{
  static double x[3 * POINTS];
  uint64_t seed = 90 + levels;
  char what[64];
  abut_body body;
  abut_body_info info;
  snprintf(what, sizeof what, "%zu levels, %g m", levels, size);
  grid_sample_make(&sample, &seed, levels, size, ABUT_ADD);
  const abut_body_def def = def_of(&sample.grid, 1);
  if (!CHECK_OK(abut_create_body(context, &def, &body))) {
    return;
  }
  size_t blocks = 0;
  for (size_t i = 0; i < levels; ++i) {
    blocks += sample.levels[i].block_count;
    double most = 0.0;
    for (size_t k = 0; k < sample.levels[i].block_count * SAMPLE_BLOCK; ++k) {
      most = fmax(most, fabs(sample.corrections[i][k]));
    }
    check(most > 0.0, "no corrections on level %zu", i + 1);
  }
  CHECK_OK(abut_get_body_info(body, &info));
  CHECK_EQUAL(info.grids, 1);
  CHECK_EQUAL(info.blocks, blocks);
  CHECK_EQUAL(info.primitives, 1);
  put_points(&sample.grid, x);
  void *points = to_reals(x, 3 * POINTS, precision);
  void *d = calloc(POINTS, real_size(precision)), *n = calloc(3 * POINTS, real_size(precision));
  void *alone = calloc(POINTS, real_size(precision));
  if (CHECK_OK(abut_evaluate_body(body, 1e-3, 0.01, POINTS, points, d, n)) &&
      CHECK_OK(abut_evaluate_body(body, 1e-3, 0.01, POINTS, points, alone, NULL))) {
    compare_fields(&sample.grid, x, d, n, what);
    check(memcmp(d, alone, POINTS * real_size(precision)) == 0, "%s: distances alone differ", what);
  }
  free(points);
  free(d);
  free(n);
  free(alone);
  CHECK_OK(abut_destroy_body(body));
}

/* What is not a number, or beyond all bounds, reads nothing beyond the arrays. */
static void test_wild_points(abut_context context)
{
  uint64_t seed = 95;
  abut_body body;
  grid_sample_make(&sample, &seed, 2, 1.0, ABUT_ADD);
  const abut_body_def def = def_of(&sample.grid, 1);
  if (!CHECK_OK(abut_create_body(context, &def, &body))) {
    return;
  }
  const double wild[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, 0.1};
  double x[3 * 216];
  for (size_t i = 0; i < 216; ++i) {
    x[3 * i] = wild[i / 36];
    x[3 * i + 1] = wild[i / 6 % 6];
    x[3 * i + 2] = wild[i % 6];
  }
  void *points = to_reals(x, 3 * 216, precision);
  void *d = calloc(216, real_size(precision)), *n = calloc(3 * 216, real_size(precision));
  CHECK_OK(abut_evaluate_body(body, 0.01, 0.01, 216, points, d, n));
  check(isfinite(real_at(d, precision, 215)), "the last point is an ordinary one");
  check(!(real_at(d, precision, 0) < 1e6), "what is no number is near");
  free(points);
  free(d);
  free(n);
  CHECK_OK(abut_destroy_body(body));
}

/* ---- refusals ---- */

static void refuses(abut_context context, const abut_grid *g, const char *text)
{
  abut_body body;
  const abut_body_def def = def_of(g, 1);
  const abut_status status = abut_create_body(context, &def, &body);
  check(status == ABUT_ERROR_BODY && strstr(abut_last_error(), text), "%s: %s, '%s'", text,
        abut_status_name(status), abut_last_error());
}

static void test_refused_grids(abut_context context)
{
  uint64_t seed = 96;
  const double good = 0.1;
  grid_sample_make(&sample, &seed, 0, 1.0, ABUT_ADD);
  abut_grid g = sample.grid;
  const size_t sizes[][3] = {{5, 13, 13}, {13, 1025, 13}, {1024, 1024, 65}};
  for (int i = 0; i < 3; ++i) {
    memcpy(g.size, sizes[i], sizeof g.size);
    refuses(context, &g, "nodes");
  }
  g = sample.grid;
  const double spacings[] = {0.0, -0.1, 1e-10, 2e6, NAN, INFINITY};
  for (int i = 0; i < 6; ++i) {
    g.spacing = spacings[i];
    refuses(context, &g, "spacing");
  }
  g.spacing = good;
  const double places[] = {1.1e6, NAN, -INFINITY};
  for (int i = 0; i < 3; ++i) {
    g.origin[i] = places[i];
    refuses(context, &g, "origin");
    g.origin[i] = 0.0;
  }
  const double numbers[] = {4.1e6, NAN, INFINITY, -4.1e6};
  for (size_t i = 0; i < 4; ++i) {
    double *at = &sample.coefficients[(6 * SAMPLE_SIDE_Y + 6) * SAMPLE_SIDE_Z + 6 + i / 2];
    const double before = *at;
    *at = numbers[i];
    refuses(context, &g, "4e+06");
    *at = before;
  }
  const size_t outer[][3] = {{0, 6, 6}, {3, 6, 6}, {9, 6, 6}, {6, 3, 6}, {6, 8, 6}, {6, 6, 10}};
  for (int i = 0; i < 6; ++i) {
    double *at =
      &sample
         .coefficients[(outer[i][0] * SAMPLE_SIDE_Y + outer[i][1]) * SAMPLE_SIDE_Z + outer[i][2]];
    const double before = *at;
    *at = 0.0;
    refuses(context, &g, "outer four layers");
    *at = before;
  }
  g.coefficients = NULL;
  refuses(context, &g, "no coefficients");
  g = sample.grid;
  g.operation = ABUT_SUBTRACT;
  refuses(context, &g, "the body has no primitive with the operation \"add\"");
  g.operation = (abut_operation)2;
  refuses(context, &g, "grid 0: unknown operation 2");
}

/* A grid with one block, and with two neighbours. */
static void test_refused_levels(abut_context context)
{
  static double c[4 * 512];
  int32_t blocks[12] = {1, 1, 1, 1, 1, 2};
  uint64_t seed = 97;
  abut_body body;
  grid_sample_make(&sample, &seed, 0, 1.0, ABUT_ADD);
  abut_grid_level levels[9];
  for (int i = 0; i < 9; ++i) {
    levels[i] = (abut_grid_level){blocks, c, 1};
  }
  abut_grid g = sample.grid;
  g.levels = levels;
  g.level_count = 9;
  refuses(context, &g, "9 levels");
  g.level_count = 1;
  g.levels = NULL;
  refuses(context, &g, "1 levels");
  g.levels = levels;
  const abut_grid_level empty[] = {{blocks, c, 0}, {NULL, c, 1}, {blocks, NULL, 1}};
  for (int i = 0; i < 3; ++i) {
    levels[0] = empty[i];
    refuses(context, &g, "level 1 has");
  }
  levels[0] = (abut_grid_level){blocks, c, 2};
  blocks[5] = 1;
  refuses(context, &g, ": block 1, at 1 1 1, is a duplicate");
  const int32_t outside[] = {-1, 4, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; ++i) {
    blocks[5] = outside[i];
    refuses(context, &g, ", is not inside any cell of the grid");
  }
  blocks[5] = 2;
  /* Nodes 0, 1 and 7 reach into neighbours: along z there is one. */
  const struct {
    int at[3];
    bool good;
  } nodes[] = {{{2, 2, 2}, true},  {{6, 6, 6}, true},  {{2, 2, 7}, true},  {{1, 4, 4}, false},
               {{4, 7, 4}, false}, {{4, 4, 0}, false}, {{4, 7, 7}, false}, {{0, 4, 7}, false}};
  for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; ++i) {
    const int at = (nodes[i].at[0] * 8 + nodes[i].at[1]) * 8 + nodes[i].at[2];
    c[at] = 1e-3;
    if (nodes[i].good) {
      const abut_body_def def = def_of(&g, 1);
      if (CHECK_OK(abut_create_body(context, &def, &body))) {
        CHECK_OK(abut_destroy_body(body));
      }
    } else {
      refuses(context, &g, "; it must be 0 within two cells of the border of the level's blocks");
    }
    c[at] = 0.0;
  }
  c[2 * 64 + 2 * 8 + 2] = NAN;
  refuses(context, &g, "level 1, block 0: coefficient 2 2 2");
  c[2 * 64 + 2 * 8 + 2] = 0.0;
  levels[1] = (abut_grid_level){blocks + 6, c + 1024, 1};
  g.level_count = 2;
  blocks[6] = blocks[7] = blocks[8] = 1;
  refuses(context, &g, "level 2: block 0, at 1 1 1, is not inside any block of the previous level");
  blocks[6] = blocks[7] = blocks[8] = 2;
  const abut_body_def def = def_of(&g, 1);
  if (CHECK_OK(abut_create_body(context, &def, &body))) {
    CHECK_OK(abut_destroy_body(body));
  }
  /* A correction that takes the distance away where points are clipped. */
  blocks[0] = blocks[1] = blocks[2] = 0;
  g.level_count = 1;
  levels[0].block_count = 1;
  c[4 * 64 + 4 * 8 + 2] = -10.0;
  refuses(context, &g,
          ": with the corrections of its levels, a coefficient in the outer four layers may be 0 "
          "or below; it must be above 0");
}

/* ---- edges of a definition ---- */

static void test_edges(abut_context context)
{
  uint64_t seed = 98;
  uint32_t edges[] = {1, 0, 2, 2, 0, 2};
  abut_body body;
  abut_body_info info;
  grid_sample_make(&sample, &seed, 0, 1.0, ABUT_ADD);
  abut_body_def def = def_of(&sample.grid, 1);
  def.face_count = 0;
  def.edges = edges;
  def.edge_count = 3;
  if (CHECK_OK(abut_create_body(context, &def, &body))) {
    uint32_t got[6] = {9};
    CHECK_OK(abut_get_body_info(body, &info));
    CHECK_EQUAL(info.edges, 2);
    CHECK_OK(abut_get_body_mesh(body, NULL, got));
    check(got[0] == 0 && got[1] == 1 && got[2] == 0 && got[3] == 2, "edges %u %u, %u %u", got[0],
          got[1], got[2], got[3]);
    CHECK_OK(abut_destroy_body(body));
  }
  def.face_count = 1;
  if (CHECK_OK(abut_create_body(context, &def, &body))) {
    CHECK_OK(abut_get_body_info(body, &info));
    CHECK_EQUAL(info.edges, 3);
    CHECK_OK(abut_destroy_body(body));
  }
  edges[5] = 3;
  abut_status status = abut_create_body(context, &def, &body);
  check(status == ABUT_ERROR_BODY && strstr(abut_last_error(), "edge 2 uses vertex 3"), "%s: %s",
        abut_status_name(status), abut_last_error());
  def.edges = NULL;
  status = abut_create_body(context, &def, &body);
  check(status == ABUT_ERROR_ARGUMENT, "edges that are counted and not given: %s",
        abut_status_name(status));
}

/* ---- definitions copied out ---- */

static double rounded(double x)
{
  return precision == ABUT_FLOAT64 ? x : (double)(float)x;
}

static void check_grid(const abut_grid *got, const abut_grid *given)
{
  size_t wrong = 0;
  for (size_t i = 0; i < SAMPLE_NODES; ++i) {
    wrong += got->coefficients[i] != rounded(given->coefficients[i]);
  }
  CHECK_EQUAL(got->level_count, given->level_count);
  for (size_t l = 0; l < given->level_count; ++l) {
    const size_t count = given->levels[l].block_count;
    CHECK_EQUAL(got->levels[l].block_count, count);
    CHECK(memcmp(got->levels[l].blocks, given->levels[l].blocks, count * 3 * sizeof(int32_t)) == 0);
    for (size_t i = 0; i < count * SAMPLE_BLOCK; ++i) {
      wrong += got->levels[l].coefficients[i] != rounded(given->levels[l].coefficients[i]);
    }
  }
  CHECK_EQUAL(wrong, 0);
  CHECK(got->spacing == given->spacing && got->operation == given->operation &&
        memcmp(got->origin, given->origin, sizeof got->origin) == 0);
}

/* A body of primitives of which some are taken away, in another order than they are packed in: its
 * copy is what it was made of, and makes the same body. */
static void test_copies(abut_context context)
{
  static grid_sample samples[2];
  static const double planes[24] = {1, 0, 0, 0.2, 0,   0, -2, 0.1, 0,  -0.2, 0,    0,
                                    0, 1, 1, 0,   0.2, 0, 0,  -1,  -1, 0,    -0.2, 0};
  static const double points[14] = {0.3, 0, 0, 2, 0, 0.1, 0.05, -0.3, 0, 0, -1, 0, 0, 0.07};
  static const abut_superquadric quadrics[2] = {
    {{0.4, 0.3, 0.2}, {0.5, 0.9}, {0.1, 0, 0}, {2, 0.3, 0, 0.1}, ABUT_SUBTRACT},
    {{0.5, 0.3, 0.3}, {1.0, 0.7}, {0, 0.1, 0}, {1, 0, 0, 0}, ABUT_ADD}};
  static const abut_polyhedron polyhedron = {planes, 4, ABUT_ADD};
  static const abut_pointcloud cloud = {points, 2, ABUT_ADD};
  static const abut_core cores[2] = {
    {ABUT_CORE_DISC, {0.1, 0.2, 7}, 0.03, {0.1, 0.2, 0}, {2, 0, 0, 0}, ABUT_SUBTRACT},
    {ABUT_CORE_BOX, {0.1, 0, 0.3}, 0.1, {0, 0.1, 0}, {1, 1, 0, 0}, ABUT_ADD}};
  uint64_t seed = 5;
  abut_body body, again;
  abut_body_copy copy;
  grid_sample_make(&samples[0], &seed, 2, 0.5, ABUT_SUBTRACT);
  grid_sample_make(&samples[1], &seed, SAMPLE_LEVELS, 1.0, ABUT_ADD);
  const abut_grid grids[2] = {samples[0].grid, samples[1].grid};
  abut_body_def def = def_of(grids, 2);
  def.superquadrics = quadrics;
  def.superquadric_count = 2;
  def.polyhedra = &polyhedron;
  def.polyhedron_count = 1;
  def.pointclouds = &cloud;
  def.pointcloud_count = 1;
  def.cores = cores;
  def.core_count = 2;
  def.union_ = 0.01;
  def.surface = (abut_surface){def.vertices, 3, def.face_sizes, def.face_indices, 1};
  REQUIRE_OK(abut_create_body(context, &def, &body));
  CHECK_EQUAL(abut_copy_body(body, NULL), ABUT_ERROR_ARGUMENT);
  REQUIRE_OK(abut_copy_body(body, &copy));
  const abut_body_def *got = &copy.def;
  CHECK_EQUAL(got->vertex_count, 3);
  CHECK_EQUAL(got->edge_count, 3);
  CHECK_EQUAL(got->surface.face_count, 1);
  CHECK(memcmp(got->vertices, def.vertices, 9 * sizeof(double)) == 0 && got->union_ == 0.01);
  CHECK(memcmp(got->face_indices, def.face_indices, 3 * sizeof(uint32_t)) == 0);
  CHECK(memcmp(got->superquadrics, quadrics, sizeof quadrics) == 0);
  CHECK(memcmp(got->cores, cores, sizeof cores) == 0);
  CHECK(memcmp(got->polyhedra[0].planes, planes, sizeof planes) == 0);
  CHECK(memcmp(got->pointclouds[0].points, points, sizeof points) == 0);
  for (int i = 0; i < 2; ++i) {
    check_grid(&got->grids[i], &grids[i]);
  }
  REQUIRE_OK(abut_create_body(context, got, &again));
  abut_free_body_copy(&copy);
  abut_free_body_copy(&copy);
  abut_free_body_copy(NULL);
  double places[30], of[2][10] = {{0}};
  for (int i = 0; i < 30; ++i) {
    places[i] = 0.3 * random_normal(&seed);
  }
  void *reals = to_reals(places, 30, precision);
  CHECK_OK(abut_evaluate_body(body, 0.01, 0.01, 10, reals, of[0], NULL));
  CHECK_OK(abut_evaluate_body(again, 0.01, 0.01, 10, reals, of[1], NULL));
  CHECK(memcmp(of[0], of[1], sizeof of[0]) == 0);
  free(reals);
  CHECK_OK(abut_destroy_body(body));
  CHECK_OK(abut_destroy_body(again));
}

int main(int argc, char **argv)
{
  precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  for (size_t levels = 0; levels <= SAMPLE_LEVELS; ++levels) {
    test_field(context, levels, 1.0);
  }
  test_field(context, 2, 1e-3);
  test_field(context, 2, 1e3);
  test_wild_points(context);
  test_refused_grids(context);
  test_refused_levels(context);
  test_edges(context);
  test_copies(context);
  return finish_context(context);
}
