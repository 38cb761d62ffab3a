/* Scenes with "sweep": what would pass through another body within a step is stopped where it meets
 * that: test_sweep PRECISION */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context context;
static abut_precision precision;

/* A number that float64, or float32, is good to. */
static double by(double wide, double narrow)
{
  return precision == ABUT_FLOAT64 ? wide : narrow;
}

enum { WORLDS = 13, STEPS = 6, SLOW_WORLDS = 7, SLOW_STEPS = 4 }; /* springs take seconds a world */

/* ---- a ball and a wall ---- */

/* A ball of 20 mm flies along x at a wall of 10 mm around x = 0, in steps of a 60th of a second. */
static void open_ball(play *p, const char *law, const char *more, bool sweep, size_t worlds)
{
  char text[1024];
  snprintf(text, sizeof text,
           "{\"contact_model\": \"%s\", %s \"timestep\": 0.016666666666666666, \"gravity\": [0, 0, "
           "0], \"sweep\": %s, "
           "\"links\": [{\"bodies\": [{\"box\": [0.005, 0.5, 0.5]}]}, {\"position\": [-1.1, 0.013, "
           "0.004], \"joint\": "
           "{\"type\": \"free\"}, \"density\": 1000, \"bodies\": [{\"sphere\": 0.01}]}], "
           "\"pairs\": [{\"a\": 1, \"b\": 0, "
           "\"contact\": {\"k\": 5}}]}",
           law, more, sweep ? "true" : "false");
  play_open_text(p, context, precision, text, worlds);
}

static void test_wall(const char *law, const char *more)
{
  play p;
  open_ball(&p, law, more, false, 1);
  play_set_v(&p, 0, 0, 40.0);
  play_step(&p, 5);
  CHECK(play_q(&p, 0, 0) > 2.0);
  CHECK_EQUAL(p.status[0], ABUT_WORLD_FAST);
  play_close(&p);

  open_ball(&p, law, more, true, 1);
  play_set_v(&p, 0, 0, 40.0);
  for (int i = 0; i < 5; ++i) {
    play_step(&p, 1);
    check(play_q(&p, 0, 0) < -0.015, "%s %s step %d: the ball is at %g", law, more, i,
          play_q(&p, 0, 0));
    CHECK_EQUAL(p.status[0], i < 1 ? 0 : ABUT_WORLD_SWEPT); /* the first step ends 0.33 m before
                                                               the wall */
  }
  CHECK(play_q(&p, 0, 0) > -0.03);
  CHECK(fabs(play_v(&p, 0, 0)) < 0.2); /* springs reach beyond touch, and push */
  play_close(&p);
}

/* How large a plane is says nothing of what it stops. */
static void test_plane(const char *law)
{
  static const double halves[] = {0.4, 5.0, 50.0};
  for (size_t i = 0; i < sizeof halves / sizeof *halves; ++i) {
    char text[1024];
    play p;
    snprintf(text, sizeof text,
             "{\"contact_model\": \"%s\", \"timestep\": 0.016666666666666666, \"sweep\": true, "
             "\"links\": [{\"bodies\": [{\"plane\": "
             "[%g, %g]}]}, {\"position\": [0, 0, 1], \"joint\": {\"type\": \"free\"}, \"density\": "
             "1000, \"bodies\": [{\"sphere\": "
             "0.1}]}], \"pairs\": [{\"a\": 1, \"b\": 0}]}",
             law, halves[i], halves[i]);
    play_open_text(&p, context, precision, text, 1);
    play_set_v(&p, 0, 2, -150.0);
    for (int k = 0; k < 3; ++k) {
      play_step(&p, 1);
      check(play_q(&p, 0, 2) > 0.09, "%s: over a plane of %g the ball is at %g", law, halves[i],
            play_q(&p, 0, 2));
    }
    CHECK(p.status[0] & ABUT_WORLD_SWEPT);
    play_close(&p);
  }
}

