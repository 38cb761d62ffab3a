/* Whole decompositions: test_decompose WHAT FOLDER. WHAT is `small`: meshes of closed form, what is
 * promised of any, and refusals; `more` of these. Of the folder ABUT_SHARED, and 77 without it:
 * `files`, some of them damaged; MESH:K against the floors of docs/dev/decompose.md;
 * `again:MESH:K`, the decomposed body's surface decomposed once more; `counts:MESH:K,K,...`; and
 * `tables`, its bodies by way of tables. FOLDER is for files. */
#include "mesh/contact_mesh/zero_set.h"
#include "support/check.h"
#include "surface/shapes.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context device;
static const char *folder;

static abut_decompose_options options_for(uint32_t primitives)
{
  abut_decompose_options o = abut_default_decompose_options();
  o.primitives = primitives;
  return o;
}

static abut_decomposition of_shape(shape *s, const abut_decompose_options *o)
{
  abut_decomposition d;
  const abut_body_def def = shape_def(s);
  REQUIRE_OK(abut_decompose(device, &def, o, &d));
  return d;
}

static abut_fit fit_of(const abut_decomposition *d, const abut_body_def *mesh)
{
  abut_body body;
  abut_fit fit = {0};
  REQUIRE_OK(abut_create_body(device, &d->def, &body));
  REQUIRE_OK(abut_measure_fit(body, d->def.union_, 1e-3, mesh, &fit));
  CHECK_OK(abut_destroy_body(body));
  return fit;
}

/* ---- shapes ---- */

/* A box with a ball at one end and a rod at the other, turned out of the axes. */
static void make_tool(shape *s, double scale, double angle, double away)
{
  static const double low[2][3] = {{-0.5, -0.2, -0.1}, {0.45, -0.05, -0.05}},
                      high[2][3] = {{0.5, 0.2, 0.1}, {1.2, 0.05, 0.05}};
  static const double centre[3] = {-0.6, 0.0, 0.0};
  memset(s, 0, sizeof *s);
  shape_box(s, low[0], high[0], 4);
  shape_box(s, low[1], high[1], 2);
  shape_ball(s, centre, 0.25, 3);
  for (size_t i = 0; i < s->vertex_count; ++i) {
    double *v = s->vertices + 3 * i;
    const double x = cos(angle) * v[0] - sin(angle) * v[1],
                 y = sin(angle) * v[0] + cos(angle) * v[1];
    v[0] = scale * (x + away);
    v[1] = scale * y;
    v[2] *= scale;
  }
}

/* ---- what is promised ---- */

static void one_box(void)
{
  static const double low[3] = {-1, -2, -3}, high[3] = {1, 2, 3};
  shape block = {0};
  shape_box(&block, low, high, 4);
  const abut_decompose_options o = options_for(1);
  abut_decomposition d = of_shape(&block, &o);
  const abut_decompose_report *r = &d.report;
  check(r->end == ABUT_DECOMPOSED && r->primitives == 1 && d.def.superquadric_count == 1,
        "a box is of %zu primitives", r->primitives);
  check(r->iou > 0.98, "a box has an IoU of %g", r->iou);
  check(fabs(r->sampled_volume - 48.0) < 0.005 * 48.0 && fabs(r->volume - 48.0) < 1e-9,
        "its volume is %g, by samples %g", r->volume, r->sampled_volume);
  check(fabs(r->union_ - 0.008 * sqrt(56.0)) < 1e-12, "its union is %g", r->union_);
  check(d.def.vertex_count >= 8 && d.def.surface.face_count == block.face_count,
        "its meshes have %zu vertices, %zu faces", d.def.vertex_count, d.def.surface.face_count);
  abut_free_decomposition(&d);
  CHECK(!d.memory && !d.def.superquadrics);
  shape_free(&block);
}

static bool same_body(const abut_decomposition *a, const abut_decomposition *b)
{
  const size_t count = a->def.superquadric_count, polyhedra = a->def.polyhedron_count;
  bool same = count == b->def.superquadric_count && polyhedra == b->def.polyhedron_count &&
              (!count || !memcmp(a->def.superquadrics, b->def.superquadrics,
                                 count * sizeof(abut_superquadric)));
  for (size_t i = 0; same && i < polyhedra; ++i) {
    const abut_polyhedron *p = &a->def.polyhedra[i], *q = &b->def.polyhedra[i];
    same = p->count == q->count && !memcmp(p->planes, q->planes, 6 * p->count * sizeof *p->planes);
  }
  return same;
}

