/* Steps of positions and maps of derivatives, at the starts of golden worlds with quaternions:
 *   test_positions PRECISION ROOT */
#include "support/check.h"
#include <abut/abut.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 7, NQ_MOST = 32, NUMBERS = WORLDS * NQ_MOST };

typedef struct trial {
  abut_precision precision;
  abut_scene scene;
  abut_scene_info info;
  double tolerance;
  double q[NUMBERS]; /* rows of reals, with quaternions of any length */
} trial;

static void fill(const trial *t, void *rows, size_t width, double size, uint64_t seed)
{
  for (size_t i = 0; i < WORLDS * width; ++i) {
    real_put(rows, t->precision, i, size * random_normal(&seed));
  }
}

static double farthest(const trial *t, const void *a, const void *b, size_t width)
{
  double most = 0.0;
  for (size_t i = 0; i < WORLDS * width; ++i) {
    most = fmax(most, fabs(real_at(a, t->precision, i) - real_at(b, t->precision, i)));
  }
  return most;
}

static double dot(const trial *t, const void *a, const void *b, size_t width)
{
  double sum = 0.0;
  for (size_t i = 0; i < WORLDS * width; ++i) {
    sum += real_at(a, t->precision, i) * real_at(b, t->precision, i);
  }
  return sum;
}

/* (q (+) d) (-) q is d as long as nothing turns by more than pi. */
static void check_steps(const trial *t)
{
  double d[NUMBERS], moved[NUMBERS], back[NUMBERS];
  for (int i = 0; i < 12; ++i) {
    fill(t, d, t->info.nv, 0.7 * pow(10.0, -i), 5);
    CHECK_OK(abut_add_positions(t->scene, WORLDS, t->q, d, moved));
    CHECK_OK(abut_subtract_positions(t->scene, WORLDS, moved, t->q, back));
    CHECK(farthest(t, d, back, t->info.nv) <= t->tolerance);
  }
}

/* Maps there and back are each other's inverse, and transposes. */
static void check_maps(const trial *t)
{
  double d[NUMBERS], there[NUMBERS], back[NUMBERS], x[NUMBERS];
  fill(t, d, t->info.nv, 1.0, 8);
  fill(t, x, t->info.nq, 1.0, 9);
  for (int to = ABUT_SLOPE_TO_TANGENT; to <= ABUT_GRADIENT_TO_TANGENT; to += 2) {
    const abut_position_map from = (abut_position_map)(to + 1);
    CHECK_OK(abut_map_positions(t->scene, from, WORLDS, t->q, d, there));
    CHECK_OK(abut_map_positions(t->scene, (abut_position_map)to, WORLDS, t->q, there, back));
    CHECK(farthest(t, d, back, t->info.nv) <= t->tolerance);
    /* The other pair's. */
    CHECK_OK(abut_map_positions(t->scene, (abut_position_map)(2 - to), WORLDS, t->q, x, back));
    CHECK(fabs(dot(t, there, x, t->info.nq) - dot(t, d, back, t->info.nv)) <= 100.0 * t->tolerance);
  }
}

/* How q moves along d, against a small step of it, in float64. */
static void check_slopes(const trial *t)
{
  const double step = 1e-6;
  double d[NUMBERS], small[NUMBERS], from[NUMBERS], to[NUMBERS], slope[NUMBERS];
  memset(d, 0, sizeof d);
  CHECK_OK(abut_add_positions(t->scene, WORLDS, t->q, d, from)); /* quaternions of length 1 */
  fill(t, d, t->info.nv, 1.0, 4);
  for (size_t i = 0; i < WORLDS * t->info.nv; ++i) {
    real_put(small, t->precision, i, step * real_at(d, t->precision, i));
  }
  CHECK_OK(abut_add_positions(t->scene, WORLDS, from, small, to));
  CHECK_OK(abut_map_positions(t->scene, ABUT_SLOPE_FROM_TANGENT, WORLDS, from, d, slope));
  for (size_t i = 0; t->precision == ABUT_FLOAT64 && i < WORLDS * t->info.nq; ++i) {
    const double moved = real_at(to, t->precision, i) - real_at(from, t->precision, i);
    CHECK(fabs(moved / step - real_at(slope, t->precision, i)) < 1e-4);
  }
}

