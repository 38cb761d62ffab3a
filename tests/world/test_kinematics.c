/* Poses of links and distances of pairs: against single placements, closed forms and differences.
 *   test_kinematics PRECISION */
#include "play.h"

#include <abut/kinematics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 5, LINKS = 6, NQ = 17, NV = 14, CANDIDATES = 3 };

static abut_precision precision;

/* Every kind of joint, with anchors off the links' origins; three listed pairs. */
static const char scene[] =
  "{\"links\": [{\"name\": \"floor\", \"bodies\": [{\"plane\": [2, 2]}]},"
  "{\"name\": \"base\", \"parent\": 0, \"position\": [0.1, 0.2, 1], \"quaternion\": [0.8, 0.2, "
  "-0.4, 0.4],"
  " \"mass\": 1, \"inertia\": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]], \"joint\": {\"type\": "
  "\"ball\", \"position\": "
  "[0.1, 0, 0.2]}, "
  "\"bodies\": [{\"sphere\": 0.1}]},"
  "{\"parent\": 1, \"position\": [0.3, 0, 0.1], \"quaternion\": [0.9, 0.1, 0.3, 0.1], \"mass\": 1, "
  "\"inertia\": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]], \"joint\": {\"type\": \"hinge\", "
  "\"axis\": [1, 2, 0.5], "
  "\"position\": [0, 0.1, 0.05]}},"
  "{\"name\": \"hand\", \"parent\": 2, \"position\": [0, 0.2, 0.1], \"mass\": 1, "
  "\"inertia\": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]], \"joint\": {\"type\": \"slide\", "
  "\"axis\": [0, 1, 1]}, "
  "\"bodies\": [{\"sphere\": 0.05, \"position\": [0.1, 0.1, 0]}]},"
  "{\"name\": \"ball\", \"position\": [1, 0, 3], \"mass\": 1, \"inertia\": [[0.01, 0, 0], [0, "
  "0.01, 0], [0, 0, 0.01]], "
  "\"joint\": {\"type\": \"free\"}, \"bodies\": [{\"sphere\": 0.2}]},"
  "{\"parent\": 4, \"position\": [0, 0, 0.4], \"mass\": 1, \"inertia\": [[0.01, 0, 0], [0, 0.01, "
  "0], [0, 0, 0.01]], "
  "\"joint\": {\"type\": \"ball\"}, \"bodies\": [{\"box\": [0.1, 0.05, 0.08]}]}],"
  "\"pairs\": [{\"a\": 4, \"b\": 3}, {\"a\": 1, \"b\": 4}, {\"a\": 4, \"b\": 0}]}";

static double tolerance(double f64, double f32)
{
  return precision == ABUT_FLOAT64 ? f64 : f32;
}

static void fill(void *rows, size_t count, double size, uint64_t seed)
{
  for (size_t i = 0; i < count; ++i) {
    real_put(rows, precision, i, size * random_normal(&seed));
  }
}

static double *open_rows(size_t count)
{
  double *rows = calloc(count, sizeof *rows);
  REQUIRE(rows);
  return rows;
}

/* Positions of worlds, each turned and moved by its own step. */
static void move_all(play *p)
{
  double d[WORLDS * NV];
  fill(d, WORLDS * NV, 0.6, 3);
  REQUIRE_OK(abut_add_positions(p->scene, WORLDS, p->q, d, p->q));
}

/* ---- poses ---- */

static void check_poses(const play *p)
{
  double poses[WORLDS * LINKS * 7], q[NQ], wanted[LINKS * 7];
  REQUIRE_OK(abut_find_poses(p->scene, WORLDS, p->q, poses));
  for (size_t world = 0; world < WORLDS; ++world) {
    for (size_t k = 0; k < NQ; ++k) {
      q[k] = play_q(p, world, k);
    }
    REQUIRE_OK(abut_place_links(p->scene, q, wanted));
    for (size_t k = 0; k < LINKS * 7; ++k) {
      CHECK(fabs(real_at(poses, precision, world * LINKS * 7 + k) - wanted[k]) <=
            tolerance(0.0, 1e-6));
    }
  }
}