/* Work-groups of another size give the same body to the bit. */
static void with_small_groups(shape *s, const abut_decompose_options *o,
                              const abut_decomposition *wanted)
{
  const abut_context other = device;
  setenv("ABUT_TEST_GROUP", "4", 1);
  if (test_context(ABUT_FLOAT32, &device)) {
    abut_decomposition d = of_shape(s, o);
    CHECK(same_body(&d, wanted));
    abut_free_decomposition(&d);
    CHECK_OK(abut_destroy_context(device));
  }
  unsetenv("ABUT_TEST_GROUP");
  device = other;
}

/* Of many clusters in a plate come many pieces; one primitive is what an error asks for. */
static void thin_plate(void)
{
  static const double low[3] = {-0.1, -0.075, -0.004}, high[3] = {0.1, 0.075, 0.004};
  shape plate = {0};
  shape_box(&plate, low, high, 2);
  abut_decompose_options o = options_for(0);
  o.error = 0.05;
  abut_decomposition d = of_shape(&plate, &o);
  check(d.report.end == ABUT_DECOMPOSED && d.report.primitives == 1 && d.report.iou >= 0.95,
        "a plate is of %zu primitives, IoU %g", d.report.primitives, d.report.iou);
  abut_free_decomposition(&d);
  shape_free(&plate);
}

/* A plate with a hole, by two: what adds cannot have the hole, a plate without a pin can. Of a box
 * nothing is taken. */
static void plate_with_hole(void)
{
  enum { SIDES = 32 };
  static const double low[3] = {-1, -2, -3}, high[3] = {1, 2, 3};
  static const double pi = 3.14159265358979323846;
  shape plate = {0}, block = {0};
  shape_plate(&plate, SIDES / 8);
  const double volume = 0.2 * (4.0 - 0.5 * SIDES * 0.25 * sin(2.0 * pi / SIDES));
  abut_decompose_options o = options_for(2);
  o.union_ = 0.004;
  abut_decomposition added = of_shape(&plate, &o);
  o.family = ABUT_DECOMPOSE_AUTO;
  abut_decomposition d = of_shape(&plate, &o);
  const abut_decompose_report *r = &d.report;
  const double of_body = r->sampled_volume * r->coverage / r->precision;
  printf("a plate with a hole by 2: IoU %.4f, without taking away %.4f; volume %.4f, not %.4f\n",
         r->iou, added.report.iou, of_body, volume);
  check(added.report.subtracted == 0 && r->subtracted == 1 && r->primitives == 2,
        "of a plate with a hole %zu of %zu are taken away", r->subtracted, r->primitives);
  check(r->iou > 0.97 && added.report.iou < 0.9,
        "a plate with a hole has an IoU of %g, without taking away of %g", r->iou,
        added.report.iou);
  check(fabs(r->volume - volume) < 1e-9 && fabs(of_body - volume) < 0.01 * volume,
        "its volume is %g, its body's %g, not %g", r->volume, of_body, volume);
  double hole = 0.0;
  for (size_t i = 0; i < d.def.superquadric_count; ++i) {
    const abut_superquadric *q = &d.def.superquadrics[i];
    hole = q->operation == ABUT_SUBTRACT
             ? sqrt(q->position[0] * q->position[0] + q->position[1] * q->position[1])
             : hole;
  }
  check(hole < 0.01, "the hole is %g m off its place", hole);
  abut_free_decomposition(&added);
  with_small_groups(&plate, &o, &d);
  abut_free_decomposition(&d);
  shape_box(&block, low, high, 4);
  d = of_shape(&block, &o);
  CHECK(d.report.subtracted == 0 && d.report.iou > 0.98);
  abut_free_decomposition(&d);
  shape_free(&plate);
  shape_free(&block);
}

/* By --family auto what is all of flat faces is exact: IoU, and the volume of closed form; written,
 * it is the same body. */
