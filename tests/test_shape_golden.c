/* Golden derivatives by shapes: test_shape_golden PRECISION CASES ANSWERS...
 *
 * Each of ANSWERS is a CASE.npz of derivatives by the bodies of the folder CASE in CASES, of some
 * of its poses: `pose`, and a_NAME and b_NAME, each pose's rows (docs/dev/spec.md, section 9), and
 * where there are tangent_a_NAME and tangent_b_NAME the outputs' tangents jvp_NAME along these.
 * Tolerances are those of pose gradients. The sum over the poses must be that of the rows, and the
 * product of the rows with a direction that of the cotangents with the outputs' tangents along
 * it. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 15 };
enum { PLANE_NORMALS = 5, CLOUD_POINTS = 7, GRID_COEFFICIENTS = 10 };

/* The arrays of a body; those of polyhedra, clouds and grids have their number behind the name. */
static const struct {
  const char *name;
  size_t offset, of, components;
} arrays[NAMES] = {
#define ARRAY(name, of, components)                                                         \
  {                                                                                         \
#name, offsetof(abut_shape_gradients, name), offsetof(abut_shape_sizes, of), components \
  }
  ARRAY(vertices, vertices, 3),
  ARRAY(axes, superquadrics, 3),
  ARRAY(exponents, superquadrics, 2),
  ARRAY(position, superquadrics, 3),
  ARRAY(rotation, superquadrics, 3),
  ARRAY(plane_normals, planes, 3),
  ARRAY(plane_points, planes, 3),
  ARRAY(cloud_points, points, 3),
  ARRAY(cloud_normals, points, 3),
  ARRAY(cloud_widths, points, 1),
  ARRAY(grid_coefficients, coefficients, 1),
  ARRAY(core_half, cores, 3),
  ARRAY(core_radius, cores, 1),
  ARRAY(core_position, cores, 3),
  ARRAY(core_rotation, cores, 3)};

typedef struct golden {
  const char *name;
  abut_precision precision;
  abut_body bodies[2];
  abut_pair pair;
  size_t poses, slots;
  void *pose[2], *bars[4];
  abut_npz answers;
} golden;

static double **array_of(abut_shape_gradients *g, int i)
{
  return (double **)((char *)g + arrays[i].offset);
}

static size_t width_of(const abut_shape_sizes *s, int i)
{
  return *(const size_t *)((const char *)s + arrays[i].of) * arrays[i].components;
}

static void make_room(const abut_shape_sizes *sizes, size_t rows, abut_shape_gradients *out)
{
  for (int i = 0; i < NAMES; ++i) {
    const size_t count = rows * width_of(sizes, i);
    *array_of(out, i) = count ? malloc(count * sizeof(double)) : NULL;
  }
}

static void free_room(abut_shape_gradients *g)
{
  for (int i = 0; i < NAMES; ++i) {
    free(*array_of(g, i));
  }
}

static const abut_array *answer_of(const golden *c, const char *kind, int side, const char *name,
                                   long one)
{
  char text[96];
  snprintf(text, sizeof text, "%s%c_%s", kind, side ? 'b' : 'a', name);
  if (one >= 0) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "%ld", one);
  }
  for (size_t i = 0; i < c->answers.count; ++i) {
    if (!strcmp(c->answers.arrays[i].name, text)) {
      return &c->answers.arrays[i];
    }
  }
  return NULL;
}

