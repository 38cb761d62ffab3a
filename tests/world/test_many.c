/* Worlds of more bodies than a dense matrix holds: towers beside each other go as each goes alone,
 * and so do their derivatives; a pile does not see a body far away; and worlds of the most degrees
 * of freedom that there may be.
 *   test_many PRECISION */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOWERS = 5, HIGH = 5, BODIES = TOWERS * HIGH, STEPS = 40 };

static abut_precision precision;

static double by(double wide, double narrow)
{
  return precision == ABUT_FLOAT64 ? wide : narrow;
}

/* Towers of boxes on a floor, one behind the other along x. Bodies are listed level by level, so
 * that each tower's degrees of freedom lie between those of others. */
static void open_towers(play *p, abut_context context, int towers)
{
  static char text[65536];
  size_t at = (size_t)snprintf(
    text, sizeof text,
    "{\"timestep\": 0.004, \"tolerance\": %g, \"links\": [{\"bodies\": [{\"plane\": [9, 2]}]}",
    by(1e-11, 1e-5)); /* without points, which would lie elsewhere
                         under each tower */
  for (int level = 0; level < HIGH; ++level) {
    for (int i = 0; i < towers; ++i) {
      at += (size_t)snprintf(text + at, sizeof text - at,
                             ", {\"density\": 400, \"joint\": {\"type\": \"free\"}, \"position\": "
                             "[%d, 0, %g], \"bodies\": [{\"box\": "
                             "[0.1, 0.12, 0.08]}]}",
                             i, 0.0799 + 0.1598 * level);
    }
  }
  at += (size_t)snprintf(text + at, sizeof text - at, "], \"pairs\": [{\"a\": 1, \"b\": 0}");
  for (int a = 2; a <= towers * HIGH; ++a) {
    for (int b = 0; b < a; ++b) {
      at += (size_t)snprintf(text + at, sizeof text - at, ", {\"a\": %d, \"b\": %d}", a, b);
    }
  }
  snprintf(text + at, sizeof text - at, "]}");
  play_open_text(p, context, precision, text, 1);
}

/* How fast a box of a tower goes at the beginning. */
static double speed_of(int tower, int level, size_t k)
{
  return 0.03 * sin(1.7 * tower + 2.3 * level + 0.9 * (double)k);
}

static void set_off(play *p, int towers, int first)
{
  for (int level = 0; level < HIGH; ++level) {
    for (int i = 0; i < towers; ++i) {
      for (size_t k = 0; k < 6; ++k) {
        play_set_v(p, 0, 6 * (size_t)(level * towers + i) + k, speed_of(first + i, level, k));
      }
    }
  }
}

/* The gradient, by the velocities, of the state after some steps: of its sum, or with `uneven` one
 * number in six counts more. */
static void *slopes_of(const play *p, size_t steps, bool uneven)
{
  const size_t nv = p->info.nv, size = real_size(precision);
  void *ones = calloc(2 * nv, size), *out = calloc(nv, size);
  REQUIRE(ones && out);
  for (size_t i = 0; i < 2 * nv; ++i) {
    real_put(ones, precision, i, uneven && i % 6 != 2 ? 0.25 : 1.0);
  }
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = p->q;
  w.v = p->v;
  w.steps = steps;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = ones;
  g.v = out;
  CHECK_OK(abut_vjp_worlds(p->scene, &w, &g));
  free(ones);
  return out;
}

static void compare(const play *all, const void *slopes, const play *one, const void *own,
                    int tower)
{
  for (int level = 0; level < HIGH; ++level) {
    const size_t of = (size_t)(level * TOWERS + tower), alone = (size_t)level;
    for (size_t k = 0; k < 7; ++k) {
      const double there = play_q(all, 0, 7 * of + k) - (k == 0 ? tower : 0);
      check(fabs(there - play_q(one, 0, 7 * alone + k)) <= by(1e-9, 1e-4),
            "tower %d, box %d: position %zu is %.12g, alone %.12g", tower, level, k, there,
            play_q(one, 0, 7 * alone + k));
    }
    for (size_t k = 0; k < 6; ++k) {
      const double there = real_at(slopes, precision, 6 * of + k),
                   here = real_at(own, precision, 6 * alone + k);
      check(fabs(there - here) <= by(1e-6, 2e-2) * (1.0 + fabs(here)),
            "tower %d, box %d: slope %zu is %.9g, alone %.9g", tower, level, k, there, here);
    }
  }
}

