/* Settings of derivatives of closest points: test_closest_smoothing PRECISION
 *
 * Random numbers follow from the seed and the row's number alone; one answer to the bit however
 * rows are split; answers that are solved; what is flat; derivatives that are finite at the ends of
 * all settings; and what is refused. */
#include "closest/slopes_of_rows.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOLIDS = 24, ROWS = 130 };

static abut_precision precision;

typedef struct fixture {
  abut_context context;
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  rows r;
} fixture;

/* Every tenth row has a pose that is none. */
static bool make_fixture(fixture *f, uint32_t chunk)
{
  uint64_t seed = 12;
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, (abut_shape_kind)(i % ABUT_SHAPE_KINDS), &f->solids[i]);
  }
  rows_create(&f->r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double pose[2][7];
    random_row(&seed, &f->r, i, f->solids, SOLIDS);
    rows_pose(&f->r, i, 0, pose[0]);
    rows_pose(&f->r, i, 1, pose[1]);
    pose[1][0] = i % 10 == 4 ? (double)INFINITY : pose[1][0];
    rows_put(&f->r, i, f->r.one[i], f->r.two[i], pose[0], pose[1]);
  }
  return open_context(precision, chunk, 0, &f->context) &&
         make_shapes(f->context, f->solids, SOLIDS, f->shapes);
}

static void close_fixture(fixture *f)
{
  rows_free(&f->r);
  CHECK_OK(abut_destroy_context(f->context));
}

/* Rows from `first` on, which count as they do among all. */
static bool differentiate(const fixture *f, abut_closest_smoothing s, size_t first, size_t count,
                          row_jacobians *j)
{
  abut_closest_batch b = rows_batch(&f->r, f->shapes, SOLIDS, first, count);
  const abut_closest_jacobians to = jacobians_from(j, first);
  s.first += first;
  return CHECK_OK(abut_closest_jacobian(f->context, &b, &s, &to));
}

/* ---- to the bit ---- */

static bool differs(const row_jacobians *a, const row_jacobians *b, size_t row)
{
  bool found = false;
  for (size_t column = 0; column < 12; ++column) {
    for (size_t i = 0; i < 3; ++i) {
      found = found || jacobian_at(a, BY_N, row, i, column) != jacobian_at(b, BY_N, row, i, column);
    }
  }
  return found;
}

/* How many rows have another answer with other settings. */
static size_t rows_that_differ(const fixture *f, abut_closest_smoothing s,
                               const row_jacobians *whole)
{
  row_jacobians j;
  size_t count = 0;
  jacobians_create(&j, precision, ROWS);
  if (differentiate(f, s, 0, ROWS, &j)) {
    for (size_t i = 0; i < ROWS; ++i) {
      count += differs(&j, whole, i);
    }
  }
  jacobians_free(&j);
  return count;
}

static void test_seeds(const fixture *f, int method, const row_jacobians *whole)
{
  const bool random = method == ABUT_CLOSEST_GAUSSIAN || method == ABUT_CLOSEST_ZEROTH;
  abut_closest_smoothing s = smoothing_of(method);
  check(rows_that_differ(f, s, whole) == 0, "%s: the same seed gives other answers",
        method_names[method]);
  for (int k = 0; k < 4; ++k) {
    s = smoothing_of(method);
    s.seed ^= k == 0 ? 1u : k == 1 ? (uint64_t)1 << 63 : 0u;
    s.first += k == 2 ? 1u : k == 3 ? (uint64_t)1 << 40 : 0u;
    const size_t others = rows_that_differ(f, s, whole);
    check(random ? others > ROWS / 2 : others == 0, "%s: %zu rows differ with seed and first %d",
          method_names[method], others, k);
  }
}

/* `first` shifts: a row alone, and rows from an odd one on, are as they are among all. */
static void test_places(const fixture *f, int method, const row_jacobians *whole)
{
  const abut_closest_smoothing s = smoothing_of(method);
  row_jacobians j;
  jacobians_create(&j, precision, ROWS);
  for (size_t i = 0; i < ROWS; i += 13) {
    if (differentiate(f, s, i, 1, &j)) {
      jacobians_same(&j, i, whole, i, 1, "a row alone");
    }
  }
  if (differentiate(f, s, 77, 51, &j)) {
    jacobians_same(&j, 77, whole, 77, 51, "rows from 77 on");
  }
  jacobians_free(&j);
}

