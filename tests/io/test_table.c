/* Tables of superquadrics: rows as numbers, files of them, and bodies that are made of them. */
#include "samples.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Row by row the product of the turns about z, y and x. */
static void turns(const double angle[3], double out[9])
{
  const double cz = cos(angle[0]), sz = sin(angle[0]), cy = cos(angle[1]), sy = sin(angle[1]),
               cx = cos(angle[2]), sx = sin(angle[2]);
  const double z[9] = {cz, -sz, 0, sz, cz, 0, 0, 0, 1}, y[9] = {cy, 0, sy, 0, 1, 0, -sy, 0, cy};
  const double x[9] = {1, 0, 0, 0, cx, -sx, 0, sx, cx};
  double zy[9];
  for (int i = 0; i < 9; ++i) {
    zy[i] =
      z[i / 3 * 3] * y[i % 3] + z[i / 3 * 3 + 1] * y[3 + i % 3] + z[i / 3 * 3 + 2] * y[6 + i % 3];
  }
  for (int i = 0; i < 9; ++i) {
    out[i] = zy[i / 3 * 3] * x[i % 3] + zy[i / 3 * 3 + 1] * x[3 + i % 3] +
             zy[i / 3 * 3 + 2] * x[6 + i % 3];
  }
}

static void turn_of(const double q[4], double out[9])
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double m[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(out, m, sizeof m);
}

static double largest_difference(const double *a, const double *b, size_t count)
{
  double most = 0.0;
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most;
}

static void check_turn(const double angle[3])
{
  const double row[ABUT_TABLE_COLUMNS] = {0.3,      1.2,      1, 2,  3, angle[0],
                                          angle[1], angle[2], 4, -5, 6};
  abut_superquadric s, again;
  double wanted[9], got[9], back[ABUT_TABLE_COLUMNS];
  turns(angle, wanted);
  REQUIRE_OK(abut_superquadrics_from_rows(row, 1, &s));
  CHECK(!memcmp(s.axes, row + 2, sizeof s.axes) &&
        !memcmp(s.position, row + 8, sizeof s.position) && s.exponents[0] == 0.3 &&
        s.exponents[1] == 1.2 && s.operation == ABUT_ADD);
  turn_of(s.quaternion, got);
  check(largest_difference(got, wanted, 9) < 1e-15, "angles %g %g %g turn otherwise, by %g",
        angle[0], angle[1], angle[2], largest_difference(got, wanted, 9));
  REQUIRE_OK(abut_superquadrics_to_rows(&s, 1, back));
  CHECK(!memcmp(back, row, 5 * sizeof *row) && !memcmp(back + 8, row + 8, 3 * sizeof *row));
  CHECK(fabs(back[6]) <= 0.5 * PI);
  REQUIRE_OK(abut_superquadrics_from_rows(back, 1, &again));
  turn_of(again.quaternion, got);
  check(largest_difference(got, wanted, 9) < 3e-8,
        "angles %g %g %g come back as another turn, by %g", angle[0], angle[1], angle[2],
        largest_difference(got, wanted, 9));
}

static void rotations(void)
{
  static const double angles[][3] = {
    {0, 0, 0},    {0.5 * PI, 0, 0}, {0.3, 0.5 * PI, 0.2}, {0.3, -0.5 * PI, 0.2},
    {2, 1.5, -3}, {-3, 2.5, 7},     {PI, PI, PI}};
  uint64_t seed = 3;
  for (size_t i = 0; i < sizeof angles / sizeof *angles; ++i) {
    check_turn(angles[i]);
  }
  for (int i = 0; i < 200; ++i) {
    const double angle[3] = {2 * PI * (random_uniform(&seed) - 0.5),
                             PI * (random_uniform(&seed) - 0.5),
                             2 * PI * (random_uniform(&seed) - 0.5)};
    double back[ABUT_TABLE_COLUMNS];
    const double row[ABUT_TABLE_COLUMNS] = {1, 1, 1, 1, 1, angle[0], angle[1], angle[2], 0, 0, 0};
    abut_superquadric s;
    check_turn(angle);
    REQUIRE_OK(abut_superquadrics_from_rows(row, 1, &s));
    for (int k = 0; k < 4; ++k) {
      s.quaternion[k] *= -3.0; /* neither length nor sign matter */
    }
    REQUIRE_OK(abut_superquadrics_to_rows(&s, 1, back));
    check(largest_difference(back, row, ABUT_TABLE_COLUMNS) < 1e-12 / fmax(cos(angle[1]), 1e-6),
          "angles %g %g %g come back as %g %g %g", angle[0], angle[1], angle[2], back[5], back[6],
          back[7]);
  }
}

