/* Worlds that move as the closed forms say: test_physics_motion PRECISION SCENES quick|full
 *
 * As test_physics_rest: each line of the table has its limit. On the device of ABUT_TEST_DEVICE. */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define G 9.81

static abut_context context;
static abut_precision precision;
static const char *scenes;
static bool full;

static void open_scene(const char *name, size_t worlds, play *p)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.scene.json", scenes, name);
  printf("%s, %s\n", name, precision == ABUT_FLOAT64 ? "float64" : "float32");
  play_open(p, context, precision, path, worlds);
}

/* ---- friction ---- */

/* A block of friction 1/2 on slopes: each world's gravity leans. At 2 m/s it slides so far, on a
 * slope of less than the angle of friction; just below that angle it creeps, as the soft law has
 * it, and no faster after a while; just above it slides. */
static void test_block(void)
{
  enum { WORLDS = 4 };
  static const double share[WORLDS] = {0.0, 0.5, 0.99, 1.01}; /* of the angle of friction */
  double gain[WORLDS];
  play p;
  open_scene("block", WORLDS, &p);
  for (size_t i = 0; i < WORLDS; ++i) {
    const double angle = share[i] * atan(0.5);
    play_set_gravity(&p, i, (double[3]){G * sin(angle), 0.0, -G * cos(angle)});
    play_set_v(&p, i, 0, i < 2 ? 2.0 : 0.0);
  }
  for (size_t i = 0; i < 2; ++i) {
    const double angle = share[i] * atan(0.5), slows = G * (0.5 * cos(angle) - sin(angle));
    play_for(&p, 2.0 / slows - p.time);
    play_line(i ? "stops on a slope, off the closed form [share]"
                : "stops on the level, off the closed form [share]",
              fabs(play_q(&p, i, 0) * slows / 2.0 - 1.0), 0.01);
  }
  for (size_t i = 2; i < WORLDS; ++i) {
    gain[i] = -play_v(&p, i, 0);
  }
  play_for(&p, 0.5);
  for (size_t i = 2; i < WORLDS; ++i) {
    const double angle = share[i] * atan(0.5), slides = G * (sin(angle) - 0.5 * cos(angle));
    gain[i] = (gain[i] + play_v(&p, i, 0)) / (0.5 * fabs(slides));
  }
  play_line("1 % below the angle of friction, speeds up [share]", fabs(gain[2]), 0.01);
  play_line("1 % above it, off the closed form [share]", fabs(gain[3] - 1.0), 0.01);
  play_close(&p);
}

/* ---- rolling ---- */

typedef struct globe {
  double (*at)[3];
  int (*faces)[3];
  size_t vertices, face_count;
} globe;

static size_t middle(globe *g, int a, int b)
{
  double m[3], length = 0.0;
  for (int k = 0; k < 3; ++k) {
    m[k] = g->at[a][k] + g->at[b][k];
    length += m[k] * m[k];
  }
  for (int k = 0; k < 3; ++k) {
    m[k] /= sqrt(length);
  }
  size_t i = 0;
  while (i < g->vertices &&
         fabs(g->at[i][0] - m[0]) + fabs(g->at[i][1] - m[1]) + fabs(g->at[i][2] - m[2]) > 1e-9) {
    ++i;
  }
  if (i == g->vertices) {
    memcpy(g->at[g->vertices++], m, sizeof m);
  }
  return i;
}

/* An octahedron whose triangles are divided in four, again and again. */
static void make_globe(globe *g, int rounds)
{
  static const int corners[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                    {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  const size_t most = (size_t)8 << (2 * rounds);
  *g = (globe){.vertices = 6, .face_count = 8};
  g->at = calloc(most, sizeof *g->at);
  g->faces = calloc(most, sizeof *g->faces);
  REQUIRE(g->at && g->faces);
  for (int i = 0; i < 6; ++i) {
    g->at[i][i / 2] = i % 2 ? -1.0 : 1.0;
  }
  memcpy(g->faces, corners, sizeof corners);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = g->face_count; i-- > 0;) { /* its four go where no other is waiting */
      const int *f = g->faces[i], a = f[0], b = f[1], c = f[2];
      const int ab = (int)middle(g, a, b), bc = (int)middle(g, b, c), ca = (int)middle(g, c, a);
      const int parts[4][3] = {{ab, bc, ca}, {a, ab, ca}, {b, bc, ab}, {c, ca, bc}};
      memcpy(g->faces[4 * i], parts, sizeof parts);
    }
    g->face_count *= 4;
  }
}

