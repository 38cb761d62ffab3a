/* A terrain of more vertices than a pair takes whole is cut into tiles. Away from their seams
 * contacts are those of the whole body, at seams bodies rest as deep, and nobody sees tiles:
 * neither by slots, nor in the bits of other chunks, pair batches or broad phases.
 *   test_tiles PRECISION FIGURE.body.json */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The terrain's vertices are (SIDE, SIDE), from -HALF to HALF. Tiles are quarters of its quarters,
 * so that seams are at -1, 0 and 1 along x and y. */
enum { SIDE = 128, TILES = 16, ROOM = 1 << 16, BODIES_MOST = 32 };
#define HALF 2.0

static abut_precision precision;
static const char *figure;
static char body_path[64], mesh_path[64];

static double by(double wide, double narrow)
{
  return precision == ABUT_FLOAT64 ? wide : narrow;
}

/* ---- the terrain ---- */

static double height_at(double x, double y)
{
  return 0.04 * sin(4.4 * x + 0.5) * cos(3.1 * y);
}

static double node(int i)
{
  return HALF * (2.0 * i / (SIDE - 1) - 1.0);
}

static void write_mesh(void)
{
  FILE *file = fopen(mesh_path, "w");
  REQUIRE(file);
  for (int j = 0; j < SIDE; ++j) {
    for (int i = 0; i < SIDE; ++i) {
      fprintf(file, "v %.17g %.17g %.17g\n", node(i), node(j), height_at(node(i), node(j)));
    }
  }
  for (int j = 0; j + 1 < SIDE; ++j) {
    for (int i = 0; i + 1 < SIDE; ++i) {
      const int a = j * SIDE + i + 1, b = a + 1, c = b + SIDE, d = a + SIDE;
      fprintf(file, "f %d %d %d\nf %d %d %d\n", a, b, c, a, c, d);
    }
  }
  REQUIRE(fclose(file) == 0);
}

static void write_body(void)
{
  FILE *file = fopen(body_path, "w");
  REQUIRE(file);
  fprintf(
    file,
    "{\"mesh\": \"%s\", \"height_fields\": [{\"size\": [%g, %g], \"base\": 0.3, \"heights\": [",
    mesh_path, HALF, HALF);
  for (int j = 0; j < SIDE; ++j) {
    for (int i = 0; i < SIDE; ++i) {
      fprintf(file, "%s%.17g", i ? ", " : j ? "],\n[" : "[", height_at(node(i), node(j)));
    }
  }
  fprintf(file, "]]}]}");
  REQUIRE(fclose(file) == 0);
}

/* ---- scenes on it ---- */

/* What lies where. */
typedef struct load {
  double x, y;
  const char *shape;
} load;

static const char box[] = "\"box\": [0.06, 0.05, 0.03]";

/* Contacts of vertices alone are stated: pairs with contacts of edges are not cut
 * (docs/dev/world-pairs.md). */
#define VERTICES "\"smoothing\": {\"edge_contacts\": \"pairs\", \"edge_edge\": false}"

typedef enum list { AUTOMATIC, TERRAIN_FIRST, TERRAIN_SECOND } list;

static void open_scene(play *p, abut_context context, const load *loads, int count, list how,
                       const char *settings, size_t worlds)
{
  static char text[ROOM];
  size_t at =
    (size_t)snprintf(text, sizeof text,
                     "{\"timestep\": 0.004, %s \"links\": [{\"bodies\": [{\"file\": \"%s\"}]}",
                     settings, body_path);
  for (int i = 0; i < count; ++i) {
    const load *l = &loads[i];
    at += (size_t)snprintf(text + at, sizeof text - at,
                           ", {\"mass\": 0.5, \"inertia\": [[1e-3, 0, 0], [0, 1.2e-3, 0], [0, 0, "
                           "1.4e-3]], \"joint\": {\"type\": "
                           "\"free\"}, \"position\": [%.17g, %.17g, %.17g], \"bodies\": [{%s}]}",
                           l->x, l->y, height_at(l->x, l->y) + 0.04, l->shape);
  }
  at += (size_t)snprintf(text + at, sizeof text - at, "], %s",
                         how == AUTOMATIC ? "\"automatic\": {" VERTICES "}" : "\"pairs\": [");
  for (int i = 0; how != AUTOMATIC && i < count; ++i) {
    at += (size_t)snprintf(text + at, sizeof text - at, "%s{\"a\": %d, \"b\": %d, " VERTICES "}",
                           i ? ", " : "", how == TERRAIN_FIRST ? 0 : i + 1,
                           how == TERRAIN_FIRST ? i + 1 : 0);
  }
  snprintf(text + at, sizeof text - at, how == AUTOMATIC ? "}" : "]}");
  play_open_text(p, context, precision, text, worlds);
}

