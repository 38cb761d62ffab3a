/* Fields of meshes: errors against closed forms, thin parts, reports, the same bits each time,
 * and every allocation failing once.
 * With ABUT_TEST_USUAL=1 without larger fields, and with a third of the allocations. */
#include "surface/shapes.h"
#include "support/allocations.h"
#include "support/check.h"
#include <abut/field.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_field made(shape *s, const abut_field_options *given)
{
  const abut_field_options options = given ? *given : abut_default_field_options();
  const abut_body_def mesh = shape_def(s);
  abut_field out;
  REQUIRE_OK(abut_make_field(&mesh, &options, &out));
  return out;
}

/* The field's distances at points, by a body on the host path. */
static void evaluate(const abut_field *f, size_t count, const double *points, double *distances)
{
  abut_context context;
  abut_body body;
  REQUIRE(test_context(ABUT_FLOAT64, &context));
  REQUIRE_OK(abut_create_body(context, &f->def, &body));
  CHECK_OK(abut_evaluate_body(body, 0.001, 0.001, count, points, distances, NULL));
  abut_destroy_context(context);
}

#define POINTS 4000

static const double low[3] = {-0.5, -0.3, -0.2}, high[3] = {0.5, 0.4, 0.3};

/* Distances in twice the box, and up to ten diagonals away. Outside the grid the specification
 * takes them to the surface's point nearest to where the grid ends, which is not the nearest. */
static void against(const char *what, const abut_field *f, double (*distance)(const double x[3]),
                    double within, double within_far)
{
  double *points = malloc(3 * POINTS * sizeof *points), *found = malloc(POINTS * sizeof *found);
  uint64_t seed = 1;
  double worst = 0.0, worst_far = 0.0;
  REQUIRE(points != NULL && found != NULL);
  size_t wrong = 0;
  for (size_t i = 0; i < POINTS; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const double reach = i % 2 ? 1.2 : 12.0 * f->report.diagonal;
      points[3 * i + k] = reach * (2.0 * random_uniform(&seed) - 1.0);
    }
  }
  evaluate(f, POINTS, points, found);
  for (size_t i = 0; i < POINTS; ++i) {
    const double d = distance(points + 3 * i);
    const double off = fabs(found[i] - d);
    if (fabs(d) < 0.1 * f->report.diagonal) {
      worst = fmax(worst, off);
    } else {
      worst_far = fmax(worst_far, off / fabs(d));
    }
    wrong += fabs(d) > 0.01 * f->report.diagonal && (d < 0.0) != (found[i] < 0.0);
  }
  check(worst <= within, "%s: a distance is off by %g", what, worst);
  check(worst_far <= within_far, "%s: a far distance is off by %g of it", what, worst_far);
  check(!wrong, "%s: %zu wrong signs", what, wrong);
  free(points);
  free(found);
}

static double to_ball(const double x[3])
{
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 0.5;
}

static double to_box(const double x[3])
{
  return box_distance(low, high, x);
}

static void shapes(void)
{
  static const double centre[3] = {0.0, 0.0, 0.0};
  shape s = {0};
  shape_ball(&s, centre, 0.5, 4);
  abut_field f = made(&s, NULL);
  CHECK_EQUAL(f.report.suspicions, 0);
  CHECK_EQUAL(f.report.shells, 1);
  CHECK(f.report.face_95 < 0.0005);
  against("ball", &f, to_ball, 0.003, 0.12);
  abut_free_field(&f);
  shape_free(&s);

  shape_box(&s, low, high, 2);
  f = made(&s, NULL);
  CHECK_EQUAL(f.report.suspicions, 0);
  CHECK(f.report.face_95 < 0.0005 && f.report.edge_95 < 0.002);
  CHECK(f.report.cells == 32 && f.report.levels > 0);
  CHECK_EQUAL(f.def.grids->level_count, f.report.levels);
  against("box", &f, to_box, 0.01, 0.12);
  abut_free_field(&f);
  shape_free(&s);
}

