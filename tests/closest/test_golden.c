/* Golden answers of closest points: test_closest_golden PRECISION FOLDER
 *
 * The folder holds polytopes, awkward and mixed (docs/closest.md, answers), each with shapes.json,
 * inputs.npz and expected.npz; so does golden-closest of the environment's ABUT_SHARED, where that
 * names a folder. Tolerances are those of the specification. */
#include "closest/rows.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#define SEED 12345 /* of the samples: `seed` of the inputs */

enum { TABLE, AWKWARD_TABLE, MIXED_TABLE };

/* Of d, p and n. In float32 lengths are over L1 + L2, and n and p are asked where |d| > 1e-3
 * alone. */
static const struct {
  double d, p, n;
} tolerances[2][3] = {{{2e-6, 1e-4, 1e-4}, {2e-6, 0, 0}, {4e-6, 0, 0}},
                      {{1e-11, 1e-11, 1e-9}, {1e-11, 0, 1e-6}, {1e-9, 0, 0}}};

#define CLOSE 2e-9 /* rows nearer than that keep n to the rounding of the positions over d */

typedef struct part {
  const char *folder, *name;
  abut_precision precision;
  int table;
  abut_npz inputs, expected, estimated;
  abut_shape *shapes;
  size_t shape_count;
  rows r;
} part;

/* ---- files ---- */

static void path_of(const part *p, const char *file, char path[512])
{
  snprintf(path, 512, "%s/%s/%s", p->folder, p->name, file);
}

static bool copy_file(const char *from, const char *to)
{
  char bytes[4096];
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  bool copied = in && out;
  for (size_t n = 1; copied && n;) {
    n = fread(bytes, 1, sizeof bytes, in);
    copied = fwrite(bytes, 1, n, out) == n;
  }
  if (in) {
    fclose(in);
  }
  return out && fclose(out) == 0 && copied;
}

/* Reads an .npz without `seed`, whose type, uint64, the library does not read. */
static bool read_inputs(const char *path, abut_npz *out)
{
  char copy[] = "/tmp/abut-closest-XXXXXX";
  const int file = mkstemp(copy);
  if (!check(file >= 0 && close(file) == 0 && copy_file(path, copy), "%s does not copy", path)) {
    return false;
  }
  zip_t *z = zip_open(copy, 0, NULL);
  const zip_int64_t seed = z ? zip_name_locate(z, "seed.npy", 0) : -1;
  if (seed >= 0) {
    zip_delete(z, (zip_uint64_t)seed);
  }
  const bool read = check(z && zip_close(z) == 0, "%s does not open", path) &&
                    CHECK_OK(abut_read_npz(copy, out));
  unlink(copy);
  return read;
}

static double number(const abut_array *a, size_t i)
{
  switch (a->type) {
  case ABUT_ARRAY_FLOAT64:
    return ((const double *)a->data)[i];
  case ABUT_ARRAY_INT64:
    return (double)((const int64_t *)a->data)[i];
  default:
    return (double)((const uint8_t *)a->data)[i];
  }
}

static bool exists(const char *path)
{
  return access(path, R_OK) == 0;
}

static bool load_part(abut_context context, part *p)
{
  char path[512];
  path_of(p, "shapes.json", path);
  if (!CHECK_OK(abut_load_shapes(context, path, &p->shape_count, &p->shapes))) {
    return false;
  }
  path_of(p, "inputs.npz", path);
  if (!read_inputs(path, &p->inputs)) {
    return false;
  }
  path_of(p, "estimated.npz", path);
  if (exists(path) && !CHECK_OK(abut_read_npz(path, &p->estimated))) {
    return false;
  }
  path_of(p, "expected.npz", path);
  return CHECK_OK(abut_read_npz(path, &p->expected));
}

/* Poses in float32 2 km from the origin are rounded by 1e-4 m before anything is computed: there
 * the positions are taken relative to shape 1's in double, which no distance and no normal depend
 * on. */