/* Bodies that overlap as a step begins are the law's: where it does not hold them, 128 tells. */
static void test_overlapping(const char *law)
{
  play p;
  open_ball(&p, law, "", true, WORLDS);
  for (size_t i = 0; i < WORLDS; ++i) {
    play_set_q(&p, i, 0, -0.0151 + 1e-4 * (double)i);
    play_set_v(&p, i, 0, 40.0);
  }
  play_step(&p, 1);
  for (size_t i = 0; i < WORLDS; ++i) {
    check(play_q(&p, i, 0) < 0.0 || (p.status[i] & ABUT_WORLD_FAST),
          "%s: world %zu is at %g, with status %u", law, i, play_q(&p, i, 0), p.status[i]);
    CHECK_EQUAL(p.fast_links[2 * i] + p.fast_links[2 * i + 1] != 0,
                (p.status[i] & ABUT_WORLD_FAST) != 0);
  }
  play_close(&p);
}

/* What overlaps and leaves fast is not held back. */
static void test_leaving(const char *law)
{
  play p;
  open_ball(&p, law, "", true, WORLDS);
  for (size_t i = 0; i < WORLDS; ++i) {
    play_set_q(&p, i, 0, -0.0151 + 1e-4 * (double)i);
    play_set_v(&p, i, 0, -20.0);
    play_set_v(&p, i, 1, (double)i);
  }
  play_step(&p, 1);
  for (size_t i = 0; i < WORLDS; ++i) {
    check(play_q(&p, i, 0) < -0.2 && !(p.status[i] & ABUT_WORLD_SWEPT),
          "%s: world %zu is at %g, with status %u", law, i, play_q(&p, i, 0), p.status[i]);
  }
  play_close(&p);
}

/* ---- impulses ---- */

#define SIDE 0.01 /* half a cube's */

/* A cube of 1 kg flies with a corner ahead, along x, at a wall of 10 mm. Its inertia is that of a
 * ball that goes through its corners, so that it meets the wall as a ball does, to what a corner's
 * middle and the wall's are apart. */
static void open_corner(play *p, const char *law, double friction, double restitution, int condim)
{
  char text[1024];
  const double inertia = 0.4 * 3.0 * SIDE * SIDE;
  snprintf(
    text, sizeof text,
    "{\"contact_model\": \"%s\", \"timestep\": 0.01, \"gravity\": [0, 0, 0], \"sweep\": true, "
    "\"links\": "
    "[{\"bodies\": [{\"box\": [0.005, 0.5, 0.5]}]}, {\"position\": [-0.2, 0, 0], \"joint\": "
    "{\"type\": \"free\"}, "
    "\"mass\": 1, \"inertia\": [[%.17g, 0, 0], [0, %.17g, 0], [0, 0, %.17g]], \"bodies\": "
    "[{\"box\": [%g, %g, %g]}]}], "
    "\"pairs\": [{\"a\": 1, \"b\": 0, \"friction\": %g, \"restitution\": %g, \"condim\": %d}]}",
    law, inertia, inertia, inertia, SIDE, SIDE, SIDE, friction, restitution, condim);
  play_open_text(p, context, precision, text, 1);
  /* turns (1, 1, 1) to x: about (0, 1, -1) by acos(1 / sqrt 3) */
  const double angle = 0.5 * acos(1.0 / sqrt(3.0));
  play_set_q(p, 0, 3, cos(angle));
  play_set_q(p, 0, 4, 0.0);
  play_set_q(p, 0, 5, sin(angle) / sqrt(2.0));
  play_set_q(p, 0, 6, -sin(angle) / sqrt(2.0));
}

static void check_speed(const play *p, const char *what, size_t dof, double sought)
{
  check(fabs(play_v(p, 0, dof) - sought) < 0.03, "%s: velocity %zu is %.6g, not %.6g", what, dof,
        play_v(p, 0, dof), sought);
}

/* A ball that meets a wall at (v, t) sticks where 2/7 t is no more than the friction of its
 * impulse, and then rolls at 5/7 t; else it slides on. */
static void test_oblique(const char *law, double friction, double restitution, int condim,
                         double along)
{
  char what[128];
  play p;
  const double fast = 30.0, bounce = strcmp(law, "lcp") ? 0.0 : restitution,
               used = condim == 1 ? 0.0 : friction;
  const double impulse = (1.0 + bounce) * fast, rolls = 2.0 / 7.0 * along;
  const double taken = fabs(rolls) <= used * impulse ? rolls : copysign(used * impulse, along);
  snprintf(what, sizeof what, "%s friction %g restitution %g condim %d along %g", law, friction,
           restitution, condim, along);
  open_corner(&p, law, friction, restitution, condim);
  play_set_v(&p, 0, 0, fast);
  play_set_v(&p, 0, 1, along);
  play_step(&p, 1);
  CHECK_EQUAL(p.status[0], ABUT_WORLD_SWEPT);
  check_speed(&p, what, 0, -bounce * fast);
  check_speed(&p, what, 1, along - taken);
  check_speed(&p, what, 2, 0.0);
  double turn = 0.0;
  for (size_t k = 3; k < 6; ++k) {
    turn += play_v(&p, 0, k) * play_v(&p, 0, k);
  }
  const double rate = 2.5 * fabs(taken) / (sqrt(3.0) * SIDE);
  check(fabs(sqrt(turn) - rate) < 2e-3 * rate + 0.1, "%s: it turns at %g, not at %g", what,
        sqrt(turn), rate);
  play_close(&p);
}