/* Compares numbers from `first` on of rows that are `width` wide with an answer. */
static void compare(const golden *c, const abut_array *want, const double *got, size_t width,
                    size_t first)
{
  static const double all[] = {1e-2, 1e-7}, most[] = {2e-3, 1e-8};
  const bool fine = c->precision == ABUT_FLOAT64;
  const double *expected = want->data;
  size_t each = 1, above = 0, above_most = 0;
  for (uint32_t i = 1; i < want->dimensions; ++i) {
    each *= want->shape[i];
  }
  double largest = 0.0, worst = 0.0;
  for (size_t i = 0; i < each * c->poses; ++i) {
    largest = fmax(largest, fabs(expected[i]));
  }
  for (size_t i = 0; i < each * c->poses; ++i) {
    const double error = fabs(got[i / each * width + first + i % each] - expected[i]) /
                         (largest > 0.0 ? largest : 1.0);
    above += !(error <= all[fine]);
    above_most += !(error <= most[fine]);
    worst = error > worst || !(error == error) ? error : worst;
  }
  const double share = 100.0 - 100.0 * (double)above_most / (double)(each * c->poses);
  printf("%s f%d %-22s worst %.2e, within %.0e: %.2f %%\n", c->name, fine ? 64 : 32, want->name,
         worst, most[fine], share);
  check(above == 0, "%s %s: %zu of %zu entries are off by more than %g", c->name, want->name, above,
        each * c->poses, all[fine]);
  check(share >= 99.0, "%s %s: %.2f %% within %g", c->name, want->name, share, most[fine]);
}

static void compare_rows(const golden *c, int side, const abut_shape_sizes *sizes,
                         abut_shape_gradients *rows)
{
  size_t counts[3][8] = {{0}};
  CHECK_OK(abut_get_shape_counts(c->bodies[side], counts[0], counts[1], counts[2]));
  for (int i = 0; i < NAMES; ++i) {
    const bool plane = i >= PLANE_NORMALS && i < CLOUD_POINTS, grid = i == GRID_COEFFICIENTS;
    const size_t *count = counts[plane ? 0 : grid ? 2 : 1];
    const size_t width = width_of(sizes, i);
    size_t first = 0;
    if (i < PLANE_NORMALS) {
      const abut_array *want = answer_of(c, "", side, arrays[i].name, -1);
      CHECK(!want == !width);
      if (want) {
        compare(c, want, *array_of(rows, i), width, 0);
      }
      continue;
    }
    for (long one = 0; first < width; first += count[one++] * arrays[i].components) {
      const abut_array *want = answer_of(c, "", side, arrays[i].name, one);
      if (CHECK(want)) {
        compare(c, want, *array_of(rows, i), width, first);
      }
    }
  }
}

/* Takes a direction of a body's numbers off the answers, where they have one. */
static void read_direction(const golden *c, int side, const abut_shape_sizes *sizes,
                           abut_shape_gradients *to)
{
  size_t counts[3][8] = {{0}};
  CHECK_OK(abut_get_shape_counts(c->bodies[side], counts[0], counts[1], counts[2]));
  for (int i = 0; i < NAMES; ++i) {
    const bool plane = i >= PLANE_NORMALS && i < CLOUD_POINTS, grid = i == GRID_COEFFICIENTS;
    const size_t *count = counts[plane ? 0 : grid ? 2 : 1], width = width_of(sizes, i);
    double *array = *array_of(to, i);
    size_t first = 0;
    for (long one = i < PLANE_NORMALS ? -1 : 0; first < width; ++one) {
      const abut_array *from = answer_of(c, "tangent_", side, arrays[i].name, one);
      const size_t numbers = one < 0 ? width : count[one] * arrays[i].components;
      for (size_t k = 0; k < numbers; ++k) {
        array[first + k] = from ? ((const double *)from->data)[k] : sin((double)k);
      }
      first += numbers;
    }
  }
}

static abut_shape_tangents tangents_of(abut_shape_gradients *g)
{
  abut_shape_tangents t;
  for (int i = 0; i < NAMES; ++i) {
    ((const double **)(void *)&t)[i] = *array_of(g, i);
  }
  return t;
}

static abut_batch batch_of(const golden *c)
{
  abut_batch b = abut_default_batch();
  b.count = c->poses;
  b.pose1 = c->pose[0];
  b.pose2 = c->pose[1];
  return b;
}

static const abut_array *answer_named(const golden *c, const char *name)
{
  for (size_t i = 0; i < c->answers.count; ++i) {
    if (!strcmp(c->answers.arrays[i].name, name)) {
      return &c->answers.arrays[i];
    }
  }
  return NULL;
}

/* The outputs' tangents along a direction, against answers where the file has them, and against the
 * gradients' products with it. rows: each pose's gradients. */
