/* Derivatives of steps with hard contacts of bodies, against central differences of
 * abut_step_worlds itself, in float64; and that no number depends on how steps and worlds are
 * split: test_lcp_derivatives SCENES [NAME]
 *
 * Where bounces are timed ("elastic") derivatives are not those of the step: scenes leave that out.
 * A body at rest has its contacts at d = 0 or at the slop, where what is asked of them has a kink:
 * such columns are left out, as are all in whose way a contact comes or goes. */
#include "world/derive_compare.h"

#include <stdlib.h>
#include <string.h>

#define STEP_LIMIT 1e-6
#define ROLL_LIMIT 1e-4
#define ROLL_STEPS 20
#define LENGTH 1e-6
#define FAINT 1e-2 /* a velocity's rounding is more than STEP_LIMIT of what is less */

static abut_context context;
static const char *scenes;

/* A box pushed into a plane and held there; one that slides down a slope; one that tumbles on a
 * plane, with bounces; a ball and a rod that fall on a box, one of which bounces; an arm with
 * joints of all kinds, springs, servos, friction losses and a limit, whose hammer and hand touch a
 * box; bodies on a moved link and against its child. */
static const struct trial {
  const char *file;
  double scatter[3];
  size_t starts, keep, every;
  double rolls_left_out;
  bool sticks;
  double length; /* of differences, 0: LENGTH */
} trials[] = {
  {"rest", {1e-7, 1e-3}, 4, 2, 2, 0.1, true, 0.0},
  {"rest-polygon", {1e-7, 1e-3}, 4, 2, 2, 0.1, true, 0.0},
  {"slope", {1e-5, 0.05}, 4, 2, 3, 0.7, false, 0.0},
  {"slope-polygon", {1e-5, 0.05}, 4, 2, 3, 0.7, false, 0.0},
  {"spin", {1e-5, 0.2}, 4, 4, 3, 0.7, false, 0.0},
  {"feet-polygon", {1e-5, 0.1}, 4, 4, 5, 0.7, false, 0.0},
  {"tumble", {0.01, 1.0}, 4, 8, 12, 0.1, false, 0.0},
  {"tumble-polygon", {0.01, 1.0}, 4, 8, 12, 0.1, false, 0.0},
  {"beside", {1e-3, 0.1}, 4, 4, 10, 0.3, false, 0.0},
  {"beside-polygon", {1e-3, 0.1}, 4, 4, 10, 0.3, false, 0.0},
  {"arm", {1e-3, 0.3}, 4, 4, 10, 0.25, false, 0.0},
  {"pushed", {1e-4, 0.05, 1e-3}, 4, 2, 3, 0.3, true, 1e-7},
};

/* ---- the same to the bit ---- */

typedef struct outcome {
  double *state, *q, *v, *friction, *mass;
} outcome;

static void *zeros(size_t count)
{
  double *out = calloc(count + 1, sizeof *out);
  REQUIRE(out != NULL);
  return out;
}

static outcome outcome_new(const derive *d)
{
  const size_t nv = d->info.nv, n = d->count;
  return (outcome){zeros(n * (d->info.nq + nv)), zeros(n * nv), zeros(n * nv),
                   zeros(n * d->info.pairs), zeros(n * d->info.links)};
}

static void outcome_close(const outcome *o)
{
  free(o->state);
  free(o->q);
  free(o->v);
  free(o->friction);
  free(o->mass);
}

/* Of `count` worlds from `first` on. */
static void run(const derive *d, const double *bar, size_t first, size_t count, size_t segment,
                const outcome *to)
{
  const size_t nv = d->info.nv, nq = d->info.nq, all = d->count;
  derive part = *d;
  part.count = count;
  for (int k = 0; k < BY_ALL; ++k) {
    part.at[k] = d->at[k] + first * d->width[k];
  }
  abut_worlds w = derive_call(&part);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  w.q_next = to->state + first * nq;
  w.v_next = to->state + all * nq + first * nv;
  g.state = bar + first * 2 * nv;
  g.q = to->q + first * nv;
  g.v = to->v + first * nv;
  g.friction = to->friction + first * d->info.pairs;
  g.mass_scale = to->mass + first * d->info.links;
  g.segment = segment;
  CHECK_OK(abut_vjp_worlds(d->scene, &w, &g));
}

static bool is_same(const derive *d, const outcome *a, const outcome *b)
{
  const size_t n = d->count * sizeof(double), nv = d->info.nv;
  return !memcmp(a->state, b->state, n * (d->info.nq + nv)) && !memcmp(a->q, b->q, n * nv) &&
         !memcmp(a->v, b->v, n * nv) && !memcmp(a->friction, b->friction, n * d->info.pairs) &&
         !memcmp(a->mass, b->mass, n * d->info.links);
}

/* Kept states are at each step or at the first alone; worlds go all at once, once more, one by
 * one. */
static void check_splits(const char *name, const derive *d, uint64_t *random)
{
  const outcome whole = outcome_new(d), other = outcome_new(d);
  double *bar = zeros(d->count * 2 * d->info.nv), moved = 0.0;
  for (size_t i = 0; i < d->count * 2 * d->info.nv; ++i) {
    bar[i] = random_normal(random);
  }
  run(d, bar, 0, d->count, d->steps, &whole);
  run(d, bar, 0, d->count, 1, &other);
  check(is_same(d, &whole, &other), "%s: segments change numbers", name);
  run(d, bar, 0, d->count, d->steps, &other);
  check(is_same(d, &whole, &other), "%s: another run changes numbers", name);
  for (size_t i = 0; i < d->count; ++i) {
    run(d, bar, i, 1, 3, &other);
    moved += whole.v[i * d->info.nv];
  }
  check(is_same(d, &whole, &other), "%s: worlds change each other", name);
  CHECK(moved != 0.0);
  outcome_close(&whole);
  outcome_close(&other);
  free(bar);
}

/* ---- all ---- */

static void run_trial(const struct trial *of, uint64_t *random)
{
  const derive_scene file = {of->file, "", 3};
  derive_trial named = {.step_limit = STEP_LIMIT,
                        .roll_limit = ROLL_LIMIT,
                        .faint = FAINT,
                        .left_out = 0.25}; /* Each corner that rests is a kink of its own. */
  abut_scene scene;
  derive d;
  named.without[BY_STIFFNESS] = true;
  named.without[BY_FRICTION] = of->sticks;
  snprintf(named.name, sizeof named.name, "%s", of->file);
  REQUIRE_OK(derive_load(scenes, "", &file, context, &scene));
  derive_open(&d, scene, of->starts, of->keep, of->every, of->scatter, random);
  CHECK_EQUAL(d.count, of->starts * of->keep);
  d.length = of->length > 0.0 ? of->length : LENGTH;
  derive_compare(&named, &d, random);
  d.steps = ROLL_STEPS;
  d.count = 2;
  named.left_out = of->rolls_left_out;
  derive_compare(&named, &d, random);
  d.count = 5;
  check_splits(of->file, &d, random);
  derive_close(&d);
  CHECK_OK(abut_destroy_scene(scene));
}

int main(int argc, char **argv)
{
  REQUIRE(argc > 1);
  scenes = argv[1];
  context = require_context(ABUT_FLOAT64);
  for (size_t i = 0; i < sizeof trials / sizeof *trials; ++i) {
    uint64_t random = 5;
    if (argc < 3 || !strcmp(trials[i].file, argv[2])) {
      run_trial(&trials[i], &random);
    }
  }
  return finish_context(context);
}