static const double sheet_low[3] = {-0.5, -0.4, -0.0006}, sheet_high[3] = {0.5, 0.4, 0.0006};

static double to_sheet(const double x[3])
{
  return box_distance(sheet_low, sheet_high, x);
}

/* A sheet of a thousandth of its diagonal is negative inside. */
static void sheets(void)
{
  shape s = {0};
  shape_box(&s, sheet_low, sheet_high, 1);
  abut_field f = made(&s, NULL);
  CHECK_EQUAL(f.report.suspicions, 0);
  CHECK(f.report.thin_share > 0.9);
  double points[3 * 100], found[100];
  uint64_t seed = 4;
  for (size_t i = 0; i < 100; ++i) {
    points[3 * i] = 0.96 * (random_uniform(&seed) - 0.5);
    points[3 * i + 1] = 0.76 * (random_uniform(&seed) - 0.5);
    points[3 * i + 2] = 0.0;
  }
  evaluate(&f, 100, points, found);
  for (size_t i = 0; i < 100; ++i) {
    check(found[i] < 0.0, "the sheet's middle is at %g", found[i]);
  }
  against("sheet", &f, to_sheet, 0.01, 0.12);
  abut_free_field(&f);
  shape_free(&s);
}

/* In too little memory it is not, and the report says so. */
static void lost_sheets(void)
{
  shape s = {0};
  shape_box(&s, sheet_low, sheet_high, 1);
  abut_field_options options = abut_default_field_options();
  options.memory = 2 << 20;
  abut_field f = made(&s, &options);
  CHECK(f.report.suspicions & ABUT_SUSPECT_THIN);
  CHECK(f.report.thin_lost > 0.1);
  check(fabs(f.report.lost_thickness - 0.0012) < 1e-5, "lost parts of %g m",
        f.report.lost_thickness);
  check(f.report.lost_error > 0.25 * 0.5 * 0.0012, "where it is off by %g m", f.report.lost_error);
  char text[512];
  abut_suspicion_text(&f.report, ABUT_SUSPECT_THIN, text, sizeof text);
  check(strstr(text, "parts less than 0.0012 m thick, where the error of the field is 0.0") != NULL,
        "'%s'", text);
  CHECK(f.report.bytes <= options.memory);
  abut_free_field(&f);
  shape_free(&s);
}

/* A gap of 2 mm between boxes of a metre is less than the field can show by the default tolerance.
 * What lies in it counts as inside, and the report says so. A smaller tolerance opens the gap. */
static void narrow_gaps(void)
{
  static const double under[3] = {-0.5, -0.5, -1.002}, over[3] = {0.5, 0.5, -0.002};
  static const double bottom[3] = {-0.5, -0.5, 0.0}, top[3] = {0.5, 0.5, 1.0};
  double points[3 * 50], found[50];
  uint64_t seed = 9;
  shape s = {0};
  shape_box(&s, under, over, 1);
  shape_box(&s, bottom, top, 1);
  for (size_t i = 0; i < 50; ++i) {
    points[3 * i] = 0.8 * (random_uniform(&seed) - 0.5);
    points[3 * i + 1] = 0.8 * (random_uniform(&seed) - 0.5);
    points[3 * i + 2] = -0.001;
  }
  for (int fine = 0; fine < 2; ++fine) {
    abut_field_options options = abut_default_field_options();
    options.tolerance = fine ? 0.0002 : 0.0015;
    abut_field f = made(&s, &options);
    size_t inside = 0;
    evaluate(&f, 50, points, found);
    for (size_t i = 0; i < 50; ++i) {
      inside += found[i] < 0.0;
    }
    check(inside == (fine ? 0 : 50), "tolerance %g: %zu of 50 points of the gap are inside",
          options.tolerance, inside);
    check(f.report.suspicions == (fine ? 0u : ABUT_SUSPECT_NARROW), "tolerance %g: suspicions %u",
          options.tolerance, f.report.suspicions);
    check(fabs(f.report.gap_width - (fine ? 0.0 : 0.002)) < 1e-9, "gaps of %g m",
          f.report.gap_width);
    check(fabs(f.report.gap_filled - (fine ? 0.0 : 2.0 / 12.0)) < 0.01, "gaps before %g",
          f.report.gap_filled);
    abut_free_field(&f);
  }
  shape_free(&s);
}

