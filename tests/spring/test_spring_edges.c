/* Worlds of springs at the edges: what is refused, worlds that stop beside others, friction,
 * stiffness and springs given by world, forces of reactions at planes' centres: test_spring_edges
 * PRECISION SCENES */
#include "support/check.h"
#include "world/play.h"
#include <abut/world.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 23, STEPS = 3, LAW = 6, PAIRS = 2, NUMBERS = WORLDS * 64 };

static abut_precision precision;
static abut_context context;
static const char *scenes;

static void *numbers(void)
{
  void *memory = calloc(NUMBERS, sizeof(double));
  REQUIRE(memory != NULL);
  return memory;
}

static void fill(void *to, size_t count, double value)
{
  for (size_t i = 0; i < count; ++i) {
    real_put(to, precision, i, value);
  }
}

/* ---- refusals ---- */

static bool refused(abut_status status, const char *words)
{
  return check(status == ABUT_ERROR_ARGUMENT && strstr(abut_last_error(), words), "status %d: %s",
               (int)status, abut_last_error());
}

/* Of a box on a plane. */
static void open_box(play *p, const char *integrator, const char *contact, size_t worlds)
{
  char text[1024];
  snprintf(
    text, sizeof text,
    "{\"contact_model\": \"spring\", \"timestep\": 0.002, \"integrator\": \"%s\", \"links\": "
    "[{\"bodies\": [{\"plane\": [1, 1]}]}, {\"joint\": {\"type\": \"free\"}, \"density\": 500, "
    "\"position\": [0, 0, 0.0495], \"bodies\": [{\"box\": [0.05, 0.05, 0.05]}]}], "
    "\"pairs\": [{\"a\": 1, \"b\": 0, \"contact\": {%s}}]}",
    integrator, contact);
  play_open_text(p, context, precision, text, worlds);
}

static abut_worlds worlds_of(const play *p)
{
  abut_worlds w = abut_default_worlds();
  w.count = p->worlds;
  w.q = p->q;
  w.v = p->v;
  return w;
}

/* Reactions at planes' centres have no derivatives; implicit steps, which need some, are refused
 * when such a scene is read. */
static void test_planes(void)
{
  static const char words[] =
    "has reactions at planes (\"plane\"), which have no derivatives and no implicit steps";
  void *some = numbers();
  play p;
  open_box(&p, "euler", "\"reaction\": \"plane\"", 1);
  abut_worlds w = worlds_of(&p);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  abut_worlds_tangents t = abut_default_worlds_tangents();
  abut_worlds_transition m = abut_default_worlds_transition();
  g.state = some;
  g.v = some;
  t.v = some;
  t.v_next = some;
  m.A = some;
  CHECK_OK(abut_step_worlds(p.scene, &w));
  refused(abut_vjp_worlds(p.scene, &w, &g), words);
  refused(abut_jvp_worlds(p.scene, &w, &t), words);
  refused(abut_transition_worlds(p.scene, &w, &m), words);
  play_close(&p);
  free(some);
}

static void test_refusals(void)
{
  static const int32_t owner[] = {1}, opposing[] = {0}, pair[] = {0};
  void *some = numbers();
  play p, soft;
  const abut_given_contacts contacts = {1, owner, opposing, pair, some, some, some, some};
  open_box(&p, "euler", "", 1);
  play_open_text(
    &soft, context, precision,
    "{\"links\": [{\"bodies\": [{\"plane\": [1, 1]}]}, {\"joint\": {\"type\": \"free\"}, "
    "\"density\": 500, \"bodies\": [{\"sphere\": 0.1}]}], \"pairs\": [{\"a\": 1, \"b\": 0}]}",
    1);
  abut_worlds w = worlds_of(&p);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.state = some;
  g.springs = some;
  refused(abut_vjp_worlds(soft.scene, &w, &g), "the contacts of the scene are not springs");
  w.contacts = &contacts;
  refused(abut_step_worlds(p.scene, &w), "contacts must be NULL");
  w.contacts = NULL;
  w.springs = some;
  refused(abut_step_worlds(soft.scene, &w), "the contacts of the scene are not springs");
  w.contacts = &contacts; /* which were taken while springs beside them were forgotten */
  refused(abut_step_worlds(soft.scene, &w), "the contacts of the scene are not springs");
  play_close(&p);
  play_close(&soft);
  free(some);
}

/* ---- worlds that stop ---- */