/* A cube that turns about its way meets the wall with the corner ahead, and stays there: bodies
 * that meet are an eighth of what they are kept apart from each other, to rounding, though on an
 * arc no certified time is as exact. They are stopped so far before that. Between clouds a body's
 * thickness is that of its shape; with other laws it is measured. */
static void test_exact(void)
{
  play p;
  open_corner(&p, "spring\", \"clouds\": true, \"integrator\": \"implicit", 0.0, 0.0, 1);
  play_set_v(&p, 0, 0, 30.0);
  for (size_t k = 3; k < 6; ++k) {
    play_set_v(&p, 0, k, 60.0);
  }
  play_step(&p, 1);
  CHECK_EQUAL(p.status[0], ABUT_WORLD_SWEPT);
  const double apart = 0.01 * 0.005, sought = -0.005 - sqrt(3.0) * SIDE - 1.125 * apart;
  check(fabs(play_q(&p, 0, 0) - sought) < by(1e-12, 4e-6), "the cube is at %.15g, not at %.15g",
        play_q(&p, 0, 0), sought);
  play_close(&p);
}

/* A box that lands flat stops as a whole, by one impact in the middle of its face. */
static void test_flat(const char *law)
{
  char text[1024];
  play p;
  snprintf(text, sizeof text,
           "{\"contact_model\": \"%s\", \"timestep\": 0.01, \"gravity\": [0, 0, 0], \"sweep\": "
           "true, \"links\": "
           "[{\"bodies\": [{\"box\": [0.005, 0.5, 0.5]}]}, {\"position\": [-0.2, 0.013, 0.004], "
           "\"joint\": {\"type\": "
           "\"free\"}, \"density\": 1000, \"bodies\": [{\"box\": [0.03, 0.03, 0.03]}]}], "
           "\"pairs\": [{\"a\": 1, \"b\": "
           "0, \"condim\": 1}]}",
           law);
  play_open_text(&p, context, precision, text, 1);
  play_set_v(&p, 0, 0, 40.0);
  play_set_v(&p, 0, 1, 3.0);
  play_step(&p, 1);
  CHECK_EQUAL(p.status[0], ABUT_WORLD_SWEPT);
  for (size_t k = 0; k < 6; ++k) {
    const double off = fabs(play_v(&p, 0, k) - (k == 1 ? 3.0 : 0.0));
    check(off <= by(1e-6, 0.02), "%s: a box that landed flat has velocity %zu of %g", law, k,
          play_v(&p, 0, k));
  }
  play_close(&p);
}

/* ---- a bullet and boxes ---- */

static void momentum(const play *p, double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = 0.0;
    for (size_t i = 0; i < p->info.nv / 6; ++i) {
      out[k] += play_link(p, 0, i).linear[k];
    }
  }
}

/* The bullet, of 20 g, flies at three boxes of 4 mm in a row. It stays before the first, which
 * stays before the second. What is left of its momentum is shared among them. */