/* Puts a scene's worlds where those of another are, at its speeds. */
static void put_state(play *to, const play *from)
{
  memcpy(to->q, from->q, from->worlds * from->info.nq * real_size(precision));
  memcpy(to->v, from->v, from->worlds * from->info.nv * real_size(precision));
}

/* ---- away from seams ---- */

typedef struct forces {
  void *all; /* (contacts, 3) */
  void *acceleration;
} forces;

static forces forces_of(const play *p)
{
  const size_t size = real_size(precision);
  forces f = {calloc(3 * p->info.contacts + 1, size), calloc(p->info.nv, size)};
  REQUIRE(f.all && f.acceleration);
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.q = p->q;
  w.v = p->v;
  w.multipliers = f.all;
  w.acceleration = f.acceleration;
  CHECK_OK(abut_step_worlds(p->scene, &w));
  return f;
}

static void forces_free(forces *f)
{
  free(f->all);
  free(f->acceleration);
}

static double sum_of(const void *all, size_t first, size_t end)
{
  double sum = 0.0;
  for (size_t i = first; i < end; ++i) {
    sum += fabs(real_at(all, precision, 3 * i));
  }
  return sum;
}

/* Forces of single contacts are those of the whole pair. */
static void compare_single(const play *whole, const play *cut, double most)
{
  abut_items items[2];
  abut_compact lists[2] = {{.threshold = 0.0, .grows = true}, {.threshold = 0.0, .grows = true}};
  void *all[2];
  size_t some = 0;
  for (int i = 0; i < 2; ++i) {
    const play *p = i ? cut : whole;
    REQUIRE_OK(abut_find_contacts(p->scene, p->q, 1, &items[i], &lists[i]));
    all[i] = calloc(3 * lists[i].count + 1, real_size(precision));
    REQUIRE(all[i]);
    CHECK_OK(abut_find_contact_forces(p->scene, 1, p->q, p->v, NULL, &items[i], &lists[i], all[i],
                                      NULL, NULL));
  }
  CHECK_EQUAL(lists[0].count, lists[1].count);
  for (size_t i = 0; i < 3 * lists[0].count && lists[0].count == lists[1].count; ++i) {
    const double x = real_at(all[0], precision, i), y = real_at(all[1], precision, i);
    some += x != 0.0;
    check(fabs(x - y) <= most, "number %zu of single forces is %.12g, whole %.12g", i, y, x);
  }
  CHECK(some > 3);
  for (int i = 0; i < 2; ++i) {
    abut_free_items(&items[i]);
    abut_free_compact(&lists[i]);
    free(all[i]);
  }
}

/* Vertices have the slots that they have in the whole pair, one behind the other. */
static void test_slots(abut_context context, const load *one, list how)
{
  play whole, cut;
  abut_scene_pair pair;
  abut_layout layout;
  open_scene(&whole, context, one, 1, how, "\"tiles\": false,", 1);
  open_scene(&cut, context, one, 1, how, "", 1);
  CHECK_EQUAL(whole.info.kinds, 1);
  CHECK_EQUAL(cut.info.kinds, 1 + TILES);
  CHECK_EQUAL(cut.info.candidates, 1);
  REQUIRE_OK(abut_get_scene_pair(cut.scene, 0, &pair));
  REQUIRE_OK(abut_get_layout(pair.pair, &layout));
  CHECK_EQUAL(layout.contacts, whole.info.contacts);
  CHECK_EQUAL(layout.vertices[0] + layout.vertices[1], layout.contacts);
  CHECK_EQUAL(cut.info.contacts, layout.contacts);
  play_step(&whole, 60);
  put_state(&cut, &whole);
  forces a = forces_of(&whole), b = forces_of(&cut);
  const double all = sum_of(a.all, 0, whole.info.contacts);
  size_t some = 0;
  CHECK(all > 1.0);
  for (size_t i = 0; i < 3 * layout.contacts; ++i) {
    const double x = real_at(a.all, precision, i), y = real_at(b.all, precision, i);
    some += x != 0.0;
    check(fabs(x - y) <= by(1e-9, 1e-3) * all,
          "%s: number %zu of vertices' forces is %.12g, whole %.12g", one->shape, i, y, x);
  }
  CHECK(some > 3);
  for (size_t i = 0; i < cut.info.nv; ++i) {
    const double of = real_at(a.acceleration, precision, i),
                 own = real_at(b.acceleration, precision, i);
    check(fabs(of - own) <= by(1e-8, 2e-2) * (1.0 + fabs(of)),
          "%s: acceleration %zu is %.12g, whole %.12g", one->shape, i, own, of);
  }
  compare_single(&whole, &cut, by(1e-9, 1e-3) * all);
  forces_free(&a);
  forces_free(&b);
  play_close(&whole);
  play_close(&cut);
}