static void test_towers(abut_context context)
{
  play all;
  open_towers(&all, context, TOWERS);
  CHECK_EQUAL(all.info.nv, 6 * BODIES);
  set_off(&all, TOWERS, 0);
  play_step(&all, STEPS);
  CHECK_EQUAL(all.status[0], 0);
  void *slopes = slopes_of(&all, 5, true);
  for (int tower = 0; tower < TOWERS; ++tower) {
    play one;
    open_towers(&one, context, 1);
    set_off(&one, 1, tower);
    play_step(&one, STEPS);
    void *own = slopes_of(&one, 5, true);
    for (int level = 0; level < HIGH; ++level) {
      check(fabs(play_q(&one, 0, 7 * (size_t)level + 2) - (0.08 + 0.16 * level)) < 0.01,
            "box %d stands at %g", level, play_q(&one, 0, 7 * (size_t)level + 2));
    }
    compare(&all, slopes, &one, own, tower);
    free(own);
    play_close(&one);
  }
  free(slopes);
  play_close(&all);
}

/* ---- trees that lie between each other ---- */

enum { ARMS = 3, JOINTS = 3 };

/* Arms of hinges with friction, which hang beside each other and push a box each, listed arm by arm
 * or joint by joint. */
static void open_arms(play *p, abut_context context, bool by_joint)
{
  static char text[16384];
  size_t at = (size_t)snprintf(text, sizeof text,
                               "{\"timestep\": 0.004, \"tolerance\": %g, \"links\": [{\"bodies\": "
                               "[{\"box\": [3, 1, 0.1]}], \"position\": "
                               "[0, 0, -0.53]}",
                               by(1e-11, 1e-5));
  for (int i = 0; i < ARMS * JOINTS; ++i) {
    const int arm = by_joint ? i % ARMS : i / JOINTS, joint = by_joint ? i / ARMS : i % JOINTS;
    char parent[32] = "";
    if (joint) {
      snprintf(parent, sizeof parent, "\"parent\": %d, ", 1 + i - (by_joint ? ARMS : 1));
    }
    at += (size_t)snprintf(text + at, sizeof text - at,
                           ", {%s\"density\": 800, \"joint\": {\"type\": \"hinge\", \"axis\": [0, "
                           "1, %g], \"position\": [0, 0, 0.1], "
                           "\"frictionloss\": 0.05, \"damping\": 0.02}, \"position\": [%g, 0, %g], "
                           "\"bodies\": [{\"box\": [0.03, 0.04, "
                           "0.1]}]}",
                           parent, 0.1 * (arm + 1), joint ? 0.0 : 0.15 * arm, joint ? -0.2 : 0.05);
  }
  at += (size_t)snprintf(text + at, sizeof text - at, "], \"pairs\": [");
  for (int arm = 0; arm < ARMS; ++arm) {
    for (int joint = 0; joint < JOINTS; ++joint) {
      const int own = 1 + (by_joint ? joint * ARMS + arm : arm * JOINTS + joint);
      const int next = 1 + (by_joint ? joint * ARMS + arm + 1 : (arm + 1) * JOINTS + joint);
      at += (size_t)snprintf(text + at, sizeof text - at, "%s{\"a\": %d, \"b\": 0}",
                             arm + joint ? ", " : "", own);
      if (arm + 1 < ARMS) {
        at += (size_t)snprintf(text + at, sizeof text - at, ", {\"a\": %d, \"b\": %d}", own, next);
      }
    }
  }
  snprintf(text + at, sizeof text - at, "]}");
  play_open_text(p, context, precision, text, 1);
}

static size_t dof_of(int arm, int joint, bool by_joint)
{
  return (size_t)(by_joint ? joint * ARMS + arm : arm * JOINTS + joint);
}

/* It comes after other scenes, whose numbers lie in the memory that it takes. In float32, where
 * arms that rub drift apart by rounding, the second one is the first one again, to the bit. */
