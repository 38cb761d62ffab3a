/* Derivatives of closest points: test_closest_derivatives PRECISION
 *
 * Exact ones against central differences of the queries (in float64), and by every method: products
 * with cotangents and tangents against Jacobians, gradients by the poses' numbers against those by
 * twists, and both bodies moved as one. */
#include "closest/slopes_of_rows.h"

#include "core/scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOLIDS = 24, ROWS = 240 };

static abut_precision precision;
static abut_context context;

typedef struct fixture {
  solid solids[SOLIDS];
  abut_shape shapes[SOLIDS];
  rows r;
} fixture;

/* Every twelfth row has a pose that is none. Superquadrics are nearly ellipsoids: the curvature of
 * flat sides has no bound, and what it is multiplied by is a difference of numbers that are nearly
 * equal. */
static bool make_fixture(fixture *f, abut_pose_kind kind, uint64_t seed)
{
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, (abut_shape_kind)(i % ABUT_SHAPE_KINDS), &f->solids[i]);
    f->solids[i].def.exponents[0] = 0.7 + 0.3 * f->solids[i].def.exponents[0];
    f->solids[i].def.exponents[1] = 0.7 + 0.3 * f->solids[i].def.exponents[1];
  }
  rows_create(&f->r, precision, kind, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double pose[2][7];
    random_row(&seed, &f->r, i, f->solids, SOLIDS);
    rows_pose(&f->r, i, 0, pose[0]);
    rows_pose(&f->r, i, 1, pose[1]);
    pose[i % 2][i % 6] = i % 12 == 5 ? (double)NAN : pose[i % 2][i % 6];
    for (size_t k = 3; k < f->r.width && kind == ABUT_POSE_QUATERNION; ++k) {
      pose[1][k] *= 1.7; /* a quaternion's length says nothing */
    }
    rows_put(&f->r, i, f->r.one[i], f->r.two[i], pose[0], pose[1]);
  }
  return make_shapes(context, f->solids, SOLIDS, f->shapes);
}

static bool differentiate(const fixture *f, const abut_closest_smoothing *s, row_jacobians *j)
{
  abut_closest_batch b = rows_batch(&f->r, f->shapes, SOLIDS, 0, f->r.count);
  const abut_closest_jacobians to = jacobians_from(j, 0);
  return CHECK_OK(abut_closest_jacobian(context, &b, s, &to));
}

/* ---- exact ones against central differences ---- */

/* Of curved shapes alone, whose edges are not too sharp for the steps. */
static bool make_curved(fixture *f)
{
  static const abut_shape_kind kinds[] = {ABUT_SHAPE_SPHERE, ABUT_SHAPE_ELLIPSOID,
                                          ABUT_SHAPE_CAPSULE, ABUT_SHAPE_SUPERQUADRIC};
  uint64_t seed = 40;
  for (size_t i = 0; i < SOLIDS; ++i) {
    random_solid(&seed, kinds[i % 4], &f->solids[i]);
    for (int k = 0; k < 3; ++k) {
      f->solids[i].def.size[k] = 0.3 + 0.6 * f->solids[i].def.size[k];
    }
    for (int k = 0; k < 2; ++k) {
      f->solids[i].def.exponents[k] = 0.7 + 0.4 * f->solids[i].def.exponents[k];
    }
  }
  rows_create(&f->r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    random_row(&seed, &f->r, i, f->solids, SOLIDS);
  }
  return make_shapes(context, f->solids, SOLIDS, f->shapes);
}

/* Adds the answers at poses of which body `column / 6` is moved by h along a column, times a
 * factor. */
static bool add_moved(const fixture *f, size_t column, double h, double factor, row_jacobians *to)
{
  fixture moved = *f;
  bool solved = true;
  rows_create(&moved.r, precision, ABUT_POSE_QUATERNION, ROWS);
  for (size_t i = 0; i < ROWS; ++i) {
    double pose[2][7], step[6] = {0};
    rows_pose(&f->r, i, 0, pose[0]);
    rows_pose(&f->r, i, 1, pose[1]);
    step[column % 6] = h;
    solved = solved &&
             CHECK_OK(abut_pose_step(ABUT_FLOAT64, ABUT_POSE_QUATERNION, ABUT_FRAME_ALIGNED, 1,
                                     pose[column / 6], step, pose[column / 6]));
    rows_put(&moved.r, i, f->r.one[i], f->r.two[i], pose[0], pose[1]);
  }
  abut_closest_batch b = rows_batch(&moved.r, f->shapes, SOLIDS, 0, ROWS);
  solved = solved && CHECK_OK(abut_closest(context, &b));
  static const int arrays[BY_OUTPUTS] = {ROW_P1, ROW_P2, ROW_N, ROW_D};
  for (size_t k = 0; k < BY_OUTPUTS; ++k) {
    for (size_t i = 0; i < ROWS * output_heights[k]; ++i) {
      ((double *)to->of[k])[12 * i + column] += factor * rows_at(&moved.r, arrays[k], i);
    }
  }
  rows_free(&moved.r);
  return solved;
}

