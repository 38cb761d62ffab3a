/* Equality constraints and tendons against closed forms: test_equalities PRECISION. On the device
 * of ABUT_TEST_DEVICE, the host by default. */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 32768, WORLDS = 5 };

#define SOLID "\"mass\": 2, \"inertia\": [[0.02, 0, 0], [0, 0.03, 0], [0, 0, 0.04]]"
#define FREE "{\"position\": [0.3, -0.2, 1], \"joint\": {\"type\": \"free\"}, " SOLID "}"
#define SLIDE "{\"joint\": {\"type\": \"slide\", \"axis\": [1, 0, 0]}, " SOLID "}"
/* One impedance at all depths, so that the law is linear. */
#define SOFT "\"solref\": [0.1, 1], \"solimp\": [0.9, 0.9, 0.001, 0.5, 2]"
#define IMPEDANCE 0.9
#define STIFFNESS (1.0 / (0.09 * 0.09)) /* 1 / (d T)^2 */
#define DAMPING (2.0 / 0.09)

static abut_context context;
static abut_precision precision;

static double near(double f64, double f32)
{
  return precision == ABUT_FLOAT64 ? f64 : f32;
}

static void open_text(play *p, const char *settings, const char *links, const char *more)
{
  static char text[ROOM];
  snprintf(text, sizeof text, "{%s \"links\": [%s], %s, \"pairs\": []}", settings, links, more);
  play_open_text(p, context, precision, text, WORLDS);
}

static void check_near(const char *what, double got, double wanted, double most)
{
  check(fabs(got - wanted) <= most, "%s is %.12g, not %.12g", what, got, wanted);
}

/* At rest the rows carry the weight: (1 + ratio) K d r = g, with R / A = (1 - d) / d. */
static void hangs(const char *law, const char *equality)
{
  play p;
  char settings[64], more[256];
  snprintf(settings, sizeof settings, "\"contact_model\": \"%s\",", law);
  snprintf(more, sizeof more, "\"equalities\": [{%s, " SOFT "}]", equality);
  open_text(&p, settings, FREE, more);
  play_for(&p, 4.0);
  for (size_t world = 0; world < WORLDS; ++world) {
    const double sag = 9.81 * (1.0 - IMPEDANCE) / (STIFFNESS * IMPEDANCE * IMPEDANCE);
    check_near(equality, play_q(&p, world, 2), 1.0 - sag, near(1e-9, 1e-5));
    check_near(equality, play_q(&p, world, 0), 0.3, near(1e-9, 1e-5));
    check_near("speed", play_v(&p, world, 2), 0.0, near(1e-9, 1e-5));
    CHECK(p.status[world] == 0);
  }
  play_close(&p);
}

/* Two slides, x of mass 2 and y of mass 2, with r = x - p(y): M a = J' D (ref - J a). */
static void follows(void)
{
  static const double poly[3] = {0.1, 0.6, -0.4};
  const double x = 0.2, y = 0.3, u = -0.5, w = 0.7, h = 0.002;
  const double slope = poly[1] + 2.0 * poly[2] * y, r = x - poly[0] - poly[1] * y - poly[2] * y * y;
  const double weight = 0.5 + 0.5, stiff = IMPEDANCE / ((1.0 - IMPEDANCE) * weight);
  const double ref = -DAMPING * (u - slope * w) - STIFFNESS * IMPEDANCE * r;
  const double j_m_j = 0.5 + 0.5 * slope * slope;
  const double force = stiff * ref / (1.0 + stiff * j_m_j);
  play p;
  open_text(&p, "", SLIDE "," SLIDE,
            "\"equalities\": [{\"kind\": \"joint\", \"a\": 0, \"b\": 1, \"polynomial\": [0.1, 0.6, "
            "-0.4, 0, 0], " SOFT "}]");
  for (size_t world = 0; world < WORLDS; ++world) {
    play_set_q(&p, world, 0, x);
    play_set_q(&p, world, 1, y);
    play_set_v(&p, world, 0, u);
    play_set_v(&p, world, 1, w);
  }
  play_step(&p, 1);
  for (size_t world = 0; world < WORLDS; ++world) {
    check_near("the first joint's speed", play_v(&p, world, 0), u + h * 0.5 * force,
               near(1e-14, 1e-6));
    check_near("the second joint's speed", play_v(&p, world, 1), w - h * 0.5 * slope * force,
               near(1e-14, 1e-6));
  }
  play_close(&p);
}