static void test_between(abut_context context)
{
  play p[2];
  void *slopes[2];
  double moved = 0.0;
  const bool wide = precision == ABUT_FLOAT64;
  for (int k = 0; k < 2; ++k) {
    open_arms(&p[k], context, k || !wide);
    for (int arm = 0; arm < ARMS; ++arm) {
      for (int joint = 0; joint < JOINTS; ++joint) {
        play_set_v(&p[k], 0, dof_of(arm, joint, k || !wide), speed_of(arm, joint, 0) * 60.0);
      }
    }
    play_step(&p[k], 15);
    /* arms that push through each other */
    CHECK_EQUAL(p[k].status[0] & ~(uint32_t)ABUT_WORLD_DEEP, 0);
    slopes[k] = slopes_of(&p[k], 4, false);
  }
  for (int arm = 0; arm < ARMS; ++arm) {
    for (int joint = 0; joint < JOINTS; ++joint) {
      const size_t one = dof_of(arm, joint, !wide), other = dof_of(arm, joint, true);
      const double a = play_q(&p[0], 0, one), b = play_q(&p[1], 0, other);
      const double c = real_at(slopes[0], precision, one), d = real_at(slopes[1], precision, other);
      check(fabs(a - b) <= by(1e-9, 0.0), "arm %d, joint %d: at %.12g and %.12g", arm, joint, a, b);
      check(fabs(c - d) <= by(1e-6, 0.0) * (1.0 + fabs(c)),
            "arm %d, joint %d: slopes %.9g and %.9g", arm, joint, c, d);
      moved += fabs(a);
    }
  }
  CHECK(moved > 0.1);
  for (int k = 0; k < 2; ++k) {
    free(slopes[k]);
    play_close(&p[k]);
  }
}

/* ---- islands ---- */

enum { PILE = 12 };

/* A pile of boxes that fall onto a floor, and with `far` one that does so 10 m away. */
static void open_pile(play *p, abut_context context, bool far, bool broad)
{
  static char text[32768];
  const int boxes = PILE + far;
  size_t at = (size_t)snprintf(text, sizeof text,
                               "{\"timestep\": 0.004, \"broad_phase\": %s, \"links\": "
                               "[{\"bodies\": [{\"box\": [15, 15, 0.1]}], "
                               "\"position\": [0, 0, -0.1]}",
                               broad ? "true" : "false");
  for (int i = 0; i < boxes; ++i) {
    at += (size_t)snprintf(text + at, sizeof text - at,
                           ", {\"density\": 400, \"joint\": {\"type\": \"free\"}, \"position\": "
                           "[%g, %g, %g], \"bodies\": "
                           "[{\"box\": [0.1, 0.12, 0.08]}]}",
                           i < PILE ? 0.15 * (i % 3) : 10.0, i < PILE ? 0.17 * (i / 3 % 2) : 0.0,
                           i < PILE ? 0.081 + 0.17 * (i / 6) : 0.09);
  }
  at += (size_t)snprintf(text + at, sizeof text - at, "], \"pairs\": [{\"a\": 1, \"b\": 0}");
  for (int a = 2; a <= boxes; ++a) {
    for (int b = 0; b < a; ++b) {
      at += (size_t)snprintf(text + at, sizeof text - at, ", {\"a\": %d, \"b\": %d}", a, b);
    }
  }
  snprintf(text + at, sizeof text - at, "]}");
  play_open_text(p, context, precision, text, 1);
  for (size_t i = 0; i < 6 * (size_t)boxes; ++i) {
    play_set_v(p, 0, i, speed_of((int)i / 6, 1, i % 6) * 20.0);
  }
}

enum { PILE_STEPS = UNLESS_SANITIZED(STEPS, STEPS / 4) };

/* Neither a body far away nor pairs that are looked at in vain change a bit of a pile, nor of its
 * derivatives. */