static void test_away(abut_context context)
{
  char file[512];
  snprintf(file, sizeof file, "\"file\": \"%s\"", figure);
  const load loads[] = {{0.5, 0.5, box},
                        {-0.5, 0.52, box},
                        {0.48, -0.5, "\"sphere\": 0.05"},
                        {0.5, 0.5, file}};
  for (int i = 0; i < 4; ++i) {
    test_slots(context, &loads[i], TERRAIN_FIRST);
  }
  test_slots(context, &loads[0], TERRAIN_SECOND);
}

/* ---- on seams ---- */

/* Bodies at seams, and where four tiles meet, come to rest as on the whole terrain. */
static void test_rest(abut_context context)
{
  static const load loads[] = {{0.0, 0.0, box},
                               {0.0, 0.5, box},
                               {-0.52, 0.01, box},
                               {0.5, -0.5, box}};
  play whole, cut;
  open_scene(&whole, context, loads, 4, AUTOMATIC, "\"tiles\": false,", 1);
  open_scene(&cut, context, loads, 4, AUTOMATIC, "", 1);
  CHECK_EQUAL(whole.info.candidates, cut.info.candidates);
  play_step(&whole, 250);
  play_step(&cut, 250);
  CHECK_EQUAL(whole.status[0], 0);
  CHECK_EQUAL(cut.status[0], 0);
  for (size_t i = 0; i < 4; ++i) {
    const double z = play_q(&cut, 0, 7 * i + 2), other = play_q(&whole, 0, 7 * i + 2);
    check(fabs(z - other) < 5e-4, "box %zu rests at %g, on the whole terrain at %g", i, z, other);
    check(z > height_at(play_q(&cut, 0, 7 * i), play_q(&cut, 0, 7 * i + 1)) + 0.025,
          "box %zu is in the ground", i);
    check(fabs(play_v(&cut, 0, 6 * i + 2)) < 0.02, "box %zu moves", i);
  }
  play_close(&whole);
  play_close(&cut);
}

/* ---- bits ---- */

enum { WORLDS = UNLESS_SANITIZED(6, 3), BOXES = 9, STEPS = UNLESS_SANITIZED(12, 3) };

static void crowd_loads(load *loads)
{
  for (int i = 0; i < BOXES; ++i) {
    loads[i] = (load){0.3 * (i % 3) - 0.3, 0.3 * (i / 3) - 0.3,
                      i % 4 == 3 ? "\"capsule\": [0.03, 0.04]" : box};
  }
}

/* Worlds' boxes lie low, each world's a little otherwise, and turn. */
static void scatter(play *p)
{
  uint64_t random = 11;
  for (size_t i = 0; i < p->worlds; ++i) {
    for (size_t k = 0; k < p->info.nq; ++k) {
      const size_t of = k % 7;
      play_set_q(p, i, k,
                 play_q(p, i, k) + (of < 2    ? 0.02
                                    : of == 2 ? 0.004
                                              : 0.2) *
                                     random_normal(&random));
    }
    for (size_t k = 0; k < p->info.nv; ++k) {
      play_set_v(p, i, k, 0.2 * random_normal(&random));
    }
  }
}

/* The states after some steps, and gradients from there. */
typedef struct answers {
  char *q, *v, *q_bar, *v_bar, *friction;
} answers;

static answers answers_of(const play *p, size_t count)
{
  const size_t size = real_size(precision), nq = p->info.nq, nv = p->info.nv;
  answers a = {calloc(count * nq, size), calloc(count * nv, size), calloc(count * nv, size),
               calloc(count * nv, size), calloc(count * p->info.parameters, size)};
  REQUIRE(a.q && a.v && a.q_bar && a.v_bar && a.friction);
  return a;
}

static void answers_free(answers *a)
{
  free(a->q);
  free(a->v);
  free(a->q_bar);
  free(a->v_bar);
  free(a->friction);
}