/* Row numbers beyond 2^32: of rows that begin just below it, the second word counts on. */
static void test_high_rows(const fixture *f)
{
  abut_closest_smoothing s = smoothing_of(ABUT_CLOSEST_GAUSSIAN);
  row_jacobians a, b;
  jacobians_create(&a, precision, ROWS);
  jacobians_create(&b, precision, ROWS);
  s.first = ((uint64_t)1 << 32) - 50;
  if (differentiate(f, s, 0, ROWS, &a) && differentiate(f, s, 60, 40, &b)) {
    jacobians_same(&a, 60, &b, 60, 40, "rows beyond 2^32");
  }
  s.first = 0;
  if (differentiate(f, s, 0, ROWS, &b)) {
    size_t others = 0;
    for (size_t i = 50; i < ROWS; ++i) {
      others += differs(&a, &b, i);
    }
    check(others > 40, "only %zu rows beyond 2^32 differ from those at 0", others);
  }
  jacobians_free(&a);
  jacobians_free(&b);
}

static void test_chunks(int method, const row_jacobians *whole, const fixture *f)
{
  static const uint32_t chunks[] = {1, 7, 100};
  for (int k = 0; k < 3; ++k) {
    fixture other;
    row_jacobians j;
    const size_t count = k ? ROWS : 20;
    jacobians_create(&j, precision, ROWS);
    if (make_fixture(&other, chunks[k]) &&
        differentiate(&other, smoothing_of(method), 0, count, &j)) {
      jacobians_same(&j, 0, whole, 0, count, method_names[method]);
      rows_same(&other.r, 0, &f->r, 0, count, method_names[method]);
    }
    jacobians_free(&j);
    close_fixture(&other);
  }
}

/* Answers of abut_closest are read; derivatives are the same, and so are statuses, to which what is
 * flat is added. */
static void test_solved(const fixture *f, int method, const row_jacobians *whole)
{
  abut_closest_smoothing s = smoothing_of(method);
  abut_closest_batch b = rows_batch(&f->r, f->shapes, SOLIDS, 0, ROWS);
  uint8_t status[ROWS];
  row_jacobians j;
  jacobians_create(&j, precision, ROWS);
  const abut_closest_jacobians to = jacobians_from(&j, 0);
  CHECK_OK(abut_closest_jacobian(f->context, &b, &s, &to));
  memcpy(status, f->r.status, sizeof status);
  CHECK_OK(abut_closest(f->context, &b));
  b.gap = NULL;
  b.iterations = NULL;
  b.simplex = NULL;
  s.solved = true;
  if (CHECK_OK(abut_closest_jacobian(f->context, &b, &s, &to))) {
    jacobians_same(&j, 0, whole, 0, ROWS, "solved");
    check(!memcmp(status, f->r.status, sizeof status), "%s: statuses of solved rows are others",
          method_names[method]);
    check(b.rejected == ROWS / 10, "%s: %zu rows are rejected", method_names[method], b.rejected);
  }
  jacobians_free(&j);
}

static void test_methods(const fixture *f)
{
  for (int method = 0; method < methods_of(precision); ++method) {
    row_jacobians whole;
    jacobians_create(&whole, precision, ROWS);
    if (differentiate(f, smoothing_of(method), 0, ROWS, &whole)) {
      test_seeds(f, method, &whole);
      test_places(f, method, &whole);
      test_chunks(method, &whole, f);
      if (method < ABUT_CLOSEST_ZEROTH) {
        test_solved(f, method, &whole);
      }
    }
    jacobians_free(&whole);
  }
}

/* ---- what is flat ---- */

static void put_size(solid *s, abut_shape_kind kind, double x, double y, double z)
{
  memset(s, 0, sizeof *s);
  s->def = abut_default_shape_def();
  s->def.kind = kind;
  s->def.size[0] = x;
  s->def.size[1] = y;
  s->def.size[2] = z;
}