static void flat_faces(const char *name, shape *s, uint32_t primitives, double volume)
{
  char path[1024];
  abut_body body;
  abut_body_info info;
  abut_decompose_options o = options_for(primitives);
  o.union_ = 0.004;
  abut_decomposition added = of_shape(s, &o);
  o.family = ABUT_DECOMPOSE_AUTO;
  abut_decomposition d = of_shape(s, &o);
  const abut_decompose_report *r = &d.report;
  snprintf(path, sizeof path, "%s/flat.body.json", folder);
  REQUIRE_OK(abut_write_decomposition(path, &d));
  REQUIRE_OK(abut_load_body(device, path, &body));
  CHECK_OK(abut_get_body_info(body, &info));
  const double of_body = r->precision > 0.0 ? volume * r->coverage / r->precision : 0.0;
  printf("%s by %u: objective %.3g, IoU %.4f, of superquadrics %.3g, %.4f; volume %.5f, not %.5f\n",
         name, primitives, r->objective, r->iou, added.report.objective, added.report.iou, of_body,
         volume);
  check(r->polyhedra == primitives && d.def.polyhedron_count == primitives &&
          r->primitives == primitives && !added.report.polyhedra,
        "%s: %zu of %zu are polyhedra", name, r->polyhedra, r->primitives);
  check(r->objective < 0.2 * added.report.objective, "%s: the objective is %g, of superquadrics %g",
        name, r->objective, added.report.objective);
  check(r->iou > 0.99 && fabs(of_body - volume) < 0.005 * volume, "%s: IoU %g, volume %g, not %g",
        name, r->iou, of_body, volume);
  CHECK(info.polyhedra == primitives && info.superquadrics == 0 && info.planes == r->planes &&
        info.union_ == d.def.union_);
  check(r->planes >= 4 * (size_t)primitives && r->planes <= 8 * (size_t)primitives &&
          r->smallest_axis > 0.0 && isfinite(r->smallest_axis),
        "%s: %zu planes, smallest axis %g", name, r->planes, r->smallest_axis);
  CHECK_OK(abut_destroy_body(body));
  abut_free_decomposition(&added);
  abut_free_decomposition(&d);
}

static void hexagonal_prism(void)
{
  shape prism = {0};
  shape_prism(&prism, 6, 1.2);
  flat_faces("a hexagonal prism", &prism, 1, 1.2 * 1.5 * sqrt(3.0));
  shape_free(&prism);
}

/* Unions of boxes that overlap. */
static void bracket_and_stairs(void)
{
  static const double low[3][3] = {{-2, -1, -0.25}, {-2, -1, -0.25}, {-1.7, -0.2, -0.25}},
                      high[3][3] = {{2, 1, 0.25}, {-1.5, 1, 2.75}, {1.3, 0.2, 1.25}};
  shape bracket = {0}, stairs = {0};
  for (int i = 0; i < 3; ++i) {
    shape_box(&bracket, low[i], high[i], 2);
  }
  flat_faces("a bracket", &bracket, 3, 4.0 + 2.5 + 2.8 * 0.4);
  for (int i = 0; i < 4; ++i) {
    const double from[3] = {i - 2.0, -1.0, 0.5 * i - 0.05}, to[3] = {2.0, 1.0, 0.5 * i + 0.5};
    shape_box(&stairs, from, to, 2);
  }
  flat_faces("stairs", &stairs, 4, 10.0 + 4.0 * 2.0 * 0.05);
  shape_free(&bracket);
  shape_free(&stairs);
}

/* Never is the objective higher than of superquadrics that add. */
static void no_worse(void)
{
  shape tool;
  make_tool(&tool, 1.0, 0.3, 0.0);
  abut_decompose_options o = options_for(3);
  abut_decomposition added = of_shape(&tool, &o);
  o.family = ABUT_DECOMPOSE_AUTO;
  abut_decomposition d = of_shape(&tool, &o), again_ = of_shape(&tool, &o);
  printf("a tool by 3: objective %.4g, of superquadrics %.4g; %zu polyhedra\n", d.report.objective,
         added.report.objective, d.report.polyhedra);
  CHECK(d.report.objective <= added.report.objective && d.report.primitives == 3);
  CHECK(d.report.objective == again_.report.objective && d.report.planes == again_.report.planes);
  CHECK(same_body(&d, &again_));
  abut_free_decomposition(&added);
  abut_free_decomposition(&d);
  abut_free_decomposition(&again_);
  shape_free(&tool);
}

/* The same to the bit again, and with work-groups of another size. */
static void again(void)
{
  shape tool;
  make_tool(&tool, 1.0, 0.3, 0.0);
  const abut_decompose_options o = options_for(3);
  abut_decomposition one = of_shape(&tool, &o), two = of_shape(&tool, &o);
  check(one.report.iou > 0.93 && one.report.primitives == 3,
        "a tool of %zu primitives has an IoU of %g", one.report.primitives, one.report.iou);
  CHECK(same_body(&one, &two));
  abut_free_decomposition(&two);
  with_small_groups(&tool, &o, &one);
  abut_free_decomposition(&one);
  shape_free(&tool);
}

/* Counts are exact; where the shape has no room for as many, it says so. */
static void counts(const uint32_t *of, size_t count)
{
  shape tool;
  make_tool(&tool, 1.0, 0.3, 0.0);
  for (size_t i = 0; i < count; ++i) {
    const abut_decompose_options o = options_for(of[i]);
    abut_decomposition d = of_shape(&tool, &o);
    check(d.report.primitives == of[i] && d.report.end == ABUT_DECOMPOSED,
          "%u primitives are %zu, end %d", of[i], d.report.primitives, (int)d.report.end);
    abut_free_decomposition(&d);
  }
  shape_free(&tool);
}

