/* Worlds that come to rest, as bodies do: test_physics_rest PRECISION SCENES quick|full
 *
 * Each line of the table that is printed has its limit; quick ones are shorter, not wider. A full
 * one looks two fifths as long as with ABUT_TEST_ALL=1, which takes minutes. On the device of
 * ABUT_TEST_DEVICE, the host by default. With ABUT_SHARED, which names a folder beside the project,
 * also drops of larger bodies. */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_context context;
static abut_precision precision;
static const char *scenes;
static bool full;

static void open_scene(const char *name, size_t worlds, play *p)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", scenes, name);
  printf("%s, %s\n", name, precision == ABUT_FLOAT64 ? "float64" : "float32");
  play_open(p, context, precision, path, worlds);
}

/* How long is looked [s], of `most` and of what a quick one has. */
static double lasting(double most, double quick)
{
  return !full ? quick : getenv("ABUT_TEST_ALL") ? most : fmax(0.4 * most, quick);
}

/* In float32 three times what float64 may. */
static double wider(double limit)
{
  return precision == ABUT_FLOAT64 ? limit : 3.0 * limit;
}

/* ---- what is seen of links while time passes ---- */

enum { LINKS = 10 };

typedef struct watch {
  double from[LINKS][7]; /* poses when it began */
  double fastest, fastest_turn, drift, turned;
} watch;

static void begin_watch(const play *p, size_t world, watch *w)
{
  *w = (watch){.fastest = 0.0};
  for (size_t i = 0; i < p->info.nv / 6; ++i) {
    for (size_t k = 0; k < 7; ++k) {
      w->from[i][k] = play_q(p, world, 7 * i + k);
    }
  }
}

static void look(const play *p, size_t world, watch *w)
{
  w->fastest = fmax(w->fastest, play_fastest(p, world, false));
  w->fastest_turn = fmax(w->fastest_turn, play_fastest(p, world, true));
  for (size_t i = 0; i < p->info.nv / 6; ++i) {
    double square = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      const double x = play_q(p, world, 7 * i + k) - w->from[i][k];
      square += x * x;
    }
    w->drift = fmax(w->drift, sqrt(square));
    w->turned = fmax(w->turned, play_turned(p, world, i, &w->from[i][3]));
  }
}

/* Every 20 ms. */
static void watch_for(play *p, double seconds, watch *w)
{
  begin_watch(p, 0, w);
  for (const double end = p->time + seconds - 1e-9; p->time < end;) {
    play_for(p, 0.02);
    look(p, 0, w);
  }
}

static void report(const play *p, const watch *w)
{
  play_line("fastest after 0.5 s [m/s]", w->fastest, wider(1e-4));
  play_line("drifts [m]", w->drift, wider(1e-4));
  play_line("turns [rad]", w->turned, wider(1e-3));
  CHECK_EQUAL(p->status[0], 0);
}

/* How deep so many contacts, all alike, bear a lone box's weight, by docs/dev/cone-formulas.md,
 * section 8, with the defaults of a pair: g = contacts a d(r) / (1 - d(r)) K d(r) r, A the inverse
 * of the mass. */
static double depth_of_law(double contacts, double penetration)
{
  const double d0 = 0.9, d1 = 0.95, width = 1e-3, k = 1.0 / (d1 * 0.02 * d1 * 0.02);
  double low = 0.0, high = width;
  for (int i = 0; i < 100; ++i) {
    const double r = 0.5 * (low + high), x = r / width;
    const double d = d0 + (d1 - d0) * (x <= 0.5 ? 2.0 * x * x : 1.0 - 2.0 * (1.0 - x) * (1.0 - x));
    const double activity = 1.0 / (1.0 + exp(-r / penetration));
    *(contacts * activity * d / (1.0 - d) * k * d * r < 9.81 ? &low : &high) = r;
  }
  return low;
}

