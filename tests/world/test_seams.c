/* Seams of flush bodies that are fixed to one another: boxes slide over them as over one body,
 * without friction and at the same speed, turn and height; at the end of tables they fall, and
 * where a table is higher they are stopped.
 *   test_seams PRECISION [LAW] */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTLE 0.5
#define SLIDE 0.3
#define TURN 0.3
#define HALF 0.05 /* of the box that slides */
#define BEGIN (-0.1)

enum { SPEEDS = 3, WORLDS = 2 * SPEEDS, TEXT = 1 << 14 };
static const double speeds[SPEEDS] = {0.3, 0.8, 1.0};

static abut_context context;
static abut_precision precision;
static const char *law = "cone";

#define TABLE(x, y, hx, hy) \
  "{\"position\": [" x ", " y ", -0.1], \"bodies\": [{\"box\": [" hx ", " hy ", 0.1]}]}"

/* Grounds whose top is z = 0, with a seam at x = 0. */
static const struct ground {
  const char *name, *links; /* as JSON */
  size_t count;
  double y; /* where the box slides */
} grounds[] = {
  {"one table", TABLE("0", "0", "1", "0.3"), 1, 0.0},
  {"two tables", TABLE("-0.5", "0", "0.5", "0.3") ", " TABLE("0.5", "0", "0.5", "0.3"), 2, 0.0},
  {"four tables",
   TABLE("-0.5", "0.3", "0.5", "0.3") ", " TABLE("0.5", "0.3", "0.5", "0.3") ", " TABLE(
     "-0.5", "-0.3", "0.5", "0.3") ", " TABLE("0.5", "-0.3", "0.5", "0.3"),
   4, 0.013},
  {"three tables",
   TABLE("-0.5", "0", "0.5", "0.6") ", " TABLE("0.5", "0.3", "0.5", "0.3") ", " TABLE("0.5", "-0.3",
                                                                                      "0.5", "0.3"),
   3, 0.013},
  {"a narrower table", TABLE("-0.5", "0", "0.5", "0.3") ", " TABLE("0.5", "0", "0.5", "0.2"), 2,
   0.0},
  {"a thinner table",
   TABLE("-0.5", "0", "0.5",
         "0.3") ", {\"position\": [0.5, 0, -0.03], \"bodies\": [{\"box\": [0.5, 0.3, 0.03]}]}",
   2, 0.0},
  {"meshes",
   "{\"position\": [-0.5, 0, -0.1], \"bodies\": [{\"file\": \"seams.obj\"}]}, "
   "{\"position\": [0.5, 0, -0.1], \"bodies\": [{\"file\": \"seams.obj\"}]}",
   2, 0.0},
  {"a height field",
   TABLE(
     "-0.5", "0", "0.5",
     "0.3") ", {\"position\": [0.5, 0, 0], \"bodies\": [{\"height_field\": {\"size\": [0.5, 0.3], "
            "\"base\": 0.2, \"heights\": [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0], [0, 0, 0, "
            "0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0]]}}]}",
   2, 0.0},
  {"links of a link",
   "{\"position\": [0, 0, -0.1]}, {\"parent\": 0, \"position\": [0.5, 0, 0], \"bodies\": "
   "[{\"box\": [0.5, 0.3, 0.1]}]}, "
   "{\"parent\": 0, \"position\": [-0.5, 0, 0], \"quaternion\": [0, 1, 0, 0], \"bodies\": "
   "[{\"box\": [0.5, 0.3, 0.1]}]}",
   3, 0.0},
};

/* The mesh's file is this process's own, since tests of other laws run beside it: "seams.obj"
 * stands for it. */
static char mesh_name[] = "seams.obj";

