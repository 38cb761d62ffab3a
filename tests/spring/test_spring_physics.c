/* How worlds of springs move: momentum of bodies that collide, a box at rest, one that slides until
 * it stops, and bodies of all words dropped on a plane: test_spring_physics PRECISION DROPS
 *
 * DROPS are those of each word. */
#include "world/play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G 9.81

static abut_context context;
static const char *clouds; /* "true" or "false" */
static abut_precision precision;

/* ---- momentum ---- */

/* Two balls whose inertia is the same about all axes, so that each step keeps the angular momentum,
 * too; they meet beside their centres and rub. */
static const char colliding[] =
  "{\"contact_model\": \"spring\", \"integrator\": \"%s\", \"timestep\": 0.001, \"gravity\": [0, "
  "0, 0], "
  "\"links\": [{\"mass\": 1.5, \"inertia\": [[0.004, 0, 0], [0, 0.004, 0], [0, 0, 0.004]], "
  "\"joint\": "
  "{\"type\": \"free\"}, \"bodies\": [{\"box\": [0.06, 0.06, 0.06]}]}, "
  "{\"mass\": 0.8, \"inertia\": [[0.002, 0, 0], [0, 0.002, 0], [0, 0, 0.002]], \"joint\": "
  "{\"type\": \"free\"}, \"position\": [0.02, 0.015, 0.1205], \"quaternion\": [0.95, 0.1, 0.2, "
  "0.1], "
  "\"bodies\": [{\"sphere\": 0.06}]}], "
  "\"pairs\": [{\"a\": 0, \"b\": 1, \"contact\": {\"k\": 3000, \"reaction\": \"%s\"}}]}";

typedef struct motion {
  double linear[3], angular[3];
} motion;

static motion motion_of(play *p)
{
  motion m = {{0.0}, {0.0}};
  play_weigh(p);
  for (size_t i = 0; i < 2; ++i) {
    const link_state s = play_link(p, 0, i);
    for (int k = 0; k < 3; ++k) {
      m.linear[k] += s.linear[k];
      m.angular[k] += s.angular[k];
    }
  }
  return m;
}

static double length_of(const double a[3], const double b[3])
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sqrt(sum);
}

/* What is lost, relative to a bullet's own momentum. */
static void collide(const char *integrator, const char *reaction, double *linear, double *angular)
{
  static const double fast[3] = {0.2, 0.1, -0.5}, spin[3] = {1.0, -2.0, 3.0};
  char text[1200];
  play p;
  snprintf(text, sizeof text, colliding, integrator, reaction);
  play_open_text(&p, context, precision, text, 1);
  for (size_t k = 0; k < 3; ++k) {
    play_set_v(&p, 0, 6 + k, fast[k]);
    play_set_v(&p, 0, 9 + k, spin[k]);
  }
  const motion before = motion_of(&p);
  play_step(&p, 60);
  const motion after = motion_of(&p);
  check(p.status[0] == 0 && play_v(&p, 0, 8) > -0.3, "%s: status %u, the ball at %g m/s",
        integrator, p.status[0], play_v(&p, 0, 8));
  *linear = length_of(before.linear, after.linear) / 0.44;
  *angular = length_of(before.angular, after.angular) / (0.44 * 0.12);
  play_close(&p);
}

static void test_momentum(void)
{
  static const char *const integrators[] = {"euler", "implicit"};
  const double limit = precision == ABUT_FLOAT64 ? 1e-13 : 2e-5;
  double linear, angular;
  for (int i = 0; i < 2; ++i) {
    collide(integrators[i], "point", &linear, &angular);
    play_line("momentum that is lost in a collision [share]", linear, limit);
    play_line("  angular momentum", angular, limit);
  }
  collide("euler", "plane", &linear, &angular);
  play_line("with reactions at planes' centres, momentum", linear, limit);
  printf("  angular momentum %g\n", angular);
  check(angular > 1e-3, "reactions at planes' centres lose %g of the angular momentum", angular);
}