static void test_resting(const char *name, double height, double depth)
{
  play p;
  watch w;
  open_scene(name, 1, &p);
  play_for(&p, 0.5);
  watch_for(&p, lasting(9.5, 1.0), &w);
  report(&p, &w);
  play_line("depth off what is expected [share]", fabs((height - play_q(&p, 0, 2)) / depth - 1.0),
            wider(0.05));
  play_close(&p);
}

/* Bodies of shapes whose corners lie beside what holds them, or on its rim, with the smoothing that
 * is fitted: a plank across a table, an axle on rails, a pole on a box, a box and a cylinder on
 * their likes, a bar across one. */
static void test_held(void)
{
  enum { HELD = 6 };
  static const double rests[HELD] = {0.22, 0.13, 0.13, 0.2, 0.2, 0.2};
  play p;
  double fastest = 0.0, lowest = INFINITY, highest = -INFINITY;
  open_scene("held.scene.json", 1, &p);
  play_for(&p, 1.0);
  for (const double end = p.time + lasting(9.0, 0.5); p.time < end;) {
    play_for(&p, 0.1);
    for (size_t i = 0; i < HELD; ++i) { /* what is round tips onto a facet, and rocks */
      fastest = fmax(fastest, fabs(play_v(&p, 0, 6 * i + 2)));
      const double above = play_q(&p, 0, 7 * i + 2) - rests[i];
      lowest = fmin(lowest, above);
      highest = fmax(highest, above);
    }
  }
  play_line("sinks [m]", -lowest, 2e-3);
  play_line("is above where it may lie [m]", highest, 5e-5); /* a cylinder's ends are so much off */
  play_line("rises or falls after 1 s [m/s]", fastest, 3e-3);
  CHECK_EQUAL(p.status[0], 0);
  play_close(&p);
}

static void test_stack(void)
{
  play p;
  watch w;
  open_scene("stack.scene.json", 1, &p);
  play_for(&p, 0.5);
  watch_for(&p, lasting(9.5, 0.3), &w);
  report(&p, &w);
  play_close(&p);
}

/* Bars that cross, of which no vertex is near the other: at rest, and fallen on each other at 2
 * m/s. Face on face they come back to where they rest. Ridge on ridge is no place to stay for long:
 * sooner or later the upper one lies on a face, and rocks off the lower one's ridge. */
static void test_bars(const char *name, bool stays, double touch, double after, double bound)
{
  play p;
  watch w;
  double lowest = INFINITY;
  open_scene(name, 1, &p);
  play_for(&p, 0.5);
  watch_for(&p, stays ? lasting(9.5, 0.3) : 0.3, &w);
  report(&p, &w);
  play_line("sinks [m]", touch - play_q(&p, 0, 2), 3e-3);
  play_close(&p);
  open_scene(name, 1, &p);
  play_set_q(&p, 0, 2, touch);
  play_set_v(&p, 0, 2, -2.0);
  for (int i = 0; i < 50; ++i) {
    play_step(&p, 1);
    lowest = fmin(lowest, play_q(&p, 0, 2));
  }
  play_line("pushed in at 2 m/s [m]", touch - lowest, 0.03); /* half of a bar */
  play_for(&p, stays ? lasting(9.5, 1.5) : 1.5);
  play_line("below where it may lie later [m]", after - play_q(&p, 0, 2), bound);
  CHECK_EQUAL(p.status[0], 0);
  play_close(&p);
}

/* A bar of 10 mm across two others, whose points lie to one side of it: what keeps it from rolling
 * over these are the crossings of both its edges, of which the deeper one must not lose to the
 * nearer one. */