/* Tangents are differences, and gradients are the tangents' transpose. */
static void check_slopes(const play *p)
{
  const size_t numbers = WORLDS * LINKS * 7;
  const double h = tolerance(1e-6, 1e-2);
  double *along = open_rows(WORLDS * NV), *step = open_rows(WORLDS * NV),
         *q = open_rows(WORLDS * NQ);
  double *tangents = open_rows(numbers), *bars = open_rows(numbers),
         *gradient = open_rows(WORLDS * NV);
  double *ends[2] = {open_rows(numbers), open_rows(numbers)};
  double most = 0.0;
  fill(along, WORLDS * NV, 1.0, 5);
  fill(bars, numbers, 1.0, 7);
  REQUIRE_OK(abut_find_poses_jvp(p->scene, WORLDS, p->q, along, tangents));
  REQUIRE_OK(abut_find_poses_vjp(p->scene, WORLDS, p->q, bars, gradient));
  for (int side = 0; side < 2; ++side) {
    for (size_t k = 0; k < WORLDS * NV; ++k) {
      real_put(step, precision, k, (side ? h : -h) * real_at(along, precision, k));
    }
    REQUIRE_OK(abut_add_positions(p->scene, WORLDS, p->q, step, q));
    REQUIRE_OK(abut_find_poses(p->scene, WORLDS, q, ends[side]));
  }
  for (size_t k = 0; k < numbers; ++k) {
    const double slope =
      (real_at(ends[1], precision, k) - real_at(ends[0], precision, k)) / (2.0 * h);
    most = fmax(most, fabs(slope - real_at(tangents, precision, k)));
  }
  check(most <= tolerance(1e-8, 2e-3), "tangents of poses are off by %g", most);
  for (size_t world = 0; world < WORLDS; ++world) {
    double there = 0.0, back = 0.0;
    for (size_t k = 0; k < LINKS * 7; ++k) {
      const size_t at = world * LINKS * 7 + k;
      there += real_at(bars, precision, at) * real_at(tangents, precision, at);
    }
    for (size_t k = 0; k < NV; ++k) {
      back +=
        real_at(gradient, precision, world * NV + k) * real_at(along, precision, world * NV + k);
    }
    CHECK(fabs(there - back) <= tolerance(1e-12, 1e-4));
  }
  free(along);
  free(step);
  free(q);
  free(tangents);
  free(bars);
  free(gradient);
  free(ends[0]);
  free(ends[1]);
}

static void check_names(const play *p)
{
  static const char *const wanted[LINKS] = {"floor", "base", NULL, "hand", "ball", NULL};
  const char *name = NULL;
  for (size_t i = 0; i < LINKS; ++i) {
    REQUIRE_OK(abut_get_link_name(p->scene, i, &name));
    CHECK(wanted[i] ? name && !strcmp(name, wanted[i]) : !name);
  }
  CHECK(abut_get_link_name(p->scene, LINKS, &name) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "there is no link 6 (0-based); there are 6");
  CHECK(abut_get_link_name(p->scene, 0, NULL) == ABUT_ERROR_ARGUMENT);
}

/* ---- distances ---- */

/* All candidates, and a last distance that is the least of the first two. */
static const uint32_t candidates[] = {0, 0, 1, 1, 2, 2, 0, 3, 1, 3};
enum { DISTANCES = 4 };

static abut_distances distances_of(const play *p, bool smooth)
{
  abut_distances d = abut_default_distances();
  d.count = WORLDS;
  d.q = p->q;
  d.pairs = DISTANCES;
  d.candidates = candidates;
  d.candidate_count = sizeof candidates / sizeof *candidates / 2;
  d.reduction = smooth ? ABUT_REDUCE_SOFT_DISTANCE : ABUT_REDUCE_DISTANCE;
  return d;
}

/* Where the middles of the spheres are. */
static double apart(const play *p, size_t world, size_t a, size_t b, const double *shift)
{
  double q[NQ], poses[LINKS * 7], sum = 0.0;
  for (size_t k = 0; k < NQ; ++k) {
    q[k] = play_q(p, world, k);
  }
  REQUIRE_OK(abut_place_links(p->scene, q, poses));
  const double *r = poses + 7 * b + 3;
  const double turned[3] = {
    (1 - 2 * (r[2] * r[2] + r[3] * r[3])) * shift[0] + 2 * (r[1] * r[2] - r[0] * r[3]) * shift[1],
    2 * (r[1] * r[2] + r[0] * r[3]) * shift[0] + (1 - 2 * (r[1] * r[1] + r[3] * r[3])) * shift[1],
    2 * (r[1] * r[3] - r[0] * r[2]) * shift[0] + 2 * (r[2] * r[3] + r[0] * r[1]) * shift[1]};
  for (size_t k = 0; k < 3; ++k) {
    const double way = poses[7 * b + k] + turned[k] - poses[7 * a + k];
    sum += way * way;
  }
  return sqrt(sum);
}