static void put_hull_box(solid *s, double half)
{
  put_size(s, ABUT_SHAPE_HULL, 0, 0, 0);
  s->def.vertex_count = 8;
  for (size_t i = 0; i < 24; ++i) {
    s->vertices[i] = i / 3 >> i % 3 & 1 ? half : -half;
  }
}

enum { BALL, BOX, HULL, STICK, CAN, HAT, EGG, QUADRIC, FLATS };

/* Faces, edges and corners of boxes against a ball: flags are of faces and edges alone. */
static void test_flat(const fixture *f)
{
  static const double at[3][3] = {{2, 0.1, 0.1}, {2, 2, 0.1}, {2, 2, 2}};
  static const struct {
    uint32_t one;
    bool flat[3];
  } cases[] = {{BALL, {false, false, false}}, {BOX, {true, true, false}},
               {HULL, {true, true, false}},   {STICK, {true, true, false}},
               {CAN, {true, true, false}},    {HAT, {true, true, false}},
               {EGG, {false, false, false}},  {QUADRIC, {false, false, false}}};
  solid solids[FLATS];
  abut_shape shapes[FLATS];
  rows r;
  put_size(&solids[BALL], ABUT_SHAPE_SPHERE, 0.3, 0, 0);
  put_size(&solids[BOX], ABUT_SHAPE_BOX, 0.5, 0.5, 0.5);
  put_hull_box(&solids[HULL], 0.5);
  put_size(&solids[STICK], ABUT_SHAPE_CAPSULE, 0.2, 0.5, 0);
  put_size(&solids[CAN], ABUT_SHAPE_CYLINDER, 0.5, 0.5, 0);
  put_size(&solids[HAT], ABUT_SHAPE_CONE, 0.5, 0.5, 0);
  put_size(&solids[EGG], ABUT_SHAPE_ELLIPSOID, 0.5, 0.4, 0.3);
  put_size(&solids[QUADRIC], ABUT_SHAPE_SUPERQUADRIC, 0.5, 0.4, 0.3);
  solids[QUADRIC].def.exponents[0] = solids[QUADRIC].def.exponents[1] = 0.8;
  rows_create(&r, precision, ABUT_POSE_QUATERNION, 3 * FLATS);
  for (size_t i = 0; i < r.count; ++i) {
    const double here[7] = {0, 0, 0, 1, 0, 0, 0};
    double there[7] = {at[i % 3][0], at[i % 3][1], at[i % 3][2], 1, 0, 0, 0};
    if (i / 3 == HAT) { /* beneath the base, along it, and above the apex */
      there[0] = i % 3 == 1 ? 2.0 : 0.1;
      there[1] = 0.0;
      there[2] = i % 3 == 0 ? -2.0 : i % 3 == 1 ? 0.4 : 3.0;
    }
    rows_put(&r, i, (uint32_t)(i / 3), BALL, here, there);
  }
  if (make_shapes(f->context, solids, FLATS, shapes)) {
    for (int method = 0; method < 3; ++method) {
      abut_closest_batch b = rows_batch(&r, shapes, FLATS, 0, r.count);
      const abut_closest_smoothing s = smoothing_of(method);
      const abut_closest_jacobians none = {NULL, NULL, NULL, NULL};
      CHECK_OK(abut_closest_jacobian(f->context, &b, &s, &none));
      for (size_t i = 0; i < r.count; ++i) {
        const bool flat = method == ABUT_CLOSEST_EXACT && cases[i / 3].flat[i % 3];
        check((r.status[i] & ABUT_CLOSEST_FLAT) == (flat ? ABUT_CLOSEST_FLAT : 0) &&
                (r.status[i] & ~ABUT_CLOSEST_FLAT) == ABUT_CLOSEST_CONVERGED,
              "%s: shape %zu at place %zu has status %d", method_names[method], i / 3, i % 3,
              r.status[i]);
      }
      check(b.unsettled == 0, "%zu rows are unsettled", b.unsettled);
    }
  }
  rows_free(&r);
}