/* A ball as a body's file: a mesh of so many vertices, and the distance itself. */
static void write_ball(const char *name, double radius, int rounds)
{
  char path[64];
  globe g;
  make_globe(&g, rounds);
  snprintf(path, sizeof path, "%s.obj", name);
  FILE *mesh = fopen(path, "w");
  snprintf(path, sizeof path, "%s.body.json", name);
  FILE *body = fopen(path, "w");
  REQUIRE(mesh && body);
  for (size_t i = 0; i < g.vertices; ++i) {
    fprintf(mesh, "v %.17g %.17g %.17g\n", radius * g.at[i][0], radius * g.at[i][1],
            radius * g.at[i][2]);
  }
  for (size_t i = 0; i < g.face_count; ++i) {
    fprintf(mesh, "f %d %d %d\n", g.faces[i][0] + 1, g.faces[i][1] + 1, g.faces[i][2] + 1);
  }
  fprintf(body,
          "{\"name\": \"ball\", \"mesh\": \"%s.obj\", \"superquadrics\": [{\"axes\": [%g, "
          "%g, %g], \"exponents\": [1, 1], \"position\": [0, 0, 0], \"quaternion\": [1, 0, 0, "
          "0]}]}",
          name, radius, radius, radius);
  fclose(mesh);
  fclose(body);
  printf("a ball of %zu vertices, %s\n", g.vertices,
         precision == ABUT_FLOAT64 ? "float64" : "float32");
  free(g.at);
  free(g.faces);
}

#define RADIUS 0.1
#define SLOPE 0.2 /* [rad] */

/* A ball that rolls at 1 m/s on the level, and one that begins to roll on a slope. The law damps
 * what touches, and the floor takes some of a ball's speed as soft ground does: by its B / K, not
 * by the mesh (docs/dev/cone-formulas.md). So the closed forms want stiff contacts that are damped
 * little, and those a mesh that is fine and a smoothing as fine. */
static void test_ball(void)
{
  char name[32], path[64], text[2048];
  play p;
  snprintf(name, sizeof name, "ball-%ld", (long)getpid());
  write_ball(name, RADIUS, 5);
  snprintf(text, sizeof text,
           "{\"timestep\": 0.001, \"links\": [{\"position\": [0, 0, %g], \"joint\": {\"type\": "
           "\"free\"}, \"density\": 500, \"bodies\": [{\"file\": \"%s.body.json\"}]}, "
           "{\"bodies\": [{\"plane\": [10, 10]}]}], \"pairs\": [{\"a\": 0, \"b\": 1, "
           "\"friction\": 0.5, \"solref\": [-2e4, -5], \"smoothing\": {\"length\": 0.2, "
           "\"union\": 2e-4, \"plane\": 2e-4, \"normal\": 1e-12, \"penetration\": 2e-4, "
           "\"neighbour\": 4e-4, \"clash\": 0.1, \"sign\": 0.1, \"sort\": 0.002, \"clip\": 0.02, "
           "\"minimum\": 0.02, \"compare\": 0.05, \"ridge\": 0.001, \"distance\": 1e-10, "
           "\"trace\": 0, \"inside\": false, \"select\": \"softsort\", \"edge_edge\": false, "
           "\"two_sided\": false, \"edges\": [0, 0], \"vertices\": [0, 0]}}]}",
           RADIUS, name);
  play_open_text(&p, context, precision, text, 2);
  play_set_v(&p, 0, 0, 1.0);
  play_set_v(&p, 0, 4, 1.0 / RADIUS);
  play_set_gravity(&p, 0, (double[3]){0, 0, -G});
  play_set_gravity(&p, 1, (double[3]){G * sin(SLOPE), 0, -G * cos(SLOPE)});
  play_for(&p, 1.0);
  play_line("rolls on the level for a second, off 1 m [share]", fabs(play_q(&p, 0, 0) - 1.0), 0.01);
  play_line("rolls down a slope, off 5/7 of g sin [share]",
            fabs(play_q(&p, 1, 0) / (0.5 * 5.0 / 7.0 * G * sin(SLOPE)) - 1.0), 0.01);
  play_close(&p);
  snprintf(path, sizeof path, "%s.obj", name);
  remove(path);
  snprintf(path, sizeof path, "%s.body.json", name);
  remove(path);
}

