/* Splines of fields against their own sums, and samples of surfaces, to which fields are fitted. */
#include "mesh/surface/samples.h"
#include "surface/shapes.h"
#include "mesh/surface/solid.h"
#include "mesh/surface/spline.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- splines ---- */

static double b3(double t)
{
  t = fabs(t);
  return t < 1.0   ? (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0
         : t < 2.0 ? (2.0 - t) * (2.0 - t) * (2.0 - t) / 6.0
                   : 0.0;
}

/* The sum that defines a spline. */
static double sum_of(const spline *s, const double x[3])
{
  double sum = 0.0, u[3];
  for (int k = 0; k < 3; ++k) {
    u[k] = (x[k] - s->origin[k]) / s->spacing;
  }
  for (size_t i = 0; i < s->size[0]; ++i) {
    for (size_t j = 0; j < s->size[1]; ++j) {
      for (size_t k = 0; k < s->size[2]; ++k) {
        sum += (double)s->coarse[(i * s->size[1] + j) * s->size[2] + k] * b3(u[0] - (double)i) *
               b3(u[1] - (double)j) * b3(u[2] - (double)k);
      }
    }
  }
  for (size_t l = 1; l <= s->level_count; ++l) {
    for (size_t b = 0; b < s->levels[l].count; ++b) {
      const spline_block *block = &s->levels[l].blocks[b];
      for (size_t n = 0; n < BLOCK_NODES; ++n) {
        const size_t at[3] = {n >> 6, n >> 3 & 7, n & 7};
        double w =
          (double)block->node[((at[0] + 1) * BLOCK_REACH + at[1] + 1) * BLOCK_REACH + at[2] + 1];
        for (int k = 0; k < 3; ++k) {
          w *= b3(ldexp(u[k], (int)l) - (double)(8 * block->at[k]) - (double)at[k]);
        }
        sum += w;
      }
    }
  }
  return sum;
}

static double ball(const double x[3])
{
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 0.4;
}

static void add_blocks(spline *s, size_t level, int32_t first, int32_t end)
{
  for (int32_t i = first; i < end; ++i) {
    for (int32_t j = first; j < end; ++j) {
      for (int32_t k = first; k < end; ++k) {
        const int32_t at[3] = {i, j, k};
        if (level < 2 || i + j > 2 * first) { /* not a whole cube */
          REQUIRE_OK(spline_add(s, level, at));
        }
      }
    }
  }
}

static void fit(spline *s)
{
  const spline_level *to = &s->levels[s->level_count];
  double *values = malloc(to->count * BLOCK_NODES * sizeof *values);
  REQUIRE(values != NULL);
  const double h = spline_spacing(s, s->level_count);
  for (size_t i = 0; i < to->count * BLOCK_NODES; ++i) {
    const int32_t *at = to->blocks[i / BLOCK_NODES].at;
    const size_t n = i % BLOCK_NODES;
    const double x[3] = {s->origin[0] + h * (double)(8 * at[0] + (int32_t)(n >> 6)),
                         s->origin[1] + h * (double)(8 * at[1] + (int32_t)(n >> 3 & 7)),
                         s->origin[2] + h * (double)(8 * at[2] + (int32_t)(n & 7))};
    values[i] = ball(x) - spline_value(s, x, s->level_count - 1);
  }
  CHECK_OK(spline_fit_level(s, values));
  free(values);
}

static double cubic(const double x[3])
{
  return 0.02 * (x[0] * x[0] * x[0] - 2.0 * x[0] * x[1] * x[2] + x[1] * x[1] - x[2] + 0.3);
}

/* Near 0 a spline is exact for cubics, but where a node is missing beside. */
static void cubics(void)
{
  static const size_t size[3] = {10, 11, 12};
  const double origin[3] = {-0.5, -0.5, -0.6};
  double values[10 * 11 * 12], worst = 0.0;
  uint64_t seed = 9;
  spline s;
  REQUIRE_OK(spline_create(&s, size, origin, 0.1));
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    const double x[3] = {origin[0] + 0.1 * (double)(i / 132),
                         origin[1] + 0.1 * (double)(i / 12 % 11),
                         origin[2] + 0.1 * (double)(i % 12)};
    values[i] = cubic(x);
  }
  spline_fit(&s, values);
  for (int i = 0; i < 200; ++i) {
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = origin[k] + 0.1 * (2.0 + random_uniform(&seed) * ((double)size[k] - 5.0));
    }
    worst = fmax(worst, fabs(spline_value(&s, x, 0) - cubic(x)));
  }
  check(worst < 1e-8, "a cubic is off by %g", worst);
  spline_free(&s);
}