/* ---- the ends of settings ---- */

static bool are_finite(const row_jacobians *j)
{
  bool finite = true;
  for (int k = 0; k < BY_OUTPUTS; ++k) {
    for (size_t i = 0; i < ROWS * output_heights[k] * 12; ++i) {
      finite = finite && isfinite(real_at(j->of[k], precision, i));
    }
  }
  return finite;
}

static void test_ends(const fixture *f)
{
  row_jacobians j;
  jacobians_create(&j, precision, ROWS);
  for (int k = 0; k < 16; ++k) {
    abut_closest_smoothing s = smoothing_of(k % 4);
    const int which = k / 4;
    s.temperature = which == 0 ? 1e-6 : which == 1 ? 1e3 : 0.05;
    s.level = which == 2 ? 16 : which == 3 ? 0 : 1;
    s.epsilon = which == 0 ? 1e-6 : which == 1 ? 1e3 : 0.0;
    s.samples = which == 2 ? 1 : which == 3 ? 33 : 2;
    s.ridge = which == 1 ? 1e-15 : which == 2 ? 1.0 : 1e-6;
    if (differentiate(f, s, 0, ROWS, &j)) {
      check(are_finite(&j), "%s: not all derivatives are finite at the ends of settings, %d",
            method_names[k % 4], which);
    }
  }
  jacobians_free(&j);
}

/* Other shapes than those with vertices take their own curvature; a level beyond the last neighbour
 * changes nothing. */
static void test_gumbel(const fixture *f)
{
  abut_closest_smoothing s = smoothing_of(ABUT_CLOSEST_GUMBEL);
  row_jacobians exact, soft, all;
  size_t curved = 0;
  jacobians_create(&exact, precision, ROWS);
  jacobians_create(&soft, precision, ROWS);
  jacobians_create(&all, precision, ROWS);
  s.level = 15;
  if (differentiate(f, s, 0, ROWS, &all) &&
      differentiate(f, smoothing_of(ABUT_CLOSEST_EXACT), 0, ROWS, &exact)) {
    s.level = 16;
    differentiate(f, s, 0, ROWS, &soft);
    jacobians_same(&soft, 0, &all, 0, ROWS, "levels 15 and 16");
    for (size_t i = 0; i < ROWS; ++i) {
      const abut_shape_kind one = f->solids[f->r.one[i]].def.kind,
                            two = f->solids[f->r.two[i]].def.kind;
      if (one != ABUT_SHAPE_HULL && one != ABUT_SHAPE_BOX && two != ABUT_SHAPE_HULL &&
          two != ABUT_SHAPE_BOX) {
        jacobians_same(&soft, i, &exact, i, 1, "gumbel of shapes without vertices");
        ++curved;
      }
    }
  }
  check(curved > ROWS / 4, "%zu pairs have no vertices", curved);
  jacobians_free(&exact);
  jacobians_free(&soft);
  jacobians_free(&all);
}

/* ---- what is refused ---- */

static void refused(const fixture *f, const abut_closest_smoothing *s, const char *text)
{
  abut_closest_batch b = rows_batch(&f->r, f->shapes, SOLIDS, 0, 2);
  const abut_closest_jacobians none = {NULL, NULL, NULL, NULL};
  const abut_status status = abut_closest_jacobian(f->context, &b, s, &none);
  check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), text),
        "\"%s\" is refused by %d: %s", text, status, abut_last_error());
}

#define REFUSED(member, value, text)             \
  do {                                           \
    abut_closest_smoothing s_ = smoothing_of(0); \
    s_.member = (value);                         \
    refused(f, &s_, text);                       \
  } while (0)