/* Quotients, and how much they change with half the step. */
static bool quotients(const fixture *f, double h, row_jacobians *fine, row_jacobians *coarse)
{
  bool solved = true;
  for (size_t column = 0; column < 12 && solved; ++column) {
    solved = add_moved(f, column, h, 0.5 / h, coarse) &&
             add_moved(f, column, -h, -0.5 / h, coarse) &&
             add_moved(f, column, 0.5 * h, 1.0 / h, fine) &&
             add_moved(f, column, -0.5 * h, -1.0 / h, fine);
  }
  return solved;
}

/* The largest difference of two Jacobians of a row, over the row's largest number. */
static double difference(const row_jacobians *a, const row_jacobians *b, size_t row, size_t wanted)
{
  double worst = 0.0, most = 1.0;
  for (size_t k = 0; k < BY_OUTPUTS; ++k) {
    for (size_t i = 0; i < output_heights[k] && (wanted >> k & 1); ++i) {
      for (size_t column = 0; column < 12; ++column) {
        const double x = jacobian_at(a, (int)k, row, i, column),
                     error = fabs(x - jacobian_at(b, (int)k, row, i, column));
        worst = error <= worst ? worst : error;
        most = fmax(most, fabs(x));
      }
    }
  }
  return worst / most;
}

/* Rows where something switches within the steps, a capsule's end or a ridge, have no quotient.
 * `wanted`: bits. */
static void compare_quotients(fixture *f, size_t wanted, double h, double tolerance, size_t least,
                              const char *what)
{
  const abut_closest_smoothing s = smoothing_of(ABUT_CLOSEST_EXACT);
  row_jacobians exact, fine, coarse;
  size_t compared = 0, below = 0;
  double worst = 0.0;
  jacobians_create(&exact, precision, ROWS);
  jacobians_create(&fine, precision, ROWS);
  jacobians_create(&coarse, precision, ROWS);
  const bool good = differentiate(f, &s, &exact) && quotients(f, h, &fine, &coarse);
  for (size_t i = 0; i < ROWS && good; ++i) {
    const bool flat = f->r.status[i] & ABUT_CLOSEST_FLAT;
    if ((flat && wanted != 1u << BY_D) || difference(&fine, &coarse, i, wanted) > tolerance) {
      continue;
    }
    const double error = difference(&exact, &fine, i, wanted);
    worst = error <= worst ? worst : error;
    ++compared;
    below += rows_at(&f->r, ROW_D, i) < 0.0;
    check(error <= tolerance, "%s, row %zu of kinds %d and %d: off by %g; d %g", what, i,
          f->solids[f->r.one[i]].def.kind, f->solids[f->r.two[i]].def.kind, error,
          rows_at(&f->r, ROW_D, i));
  }
  printf("%s: %zu of %d rows, %zu of them overlap, worst %.2e\n", what, compared, ROWS, below,
         worst);
  check(compared >= least && below > compared / 10,
        "%s: only %zu rows, of which %zu overlap, are compared", what, compared, below);
  jacobians_free(&exact);
  jacobians_free(&fine);
  jacobians_free(&coarse);
}

/* Points of some curved pairs are good to the root of the gap alone, 1e-6 m: steps are long.
 * Distances are better, and have derivatives wherever n is the only one. */
static void test_quotients(void)
{
  fixture f;
  if (make_curved(&f)) {
    compare_quotients(&f, 15, 1e-3, 5e-4, ROWS / 2, "curved shapes");
  }
  rows_free(&f.r);
  if (make_fixture(&f, ABUT_POSE_QUATERNION, 9)) {
    for (size_t k = 5; k < ROWS; k += 12) { /* instead of the poses that are none */
      double pose[2][7];
      rows_pose(&f.r, k - 1, 0, pose[0]);
      rows_pose(&f.r, k - 1, 1, pose[1]);
      rows_put(&f.r, k, f.r.two[k - 1], f.r.one[k - 1], pose[1], pose[0]);
    }
    compare_quotients(&f, 1u << BY_D, 1e-4, 1e-3, ROWS / 2, "distances of all shapes");
  }
  rows_free(&f.r);
}

