/* Lower bounds of distances over balls, as C: no point of a ball is nearer to a body than its bound
 * says, of any family, and bounds of grids are not much below the distance. REAL_DOUBLE is the
 * build's. */
#include "grids.h"
#include "heights.h"
#include "support/check.h"

#include "body/parts.h"
#include <math.h>
#include <stdlib.h>

#define LANES 1
#define WG 1
#include "num/real.h"
#include "geometry/coefficients.h"
#include "geometry/layout.h"
#include "geometry/plain.h"

typedef struct body {
  int *head;
  reals shape;
  coefficients c;
} body;

static body make_body(const abut_body_def *def, double union_tau)
{
  body b = {.c = {.union_ln2 = (real)(union_tau * 0.69314718055994530942),
                  .union_log2e = (real)(1.44269504088896340736 / union_tau),
                  .plane_ln2 = (real)(union_tau * 0.69314718055994530942),
                  .plane_log2e = (real)(1.44269504088896340736 / union_tau),
                  .normal = R(1e-12)}};
  size_t count;
  REQUIRE_OK(pack_primitives(def, sizeof(real), &b.head, &count, &b.shape));
  return b;
}

static void free_body(body *b)
{
  free(b->head);
  free(b->shape.data);
}

static double field(const body *b, const real x[3])
{
  const vec3_r at = {x[0], x[1], x[2]};
  vec3_r none;
  return (double)body_field_r(b->head, b->shape.data, &b->c, at, 0, &none);
}

static double bound(const body *b, const real x[3], real radius)
{
  const vec3_r at = {x[0], x[1], x[2]};
  return (double)body_bound_r(b->head, b->shape.data, &b->c, at, radius);
}

/* How bounds fared. */
typedef struct tally {
  size_t balls, told; /* told: where the bound says anything, which it must be positive for */
  double worst;       /* how far a bound was above a distance, at most */
  double share[3];    /* the least share of the distance far away, without a radius */
} tally;

/* Points on the sphere and inside, and towards where the distance falls. */
static double least_in_ball(const body *b, const real x[3], double radius, uint64_t *seed)
{
  double least = field(b, x);
  for (int i = 0; i < 40; ++i) {
    double way[3], length = 0.0;
    real at[3];
    for (int k = 0; k < 3; ++k) {
      way[k] = random_normal(seed);
      length += way[k] * way[k];
    }
    const double reach = radius * (i % 4 ? 1.0 : random_uniform(seed)) / sqrt(length);
    for (int k = 0; k < 3; ++k) {
      at[k] = (real)((double)x[k] + reach * way[k] * (1.0 - 4.0 * (double)REAL_EPSILON));
    }
    least = fmin(least, field(b, at));
  }
  return least;
}

static tally try_balls(const body *b, double size)
{
  uint64_t seed = 71;
  tally t = {.share = {1.0, 1.0, 1.0}};
  for (int i = 0; i < 4000; ++i) {
    const double spread = size * pow(10.0, i % 5 == 4 ? 1.5 : 0.7 * random_uniform(&seed) - 0.5);
    const double radius = i % 7 == 6 ? 0.0 : size * pow(10.0, 3.0 * random_uniform(&seed) - 3.0);
    const real x[3] = {(real)(spread * random_normal(&seed)), (real)(spread * random_normal(&seed)),
                       (real)(spread * random_normal(&seed))};
    const double low = bound(b, x, (real)radius);
    ++t.balls;
    if (low > 0.0) {
      ++t.told;
      t.worst = fmax(t.worst, low - least_in_ball(b, x, radius, &seed));
    }
    const double far[3] = {3.0, 10.0, 30.0}, d = field(b, x);
    for (int k = 0; k < 3; ++k) {
      t.share[k] = d > far[k] * size ? fmin(t.share[k], bound(b, x, R(0.0)) / d) : t.share[k];
    }
  }
  return t;
}

static void test_body(const char *what, const abut_body_def *def, double union_tau, double size,
                      const double share[3])
{
  body b = make_body(def, union_tau);
  const tally t = try_balls(&b, size);
  printf("%-28s %zu of %zu balls bounded, above by %.1e; shares %.3f %.3f %.3f\n", what, t.told,
         t.balls, t.worst, t.share[0], t.share[1], t.share[2]);
  check(t.worst <= 0.0, "%s: a bound is above a distance by %g", what, t.worst);
  check(5 * t.told > 2 * t.balls, "%s: %zu of %zu balls have a bound", what, t.told, t.balls);
  for (int k = 0; k < 3; ++k) {
    check(t.share[k] >= share[k], "%s: a bound is %g of the distance", what, t.share[k]);
  }
  free_body(&b);
}

