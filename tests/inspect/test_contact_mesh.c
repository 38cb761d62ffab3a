/* Contact meshes of bodies of primitives: shapes whose genus and volume are known, and with `scans`
 * bodies fitted to scans, of the folder that is named or of ABUT_SHARED. */
#include "bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAU 1e-3 /* [m] */

static abut_context context;

static void minus(const double *a, const double *b, double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = a[k] - b[k];
  }
}

static double length(const double v[3])
{
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Twice the radius of the inner circle over that of the outer one, by sides and area. */
static double quality_of(const double *a, const double *b, const double *c)
{
  double u[3], v[3], w[3];
  minus(b, a, u);
  minus(c, b, v);
  minus(a, c, w);
  const double x = length(u), y = length(v), z = length(w), half = (x + y + z) / 2.0;
  const double area = sqrt(fmax(half * (half - x) * (half - y) * (half - z), 0.0));
  return area > 0.0 ? 2.0 * (area / half) / (x * y * z / (4.0 * area)) : 0.0;
}

static int compare_sides(const void *a, const void *b)
{
  return memcmp(a, b, 2 * sizeof(uint32_t));
}

/* Each side runs once each way, vertices have faces, and the report is true. */
static void check_mesh(const char *name, const abut_contact_mesh *m)
{
  const abut_body_def *d = &m->def;
  const size_t sides = 3 * d->face_count;
  uint32_t *one = calloc(sides, 2 * sizeof *one), *back = calloc(sides, 2 * sizeof *back);
  unsigned char *seen = calloc(d->vertex_count, 1);
  REQUIRE(one && back && seen);
  double quality = 0.0, least = 1.0;
  size_t bad = 0;
  for (size_t f = 0; f < d->face_count; ++f) {
    const uint32_t *c = d->face_indices + 3 * f;
    bad += d->face_sizes[f] != 3;
    for (size_t k = 0; k < 3; ++k) {
      seen[c[k]] = 1;
      one[2 * (3 * f + k)] = back[2 * (3 * f + k) + 1] = c[k];
      one[2 * (3 * f + k) + 1] = back[2 * (3 * f + k)] = c[(k + 1) % 3];
    }
    const double q =
      quality_of(d->vertices + 3 * c[0], d->vertices + 3 * c[1], d->vertices + 3 * c[2]);
    quality += q / (double)d->face_count;
    least = fmin(least, q);
  }
  qsort(one, sides, 2 * sizeof *one, compare_sides);
  qsort(back, sides, 2 * sizeof *back, compare_sides);
  check(!bad && !memcmp(one, back, 2 * sides * sizeof *one), "%s: the mesh is not closed", name);
  for (size_t i = 0; i + 1 < sides; ++i) {
    bad += !compare_sides(one + 2 * i, one + 2 * (i + 1));
  }
  for (size_t i = 0; i < d->vertex_count; ++i) {
    bad += !seen[i];
  }
  CHECK_EQUAL(bad, 0);
  CHECK_EQUAL(m->report.vertices, d->vertex_count);
  CHECK_EQUAL(m->report.faces, d->face_count);
  CHECK_EQUAL(2 * m->report.edges, sides);
  CHECK_EQUAL((int64_t)d->vertex_count - (int64_t)m->report.edges + (int64_t)d->face_count,
              2 - 2 * m->report.genus);
  check(fabs(quality - m->report.quality_mean) < 1e-12 &&
          fabs(least - m->report.quality_least) < 1e-12,
        "%s: qualities are %g and %g, not %g and %g", name, quality, least, m->report.quality_mean,
        m->report.quality_least);
  check(m->report.off < 1e-9 * m->report.diagonal, "%s: a vertex is %g m off", name, m->report.off);
  free(one);
  free(back);
  free(seen);
}

static void print(const char *name, const abut_contact_mesh_report *r)
{
  printf(
    "%s: %zu vertices, genus %d, quality %.3f, at least %.3f; Chamfer %.3f %%, Hausdorff %.2f %%, "
    "volume %.3f\n",
    name, r->vertices, (int)r->genus, r->quality_mean, r->quality_least, r->chamfer_percent,
    r->hausdorff_percent, r->volume_kept);
}

static abut_contact_mesh made_of(const abut_superquadric *quadrics, size_t count, uint32_t vertices,
                                 const char *name)
{
  abut_contact_mesh_options options = abut_default_contact_mesh_options();
  abut_contact_mesh m;
  const abut_body body = body_of(context, quadrics, count);
  options.vertices = vertices;
  REQUIRE_OK(abut_make_contact_mesh(body, TAU, TAU, &options, &m));
  CHECK_OK(abut_destroy_body(body));
  check_mesh(name, &m);
  print(name, &m.report);
  return m;
}

/* A disc with a bore has genus 1; a ball beside it is left out. */
static void ring(void)
{
  const abut_superquadric parts[] = {{.axes = {0.5, 0.5, 0.15},
                                      .exponents = {0.6, 1},
                                      .quaternion = {1, 0, 0, 0}},
                                     {.axes = {0.1, 0.1, 0.1},
                                      .exponents = {1, 1},
                                      .position = {0.4, 0, 0.35},
                                      .quaternion = {1, 0, 0, 0}},
                                     {.axes = {0.2, 0.2, 0.5},
                                      .exponents = {0.2, 1},
                                      .quaternion = {1, 0, 0, 0},
                                      .operation = ABUT_SUBTRACT}};
  abut_contact_mesh first = made_of(parts, 3, 80, "ring");
  CHECK_EQUAL(first.report.vertices, 80);
  CHECK_EQUAL(first.report.genus, 1);
  CHECK_EQUAL(first.report.parts_left_out, 1);
  CHECK(first.report.left_out > 0.02 && first.report.left_out < 0.06);
  CHECK(first.report.quality_mean > 0.8 && first.report.volume_kept > 0.9);
  abut_free_contact_mesh(&first);
}

/* As few as a closed mesh may have, and enough for the volume of a ball. */
static void balls(void)
{
  const abut_superquadric ball = {.axes = {1, 1, 1},
                                  .exponents = {1, 1},
                                  .quaternion = {1, 0, 0, 0}};
  abut_contact_mesh m = made_of(&ball, 1, 8, "ball of 8"),
                    again = made_of(&ball, 1, 8, "ball of 8 again");
  check(m.report.faces == again.report.faces &&
          !memcmp(m.def.vertices, again.def.vertices, m.report.vertices * 3 * sizeof(double)) &&
          !memcmp(m.def.face_indices, again.def.face_indices,
                  m.report.faces * 3 * sizeof(uint32_t)),
        "another call gives another mesh");
  abut_free_contact_mesh(&again);
  CHECK_EQUAL(m.report.vertices, 8);
  CHECK_EQUAL(m.report.genus, 0);
  abut_free_contact_mesh(&m);
  m = made_of(&ball, 1, 400, "ball of 400");
  CHECK_EQUAL(m.report.vertices, 400);
  CHECK(m.report.quality_mean > 0.9 && m.report.volume_kept > 0.97 &&
        m.report.hausdorff_percent < 1.0);
  abut_free_contact_mesh(&m);
}

/* Planes have a box of their own; beside a small ball it is the larger piece. */
static void block(void)
{
  static const double planes[] = {1,  0, 0, 2,    0, 0, -1, 0, 0, 1, 0,   0, 0, 1,  0, 0, 0.4, 0, 0,
                                  -1, 0, 0, -0.4, 0, 0, 0,  1, 0, 0, 0.3, 0, 0, -1, 0, 0, -0.3};
  static const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const abut_polyhedron solid = {planes, 6, ABUT_ADD};
  const abut_superquadric ball = {.axes = {0.1, 0.1, 0.1},
                                  .exponents = {1, 1},
                                  .quaternion = {1, 0, 0, 0}};
  for (size_t beside = 0; beside < 2; ++beside) {
    abut_contact_mesh_options options = abut_default_contact_mesh_options();
    abut_contact_mesh m;
    abut_body body;
    abut_body_def def = abut_default_body_def();
    def.vertices = vertices;
    def.vertex_count = 3;
    def.polyhedra = &solid;
    def.polyhedron_count = 1;
    def.superquadrics = &ball;
    def.superquadric_count = beside;
    options.vertices = 200;
    REQUIRE_OK(abut_create_body(context, &def, &body));
    REQUIRE_OK(abut_make_contact_mesh(body, TAU, TAU, &options, &m));
    check_mesh(beside ? "block beside a ball" : "block", &m);
    double least[3] = {9, 9, 9}, most[3] = {-9, -9, -9};
    for (size_t i = 0; i < 3 * m.def.vertex_count; ++i) {
      least[i % 3] = fmin(least[i % 3], m.def.vertices[i]);
      most[i % 3] = fmax(most[i % 3], m.def.vertices[i]);
    }
    check(m.report.volume_kept > 0.9 && fabs(least[0] - 1.0) < 0.1 && fabs(most[0] - 2.0) < 0.1 &&
            most[1] - least[1] > 0.7 && most[2] - least[2] > 0.5,
          "a block from %g to %g keeps %g", least[0], most[0], m.report.volume_kept);
    abut_free_contact_mesh(&m);
    CHECK_OK(abut_destroy_body(body));
  }
}

static void refusals(void)
{
  const abut_superquadric ball = {.axes = {1, 1, 1},
                                  .exponents = {1, 1},
                                  .quaternion = {1, 0, 0, 0}};
  static const double planes[] = {0, 0, 1, 0, 0, 0};
  const abut_polyhedron half_space = {planes, 1, ABUT_ADD};
  abut_contact_mesh_options options = abut_default_contact_mesh_options(), wrong = {0};
  abut_contact_mesh m;
  const abut_body body = body_of(context, &ball, 1);
  CHECK(abut_make_contact_mesh(body, TAU, TAU, &wrong, &m) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_make_contact_mesh(body, TAU, TAU, &options, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_make_contact_mesh(body, TAU, TAU, NULL, &m) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_make_contact_mesh(body, 0.0, TAU, &options, &m) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_make_contact_mesh(body, 1e6, TAU, &options, &m) == ABUT_ERROR_ARGUMENT);
  CHECK(!m.memory);
  options.vertices = 7;
  CHECK(abut_make_contact_mesh(body, TAU, TAU, &options, &m) == ABUT_ERROR_ARGUMENT);
  options = abut_default_contact_mesh_options();
  options.sweeps = 101;
  CHECK(abut_make_contact_mesh(body, TAU, TAU, &options, &m) == ABUT_ERROR_ARGUMENT);
  options = abut_default_contact_mesh_options();
  CHECK_OK(abut_destroy_body(body));
  CHECK(abut_make_contact_mesh(body, TAU, TAU, &options, &m) == ABUT_ERROR_HANDLE);
  abut_free_contact_mesh(NULL);

  abut_body_def def = abut_default_body_def();
  static const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  abut_body open;
  def.vertices = vertices;
  def.vertex_count = 3;
  def.polyhedra = &half_space;
  def.polyhedron_count = 1;
  REQUIRE_OK(abut_create_body(context, &def, &open));
  CHECK(abut_make_contact_mesh(open, TAU, TAU, &options, &m) == ABUT_ERROR_BODY);
  CHECK(strstr(abut_last_error(), "the body's field is unbounded"));
  CHECK_OK(abut_destroy_body(open));
}

/* Figures that were asked for at these counts: mean quality at least, Chamfer at most, volume at
 * least. */
static void scan(const char *path, const char *name, uint32_t vertices, double quality,
                 double chamfer, double volume)
{
  abut_contact_mesh_options options = abut_default_contact_mesh_options();
  abut_contact_mesh m;
  abut_body body;
  abut_body_info info;
  REQUIRE_OK(abut_load_body(context, path, &body));
  REQUIRE_OK(abut_get_body_info(body, &info));
  options.vertices = vertices;
  const double tau = 0.004 * info.diagonal;
  REQUIRE_OK(abut_make_contact_mesh(body, tau, tau, &options, &m));
  check_mesh(name, &m);
  print(name, &m.report);
  CHECK_EQUAL(m.report.vertices, vertices);
  CHECK_EQUAL(m.report.genus, 0);
  check(m.report.quality_mean >= quality, "%s: quality %g", name, m.report.quality_mean);
  check(m.report.chamfer_percent <= chamfer, "%s: Chamfer %g %%", name, m.report.chamfer_percent);
  check(m.report.volume_kept >= volume, "%s: volume %g", name, m.report.volume_kept);
  check(m.report.hausdorff_percent <= 2.5, "%s: Hausdorff %g %%", name, m.report.hausdorff_percent);
  abut_free_contact_mesh(&m);
  CHECK_OK(abut_destroy_body(body));
}

static void shared_scans(const char *folder)
{
  static const struct {
    const char *name;
    uint32_t vertices;
    double quality, chamfer, volume;
  } known[] = {{"armadillo", 305, 0.85, 0.38, 0.97}, {"screwdriver", 165, 0.80, 0.23, 0.94}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/data/bodies/%s.body.json", folder, known[i].name);
    scan(path, known[i].name, known[i].vertices, known[i].quality, known[i].chamfer,
         known[i].volume);
  }
}

int main(int count, char **arguments)
{
  if (count < 3 || !test_context(ABUT_FLOAT32, &context)) {
    return 77;
  }
  char path[4096];
  if (!strcmp(arguments[1], "scans")) {
    snprintf(path, sizeof path, "%s/airplane-drill/a.body.json", arguments[2]);
    scan(path, "airplane", 584, 0.86, 0.29, 0.97);
    balls();
    if (getenv("ABUT_SHARED")) {
      shared_scans(getenv("ABUT_SHARED"));
    } else {
      printf("not run: two bodies, ABUT_SHARED names no folder\n");
    }
  } else {
    ring();
    if (!usual_share()) {
      block();
    }
    refusals();
    snprintf(path, sizeof path, "%s/airplane-drill/b.body.json", arguments[2]);
    scan(path, "drill", 276, 0.86, 0.29, 0.97);
  }
  return finish_context(context);
}