static void run_tangents(const golden *c, const abut_shape_sizes sizes[2],
                         abut_shape_gradients rows[2])
{
  static const char *const names[] = {"jvp_p", "jvp_d", "jvp_n", "jvp_activity"};
  abut_shape_gradients numbers[2] = {{0}};
  abut_batch batch = batch_of(c);
  void *out[4];
  for (int side = 0; side < 2; ++side) {
    make_room(&sizes[side], 1, &numbers[side]);
    read_direction(c, side, &sizes[side], &numbers[side]);
  }
  for (int i = 0; i < 4; ++i) {
    out[i] = malloc(c->poses * c->slots * 3 * real_size(c->precision));
  }
  const abut_shape_tangents along[2] = {tangents_of(&numbers[0]), tangents_of(&numbers[1])};
  const abut_tangents to = {.p = out[0], .d = out[1], .n = out[2], .activity = out[3]};
  if (CHECK_OK(abut_shape_jvp(c->pair, &batch, &along[0], &along[1], NULL, &to, ABUT_SHAPE_SUMS))) {
    for (size_t pose = 0; pose < c->poses; ++pose) {
      double pushed = 0.0, pulled = 0.0, size = 0.0;
      for (int i = 0; i < 4; ++i) {
        const size_t width = c->slots * (i % 2 ? 1 : 3);
        for (size_t k = pose * width; k < (pose + 1) * width; ++k) {
          pushed += real_at(out[i], c->precision, k) * real_at(c->bars[i], c->precision, k);
        }
      }
      for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < NAMES; ++i) {
          const size_t width = width_of(&sizes[side], i);
          for (size_t k = 0; k < width; ++k) {
            const double term =
              (*array_of(&rows[side], i))[pose * width + k] * (*array_of(&numbers[side], i))[k];
            pulled += term;
            size += fabs(term);
          }
        }
      }
      const double most = c->precision == ABUT_FLOAT64 ? 1e-9 : 1e-2;
      check(fabs(pushed - pulled) <= most * size,
            "%s: products are %.12g along a direction, %.12g by gradients", c->name, pushed,
            pulled);
    }
    for (int i = 0; i < 4; ++i) {
      const abut_array *want = answer_named(c, names[i]);
      CHECK(!want == !answer_named(c, "tangent_a_vertices"));
      const size_t width = c->slots * (i % 2 ? 1 : 3);
      double *got = malloc(c->poses * width * sizeof(double));
      for (size_t k = 0; k < c->poses * width; ++k) {
        got[k] = real_at(out[i], c->precision, k);
      }
      if (want) {
        compare(c, want, got, width, 0);
      }
      free(got);
    }
  }
  for (int i = 0; i < 4; ++i) {
    free(out[i]);
  }
  free_room(&numbers[0]);
  free_room(&numbers[1]);
}

static void run(const golden *c)
{
  const abut_cotangents bars = {.p = c->bars[0],
                                .d = c->bars[1],
                                .n = c->bars[2],
                                .activity = c->bars[3]};
  abut_shape_sizes sizes[2];
  abut_shape_gradients rows[2] = {{0}}, sums[2] = {{0}};
  abut_batch batch = batch_of(c);
  for (int side = 0; side < 2; ++side) {
    CHECK_OK(abut_get_shape_sizes(c->bodies[side], &sizes[side]));
    make_room(&sizes[side], c->poses, &rows[side]);
    make_room(&sizes[side], 1, &sums[side]);
  }
  if (CHECK_OK(abut_shape_vjp(c->pair, &batch, &bars, &rows[0], &rows[1], ABUT_SHAPE_EACH_POSE)) &&
      CHECK_OK(abut_shape_vjp(c->pair, &batch, &bars, &sums[0], &sums[1], ABUT_SHAPE_SUMS))) {
    for (int side = 0; side < 2; ++side) {
      compare_rows(c, side, &sizes[side], &rows[side]);
      for (int i = 0; i < NAMES; ++i) {
        const size_t width = width_of(&sizes[side], i);
        size_t wrong = 0;
        double largest = 0.0;
        for (size_t k = 0; k < c->poses * width; ++k) {
          largest = fmax(largest, fabs((*array_of(&rows[side], i))[k]));
        }
        for (size_t k = 0; k < width; ++k) {
          double sum = 0.0;
          for (size_t pose = 0; pose < c->poses; ++pose) {
            sum += (*array_of(&rows[side], i))[pose * width + k];
          }
          wrong += !(fabs((*array_of(&sums[side], i))[k] - sum) <= 1e-14 * largest);
        }
        check(wrong == 0, "%s: %zu sums of %s are not those of rows", c->name, wrong,
              arrays[i].name);
      }
    }
    run_tangents(c, sizes, rows);
  }
  for (int side = 0; side < 2; ++side) {
    free_room(&rows[side]);
    free_room(&sums[side]);
  }
}