static void write_mesh(void)
{
  snprintf(mesh_name, sizeof mesh_name, "%05u.obj", (unsigned)getpid() % 100000u);
  static const int faces[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5},
                                  {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
  FILE *f = fopen(mesh_name, "w");
  REQUIRE(f);
  for (int i = 0; i < 8; ++i) {
    fprintf(f, "v %g %g %g\n", i & 1 ? 0.5 : -0.5, i & 2 ? 0.3 : -0.3, i & 4 ? 0.1 : -0.1);
  }
  for (int i = 0; i < 6; ++i) {
    fprintf(f, "f %d %d %d %d\n", faces[i][0], faces[i][1], faces[i][2], faces[i][3]);
  }
  REQUIRE(fclose(f) == 0);
}

/* What slides: its half height, and as JSON what else its link has. */
typedef struct slider {
  const char *name, *body;
  double half;
} slider;

static const slider box = {"a box", "\"bodies\": [{\"box\": [0.05, 0.05, 0.05]}]", HALF};
static const slider *slides = &box;

/* Bodies that touch with round features, whose middles lie high above the seam. */
static const slider round_bodies[] = {
  {"a ball", "\"bodies\": [{\"sphere\": 0.05}]", 0.05},
  {"a capsule across", "\"bodies\": [{\"capsule\": [0.03, 0.06], \"quaternion\": [1, 1, 0, 0]}]",
   0.03},
  {"a capsule along", "\"bodies\": [{\"capsule\": [0.03, 0.06], \"quaternion\": [1, 0, 1, 0]}]",
   0.03},
  {"an upright cylinder", "\"bodies\": [{\"cylinder\": [0.05, 0.04]}]", 0.04},
  {"a lying cylinder", "\"bodies\": [{\"cylinder\": [0.05, 0.04], \"quaternion\": [1, 1, 0, 0]}]",
   0.05},
};

/* Opens worlds of what slides on these links, whose pairs with all of their bodies are
 * automatic. */
static void open_worlds(const char *links, size_t worlds, const char *friction, play *p)
{
  char *text = malloc(TEXT);
  REQUIRE(text);
  const int written = snprintf(text, TEXT,
                               "{\"contact_model\": \"%s\", \"links\": [%s, {\"joint\": {\"type\": "
                               "\"free\"}, \"position\": [-0.5, 0, %g], "
                               "\"density\": 1000, %s}], \"automatic\": {\"friction\": %s}}",
                               law, links, slides->half, slides->body, friction);
  REQUIRE(written > 0 && written < TEXT);
  for (char *at = text; (at = strstr(at, "seams.obj")) != NULL;) {
    memcpy(at, mesh_name, sizeof mesh_name - 1);
  }
  play_open_text(p, context, precision, text, worlds);
  free(text);
}

/* Lays the boxes down before the seam, half of them turned. Returns how high they lie. */
static double lay_down(play *p, double y)
{
  play_for(p, SETTLE);
  const double height = play_q(p, 0, 2);
  for (size_t i = 0; i < p->worlds; ++i) {
    const double turn = i < SPEEDS ? 0.0 : TURN;
    const double q[7] = {BEGIN, y, height, cos(0.5 * turn), 0.0, 0.0, sin(0.5 * turn)};
    for (size_t k = 0; k < 7; ++k) {
      play_set_q(p, i, k, q[k]);
    }
    for (size_t k = 0; k < 6; ++k) {
      play_set_v(p, i, k, k ? 0.0 : speeds[i % SPEEDS]);
    }
  }
  return height;
}

static void test_slides(const struct ground *g)
{
  double slower = 0.0, turned = 0.0, lifted = 0.0, off = 0.0;
  play p;
  printf("%s on %s, by %s, %s\n", slides->name, g->name, law,
         precision == ABUT_FLOAT64 ? "float64" : "float32");
  open_worlds(g->links, WORLDS, "0", &p);
  const double height = lay_down(&p, g->y), begin = p.time;
  for (int part = 0; part < 20; ++part) {
    play_for(&p, SLIDE / 20.0);
    for (size_t i = 0; i < WORLDS; ++i) {
      lifted = fmax(lifted, fabs(play_q(&p, i, 2) - height));
    }
  }
  for (size_t i = 0; i < WORLDS; ++i) {
    const double turn = i < SPEEDS ? 0.0 : TURN, speed = speeds[i % SPEEDS];
    slower = fmax(slower, fabs(play_v(&p, i, 0) / speed - 1.0));
    off = fmax(off, fabs((play_q(&p, i, 0) - BEGIN) / (speed * (p.time - begin)) - 1.0));
    turned = fmax(turned, fabs(2.0 * atan2(play_q(&p, i, 6), play_q(&p, i, 3)) - turn));
    CHECK(!p.status[i]);
  }
  play_line("speed over the seam, off that before [share]", slower, 0.005);
  play_line("the way [share]", off, 0.005);
  play_line("turned [rad]", turned, 0.004);
  play_line("lifted or sunk [m]", lifted, 3e-5);
  play_close(&p);
}

static void test_round_bodies(void)
{
  for (size_t i = 0; i < sizeof round_bodies / sizeof *round_bodies; ++i) {
    slides = &round_bodies[i];
    if (!usual_share()) {
      test_slides(&grounds[1]);
    }
    test_slides(&grounds[2]);
  }
  slides = &box;
}

/* Behind the seam the box comes to the end of the second table, and falls. */
static void test_falls(void)
{
  play p;
  open_worlds(TABLE("-0.5", "0", "0.5", "0.3") ", " TABLE("0.1", "0", "0.1", "0.3"), WORLDS, "0",
              &p);
  lay_down(&p, 0.0);
  play_for(&p, 0.7);
  for (size_t i = 1; i < WORLDS; i += SPEEDS) {
    play_line("off the end of the tables [m]", play_q(&p, i, 2), -0.1);
  }
  play_close(&p);
}

/* A table that is higher, and one that is wider, still have their sides. */
static void test_sides(void)
{
  play p;
  printf("a step\n");
  open_worlds(
    TABLE("-0.5", "0", "0.5",
          "0.3") ", {\"position\": [0.5, 0, -0.1], \"bodies\": [{\"box\": [0.5, 0.3, 0.13]}]}",
    WORLDS, "0", &p);
  lay_down(&p, 0.0);
  play_for(&p, 0.6);
  for (size_t i = 0; i < SPEEDS; ++i) {
    play_line("in the side of a higher table [m]", play_q(&p, i, 0) + HALF, 0.01);
    play_line("over a higher table [m]", play_q(&p, i, 2), HALF + 0.02);
  }
  play_close(&p);
  printf("a corner\n");
  /* The box comes along the narrower table's side, half below the wider one's top. */
  open_worlds(TABLE("0.5", "0", "0.5",
                    "0.3") ", " TABLE("-0.5", "0.2", "0.5",
                                      "0.1") ", {\"position\": [-0.5, 0, -0.3], \"bodies\": "
                                             "[{\"box\": [0.5, 0.3, 0.25]}]}",
              1, "0", &p);
  play_set_q(&p, 0, 0, -0.3);
  play_set_q(&p, 0, 1, 0.02);
  play_set_q(&p, 0, 2, 0.0);
  play_set_v(&p, 0, 0, 1.0);
  play_for(&p, 0.5);
  play_line("in the side of a wider table [m]", play_q(&p, 0, 0) + HALF, 0.01);
  play_line("above where it slid [m]", play_q(&p, 0, 2), 0.02);
  play_close(&p);
}

/* Over a seam a box with friction comes to rest, at the same place as on one table. */
static void test_stops(void)
{
  double at[2];
  for (int which = 0; which < 2; ++which) {
    play p;
    open_worlds(grounds[which].links, WORLDS, "0.5", &p);
    lay_down(&p, 0.0);
    play_for(&p, 1.0);
    at[which] = play_q(&p, 2, 0);
    play_line("still moves [m/s]", fabs(play_v(&p, 2, 0)), 1e-3);
    play_close(&p);
  }
  play_line("comes to rest elsewhere than on one table [m]", fabs(at[1] - at[0]), 1e-3);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  law = argc > 2 ? argv[2] : law;
  context = require_context(precision);
  write_mesh();
  for (size_t i = 0; i < sizeof grounds / sizeof *grounds; ++i) {
    test_slides(&grounds[i]);
  }
  test_round_bodies();
  test_falls();
  test_sides();
  test_stops();
  remove(mesh_name);
  return finish_context(context);
}