static void check_spheres(const play *p)
{
  static const double none[3] = {0.0, 0.0, 0.0}, shift[3] = {0.1, 0.1, 0.0};
  double d[WORLDS * DISTANCES];
  abut_distances call = distances_of(p, false);
  call.d = d;
  REQUIRE_OK(abut_find_distances(p->scene, &call));
  for (size_t world = 0; world < WORLDS; ++world) {
    const double to_hand = apart(p, world, 4, 3, shift) - 0.25,
                 to_base = apart(p, world, 1, 4, none) - 0.3, up = play_q(p, world, 8) - 0.2;
    const double wanted[DISTANCES] = {to_hand, to_base, up, fmin(to_hand, to_base)};
    for (size_t k = 0; k < DISTANCES; ++k) {
      const double got = real_at(d, precision, DISTANCES * world + k);
      check(fabs(got - wanted[k]) <= tolerance(2e-5, 2e-5), "distance %zu of world %zu: %g, not %g",
            k, world, got, wanted[k]);
    }
  }
}

/* Rows of the Jacobian are differences, and the products by it are sums of its rows. */
static void check_distance_slopes(const play *p, bool smooth)
{
  const double h = tolerance(1e-6, 1e-2);
  double gradient[WORLDS * DISTANCES * NV], bars[WORLDS * DISTANCES], along[WORLDS * NV];
  double back[WORLDS * NV], there[WORLDS * DISTANCES], d[2][WORLDS * DISTANCES], q[WORLDS * NQ];
  double step[WORLDS * NV], most = 0.0;
  abut_distances call = distances_of(p, smooth);
  fill(bars, WORLDS * DISTANCES, 1.0, 11);
  fill(along, WORLDS * NV, 1.0, 13);
  call.gradient = gradient;
  call.d_bar = bars;
  call.q_gradient = back;
  call.along = along;
  call.d_tangent = there;
  REQUIRE_OK(abut_find_distances(p->scene, &call));
  for (int side = 0; side < 2; ++side) {
    for (size_t k = 0; k < WORLDS * NV; ++k) {
      real_put(step, precision, k, (side ? h : -h) * real_at(along, precision, k));
    }
    REQUIRE_OK(abut_add_positions(p->scene, WORLDS, p->q, step, q));
    call = distances_of(p, smooth);
    call.q = q;
    call.d = d[side];
    REQUIRE_OK(abut_find_distances(p->scene, &call));
  }
  for (size_t i = 0; i < WORLDS * DISTANCES; ++i) {
    const double slope = (real_at(d[1], precision, i) - real_at(d[0], precision, i)) / (2.0 * h);
    double sum = 0.0;
    for (size_t k = 0; k < NV; ++k) {
      sum += real_at(gradient, precision, i * NV + k) *
             real_at(along, precision, i / DISTANCES * NV + k);
    }
    most = fmax(most, fabs(slope - sum));
    CHECK(fabs(sum - real_at(there, precision, i)) <= tolerance(1e-12, 1e-5));
  }
  check(most <= tolerance(1e-6, 5e-3), "gradients of distances are off by %g", most);
  for (size_t i = 0; i < WORLDS * NV; ++i) {
    double sum = 0.0;
    for (size_t k = 0; k < DISTANCES; ++k) {
      const size_t row = i / NV * DISTANCES + k;
      sum += real_at(bars, precision, row) * real_at(gradient, precision, row * NV + i % NV);
    }
    CHECK(fabs(sum - real_at(back, precision, i)) <= tolerance(1e-12, 1e-5));
  }
}

/* A world without a place gets NaN, and the others what they had. */
static void check_bad(play *p)
{
  double poses[2][WORLDS * LINKS * 7], d[2][WORLDS * DISTANCES], slopes[2][WORLDS * DISTANCES * NV];
  for (int i = 0; i < 2; ++i) {
    abut_distances call = distances_of(p, true);
    call.d = d[i];
    call.gradient = slopes[i];
    REQUIRE_OK(abut_find_poses(p->scene, WORLDS, p->q, poses[i]));
    REQUIRE_OK(abut_find_distances(p->scene, &call));
    play_set_q(p, 1, 5, (double)NAN);
    for (size_t k = 0; k < 4; ++k) {
      play_set_q(p, 3, 9 + k, 0.0);
    }
  }
  const struct {
    const double *was, *is;
    size_t width;
  } all[] = {{poses[0], poses[1], LINKS * 7},
             {d[0], d[1], DISTANCES},
             {slopes[0], slopes[1], DISTANCES * NV}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    for (size_t k = 0; k < WORLDS * all[i].width; ++k) {
      const size_t world = k / all[i].width;
      const double is = real_at(all[i].is, precision, k);
      CHECK(world == 1 || world == 3 ? isnan(is) : is == real_at(all[i].was, precision, k));
    }
  }
}