/* Reads rows of an array by the answers' poses. */
static void *pick(const golden *c, const abut_npz *from, const char *name)
{
  const abut_array *a = find_array(from, name), *pose = find_array(&c->answers, "pose");
  size_t width = 1;
  for (uint32_t i = 1; a && i < a->dimensions; ++i) {
    width *= a->shape[i];
  }
  void *out = malloc(c->poses * width * real_size(c->precision));
  for (size_t i = 0; a && pose && i < c->poses * width; ++i) {
    const size_t at = (size_t)((const int64_t *)pose->data)[i / width];
    real_put(out, c->precision, i, ((const double *)a->data)[at * width + i % width]);
  }
  return out;
}

static bool load(golden *c, abut_context context, const char *cases, const char *answers)
{
  char folder[1024], path[1100];
  const char *slash = strrchr(answers, '/'), *base = slash ? slash + 1 : answers;
  c->name = base;
  snprintf(folder, sizeof folder, "%s/%.*s", cases, (int)(strlen(base) - strlen(".npz")), base);
  abut_npz poses, bars;
  abut_smoothing smoothing;
  for (int i = 0; i < 2; ++i) {
    snprintf(path, sizeof path, "%s/%c.body.json", folder, i ? 'b' : 'a');
    REQUIRE_OK(abut_load_body(context, path, &c->bodies[i]));
  }
  snprintf(path, sizeof path, "%s/smoothing.json", folder);
  REQUIRE_OK(abut_load_smoothing(path, &smoothing));
  REQUIRE_OK(abut_create_pair(c->bodies[0], c->bodies[1], &smoothing, &c->pair));
  abut_layout layout;
  REQUIRE_OK(abut_get_layout(c->pair, &layout));
  c->slots = layout.contacts;
  snprintf(path, sizeof path, "%s/poses.npz", folder);
  REQUIRE_OK(abut_read_npz(path, &poses));
  snprintf(path, sizeof path, "%s/cotangents.npz", folder);
  REQUIRE_OK(abut_read_npz(path, &bars));
  REQUIRE_OK(abut_read_npz(answers, &c->answers));
  const abut_array *pose = find_array(&c->answers, "pose");
  c->poses = pose ? pose->shape[0] : 0;
  static const char *const names[] = {"p_bar", "d_bar", "n_bar", "activity_bar"};
  c->pose[0] = pick(c, &poses, "s1");
  c->pose[1] = pick(c, &poses, "s2");
  for (int i = 0; i < 4; ++i) {
    c->bars[i] = pick(c, &bars, names[i]);
  }
  abut_free_npz(&poses);
  abut_free_npz(&bars);
  return pose != NULL;
}

int main(int count, char **arguments)
{
  if (count < 4) {
    return 2;
  }
  const abut_precision precision = strcmp(arguments[1], "f32") ? ABUT_FLOAT64 : ABUT_FLOAT32;
  abut_context context = require_context(precision);
  for (int i = 3; i < count; ++i) {
    golden c = {.precision = precision};
    if (CHECK(load(&c, context, arguments[2], arguments[i]))) {
      run(&c);
    }
    for (int k = 0; k < 4; ++k) {
      free(c.bars[k]);
    }
    free(c.pose[0]);
    free(c.pose[1]);
    abut_free_npz(&c.answers);
  }
  abut_destroy_context(context);
  return check_finish();
}