static void put_poses(part *p)
{
  const abut_array *one = find_array(&p->inputs, "one"), *two = find_array(&p->inputs, "two");
  const abut_array *pose1 = find_array(&p->inputs, "pose1"),
                   *pose2 = find_array(&p->inputs, "pose2");
  rows_create(&p->r, p->precision, ABUT_POSE_QUATERNION, one->shape[0]);
  for (size_t i = 0; i < p->r.count; ++i) {
    double a[7], b[7];
    memcpy(a, (const double *)pose1->data + 7 * i, sizeof a);
    memcpy(b, (const double *)pose2->data + 7 * i, sizeof b);
    const bool far = p->precision == ABUT_FLOAT32 && fabs(a[0]) > 100.0;
    for (int k = 0; k < 3 && far; ++k) {
      b[k] -= a[k];
      a[k] = 0.0;
    }
    rows_put(&p->r, i, (uint32_t)number(one, i), (uint32_t)number(two, i), a, b);
  }
}

static void free_part(part *p)
{
  for (size_t i = 0; i < p->shape_count; ++i) {
    CHECK_OK(abut_destroy_shape(p->shapes[i]));
  }
  abut_free(p->shapes);
  abut_free_npz(&p->inputs);
  abut_free_npz(&p->expected);
  abut_free_npz(&p->estimated);
  rows_free(&p->r);
}

/* L1 + L2 of a row's shapes in float32, whose tolerances are shares of it; else 1. */
static double length_of(const part *p, size_t row)
{
  abut_shape_info one, two;
  CHECK_OK(abut_get_shape_info(p->shapes[p->r.one[row]], &one));
  CHECK_OK(abut_get_shape_info(p->shapes[p->r.two[row]], &two));
  return p->precision == ABUT_FLOAT32 ? one.diagonal + two.diagonal : 1.0;
}

/* ---- answers ---- */

static bool has(const part *p, const char *mask, size_t row)
{
  const abut_array *a = find_array(&p->expected, mask);
  return a && number(a, row) > 0.0;
}

static double distance(const part *p, size_t row)
{
  return number(find_array(&p->expected, "d"), row);
}

/* The largest difference of a row of an output from what is expected. */
static double off(const part *p, int output, const char *name, size_t row)
{
  const abut_array *want = find_array(&p->expected, name);
  const size_t width = rows_size(output);
  double worst = 0.0;
  for (size_t k = width * row; want && k < width * row + width; ++k) {
    const double error = fabs(rows_at(&p->r, output, k) - number(want, k));
    worst = error <= worst ? worst : error; /* a NaN stays */
  }
  return worst;
}

static void compare_row(const part *p, size_t row, double worst[3])
{
  const double length = length_of(p, row), d = fabs(distance(p, row));
  const bool is_double = p->precision == ABUT_FLOAT64, apart = is_double || d > 1e-3;
  const double n_most =
    is_double && p->table == TABLE && d < CLOSE ? 1e-5 : tolerances[is_double][p->table].n;
  const double p_most = tolerances[is_double][p->table].p,
               d_most = tolerances[is_double][p->table].d;
  double error = off(p, ROW_D, "d", row) / length;
  worst[0] = fmax(worst[0], error);
  check(error <= d_most, "%s %zu: d is off by %.2e", p->name, row, error);
  if (n_most > 0.0 && apart && has(p, "one_normal", row)) {
    error = off(p, ROW_N, "n", row);
    worst[1] = fmax(worst[1], d < CLOSE ? 0.0 : error);
    check(error <= n_most, "%s %zu: n is off by %.2e, d %.1e", p->name, row, error,
          distance(p, row));
  }
  if (p_most > 0.0 && apart && has(p, "one_point", row)) {
    error = fmax(off(p, ROW_P1, "p1", row), off(p, ROW_P2, "p2", row)) / length;
    worst[2] = fmax(worst[2], error);
    check(error <= p_most, "%s %zu: p is off by %.2e, d %.1e", p->name, row, error,
          distance(p, row));
  }
  check(p->r.status[row] != ABUT_CLOSEST_BAD_INPUT && p->r.status[row] <= ABUT_CLOSEST_BAD_INPUT &&
          rows_at(&p->r, ROW_GAP, row) >= 0.0,
        "%s %zu: status %d, gap %g", p->name, row, p->r.status[row], rows_at(&p->r, ROW_GAP, row));
}