static void few_cells(void)
{
  static const double low[3] = {0, 0, 0}, high[3] = {1, 0.035, 0.035};
  shape rod = {0};
  shape_box(&rod, low, high, 2);
  const abut_decompose_options o = options_for(64);
  abut_decomposition d = of_shape(&rod, &o);
  check(d.report.end == ABUT_DECOMPOSE_FEWER && d.report.primitives >= 1 &&
          d.report.primitives < 64,
        "a rod is of %zu primitives, end %d", d.report.primitives, (int)d.report.end);
  abut_free_decomposition(&d);
  shape_free(&rod);
}

/* Neither unit, place nor direction of a mesh matter much. */
static void moved(void)
{
  static const double scales[] = {1.0, 1e-3, 1e3}, angles[] = {0.3, 1.7, -0.4},
                      away[] = {0.0, 0.5, -20.0};
  double first = 0.0;
  const abut_decompose_options o = options_for(3);
  for (int i = 0; i < 3; ++i) {
    shape tool;
    make_tool(&tool, scales[i], angles[i], away[i]);
    abut_decomposition d = of_shape(&tool, &o);
    first = i ? first : d.report.iou;
    check(fabs(d.report.iou - first) < 0.01, "scaled by %g the IoU is %g, not %g", scales[i],
          d.report.iou, first);
    abut_free_decomposition(&d);
    shape_free(&tool);
  }
}

/* What is found in float64 is no other body by its figures. */
static void precisions(void)
{
  shape tool;
  make_tool(&tool, 1.0, 0.3, 0.0);
  const abut_decompose_options o = options_for(5);
  abut_decomposition narrow = of_shape(&tool, &o);
  const abut_context other = device;
  if (test_context(ABUT_FLOAT64, &device)) {
    abut_decomposition wide = of_shape(&tool, &o);
    check(fabs(wide.report.iou - narrow.report.iou) < 0.01 &&
            wide.report.primitives == narrow.report.primitives,
          "in float64 the IoU is %g, in float32 %g", wide.report.iou, narrow.report.iou);
    printf("IoU %.4f in float32, %.4f in float64\n", narrow.report.iou, wide.report.iou);
    abut_free_decomposition(&wide);
    CHECK_OK(abut_destroy_context(device));
  }
  device = other;
  abut_free_decomposition(&narrow);
  shape_free(&tool);
}

static bool count_ends(void *user, const char *what, double share)
{
  (void)share;
  *(size_t *)user += !strcmp(what, "final samples");
  return true;
}

static void by_error(void)
{
  size_t ends = 0;
  shape tool;
  make_tool(&tool, 1.0, 0.3, 0.0);
  abut_decompose_options o = options_for(0);
  o.error = 0.06;
  o.most_primitives = 8;
  abut_decomposition d = of_shape(&tool, &o);
  check(d.report.end == ABUT_DECOMPOSED && d.report.iou >= 0.94 && d.report.primitives <= 4,
        "an error of 0.06 takes %zu primitives, IoU %g, end %d", d.report.primitives, d.report.iou,
        (int)d.report.end);
  abut_free_decomposition(&d);
  /* Each count is fitted by itself, at two widths in the end, and none again on a way down. */
  o.error = 0.001;
  o.most_primitives = 2;
  o.progress = count_ends;
  o.user = &ends;
  d = of_shape(&tool, &o);
  CHECK_EQUAL(ends, 2 * 2);
  check(d.report.end == ABUT_DECOMPOSE_ERROR_NOT_REACHED && d.report.primitives == 2,
        "an error of 0.001 by two primitives: %zu, end %d", d.report.primitives, (int)d.report.end);
  abut_free_decomposition(&d);
  /* Beyond that the most is tried before an error counts as not reached. */
  ends = 0;
  o.most_primitives = 7;
  d = of_shape(&tool, &o);
  CHECK_EQUAL(ends, 2 * (4 + 1));
  check(d.report.end == ABUT_DECOMPOSE_ERROR_NOT_REACHED && d.report.primitives <= 7,
        "an error of 0.001 by seven primitives: %zu, end %d", d.report.primitives,
        (int)d.report.end);
  abut_free_decomposition(&d);
  shape_free(&tool);
}