/* Along a straight edge a field is the same all the way: where finer cells ended, it had steps. */
static void edges(void)
{
  shape s = {0};
  shape_plate(&s, 8);
  for (size_t i = 0; i < s.vertex_count; ++i) {
    s.vertices[3 * i + 2] *= 5.0;
  }
  abut_field f = made(&s, NULL);
  double points[3 * 1000], found[1000], least = HUGE_VAL, most = -HUGE_VAL;
  const double off = 0.003 * f.report.diagonal / sqrt(2.0);
  double top = -HUGE_VAL;
  for (size_t i = 0; i < s.vertex_count; ++i) {
    top = fmax(top, s.vertices[3 * i + 2]);
  }
  for (size_t i = 0; i < 1000; ++i) {
    points[3 * i] = 1.0 + off;
    points[3 * i + 1] = 0.9 * (2.0 * (double)i / 999.0 - 1.0);
    points[3 * i + 2] = top + off;
  }
  evaluate(&f, 1000, points, found);
  for (size_t i = 0; i < 1000; ++i) {
    least = fmin(least, found[i]);
    most = fmax(most, found[i]);
  }
  check(most - least < 0.0006 * f.report.diagonal, "along an edge a field goes from %g to %g",
        least, most);
  abut_free_field(&f);
  shape_free(&s);
}

/* The largest |field| at points of the faces, as many of each, as a share of the diagonal. */
static double found_off(const shape *s, const abut_field *f, size_t each)
{
  const size_t count = s->face_count * each;
  double *points = malloc(3 * count * sizeof *points), *found = malloc(count * sizeof *found);
  double most = 0.0;
  uint64_t seed = 6;
  REQUIRE(points != NULL && found != NULL);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t *v = s->faces + 3 * (i / each);
    const double u = sqrt(random_uniform(&seed)), w = random_uniform(&seed);
    for (size_t k = 0; k < 3; ++k) {
      points[3 * i + k] = (1.0 - u) * s->vertices[3 * (size_t)v[0] + k] +
                          u * (1.0 - w) * s->vertices[3 * (size_t)v[1] + k] +
                          u * w * s->vertices[3 * (size_t)v[2] + k];
    }
  }
  evaluate(f, count, points, found);
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, fabs(found[i]) / f->report.diagonal);
  }
  free(points);
  free(found);
  return most;
}

/* A body of slivers that meet in a tip at z = 0, as thick as `steep` times the height there: inside
 * begins within twice the tolerance of where it is as thick as that. */
static void tip(const char *what, const double (*profile)[2], size_t count, size_t sides,
                double steep)
{
  enum { ALONG = 2000 };
  shape s = {0};
  double points[3 * ALONG] = {0}, found[ALONG], inside = HUGE_VAL;
  shape_turned(&s, profile, count, sides);
  abut_field f = made(&s, NULL);
  const double tolerance = 0.0015 * f.report.diagonal;
  const double latest = tolerance / steep + 2.0 * tolerance;
  for (size_t i = 0; i < ALONG; ++i) {
    points[3 * i + 2] = 0.6 * profile[count - 1][1] * (double)(i + 1) / ALONG;
  }
  evaluate(&f, ALONG, points, found);
  for (size_t i = ALONG; i-- && found[i] < 0.0;) {
    inside = points[3 * i + 2];
  }
  check(inside <= latest, "%s of %zu sides: inside begins at %g, not %g", what, sides, inside,
        latest);
  const double off = found_off(&s, &f, 20000 / s.face_count + 1);
  const double told = fmax(f.report.face_most, f.report.edge_most);
  check(told >= 0.5 * off, "%s of %zu sides: the report says %g, and %g is found", what, sides,
        told, off);
  CHECK_EQUAL(f.report.suspicions, 0);
  abut_free_field(&f);
  shape_free(&s);
}

