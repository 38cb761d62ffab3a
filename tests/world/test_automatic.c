/* Automatic pairs are those that a list of the same pairs has, to the bit: steps, and derivatives, whose columns of
 * friction and of stiffness bodies share.
 *   test_automatic PRECISION [LAW] */
#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES = 10, ROOM = 1 << 18, BODIES_MOST = 32 };

static abut_precision precision;
static const char *law = "cone";

static double by(double wide, double narrow)
{
  return precision == ABUT_FLOAT64 ? wide : narrow;
}

/* What a body states of itself for automatic pairs. */
typedef struct own {
  double friction, margin, solref[2], solimp[2];
  int condim;
} own;

/* A scene's links as text, without the bracket at their end, and what each body states. */
typedef struct links {
  char *text;
  size_t at, bodies;
  own of[BODIES_MOST];
} links;

static links links_begin(const char *settings)
{
  links l = {.text = malloc(ROOM)};
  REQUIRE(l.text);
  l.at = (size_t)snprintf(l.text, ROOM, "{\"contact_model\": \"%s\", \"timestep\": 0.004, %s\"links\": [", law, settings);
  return l;
}

/* Adds a link of one body. `joint` and `shape` are JSON; the body states its numbers where `own_numbers` is set. */
static void add_link(links *l, int parent, const char *joint, const double place[3], const char *shape, const own *of)
{
  static const own usual = {0.8, 0.0, {0.02, 1.0}, {0.9, 0.95}, 3};
  l->of[l->bodies] = of ? *of : usual;
  l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at,
                            "%s{\"parent\": %d, \"position\": [%.17g, %.17g, %.17g], %s\"bodies\": [{%s", l->bodies ? ",\n" : "",
                            parent, place[0], place[1], place[2], joint, shape);
  if (of) {
    l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at,
                              ", \"friction\": %.17g, \"margin\": %.17g, \"solref\": [%.17g, %.17g], \"solimp\": "
                              "[%.17g, %.17g, 0.001, 0.5, 2], \"condim\": %d",
                              of->friction, of->margin, of->solref[0], of->solref[1], of->solimp[0], of->solimp[1], of->condim);
  }
  l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at, "}]}");
  ++l->bodies;
}

#define FREE "\"density\": 500, \"joint\": {\"type\": \"free\"}, "
#define HINGE(axis) "\"density\": 900, \"joint\": {\"type\": \"hinge\", \"axis\": " axis ", \"damping\": 0.02}, "

/* ---- scenes ---- */

static links boxes_links(const char *settings)
{
  links l = links_begin(settings);
  add_link(&l, -1, "", (const double[]){0.0, 0.0, -0.05}, "\"box\": [1, 1, 0.05]", NULL);
  for (int i = 0; i < BOXES; ++i) {
    const double place[] = {0.09 * (i % 3) + 0.01 * (i / 3), 0.02 * (i % 2), 0.05 + 0.11 * (i / 3)};
    add_link(&l, -1, FREE, place, "\"box\": [0.05, 0.05, 0.05]", NULL);
  }
  return l;
}

/* Bodies of equal shapes that are not beside each other, with numbers of their own. */
static links mixed_links(const char *settings)
{
  static const char *const shapes[] = {"\"sphere\": 0.05",          "\"box\": [0.06, 0.05, 0.04]", "\"capsule\": [0.03, 0.04]",
                                       "\"box\": [0.06, 0.05, 0.04]", "\"sphere\": 0.05",            "\"ellipsoid\": [0.05, 0.04, 0.06]",
                                       "\"cylinder\": [0.05, 0.04]"};
  static const own of[] = {{0.3, 0.0, {0.02, 1.0}, {0.9, 0.95}, 3},    {0.9, 0.001, {0.03, 1.2}, {0.8, 0.9}, 3},
                           {0.5, 0.0, {-2000.0, -60.0}, {0.9, 0.95}, 1}, {0.9, 0.0, {0.02, 1.0}, {0.9, 0.95}, 1},
                           {0.2, 0.0, {0.02, 1.0}, {0.7, 0.95}, 3},    {0.4, 0.002, {0.01, 1.0}, {0.9, 0.95}, 3},
                           {0.6, 0.0, {0.02, 1.0}, {0.9, 0.95}, 3}};
  links l = links_begin(settings);
  add_link(&l, -1, "", (const double[]){0.0, 0.0, 0.0}, "\"plane\": [2, 2]", NULL);
  for (int i = 0; i < 7; ++i) {
    const double place[] = {0.08 * (i % 3) - 0.08, 0.03 * (i % 2), 0.06 + 0.11 * (i / 3)};
    add_link(&l, -1, FREE, place, shapes[i], strcmp(law, "cone") ? NULL : &of[i]);
  }
  return l;
}