static void ask(const play *p, size_t first, size_t count, const answers *a)
{
  const size_t size = real_size(precision), nq = p->info.nq, nv = p->info.nv,
               columns = p->info.parameters;
  void *ones = calloc(2 * count * nv, size);
  abut_worlds w = abut_default_worlds();
  REQUIRE(ones);
  for (size_t i = 0; i < 2 * count * nv; ++i) {
    real_put(ones, precision, i, 1.0);
  }
  w.count = count;
  w.steps = STEPS;
  w.q = (char *)p->q + first * nq * size;
  w.v = (char *)p->v + first * nv * size;
  w.q_next = a->q + first * nq * size;
  w.v_next = a->v + first * nv * size;
  CHECK_OK(abut_step_worlds(p->scene, &w));
  w.q = w.q_next;
  w.v = w.v_next;
  w.q_next = w.v_next = NULL;
  w.steps = 2;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = ones;
  g.q = a->q_bar + first * nv * size;
  g.v = a->v_bar + first * nv * size;
  g.friction = a->friction + first * columns * size;
  CHECK_OK(abut_vjp_worlds(p->scene, &w, &g));
  free(ones);
}

static void compare(const play *p, const answers *a, const answers *b, const char *what)
{
  const size_t size = real_size(precision), nq = p->info.nq, nv = p->info.nv;
  check(!memcmp(a->q, b->q, WORLDS * nq * size) && !memcmp(a->v, b->v, WORLDS * nv * size),
        "%s: states differ", what);
  check(!memcmp(a->q_bar, b->q_bar, WORLDS * nv * size) &&
          !memcmp(a->v_bar, b->v_bar, WORLDS * nv * size) &&
          !memcmp(a->friction, b->friction, WORLDS * p->info.parameters * size),
        "%s: gradients differ", what);
}

static void test_bits(void)
{
  static const struct {
    const char *name, *settings;
    uint64_t scratch;
    bool alone;
  } ways[] = {{"again", "", 0, false},
              {"without a broad phase", "\"broad_phase\": false,", 0, false},
              {"each world alone", "", 0, true},
              {"in short pair batches", "", (uint64_t)8 << 20, false}};
  load loads[BOXES];
  answers first = {0};
  crowd_loads(loads);
  for (int i = -1; i < 4; ++i) {
    const abut_context context = play_context(precision, i < 0 ? 0 : ways[i].scratch);
    play p;
    open_scene(&p, context, loads, BOXES, AUTOMATIC, i < 0 ? "" : ways[i].settings, WORLDS);
    scatter(&p);
    answers own = answers_of(&p, WORLDS);
    for (size_t k = 0; k < WORLDS; k += i >= 0 && ways[i].alone ? 1 : WORLDS) {
      ask(&p, k, i >= 0 && ways[i].alone ? 1 : WORLDS, &own);
    }
    if (i < 0) {
      /* something has moved */
      CHECK(memcmp(own.q, p.q, WORLDS * p.info.nq * real_size(precision)));
      first = own;
    } else {
      compare(&p, &first, &own, ways[i].name);
      answers_free(&own);
    }
    play_close(&p);
    CHECK_OK(abut_destroy_context(context));
  }
  answers_free(&first);
}

/* ---- derivatives ---- */

/* The sum of the state after some steps. Turns count by their velocities alone. */
static double sum_after(const play *p, size_t steps)
{
  const size_t size = real_size(precision), nq = p->info.nq, nv = p->info.nv;
  void *q = calloc(nq, size), *v = calloc(nv, size);
  double sum = 0.0;
  REQUIRE(q && v);
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.steps = steps;
  w.q = p->q;
  w.v = p->v;
  w.q_next = q;
  w.v_next = v;
  CHECK_OK(abut_step_worlds(p->scene, &w));
  for (size_t i = 0; i < nq; ++i) {
    sum += i % 7 < 3 ? real_at(q, precision, i) : 0.0;
  }
  for (size_t i = 0; i < nv; ++i) {
    sum += real_at(v, precision, i);
  }
  free(q);
  free(v);
  return sum;
}

static double difference(play *p, void *of, size_t i, size_t steps)
{
  const double at = real_at(of, precision, i), step = 1e-7;
  real_put(of, precision, i, at + step);
  const double above = sum_after(p, steps);
  real_put(of, precision, i, at - step);
  const double below = sum_after(p, steps);
  real_put(of, precision, i, at);
  return (above - below) / (2.0 * step);
}

