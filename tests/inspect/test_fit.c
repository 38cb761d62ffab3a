/* How well fields stand for meshes: against closed forms, more of them with `more`, and with
 * `scans` against the figures of bodies fitted to scans, where ABUT_SHARED names the folder that
 * holds them. */
#include "mesh/inspect/measure.h"
#include "mesh/inspect/volumes.h"

#include "format/mesh.h"
#include "bodies.h"
#include "support/check.h"
#include "surface/shapes.h"
#include "mesh/surface/solid.h"
#include "mesh/surface/tree.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNION 1e-5 /* a hard union [m] */
#define PLANE 1e-3

static abut_context context;

static abut_superquadric ball_at(double x, double radius)
{
  return (abut_superquadric){.axes = {radius, radius, radius},
                             .exponents = {1, 1},
                             .position = {x, 0, 0},
                             .quaternion = {1, 0, 0, 0}};
}

static abut_fit fit_of(const abut_superquadric *quadrics, size_t count, shape *of)
{
  abut_fit fit;
  const abut_body body = body_of(context, quadrics, count);
  const abut_body_def def = shape_def(of);
  REQUIRE_OK(abut_measure_fit(body, UNION, PLANE, &def, &fit));
  CHECK_OK(abut_destroy_body(body));
  shape_free(of);
  return fit;
}

static void expect(const char *name, const char *what, double got, double wanted, double within)
{
  check(fabs(got - wanted) <= within, "%s: %s is %.6g, not %.6g within %g", name, what, got, wanted,
        within);
}

/* Two lines of cells at the far side of the box within meet one wide cell of four, neither at the
 * middle of its face: they are one part, whichever comes first. */
static void lines_at_a_wide_cell(void)
{
  enum {
    SIDE = MEASURE_SIDE,
    INNER = SIDE * SIDE * SIDE,
    BLOCK = INNER / (INNER_BLOCKS * INNER_BLOCKS * INNER_BLOCKS)
  };
  static const int64_t block[1][3] = {{1, 0, 0}};
  int64_t at[1][3];
  memcpy(at, block, sizeof at);
  volumes v = {.count = INNER + BLOCK, .around = {.level = 2, .at = at, .count = 1}};
  v.cells = calloc(v.count, 1);
  if (!check(v.cells != NULL, "no memory for cells")) {
    return;
  }
  for (size_t k = 0; k < 2; ++k) {
    for (size_t i = SIDE - (k ? 20 : 5); i < SIDE; ++i) {
      v.cells[(i * SIDE + 3 * k) * SIDE + 3 * k] = CELL_OF_FIELD;
    }
  }
  v.cells[INNER] = CELL_OF_FIELD;
  memset(v.cells + SIDE * SIDE / 2, CELL_OF_MESH | CELL_OF_FIELD, 1000);
  abut_fit fit = {0};
  CHECK_OK(volumes_compare(&v, &fit));
  expect("lines", "surplus", fit.largest_surplus, (5 + 20 + 64) / 1000.0, 1e-12);
  free(v.cells);
}

/* A ball of radius 1.05 about the unit sphere. */
static void balls(void)
{
  shape sphere = {0};
  const abut_superquadric larger = ball_at(0.0, 1.05);
  shape_sphere(&sphere, 4);
  const abut_fit fit = fit_of(&larger, 1, &sphere);
  const double share = 1.0 / (1.05 * 1.05 * 1.05), apart = 100.0 * 0.05 / sqrt(12.0);
  expect("balls", "IoU", fit.iou, share, 2e-3);
  expect("balls", "coverage", fit.coverage, 1.0, 0.0);
  expect("balls", "precision", fit.precision, share, 2e-3);
  expect("balls", "Chamfer", fit.chamfer_percent, apart, 0.03);
  expect("balls", "Hausdorff", fit.hausdorff_percent, apart, 0.15);
  expect("balls", "uncovered", fit.largest_uncovered, 0.0, 0.0);
  expect("balls", "beyond", fit.surface_beyond_1_percent, 1.0, 0.0);
  expect("balls", "surplus", fit.largest_surplus, 1.05 * 1.05 * 1.05 - 1.0, 5e-3);
  /* At a distance r from the middle it is (1.05 - r)/(1 - r), and places are those with r below 1 -
     0.005 sqrt(12): the median is at 0.780, 5 % lie above 0.966. */
  expect("balls", "depth, median", fit.depth_ratio_median, 0.270 / 0.220, 0.02);
  expect("balls", "depth, 95 %", fit.depth_ratio_95, 0.084 / 0.034, 0.2);
  CHECK(!fit.endless && fit.over_holes == 0.0);
}

