/* How bodies with hard contacts collide, slide, bounce and come to rest, against closed forms:
 * test_lcp_physics PRECISION. On the device of ABUT_TEST_DEVICE, the host by default. */
#include "world/play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G 9.81

static abut_context context;
static abut_precision precision;

static double either(double in_double, double in_float)
{
  return precision == ABUT_FLOAT64 ? in_double : in_float;
}

/* ---- two balls ---- */

enum { BALL_STEPS = 500 };

/* On one line, without gravity: the first hits the second, which rests. Masses 1 and `heavy`. */
static void open_balls(play *p, double heavy, double restitution)
{
  char text[1024];
  snprintf(text, sizeof text,
           "{\"contact_model\": \"lcp\", \"timestep\": 0.002, \"gravity\": [0, 0, 0], \"links\": ["
           "{\"mass\": 1, \"joint\": {\"type\": \"slide\", \"axis\": [1, 0, 0]}, \"bodies\": "
           "[{\"sphere\": 0.1}]},"
           "{\"mass\": %.17g, \"joint\": {\"type\": \"slide\", \"axis\": [1, 0, 0]}, \"bodies\": "
           "[{\"sphere\": 0.1}]}],"
           "\"pairs\": [{\"a\": 0, \"b\": 1, \"friction\": 0, \"restitution\": %.17g}]}",
           heavy, restitution);
  play_open_text(p, context, precision, text, 1);
  play_set_q(p, 0, 1, 0.52);
  play_set_v(p, 0, 0, 1.0);
}

/* Both velocities are exact; the place of the second ball changes with what they began with as that
 * of balls that collide in time, whichever step that is in. */
static void test_balls(double heavy, double restitution)
{
  const double share = (1.0 + restitution) / (1.0 + heavy), time = 0.002 * BALL_STEPS;
  const double want[4] = {share, 1.0 - share, share * time, (1.0 - share) * time};
  play p;
  open_balls(&p, heavy, restitution);
  void *v = calloc(2, sizeof(double)), *by = calloc(4, sizeof(double)),
       *bar = calloc(4, sizeof(double));
  REQUIRE(v && by && bar);
  real_put(bar, precision, 1, 1.0);
  abut_worlds w = abut_default_worlds();
  abut_worlds_gradients g = abut_default_worlds_gradients();
  w.count = 1;
  w.steps = BALL_STEPS;
  w.q = p.q;
  w.v = p.v;
  w.v_next = v;
  g.state = bar;
  g.q = by;
  g.v = (char *)by + 2 * real_size(precision);
  CHECK_OK(abut_vjp_worlds(p.scene, &w, &g));
  printf("two balls, 1 : %g, restitution %g\n", heavy, restitution);
  play_line("first's velocity is off [m/s]", fabs(real_at(v, precision, 0) - (1.0 - heavy * share)),
            either(1e-9, 1e-5));
  play_line("second's", fabs(real_at(v, precision, 1) - share), either(1e-9, 1e-5));
  for (size_t i = 0; i < 4; ++i) {
    play_line(i < 2 ? "derivative by a place is off" : "by a velocity",
              fabs(real_at(by, precision, i) - want[i]), either(1e-9, 1e-4));
  }
  free(v);
  free(by);
  free(bar);
  play_close(&p);
}

/* ---- rest, sliding, bounces ---- */

static const char box_on[] =
  "{\"contact_model\": \"lcp\", \"timestep\": %g, \"links\": [{\"quaternion\": [%.17g, 0, %.17g, "
  "0], "
  "\"bodies\": [{\"plane\": [5, 5]}]}, {\"joint\": {\"type\": \"free\"}, \"density\": 400, "
  "\"bodies\": "
  "[{\"box\": [0.12, 0.1, 0.06]}]}], \"pairs\": [{\"a\": 1, \"b\": 0, \"friction\": 0.5}]}";

/* Dropped tilted from a few centimetres: what tips and slides at first is at rest after two
 * seconds. */
static void test_rest(void)
{
  enum { WORLDS = 3 };
  static const double tilts[WORLDS][2] = {{0, 0}, {0.15, 0}, {-0.1, 0.12}};
  char text[1024];
  play p;
  snprintf(text, sizeof text, box_on, 0.002, 1.0, 0.0);
  play_open_text(&p, context, precision, text, WORLDS);
  for (size_t i = 0; i < WORLDS; ++i) {
    play_set_q(&p, i, 2, 0.12);
    play_set_q(&p, i, 4, tilts[i][0]);
    play_set_q(&p, i, 5, tilts[i][1]);
  }
  printf("a box dropped on a plane\n");
  play_for(&p, 2.0);
  for (size_t i = 0; i < WORLDS; ++i) {
    play_line("speed after 2 s [m/s]", play_fastest(&p, i, false), either(1e-6, 1e-3));
    play_line("turns [rad/s]", play_fastest(&p, i, true), either(1e-5, 1e-2));
    play_line("off its height [m]", fabs(play_q(&p, i, 2) - 0.06), 1e-4);
    CHECK_EQUAL(p.status[i] & ~(uint32_t)ABUT_WORLD_OVERFLOW, 0);
  }
  play_close(&p);
}

/* Down a slope that falls along x, and stops: friction along an axis of the frame is Coulomb's. */
/* Boxes on each other, each interface with some six contacts of its many: their rounded rims, which
 * do not touch, must not be among them. */