/* ---- a box on a plane ---- */

static void open_box(play *p, double timestep)
{
  char text[800];
  snprintf(text, sizeof text,
           "{\"contact_model\": \"spring\", \"clouds\": true, \"timestep\": %g, \"links\": "
           "[{\"bodies\": [{\"plane\": [5, 5]}]}, "
           "{\"joint\": {\"type\": \"free\"}, \"mass\": 2, \"inertia\": [[0.01, 0, 0], [0, 0.01, "
           "0], [0, 0, "
           "0.01]], \"position\": [0, 0, 0.05], \"bodies\": [{\"box\": [0.2, 0.2, 0.05]}]}], "
           "\"pairs\": [{\"a\": 1, \"b\": 0}]}",
           timestep);
  play_open_text(p, context, precision, text, 1);
}

/* As deep as k s(-phi) = m g. */
static void test_rest(void)
{
  const double depth = 2e-4 * log(expm1(2.0 * G / (5000.0 * 2e-4)));
  play p;
  open_box(&p, 0.002);
  play_for(&p, 3.0);
  CHECK_EQUAL(p.status[0], 0);
  play_line("a box at rest: depth besides the closed form's [m]",
            fabs(0.05 - play_q(&p, 0, 2) - depth), precision == ABUT_FLOAT64 ? 1e-12 : 1e-7);
  play_line("  its velocity [m/s]", play_fastest(&p, 0, false),
            precision == ABUT_FLOAT64 ? 1e-12 : 1e-5);
  play_line("  the way it has gone aside [m]", hypot(play_q(&p, 0, 0), play_q(&p, 0, 1)),
            precision == ABUT_FLOAT64 ? 1e-12 : 1e-6);
  play_close(&p);
}

/* From v at friction mu: v^2 / (2 mu g), and what stiction adds: the integral of sqrt(v_s^2 + v^2);
 * less h v / 2, for steps go by their last velocity: 1 % at 2 ms, 4 % at 8 ms. */
static void test_slide(void)
{
  static const double steps[] = {0.002, 0.008}, limits[] = {1e-3, 2e-3};
  const double v = 1.0, v_s = 0.01,
               way = (v * hypot(v, v_s) + v_s * v_s * asinh(v / v_s)) / (2 * 0.5 * G);
  for (int i = 0; i < 2; ++i) {
    play p;
    open_box(&p, steps[i]);
    play_for(&p, 0.4); /* first it sinks in */
    play_set_v(&p, 0, 0, v);
    const double from = play_q(&p, 0, 0);
    play_for(&p, 1.0);
    CHECK_EQUAL(p.status[0], 0);
    const double gone = play_q(&p, 0, 0) - from;
    printf("a block of %g m/s, steps of %g ms: %.5g m, the closed form %.5g m\n", v, 1e3 * steps[i],
           gone, way);
    play_line("  off that of steps [share]", fabs(gone - way + 0.5 * steps[i] * v) / way,
              limits[i]);
    play_line("  and its velocity [m/s]", play_fastest(&p, 0, false), 1e-4);
    play_close(&p);
  }
}

/* ---- drops ---- */

static const char *const words[] = {"\"box\": [0.06, 0.05, 0.04]", "\"sphere\": 0.05",
                                    "\"capsule\": [0.03, 0.05]", "\"cylinder\": [0.05, 0.03]",
                                    "\"ellipsoid\": [0.06, 0.05, 0.04]"};

#define HIGH 0.12

static double energy(const play *p, size_t i)
{
  static const double gravity[3] = {0.0, 0.0, -G};
  return play_kinetic(p, i) + play_potential(p, i, gravity);
}