/* A box without its lid, by a body that has one: what is over the hole counts for no distance. */
static void open_box(void)
{
  static const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
  shape lidless = {0};
  const abut_superquadric whole = {.axes = {1, 1, 1},
                                   .exponents = {0.02, 0.02},
                                   .quaternion = {1, 0, 0, 0}};
  shape_box(&lidless, low, high, 8);
  for (size_t i = lidless.face_count; i-- > 0;) {
    const uint32_t *f = lidless.faces + 3 * i;
    if (lidless.vertices[3 * f[0] + 2] == 1.0 && lidless.vertices[3 * f[1] + 2] == 1.0 &&
        lidless.vertices[3 * f[2] + 2] == 1.0) {
      shape_drop(&lidless, i);
    }
  }
  const abut_fit fit = fit_of(&whole, 1, &lidless);
  expect("open box", "IoU", fit.iou, 1.0, 0.02);
  expect("open box", "over holes", fit.over_holes, 1.0 / 6.0, 0.01);
  /* of the lid's middle it would be 29 */
  expect("open box", "Hausdorff", fit.hausdorff_percent, 0.0, 1.5);
  expect("open box", "Chamfer", fit.chamfer_percent, 0.0, 0.3);
}

/* What lies far from the mesh counts, and is a part of its own; also where it is so large that
 * cells are longer. */
static void stray(double away, double radius)
{
  shape sphere = {0};
  const abut_superquadric both[2] = {ball_at(0.0, 1.0), ball_at(away, radius)};
  const double surplus = radius * radius * radius;
  shape_sphere(&sphere, 4);
  const abut_fit fit = fit_of(both, 2, &sphere);
  expect("stray", "IoU", fit.iou * (1.0 + surplus), 1.0, 0.01);
  expect("stray", "precision", fit.precision * (1.0 + surplus), 1.0, 0.01);
  expect("stray", "coverage", fit.coverage, 1.0, 5e-3);
  expect("stray", "surplus", fit.largest_surplus / surplus, 1.0, 0.01);
  CHECK(fit.hausdorff_percent > 100.0 * (away - 1.0) / sqrt(12.0));
}

/* A rod that sticks out of the box by far is one part, across all blocks of cells. */
static void long_rod(void)
{
  shape sphere = {0};
  const abut_superquadric both[2] = {ball_at(0.0, 1.0),
                                     {.axes = {6, 0.25, 0.25},
                                      .exponents = {0.1, 0.1},
                                      .quaternion = {1, 0, 0, 0}}};
  shape_sphere(&sphere, 4);
  const abut_fit fit = fit_of(both, 2, &sphere);
  /* Each end is about 5 by 0.5 by 0.5. */
  expect("rod", "surplus", fit.largest_surplus, 1.25 / (4.0 / 3.0 * 3.14159265), 0.02);
  expect("rod", "precision", fit.precision, 1.0 / (1.0 + 2.0 * fit.largest_surplus), 0.01);
}

/* In the middle of a plate the depth along the ray from its centre is that to its side. */
static void thin_plate(void)
{
  static const double low[3] = {-1, -1, -0.1}, high[3] = {1, 1, 0.1};
  shape plate = {0};
  const abut_superquadric one = {.axes = {1, 1, 0.1},
                                 .exponents = {0.1, 0.1},
                                 .quaternion = {1, 0, 0, 0}};
  shape_box(&plate, low, high, 2);
  const abut_fit fit = fit_of(&one, 1, &plate);
  check(fit.depth_ratio_median > 2.5 && fit.depth_ratio_median < 8.0 &&
          fit.depth_ratio_95 > fit.depth_ratio_median && fit.depth_ratio_most >= fit.depth_ratio_95,
        "plate: depths are %g, %g, %g times too large", fit.depth_ratio_median, fit.depth_ratio_95,
        fit.depth_ratio_most);
  CHECK(fabs(fit.depth_ratio_most_at[0]) <= 1.0 && fabs(fit.depth_ratio_most_at[2]) <= 0.1);
}