static void test_stack(void)
{
  enum { BOXES = 10 };
  char text[4096];
  size_t length =
    (size_t)snprintf(text, sizeof text,
                     "{\"contact_model\": \"lcp\", \"lcp\": {\"most\": 64}, \"links\": "
                     "[{\"bodies\": [{\"plane\": [1, 1]}]}");
  for (int i = 0; i < BOXES; ++i) {
    length += (size_t)snprintf(text + length, sizeof text - length,
                               ", {\"position\": [%g, 0, %g], \"joint\": {\"type\": \"free\"}, "
                               "\"density\": 500, \"bodies\": [{\"box\": [0.1, 0.1, 0.1]}]}",
                               0.002 * (i % 3), 0.1 + 0.2 * i);
  }
  length += (size_t)snprintf(text + length, sizeof text - length, "], \"pairs\": [");
  for (int i = 0; i < BOXES; ++i) {
    length += (size_t)snprintf(text + length, sizeof text - length, "%s{\"a\": %d, \"b\": %d}",
                               i ? ", " : "", i + 1, i);
  }
  snprintf(text + length, sizeof text - length, "]}");
  play p;
  play_open_text(&p, context, precision, text, 1);
  play_for(&p, 0.5);
  printf("ten boxes on each other\n");
  play_line("speed after 0.5 s [m/s]", play_fastest(&p, 0, false), 1e-3);
  play_line("turns [rad/s]", play_fastest(&p, 0, true), 1e-3);
  play_line("the top one is off its height [m]", fabs(play_q(&p, 0, 7 * BOXES - 5) - 1.9), 1e-4);
  CHECK_EQUAL(p.status[0], 0);
  play_close(&p);
}

static void test_slope(double angle)
{
  const double step = 0.001, speed = 1.0, brake = G * (0.5 * cos(angle) - sin(angle));
  char text[1024];
  play p;
  snprintf(text, sizeof text, box_on, step, cos(0.5 * angle), sin(0.5 * angle));
  play_open_text(&p, context, precision, text, 1);
  const double begin[2] = {0.06 * sin(angle), 0.06 * cos(angle)};
  play_set_q(&p, 0, 0, begin[0]);
  play_set_q(&p, 0, 2, begin[1]);
  play_set_q(&p, 0, 3, cos(0.5 * angle));
  play_set_q(&p, 0, 5, sin(0.5 * angle));
  play_set_v(&p, 0, 0, speed * cos(angle));
  play_set_v(&p, 0, 2, -speed * sin(angle));
  play_for(&p, 1.2 * speed / brake);
  const double far = hypot(play_q(&p, 0, 0) - begin[0], play_q(&p, 0, 2) - begin[1]);
  printf("a box slides down %g rad\n", angle);
  play_line("distance is off [m]", fabs(far - speed * speed / (2.0 * brake)), speed * step);
  play_line("is still moving [m/s]", play_fastest(&p, 0, false), either(1e-6, 1e-3));
  CHECK_EQUAL(p.status[0] & ~(uint32_t)ABUT_WORLD_OVERFLOW, 0);
  play_close(&p);
}

/* A sphere's heights above where it touches, from bounce to bounce. A step of h moves v h at most
 * before a bounce, and each bounce takes g h of speed or gives it. */
static void test_bounces(void)
{
  const double restitution = 0.8, step = 0.0005;
  double top = 0.3, high = 0.0;
  int bounces = 0;
  play p;
  play_open_text(
    &p, context, precision,
    "{\"contact_model\": \"lcp\", \"timestep\": 0.0005, \"links\": [{\"bodies\": [{\"plane\": "
    "[2, 2]}]}, {\"mass\": 1, \"joint\": {\"type\": \"slide\"}, \"bodies\": [{\"sphere\": 0.1}]}], "
    "\"pairs\": [{\"a\": 1, \"b\": 0, \"restitution\": 0.8}]}",
    1);
  play_set_q(&p, 0, 0, 0.1 + top);
  printf("a sphere bounces\n");
  for (double before = 0.0; bounces < 4;) {
    play_step(&p, 1);
    const double now = play_v(&p, 0, 0);
    high = fmax(high, play_q(&p, 0, 0) - 0.1);
    if (bounces && before > 0.0 && now <= 0.0) {
      const double speed = sqrt(2.0 * G * top);
      play_line("height over the last one is off", fabs(high / top - restitution * restitution),
                6.0 * G * step / speed);
      top = high;
    }
    bounces += now > 0.0 && before <= 0.0;
    high = now > 0.0 && before <= 0.0 ? 0.0 : high;
    before = now;
    REQUIRE(p.time < 5.0);
  }
  CHECK_EQUAL(p.status[0] & ~(uint32_t)ABUT_WORLD_OVERFLOW, 0);
  play_close(&p);
}

/* ---- a joint that hits its limit ---- */

/* A pendulum falls against its limit and stays there. */
static void test_limit(void)
{
  play p;
  play_open_text(
    &p, context, precision,
    "{\"contact_model\": \"lcp\", \"links\": [{\"mass\": 1, \"com\": [0.2, 0, 0], \"joint\": "
    "{\"type\": \"hinge\", \"axis\": [0, 1, 0], \"limits\": [-1, 0.5]}}]}",
    1);
  printf("a pendulum hits its limit\n");
  double beyond = 0.0;
  for (int i = 0; i < 300; ++i) {
    play_step(&p, 1);
    beyond = fmax(beyond, play_q(&p, 0, 0) - 0.5);
  }
  play_line("beyond its limit [rad]", beyond, either(1e-12, 1e-6));
  play_line("off it at the end [rad]", fabs(play_q(&p, 0, 0) - 0.5), either(1e-12, 1e-6));
  play_line("still turns [rad/s]", fabs(play_v(&p, 0, 0)), either(1e-12, 1e-5));
  play_close(&p);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  test_balls(1.0, 1.0);
  test_balls(3.0, 0.7);
  test_rest();
  test_stack();
  test_slope(0.0);
  test_slope(0.2);
  test_bounces();
  test_limit();
  return finish_context(context);
}