/* A tendon of two slides of mass 2: its spring pulls where it is longer than 0.1, its damper
 * always, and its actuator by u. */
static void pulls(double x, double stretch)
{
  const double h = 0.002, u = 0.4, rate = 1.5 * u;
  play p;
  open_text(&p, "", SLIDE "," SLIDE,
            "\"tendons\": [{\"joints\": [{\"joint\": 0, \"coefficient\": 1.5}, {\"joint\": 1, "
            "\"coefficient\": -2}], \"stiffness\": 30, \"damping\": 4, \"rest\": [-0.2, 0.1]}]");
  play_set_q(&p, 0, 0, x);
  play_set_v(&p, 0, 0, u);
  play_step(&p, 1);
  const double force = -30.0 * stretch - 4.0 * rate;
  check_near("the pulled joint's speed", play_v(&p, 0, 0), u + h * 1.5 * force / 2.0,
             near(1e-14, 1e-6));
  check_near("the other joint's speed", play_v(&p, 0, 1), -h * 2.0 * force / 2.0,
             near(1e-14, 1e-6));
  play_close(&p);
}

/* What a step tells: M a = f - c + constraint, with the equality's force, and `smooth` without. */
static void tells(void)
{
  enum { NV = 12 };
  static double q[14], v[NV], a[NV], smooth[NV], constraint[NV];
  play p;
  if (precision != ABUT_FLOAT64) {
    return;
  }
  open_text(&p, "", FREE "," FREE, "\"equalities\": [{\"kind\": \"weld\", \"a\": 0, \"b\": 1}]");
  for (size_t i = 0; i < 14; ++i) {
    q[i] = play_q(&p, 0, i) + (i == 7 ? 0.05 : 0.0);
  }
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = q;
  w.v = v;
  w.acceleration = a;
  w.smooth = smooth;
  w.constraint = constraint;
  REQUIRE_OK(abut_step_worlds(p.scene, &w));
  for (size_t i = 0; i < NV; ++i) {
    const double mass = i % 6 < 3 ? 2.0 : 0.01 * (double)(i % 6 - 1);
    check_near("smooth", smooth[i], i % 6 == 2 ? -9.81 : 0.0, 1e-13);
    check_near("constraint", constraint[i], mass * (a[i] - smooth[i]), 1e-9);
  }
  CHECK(constraint[0] > 1.0 && fabs(constraint[0] + constraint[6]) < 1e-9);
  play_close(&p);
}

/* Wheels that turn about their centres of mass have inverse weights of 0; the rows' own stand in
 * for them. Two that are joined at their rims begin to turn against each other as that allows. */
static void turns_wheels(const char *law, const char *damping)
{
  char links[512], settings[64];
  play p;
  snprintf(settings, sizeof settings, "\"contact_model\": \"%s\",", law);
  snprintf(links, sizeof links,
           "{\"joint\": {\"type\": \"hinge\"%s}, " SOLID
           "}, {\"position\": [0.2, 0, 0], \"joint\": {\"type\": \"hinge\"%s}, " SOLID "}",
           damping, damping);
  open_text(&p, settings, links,
            "\"equalities\": [{\"kind\": \"connect\", \"a\": 0, \"b\": 1, \"position_a\": [0.1, 0, "
            "0], " SOFT "}]");
  play_set_v(&p, 0, 0, 0.5);
  play_set_v(&p, 0, 1, -0.5);
  play_step(&p, 50);
  CHECK(p.status[0] == 0);
  for (size_t i = 0; i < 2; ++i) {
    const double speed = fabs(play_v(&p, 0, i));
    check(speed > 0.4 && speed < 0.5 + near(1e-12, 1e-6), "a wheel turns by %.9g", speed);
  }
  check_near("the wheels' speeds together", play_v(&p, 0, 0) + play_v(&p, 0, 1), 0.0,
             near(1e-10, 1e-5));
  play_close(&p);
}