typedef enum input { OF_Q, OF_V, OF_SPRINGS, OF_FRICTION, OF_STIFFNESS, OF_MASS, INPUTS } input;
static const size_t widths[INPUTS] = {15, 13, LAW *PAIRS, PAIRS, PAIRS, 4};

static const struct fault {
  input of;
  size_t at;
  double value;
  uint32_t status;
} faults[] = {
  {OF_Q, 2, NAN, ABUT_WORLD_BAD_INPUT},
  {OF_V, 12, INFINITY, ABUT_WORLD_BAD_INPUT},
  {OF_SPRINGS, 0, NAN, ABUT_WORLD_BAD_INPUT},
  {OF_SPRINGS, 6, 0.0, ABUT_WORLD_BAD_INPUT},
  {OF_SPRINGS, 1, -0.1, ABUT_WORLD_BAD_INPUT},
  {OF_SPRINGS, 2, 0.0, ABUT_WORLD_BAD_INPUT},
  {OF_SPRINGS, 9, -0.01, ABUT_WORLD_BAD_INPUT},
  {OF_SPRINGS, 4, 0.0, ABUT_WORLD_BAD_INPUT},
  {OF_SPRINGS, 11, INFINITY, ABUT_WORLD_BAD_INPUT},
  {OF_FRICTION, 1, NAN, ABUT_WORLD_BAD_INPUT},
  {OF_STIFFNESS, 0, NAN, ABUT_WORLD_BAD_INPUT},
  {OF_MASS, 1, -1.0, ABUT_WORLD_SINGULAR},
  {OF_MASS, 1, 0.0, ABUT_WORLD_SINGULAR},
  {OF_V, 2, 2e6, ABUT_WORLD_DIVERGED},
};
enum { FAULTS = sizeof faults / sizeof *faults };

typedef struct batch {
  void *in[INPUTS], *q, *v, *by_v;
  uint32_t status[WORLDS];
} batch;

static void batch_open(batch *b, abut_scene scene)
{
  static const double law[LAW] = {5000, 0.5, 0.1, 0.01, 5e-4, 2e-4};
  double start[15];
  uint64_t random = 3;
  REQUIRE_OK(abut_get_scene_start(scene, start));
  for (int k = 0; k < INPUTS; ++k) {
    b->in[k] = numbers();
    for (size_t i = 0; i < WORLDS * widths[k]; ++i) {
      real_put(b->in[k], precision, i,
               k == OF_Q         ? start[i % 15]
               : k == OF_V       ? 0.1 * random_normal(&random)
               : k == OF_SPRINGS ? law[i % LAW]
                                 : 0.8);
    }
  }
  b->q = numbers();
  b->v = numbers();
  b->by_v = numbers();
}

static void batch_close(batch *b)
{
  for (int k = 0; k < INPUTS; ++k) {
    free(b->in[k]);
  }
  free(b->q);
  free(b->v);
  free(b->by_v);
}

static void batch_run(batch *b, abut_scene scene)
{
  void *bar = numbers();
  fill(bar, WORLDS * 26, 1.0);
  abut_worlds w = abut_default_worlds();
  abut_worlds_gradients g = abut_default_worlds_gradients();
  w.count = WORLDS;
  w.steps = STEPS;
  w.q = b->in[OF_Q];
  w.v = b->in[OF_V];
  w.springs = b->in[OF_SPRINGS];
  w.friction = b->in[OF_FRICTION];
  w.stiffness = b->in[OF_STIFFNESS];
  w.mass_scale = b->in[OF_MASS];
  w.q_next = b->q;
  w.v_next = b->v;
  w.status = b->status;
  g.state = bar;
  g.v = b->by_v;
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
  free(bar);
}

static bool same_row(const void *a, const void *b, size_t i, size_t width)
{
  const size_t row = width * real_size(precision);
  return !memcmp((const char *)a + i * row, (const char *)b + i * row, row);
}