static void tips(void)
{
  static const double cone[3][2] = {{0, 0}, {0.02, 0.3}, {0, 0.3}};
  static const double pencil[4][2] = {{0, 0}, {0.004, 0.02}, {0.004, 0.18}, {0, 0.18}};
  tip("cone", cone, 3, 16, 0.04 / 0.3);
  tip("cone", cone, 3, 64, 0.04 / 0.3);
  tip("pencil", pencil, 4, 32, 0.4);
}

/* The middle of a thin disc is inside, however many slivers meet there. */
static void disc(void)
{
  enum { PLACES = 1000 };
  static const double profile[4][2] = {{0, 0}, {0.1, 0}, {0.1, 0.002}, {0, 0.002}};
  shape s = {0};
  double points[3 * PLACES], found[PLACES];
  size_t outside = 0;
  shape_turned(&s, profile, 4, 720);
  abut_field f = made(&s, NULL);
  for (size_t i = 0; i < PLACES; ++i) {
    const double r = 0.098 * sqrt((double)i / PLACES), angle = 2.399963 * (double)i;
    points[3 * i] = r * cos(angle);
    points[3 * i + 1] = r * sin(angle);
    points[3 * i + 2] = 0.001;
  }
  evaluate(&f, PLACES, points, found);
  for (size_t i = 0; i < PLACES; ++i) {
    outside += found[i] >= 0.0;
  }
  CHECK_EQUAL(outside, 0);
  abut_free_field(&f);
  shape_free(&s);
}

static void scaled(double scale, uint32_t expected)
{
  shape s = {0};
  double a[3], b[3];
  for (int k = 0; k < 3; ++k) {
    a[k] = scale * low[k];
    b[k] = scale * high[k];
  }
  shape_box(&s, a, b, 1);
  abut_field f = made(&s, NULL);
  CHECK_EQUAL(f.report.suspicions, expected);
  CHECK(f.report.face_95 < 0.0005);
  abut_free_field(&f);
  shape_free(&s);
}

static void reports(void)
{
  shape s = {0};
  shape_box(&s, low, high, 3);
  shape_drop(&s, 5);
  shape_turn(&s, 20);
  abut_field f = made(&s, NULL);
  CHECK_EQUAL(f.report.suspicions, ABUT_SUSPECT_OPEN | ABUT_SUSPECT_TURNED);
  CHECK_EQUAL(f.report.holes, 1);
  CHECK_EQUAL(f.report.turned, 1);
  abut_free_field(&f);
  shape_free(&s);
  scaled(1000.0, ABUT_SUSPECT_UNIT);
  if (usual_share() || UNLESS_SANITIZED(false, true)) { /* the same mesh each time, and in all
                                                           that follows the same steps */
    return;
  }
  scaled(1e-3, 0);
  scaled(1e-6, ABUT_SUSPECT_SMALL);
  scaled(1.5e-4, ABUT_SUSPECT_SMALL); /* just where evaluation refuses its fitted smoothing */
  scaled(2.5e-4, 0);
}

/* Coarse in the usual run. */
static abut_field_options usual_options(void)
{
  abut_field_options o = abut_default_field_options();
  if (usual_share()) {
    o.cells = 16;
    o.tolerance = 0.02;
  }
  return o;
}

/* Shells within others: turned as these are, named; as cavities, or beside them, or across, not. A
 * wall inside is no hole. */