/* From any side, thrown a little; looked at every 20 ms. */
static void drop(const char *word, size_t count, uint64_t *random)
{
  char text[600];
  play p;
  double gain = 0.0, lowest = 1.0, *before = calloc(count, sizeof *before);
  size_t statuses = 0, beyond = 0;
  REQUIRE(before != NULL);
  snprintf(
    text, sizeof text,
    "{\"contact_model\": \"spring\", \"clouds\": %s, \"timestep\": 0.004, \"links\": [{\"bodies\": "
    "[{\"plane\": [5, 5]}]}, "
    "{\"joint\": {\"type\": \"free\"}, \"density\": 1000, \"position\": [0, 0, %g], \"bodies\": "
    "[{%s}]}], \"pairs\": [{\"a\": 1, \"b\": 0}]}",
    clouds, HIGH, word);
  play_open_text(&p, context, precision, text, count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < 6; ++k) {
      play_set_v(&p, i, k, (k < 3 ? 0.3 : 3.0) * random_normal(random));
      play_set_q(&p, i, 3 + k % 4, random_normal(random));
    }
  }
  for (int look = 0; look < 12; ++look) {
    play_weigh(&p);
    for (size_t i = 0; i < count; ++i) {
      const double fell = play_link(&p, i, 0).mass * G * HIGH, now = energy(&p, i);
      before[i] = look ? before[i] : now;
      gain = fmax(gain, (now - before[i]) / fell);
      lowest = fmin(lowest, play_q(&p, i, 2));
      beyond += !isfinite(now);
    }
    play_step(&p, 5);
  }
  for (size_t i = 0; i < count; ++i) {
    statuses += p.status[i] != 0;
  }
  printf("%zu drops of {%s}, clouds %s: lowest %.3g m\n", count, word, clouds, lowest);
  CHECK_EQUAL(statuses, 0);
  CHECK_EQUAL(beyond, 0);
  play_line("energy that is gained [share of the fall's]", gain, 0.01);
  check(lowest > 0.0 && lowest < 0.1, "the lowest centre is at %g m", lowest);
  free(before);
  play_close(&p);
}

/* Slender bodies by a word across each other: points of one lie within the width of the other. */
static void test_crossed(const char *word, bool lies)
{
  char text[1024];
  play p;
  const char *turned = lies ? "0.7071067811865476, 0.7071067811865476, 0, 0" : "1, 0, 0, 0";
  const char *across = lies ? "0.5, 0.5, 0.5, 0.5" : "0.7071067811865476, 0, 0, 0.7071067811865476";
  snprintf(text, sizeof text,
           "{\"contact_model\": \"spring\", \"clouds\": %s, \"links\": [{\"bodies\": [{%s, "
           "\"position\": [0.1, 0, 0], \"quaternion\": [%s]}, "
           "{%s, \"position\": [-0.1, 0, 0], \"quaternion\": [%s]}]}, {\"joint\": {\"type\": "
           "\"free\"}, \"density\": 700, "
           "\"bodies\": [{%s, \"quaternion\": [%s]}]}], "
           "\"pairs\": [{\"a\": 1, \"b\": [0, 0]}, {\"a\": 1, \"b\": [0, 1]}]}",
           clouds, word, turned, word, turned, word, across);
  printf("across each other: %s, clouds %s\n", word, clouds);
  play_open_text(&p, context, precision, text, 1);
  play_set_q(&p, 0, 2, 0.0205);
  play_for(&p, 1.0);
  play_line("sinks [m]", 0.02 - play_q(&p, 0, 2), 2e-3);
  CHECK_EQUAL(p.status[0], 0);
  play_close(&p);
}

int main(int argc, char **argv)
{
  uint64_t random = 5;
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  test_momentum();
  test_rest();
  test_slide();
  for (int contacts = 0; contacts < 2; ++contacts) {
    clouds = contacts ? "false" : "true";
    test_crossed("\"box\": [0.01, 0.15, 0.01]", false);
    test_crossed("\"cylinder\": [0.01, 0.15]", true);
    test_crossed("\"capsule\": [0.01, 0.14]", true);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
      drop(words[i], (size_t)atoi(argv[2]), &random);
    }
  }
  return finish_context(context);
}