/* A world with a fault keeps its state and has gradients of 0; its neighbours see nothing of it. */
static void test_stops(void)
{
  char path[1024];
  abut_scene scene;
  batch whole, spoilt;
  void *none = numbers();
  snprintf(path, sizeof path, "%s/two-bricks-spring.scene.json", scenes);
  REQUIRE_OK(abut_load_scene(context, path, &scene));
  batch_open(&whole, scene);
  batch_open(&spoilt, scene);
  for (size_t i = 0; i < FAULTS; ++i) {
    const struct fault *f = &faults[i];
    real_put(spoilt.in[f->of], precision, (i + 4) * widths[f->of] + f->at, f->value);
  }
  batch_run(&whole, scene);
  batch_run(&spoilt, scene);
  for (size_t i = 0; i < WORLDS; ++i) {
    const bool stops = i >= 4 && i < 4 + FAULTS;
    const uint32_t status = stops ? faults[i - 4].status : 0;
    check(whole.status[i] == 0 && spoilt.status[i] == status, "world %zu: status %u, not %u", i,
          spoilt.status[i], status);
    check(((spoilt.status[i] & ABUT_WORLD_STOPS) != 0) == stops,
          "world %zu: whether it has stopped", i);
    check(same_row(spoilt.q, stops ? spoilt.in[OF_Q] : whole.q, i, 15), "world %zu: its q", i);
    check(same_row(spoilt.v, stops ? spoilt.in[OF_V] : whole.v, i, 13), "world %zu: its v", i);
    check(same_row(spoilt.by_v, stops ? none : whole.by_v, i, 13), "world %zu: its gradient", i);
  }
  batch_close(&whole);
  batch_close(&spoilt);
  CHECK_OK(abut_destroy_scene(scene));
  free(none);
}

/* ---- what a world may have of its own ---- */

static double push_of(const play *p, const abut_worlds *given, double *force_x)
{
  double push[6], multipliers[3];
  abut_worlds w = *given;
  w.constraint = push;
  w.multipliers = multipliers;
  CHECK_OK(abut_step_worlds(p->scene, &w));
  *force_x = real_at(multipliers, precision, 0);
  CHECK(fabs(real_at(push, precision, 2) - real_at(multipliers, precision, 2)) < 1e-4);
  return real_at(multipliers, precision, 2);
}

/* Box and plane: all points below are as deep as each other, so that the force is k s(-phi) D times
 * the normal less mu v / sqrt(v_s^2 + v^2): with springs of a world's own, its friction or its
 * stiffness. How the body is displaced and turned on its link is no matter. */
static void test_given(void)
{
  static const double usual[LAW] = {5000, 0.5, 0.1, 0.01, 5e-4, 2e-4};
  static const double other[LAW] = {2000, 0.3, 0.05, 0.02, 2e-4, 4e-4};
  const double limit = precision == ABUT_FLOAT64 ? 1e-9 : 2e-3;
  double friction[1], stiffness[1], law[LAW];
  play p;
  play_open_text(
    &p, context, precision,
    "{\"contact_model\": \"spring\", \"clouds\": true, \"integrator\": \"euler\", \"links\": "
    "[{\"bodies\": "
    "[{\"plane\": [1, 1]}]}, {\"joint\": {\"type\": \"free\"}, \"mass\": 1, \"inertia\": "
    "[[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"bodies\": [{\"box\": [0.4, 0.4, 0.4], \"position\": "
    "[0.1, -0.2, 0.3995], \"quaternion\": [0.7071067811865476, 0, 0.7071067811865476, 0]}]}], "
    "\"pairs\": [{\"a\": 1, \"b\": 0}]}",
    1);
  play_set_v(&p, 0, 0, 0.03);
  play_set_v(&p, 0, 2, -0.02);
  real_put(friction, precision, 0, 0.9);
  real_put(stiffness, precision, 0, 1.5);
  for (size_t i = 0; i < LAW; ++i) {
    real_put(law, precision, i, other[i]);
  }
  for (int way = 0; way < 8; ++way) {
    const double *own = way & 4 ? other : usual;
    abut_worlds w = worlds_of(&p);
    w.friction = way & 1 ? friction : NULL;
    w.stiffness = way & 2 ? stiffness : NULL;
    w.springs = way & 4 ? law : NULL;
    const double mu = way & 4 ? own[1] : way & 1 ? 0.9 : 0.5, k = own[0] * (way & 2 ? 1.5 : 1.0);
    const double normal = k * own[5] * log1p(exp(5e-4 / own[5])) * (1.0 + 0.02 / own[2]);
    const double along = -mu * normal * 0.03 / sqrt(own[3] * own[3] + 9e-4);
    double x, z = push_of(&p, &w, &x);
    check(fabs(z - normal) <= limit * normal && fabs(x - along) <= limit * normal,
          "given %d: force %.12g %.12g, not %.12g %.12g", way, x, z, along, normal);
  }
  play_close(&p);
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 2);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  scenes = argv[2];
  context = require_context(precision);
  test_planes();
  test_refusals();
  test_stops();
  test_given();
  return finish_context(context);
}