static void run_answers(abut_context context, part *p)
{
  double worst[3] = {0.0, 0.0, 0.0};
  abut_closest_batch b = rows_batch(&p->r, p->shapes, p->shape_count, 0, p->r.count);
  if (!CHECK_OK(abut_closest(context, &b))) {
    return;
  }
  for (size_t i = 0; i < p->r.count; ++i) {
    compare_row(p, i, worst);
  }
  printf("%s, %zu pairs: worst d %.2e, n %.2e, p %.2e; %zu unsettled\n", p->name, p->r.count,
         worst[0], worst[1], worst[2], b.unsettled);
}

/* ---- derivatives ---- */

enum { BY_P1, BY_P2, BY_N, BY_D, OUTPUTS };
static const char *const names[OUTPUTS] = {"p1", "p2", "n", "d"};
static const size_t heights[OUTPUTS] = {3, 3, 3, 1};

typedef struct jacobians {
  void *of[OUTPUTS];
} jacobians;

static bool differentiate(abut_context context, part *p, const abut_closest_smoothing *s,
                          jacobians *j)
{
  abut_closest_batch b = rows_batch(&p->r, p->shapes, p->shape_count, 0, p->r.count);
  for (int i = 0; i < OUTPUTS; ++i) {
    j->of[i] = calloc(p->r.count * heights[i] * 12, real_size(p->precision));
    REQUIRE(j->of[i] != NULL);
  }
  const abut_closest_jacobians to = {j->of[BY_P1], j->of[BY_P2], j->of[BY_N], j->of[BY_D]};
  return CHECK_OK(abut_closest_jacobian(context, &b, s, &to));
}

static void free_jacobians(jacobians *j)
{
  for (int i = 0; i < OUTPUTS; ++i) {
    free(j->of[i]);
  }
}

/* The error of a block of a row, over the largest of what is expected of it. */
static double block_off(const part *p, const void *got, size_t at, const double *want,
                        size_t numbers)
{
  double worst = 0.0, most = 0.0;
  for (size_t k = 0; k < numbers; ++k) {
    const double error = fabs(real_at(got, p->precision, at + k) - want[k]);
    worst = error <= worst ? worst : error;
    most = fmax(most, fabs(want[k]));
  }
  return worst / most;
}

typedef struct asked {
  const char *name;
  abut_closest_smoothing with;
  double near, usual; /* tolerances at |d| <= 1e-9, and elsewhere */
} asked;

static void compare_block(const part *p, const asked *a, size_t row, const char *output,
                          double error, double *worst)
{
  const bool near = fabs(distance(p, row)) < CLOSE;
  *worst = near ? *worst : fmax(*worst, error);
  check(error <= (near ? a->near : a->usual), "%s %zu: %s of %s is off by %.2e, d %.1e", p->name,
        row, a->name, output, error, distance(p, row));
}

/* Of gumbel and gaussian: an array of the answers for each output. */
static void run_curvatures(abut_context context, part *p, const asked *a)
{
  jacobians j;
  double worst = 0.0;
  for (int i = differentiate(context, p, &a->with, &j) ? 0 : OUTPUTS; i < OUTPUTS; ++i) {
    char name[32];
    snprintf(name, sizeof name, "%s_%s", a->name, names[i]);
    const abut_array *want = find_array(&p->expected, name);
    const size_t numbers = heights[i] * 12;
    for (size_t row = 0; want && row < p->r.count; ++row) {
      if (has(p, "derivatives", row)) {
        const double *right = (const double *)want->data + row * numbers;
        compare_block(p, a, row, names[i], block_off(p, j.of[i], row * numbers, right, numbers),
                      &worst);
      }
    }
  }
  printf("%s, %s: worst %.2e\n", p->name, a->name, worst);
  free_jacobians(&j);
}