/* Of two balls that are one mesh the field has one, so that the other is uncovered in one piece. */
static void two_balls(void)
{
  static const double at[2][3] = {{-2, 0, 0}, {2, 0, 0}};
  shape both = {0};
  const abut_superquadric one = ball_at(-2.0, 1.0);
  shape_ball(&both, at[0], 1.0, 4);
  shape_ball(&both, at[1], 1.0, 4);
  const abut_fit fit = fit_of(&one, 1, &both);
  expect("two balls", "IoU", fit.iou, 0.5, 3e-3);
  expect("two balls", "coverage", fit.coverage, 0.5, 1e-3);
  expect("two balls", "precision", fit.precision, 1.0, 5e-3);
  expect("two balls", "uncovered", fit.largest_uncovered, 0.5, 1e-3);
  expect("two balls", "beyond", fit.surface_beyond_1_percent, 0.5, 0.01);
  expect("two balls", "Hausdorff", fit.hausdorff_percent, 100.0 * 4.0 / sqrt(36.0 + 4.0 + 4.0),
         0.5);
}

/* Half of a box, which is itself almost a superquadric; turned faces and doubled ones do not
 * matter. */
static void half_a_box(void)
{
  static const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
  shape cube = {0};
  const abut_superquadric half = {.axes = {0.5, 1, 1},
                                  .exponents = {0.02, 0.02},
                                  .position = {-0.5, 0, 0},
                                  .quaternion = {1, 0, 0, 0}};
  shape_box(&cube, low, high, 3);
  for (size_t i = 0; i < cube.face_count; ++i) {
    shape_turn(&cube, i);
  }
  const abut_fit fit = fit_of(&half, 1, &cube);
  expect("half a box", "IoU", fit.iou, 0.5, 0.01);
  expect("half a box", "uncovered", fit.largest_uncovered, 0.5, 0.01);
}

/* The cells of a rough closed surface are those where the winding number says so, each by
 * itself. */
static void cells_one_by_one(void)
{
  shape rough = {0};
  const abut_superquadric ball = ball_at(0.0, 0.5);
  const field_of field = {body_of(context, &ball, 1), UNION, PLANE};
  shape_rough_box(&rough, 12, 0.2);
  surface s = shape_surface(&rough);
  solid inside;
  unsigned char *cells = malloc((size_t)MEASURE_SIDE * MEASURE_SIDE * MEASURE_SIDE);
  REQUIRE(cells);
  REQUIRE_OK(solid_create(&inside, &s));
  REQUIRE_OK(measure_cells(&field, &s, &inside, cells));
  size_t wrong = 0, looked = 0;
  for (size_t at = 0; at < (size_t)MEASURE_SIDE * MEASURE_SIDE * MEASURE_SIDE; at += 37, ++looked) {
    const size_t place[3] = {at / MEASURE_SIDE / MEASURE_SIDE, at / MEASURE_SIDE % MEASURE_SIDE,
                             at % MEASURE_SIDE};
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = s.lower[k] +
             (s.upper[k] - s.lower[k]) / MEASURE_CELLS * ((double)place[k] - MEASURE_PAD + 0.5);
    }
    const bool in_mesh = tree_winding(&inside.all, x) > 0.5;
    const double out = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 0.5;
    wrong += in_mesh != ((cells[at] & CELL_OF_MESH) != 0) ||
             (fabs(out) > 1e-5 && (out < 0.0) != ((cells[at] & CELL_OF_FIELD) != 0));
  }
  check(!wrong && looked > 80000, "%zu of %zu cells are wrong", wrong, looked);
  solid_free(&inside);
  surface_free(&s);
  free(cells);
  CHECK_OK(abut_destroy_body(field.body));
}

/* Of a half space what lies around the mesh counts. */
static void endless(void)
{
  static const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  static const uint32_t sizes[] = {3}, indices[] = {0, 1, 2};
  static const double plane[] = {0, 0, 1, 0, 0, 0};
  const abut_polyhedron half = {.planes = plane, .count = 1};
  shape sphere = {0};
  abut_body_def def = abut_default_body_def();
  abut_body body;
  abut_fit fit;
  shape_sphere(&sphere, 3);
  const abut_body_def ball = shape_def(&sphere);
  def.vertices = vertices;
  def.vertex_count = 3;
  def.face_sizes = sizes;
  def.face_indices = indices;
  def.face_count = 1;
  def.polyhedra = &half;
  def.polyhedron_count = 1;
  REQUIRE_OK(abut_create_body(context, &def, &body));
  REQUIRE_OK(abut_measure_fit(body, UNION, PLANE, &ball, &fit));
  CHECK(fit.endless);
  expect("half space", "coverage", fit.coverage, 0.5, 0.01);
  CHECK_OK(abut_destroy_body(body));
  shape_free(&sphere);
}