static void test_thin_bars(void)
{
  static const char text[] =
    "{\"links\": [{\"joint\": {\"type\": \"free\"}, \"mass\": 0.5, \"inertia\": [[0.001, 0, 0], "
    "[0, 0.002, 0], [0, 0, 0.002]], \"bodies\": [{\"box\": [0.15, 0.005, 0.005]}]}, "
    "{\"position\": [-0.1, 0, 0], \"bodies\": [{\"box\": [0.005, 0.15, 0.005]}]}, "
    "{\"position\": [0.1, 0, 0], \"bodies\": [{\"box\": [0.005, 0.15, 0.005]}]}], "
    "\"pairs\": [{\"a\": 1, \"b\": 0}, {\"a\": 2, \"b\": 0}]}";
  play p;
  watch w;
  printf("bars of 10 mm\n");
  play_open_text(&p, context, precision, text, 1);
  play_set_q(&p, 0, 1, 0.02);
  play_set_q(&p, 0, 2, 0.013);
  play_for(&p, 0.2);
  const double height = play_q(&p, 0, 2);
  play_for(&p, 2.3);
  watch_for(&p, 0.5, &w);
  play_line("below where it touches [m]", 0.01 - height, 1e-3);
  play_line("sinks from 0.2 s to 3 s [m]", height - play_q(&p, 0, 2), 1e-4);
  play_line("fastest after 2.5 s [m/s]", w.fastest, 1e-3);
  CHECK_EQUAL(p.status[0], 0);
  play_close(&p);
}

/* A bar across two rails by hard contacts, of which each crossing has about half of an activity:
 * all of them must hold. */
static void test_rails(void)
{
  static const double turned[2] = {1.0, 0.9998}; /* cosines of half the angle about the vertical */
  static const char text[] =
    "{\"contact_model\": \"lcp\", \"links\": [{\"joint\": {\"type\": \"free\"}, \"density\": 7800, "
    "\"bodies\": [{\"box\": [0.01, 0.3, 0.01]}]}, "
    "{\"position\": [0, -0.1, 0.1], \"bodies\": [{\"box\": [0.3, 0.01, 0.01]}]}, "
    "{\"position\": [0, 0.1, 0.1], \"bodies\": [{\"box\": [0.3, 0.01, 0.01]}]}], "
    "\"pairs\": [{\"a\": 1, \"b\": 0}, {\"a\": 2, \"b\": 0}]}";
  play p;
  printf("a bar on rails, hard contacts\n");
  play_open_text(&p, context, precision, text, 2);
  for (size_t i = 0; i < 2; ++i) {
    play_set_q(&p, i, 2, 0.1205);
    play_set_q(&p, i, 3, turned[i]);
    play_set_q(&p, i, 6, sqrt(1.0 - turned[i] * turned[i]));
  }
  play_for(&p, lasting(2.0, 1.2));
  for (size_t i = 0; i < 2; ++i) {
    play_line("off where it rests [m]", fabs(play_q(&p, i, 2) - 0.12), 1e-3);
    CHECK_EQUAL(p.status[i], 0);
  }
  play_close(&p);
}

enum { TEXT = 4096 };

/* The start of a scene: a floor, which is link 0, and `count` free links of one body each. Pairs
 * follow. */
static size_t write_links(char *text, int count, const char *word, double density)
{
  size_t at = (size_t)snprintf(text, TEXT, "{\"links\": [{\"bodies\": [{\"plane\": [3, 3]}]}");
  for (int i = 0; i < count; ++i) {
    at += (size_t)snprintf(text + at, TEXT - at,
                           ", {\"joint\": {\"type\": \"free\"}, \"density\": %g, "
                           "\"bodies\": [{%s}]}",
                           density, word);
  }
  return at + (size_t)snprintf(text + at, TEXT - at, "], \"pairs\": [");
}

/* Bodies of shapes that lie on each other, a little off the middle and turned: a pile stands where
 * its sides are stiff against turning, which grows with how many points they have. Lowest first:
 * height is that of one of them. */