/* A world that is none spoils its own row alone. */
static void check_bad(const trial *t)
{
  double bad[NUMBERS], d[NUMBERS], moved[NUMBERS];
  memcpy(bad, t->q, sizeof bad);
  fill(t, d, t->info.nv, 0.1, 2);
  real_put(bad, t->precision, 2 * t->info.nq, NAN);
  CHECK_OK(abut_add_positions(t->scene, WORLDS, bad, d, moved));
  for (size_t i = 0; i < WORLDS * t->info.nq; ++i) {
    CHECK(isfinite(real_at(moved, t->precision, i)) == (i / t->info.nq != 2));
  }
  memcpy(bad, t->q, sizeof bad);
  for (size_t i = 0; i < t->info.nq; ++i) { /* quaternions of length 0 on the left alone */
    real_put(bad, t->precision, 2 * t->info.nq + i, 0.0);
  }
  CHECK_OK(abut_subtract_positions(t->scene, WORLDS, bad, t->q, d));
  for (size_t i = 0; i < WORLDS * t->info.nv; ++i) {
    CHECK(isnan(real_at(d, t->precision, i)) == (i / t->info.nv == 2));
  }
  CHECK_OK(abut_add_positions(t->scene, 0, NULL, NULL, NULL));
  CHECK_EQUAL(abut_add_positions(t->scene, 1, t->q, NULL, moved), ABUT_ERROR_ARGUMENT);
  CHECK_EQUAL(abut_map_positions(t->scene, (abut_position_map)4, 1, t->q, d, moved),
              ABUT_ERROR_ARGUMENT);
}

/* An output lies where an input of the same shape does, or apart from all of them. */
static void check_overlaps(const trial *t)
{
  const size_t r = real_size(t->precision);
  double q[NUMBERS], d[NUMBERS] = {0.0};
  memcpy(q, t->q, sizeof q);
  CHECK_EQUAL(abut_add_positions(t->scene, WORLDS, q, d, (char *)q + r), ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the output moved partly overlaps the input q in memory: use the "
                                "same array, or separate arrays");
  CHECK_EQUAL(abut_subtract_positions(t->scene, WORLDS, q, t->q, q), ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the output d partly overlaps the input left in memory: use the "
                                "same array, or separate arrays");
  CHECK_EQUAL(abut_map_positions(t->scene, ABUT_SLOPE_FROM_TANGENT, WORLDS, t->q, q, q),
              ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the output to partly overlaps the input from in memory: use the "
                                "same array, or separate arrays");
  CHECK(!memcmp(q, t->q, WORLDS * t->info.nq * r));
  CHECK_OK(abut_add_positions(t->scene, WORLDS, q, d, q));
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  trial t = {.precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64};
  t.tolerance = t.precision == ABUT_FLOAT64 ? 1e-13 : 1e-5;
  abut_context context = require_context(t.precision);
  static const char *const names[] = {"cone-random-tree", "cone-tree-rollout", "cone-boxes-stack"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char path[1024];
    double start[NQ_MOST];
    snprintf(path, sizeof path, "%s/%s/scene.json", argv[2], names[i]);
    REQUIRE_OK(abut_load_scene(context, path, &t.scene));
    REQUIRE_OK(abut_get_scene_info(t.scene, &t.info));
    REQUIRE(t.info.nq <= NQ_MOST && t.info.nv < t.info.nq);
    REQUIRE_OK(abut_get_scene_start(t.scene, start));
    uint64_t random = 6;
    for (size_t k = 0; k < WORLDS * t.info.nq; ++k) {
      real_put(t.q, t.precision, k, start[k % t.info.nq] + 0.2 * random_normal(&random));
    }
    check_steps(&t);
    check_maps(&t);
    check_slopes(&t);
    check_bad(&t);
    check_overlaps(&t);
    CHECK_OK(abut_destroy_scene(t.scene));
  }
  return finish_context(context);
}
