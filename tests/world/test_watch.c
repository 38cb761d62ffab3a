/* What worlds and scenes say of steps that are too long, and of springs that are too soft:
 * test_watch PRECISION */
#include "play.h"

#include <math.h>
#include <string.h>

static abut_context context;
static abut_precision precision;

/* ---- too fast ---- */

/* A ball flies at a plate of two metres, or beside it; the status of all steps until it is as far
 * behind. */
static uint32_t flight(const char *law, double half, double speed, double aside)
{
  char text[1024];
  play p;
  const double away = 0.3 + half;
  snprintf(
    text, sizeof text,
    "{\"contact_model\": \"%s\", \"gravity\": [0, 0, 0], \"links\": [{\"bodies\": [{\"box\": [1, "
    "1, %g]}]}, "
    "{\"position\": [%g, 0, %g], \"joint\": {\"type\": \"free\"}, \"density\": 1000, \"bodies\": "
    "[{\"sphere\": 0.05}]}], \"pairs\": [{\"a\": 1, \"b\": 0}]}",
    law, half, aside, away);
  play_open_text(&p, context, precision, text, 1);
  play_set_v(&p, 0, 2, -speed);
  play_for(&p, 2.0 * away / speed);
  const uint32_t status = p.status[0];
  const bool fast = status & ABUT_WORLD_FAST; /* then it is the ball's, of link 1, and the
                                                 plate's, of link 0 */
  CHECK_EQUAL(p.fast_links[0], fast ? 2 : 0);
  CHECK_EQUAL(p.fast_links[1], fast ? 1 : 0);
  play_close(&p);
  return status;
}

static void test_fast(const char *law)
{
  CHECK(flight(law, 0.005, 20.0, 0.0) & ABUT_WORLD_FAST);
  CHECK(flight(law, 0.005, 2.6, 0.0) & ABUT_WORLD_FAST); /* 5.2 mm a step */
  CHECK_EQUAL(flight(law, 0.005, 2.4, 0.0) & ABUT_WORLD_FAST, 0);
  CHECK_EQUAL(flight(law, 0.1, 20.0, 0.0) & ABUT_WORLD_FAST, 0);
  CHECK_EQUAL(flight(law, 0.005, 20.0, 3.0) & ABUT_WORLD_FAST, 0);
}

/* A thin body does not fall through a plane. */
static void test_plane(const char *law)
{
  char text[1024];
  play p;
  snprintf(text, sizeof text,
           "{\"contact_model\": \"%s\", \"links\": [{\"bodies\": [{\"plane\": [1, 1]}]}, "
           "{\"position\": [0, 0, 0.05], "
           "\"joint\": {\"type\": \"free\"}, \"density\": 1000, \"bodies\": [{\"cylinder\": [0.05, "
           "0.004]}]}], "
           "\"pairs\": [{\"a\": 1, \"b\": 0}]}",
           law);
  play_open_text(&p, context, precision, text, 1);
  play_set_v(&p, 0, 2, -3.0);
  play_for(&p, 0.1);
  CHECK_EQUAL(p.status[0] & ABUT_WORLD_FAST, 0);
  play_close(&p);
}

/* A rod on a hinge at its middle, which turns at `speed` towards a plate of 2 half over its end. */
static void open_rod(play *p, const char *law, double half, double turned, double speed)
{
  char text[1024];
  snprintf(text, sizeof text,
           "{\"contact_model\": \"%s\", \"gravity\": [0, 0, 0], \"links\": [{\"density\": 1000, "
           "\"joint\": {\"type\": "
           "\"hinge\", \"axis\": [0, 1, 0]}, \"bodies\": [{\"box\": [0.5, 0.01, 0.01]}]}, "
           "{\"position\": [0.4, 0, 0.2], "
           "\"quaternion\": [%g, 0, 0, %g], \"bodies\": [{\"box\": [0.08, 0.05, %g]}]}], "
           "\"pairs\": [{\"a\": 0, \"b\": 1}]}",
           law, cos(0.5 * turned), sin(0.5 * turned), half);
  play_open_text(p, context, precision, text, 1);
  play_set_v(p, 0, 0, -speed);
}

/* It is 0.4 m from the hinge to the middle of the plate. */
static void test_turning(const char *law)
{
  static const struct {
    double speed;
    bool fast;
  } of[] = {{5.0, false}, {15.0, true}, {60.0, true}}; /* 4, 12 and 48 mm a step, of 5 */
  for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
    play p;
    open_rod(&p, law, 0.005, 0.1, of[i].speed);
    play_for(&p, 1.2 / of[i].speed);
    CHECK_EQUAL((p.status[0] & ABUT_WORLD_FAST) != 0, of[i].fast);
    play_close(&p);
  }
}

/* ---- energy from nowhere ---- */

/* The hinge is at the rod's centre of mass, whose inverse weight is 0: no contact of it is so stiff
 * that it throws the rod, as one along which its point hardly moves was. */