static void splines(void)
{
  static const size_t size[3] = {22, 20, 19};
  const double origin[3] = {-1.1, -1.0, -0.9};
  spline s;
  double values[22 * 20 * 19];
  uint64_t seed = 5;
  REQUIRE_OK(spline_create(&s, size, origin, 0.1));
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    const double x[3] = {origin[0] + 0.1 * (double)(i / 380),
                         origin[1] + 0.1 * (double)(i / 19 % 20),
                         origin[2] + 0.1 * (double)(i % 19)};
    values[i] = ball(x);
  }
  spline_fit(&s, values);
  double to_sum = 0.0, coarse = 0.0, fine = 0.0;
  add_blocks(&s, 1, 0, 5);
  fit(&s);
  add_blocks(&s, 2, 4, 7);
  fit(&s);
  for (int i = 0; i < 300; ++i) {
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = origin[k] + 0.1 * (1.0 + random_uniform(&seed) * ((double)size[k] - 3.0));
    }
    to_sum = fmax(to_sum, fabs(spline_value(&s, x, 2) - sum_of(&s, x)));
    /* Well inside the blocks of level 1 half the spacing is a sixteenth of the error. */
    if (fabs(x[0]) < 0.5 && fabs(x[1]) < 0.5 && fabs(x[2]) < 0.4 && ball(x) > -0.2) {
      coarse = fmax(coarse, fabs(spline_value(&s, x, 0) - ball(x)));
      fine = fmax(fine, fabs(spline_value(&s, x, 1) - ball(x)));
    }
  }
  check(to_sum < 1e-13, "a value is off the sum by %g", to_sum);
  check(fine < 0.25 * coarse && fine > 0.0, "blocks leave %g of %g", fine, coarse);
  const int32_t none[3] = {5, 0, 0};
  CHECK_EQUAL(spline_find(&s, 1, none), -1);
  spline_free(&s);
}

/* ---- samples ---- */

/* Every point of every face has a sample within the distance asked for, and samples are no more
 * than the area and the length of the slivers ask for, however many these are. */
static void sampled(const char *what, shape *s, double spacing, double most)
{
  static const size_t size[3] = {8, 8, 8};
  const double origin[3] = {0, 0, 0};
  surface f = shape_surface(s);
  solid inside;
  spline flat;
  sample *samples;
  size_t count;
  double worst = 0.0, area = 0.0;
  uint64_t seed = 2;
  REQUIRE_OK(solid_create(&inside, &f));
  REQUIRE_OK(spline_create(&flat, size, origin, 1.0));
  const sampler from = {.of = &f, .inside = &inside, .s = &flat};
  REQUIRE_OK(samples_take(&from, spacing, 0, &samples, &count));
  for (size_t i = 0; i < count; ++i) {
    area += samples[i].area;
  }
  for (size_t i = 0; i < 3000; ++i) {
    const size_t t = (size_t)(random_uniform(&seed) * (double)f.triangle_count) % f.triangle_count;
    const double u = sqrt(random_uniform(&seed)), w = random_uniform(&seed);
    double least2 = HUGE_VAL;
    double x[3];
    for (size_t k = 0; k < 3; ++k) {
      x[k] = (1.0 - u) * f.points[3 * (size_t)f.triangles[3 * t] + k] +
             u * (1.0 - w) * f.points[3 * (size_t)f.triangles[3 * t + 1] + k] +
             u * w * f.points[3 * (size_t)f.triangles[3 * t + 2] + k];
    }
    for (size_t n = 0; n < count; ++n) {
      double sum = 0.0;
      for (int k = 0; k < 3; ++k) {
        sum += (samples[n].x[k] - x[k]) * (samples[n].x[k] - x[k]);
      }
      least2 = fmin(least2, sum);
    }
    worst = fmax(worst, sqrt(least2));
  }
  check(worst <= spacing, "%s: a point is %g from the next sample, not %g", what, worst, spacing);
  check(fabs(area - f.area) <= 1e-4 * f.area, "%s: samples stand for %g of %g", what, area, f.area);
  check((double)count <= most, "%s: %zu samples, not %g", what, count, most);
  free(samples);
  spline_free(&flat);
  solid_free(&inside);
  surface_free(&f);
}

static void samples(void)
{
  static const double cone[3][2] = {{0, 0}, {0.1, 1}, {0, 1}};
  static const double tube[4][2] = {{0, 0}, {0.3, 0}, {0.3, 1}, {0, 1}};
  shape s = {0};
  shape_turned(&s, cone, 3, 40);
  sampled("cone", &s, 0.05, 600.0);
  shape_turned(&s, tube, 4, 12);
  sampled("bar", &s, 0.05, 2500.0);
  shape_turned(&s, tube, 4, 20000); /* walls a thousand times as high as wide */
  sampled("tube of slivers", &s, 0.05, 6000.0);
  shape_sphere(&s, 4);
  sampled("sphere of large triangles", &s, 0.03, 35000.0);
  shape_sphere(&s, 5);
  sampled("sphere of small triangles", &s, 0.3, 500.0);
}

int main(void)
{
  cubics();
  splines();
  samples();
  return check_finish();
}