/* What is written is read as the same body. */
static void written(void)
{
  shape tool;
  char path[1024];
  abut_body body;
  abut_body_info info;
  make_tool(&tool, 1.0, 0.3, 0.0);
  const abut_decompose_options o = options_for(3);
  abut_decomposition d = of_shape(&tool, &o);
  snprintf(path, sizeof path, "%s/tool.body.json", folder);
  REQUIRE_OK(abut_write_decomposition(path, &d));
  REQUIRE_OK(abut_load_body(device, path, &body));
  CHECK_OK(abut_get_body_info(body, &info));
  CHECK(info.superquadrics == 3 && info.union_ == d.def.union_ &&
        info.vertices == d.def.vertex_count);
  check(info.misfit < 0.01 * info.diagonal && !info.suspicions, "its mesh is %g off its field",
        info.misfit);
  const abut_body_def mesh = shape_def(&tool);
  const abut_fit fit = fit_of(&d, &mesh);
  check(fabs(fit.iou - d.report.iou) < 0.01, "its IoU is %g, by samples %g", fit.iou, d.report.iou);
  CHECK_OK(abut_destroy_body(body));
  abut_superquadric less[3];
  abut_superquadrics table;
  abut_decomposition other = d;
  memcpy(less, d.def.superquadrics, sizeof less);
  less[2].operation = ABUT_SUBTRACT;
  other.def.superquadrics = less;
  REQUIRE_OK(abut_write_decomposition(path, &other));
  CHECK_EQUAL(abut_load_superquadrics(path, 1.0, &table), ABUT_ERROR_FORMAT);
  check(strstr(abut_last_error(), "superquadric 2 is subtracted") != NULL,
        "of what is taken away the file says '%s'", abut_last_error());
  CHECK_EQUAL(abut_write_decomposition("tool.obj", &d), ABUT_ERROR_ARGUMENT);
  abut_free_decomposition(&d);
  CHECK_EQUAL(abut_write_decomposition(path, &d), ABUT_ERROR_ARGUMENT);
  shape_free(&tool);
}

/* ---- refusals ---- */

static void refused(shape *s, const abut_decompose_options *o, abut_status wanted,
                    const char *words)
{
  abut_decomposition d;
  const abut_body_def def = shape_def(s);
  CHECK_EQUAL(abut_decompose(device, &def, o, &d), wanted);
  check(strstr(abut_last_error(), words) != NULL, "'%s' does not say '%s'", abut_last_error(),
        words);
  CHECK(!d.memory && !d.def.superquadrics);
}

static bool stop(void *user, const char *what, double share)
{
  (void)user;
  return !strcmp(what, "surface") || share < 0.2;
}

static void refusals(void)
{
  static const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, thin[3] = {1, 1, 1e-3};
  shape block = {0}, plate = {0}, sheet = {0}, none = {0};
  abut_decompose_options o = options_for(1);
  abut_decomposition d;
  shape_box(&block, low, high, 2);
  shape_box(&plate, low, thin, 2);
  const abut_body_def def = shape_def(&block);
  CHECK_EQUAL(abut_decompose((abut_context){0, 0}, &def, &o, &d), ABUT_ERROR_HANDLE);
  CHECK_EQUAL(abut_decompose(device, NULL, &o, &d), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_decompose(device, &def, NULL, &d), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_decompose(device, &def, &o, NULL), ABUT_ERROR_ARGUMENT);
  refused(&plate, &o, ABUT_ERROR_BODY, "make a grid with `abut field`");
  shape_face(&none, shape_vertex(&none, 1, 1, 1), shape_vertex(&none, 1, 1, 1),
             shape_vertex(&none, 1, 1, 1));
  refused(&none, &o, ABUT_ERROR_BODY, "every face of the mesh has area 0");
  shape_quad(&sheet, shape_vertex(&sheet, 0, 0, 0), shape_vertex(&sheet, 1, 0, 0),
             shape_vertex(&sheet, 1, 1, 0), shape_vertex(&sheet, 0, 1, 0));
  refused(&sheet, &o, ABUT_ERROR_BODY, "enclose");
  o.primitives = 65;
  refused(&block, &o, ABUT_ERROR_ARGUMENT, "give 1 to 64");
  o = options_for(0);
  o.most_primitives = 65;
  refused(&block, &o, ABUT_ERROR_ARGUMENT, "the largest number of primitives is 65");
  o = options_for(0);
  o.error = 1.0;
  refused(&block, &o, ABUT_ERROR_ARGUMENT, "the error is 1");
  o = options_for(1);
  o.family = (abut_decompose_family)99;
  refused(&block, &o, ABUT_ERROR_ARGUMENT,
          "the family is 99; it must be ABUT_DECOMPOSE_SQ or ABUT_DECOMPOSE_AUTO");
  o = options_for(1);
  o.union_ = 0.1;
  refused(&block, &o, ABUT_ERROR_ARGUMENT, "the union is 0.1");
  o = options_for(1);
  o.progress = stop;
  refused(&block, &o, ABUT_ERROR_CANCELLED, "cancelled");
  o = options_for(1);
  o.cookie = 0;
  refused(&block, &o, ABUT_ERROR_ARGUMENT, "abut_default_decompose_options");
  block.vertices[4] = NAN;
  o = options_for(1);
  refused(&block, &o, ABUT_ERROR_BODY, "vertex");
  CHECK_EQUAL(abut_load_decomposition(device, "nothing.stl", &o, &d), ABUT_ERROR_READ);
  o.scale = -1.0;
  CHECK_EQUAL(abut_load_decomposition(device, "nothing.stl", &o, &d), ABUT_ERROR_ARGUMENT);
  abut_free_decomposition(NULL);
  shape_free(&block);
  shape_free(&plate);
  shape_free(&sheet);
  shape_free(&none);
}