static void test_thrown(void)
{
  for (int i = 0; i < 4; ++i) {
    play p;
    open_rod(&p, "cone", i % 2 ? 0.0025 : 0.03, i / 2 ? 0.11 : 0.0, 5.0);
    double fastest = 0.0;
    for (int k = 0; k < 300; ++k) {
      play_step(&p, 1);
      fastest = fmax(fastest, fabs(play_v(&p, 0, 0)));
    }
    check(fastest <= 5.0 * (1.0 + 1e-6), "thrown %d turns at %g rad/s", i, fastest);
    CHECK_EQUAL((p.status[0] & ABUT_WORLD_FAST) != 0, i % 2); /* 4 mm a step */
    play_close(&p);
  }
}

/* A box of 4 kg falls from 5 cm onto a plane, by springs of stiffness k. */
static uint32_t drop(const char *integrator, double step, double k)
{
  char text[1024];
  play p;
  snprintf(text, sizeof text,
           "{\"contact_model\": \"spring\", \"integrator\": \"%s\", \"timestep\": %g, "
           "\"divergence\": 1e30, \"links\": "
           "[{\"bodies\": [{\"plane\": [1, 1]}]}, {\"position\": [0, 0, 0.15], \"joint\": "
           "{\"type\": \"free\"}, "
           "\"density\": 500, \"bodies\": [{\"box\": [0.1, 0.1, 0.1]}]}], \"pairs\": [{\"a\": 1, "
           "\"b\": 0, "
           "\"contact\": {\"k\": %g}}]}",
           integrator, step, k);
  play_open_text(&p, context, precision, text, 1);
  play_for(&p, 0.4);
  const uint32_t status = p.status[0];
  play_close(&p);
  return status;
}

static void test_gained(void)
{
  CHECK_EQUAL(drop("implicit", 0.002, 5e3), 0);
  CHECK_EQUAL(drop("implicit", 0.008, 1e5), 0);
  CHECK_EQUAL(drop("euler", 0.0002, 5e3), 0);
  CHECK(drop("euler", 0.008, 1e6) & ABUT_WORLD_GAINED);
}

/* ---- too soft ---- */

static abut_scene_info stack(const char *law, int boxes, double k)
{
  char text[4096];
  size_t length = (size_t)snprintf(text, sizeof text,
                                   "{\"contact_model\": \"%s\", \"links\": [{\"bodies\": "
                                   "[{\"plane\": [1, 1]}]}",
                                   law);
  for (int i = 0; i < boxes; ++i) {
    length += (size_t)
      snprintf(text + length, sizeof text - length,
               ", {\"position\": [0, 0, %g], \"joint\": {\"type\": \"free\"}, \"density\": 500, "
               "\"bodies\": [{\"box\": [0.1, 0.1, 0.1]}]}",
               0.1 + 0.2 * i);
  }
  length += (size_t)snprintf(text + length, sizeof text - length, "], \"pairs\": [");
  for (int i = 0; i < boxes; ++i) {
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "%s{\"a\": %d, \"b\": %d, \"contact\": {\"k\": %.17g}}",
                               i ? ", " : "", i + 1, i, k);
  }
  snprintf(text + length, sizeof text - length, "]}");
  play p;
  play_open_text(&p, context, precision, text, 1);
  const abut_scene_info info = p.info;
  play_close(&p);
  return info;
}

/* m g / k of ten boxes of 4 kg is 78 mm, of a box of 346 mm from corner to corner; all of ten pairs
 * give way by more than 1 % of that. */
static void test_sinking(void)
{
  const double size = 0.2 * sqrt(3.0), force = 40.0 * 9.81;
  abut_scene_info info = stack("spring", 10, 5000.0);
  CHECK(fabs(info.sinking - force / 5000.0) < 1e-9);
  /* its cloud's box */
  CHECK(fabs(info.sinking_share - force / 5000.0 / size) < 0.02 * info.sinking_share);
  CHECK_EQUAL(info.sinking_pair, 0);
  CHECK_EQUAL(info.sinking_pairs, 10);
  info = stack("spring", 10, info.sinking_k);
  CHECK(fabs(info.sinking_share - 0.01) < 1e-9);
  info = stack("spring", 1, 5000.0);
  CHECK(fabs(info.sinking - 0.1 * force / 5000.0) < 1e-9);
  CHECK(stack("cone", 10, 5000.0).sinking <= 0.0);
}

int main(int argc, char **argv)
{
  static const char *const laws[] = {"cone", "lcp", "spring"};
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  context = require_context(precision);
  for (int i = 0; i < 3; ++i) {
    test_fast(laws[i]);
    test_plane(laws[i]);
    test_turning(laws[i]);
  }
  test_gained();
  test_thrown();
  test_sinking();
  return finish_context(context);
}