/* Leaves corrections to where points are not clipped, as those of a mesh's distance are. */
static void calm_rim(grid_sample *s)
{
  for (size_t level = 1; level <= s->grid.level_count; ++level) {
    const double scale = (double)(1 << level);
    for (size_t i = 0; i < s->levels[level - 1].block_count * SAMPLE_BLOCK; ++i) {
      const int32_t *b = s->blocks[level - 1] + i / SAMPLE_BLOCK * 3;
      const size_t node[3] = {i % 512 / 64, i % 64 / 8, i % 8};
      for (size_t k = 0; k < 3; ++k) {
        const double m = 8.0 * (double)b[k] + (double)node[k];
        if (m - 2.0 < 2.0 * scale || m + 2.0 > ((double)s->grid.size[k] - 3.0) * scale) {
          s->corrections[level - 1][i] = 0.0;
        }
      }
    }
  }
}

static void test_grids(void)
{
  static grid_sample samples[2];
  static const double shares[3] = {0.8, 0.9, 0.95}, none[3] = {0.0, 0.0, 0.0};
  uint64_t seed = 72;
  for (size_t levels = 0; levels <= SAMPLE_LEVELS; ++levels) {
    for (int i = 0; i < (usual_share() ? 1 : 3); ++i) {
      const double size = i == 1 ? 1e-3 : i == 2 ? 1e3 : 1.0;
      char what[64];
      snprintf(what, sizeof what, "%zu levels, %g m", levels, size);
      grid_sample_make(&samples[0], &seed, levels, size, ABUT_ADD);
      abut_body_def def = abut_default_body_def();
      def.grids = &samples[0].grid;
      def.grid_count = 1;
      test_body(what, &def, 0.01 * size, size, none);
      calm_rim(&samples[0]);
      test_body("the same, calm at the rim", &def, 0.01 * size, size, shares);
    }
  }
  grid_sample_make(&samples[0], &seed, 1, 1.0, ABUT_ADD);
  grid_sample_make(&samples[1], &seed, 1, 0.6, ABUT_ADD);
  calm_rim(&samples[0]);
  calm_rim(&samples[1]);
  for (int i = 0; i < 2; ++i) {
    samples[1].grid.operation = i ? ABUT_SUBTRACT : ABUT_ADD;
    samples[1].grid.origin[0] += 0.3;
    const abut_grid both[] = {samples[0].grid, samples[1].grid};
    abut_body_def def = abut_default_body_def();
    def.grids = both;
    def.grid_count = 2;
    test_body(i ? "a grid less another" : "two grids", &def, 0.01, 1.0,
              (double[3]){0.7, 0.9, 0.95});
  }
}

/* A field that falls outwards at the rim, which a distance never does, and steep noise. */
static void test_wrong_grids(void)
{
  static grid_sample s;
  for (int i = 0; i < 3; ++i) {
    uint64_t seed = 73 + (uint64_t)i;
    grid_sample_make(&s, &seed, 1, 1.0, ABUT_ADD);
    for (size_t k = 0; k < SAMPLE_NODES; ++k) {
      const double noise = 0.12 * random_normal(&seed);
      s.coefficients[k] = i == 0 ? fmax(0.3 - s.coefficients[k], 0.02)
                                 : fmax(s.coefficients[k] + (i == 1 ? 0.3 : 3.0) * noise, 0.02);
    }
    body b = make_body(&(abut_body_def){.grids = &s.grid, .grid_count = 1}, 0.01);
    const tally t = try_balls(&b, 1.0);
    printf("wrong grid %d: %zu of %zu balls bounded, above by %.1e; shares %.3f %.3f %.3f\n", i,
           t.told, t.balls, t.worst, t.share[0], t.share[1], t.share[2]);
    check(t.worst <= 0.0, "wrong grid %d: a bound is above a distance by %g", i, t.worst);
    free_body(&b);
  }
}

/* Far above a height field the slope that it has somewhere says how near it may be. */
static void test_heights(void)
{
  static height_sample s;
  uint64_t seed = 76;
  for (int i = 0; i < 12; ++i) {
    const double size = i % 3 == 1 ? 1e-3 : i % 3 == 2 ? 1e3 : 1.0;
    const double roughness = i % 4 == 0 ? 0.0 : i % 4 == 1 ? 0.05 : i % 4 == 2 ? 0.3 : 1.0;
    const double least = roughness > 0.2 ? 0.03 : 0.3; /* one over the steepest slant, about */
    char what[64];
    snprintf(what, sizeof what, "height field, rough by %g", roughness);
    height_sample_make(&s, &seed, roughness, size, ABUT_ADD);
    test_body(what, &(abut_body_def){.height_fields = &s.field, .height_field_count = 1},
              0.01 * size, size, (double[3]){least, least, least});
  }
}