static void within(void)
{
  const abut_field_options o = usual_options();
  static const double a[3] = {-0.2, -0.1, -0.1}, b[3] = {0.2, 0.1, 0.1},
                      c[3] = {-0.1, -0.05, -0.05}, d[3] = {0.1, 0.05, 0.05}, e[3] = {0.4, 0.0, 0.0},
                      g[3] = {0.7, 0.2, 0.1};
  shape s = {0};
  shape_box(&s, low, high, 1);
  shape_box(&s, a, b, 1);
  abut_field f = made(&s, &o);
  CHECK_EQUAL(f.report.suspicions, ABUT_SUSPECT_NESTED);
  CHECK_EQUAL(f.report.shells_nested, 1);
  abut_free_field(&f);
  for (size_t i = 12; i < 24; ++i) {
    shape_turn(&s, i);
  }
  shape_box(&s, c, d, 1); /* in the cavity */
  shape_box(&s, e, g, 1); /* across a face */
  f = made(&s, &o);
  CHECK_EQUAL(f.report.shells, 4);
  CHECK_EQUAL(f.report.suspicions, 0);
  abut_free_field(&f);
  shape_free(&s);

  shape_box(&s, low, high, 2);
  const uint32_t wall = shape_vertex(&s, 0.1, low[1] + 0.01, low[2] + 0.01);
  shape_vertex(&s, 0.1, high[1] - 0.01, low[2] + 0.01);
  shape_vertex(&s, 0.1, high[1] - 0.01, high[2] - 0.01);
  shape_vertex(&s, 0.1, low[1] + 0.01, high[2] - 0.01);
  shape_quad(&s, wall, wall + 1, wall + 2, wall + 3);
  f = made(&s, &o);
  CHECK(f.report.suspicions & ABUT_SUSPECT_SHEET);
  CHECK(!(f.report.suspicions & (ABUT_SUSPECT_OPEN | ABUT_SUSPECT_NESTED)));
  CHECK_EQUAL(f.report.sheets, 1);
  CHECK_EQUAL(f.report.holes, 0);
  abut_free_field(&f);
  shape_free(&s);
}

static bool same_bytes(const void *a, const void *b, size_t bytes)
{
  return memcmp(a, b, bytes) == 0;
}

/* Threads take what they find first; what comes out is the same to the bit. */
static void same_again(void)
{
  const abut_field_options o = usual_options();
  shape s = {0};
  const double centre[3] = {0.1, 0.2, 0.3};
  shape_ball(&s, centre, 0.5, 2);
  shape_box(&s, low, high, 1);
  abut_field a = made(&s, &o), b = made(&s, &o);
  const abut_grid *g = a.def.grids, *h = b.def.grids;
  CHECK(same_bytes(&a.report, &b.report, sizeof a.report));
  CHECK(same_bytes(g->coefficients, h->coefficients,
                   g->size[0] * g->size[1] * g->size[2] * sizeof(double)));
  for (size_t l = 0; l < g->level_count; ++l) {
    CHECK_EQUAL(g->levels[l].block_count, h->levels[l].block_count);
    CHECK(same_bytes(g->levels[l].blocks, h->levels[l].blocks,
                     g->levels[l].block_count * 3 * sizeof(int32_t)));
    CHECK(same_bytes(g->levels[l].coefficients, h->levels[l].coefficients,
                     g->levels[l].block_count * 512 * sizeof(double)));
  }
  CHECK(same_bytes(a.def.vertices, b.def.vertices, a.def.vertex_count * 3 * sizeof(double)));
  abut_free_field(&a);
  abut_free_field(&b);
  shape_free(&s);
}

static bool stop_at(void *user, const char *what, double share)
{
  int *left = user;
  CHECK(what != NULL && share >= 0.0 && share <= 1.0);
  return (*left)-- > 0;
}