/* ---- free bodies ---- */

typedef struct balance {
  double kinetic, linear[3], angular[3], size[2]; /* sizes of what adds up to the momenta */
} balance;

static balance balance_of(play *p, size_t world)
{
  balance b = {.kinetic = 0.0};
  play_weigh(p);
  b.kinetic = play_kinetic(p, world);
  for (size_t i = 0; i < p->info.nv / 6; ++i) {
    const link_state s = play_link(p, world, i);
    for (int k = 0; k < 3; ++k) {
      b.linear[k] += s.linear[k];
      b.angular[k] += s.angular[k];
      b.size[0] += fabs(s.linear[k]);
      b.size[1] += fabs(s.angular[k]);
    }
  }
  return b;
}

static double apart(const double a[3], const double b[3], double size)
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    sum += fabs(a[k] - b[k]);
  }
  return sum / size;
}

/* A box turns about all axes, its centre of mass beside the origin of its link: RK4, 2 ms. */
static void test_tumbling(void)
{
  const double seconds = full ? 10.0 : 1.0;
  play p;
  open_scene("tumbling", 1, &p);
  for (size_t i = 0; i < 6; ++i) {
    play_set_v(&p, 0, i, (double[6]){0.3, -0.2, 0.1, 3.0, 0.1, 4.0}[i]);
  }
  const balance before = balance_of(&p, 0);
  play_for(&p, seconds);
  const balance after = balance_of(&p, 0);
  const bool wide = precision == ABUT_FLOAT64;
  play_line("kinetic energy a second [share]", fabs(after.kinetic / before.kinetic - 1.0) / seconds,
            wide ? 1e-8 : 1e-5);
  play_line("linear momentum [share]", apart(before.linear, after.linear, before.size[0]),
            wide ? 1e-8 : 1e-4);
  play_line("angular momentum [share]", apart(before.angular, after.angular, before.size[1]),
            wide ? 1e-8 : 1e-4);
  play_close(&p);
}

/* Two cubes fly into each other, off their middles, without gravity: contacts act on both alike. */
static void test_collision(void)
{
  double most = 0.0;
  play p;
  open_scene("colliding-cubes", 1, &p);
  const double v[12] = {1.0, 0.2, 0, 2.0, 0, 5.0, -1.5, 0, 0.1, 0, 3.0, -1.0};
  for (size_t i = 0; i < 12; ++i) {
    play_set_v(&p, 0, i, v[i]);
  }
  const balance before = balance_of(&p, 0);
  balance after = before;
  for (int i = 0; i < 50; ++i) {
    play_for(&p, 0.01);
    after = balance_of(&p, 0);
    most = fmax(most, after.kinetic);
  }
  const bool wide = precision == ABUT_FLOAT64;
  check(after.kinetic < 0.9 * before.kinetic, "the cubes missed each other");
  play_line("kinetic energy that is gained [share]", most / before.kinetic - 1.0, 0.01);
  play_line("linear momentum [share]", apart(before.linear, after.linear, before.size[0]),
            wide ? 1e-13 : 1e-5);
  play_line("angular momentum [share]", apart(before.angular, after.angular, before.size[1]),
            wide ? 1e-13 : 1e-5);
  CHECK_EQUAL(p.status[0], 0);
  play_close(&p);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 3);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  scenes = argv[2];
  full = !strcmp(argv[3], "full");
  context = require_context(precision);
  test_block();
  test_ball();
  test_tumbling();
  test_collision();
  return finish_context(context);
}