static void test_islands(abut_context context)
{
  play p[3];
  void *slopes[3];
  for (int k = 0; k < 3; ++k) {
    open_pile(&p[k], context, k == 1, k != 2);
    play_step(&p[k], PILE_STEPS);
    slopes[k] = slopes_of(&p[k], 3, false);
    /* they begin 50 mm in each other */
    CHECK_EQUAL(p[k].status[0] & ~(uint32_t)ABUT_WORLD_DEEP, 0);
  }
  for (int k = 1; k < 3; ++k) {
    for (size_t i = 0; i < 7 * (size_t)PILE; ++i) {
      const double a = play_q(&p[0], 0, i), b = play_q(&p[k], 0, i);
      check(a == b, "pile %d: position %zu is %.17g, not %.17g", k, i, b, a);
    }
    for (size_t i = 0; i < 6 * (size_t)PILE; ++i) {
      const double a = real_at(slopes[0], precision, i), b = real_at(slopes[k], precision, i);
      check(a == b, "pile %d: slope %zu is %.17g, not %.17g", k, i, b, a);
    }
  }
  CHECK(play_q(&p[1], 0, 7 * PILE) > 9.0 && play_q(&p[1], 0, 7 * PILE) < 11.0);
  for (int k = 0; k < 3; ++k) {
    free(slopes[k]);
    play_close(&p[k]);
  }
}

/* ---- the most that a world may have ---- */

/* A wall of boxes on a floor, `wide` beside each other and `high` above each other. Each is in a
 * pair with the next ones beside and above it, or, where `high` is 0, all of one row are in pairs
 * by themselves. With `slides` links without bodies fill up the degrees of freedom. */
static char *wall_of(int wide, int high, int slides)
{
  const bool automatic = high == 0;
  high = automatic ? 1 : high;
  const size_t room = 4096 + 300 * (size_t)(wide * high + slides);
  char *text = malloc(room);
  REQUIRE(text != NULL);
  size_t at = (size_t)snprintf(
    text, room,
    "{\"timestep\": 0.002, \"tolerance\": %g, \"links\": [{\"bodies\": [{\"box\": [200, 5, 0.1]}], "
    "\"position\": [0, 0, -0.1]}",
    by(1e-11, 1e-5));
  for (int i = 0; i < wide * high; ++i) {
    at += (size_t)snprintf(text + at, room - at,
                           ", {\"density\": 400, \"joint\": {\"type\": \"free\"}, \"position\": "
                           "[%g, 0, %g], \"bodies\": "
                           "[{\"box\": [0.1, 0.1, 0.1]}]}",
                           0.1999 * (i % wide), 0.0999 + 0.1998 * (i / wide));
  }
  for (int i = 0; i < slides; ++i) {
    at +=
      (size_t)snprintf(text + at, room - at, ", {\"mass\": 1, \"joint\": {\"type\": \"slide\"}}");
  }
  if (automatic) {
    snprintf(text + at, room - at, "], \"automatic\": true}");
    return text;
  }
  at += (size_t)snprintf(text + at, room - at, "], \"pairs\": [{\"a\": 1, \"b\": 0}");
  for (int i = 1; i < wide * high; ++i) {
    at += (size_t)snprintf(text + at, room - at, ", {\"a\": %d, \"b\": %d}", i + 1,
                           i < wide ? 0 : i + 1 - wide);
    if (i % wide) {
      at += (size_t)snprintf(text + at, room - at, ", {\"a\": %d, \"b\": %d}", i + 1, i);
    }
  }
  snprintf(text + at, room - at, "]}");
  return text;
}

/* The force of one contact between boxes, by the mass of a box, that lies `depth` deep: a d(r)^2 K
 * depth / ((1 - d(r)) A), with the activity a, the softness that scenes have, and A, how many of
 * both bodies move (docs/dev/cone-formulas.md, section 8). */
static double push_at(double depth, double penetration, int movers)
{
  const double most = 0.95, least = 0.9, x = fmin(depth / 0.001, 1.0),
               k = 1.0 / (most * most * 0.02 * 0.02);
  const double y = x < 0.5 ? 2.0 * x * x : 1.0 - 2.0 * (1.0 - x) * (1.0 - x),
               d = least + y * (most - least);
  return d * d / (1.0 - d) / movers * k * depth / (1.0 + exp(-depth / penetration));
}