static void refusals(void)
{
  shape s = {0};
  shape_box(&s, low, high, 1);
  abut_body_def mesh = shape_def(&s);
  abut_field f;
  abut_field_options o = abut_default_field_options();
  CHECK_EQUAL(abut_make_field(NULL, &o, &f), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_make_field(&mesh, NULL, &f), ABUT_ERROR_ARGUMENT);
  o.cells = 7;
  CHECK_EQUAL(abut_make_field(&mesh, &o, &f), ABUT_ERROR_ARGUMENT);
  o = abut_default_field_options();
  o.tolerance = NAN;
  CHECK_EQUAL(abut_make_field(&mesh, &o, &f), ABUT_ERROR_ARGUMENT);
  o = abut_default_field_options();
  o.vertices = 3;
  CHECK_EQUAL(abut_make_field(&mesh, &o, &f), ABUT_ERROR_ARGUMENT);
  o.cookie = 0;
  CHECK_EQUAL(abut_make_field(&mesh, &o, &f), ABUT_ERROR_ARGUMENT);
  s.vertices[4] = NAN;
  o = abut_default_field_options();
  CHECK_EQUAL(abut_make_field(&mesh, &o, &f), ABUT_ERROR_BODY);
  s.vertices[4] = low[1];
  for (int steps = 0; steps < 4; ++steps) {
    int left = steps;
    o.progress = stop_at;
    o.user = &left;
    CHECK_EQUAL(abut_make_field(&mesh, &o, &f), ABUT_ERROR_CANCELLED);
    CHECK(f.memory == NULL);
  }
  shape_free(&s);
}

static void let_each_fail(shape *s)
{
  const abut_body_def mesh = shape_def(s);
  abut_field_options o = abut_default_field_options();
  o.cells = 8;
  o.tolerance = 0.02;
  abut_status status;
  long allowed = 0;
  do {
    abut_field f;
    allocations_fail_after(allowed);
    allowed += usual_share() ? 3 : 1;
    status = abut_make_field(&mesh, &o, &f);
    const abut_status wanted = allocations_end() ? ABUT_ERROR_MEMORY : ABUT_SUCCESS;
    REQUIRE(status == wanted);
    abut_free_field(&f);
  } while (status != ABUT_SUCCESS);
  check(allowed > 30, "only %ld allocations", allowed);
}

/* A box whose corners are off by so much, so that its faces are apart; with two of them there
 * twice. */
static void loose_box(shape *s, double by, bool twice)
{
  uint64_t seed = 3;
  shape_box(s, low, high, 2);
  const size_t faces = twice ? s->face_count / 3 : 0;
  for (size_t i = 0; i < faces; ++i) {
    uint32_t again[3];
    for (size_t k = 0; k < 3; ++k) {
      const double *v = s->vertices + 3 * (size_t)s->faces[3 * i + k];
      again[k] = shape_vertex(s, v[0], v[1], v[2]);
    }
    shape_face(s, again[0], again[1], again[2]);
  }
  for (size_t i = 0; i < 3 * s->vertex_count; ++i) {
    s->vertices[i] += by * (random_uniform(&seed) - 0.5);
  }
}

/* Between them every step has something to do. */
static void each_allocation(void)
{
  shape within = {0}, apart = {0}, twice = {0};
  static const double inner_low[3] = {0.2, 0.0, 0.0}, inner_high[3] = {0.7, 0.2, 0.2};
  shape_box(&within, low, high, 1);
  shape_drop(&within, 3);
  shape_box(&within, inner_low, inner_high, 1);
  loose_box(&apart, 5e-3, false);
  loose_box(&twice, 1e-4, true);
  let_each_fail(&within);
  let_each_fail(&apart);
  let_each_fail(&twice);
  shape_free(&within);
  shape_free(&apart);
  shape_free(&twice);
}

int main(void)
{
  shapes();
  lost_sheets();
  narrow_gaps();
  edges();
  tips();
  if (!usual_share() && UNLESS_SANITIZED(true, false)) { /* larger fields by the same steps as of
                                                            the sheets and tips before */
    sheets();
    disc();
  }
  reports();
  within();
  if (UNLESS_SANITIZED(true, false)) {
    same_again();
  }
  refusals();
  each_allocation();
  return check_finish();
}
