/* Boxes of where primitives' distances may be small, as C: outside of its box the field of a
 * primitive of any family is above the reach, also where it is least there; boxes grow with the
 * reach and are no larger than they have to be. REAL_DOUBLE is the build's. */
#include "grids.h"
#include "heights.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#define LANES 1
#define WG 1
#include "num/real.h"
#include "geometry/coefficients.h"
#include "geometry/layout.h"
#include "geometry/plain.h"

#include "body/parts.h" /* behind the kernels' text, which has words of these for its own */
#include "body/family/family.h"

enum { SUPERQUADRICS, POLYHEDRA, CLOUDS, GRIDS, HEIGHTS, CORES };
enum { STARTS = 12, STEPS = 60 };

typedef struct body {
  int *head;
  reals shape;
  coefficients c;
} body;

static body make_body(const abut_body_def *def, double tau)
{
  body b = {.c = {.union_ln2 = (real)(tau * 0.69314718055994530942),
                  .union_log2e = (real)(1.44269504088896340736 / tau),
                  .plane_ln2 = (real)(tau * 0.69314718055994530942),
                  .plane_log2e = (real)(1.44269504088896340736 / tau),
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

static double field(const body *b, const double x[3])
{
  const vec3_r at = {(real)x[0], (real)x[1], (real)x[2]};
  vec3_r none;
  return (double)body_field_r(b->head, b->shape.data, &b->c, at, 0, &none);
}

static box enclosed(const body *b, int of, double reach)
{
  box out = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
  const packed p = packed_of(b->head, &b->shape, ABUT_ADD, (size_t)of);
  families[of]->enclose(&p, reach, &out);
  return out;
}

/* The next real outside of a side of a box. */
static double outside(const box *b, int axis, int side)
{
  const double end = side ? b->upper[axis] : b->lower[axis], away = side ? HUGE_VAL : -HUGE_VAL;
  const real at = (real)end;
#if REAL_DOUBLE
  return nextafter(at, away);
#else
  return (double)nextafterf(nextafterf(at, (float)away), (float)away);
#endif
}

/* Looks for the least field just outside of a side, from somewhere on it, downhill. */
static double least_beyond(const body *b, const box *around, int axis, int side, uint64_t *seed)
{
  double x[3], size = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double width = around->upper[k] - around->lower[k];
    size = fmax(size, width);
    x[k] = around->lower[k] + width * (1.2 * random_uniform(seed) - 0.1);
  }
  x[axis] = outside(around, axis, side);
  double least = field(b, x), step = 0.3 * size;
  for (int i = 0; i < STEPS; ++i, step *= 0.9) {
    double at[3] = {x[0], x[1], x[2]};
    at[(axis + 1) % 3] += step * random_normal(seed);
    at[(axis + 2) % 3] += step * random_normal(seed);
    const double here = field(b, at);
    if (here < least) {
      least = here;
      x[(axis + 1) % 3] = at[(axis + 1) % 3];
      x[(axis + 2) % 3] = at[(axis + 2) % 3];
    }
  }
  return least;
}

/* Returns how much larger than the reach the field is at least beyond the side where that is the
 * most. */
static double try_box(const char *what, const body *b, int of, double reach, uint64_t *seed)
{
  const box around = enclosed(b, of, reach);
  double slack = 0.0;
  for (int i = 0; i < 6; ++i) {
    double least = HUGE_VAL;
    for (int k = 0; k < STARTS; ++k) {
      least = fmin(least, least_beyond(b, &around, i / 2, i % 2, seed));
    }
    check(least > reach, "%s: the field is %.9g beyond side %d of the box for %.9g", what, least, i,
          reach);
    slack = fmax(slack, least - reach);
  }
  return slack;
}

/* Returns the most by which a field is above the reach, for reaches that are short beside the
 * body. */
static double try_reaches(const char *what, const abut_body_def *def, int of, double size)
{
  static const double reaches[4] = {0.0, 0.01, 0.1, 1.0};
  uint64_t seed = 17;
  body b = make_body(def, 1e-3 * size);
  double slack = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double one = try_box(what, &b, of, reaches[i] * size, &seed);
    slack = i < 3 ? fmax(slack, one) : slack;
  }
  free_body(&b);
  return slack / size;
}

/* ---- families ---- */

static void superquadrics(void)
{
  uint64_t seed = 31;
  for (int i = 0; i < 150; ++i) {
    const double size = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1e-3 : 1e3;
    abut_superquadric s = {
      .exponents = {2.0 - 1.98 * random_uniform(&seed), 2.0 - 1.98 * random_uniform(&seed)}};
    char what[80];
    for (int k = 0; k < 4; ++k) {
      s.quaternion[k] = random_normal(&seed);
    }
    for (int k = 0; k < 3; ++k) {
      s.axes[k] = size * (0.2 + random_uniform(&seed));
      s.position[k] = 2.0 * size * random_normal(&seed);
    }
    for (int k = 0; k < 2; ++k) { /* now and then with corners, or round */
      s.exponents[k] = i % 10 == 7 ? 1e-3 : i % 10 == 8 ? 2.0 : i % 10 == 9 ? 1.0 : s.exponents[k];
    }
    snprintf(what, sizeof what, "superquadric %d, exponents %g %g", i, s.exponents[0],
             s.exponents[1]);
    try_reaches(what, &(abut_body_def){.superquadrics = &s, .superquadric_count = 1}, SUPERQUADRICS,
                size);
  }
}

/* Along its own axes a superquadric's distance is that to the box's sides. */
static void superquadric_is_tight(void)
{
  const abut_superquadric s = {{0.5, 0.4, 0.3}, {0.4, 1.7}, {1, 2, 3}, {1, 0, 0, 0}, ABUT_ADD};
  const double slack = try_reaches("a straight superquadric",
                                   &(abut_body_def){.superquadrics = &s, .superquadric_count = 1},
                                   SUPERQUADRICS, 1.0);
  check(slack < 1e-3, "a straight superquadric's box is %g too large", slack);
}

/* Planes around a random body; the field is within ln N temperatures of the largest of them. */
static void polyhedra(void)
{
  uint64_t seed = 32;
  for (int i = 0; i < 60; ++i) {
    const double size = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1e-3 : 1e3;
    double planes[6 * 20];
    char what[40];
    for (size_t p = 0; p < 20; ++p) {
      for (size_t k = 0; k < 3; ++k) {
        const double end = p / 2 == k ? (p % 2 ? 1.0 : -1.0) : 0.0;
        planes[6 * p + k] = p < 6 ? end + 0.1 * random_normal(&seed) : random_normal(&seed);
        planes[6 * p + 3 + k] = size * 0.5 * (p < 6 ? end : random_normal(&seed));
      }
      for (size_t k = 0; p >= 6 && k < 3; ++k) { /* with the middle below it */
        planes[6 * p + 3 + k] = size * 0.4 * planes[6 * p + k];
      }
    }
    const abut_polyhedron all = {planes, 20, ABUT_ADD};
    snprintf(what, sizeof what, "polyhedron %d", i);
    const double slack = try_reaches(what,
                                     &(abut_body_def){.polyhedra = &all, .polyhedron_count = 1},
                                     POLYHEDRA, size);
    check(slack < 0.02, "%s: a box is %g too large", what, slack);
  }
}

static void grids(void)
{
  static grid_sample s;
  uint64_t seed = 33;
  for (int i = 0; i < 24; ++i) {
    const size_t levels = (size_t)i % (SAMPLE_LEVELS + 1);
    const double size = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1e-3 : 1e3;
    char what[40];
    grid_sample_make(&s, &seed, levels, size, ABUT_ADD);
    snprintf(what, sizeof what, "grid %d, %zu levels", i, levels);
    const double slack =
      try_reaches(what, &(abut_body_def){.grids = &s.grid, .grid_count = 1}, GRIDS, size);
    check(levels || slack < 2.0 * s.grid.spacing / size, "%s: a box is %g too large", what, slack);
  }
}

/* Lets corrections take far more from distances than those of a mesh do, but for the grid's
 * ends. */
static void deepen(grid_sample *s)
{
  for (size_t level = 1; level <= s->grid.level_count; ++level) {
    const double scale = (double)(1 << level);
    for (size_t i = 0; i < s->levels[level - 1].block_count * SAMPLE_BLOCK; ++i) {
      const int32_t *block = s->blocks[level - 1] + i / SAMPLE_BLOCK * 3;
      const size_t node[3] = {i % 512 / 64, i % 64 / 8, i % 8};
      double *c = &s->corrections[level - 1][i];
      *c = *c != 0.0 ? -0.2 : 0.0;
      for (size_t k = 0; k < 3; ++k) {
        const double at = (8.0 * (double)block[k] + (double)node[k]) / scale;
        *c = at < 4.0 || at > (double)s->grid.size[k] - 5.0 ? 0.0 : *c;
      }
    }
  }
}

static void deep_grids(void)
{
  static grid_sample s;
  uint64_t seed = 35;
  for (int i = 0; i < 6; ++i) {
    char what[40];
    grid_sample_make(&s, &seed, 1 + (size_t)i % SAMPLE_LEVELS, 1.0, ABUT_ADD);
    deepen(&s);
    snprintf(what, sizeof what, "deep grid %d", i);
    try_reaches(what, &(abut_body_def){.grids = &s.grid, .grid_count = 1}, GRIDS, 1.0);
  }
}

/* Fields that fall outwards at the rim, which distances never do, with noise there. */
static void wrong_grids(void)
{
  static grid_sample s;
  for (int i = 0; i < 12; ++i) {
    uint64_t seed = 34 + (uint64_t)i;
    char what[40];
    grid_sample_make(&s, &seed, (size_t)i % 2, 1.0, ABUT_ADD);
    for (size_t k = 0; k < SAMPLE_NODES; ++k) {
      const double noise = (i % 3 == 1 ? 0.04 : 0.4) * random_normal(&seed);
      s.coefficients[k] = fmax(i % 3 ? s.coefficients[k] + noise : 0.3 - s.coefficients[k], 0.02);
    }
    snprintf(what, sizeof what, "wrong grid %d", i);
    try_reaches(what, &(abut_body_def){.grids = &s.grid, .grid_count = 1}, GRIDS, 1.0);
  }
}

static void heights(void)
{
  static height_sample s;
  uint64_t seed = 36;
  for (int i = 0; i < 24; ++i) {
    const double size = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1e-3 : 1e3;
    const double roughness = i % 4 == 0 ? 0.0 : i % 4 == 1 ? 0.05 : i % 4 == 2 ? 0.3 : 1.0;
    char what[64];
    height_sample_make(&s, &seed, roughness, size, ABUT_ADD);
    snprintf(what, sizeof what, "height field %d, rough by %g", i, roughness);
    const double slack =
      try_reaches(what, &(abut_body_def){.height_fields = &s.field, .height_field_count = 1},
                  HEIGHTS, size);
    check(roughness > 0.1 || slack < 0.2, "%s: a box is %g too large", what, slack);
  }
}

static void cores(void)
{
  uint64_t seed = 37;
  for (int i = 0; i < 90; ++i) {
    const double size = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1e-3 : 1e3;
    abut_core c = {.kind = i % 2 ? ABUT_CORE_DISC : ABUT_CORE_BOX,
                   .radius = size * (i % 5 ? 0.1 : 0.5)};
    char what[40];
    for (int k = 0; k < 3; ++k) {
      c.half[k] = i % 2 || i % 4 > k ? size * (0.1 + random_uniform(&seed)) : 0.0;
      c.position[k] = 2.0 * size * random_normal(&seed);
    }
    for (int k = 0; k < 4; ++k) {
      c.quaternion[k] = i % 7 ? random_normal(&seed) : k == 0;
    }
    snprintf(what, sizeof what, "core %d", i);
    const double slack =
      try_reaches(what, &(abut_body_def){.cores = &c, .core_count = 1}, CORES, size);
    check(slack < 0.02, "%s: a box is %g too large", what, slack);
  }
}

static void clouds(void)
{
  static const double points[14] = {0, 0, 0.2, 0, 0, 1, 0.1, 0.1, 0, 0.2, 0, 0, 1, 0.1};
  const abut_pointcloud cloud = {points, 2, ABUT_ADD};
  body b = make_body(&(abut_body_def){.pointclouds = &cloud, .pointcloud_count = 1}, 1e-3);
  const box around = enclosed(&b, CLOUDS, 0.1), none = enclosed(&b, GRIDS, 0.1);
  for (int k = 0; k < 3; ++k) {
    CHECK(around.lower[k] == -HUGE_VAL && around.upper[k] == HUGE_VAL);
    CHECK(none.lower[k] == HUGE_VAL && none.upper[k] == -HUGE_VAL);
  }
  free_body(&b);
}

int main(void)
{
  superquadrics();
  superquadric_is_tight();
  polyhedra();
  grids();
  deep_grids();
  wrong_grids();
  heights();
  cores();
  clouds();
  return check_finish();
}