static void test_bullet(const char *law)
{
  char text[2048];
  play p;
  size_t length = (size_t)snprintf(
    text, sizeof text,
    "{\"contact_model\": \"%s\", \"timestep\": 0.01, \"gravity\": [0, 0, 0], \"sweep\": true, "
    "\"links\": [{\"position\": [-0.6, 0.003, 0.002], \"joint\": {\"type\": \"free\"}, "
    "\"density\": 10000, \"bodies\": [{\"sphere\": 0.008}]}",
    law);
  for (int i = 0; i < 3; ++i) {
    length += (size_t)
      snprintf(text + length, sizeof text - length,
               ", {\"position\": [%g, 0, 0], \"joint\": {\"type\": \"free\"}, \"density\": 1000, "
               "\"bodies\": [{\"box\": [0.002, 0.1, 0.1]}]}",
               0.05 * i);
  }
  snprintf(text + length, sizeof text - length,
           "], \"pairs\": [{\"a\": 0, \"b\": 1}, {\"a\": 0, \"b\": 2}, {\"a\": 0, \"b\": 3}, "
           "{\"a\": 1, \"b\": 2}, "
           "{\"a\": 2, \"b\": 3}]}");
  play_open_text(&p, context, precision, text, 1);
  double before[3], after[3];
  play_set_v(&p, 0, 0, 200.0);
  play_weigh(&p);
  momentum(&p, before);
  play_step(&p, 1); /* the first box is hit a third of the way */
  play_weigh(&p);
  momentum(&p, after);
  CHECK(p.status[0] & ABUT_WORLD_SWEPT);
  CHECK(play_v(&p, 0, 6) > 0.5);
  for (int i = 0; i < 3; ++i) {
    check(play_q(&p, 0, 7 * (size_t)i) < play_q(&p, 0, 7 * (size_t)(i + 1)),
          "%s: body %d has passed the next one", law, i);
  }
  for (int k = 0; k < 3; ++k) {
    check(fabs(after[k] - before[k]) <= by(1e-12, 2e-5) * before[0],
          "%s: momentum %d is %.17g, was %.17g", law, k, after[k], before[k]);
  }
  play_close(&p);
}

/* ---- a tree, and an end of impacts ---- */

/* A rod on a hinge turns at a plate over its end, 19 degrees a step. */
static void test_hinge(const char *law)
{
  char text[1024];
  play p;
  snprintf(text, sizeof text,
           "{\"contact_model\": \"%s\", \"timestep\": 0.005, \"gravity\": [0, 0, 0], \"sweep\": "
           "true, \"links\": "
           "[{\"density\": 1000, \"joint\": {\"type\": \"hinge\", \"axis\": [0, 1, 0], "
           "\"position\": [-0.5, 0, 0]}, "
           "\"position\": [0.5, 0, 0], \"bodies\": [{\"box\": [0.5, 0.01, 0.01], \"quaternion\": "
           "[0.9, 0.1, 0, 0]}]}, "
           "{\"position\": [0.8, 0, 0.4], \"bodies\": [{\"box\": [0.08, 0.05, 0.003]}]}], "
           "\"pairs\": [{\"a\": 0, \"b\": 1}]}",
           law);
  play_open_text(&p, context, precision, text, 1);
  play_set_v(&p, 0, 0, -66.0);
  play_step(&p, 4);
  CHECK(p.status[0] & ABUT_WORLD_SWEPT);
  check(play_q(&p, 0, 0) > -0.5, "%s: the rod is at %g", law, play_q(&p, 0, 0));
  play_close(&p);
}

/* A slide between two walls, which it leaves as fast as it came: in the first world no step has
 * impacts enough. */
static void test_limit(void)
{
  play p;
  play_open_text(
    &p, context, precision,
    "{\"contact_model\": \"lcp\", \"timestep\": 0.01, \"gravity\": [0, 0, 0], \"sweep\": true, "
    "\"links\": "
    "[{\"bodies\": [{\"box\": [0.005, 0.5, 0.5]}]}, {\"position\": [0.06, 0, 0], \"joint\": "
    "{\"type\": "
    "\"slide\", \"axis\": [1, 0, 0]}, \"density\": 1000, \"bodies\": [{\"sphere\": 0.01}]}, "
    "{\"position\": "
    "[0.12, 0, 0], \"bodies\": [{\"box\": [0.005, 0.5, 0.5]}]}], \"pairs\": [{\"a\": 1, \"b\": 0, "
    "\"restitution\": 1}, {\"a\": 1, \"b\": 2, \"restitution\": 1}]}",
    2);
  play_set_v(&p, 0, 0, 1000.0); /* 111 walls in a step */
  play_set_v(&p, 1, 0, 100.0);  /* 11 */
  for (int i = 0; i < 10; ++i) {
    play_step(&p, 1);
    for (size_t k = 0; k < 2; ++k) {
      const double speed = k ? 100.0 : 1000.0;
      check(fabs(fabs(play_v(&p, k, 0)) - speed) <= by(1e-9, 1e-4) * speed,
            "world %zu goes at %.9g", k, play_v(&p, k, 0));
      /* up to a quarter of the wall's thickness is left to the law */
      check(fabs(play_q(&p, k, 0)) < 0.0476, "world %zu is at %g", k, play_q(&p, k, 0));
    }
  }
  CHECK(p.status[0] & ABUT_WORLD_SWEEP_LIMIT);
  CHECK(!(p.status[1] & ABUT_WORLD_SWEEP_LIMIT) && (p.status[1] & ABUT_WORLD_SWEPT));
  play_close(&p);
}