/* ---- files ---- */

static void samples_are_read(void)
{
  sample s[SAMPLE_LIMIT];
  const size_t count = samples_make(SAMPLE_TABLE, s);
  static const char *const names[] = {"a.csv", "b.txt", "c.npy"};
  for (size_t i = 0; i < count && i < 3; ++i) {
    abut_superquadrics got;
    REQUIRE_OK(abut_load_superquadrics(write_file(names[i], s[i].bytes, s[i].count), 0.5, &got));
    require(CHECK_EQUAL(got.count, 2));
    const abut_superquadric *q = got.superquadrics;
    CHECK(q[0].exponents[0] == 0.25 && q[0].exponents[1] == 1.0 && q[0].axes[0] == 0.5 &&
          q[0].axes[1] == 1.0 && q[0].axes[2] == 1.5 && q[0].position[2] == -1.0 &&
          q[0].quaternion[0] == 1.0);
    CHECK(q[1].exponents[0] == 2.0 && q[1].axes[2] == 0.125 &&
          fabs(q[1].quaternion[3] - sin(0.25)) < 1e-15);
    CHECK(got.union_ == 0.0);
    abut_free_superquadrics(&got);
    CHECK(!got.superquadrics && !got.count);
    free(s[i].bytes);
  }
}

/* What is written is read as the same numbers, to the bit where angles are left aside. */
static void round_trips(void)
{
  enum { COUNT = 20 };
  static const char *const names[] = {"d.csv", "d.txt", "d.npy"};
  abut_superquadric all[COUNT];
  double rows[COUNT * ABUT_TABLE_COLUMNS], again[COUNT * ABUT_TABLE_COLUMNS];
  uint64_t seed = 5;
  for (size_t i = 0; i < COUNT * ABUT_TABLE_COLUMNS; ++i) {
    rows[i] = i % ABUT_TABLE_COLUMNS < 5 ? 0.01 + random_uniform(&seed)
                                         : random_uniform(&seed) - 0.5;
  }
  REQUIRE_OK(abut_superquadrics_from_rows(rows, COUNT, all));
  REQUIRE_OK(abut_superquadrics_to_rows(all, COUNT, rows));
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    abut_superquadrics got;
    const char *path = in_folder(names[i]);
    REQUIRE_OK(abut_write_superquadrics(path, all, COUNT));
    REQUIRE_OK(abut_load_superquadrics(path, 0.0, &got));
    require(CHECK_EQUAL(got.count, COUNT));
    REQUIRE_OK(abut_superquadrics_to_rows(got.superquadrics, COUNT, again));
    check(largest_difference(rows, again, COUNT * ABUT_TABLE_COLUMNS) < 1e-14,
          "%s comes back as other numbers", names[i]);
    for (size_t k = 0; k < COUNT; ++k) {
      CHECK(!memcmp(all[k].axes, got.superquadrics[k].axes, sizeof all[k].axes) &&
            !memcmp(all[k].exponents, got.superquadrics[k].exponents, sizeof all[k].exponents) &&
            !memcmp(all[k].position, got.superquadrics[k].position, sizeof all[k].position));
    }
    abut_free_superquadrics(&got);
  }
  all[1].operation = ABUT_SUBTRACT;
  expect_failure(abut_write_superquadrics(in_folder("e.csv"), all, COUNT), ABUT_ERROR_BODY, "",
                 "is subtracted");
  all[1] = all[0];
  memset(all[1].quaternion, 0, sizeof all[1].quaternion);
  expect_failure(abut_write_superquadrics(in_folder("e.csv"), all, COUNT), ABUT_ERROR_BODY, "",
                 "has length 0");
  expect_failure(abut_write_superquadrics(in_folder("e.obj"), all, 1), ABUT_ERROR_ARGUMENT, "",
                 ".csv, .txt or .npy");
  expect_failure(abut_write_superquadrics(in_folder("e.csv"), all, 0), ABUT_ERROR_ARGUMENT, "",
                 "superquadrics");
  expect_failure(abut_write_superquadrics(in_folder("no/e.csv"), all, 1), ABUT_ERROR_WRITE, "",
                 "e.csv");
}