/* How deep a box with `above` others on it sinks into what is below it, where it rests on corners:
 * on the floor its own four, on a box the four of either, without what edges add, a sixth at the
 * top of a stack. */
static double rest_depth(int level, int above, double penetration)
{
  const int corners = level ? 8 : 4, movers = level ? 2 : 1;
  double low = 0.0, high = 0.01;
  for (int i = 0; i < 60; ++i) {
    const double depth = 0.5 * (low + high);
    if (corners * push_at(depth, penetration, movers) < 9.81 * (1 + above)) {
      low = depth;
    } else {
      high = depth;
    }
  }
  return high;
}

static double penetration_of(const play *p)
{
  abut_pair pairs[4];
  abut_smoothing s;
  size_t count;
  REQUIRE(p->info.kinds <= 4);
  REQUIRE_OK(abut_get_kinds(p->scene, NULL, pairs, &count));
  REQUIRE_OK(abut_get_smoothing(pairs[0], &s));
  return s.penetration;
}

/* Boxes sink from where they begin, 0.1 mm deep in each other, towards where they rest; within 20
 * steps they are near there, within a few they have hardly moved. */
static void test_wall(abut_context context, int wide, int high, int slides, size_t steps)
{
  play p;
  char *text = wall_of(wide, high, slides);
  high = high ? high : 1;
  play_open_text(&p, context, precision, text, 1);
  CHECK_EQUAL(p.info.nv, 6 * wide * high + slides);
  play_step(&p, steps);
  CHECK_EQUAL(p.status[0], 0);
  const double penetration = penetration_of(&p);
  double sunk = 0.0;
  for (int i = 0; i < wide * high; ++i) {
    const int level = i / wide;
    sunk += i % wide ? 0.0 : rest_depth(level, high - 1 - level, penetration);
    const double z = play_q(&p, 0, 7 * (size_t)i + 2), begin = 0.0999 + 0.1998 * level,
                 rest = 0.1 + 0.2 * level - sunk;
    const double wanted = steps < 20 ? begin : rest;
    check(fabs(z - wanted) < 0.002, "box %d of %d is at %g, not %g", i, wide * high, z, wanted);
    check(z < begin + 1e-4 && z > rest - 1e-4, "box %d of %d is at %g, not between %g and %g", i,
          wide * high, z, rest, begin);
  }
  for (int i = 0; i < slides; ++i) {
    CHECK(play_q(&p, 0, 7 * (size_t)(wide * high) + (size_t)i) < 0.0); /* falls freely */
  }
  play_close(&p);
  free(text);
}

static void check_refused(abut_context context, const char *text, const char *what,
                          const char *most)
{
  abut_scene scene;
  FILE *file = fopen("many.scene.json", "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  CHECK(abut_load_scene(context, "many.scene.json", &scene) != ABUT_SUCCESS);
  check(strstr(abut_last_error(), what) && strstr(abut_last_error(), most), "%s",
        abut_last_error());
  remove("many.scene.json");
}

/* Laws of dense matrices say how many they take, and all how many there may be. */
static void test_refused(abut_context context)
{
  static char text[8192];
  size_t at = (size_t)snprintf(text, sizeof text, "{\"contact_model\": \"lcp\", \"links\": [");
  for (int i = 0; i < 11; ++i) {
    at +=
      (size_t)snprintf(text + at, sizeof text - at,
                       "%s{\"mass\": 1, \"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"joint\": "
                       "{\"type\": \"free\"}}",
                       i ? ",\n" : "");
  }
  snprintf(text + at, sizeof text - at, "]}");
  check_refused(context, text, "66 degrees of freedom", "allows at most 64");
  char *wall = wall_of(683, 1, 0);
  check_refused(context, wall, "4098 degrees of freedom", "at most 4096 are possible");
  free(wall);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  abut_context context = require_context(precision);
  test_towers(context);
  test_between(context);
  test_islands(context);
  test_wall(context, 20, 10, 0, UNLESS_SANITIZED(20, 3));
  test_wall(context, 682, 1, 4, 1);
  test_wall(context, 590, 0, 0, 1); /* 174,345 pairs with more slots than kernels count, of which
                                       few are looked at */
  test_refused(context);
  return finish_context(context);
}