static void test_refusals(const fixture *f)
{
  REFUSED(cookie, 0, "the settings were not made by abut_default_closest_smoothing");
  refused(f, NULL, "the settings were not made by abut_default_closest_smoothing");
  REFUSED(method, (abut_closest_method)5, "unknown method of derivatives 5");
  REFUSED(temperature, 1e-7, "the temperature is 1e-07, not from 1e-6 to 1e3 of a shape's L");
  REFUSED(temperature, 1e4, "the temperature is 10000, not from 1e-6 to 1e3 of a shape's L");
  REFUSED(temperature, (double)NAN, ", not from 1e-6 to 1e3 of a shape's L");
  REFUSED(level, 17, "the level is 17; it must be at most 16");
  REFUSED(epsilon, -1.0, "epsilon is -1; it must be 0 or in [1e-6, 1e3]");
  REFUSED(epsilon, 1e-7, "epsilon is 1e-07; it must be 0 or in [1e-6, 1e3]");
  REFUSED(epsilon, (double)INFINITY, "; it must be 0 or in [1e-6, 1e3]");
  REFUSED(samples, 0, "the number of samples is 0; give 1 to 65536");
  REFUSED(samples, 65537, "the number of samples is 65537; give 1 to 65536");
  REFUSED(ridge, 0.0, "the ridge is 0, not in [1e-15, 1]");
  REFUSED(ridge, 2.0, "the ridge is 2, not in [1e-15, 1]");
  REFUSED(ridge, (double)NAN, ", not in [1e-15, 1]");
  abut_closest_smoothing s = smoothing_of(ABUT_CLOSEST_ZEROTH);
  s.solved = true;
  refused(f, &s, "a method that only uses queries takes no solved answers");
  if (precision == ABUT_FLOAT32) {
    s = smoothing_of(ABUT_CLOSEST_FINITE);
    refused(f, &s, "central differences need float64");
  }
}

static void test_arguments(const fixture *f)
{
  abut_closest_batch b = rows_batch(&f->r, f->shapes, SOLIDS, 0, 2);
  abut_closest_smoothing s = smoothing_of(ABUT_CLOSEST_EXACT);
  const abut_closest_cotangents bars = {NULL, NULL, NULL, NULL};
  const abut_closest_gradients gradients = {NULL, NULL, NULL};
  const abut_closest_tangents tangents = {NULL, NULL, NULL, NULL};
  const abut_closest_jacobians none = {NULL, NULL, NULL, NULL};
  const double twists[24] = {0};
  CHECK_EQUAL(abut_closest_jacobian(f->context, &b, &s, NULL), ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "abut_closest_jacobian needs at least one array for Jacobians");
  CHECK_EQUAL(abut_closest_vjp(f->context, &b, &s, NULL, &gradients), ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(),
             "abut_closest_vjp needs at least one cotangent and at least one gradient array");
  CHECK_EQUAL(abut_closest_vjp(f->context, &b, &s, &bars, NULL), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_closest_jvp(f->context, &b, &s, NULL, &tangents), ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(),
             "abut_closest_jvp needs at least one twist and at least one array for tangents");
  CHECK_EQUAL(abut_closest_jvp(f->context, &b, &s, twists, NULL), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_closest_jacobian(f->context, NULL, &s, &none), ABUT_ERROR_ARGUMENT);
  CHECK_OK(abut_closest_vjp(f->context, &b, &s, &bars, &gradients));
  CHECK_OK(abut_closest_jvp(f->context, &b, &s, twists, &tangents));
  s.solved = true;
  b.n = NULL;
  CHECK_EQUAL(abut_closest_jacobian(f->context, &b, &s, &none), ABUT_ERROR_ARGUMENT);
  check(strstr(abut_last_error(), "one of them is NULL") != NULL, "answers that are not there: %s",
        abut_last_error());
  b.count = 0;
  CHECK_OK(abut_closest_jacobian(f->context, &b, &s, &none));
}

int main(int argc, char **argv)
{
  fixture f;
  precision = precision_of(argc, argv);
  abut_context context = require_context(precision);
  CHECK_OK(abut_destroy_context(context));
  if (make_fixture(&f, 0)) {
    test_methods(&f);
    test_high_rows(&f);
    test_flat(&f);
    test_ends(&f);
    test_gumbel(&f);
    test_refusals(&f);
    test_arguments(&f);
  }
  close_fixture(&f);
  return check_finish();
}