/* ---- floors ---- */

static const struct {
  const char *name, *file;
  uint32_t primitives;
  double iou, chamfer, tau;
} floors[] = {{"armadillo:18", "armadillo.obj", 18, 0.90, 0.34, 0.0},
              {"armadillo:40", "armadillo.obj", 40, 0.938, 0.23, 0.0},
              {"airplane:32", "ycb_a_toy_airplane.obj", 32, 0.895, 0.34, 0.0},
              {"airplane:64", "ycb_a_toy_airplane.obj", 64, 0.92, 0.25, 0.0},
              {"drill:17", "ycb_power_drill.obj", 17, 0.957, 0.21, 0.0},
              {"screwdriver:5", "ycb_flat_screwdriver.obj", 5, 0.93, 0.24, 0.0},
              {"screwdriver:12", "ycb_flat_screwdriver.obj", 12, 0.955, 0.14, 0.0},
              {"spot:22", "spot.obj", 22, 0.975, 0.17, 0.0},
              {"bunny:16", "bunny.off", 16, 0.945, HUGE_VAL, 0.0},
              {"3holes:24", "3holes.off", 24, 0.98, HUGE_VAL, 0.0},
              {"cylinder:1", "cylinder.stl", 1, 0.985, HUGE_VAL, 0.0},
              {"plate_holes:24", "plate_holes.STL", 24, 0.96, HUGE_VAL, 0.004}};

static int keep_to_floor(const char *what)
{
  const char *shared = getenv("ABUT_SHARED");
  char path[1024];
  if (!shared) {
    printf("ABUT_SHARED names no folder of reference data\n");
    return 77;
  }
  for (size_t i = 0; i < sizeof floors / sizeof *floors; ++i) {
    if (strcmp(floors[i].name, what) != 0) {
      continue;
    }
    abut_decomposition d;
    abut_decompose_options o = options_for(floors[i].primitives);
    o.union_ = floors[i].tau;
    snprintf(path, sizeof path, "%s/data/meshes/%s", shared, floors[i].file);
    REQUIRE_OK(abut_load_decomposition(device, path, &o, &d));
    abut_body_def mesh = abut_default_body_def();
    mesh.vertices = d.def.surface.vertices;
    mesh.vertex_count = d.def.surface.vertex_count;
    mesh.face_sizes = d.def.surface.face_sizes;
    mesh.face_indices = d.def.surface.face_indices;
    mesh.face_count = d.def.surface.face_count;
    const abut_fit fit = fit_of(&d, &mesh);
    printf("%s: IoU %.4f, by samples %.4f, Chamfer %.4f %%\n", what, fit.iou, d.report.iou,
           fit.chamfer_percent);
    check(fit.iou >= floors[i].iou, "%s: IoU is %g, below %g", what, fit.iou, floors[i].iou);
    check(fit.chamfer_percent <= floors[i].chamfer, "%s: Chamfer is %g %%, above %g", what,
          fit.chamfer_percent, floors[i].chamfer);
    check(d.report.primitives == floors[i].primitives && d.report.end == ABUT_DECOMPOSED,
          "%s: %zu primitives, end %d", what, d.report.primitives, (int)d.report.end);
    check(fabs(d.report.sampled_volume - d.report.volume) < 0.005 * d.report.volume,
          "%s: volume %g, by samples %g", what, d.report.volume, d.report.sampled_volume);
    abut_free_decomposition(&d);
  }
  return check_finish();
}

/* The path of a mesh of the shared folder, or NULL. */
static const char *shared_path(const char *folder_name, const char *name, size_t length,
                               const char *ending)
{
  static char path[2048];
  const char *shared = getenv("ABUT_SHARED");
  if (!shared) {
    printf("ABUT_SHARED names no folder of reference data\n");
    return NULL;
  }
  snprintf(path, sizeof path, "%s/data/%s/%.*s%s", shared, folder_name, (int)length, name, ending);
  return path;
}