/* A figure of capsules on hinges and balls, which falls onto a plane and folds. */
static links figure_links(const char *settings)
{
  links l = links_begin(settings);
  add_link(&l, -1, "", (const double[]){0.0, 0.0, 0.0}, "\"plane\": [2, 2]", NULL);
  add_link(&l, -1, FREE, (const double[]){0.0, 0.0, 0.42}, "\"capsule\": [0.07, 0.1]", NULL);
  for (int side = 0; side < 2; ++side) {
    const double y = side ? -0.09 : 0.09;
    const int thigh = (int)l.bodies;
    add_link(&l, 1, "\"density\": 900, \"joint\": {\"type\": \"ball\", \"position\": [0, 0, 0.1], \"damping\": 0.05}, ",
             (const double[]){0.0, y, -0.22}, "\"capsule\": [0.045, 0.07]", NULL);
    add_link(&l, thigh, HINGE("[0, 1, 0]"), (const double[]){0.02, 0.0, -0.18}, "\"capsule\": [0.04, 0.06]", NULL);
    const int arm = (int)l.bodies;
    add_link(&l, 1, HINGE("[1, 0, 0]"), (const double[]){0.0, 1.8 * y, 0.05}, "\"capsule\": [0.03, 0.05]", NULL);
    add_link(&l, arm, HINGE("[0, 1, 0]"), (const double[]){0.0, 0.0, -0.14}, "\"sphere\": 0.035", NULL);
  }
  return l;
}

/* ---- the same pairs, listed ---- */

static void put_softness_of(links *l, const own *a, const own *b)
{
  const bool direct = a->solref[0] <= 0.0 || b->solref[0] <= 0.0;
  double ref[2], imp[2];
  for (int k = 0; k < 2; ++k) {
    ref[k] = direct ? fmin(a->solref[k], b->solref[k]) : 0.5 * a->solref[k] + 0.5 * b->solref[k];
    imp[k] = 0.5 * a->solimp[k] + 0.5 * b->solimp[k];
  }
  l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at,
                            ", \"solref\": [%.17g, %.17g], \"solimp\": [%.17g, %.17g, 0.001, 0.5, 2]", ref[0], ref[1], imp[0],
                            imp[1]);
}

static void list_pairs(links *l, abut_scene scene, size_t candidates)
{
  l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at, "], \"pairs\": [");
  for (size_t i = 0; i < candidates; ++i) {
    size_t of[2], link[2], body[2];
    REQUIRE_OK(abut_get_candidate(scene, i, &of[0], &of[1]));
    for (int side = 0; side < 2; ++side) {
      REQUIRE_OK(abut_get_scene_body(scene, of[side], &link[side], &body[side]));
    }
    const own *a = &l->of[of[0]], *b = &l->of[of[1]];
    l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at,
                              "%s{\"a\": [%zu, %zu], \"b\": [%zu, %zu], \"friction\": %.17g, \"margin\": %.17g, \"condim\": %d",
                              i ? ",\n" : "", link[0], body[0], link[1], body[1], fmax(a->friction, b->friction),
                              fmax(a->margin, b->margin), a->condim > b->condim ? a->condim : b->condim);
    put_softness_of(l, a, b);
    l->at += (size_t)snprintf(l->text + l->at, ROOM - l->at, "}");
  }
  snprintf(l->text + l->at, ROOM - l->at, "]}");
}

/* Opens a scene with automatic pairs, and the one that lists them. */
static void open_both(abut_context context, links (*make)(const char *), const char *automatic, size_t worlds, play out[2])
{
  links l = make("");
  const size_t end = l.at;
  snprintf(l.text + l.at, ROOM - l.at, "], \"automatic\": %s}", automatic);
  play_open_text(&out[0], context, precision, l.text, worlds);
  l.at = end;
  list_pairs(&l, out[0].scene, out[0].info.candidates);
  play_open_text(&out[1], context, precision, l.text, worlds);
  free(l.text);
  CHECK(out[0].info.automatic && !out[1].info.automatic);
  CHECK_EQUAL(out[0].info.pairs, 0);
  CHECK_EQUAL(out[1].info.pairs, out[0].info.candidates);
  CHECK_EQUAL(out[1].info.candidates, out[0].info.candidates);
  CHECK_EQUAL(out[1].info.kinds, out[0].info.kinds);
}

static void set_off(play *p)
{
  for (size_t world = 0; world < p->worlds; ++world) {
    for (size_t k = 0; k < p->info.nv; ++k) {
      play_set_v(p, world, k, 0.3 * sin(1.3 * (double)k + 2.1 * (double)world));
    }
  }
}

static void compare(const play p[2], size_t step)
{
  const size_t size = real_size(precision);
  check(!memcmp(p[0].q, p[1].q, p[0].worlds * p[0].info.nq * size) && !memcmp(p[0].v, p[1].v, p[0].worlds * p[0].info.nv * size),
        "step %zu: positions or velocities differ", step);
  for (size_t i = 0; i < p[0].worlds; ++i) {
    CHECK_EQUAL(p[0].status[i], p[1].status[i]);
  }
}

static void test_steps(abut_context context, links (*make)(const char *), size_t kinds, size_t steps)
{
  play p[2];
  open_both(context, make, "true", 2, p);
  CHECK_EQUAL(p[0].info.kinds, strcmp(law, "spring") ? kinds : 0);
  set_off(&p[0]);
  set_off(&p[1]);
  for (size_t i = 0; i < steps; i += 20) {
    play_step(&p[0], 20);
    play_step(&p[1], 20);
    compare(p, i);
  }
  play_close(&p[0]);
  play_close(&p[1]);
}

int main(int argc, char **argv)
{
  abut_context context;
  REQUIRE(argc > 1);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  law = argc > 2 ? argv[2] : law;
  if (!test_context(precision, &context)) {
    return 77;
  }
  (void)by;
  test_steps(context, boxes_links, 2, 100);
  test_steps(context, mixed_links, 17, 100);
  test_steps(context, figure_links, 17, 100);
  CHECK_OK(abut_destroy_context(context));
  return check_finish();
}
