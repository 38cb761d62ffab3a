/* How bodies move by springs at contacts, beside closed forms: test_spring_contacts PRECISION. On
 * the host path. */
#include "world/play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define G 9.81
#define PI 3.14159265358979323846

static abut_precision precision;
static abut_context context;

#define UPRIGHT "[1, 0, 0, 0]"
#define LYING "[0.70710678118654752, 0.70710678118654752, 0, 0]"

/* A round body, the axis about which it rolls along x, and k of its inertia k m r^2. */
typedef struct roller {
  const char *name, *body, *turn;
  double inertia;
  size_t axis;
  double sense;
} roller;

#define RADIUS 0.1

/* Opens a body on ground that slopes by so many degrees, down along x. */
static void open_on_slope(play *p, const char *ground, const char *body, const char *turn,
                          double height, double degrees, double friction)
{
  char text[1200];
  const double slope = degrees * PI / 180.0;
  snprintf(text, sizeof text,
           "{\"contact_model\": \"spring\", \"gravity\": [%.17g, 0, %.17g], \"links\": "
           "[{\"bodies\": [%s]}, {\"joint\": "
           "{\"type\": \"free\"}, \"position\": [0, 0, %g], \"quaternion\": %s, \"density\": 1000, "
           "\"bodies\": [%s]}], "
           "\"pairs\": [{\"a\": 1, \"b\": 0, \"friction\": %g, \"contact\": {\"k\": 1e5}}]}",
           G * sin(slope), -G * cos(slope), ground, height, turn, body, friction);
  play_open_text(p, context, precision, text, 1);
  CHECK(p->info.by_springs && !p->info.clouds && p->info.springs == 1 && p->info.contacts > 0);
}

/* A second from rest: a = g sin(slope) / (1 + k). On level ground a speed stays. */
static void test_rolling(const roller *r)
{
  char what[80];
  play p;
  for (int degrees = 4; degrees <= 10; degrees += 6) {
    open_on_slope(&p, "{\"plane\": [20, 20]}", r->body, r->turn, RADIUS, degrees, 0.8);
    play_for(&p, 1.0);
    const double way = 0.5 * G * sin(degrees * PI / 180.0) / (1.0 + r->inertia);
    CHECK_EQUAL(p.status[0], 0);
    snprintf(what, sizeof what, "a %s down %d degrees: off its way [share]", r->name, degrees);
    play_line(what, fabs(play_q(&p, 0, 0) / way - 1.0), 0.015);
    play_close(&p);
  }
  open_on_slope(&p, "{\"plane\": [20, 20]}", r->body, r->turn, RADIUS, 0.0, 0.8);
  play_set_v(&p, 0, 0, 1.0);
  play_set_v(&p, 0, r->axis, r->sense / RADIUS);
  play_for(&p, 1.0);
  snprintf(what, sizeof what, "a %s on level ground: speed that is lost [m/s]", r->name);
  play_line(what, fabs(play_v(&p, 0, 0) - 1.0), 0.002);
  play_close(&p);
}

/* A box without friction, on ground that begins at z = 0: neither slower nor turned nor lifted. */
static void test_sliding(const char *name, const char *ground)
{
  char what[80];
  play p;
  open_on_slope(&p, ground, "{\"box\": [0.05, 0.05, 0.05]}", UPRIGHT, 0.05, 0.0, 0.0);
  play_for(&p, 0.4);
  const double rest = play_q(&p, 0, 2);
  play_set_v(&p, 0, 0, 1.0);
  play_for(&p, 0.4);
  CHECK_EQUAL(p.status[0], 0);
  snprintf(what, sizeof what, "a box that slides on a %s: speed that is lost [m/s]", name);
  play_line(what, fabs(play_v(&p, 0, 0) - 1.0), 1e-3);
  play_line("  how far it is lifted [m]", fabs(play_q(&p, 0, 2) - rest), 1e-4);
  play_line("  how far it is turned",
            hypot(play_q(&p, 0, 4), hypot(play_q(&p, 0, 5), play_q(&p, 0, 6))), 1e-3);
  play_close(&p);
}

/* All corners are as deep as each other, so that the force is k s(-d), whatever the corners are
 * turned by. A box with its middle 6 mm within another's rim rests by two corners and by its edges
 * over the rim. */