static void check_refused(const play *p)
{
  static const uint32_t beyond[] = {CANDIDATES, 0}, alone[] = {0, 0};
  double d[WORLDS * DISTANCES];
  abut_distances call = distances_of(p, true);
  CHECK(abut_find_poses(p->scene, 1, NULL, d) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_find_poses(p->scene, 1, p->q, NULL) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "abut_find_poses: an array is NULL");
  CHECK(abut_find_poses_vjp(p->scene, 1, p->q, NULL, d) == ABUT_ERROR_ARGUMENT);
  CHECK(abut_find_poses_jvp(p->scene, 1, p->q, NULL, d) == ABUT_ERROR_ARGUMENT);
  CHECK_OK(abut_find_poses(p->scene, 0, NULL, NULL));
  CHECK(abut_find_distances(p->scene, NULL) == ABUT_ERROR_ARGUMENT);
  call.cookie = 0;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  call = distances_of(p, true);
  call.q = NULL;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  call = distances_of(p, true);
  call.q_gradient = d;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "a gradient of distances need `d_bar`");
  call = distances_of(p, true);
  call.reduction = ABUT_REDUCE_ENERGY;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  call = distances_of(p, true);
  call.temperature = -1.0;
  call.d = d;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  call = distances_of(p, true);
  call.candidate_count = 1;
  call.candidates = beyond;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "candidate 3 of distance 0 is out of range: the scene has 3 "
                                "candidates, and the call has 4 distances");
  call.candidates = alone;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "distance 1 has no candidate pair");
}

/* Nothing that is written may lie where something else is. */
static void check_overlaps(const play *p)
{
  const size_t r = real_size(precision);
  double *rows = open_rows(WORLDS * p->info.links * 7 + WORLDS * DISTANCES * p->info.nv);
  char *q = malloc(WORLDS * p->info.nq * r), *at = (char *)rows;
  REQUIRE(q);
  memcpy(q, p->q, WORLDS * p->info.nq * r);
  CHECK(abut_find_poses(p->scene, WORLDS, q, q) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the output poses overlaps the input q in memory");
  CHECK(abut_find_poses_vjp(p->scene, WORLDS, p->q, at, at) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the output gradient overlaps the input poses_bar in memory");
  abut_distances call = distances_of(p, true);
  call.d = at;
  call.gradient = at + (WORLDS * DISTANCES - 1) * r;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the outputs d and gradient overlap in memory");
  call = distances_of(p, true);
  call.q = q;
  call.d = q;
  CHECK(abut_find_distances(p->scene, &call) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "the output d overlaps the input q in memory");
  CHECK(!memcmp(q, p->q, WORLDS * p->info.nq * r));
  free(q);
  free(rows);
}

/* Springs between bodies have no pairs with a smoothing; a scene that has gone has nothing. */
static void check_springs(abut_context c)
{
  char text[sizeof scene + 64];
  play p;
  abut_distances call = abut_default_distances();
  snprintf(text, sizeof text, "{\"contact_model\": \"spring\", \"clouds\": true, %s", scene + 1);
  char *plane = strstr(text, "{\"plane\": [2, 2]}");
  REQUIRE(plane);
  memcpy(plane, "{\"box\":[1,1,0.1]}", strlen("{\"box\":[1,1,0.1]}"));
  play_open_text(&p, c, precision, text, 1);
  CHECK(abut_find_distances(p.scene, &call) == ABUT_ERROR_ARGUMENT);
  CHECK_TEXT(abut_last_error(), "a scene whose contacts are springs has no distances of pairs");
  const abut_scene gone = p.scene;
  play_close(&p);
  CHECK(abut_find_distances(gone, &call) == ABUT_ERROR_HANDLE);
  CHECK(abut_find_poses(gone, 0, NULL, NULL) == ABUT_ERROR_HANDLE);
}

int main(int argc, char **argv)
{
  abut_context c;
  play p;
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f32") == 0 ? ABUT_FLOAT32 : ABUT_FLOAT64;
  c = play_context(precision, 0);
  play_open_text(&p, c, precision, scene, WORLDS);
  REQUIRE(p.info.nq == NQ && p.info.nv == NV && p.info.links == LINKS);
  move_all(&p);
  check_poses(&p);
  check_slopes(&p);
  check_names(&p);
  check_spheres(&p);
  check_distance_slopes(&p, true);
  check_distance_slopes(&p, false);
  check_refused(&p);
  check_overlaps(&p);
  check_bad(&p);
  play_close(&p);
  check_springs(c);
  return finish_context(c);
}