/* ---- products ---- */

typedef struct products {
  void *bars[BY_OUTPUTS], *twists;       /* in: cotangents, and (count, 12) */
  void *tangents[BY_OUTPUTS], *gradient; /* out */
  void *numbers[2], *framed[2];          /* gradients by the poses' numbers, and these by
                                            steps */
} products;

static void *random_reals(uint64_t *seed, size_t count)
{
  void *out = calloc(count, real_size(precision));
  REQUIRE(out != NULL);
  for (size_t i = 0; i < count; ++i) {
    real_put(out, precision, i, random_normal(seed));
  }
  return out;
}

static void make_products(products *p, size_t width)
{
  uint64_t seed = 15;
  for (int i = 0; i < BY_OUTPUTS; ++i) {
    p->bars[i] = random_reals(&seed, ROWS * output_heights[i]);
    p->tangents[i] = random_reals(&seed, ROWS * output_heights[i]);
  }
  p->twists = random_reals(&seed, ROWS * 12);
  p->gradient = random_reals(&seed, ROWS * 12);
  for (int side = 0; side < 2; ++side) {
    p->numbers[side] = random_reals(&seed, ROWS * width);
    p->framed[side] = random_reals(&seed, ROWS * 6);
  }
}

static void free_products(products *p)
{
  for (int i = 0; i < BY_OUTPUTS; ++i) {
    free(p->bars[i]);
    free(p->tangents[i]);
  }
  free(p->twists);
  free(p->gradient);
  for (int side = 0; side < 2; ++side) {
    free(p->numbers[side]);
    free(p->framed[side]);
  }
}

/* In float32 cylinders and cones that are touched nearly at their base curve so much that rounding
 * is seen. */
static double product_tolerance(void)
{
  return precision == ABUT_FLOAT64 ? 1e-12 : 5e-4;
}

/* Where M is nearly singular, as inside flat shapes, a product differs from the sum by the rounding
 * of terms that are as large as the row is steep; where it is very steep nothing is left to
 * compare. */
#define STEEP 1e3

static double steepness(const row_jacobians *j, size_t row)
{
  double most = 0.0;
  for (int k = 0; k < BY_OUTPUTS; ++k) {
    for (size_t i = 0; i < 12 * output_heights[k]; ++i) {
      most = fmax(most, fabs(jacobian_at(j, k, row, i / 12, i % 12)));
    }
  }
  return most;
}

/* J t of a row, for each output. */
static void check_jvp_row(const fixture *f, const row_jacobians *j, const products *p, size_t row,
                          const char *what)
{
  for (int k = 0; k < BY_OUTPUTS; ++k) {
    for (size_t i = 0; i < output_heights[k]; ++i) {
      double sum = 0.0, size = steepness(j, row);
      for (size_t column = 0; column < 12; ++column) {
        const double term =
          jacobian_at(j, k, row, i, column) * real_at(p->twists, precision, 12 * row + column);
        sum += term;
        size += fabs(term);
      }
      const double got = real_at(p->tangents[k], precision, row * output_heights[k] + i);
      check(fabs(got - sum) <= product_tolerance() * size,
            "%s, row %zu, d %g: the tangent of %s is %g, not %g", what, row,
            rows_at(&f->r, ROW_D, row), output_names[k], got, sum);
    }
  }
}

/* bar J of a row; what it is made of is as large as `size`. */
static double bar_times(const row_jacobians *j, const products *p, size_t row, size_t column,
                        double *size)
{
  double sum = 0.0;
  *size = 1e-3;
  for (int k = 0; k < BY_OUTPUTS; ++k) {
    for (size_t i = 0; i < output_heights[k]; ++i) {
      const double term = jacobian_at(j, k, row, i, column) *
                          real_at(p->bars[k], precision, row * output_heights[k] + i);
      sum += term;
      *size += fabs(term);
    }
  }
  return sum;
}