static void test_pile(const char *word, double height)
{
  enum { PILE = 10 };
  const double seconds = lasting(5.0, 2.0);
  char text[TEXT];
  double leans = 0.0, moves = 0.0;
  uint64_t random = 3;
  size_t at = write_links(text, PILE, word, 500.0);
  for (int i = 0; i < PILE; ++i) {
    at += (size_t)snprintf(text + at, TEXT - at, "%s{\"a\": %d, \"b\": %d, \"friction\": 0.6}",
                           i ? ", " : "", i + 1, i);
  }
  snprintf(text + at, TEXT - at, "]}");
  play p;
  printf("a pile of %s\n", word);
  play_open_text(&p, context, precision, text, 1);
  for (size_t i = 0; i < PILE; ++i) {
    const double turn = 0.3 * (random_uniform(&random) - 0.5);
    play_set_q(&p, 0, 7 * i, 0.008 * (random_uniform(&random) - 0.5));
    play_set_q(&p, 0, 7 * i + 1, 0.008 * (random_uniform(&random) - 0.5));
    play_set_q(&p, 0, 7 * i + 2, height * ((double)i + 0.5) + 0.0005 * (double)i);
    play_set_q(&p, 0, 7 * i + 3, cos(turn));
    play_set_q(&p, 0, 7 * i + 6, sin(turn));
  }
  watch w;
  begin_watch(&p, 0, &w);
  play_for(&p, seconds);
  for (size_t i = 0; i < PILE; ++i) {
    const double x = play_q(&p, 0, 7 * i + 4), y = play_q(&p, 0, 7 * i + 5);
    leans = fmax(leans, 2.0 * sqrt(x * x + y * y));
    for (size_t k = 0; i < LINKS && k < 2; ++k) {
      moves = fmax(moves, fabs(play_q(&p, 0, 7 * i + k) - w.from[i][k]));
    }
  }
  play_line("leans [rad]", leans, 0.02);
  play_line("moves aside [m]", moves, 0.015);
  CHECK_EQUAL(p.status[0], 0);
  play_close(&p);
}

/* Four layers of two bars, each across the one below. */
static void test_layers(void)
{
  enum { LAYERS = 4 };
  char text[TEXT];
  size_t at = write_links(text, 2 * LAYERS, "\"box\": [0.15, 0.01, 0.01]", 700.0);
  at += (size_t)snprintf(text + at, TEXT - at, "{\"a\": 1, \"b\": 0}, {\"a\": 2, \"b\": 0}");
  for (int i = 2; i < 2 * LAYERS; ++i) {
    for (int below = i / 2 * 2 - 2; below < i / 2 * 2; ++below) {
      at += (size_t)snprintf(text + at, TEXT - at, ", {\"a\": %d, \"b\": %d}", i + 1, below + 1);
    }
  }
  snprintf(text + at, TEXT - at, "]}");
  play p;
  watch w;
  printf("layers of bars\n");
  play_open_text(&p, context, precision, text, 1);
  for (size_t i = 0; i < 2 * LAYERS; ++i) {
    const bool across = i / 2 % 2;
    play_set_q(&p, 0, 7 * i + (across ? 0 : 1), i % 2 ? 0.1 : -0.1);
    play_set_q(&p, 0, 7 * i + 2, 0.0102 + 0.0204 * (double)(i / 2));
    play_set_q(&p, 0, 7 * i + 3, across ? sqrt(0.5) : 1.0);
    play_set_q(&p, 0, 7 * i + 6, across ? sqrt(0.5) : 0.0);
  }
  play_for(&p, 1.0);
  watch_for(&p, lasting(2.0, 0.2), &w);
  play_line("sinks, of 20 mm a layer [m]",
            0.01 + 0.02 * (LAYERS - 1) - play_q(&p, 0, 7 * (2 * LAYERS - 1) + 2), 1.5e-3);
  report(&p, &w);
  play_close(&p);
}

/* A capsule across a box's rim, its middle 2 cm inside. With the fitted `tilt` it rolls 72 mm along
 * the rim in 3 s, as the rim's points are drawn a little to its ends (docs/limits.md). */