/* Of zeroth and finite: (10, 12) of the first pairs. */
static void run_estimates(abut_context context, part *p, const asked *a)
{
  const abut_array *want = find_array(&p->estimated, a->name);
  jacobians j;
  double worst = 0.0;
  const bool runs = differentiate(context, p, &a->with, &j) && want;
  for (size_t row = 0; runs && row < want->shape[0]; ++row) {
    for (size_t i = 0, at = 0; i < OUTPUTS && has(p, "derivatives", row); ++i) {
      const size_t numbers = heights[i] * 12;
      const double *right = (const double *)want->data + 120 * row + at;
      compare_block(p, a, row, names[i], block_off(p, j.of[i], row * numbers, right, numbers),
                    &worst);
      at += numbers;
    }
  }
  printf("%s, %s: worst %.2e\n", p->name, a->name, worst);
  free_jacobians(&j);
}

static asked ask(const part *p, const char *name, abut_closest_method method, double usual)
{
  const bool is_double = p->precision == ABUT_FLOAT64;
  asked a = {name, abut_default_closest_smoothing(), is_double ? 1e-5 : usual, usual};
  a.with.method = method;
  a.with.seed = SEED;
  return a;
}

static void run_derivatives(abut_context context, part *p)
{
  const bool is_double = p->precision == ABUT_FLOAT64;
  asked a = ask(p, "gumbel1", ABUT_CLOSEST_GUMBEL, is_double ? 1e-7 : 2e-2);
  a.with.temperature = 0.1;
  run_curvatures(context, p, &a);
  a.name = "gumbel2";
  a.with.level = 2;
  run_curvatures(context, p, &a);
  a = ask(p, "gaussian", ABUT_CLOSEST_GAUSSIAN, is_double ? 1e-7 : 2e-2);
  a.with.epsilon = 0.1;
  run_curvatures(context, p, &a);
  a = ask(p, "zeroth", ABUT_CLOSEST_ZEROTH, is_double ? 1e-6 : 5e-2);
  run_estimates(context, p, &a);
  if (is_double) {
    a = ask(p, "finite", ABUT_CLOSEST_FINITE, 1e-3);
    a.near = 1e-2;
    run_estimates(context, p, &a);
  }
}

static void run_part(abut_context context, abut_precision precision, const char *folder,
                     const char *name, int table)
{
  part p = {.folder = folder, .name = name, .precision = precision, .table = table};
  if (load_part(context, &p)) {
    put_poses(&p);
    run_answers(context, &p);
    if (p.estimated.count) {
      run_derivatives(context, &p);
    }
  }
  free_part(&p);
}

static void run_folder(abut_context context, abut_precision precision, const char *folder)
{
  run_part(context, precision, folder, "polytopes", TABLE);
  run_part(context, precision, folder, "awkward", AWKWARD_TABLE);
  run_part(context, precision, folder, "mixed", MIXED_TABLE);
}

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  const char *shared = getenv("ABUT_SHARED");
  char folder[512], path[1024];
  abut_context context = require_context(precision);
  run_folder(context, precision, argc > 2 ? argv[2] : "tests/golden-closest");
  snprintf(folder, sizeof folder, "%s/golden-closest", shared ? shared : "");
  snprintf(path, sizeof path, "%s/mixed/expected.npz", folder);
  if (shared && exists(path)) {
    run_folder(context, precision, folder);
  } else {
    printf("not run: all pairs, which lie in no ABUT_SHARED\n");
  }
  return finish_context(context);
}