/* ---- what stays as it is ---- */

static void check_same(const play *a, size_t i, const play *b, size_t k, const char *what)
{
  const size_t q = a->info.nq * real_size(precision), v = a->info.nv * real_size(precision);
  check(!memcmp((const char *)a->q + i * q, (const char *)b->q + k * q, q) &&
          !memcmp((const char *)a->v + i * v, (const char *)b->v + k * v, v) &&
          a->status[i] == b->status[k],
        "%s: world %zu is not world %zu to the bit", what, i, k);
}

/* What falls slowly is the law's alone, whatever it then does. */
static void test_slow(const char *law)
{
  play p[2];
  for (int i = 0; i < 2; ++i) {
    char text[1024];
    snprintf(
      text, sizeof text,
      "{\"contact_model\": \"%s\", \"timestep\": 0.002, \"sweep\": %s, \"links\": [{\"bodies\": "
      "[{\"box\": [0.5, 0.5, "
      "0.02]}]}, {\"position\": [0, 0, 0.1], \"joint\": {\"type\": \"free\"}, \"density\": 500, "
      "\"bodies\": [{\"box\": "
      "[0.03, 0.03, 0.03]}]}], \"pairs\": [{\"a\": 1, \"b\": 0, \"contact\": {\"k\": 5000}}]}",
      law, i ? "true" : "false");
    play_open_text(&p[i], context, precision, text, 2);
    play_set_v(&p[i], 1, 3, 2.0);
    play_set_v(&p[i], 1, 0, 0.5);
    play_step(&p[i], 100);
  }
  check_same(&p[0], 0, &p[1], 0, law);
  check_same(&p[0], 1, &p[1], 1, law);
  CHECK(fabs(play_v(&p[1], 0, 2)) < 0.3 && play_q(&p[1], 0, 2) < 0.07);
  play_close(&p[0]);
  play_close(&p[1]);
}

/* ---- worlds beside each other ---- */

static void throw_ball(play *p, size_t world, size_t way)
{
  play_set_v(p, world, 0, way % 3 ? 2.0 + 4.0 * (double)way : 0.1 * (double)way);
  play_set_v(p, world, 1, 0.3 * (double)way);
  play_set_v(p, world, 4, 3.0 * (double)way);
}

static abut_context cut_context(uint32_t chunk)
{
  const char *wanted = getenv("ABUT_TEST_DEVICE");
  abut_context_def def = abut_default_context_def();
  abut_context out;
  REQUIRE_OK(abut_find_device(wanted && *wanted ? wanted : "host", &def.device));
  def.precision = precision;
  def.fallback = ABUT_FALLBACK_NONE;
  def.chunk = chunk;
  REQUIRE_OK(abut_create_context(&def, &out));
  return out;
}

/* Worlds in the other order, and in chunks, are the same to the bit. */
static void test_order(const char *law)
{
  const abut_context home = context;
  const bool slow = !strcmp(law, "spring");
  const size_t worlds = slow ? SLOW_WORLDS : WORLDS;
  play p[3];
  size_t swept = 0;
  for (int i = 0; i < 3; ++i) {
    context = i == 2 ? cut_context(5) : home;
    open_ball(&p[i], law, "", true, worlds);
    for (size_t k = 0; k < worlds; ++k) {
      throw_ball(&p[i], k, i == 1 ? worlds - 1 - k : k);
    }
    play_step(&p[i], slow ? SLOW_STEPS : STEPS);
  }
  for (size_t k = 0; k < worlds; ++k) {
    check_same(&p[0], k, &p[1], worlds - 1 - k, law);
    check_same(&p[0], k, &p[2], k, law);
    swept += (p[0].status[k] & ABUT_WORLD_SWEPT) != 0;
  }
  CHECK(swept > worlds / 4 && swept < worlds);
  for (int i = 0; i < 3; ++i) {
    play_close(&p[i]);
  }
  CHECK_OK(abut_destroy_context(context));
  context = home;
}