static void wrong_texts(void)
{
  static const struct {
    const char *text, *at, *part;
  } wrong[] = {{"", ":", "no row of numbers"},
               {"e1,e2\n", ":", "no row of numbers"},
               {"1 1 1 1 1 0 0 0 0 0\n", ":1: ",
                "has 10 columns, expected the 11 of a superquadric: e1 e2, half axes x y z, angles "
                "about z y x, centre x y z"},
               {"# a table\n\n1,1,1,1,1,0,0,0,0,0,0,0\n", ":3: ",
                "has 12 columns, expected the 11 of a superquadric: e1 e2, half axes x y z, angles "
                "about z y x, centre x y z"},
               {"1;1;1;1;1;0;0;0;0;0;0\n", ":", "no row of numbers"},
               {"a b\nc d\n", ":2: ", "2 columns"},
               {"1,1,1,1,1,0,0,x,0,0,0\n", ":1: ", "column 8: 'x' is not a number"},
               {"1,1,1,1,1,0,0,,0,0,0\n", ":1: ", "column 8"},
               {"1 1 1 1 1 0 0 0 0 0 0\n1 1 1 1 1 0 0 0 0 nan 0\n",
                ":2: ", "column 10: centre y is nan"},
               {"1 1 1 1 1 0 inf 0 0 0 0\n", ":1: ", "column 7: angle about y is inf"},
               {"0 1 1 1 1 0 0 0 0 0 0\n", ":1: ", "column 1: e1 is 0, not in (0, 2]"},
               {"1 2.5 1 1 1 0 0 0 0 0 0\n", ":1: ", "column 2: e2 is 2.5"},
               {"1 1 1 -1 1 0 0 0 0 0 0\n", ":1: ", "column 4: half axis y is -1 m"},
               {"1 1 1 1 0 0 0 0 0 0 0\n", ":1: ", "column 5: half axis z is 0 m"},
               {"1 1 1 1 1 0 0 0 1e7 0 0\n", ":1: ", "column 9: centre x is 10000000 m"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    abut_superquadrics got;
    char start[4096];
    const char *path = write_text("wrong.csv", wrong[i].text);
    snprintf(start, sizeof start, "%s%s", path, wrong[i].at);
    expect_failure(abut_load_superquadrics(path, 1.0, &got), ABUT_ERROR_FORMAT, start,
                   wrong[i].part);
    CHECK(!got.superquadrics && !got.count);
  }
}

static const char *npy_file(const char *dict, const void *data, size_t count)
{
  buffer b = {0};
  const char length[2] = {(char)strlen(dict), 0};
  buffer_put(&b, "\x93NUMPY\x01\x00", 8);
  buffer_put(&b, length, 2);
  buffer_put(&b, dict, strlen(dict));
  buffer_put(&b, data, count);
  const char *path = write_file("wrong.npy", b.bytes, b.count);
  free(b.bytes);
  return path;
}

static void other_files(void)
{
  static const double one[12] = {1, 1, 2, 2, 2, 0, 0, 0, 0, 0, NAN};
  abut_superquadrics got;
  static const char *const dicts[] = {
    "{'descr': '<f8', 'fortran_order': False, 'shape': (12,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 12), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 11), }"};
  for (size_t i = 0; i < 3; ++i) {
    expect_failure(abut_load_superquadrics(npy_file(dicts[i], one, i == 2 ? 0 : sizeof one), 1.0,
                                           &got),
                   ABUT_ERROR_FORMAT, in_folder("wrong.npy"),
                   "must have shape (K, 11), one superquadric per row: e1 e2, half axes x y z, "
                   "angles about z y x, centre x y z");
  }
  expect_failure(
    abut_load_superquadrics(npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (11,), }",
                                     one, 11 * sizeof *one),
                            1.0, &got),
    ABUT_ERROR_FORMAT, in_folder("wrong.npy"), "row 1, column 11: centre z is nan");
  expect_failure(abut_load_superquadrics(write_text("x.mat", "MATLAB 5.0 MAT-file"), 1.0, &got),
                 ABUT_ERROR_FORMAT, in_folder("x.mat"), "writematrix");
  expect_failure(abut_load_superquadrics(in_folder("none.csv"), 1.0, &got), ABUT_ERROR_READ, "",
                 "none.csv");
  expect_failure(abut_load_superquadrics(in_folder("none.csv"), -1.0, &got), ABUT_ERROR_ARGUMENT,
                 "", "scale");
  expect_failure(abut_load_superquadrics(NULL, 1.0, &got), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_superquadrics_from_rows(NULL, 1, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_superquadrics_to_rows(NULL, 1, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  double row[ABUT_TABLE_COLUMNS];
  abut_superquadric odd = {.exponents = {5.0, 1.0},
                           .axes = {1.0, 1.0, 1.0},
                           .quaternion = {1.0, 0.0, 0.0, 0.0}};
  expect_failure(abut_superquadrics_to_rows(&odd, 1, row), ABUT_ERROR_BODY, "",
                 "row 1, column 1: e1 is 5");
  odd.exponents[0] = 1.0;
  odd.axes[2] = NAN;
  expect_failure(abut_superquadrics_to_rows(&odd, 1, row), ABUT_ERROR_BODY, "",
                 "row 1, column 5: half axis z is nan");
  abut_free_superquadrics(NULL);
}

static void body_files(void)
{
  static const char one[] =
    "{\"axes\": [1, 2, 3], \"exponents\": [1, 0.5], \"position\": [0, 1, 0], "
    "\"quaternion\": [2, 0, 0, 0]%s}";
  char text[1024];
  abut_superquadrics got;
  abut_superquadric *s;
  buffer b = {0};
  buffer_text(&b, "{\"mesh\": \"m.obj\", \"union\": 0.02, \"superquadrics\": [");
  buffer_text(&b, one, "");
  buffer_text(&b, "]}");
  REQUIRE_OK(abut_load_superquadrics(write_file("b.body.json", b.bytes, b.count), 0.1, &got));
  s = got.superquadrics;
  CHECK(got.count == 1 && got.union_ == 0.02 * 0.1 && s->axes[2] == 3 * 0.1 &&
        s->position[1] == 0.1);
  abut_free_superquadrics(&got);
  free(b.bytes);
  snprintf(text, sizeof text, "{\"mesh\": \"m.obj\", \"superquadrics\": [");
  snprintf(text + strlen(text), sizeof text - strlen(text), one, "");
  snprintf(text + strlen(text), sizeof text - strlen(text), ", ");
  snprintf(text + strlen(text), sizeof text - strlen(text), one, ", \"operation\": \"subtract\"");
  snprintf(text + strlen(text), sizeof text - strlen(text), "]}");
  expect_failure(abut_load_superquadrics(write_text("b.body.json", text), 1.0, &got),
                 ABUT_ERROR_FORMAT, in_folder("b.body.json"), "superquadric 1 is subtracted");
  snprintf(text, sizeof text,
           "{\"mesh\": \"m.obj\", \"polyhedra\": [{\"planes\": [[[0, 0, 1], [0, 0, 1]]]}], "
           "\"superquadrics\": [");
  snprintf(text + strlen(text), sizeof text - strlen(text), one, "");
  snprintf(text + strlen(text), sizeof text - strlen(text), "]}");
  CHECK(abut_load_superquadrics(write_text("b.body.json", text), 1.0, &got) == ABUT_ERROR_FORMAT);
  CHECK(!got.superquadrics);
}

/* ---- bodies ---- */

static void bodies(void)
{
  /* A ball, and a box-like one that is turned by an eighth about z. */
  static const double rows[2 * ABUT_TABLE_COLUMNS] = {1,      1, 0.5, 0.5,  0.5,  0, 0, 0,
                                                      -2,     0, 0,   1e-3, 1e-3, 1, 1, 0.25,
                                                      PI / 4, 0, 0,   2,    0,    0};
  abut_superquadric all[2];
  abut_superquadrics from = {all, 2, 0.0};
  abut_decomposition d;
  REQUIRE_OK(abut_superquadrics_from_rows(rows, 2, all));
  REQUIRE_OK(abut_import_superquadrics(&from, 0.0, &d));
  const abut_decompose_report *r = &d.report;
  /* From -2.5 to 2 + sqrt 2 in x, +-sqrt 2 in y, +-0.5 in z. */
  const double x = 4.5 + sqrt(2.0), y = 2.0 * sqrt(2.0), diagonal = sqrt(x * x + y * y + 1.0);
  check(fabs(r->diagonal - diagonal) < 5e-3, "the diagonal is %g, not %g", r->diagonal, diagonal);
  CHECK(r->end == ABUT_DECOMPOSED && r->primitives == 2 && r->exponents_at_bound == 2 &&
        r->smallest_axis == 0.25 && !r->suspicions);
  CHECK(r->union_ == 0.004 * r->diagonal && d.def.union_ == r->union_ &&
        d.def.superquadric_count == 2);
  require(CHECK_EQUAL(d.def.vertex_count, 84));
  /* Each vertex on its own primitive, and all faces around volumes. */
  double volume = 0.0;
  for (size_t i = 0; i < 42; ++i) {
    const double *v = d.def.vertices + 3 * i;
    check(fabs(hypot(hypot(v[0] + 2.0, v[1]), v[2]) - 0.5) < 1e-9, "vertex %zu is off the ball", i);
  }
  size_t at = 0;
  for (size_t i = 0; i < d.def.face_count; at += d.def.face_sizes[i++]) {
    const uint32_t *c = d.def.face_indices + at;
    for (uint32_t k = 2; k < d.def.face_sizes[i]; ++k) {
      const double *p = d.def.vertices + 3 * c[0], *q = d.def.vertices + 3 * c[k - 1],
                   *s = d.def.vertices + 3 * c[k];
      volume += (p[0] * (q[1] * s[2] - q[2] * s[1]) + p[1] * (q[2] * s[0] - q[0] * s[2]) +
                 p[2] * (q[0] * s[1] - q[1] * s[0])) /
                6.0;
    }
  }
  check(volume > 0.8 * (PI / 6.0 + 2.0) && volume < PI / 6.0 + 2.0,
        "the meshes have a volume of %g", volume);
  abut_free_decomposition(&d);
  from.union_ = 0.01;
  REQUIRE_OK(abut_import_superquadrics(&from, 0.0, &d));
  CHECK(d.def.union_ == 0.01);
  abut_free_decomposition(&d);
  REQUIRE_OK(abut_import_superquadrics(&from, 0.02, &d));
  CHECK(d.def.union_ == 0.02 * d.report.diagonal);
  abut_free_decomposition(&d);
  expect_failure(abut_import_superquadrics(&from, 0.1, &d), ABUT_ERROR_ARGUMENT, "",
                 "the union is 0.1 of the diagonal, not in [0.001, 0.05]");
  all[1].axes[1] = -1.0;
  expect_failure(abut_import_superquadrics(&from, 0.0, &d), ABUT_ERROR_BODY, "superquadric 1",
                 "axis 1 is -1");
  all[1] = all[0];
  all[1].operation = ABUT_SUBTRACT;
  expect_failure(abut_import_superquadrics(&from, 0.0, &d), ABUT_ERROR_BODY, "superquadric 1",
                 "subtracted");
  from.count = 0;
  expect_failure(abut_import_superquadrics(&from, 0.0, &d), ABUT_ERROR_BODY, "",
                 "there are no superquadrics");
  expect_failure(abut_import_superquadrics(NULL, 0.0, &d), ABUT_ERROR_ARGUMENT, "", "NULL");
  CHECK(!d.memory);
}

int main(void)
{
  folder_make();
  rotations();
  samples_are_read();
  round_trips();
  wrong_texts();
  other_files();
  body_files();
  bodies();
  folder_remove();
  return check_finish();
}