static const char *mesh_file(const char *what, size_t length)
{
  for (size_t i = 0; i < sizeof floors / sizeof *floors; ++i) {
    if (strlen(floors[i].name) > length && floors[i].name[length] == ':' &&
        !strncmp(floors[i].name, what, length)) {
      return floors[i].file;
    }
  }
  check(false, "no mesh '%.*s'", (int)length, what);
  return NULL;
}

static abut_body_def def_of(const surface *s)
{
  abut_body_def def = abut_default_body_def();
  uint32_t *sizes = malloc(s->triangle_count * sizeof *sizes);
  REQUIRE(sizes);
  for (size_t i = 0; i < s->triangle_count; ++i) {
    sizes[i] = 3;
  }
  def.vertices = s->points;
  def.vertex_count = s->point_count;
  def.face_sizes = sizes;
  def.face_indices = s->triangles;
  def.face_count = s->triangle_count;
  return def;
}

/* The zero set of a decomposed body, decomposed into as many, is found again. */
static int recover(const char *what)
{
  const char *colon = strchr(what, ':'),
             *file = colon ? mesh_file(what, (size_t)(colon - what)) : NULL;
  const char *path = file ? shared_path("meshes", file, strlen(file), "") : NULL;
  if (!path) {
    return file ? 77 : check_finish();
  }
  abut_decomposition d, again;
  abut_body body;
  probe p;
  box b;
  zero_set z = {0};
  const abut_decompose_options o = options_for((uint32_t)strtoul(colon + 1, NULL, 10));
  REQUIRE_OK(abut_load_decomposition(device, path, &o, &d));
  REQUIRE_OK(abut_create_body(device, &d.def, &body));
  const field_of field = {body, d.def.union_, 1e-3};
  REQUIRE_OK(probe_create(&field, &p, &b));
  REQUIRE_OK(zero_set_create(&field, &b, &z));
  const abut_body_def mesh = def_of(&z.fine);
  REQUIRE_OK(abut_decompose(device, &mesh, &o, &again));
  const abut_fit fit = fit_of(&again, &mesh);
  printf("%s: found again with an IoU of %.4f, Chamfer %.4f %%\n", what, fit.iou,
         fit.chamfer_percent);
  check(fit.iou > 0.98, "%s: found again with an IoU of %g", what, fit.iou);
  free((void *)(uintptr_t)mesh.face_sizes);
  zero_set_free(&z);
  probe_free(&p);
  CHECK_OK(abut_destroy_body(body));
  abut_free_decomposition(&d);
  abut_free_decomposition(&again);
  return check_finish();
}

/* Each count that is asked for is kept to. */
static int keep_to_counts(const char *what)
{
  const char *colon = strchr(what, ':'),
             *file = colon ? mesh_file(what, (size_t)(colon - what)) : NULL;
  const char *path = file ? shared_path("meshes", file, strlen(file), "") : NULL;
  abut_mesh_file mesh;
  if (!path) {
    return file ? 77 : check_finish();
  }
  REQUIRE_OK(abut_load_mesh(path, 1.0, &mesh));
  for (const char *at = colon; at; at = strchr(at + 1, ',')) {
    const abut_decompose_options o = options_for((uint32_t)strtoul(at + 1, NULL, 10));
    abut_decomposition d;
    REQUIRE_OK(abut_decompose(device, &mesh.def, &o, &d));
    check(d.report.primitives == o.primitives && d.report.end == ABUT_DECOMPOSED,
          "%u primitives are %zu, end %d", o.primitives, d.report.primitives, (int)d.report.end);
    abut_free_decomposition(&d);
  }
  abut_free_mesh(&mesh);
  return check_finish();
}