/* Boxes lie across seams. */
static void test_derivatives(abut_context context)
{
  enum { COUNT = 3, SOME = 2 };
  static const load loads[COUNT] = {{0.0, 0.0, box},
                                    {0.01, 0.5, box},
                                    {-0.5, -0.5, "\"sphere\": 0.04"}};
  play p;
  open_scene(&p, context, loads, COUNT, AUTOMATIC, "\"tolerance\": 1e-13,", 1);
  play_step(&p, 60);
  for (size_t i = 0; i < p.info.nv; ++i) {
    play_set_v(&p, 0, i, 0.05 * sin(1.0 + 2.3 * (double)i));
  }
  const size_t nv = p.info.nv, size = real_size(precision);
  void *ones = calloc(2 * nv, size), *q_bar = calloc(nv, size), *v_bar = calloc(nv, size);
  REQUIRE(ones && q_bar && v_bar);
  for (size_t i = 0; i < nv; ++i) {
    real_put(ones, precision, i, i % 6 < 3 ? 1.0 : 0.0);
    real_put(ones, precision, nv + i, 1.0);
  }
  abut_worlds w = abut_default_worlds();
  w.count = 1;
  w.steps = SOME;
  w.q = p.q;
  w.v = p.v;
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = ones;
  g.q = q_bar;
  g.v = v_bar;
  CHECK_OK(abut_vjp_worlds(p.scene, &w, &g));
  for (size_t i = 0; i < nv; ++i) {
    const double own = real_at(v_bar, precision, i), real = difference(&p, p.v, i, SOME);
    check(fabs(own - real) <= 1e-5 * (1.0 + fabs(real)), "by velocity %zu: %.9g, difference %.9g",
          i, own, real);
    if (i % 6 < 3) {
      const double of = real_at(q_bar, precision, i),
                   there = difference(&p, p.q, 7 * (i / 6) + i % 6, SOME);
      check(fabs(of - there) <= 1e-5 * (1.0 + fabs(there)),
            "by position %zu: %.9g, difference %.9g", i, of, there);
    }
  }
  free(ones);
  free(q_bar);
  free(v_bar);
  play_close(&p);
}

/* ---- memory, and what stays whole ---- */

/* Device bytes that a call of one world of many boxes has taken, if all world pairs fit into one
 * pair batch. */
static uint64_t bytes_of(const char *settings)
{
  load loads[BODIES_MOST];
  const abut_context context = play_context(precision, (uint64_t)1 << 30);
  abut_counters before, after;
  play p;
  for (int i = 0; i < BODIES_MOST; ++i) {
    loads[i] = (load){0.22 * (i % 8) - 0.77, 0.42 * (i / 8) - 0.77, box};
  }
  open_scene(&p, context, loads, BODIES_MOST, TERRAIN_FIRST, settings, 1);
  REQUIRE_OK(abut_get_counters(context, &before));
  play_step(&p, 1);
  REQUIRE_OK(abut_get_counters(context, &after));
  play_close(&p);
  CHECK_OK(abut_destroy_context(context));
  return after.resident - before.resident;
}

static void test_memory(void)
{
  const uint64_t cut = bytes_of(""), whole = bytes_of("\"tiles\": false,");
  check(2 * cut < whole, "tiles take %llu bytes, the whole body %llu", (unsigned long long)cut,
        (unsigned long long)whole);
}

static void test_whole(abut_context context)
{
  static const struct {
    const char *settings;
    size_t kinds;
    const char *shape;
  } ways[] = {{"", 1 + TILES, box},
              {"\"capacity\": 100,", 1, box},
              {"\"contact_model\": \"lcp\",", 1, box},
              {"\"tiles\": false,", 1, box},
              {"", 1, "\"box\": [1.5, 1.5, 0.1]"}}; /* as large as many tiles */
  for (int i = 0; i < 5; ++i) {
    const load one = {0.5, 0.5, ways[i].shape};
    play p;
    open_scene(&p, context, &one, 1, TERRAIN_FIRST, ways[i].settings, 1);
    check(p.info.kinds == ways[i].kinds, "with %s and %s there are %zu kinds", ways[i].settings,
          ways[i].shape, p.info.kinds);
    play_close(&p);
  }
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  figure = argv[2];
  snprintf(mesh_path, sizeof mesh_path, "tiles-%ld.obj", (long)getpid());
  snprintf(body_path, sizeof body_path, "tiles-%ld.body.json", (long)getpid());
  abut_context context = require_context(precision);
  write_mesh();
  write_body();
  test_away(context);
  test_rest(context);
  if (precision == ABUT_FLOAT64) {
    test_derivatives(context);
  }
  test_whole(context);
  CHECK_OK(abut_destroy_context(context));
  test_bits();
  test_memory();
  remove(mesh_path);
  remove(body_path);
  return check_finish();
}