static void test_across_a_rim(void)
{
  static const char text[] = "{\"links\": [{\"joint\": {\"type\": \"free\"}, \"density\": 500, "
                             "\"bodies\": [{\"capsule\": [0.03, 0.1]}]}, "
                             "{\"bodies\": [{\"box\": [0.1, 0.1, 0.1]}]}], \"pairs\": [{\"a\": 0, "
                             "\"b\": 1, \"smoothing\": {\"tilt\": 0.002}}]}";
  play p;
  printf("a capsule across a rim\n");
  play_open_text(&p, context, precision, text, 1);
  play_set_q(&p, 0, 0, 0.08);
  play_set_q(&p, 0, 1, 0.02);
  play_set_q(&p, 0, 2, 0.1305);
  play_set_q(&p, 0, 3, sqrt(0.5));
  play_set_q(&p, 0, 5, sqrt(0.5));
  play_for(&p, lasting(10.0, 3.0));
  play_line("off its place [m]", fmax(fabs(play_q(&p, 0, 0) - 0.08), fabs(play_q(&p, 0, 1) - 0.02)),
            0.012);
  play_line("sinks [m]", 0.13 - play_q(&p, 0, 2), 2.5e-3);
  CHECK_EQUAL(p.status[0], 0);
  play_close(&p);
}

/* Tilted a little, from a table's height of 0.1 m; a second and a half after. */
static void test_drop(const char *shared, const char *body)
{
  enum { WORLDS = 4 };
  static const double tilts[WORLDS][2] = {{0, 0}, {0.2, 0}, {0, 0.2}, {-0.15, 0.1}};
  char text[2048];
  double fastest = 0.0, turning = 0.0, lowest = INFINITY;
  play p;
  snprintf(text, sizeof text,
           "{\"links\": [{\"position\": [0, 0, 0.1], \"joint\": {\"type\": \"free\"}, "
           "\"density\": 1000, \"bodies\": [{\"file\": \"%s/data/bodies/%s.body.json\"}]}, "
           "{\"bodies\": [{\"plane\": [1, 1]}]}], \"pairs\": [{\"a\": 0, \"b\": 1}]}",
           shared, body);
  printf("%s, dropped\n", body);
  play_open_text(&p, context, precision, text, full ? WORLDS : 2);
  for (size_t i = 0; i < p.worlds; ++i) {
    play_set_q(&p, i, 4, tilts[i][0]);
    play_set_q(&p, i, 5, tilts[i][1]);
  }
  play_for(&p, 1.5);
  for (const double end = lasting(5.0, 1.6); p.time < end;) {
    play_for(&p, 0.02);
    for (size_t i = 0; i < p.worlds; ++i) {
      fastest = fmax(fastest, play_fastest(&p, i, false));
      turning = fmax(turning, play_fastest(&p, i, true));
      lowest = fmin(lowest, play_q(&p, i, 2));
      CHECK_EQUAL(p.status[i], 0);
    }
  }
  play_line("fastest after 1.5 s [m/s]", fastest, 1e-3);
  play_line("turns after 1.5 s [rad/s]", turning, 1e-2);
  play_line("origin below the table [m]", -lowest, 0.01);
  play_close(&p);
}

static void test_drops(void)
{
  static const char *const bodies[] = {"drill", "airplane", "screwdriver"};
  const char *shared = getenv("ABUT_SHARED");
  for (int i = full ? 0 : 2; shared && *shared && i < 3; ++i) { /* the smallest is the quickest */
    test_drop(shared, bodies[i]);
  }
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 3);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  scenes = argv[2];
  full = !strcmp(argv[3], "full");
  context = require_context(precision);
  test_resting("resting-box.scene.json", 0.1, depth_of_law(4.0, 0.002)); /* on its corners */
  /* The fields of these are superquadrics. The depth is that of the reference's rollout. */
  test_resting("../../golden-dynamics/cone-boxes-resting/scene.json", 0.2, 0.1144e-3);
  test_stack();
  test_held();
  test_bars("crossed-bars.scene.json", false, 0.06 * sqrt(2.0), 0.03 + 0.03 * sqrt(2.0), 3e-3);
  test_bars("crossed-flat-bars.scene.json", true, 0.06, 0.06 - 0.34e-3, 1e-4);
  test_thin_bars();
  test_rails();
  test_pile("\"box\": [0.05, 0.05, 0.05]", 0.1);
  test_pile("\"cylinder\": [0.05, 0.05]", 0.1);
  test_pile("\"box\": [0.1, 0.05, 0.03]", 0.06);
  test_layers();
  test_across_a_rim();
  test_drops();
  return finish_context(context);
}