/* A body that went through a table has the figures that it had. */
static void by_table(const char *name, const char *ending)
{
  abut_superquadrics given, read;
  abut_decomposition d;
  abut_body body;
  char table[2048];
  static const char *const meshes[][2] = {{"armadillo", "armadillo.obj"},
                                          {"airplane", "ycb_a_toy_airplane.obj"},
                                          {"drill", "ycb_power_drill.obj"},
                                          {"screwdriver", "ycb_flat_screwdriver.obj"}};
  snprintf(table, sizeof table, "%s/%s%s", folder, name, ending);
  const char *path = shared_path("bodies", name, strlen(name), ".body.json");
  REQUIRE_OK(abut_load_superquadrics(path, 1.0, &given));
  REQUIRE_OK(abut_load_body(device, path, &body));
  REQUIRE_OK(abut_write_superquadrics(table, given.superquadrics, given.count));
  REQUIRE_OK(abut_load_superquadrics(table, 1.0, &read));
  REQUIRE_OK(abut_import_superquadrics(&read, 0.0, &d));
  CHECK(d.def.superquadric_count == given.count && given.count >= 4);
  for (size_t i = 0; i < 4; ++i) {
    if (strcmp(meshes[i][0], name) != 0) {
      continue;
    }
    abut_mesh_file mesh;
    abut_fit was;
    REQUIRE_OK(
      abut_load_mesh(shared_path("meshes", meshes[i][1], strlen(meshes[i][1]), ""), 1.0, &mesh));
    REQUIRE_OK(abut_measure_fit(body, d.def.union_, 1e-3, &mesh.def, &was));
    const abut_fit fit = fit_of(&d, &mesh.def);
    printf("%s: IoU %.5f, by a table %.5f; Chamfer %.4f %%, %.4f %%\n", name, was.iou, fit.iou,
           was.chamfer_percent, fit.chamfer_percent);
    check(fabs(fit.iou - was.iou) < 1e-5 &&
            fabs(fit.chamfer_percent - was.chamfer_percent) < 1e-3 && was.iou > 0.8,
          "%s: by a table the IoU is %g, not %g, Chamfer %g %%, not %g %%", name, fit.iou, was.iou,
          fit.chamfer_percent, was.chamfer_percent);
    abut_free_mesh(&mesh);
  }
  CHECK_OK(abut_destroy_body(body));
  abut_free_decomposition(&d);
  abut_free_superquadrics(&given);
  abut_free_superquadrics(&read);
}

static int keep_to_tables(void)
{
  if (!shared_path("bodies", "", 0, "")) {
    return 77;
  }
  by_table("screwdriver", ".csv");
  by_table("armadillo", ".npy");
  by_table("airplane", ".txt");
  by_table("drill", ".csv");
  return check_finish();
}

/* Each file ends in a body that holds, or is refused with its name. */
static int take_all_files(void)
{
  const char *shared = getenv("ABUT_SHARED");
  char path[2048];
  size_t bodies = 0, refusals_seen = 0;
  snprintf(path, sizeof path, "%s/data/malformed", shared ? shared : "");
  DIR *directory = shared ? opendir(path) : NULL;
  if (!directory) {
    printf("ABUT_SHARED names no folder of damaged files\n");
    return 77;
  }
  for (struct dirent *e; (e = readdir(directory)) != NULL;) {
    abut_decomposition d;
    const abut_decompose_options o = options_for(3);
    if (e->d_name[0] == '.') {
      continue;
    }
    snprintf(path, sizeof path, "%s/data/malformed/%s", shared, e->d_name);
    if (abut_load_decomposition(device, path, &o, &d) == ABUT_SUCCESS) {
      abut_body body;
      check(d.report.primitives >= 1 && d.report.primitives <= 3 && isfinite(d.report.iou),
            "%s: %zu primitives, IoU %g", e->d_name, d.report.primitives, d.report.iou);
      CHECK_OK(abut_create_body(device, &d.def, &body));
      CHECK_OK(abut_destroy_body(body));
      abut_free_decomposition(&d);
      ++bodies;
    } else {
      check(strstr(abut_last_error(), e->d_name) != NULL, "'%s' does not name %s",
            abut_last_error(), e->d_name);
      ++refusals_seen;
    }
  }
  closedir(directory);
  check(bodies > 4 && refusals_seen > 4, "%zu bodies, %zu refusals", bodies, refusals_seen);
  return check_finish();
}

int main(int argc, char **argv)
{
  static const uint32_t few[] = {1, 2, 5}, many[] = {4, 11, 64};
  if (argc != 3) {
    fprintf(stderr, "usage: test_decompose WHAT FOLDER\n");
    return 2;
  }
  folder = argv[2];
  device = require_context(ABUT_FLOAT32);
  if (!strncmp(argv[1], "again:", 6)) {
    return recover(argv[1] + 6);
  }
  if (!strncmp(argv[1], "counts:", 7)) {
    return keep_to_counts(argv[1] + 7);
  }
  if (strchr(argv[1], ':')) {
    return keep_to_floor(argv[1]);
  }
  if (!strcmp(argv[1], "tables")) {
    return keep_to_tables();
  }
  if (!strcmp(argv[1], "files")) {
    return take_all_files();
  }
  if (!strcmp(argv[1], "small")) {
    refusals();
    one_box();
    hexagonal_prism();
    thin_plate();
    if (!usual_share()) {
      again();
    }
    counts(few, sizeof few / sizeof *few);
    if (!usual_share()) {
      written();
    }
  } else {
    few_cells();
    plate_with_hole();
    bracket_and_stairs();
    no_worse();
    moved();
    precisions();
    by_error();
    counts(many, sizeof many / sizeof *many);
  }
  return finish_context(device);
}