/* Worlds of two scenes in one call, of which one sweeps. */
static void test_kinds(void)
{
  play p[3];
  uint32_t which[WORLDS];
  abut_scene scenes[2];
  for (int i = 0; i < 3; ++i) {
    open_ball(&p[i], "cone", "", i == 1, WORLDS);
    scenes[i % 2] = p[i].scene;
    for (size_t k = 0; k < WORLDS; ++k) {
      throw_ball(&p[i], k, k);
      which[k] = k % 2;
    }
  }
  scenes[0] = p[0].scene;
  abut_worlds w = abut_default_worlds();
  w.count = WORLDS;
  w.q = w.q_next = p[2].q;
  w.v = w.v_next = p[2].v;
  w.status = p[2].status;
  w.steps = STEPS;
  w.scenes = scenes;
  w.scene_count = 2;
  w.scene = which;
  CHECK_OK(abut_step_worlds(p[2].scene, &w));
  play_step(&p[0], STEPS);
  play_step(&p[1], STEPS);
  for (size_t k = 0; k < WORLDS; ++k) {
    check_same(&p[2], k, &p[k % 2], k, "of two scenes");
  }
  for (int i = 0; i < 3; ++i) {
    play_close(&p[i]);
  }
}

/* ---- derivatives ---- */

typedef struct slopes {
  char *gradient, *tangent, *matrix;
  uint32_t status[WORLDS];
} slopes;

static void differentiate(const play *p, size_t steps, size_t segment, slopes *s)
{
  const size_t nv = p->info.nv, size = real_size(precision);
  void *ones = calloc(2 * nv * WORLDS, size);
  *s = (slopes){calloc(WORLDS * nv, size),
                calloc(WORLDS * nv, size),
                calloc(WORLDS * 4 * nv * nv, size),
                {0}};
  REQUIRE(ones && s->gradient && s->tangent && s->matrix);
  for (size_t i = 0; i < 2 * nv * WORLDS; ++i) {
    real_put(ones, precision, i, 1.0);
  }
  abut_worlds w = abut_default_worlds();
  w.count = p->worlds;
  w.q = p->q;
  w.v = p->v;
  w.steps = steps;
  w.status = s->status;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = ones;
  g.v = s->gradient;
  g.segment = segment;
  CHECK_OK(abut_vjp_worlds(p->scene, &w, &g));
  abut_worlds_tangents t = abut_default_worlds_tangents();
  t.v = ones;
  t.v_next = s->tangent;
  CHECK_OK(abut_jvp_worlds(p->scene, &w, &t));
  abut_worlds_transition m = abut_default_worlds_transition();
  m.A = s->matrix;
  w.steps = 1;
  w.status = NULL;
  CHECK_OK(abut_transition_worlds(p->scene, &w, &m));
  free(ones);
}

static void slopes_free(slopes *s)
{
  free(s->gradient);
  free(s->tangent);
  free(s->matrix);
}

static bool all_zero(const char *at, size_t count)
{
  bool zero = true;
  for (size_t i = 0; i < count; ++i) {
    const double x = real_at(at, precision, i);
    zero = zero && x <= 0.0 && x >= 0.0;
  }
  return zero;
}

/* Worlds without an impact have those of the scene that does not sweep, to the bit; test_impacts
 * looks at the others. */
static void test_derivatives(const char *law, const char *more)
{
  play p[2];
  slopes s[2];
  const bool slow = !strcmp(law, "spring");
  const size_t worlds = slow ? SLOW_WORLDS : WORLDS, steps = slow ? SLOW_STEPS : STEPS;
  size_t swept = 0;
  for (int i = 0; i < 2; ++i) {
    open_ball(&p[i], law, more, i == 1, worlds);
    for (size_t k = 0; k < worlds; ++k) {
      throw_ball(&p[i], k, k);
    }
    differentiate(&p[i], steps, 2, &s[i]);
  }
  const size_t row = p[0].info.nv * real_size(precision), all = 4 * p[0].info.nv * row;
  for (size_t k = 0; k < worlds; ++k) {
    if (s[1].status[k] & ABUT_WORLD_SWEPT) {
      ++swept;
      CHECK(memcmp(s[1].gradient + k * row, s[0].gradient + k * row, row) != 0);
      CHECK(memcmp(s[1].tangent + k * row, s[0].tangent + k * row, row) != 0);
      CHECK(!all_zero(s[1].gradient + k * row, p[0].info.nv) &&
            !all_zero(s[1].tangent + k * row, p[0].info.nv));
    } else {
      CHECK(!memcmp(s[1].gradient + k * row, s[0].gradient + k * row, row));
      CHECK(!memcmp(s[1].tangent + k * row, s[0].tangent + k * row, row));
      CHECK(!memcmp(s[1].matrix + k * all, s[0].matrix + k * all, all));
      CHECK(!all_zero(s[1].gradient + k * row, p[0].info.nv));
    }
  }
  CHECK(swept > 1 && swept < worlds);
  for (int i = 0; i < 2; ++i) {
    play_close(&p[i]);
    slopes_free(&s[i]);
  }
}