static void repeats(void)
{
  abut_fit fit[2];
  for (int i = 0; i < 2; ++i) {
    shape sphere = {0};
    const abut_superquadric ball = ball_at(0.1, 0.9);
    shape_sphere(&sphere, 2);
    fit[i] = fit_of(&ball, 1, &sphere);
  }
  check(!memcmp(&fit[0], &fit[1], sizeof *fit), "another call gives another answer");
}

/* Pictures of a ball in a larger one: grounds, what is drawn, and that what sticks out is blue. */
static void pictures(void)
{
  enum { WIDTH = 40, HEIGHT = 30, BYTES = 3 * WIDTH * HEIGHT };
  static uint8_t rgb[ABUT_FIT_PICTURES * BYTES];
  shape sphere = {0};
  const abut_superquadric larger = ball_at(0.0, 1.2);
  const abut_body body = body_of(context, &larger, 1);
  abut_fit_view view = abut_default_fit_view();
  shape_sphere(&sphere, 3);
  abut_body_def def = shape_def(&sphere);
  view.width = WIDTH;
  view.height = HEIGHT;
  for (int dark = 0; dark < 2; ++dark) {
    view.dark = dark;
    REQUIRE_OK(abut_draw_fit(body, UNION, PLANE, &def, &view, rgb));
    for (int i = 0; i < ABUT_FIT_PICTURES; ++i) {
      const uint8_t *corner = rgb + i * BYTES,
                    *middle = corner + 3 * (HEIGHT / 2 * WIDTH + WIDTH / 2);
      CHECK(dark ? corner[0] < 40 && corner[1] < 40 && corner[2] < 40
                 : corner[0] == 255 && corner[1] == 255);
      CHECK(middle[0] != corner[0]);
      if (i == ABUT_PICTURE_MESH_OFF || i == ABUT_PICTURE_FIELD_OFF) {
        CHECK(middle[2] > 2 * middle[0]);
      }
    }
  }
  view.width = 15;
  CHECK(abut_draw_fit(body, UNION, PLANE, &def, &view, rgb) == ABUT_ERROR_ARGUMENT);
  view = (abut_fit_view){.width = WIDTH, .height = HEIGHT};
  CHECK(abut_draw_fit(body, UNION, PLANE, &def, &view, rgb) == ABUT_ERROR_ARGUMENT);
  shape_free(&sphere);
  CHECK_OK(abut_destroy_body(body));
}