static void test_rest(void)
{
  const double mass = 1.0, k = 1e5, depth = 2e-4 * log(expm1(mass * G / (k * 2e-4)));
  play p;
  open_on_slope(&p, "{\"plane\": [5, 5]}", "{\"box\": [0.05, 0.05, 0.05]}", "[0.96, 0, 0, 0.28]",
                0.05, 0.0, 0.5);
  play_for(&p, 2.0);
  CHECK_EQUAL(p.status[0], 0);
  play_line("a box at rest: depth besides the closed form's [m]",
            fabs(0.05 - play_q(&p, 0, 2) - depth), 2e-5);
  play_line("  its velocity [m/s]", play_fastest(&p, 0, false), 1e-5);
  play_close(&p);
  open_on_slope(&p, "{\"box\": [0.2, 0.2, 0.1], \"position\": [-0.194, 0, -0.1]}",
                "{\"box\": [0.05, 0.05, 0.05]}", UPRIGHT, 0.05, 0.0, 0.5);
  play_for(&p, 2.0);
  CHECK_EQUAL(p.status[0], 0);
  play_line("half a box over a rim: how far it sinks [m]", 0.05 - play_q(&p, 0, 2), 1e-3);
  play_line("  its velocity [m/s]", play_fastest(&p, 0, false), 1e-2);
  play_close(&p);
}

/* A ball of 4.2 kg on a plate of 1 mm, which is far thinner than what clouds could hold it on. */
static void test_plate(void)
{
  play p;
  open_on_slope(&p, "{\"box\": [0.3, 0.3, 0.0005], \"position\": [0, 0, -0.0005]}",
                "{\"sphere\": 0.1}", UPRIGHT, RADIUS, 0.0, 0.5);
  play_for(&p, 2.0);
  CHECK_EQUAL(p.status[0], 0);
  play_line("a ball on a plate of 1 mm: how far it sinks [m]", RADIUS - play_q(&p, 0, 2), 1e-3);
  play_close(&p);
}

/* The forces of all slots add up to what holds the body. */
static void test_forces(void)
{
  play p;
  open_on_slope(&p, "{\"plane\": [5, 5]}", "{\"box\": [0.05, 0.05, 0.05]}", UPRIGHT, 0.05, 0.0,
                0.5);
  play_for(&p, 2.0);
  const size_t size = precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float),
               slots = p.info.contacts;
  void *forces = calloc(3 * slots, size);
  REQUIRE(forces != NULL);
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = p.q;
  w.v = p.v;
  w.multipliers = forces;
  CHECK_OK(abut_step_worlds(p.scene, &w));
  double sum = 0.0, aside = 0.0;
  for (size_t i = 0; i < slots; ++i) {
    sum += real_at(forces, precision, 3 * i);
    aside = fmax(aside, hypot(real_at(forces, precision, 3 * i + 1),
                              real_at(forces, precision, 3 * i + 2)));
  }
  play_line("forces of a box's contacts besides its weight [N]", fabs(sum - G), 1e-2);
  play_line("  across [N]", aside, 1e-2);
  free(forces);
  play_close(&p);
}

/* ---- clouds or contacts ---- */

static bool has_clouds(const char *head, const char *ball, const char *contact)
{
  char text[800];
  play p;
  snprintf(text, sizeof text,
           "{\"contact_model\": \"spring\", %s\"links\": [{\"bodies\": [{\"plane\": [1, 1]}]}, "
           "{\"joint\": {\"type\": \"free\"}, "
           "\"mass\": 1, \"inertia\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"bodies\": [{\"sphere\": "
           "0.1%s}]}], \"pairs\": [{\"a\": 1, "
           "\"b\": 0, \"contact\": {%s}}]}",
           head, ball, contact);
  play_open_text(&p, context, precision, text, 1);
  const bool clouds = p.info.clouds;
  CHECK(p.info.by_springs);
  play_close(&p);
  return clouds;
}

static void test_choice(void)
{
  CHECK(!has_clouds("", "", ""));
  CHECK(!has_clouds("\"clouds\": false, ", ", \"eps1\": 1e-5", ""));
  CHECK(has_clouds("\"clouds\": true, ", "", ""));
  CHECK(has_clouds("", ", \"eps1\": 1e-5", ""));
  CHECK(has_clouds("\"integrator\": \"euler\", ", "", "\"reaction\": \"plane\""));
}

int main(int argc, char **argv)
{
  static const roller rollers[] = {{"ball", "{\"sphere\": 0.1}", UPRIGHT, 0.4, 4, 1.0},
                                   {"cylinder", "{\"cylinder\": [0.1, 0.15]}", LYING, 0.5, 5,
                                    -1.0}};
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = play_context(precision, 0);
  for (size_t i = 0; i < sizeof rollers / sizeof *rollers; ++i) {
    test_rolling(&rollers[i]);
  }
  test_sliding("plane", "{\"plane\": [5, 5]}");
  test_sliding("box", "{\"box\": [2, 0.3, 0.1], \"position\": [0, 0, -0.1]}");
  test_rest();
  test_plate();
  test_forces();
  test_choice();
  return finish_context(context);
}