/* Derivatives through impacts are the same to the bit in chunks, and in the other order. */
static void test_order_of_derivatives(const char *law)
{
  const abut_context home = context;
  play p[3];
  slopes s[3];
  size_t swept = 0;
  for (int i = 0; i < 3; ++i) {
    context = i == 2 ? cut_context(5) : home;
    open_ball(&p[i], law, "", true, WORLDS);
    for (size_t k = 0; k < WORLDS; ++k) {
      throw_ball(&p[i], k, i == 1 ? WORLDS - 1 - k : k);
    }
    differentiate(&p[i], STEPS, 4, &s[i]);
  }
  const size_t row = p[0].info.nv * real_size(precision), all = 4 * p[0].info.nv * row;
  for (size_t k = 0; k < WORLDS; ++k) {
    const size_t other[2] = {WORLDS - 1 - k, k};
    for (int i = 0; i < 2; ++i) {
      CHECK(!memcmp(s[0].gradient + k * row, s[1 + i].gradient + other[i] * row, row));
      CHECK(!memcmp(s[0].tangent + k * row, s[1 + i].tangent + other[i] * row, row));
      CHECK(!memcmp(s[0].matrix + k * all, s[1 + i].matrix + other[i] * all, all));
    }
    swept += (s[0].status[k] & ABUT_WORLD_SWEPT) != 0;
  }
  CHECK(swept > WORLDS / 4 && swept < WORLDS);
  for (int i = 0; i < 3; ++i) {
    play_close(&p[i]);
    slopes_free(&s[i]);
  }
  CHECK_OK(abut_destroy_context(context));
  context = home;
}

/* ---- what is refused ---- */

static void test_given(void)
{
  play p;
  open_ball(&p, "cone", "", true, 1);
  const abut_given_contacts none = {0};
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = p.q;
  w.v = p.v;
  w.contacts = &none;
  CHECK_EQUAL(abut_step_worlds(p.scene, &w), ABUT_ERROR_ARGUMENT);
  CHECK(strstr(abut_last_error(), "sweeps") != NULL);
  play_close(&p);
}

int main(int argc, char **argv)
{
  static const char *const laws[] = {"cone", "lcp", "spring"};
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  for (int i = 0; i < 3; ++i) {
    test_wall(laws[i], "");
    test_overlapping(laws[i]);
    test_plane(laws[i]);
    test_leaving(laws[i]);
    test_flat(laws[i]);
    test_bullet(laws[i]);
    test_hinge(laws[i]);
    test_slow(laws[i]);
    test_order(laws[i]);
    test_derivatives(laws[i], "");
  }
  test_wall("cone", "\"integrator\": \"rk4\",");
  test_wall("spring", "\"integrator\": \"rk4\",");
  test_wall("spring", "\"integrator\": \"euler\",");
  test_derivatives("cone", "\"integrator\": \"rk4\",");
  test_exact();
  test_order_of_derivatives("cone");
  test_order_of_derivatives("lcp");
  for (int i = 0; i < 2; ++i) {
    test_oblique(laws[i], 0.8, 0.0, 3, 0.0);
    test_oblique(laws[i], 0.8, 0.0, 3, 20.0); /* sticks */
    test_oblique(laws[i], 0.1, 0.0, 3, 20.0); /* slides */
    test_oblique(laws[i], 0.8, 0.5, 3, 20.0);
    test_oblique(laws[i], 0.1, 0.5, 3, -20.0);
    test_oblique(laws[i], 0.8, 0.5, 1, 20.0);
  }
  test_limit();
  test_kinds();
  test_given();
  return finish_context(context);
}