/* A tendon's spring has the energy of a joint's that does the same. */
static void keeps_energy(void)
{
  static const char *const links[2] = {
    "{\"joint\": {\"type\": \"slide\", \"stiffness\": 50}, " SOLID "}",
    "{\"joint\": {\"type\": \"slide\"}, " SOLID "}"};
  static double q[WORLDS] = {0.3, -0.2, 0.1, 0.0, 0.5}, v[WORLDS] = {1.0};
  double energy[2][2 * WORLDS];
  if (precision != ABUT_FLOAT64) {
    return;
  }
  for (int i = 0; i < 2; ++i) {
    play p;
    open_text(
      &p, "\"gravity\": [0, 0, 0],", links[i],
      i ? "\"tendons\": [{\"joints\": [{\"joint\": 0, \"coefficient\": 0.5}], \"stiffness\": "
          "200}]"
        : "\"actuators\": []");
    abut_worlds w = abut_default_worlds();
    w.count = WORLDS;
    w.q = q;
    w.v = v;
    w.energy = energy[i];
    REQUIRE_OK(abut_step_worlds(p.scene, &w));
    play_close(&p);
  }
  for (int i = 0; i < WORLDS; ++i) {
    check_near("a tendon's energy", energy[1][2 * i + 1], 25.0 * q[i] * q[i], 1e-14);
    check_near("a joint's energy", energy[0][2 * i + 1], 25.0 * q[i] * q[i], 1e-14);
  }
}

/* Trees that equalities join count as one, whose degrees of freedom are bounded. */
static void refuses_large(void)
{
  static char text[ROOM];
  char path[64];
  abut_scene scene;
  size_t at = (size_t)snprintf(text, sizeof text, "{\"links\": [" FREE);
  for (int i = 1; i < 22; ++i) {
    at += (size_t)snprintf(text + at, sizeof text - at, ", " FREE);
  }
  at += (size_t)snprintf(text + at, sizeof text - at, "], \"equalities\": [");
  for (int i = 1; i < 22; ++i) {
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "%s{\"kind\": \"connect\", \"a\": %d, \"b\": %d}", i > 1 ? ", " : "",
                           i - 1, i);
  }
  snprintf(text + at, sizeof text - at, "], \"pairs\": []}");
  snprintf(path, sizeof path, "chain-%ld.scene.json", (long)getpid());
  FILE *file = fopen(path, "w");
  REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
  CHECK_EQUAL(abut_load_scene(context, path, &scene), ABUT_ERROR_FORMAT);
  check(strstr(abut_last_error(), "links[21]: ") && strstr(abut_last_error(), "more than 128"),
        "%s", abut_last_error());
  remove(path);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f32") ? ABUT_FLOAT64 : ABUT_FLOAT32;
  context = play_context(precision, 0);
  for (int i = 0; i < 2; ++i) {
    const char *law = i ? "lcp" : "cone";
    hangs(law, "\"kind\": \"connect\", \"a\": 0");
    hangs(law, "\"kind\": \"weld\", \"a\": 0");
    turns_wheels(law, "");
    turns_wheels(law, ", \"damping\": 0.001");
  }
  follows();
  pulls(0.04, 0.0);
  pulls(0.2, 0.2);
  pulls(-0.4, -0.4);
  tells();
  keeps_energy();
  refuses_large();
  return finish_context(context);
}