static void check_vjp_row(const fixture *f, const row_jacobians *j, const products *p, size_t row,
                          const char *what)
{
  double most = 0.0, sizes = steepness(j, row);
  for (size_t column = 0; column < 12; ++column) {
    double size;
    const double right = bar_times(j, p, row, column, &size);
    most = fmax(most, fabs(real_at(p->gradient, precision, 12 * row + column) - right));
    sizes = fmax(sizes, size);
  }
  check(most <= product_tolerance() * sizes, "%s, row %zu, d %g: a gradient is off by %g of %g",
        what, row, rows_at(&f->r, ROW_D, row), most, sizes);
}

/* Gradients by the numbers, taken along steps of the world's axes about each body's origin, are
 * those by twists. */
static void check_numbers(const fixture *f, const products *p, const char *what)
{
  const size_t width = f->r.width;
  for (size_t side = 0; side < 2; ++side) {
    CHECK_OK(abut_gradient_to_frame(precision, f->r.kind, ABUT_FRAME_ALIGNED, ROWS, f->r.pose[side],
                                    p->numbers[side], p->framed[side]));
    for (size_t row = 0; row < ROWS; ++row) {
      double most = 1e-3, off = 0.0, along = 0.0;
      if (f->r.status[row] == ABUT_CLOSEST_BAD_INPUT) {
        continue;
      }
      for (size_t k = 0; k < 6; ++k) {
        const double right = real_at(p->gradient, precision, 12 * row + 6 * side + k);
        const double error = fabs(real_at(p->framed[side], precision, 6 * row + k) - right);
        off = error <= off ? off : error;
        most = fmax(most, fabs(right));
      }
      for (size_t k = 3; k < width && width == 7; ++k) {
        along += real_at(p->numbers[side], precision, 7 * row + k) *
                 real_at(f->r.pose[side], precision, 7 * row + k);
      }
      check(off <= (precision == ABUT_FLOAT64 ? 1e-11 : 1e-4) * most &&
              fabs(along) <= product_tolerance() * most,
            "%s, row %zu: the gradient of pose%zu is off by %g of %g; along the quaternion %g",
            what, row, side + 1, off, most, along);
    }
  }
}

static bool are_zeros(const void *array, size_t row, size_t width)
{
  bool zeros = true;
  for (size_t i = 0; i < width; ++i) {
    zeros = zeros && real_at(array, precision, width * row + i) == 0.0;
  }
  return zeros;
}

static void check_zeros(const fixture *f, const row_jacobians *j, const products *p, size_t row,
                        const char *what)
{
  bool zeros = are_zeros(p->gradient, row, 12);
  for (int k = 0; k < BY_OUTPUTS; ++k) {
    zeros = zeros && are_zeros(j->of[k], row, 12 * output_heights[k]) &&
            are_zeros(p->tangents[k], row, output_heights[k]);
  }
  for (int side = 0; side < 2; ++side) {
    zeros = zeros && are_zeros(p->numbers[side], row, f->r.width);
  }
  check(zeros, "%s, row %zu: a pose that is none has derivatives", what, row);
}

static bool multiply(const fixture *f, const abut_closest_smoothing *s, products *p)
{
  abut_closest_batch b = rows_batch(&f->r, f->shapes, SOLIDS, 0, ROWS);
  const abut_closest_cotangents bars = {p->bars[BY_P1], p->bars[BY_P2], p->bars[BY_N],
                                        p->bars[BY_D]};
  const abut_closest_gradients gradients = {p->gradient, p->numbers[0], p->numbers[1]};
  const abut_closest_tangents tangents = {p->tangents[BY_P1], p->tangents[BY_P2], p->tangents[BY_N],
                                          p->tangents[BY_D]};
  return CHECK_OK(abut_closest_vjp(context, &b, s, &bars, &gradients)) &&
         CHECK_OK(abut_closest_jvp(context, &b, s, p->twists, &tangents));
}

/* One cotangent alone is the product with that output's Jacobian: what is NULL counts as zero. */
static void check_alone(const fixture *f, const abut_closest_smoothing *s, const row_jacobians *j,
                        products *p, const char *what)
{
  abut_closest_batch b = rows_batch(&f->r, f->shapes, SOLIDS, 0, ROWS);
  const abut_closest_cotangents bars = {.d = p->bars[BY_D]};
  const abut_closest_gradients gradients = {.twists = p->gradient};
  CHECK_OK(abut_closest_vjp(context, &b, s, &bars, &gradients));
  for (size_t row = 0; row < ROWS; ++row) {
    for (size_t column = 0; column < 12; ++column) {
      const double right =
        jacobian_at(j, BY_D, row, 0, column) * real_at(p->bars[BY_D], precision, row);
      const double got = real_at(p->gradient, precision, 12 * row + column);
      check(fabs(got - right) <= product_tolerance() * (1.0 + fabs(right)),
            "%s, row %zu: of d alone %g, not %g", what, row, got, right);
    }
  }
}