/* A mesh of a tetrahedron of equal sides around a ball, whose edges are outside of it. */
static void qualities(void)
{
  static const double vertices[] = {1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1};
  static const uint32_t sizes[] = {3, 3, 3, 3}, indices[] = {0, 1, 3, 0, 2, 1, 0, 3, 2, 1, 2, 3};
  const abut_superquadric ball = ball_at(0.0, 0.8);
  abut_body_def def = abut_default_body_def();
  abut_body body;
  abut_mesh_quality q;
  def.vertices = vertices;
  def.vertex_count = 4;
  def.face_sizes = sizes;
  def.face_indices = indices;
  def.face_count = 4;
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  REQUIRE_OK(abut_create_body(context, &def, &body));
  REQUIRE_OK(abut_measure_mesh(body, UNION, PLANE, &q));
  CHECK_EQUAL(q.triangles, 4);
  expect("tetrahedron", "quality", q.quality_mean, 1.0, 1e-12);
  expect("tetrahedron", "least quality", q.quality_least, 1.0, 1e-12);
  expect("tetrahedron", "off", q.off_mean, 100.0 * (sqrt(3.0) - 0.8) / sqrt(12.0), 1e-3);
  expect("tetrahedron", "most off", q.off_most, q.off_mean, 1e-3);
  expect("tetrahedron", "edges that leave", q.edges_leaving, 1.0, 0.0);
  CHECK(abut_measure_mesh(body, UNION, PLANE, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK_OK(abut_destroy_body(body));
  CHECK(abut_measure_mesh(body, UNION, PLANE, &q) == ABUT_ERROR_HANDLE);
}

static void refusals(void)
{
  shape sphere = {0};
  const abut_superquadric far_off = ball_at(50.0, 1.0);
  const abut_body body = body_of(context, &far_off, 1);
  abut_fit fit;
  shape_sphere(&sphere, 1);
  abut_body_def def = shape_def(&sphere);
  CHECK(abut_measure_fit(body, UNION, PLANE, &def, &fit) == ABUT_ERROR_BODY);
  CHECK(strstr(abut_last_error(), "the field has no surface inside the box of the mesh: are both "
                                  "in the same unit of length and in the same place?"));
  CHECK(abut_measure_fit(body, UNION, PLANE, NULL, &fit) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_measure_fit(body, UNION, PLANE, &def, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_measure_fit(body, 0.0, PLANE, &def, &fit) == ABUT_ERROR_ARGUMENT);
  def.face_count = 1;
  CHECK(abut_measure_fit(body, UNION, PLANE, &def, &fit) == ABUT_ERROR_BODY);
  def.face_count = sphere.face_count;
  CHECK_OK(abut_destroy_body(body));
  CHECK(abut_measure_fit(body, UNION, PLANE, &def, &fit) == ABUT_ERROR_HANDLE);
  shape_free(&sphere);
}

/* Bodies that were fitted by Marching-Primitives, with the figures that their fitting was measured
 * with by a program of its own. */
static void scans(const char *folder)
{
  static const struct {
    const char *body, *mesh;
    double iou, chamfer;
  } known[] = {{"armadillo", "armadillo.obj", 0.883, 0.40},
               {"airplane", "ycb_a_toy_airplane.obj", 0.835, 0.46},
               {"drill", "ycb_power_drill.obj", 0.938, 0.28},
               {"screwdriver", "ycb_flat_screwdriver.obj", 0.889, 0.34}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    char path[4096];
    abut_body body;
    mesh m;
    abut_fit fit;
    snprintf(path, sizeof path, "%s/data/bodies/%s.body.json", folder, known[i].body);
    REQUIRE_OK(abut_load_body(context, path, &body));
    snprintf(path, sizeof path, "%s/data/meshes/%s", folder, known[i].mesh);
    REQUIRE_OK(mesh_read(path, &m));
    abut_body_def def = abut_default_body_def();
    def.vertices = m.vertices;
    def.vertex_count = m.vertex_count;
    def.face_sizes = m.face_sizes;
    def.face_indices = m.face_indices;
    def.face_count = m.face_count;
    REQUIRE_OK(abut_measure_fit(body, UNION, PLANE, &def, &fit));
    printf("%s: IoU %.4f, coverage %.4f, precision %.4f, Chamfer %.4f %%, Hausdorff %.3f %%, "
           "uncovered %.4f, beyond %.4f\n",
           known[i].body, fit.iou, fit.coverage, fit.precision, fit.chamfer_percent,
           fit.hausdorff_percent, fit.largest_uncovered, fit.surface_beyond_1_percent);
    /* The figures have three and two decimals. */
    expect(known[i].body, "IoU", fit.iou, known[i].iou, 0.002);
    expect(known[i].body, "Chamfer", fit.chamfer_percent, known[i].chamfer, 0.012);
    mesh_free(&m);
    CHECK_OK(abut_destroy_body(body));
  }
}

int main(int count, char **arguments)
{
  context = require_context(ABUT_FLOAT32);
  if (count > 1 && !strcmp(arguments[1], "scans")) {
    if (!getenv("ABUT_SHARED")) {
      printf("not run: ABUT_SHARED names no folder\n");
      return 77;
    }
    scans(getenv("ABUT_SHARED"));
  } else if (count > 1) {
    two_balls();
    half_a_box();
    stray(40.0, 0.5);
    stray(100.0, 60.0);
    long_rod();
    thin_plate();
    endless();
    repeats();
    pictures();
  } else {
    lines_at_a_wide_cell();
    balls();
    open_box();
    if (!usual_share()) {
      stray(3.0, 0.5);
    }
    cells_one_by_one();
    qualities();
    refusals();
  }
  return finish_context(context);
}