static void test_others(void)
{
  static const abut_superquadric solids[] = {
    {{0.4, 0.3, 0.5}, {0.8, 0.6}, {0.1, 0.2, 0.0}, {0.9, 0.1, 0.3, 0.2}, ABUT_ADD},
    {{0.3, 0.5, 0.3}, {1.0, 1.5}, {-0.2, 0.2, 0.1}, {0.2, 0.7, 0.3, 0.1}, ABUT_ADD},
    {{0.3, 0.2, 0.2}, {1.0, 1.0}, {0.2, 0.0, 0.3}, {1.0, 0.0, 0.0, 0.0}, ABUT_SUBTRACT},
  };
  static const double planes[36] = {1, 0.1, 0, 0.5, 0,   0,   -1, 0,  0,   -0.5, 0,    0,
                                    0, 1,   0, 0,   0.3, 0,   0,  -1, 0.2, 0,    -0.3, 0,
                                    0, 0,   1, 0,   0,   0.4, 0,  0,  -1,  0,    0,    -0.4};
  static const abut_polyhedron polyhedron = {planes, 6, ABUT_ADD};
  static const double shares[3] = {0.3, 0.3, 0.3};
  static grid_sample s;
  uint64_t seed = 75;
  grid_sample_make(&s, &seed, 2, 1.0, ABUT_ADD);
  calm_rim(&s);
  abut_body_def def = abut_default_body_def();
  def.superquadrics = solids;
  def.superquadric_count = 3;
  test_body("superquadrics", &def, 0.01, 1.0, shares);
  def.polyhedra = &polyhedron;
  def.polyhedron_count = 1;
  test_body("with a polyhedron", &def, 0.01, 1.0, shares);
  def.grids = &s.grid;
  def.grid_count = 1;
  test_body("with a grid", &def, 0.01, 1.0, shares);
}

/* Cores bound balls inside them, too, which `try_balls` does not look at. */
static void test_core_inside(const char *what, const abut_body_def *def, double union_tau,
                             double size)
{
  body b = make_body(def, union_tau);
  uint64_t seed = 78;
  size_t inside = 0;
  double worst = -HUGE_VAL;
  for (int i = 0; i < 2000; ++i) {
    const double radius = size * pow(10.0, 3.0 * random_uniform(&seed) - 3.0);
    const real x[3] = {(real)(0.2 * size * random_normal(&seed)),
                       (real)(0.2 * size * random_normal(&seed)),
                       (real)(0.2 * size * random_normal(&seed))};
    const double low = bound(&b, x, (real)radius);
    inside += low < 0.0;
    worst = fmax(worst, low - least_in_ball(&b, x, radius, &seed));
  }
  printf("%-28s %zu of 2000 balls inside, above by %.1e\n", what, inside, worst);
  check(inside > 500 && worst <= 0.0, "%s: a bound is above a distance by %g", what, worst);
  free_body(&b);
}

static void test_cores(void)
{
  static const double shares[3] = {0.97, 0.97, 0.97};
  for (int i = 0; i < 3; ++i) {
    const double s = i == 1 ? 1e-3 : i == 2 ? 1e3 : 1.0;
    const abut_core cores[] = {
      {ABUT_CORE_BOX,
       {0.4 * s, 0.3 * s, 0.2 * s},
       0.1 * s,
       {0.1 * s, 0, 0},
       {0.9, 0.1, 0.3, 0.2},
       ABUT_ADD},
      {ABUT_CORE_DISC,
       {0.4 * s, 0.3 * s},
       0.02 * s,
       {0, -0.2 * s, 0},
       {0.2, 0.7, 0.3, 0.1},
       ABUT_ADD},
      {ABUT_CORE_BOX, {0, 0, 0.5 * s}, 0.2 * s, {0, 0, 0.2 * s}, {0.5, 0.5, -0.3, 0.1}, ABUT_ADD},
      {ABUT_CORE_BOX, {0, 0, 0}, 0.3 * s, {0.2 * s, 0, 0}, {1, 0, 0, 0}, ABUT_SUBTRACT},
    };
    for (size_t count = 1; count <= 4; ++count) {
      char what[48];
      const abut_body_def def = {.cores = cores, .core_count = count};
      snprintf(what, sizeof what, "cores: %zu, %g m", count, s);
      test_body(what, &def, 0.01 * s, s, shares);
      test_core_inside(what, &def, 0.01 * s, s);
    }
  }
}

int main(void)
{
  test_grids();
  test_wrong_grids();
  test_heights();
  test_others();
  test_cores();
  return check_finish();
}