/* ---- both bodies as one ---- */

/* A twist of both about the world's origin turns and moves the answer, and leaves d: by curvatures
 * where M is definite, which it is for shapes apart. */
static void check_rigid(const fixture *f, const row_jacobians *j, size_t row, const char *what)
{
  static const int arrays[] = {ROW_P1, ROW_P2, ROW_N};
  const double tau[3] = {0.3, -0.5, 0.7}, phi[3] = {-0.4, 0.6, 0.2};
  double twist[12], most = 1.0;
  for (int side = 0; side < 2; ++side) {
    double pose[7], *at = twist + 6 * side;
    rows_pose(&f->r, row, side, pose);
    if (f->r.kind == ABUT_POSE_TWIST) {
      exponential(pose, pose);
    }
    for (int k = 0; k < 3; ++k) {
      at[k] = tau[k] + phi[(k + 1) % 3] * pose[(k + 2) % 3] - phi[(k + 2) % 3] * pose[(k + 1) % 3];
      at[3 + k] = phi[k];
    }
  }
  for (int k = 0; k < BY_OUTPUTS; ++k) {
    for (size_t i = 0; i < output_heights[k]; ++i) {
      double sum = 0.0, right = k < BY_N ? tau[i] : 0.0;
      for (size_t column = 0; column < 12; ++column) {
        sum += jacobian_at(j, k, row, i, column) * twist[column];
        most = fmax(most, fabs(jacobian_at(j, k, row, i, column)));
      }
      if (k < BY_D) {
        const double a = rows_at(&f->r, arrays[k], 3 * row + (i + 2) % 3),
                     b = rows_at(&f->r, arrays[k], 3 * row + (i + 1) % 3);
        right += phi[(i + 1) % 3] * a - phi[(i + 2) % 3] * b;
      }
      check(fabs(sum - right) <= (precision == ABUT_FLOAT64 ? 3e-11 : 1e-3) * most,
            "%s, row %zu: moved as one, %s changes by %g, not %g", what, row, output_names[k], sum,
            right);
    }
  }
}

static void test_method(const fixture *f, int method)
{
  const abut_closest_smoothing s = smoothing_of(method);
  row_jacobians j;
  products p;
  char what[64];
  snprintf(what, sizeof what, "%s, poses of %zu numbers", method_names[method], f->r.width);
  jacobians_create(&j, precision, ROWS);
  make_products(&p, f->r.width);
  if (differentiate(f, &s, &j) && multiply(f, &s, &p)) {
    size_t steep = 0;
    for (size_t row = 0; row < ROWS; ++row) {
      if (f->r.status[row] == ABUT_CLOSEST_BAD_INPUT) {
        check_zeros(f, &j, &p, row, what);
      } else if (steepness(&j, row) > STEEP) {
        ++steep;
      } else {
        check_jvp_row(f, &j, &p, row, what);
        check_vjp_row(f, &j, &p, row, what);
        if (method >= ABUT_CLOSEST_ZEROTH || rows_at(&f->r, ROW_D, row) > 1e-3) {
          check_rigid(f, &j, row, what);
        }
      }
    }
    check(steep <= (method == ABUT_CLOSEST_EXACT ? ROWS / 3 : ROWS / 8), "%s: %zu rows are steep",
          what, steep);
    check_numbers(f, &p, what);
    check_alone(f, &s, &j, &p, what);
  }
  free_products(&p);
  jacobians_free(&j);
}

int main(int argc, char **argv)
{
  fixture f;
  precision = precision_of(argc, argv);
  context = require_context(precision);
  if (precision == ABUT_FLOAT64) {
    test_quotients();
  }
  for (int kind = 0; kind < 2; ++kind) {
    for (int method = 0; method < methods_of(precision); ++method) {
      if (make_fixture(&f, kind ? ABUT_POSE_QUATERNION : ABUT_POSE_TWIST, 2 + (uint64_t)method)) {
        test_method(&f, method);
      }
      rows_free(&f.r);
    }
  }
  return finish_context(context);
}
