/* A step and its gradient from random starts in which bodies are deep in each other:
 *   test_overlaps PRECISION SCENES ASSETS GOLDEN COUNT [SCENE]
 *
 * COUNT starts over all scenes. What comes is finite, also where a world has a status, and Newton's
 * method ends. On the device of ABUT_TEST_DEVICE. */
#include "derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of all steps, over all scenes. */
#define UNDONE_LIMIT 1e-4

static abut_context context;
static abut_precision precision;
static const char *scenes, *assets, *golden;

/* dofs: t moves along [m], r turns a free link, h a hinge; scattered by their own widths. Where no
 * condim is stated the scene is a golden one. */
static const struct trial {
  derive_scene scene;
  const char *dofs;
} trials[] = {
  {{"derive-shapes", "", 3}, "tttrrrtttrrrth"},
  {{"derive-shapes", "\"cone\": \"pyramidal\"", 3}, "tttrrrtttrrrth"},
  {{"derive-shapes", "\"diagonal\": \"exact\"", 3}, "tttrrrtttrrrth"},
  {{"derive-shapes", "\"cone_smoothing\": 0.5, \"limit_smoothing\": 0.01", 3}, "tttrrrtttrrrth"},
  {{"derive-shapes", "\"impratio\": 10, \"integrator\": \"rk4\"", 3}, "tttrrrtttrrrth"},
  {{"derive-shapes", "", 1}, "tttrrrtttrrrth"},
  {{"derive-assets", "", 3}, "tttrrrttttrrr"},
  {{"cone-drill-screwdriver", "", 0}, "tttrrrtttrrr"},
  {{"cone-figure-pair", "", 0}, "tttrrrtttrrr"},
  {{"derive-assets", "\"diagonal\": \"exact\", \"cone_smoothing\": 0.5", 3}, "tttrrrttttrrr"},
};
enum { TRIALS = sizeof trials / sizeof *trials, BATCH = 500, TOLD = 5 };

typedef struct batch {
  abut_scene_info info;
  size_t count;
  void *q, *v, *u, *q_next, *v_next, *cotangent, *gradient[BY_ALL];
  uint32_t *status;
} batch;

typedef struct tally {
  size_t steps, touching, undone, with_status, not_finite;
} tally;

static void *zeros(size_t count, size_t size)
{
  void *out = calloc(count + 1, size);
  REQUIRE(out != NULL);
  return out;
}

static const size_t *widths(const abut_scene_info *i, size_t out[BY_ALL])
{
  const size_t width[BY_ALL] = {i->nv, i->nv, i->nu, i->links, i->pairs, i->pairs, 3};
  memcpy(out, width, sizeof width);
  return out;
}

static void batch_open(batch *b, abut_scene scene, size_t count)
{
  const size_t size = real_size(precision);
  size_t width[BY_ALL];
  REQUIRE_OK(abut_get_scene_info(scene, &b->info));
  b->count = count;
  b->q = zeros(count * b->info.nq, size);
  b->v = zeros(count * b->info.nv, size);
  b->u = zeros(count * b->info.nu, size);
  b->q_next = zeros(count * b->info.nq, size);
  b->v_next = zeros(count * b->info.nv, size);
  b->cotangent = zeros(count * 2 * b->info.nv, size);
  b->status = zeros(count, sizeof *b->status);
  widths(&b->info, width);
  for (int k = 0; k < BY_ALL; ++k) {
    b->gradient[k] = zeros(count * width[k], size);
  }
}

static void batch_close(batch *b)
{
  for (int k = 0; k < BY_ALL; ++k) {
    free(b->gradient[k]);
  }
  free(b->q);
  free(b->v);
  free(b->u);
  free(b->q_next);
  free(b->v_next);
  free(b->cotangent);
  free(b->status);
}

static void start(batch *b, abut_scene scene, const char *dofs, uint64_t *random)
{
  const size_t nq = b->info.nq, nv = b->info.nv;
  double *from = zeros(nq, sizeof *from);
  void *by = zeros(b->count * nv, real_size(precision));
  REQUIRE(strlen(dofs) == nv);
  REQUIRE_OK(abut_get_scene_start(scene, from));
  for (size_t i = 0; i < b->count * nq; ++i) {
    real_put(b->q, precision, i, from[i % nq]);
  }
  for (size_t i = 0; i < b->count * nv; ++i) {
    const char dof = dofs[i % nv];
    real_put(by, precision, i,
             (dof == 't'   ? 0.04
              : dof == 'r' ? 1.5
                           : 0.3) *
               random_normal(random));
    real_put(b->v, precision, i, (dof == 't' ? 1.0 : 3.0) * random_normal(random));
  }
  REQUIRE_OK(abut_add_positions(scene, b->count, b->q, by, b->q));
  for (size_t i = 0; i < b->count * b->info.nu; ++i) {
    real_put(b->u, precision, i, random_normal(random));
  }
  for (size_t i = 0; i < b->count * 2 * nv; ++i) {
    real_put(b->cotangent, precision, i, random_normal(random));
  }
  free(from);
  free(by);
}

static void run(batch *b, abut_scene scene)
{
  abut_worlds w = abut_default_worlds();
  w.count = b->count;
  w.q = b->q;
  w.v = b->v;
  w.u = b->u;
  w.q_next = b->q_next;
  w.v_next = b->v_next;
  w.status = b->status;
  abut_worlds_gradients g = derive_gradients(&b->info, b->gradient);
  g.state = b->cotangent;
  CHECK_OK(abut_vjp_worlds(scene, &w, &g));
}

static bool finite_row(const void *array, size_t row, size_t width)
{
  bool finite = true;
  for (size_t i = 0; i < width; ++i) {
    finite = finite && isfinite(real_at(array, precision, row * width + i));
  }
  return finite;
}

/* Contacts push: their stiffness counts. */
static bool touches(const batch *b, size_t i)
{
  bool any = false;
  for (size_t k = 0; k < b->info.pairs; ++k) {
    any = any || real_at(b->gradient[BY_STIFFNESS], precision, i * b->info.pairs + k) != 0.0;
  }
  return any;
}

static void judge(const batch *b, const struct trial *of, size_t first, tally *t)
{
  size_t width[BY_ALL];
  widths(&b->info, width);
  for (size_t i = 0; i < b->count; ++i) {
    bool finite = finite_row(b->q_next, i, b->info.nq) && finite_row(b->v_next, i, b->info.nv);
    for (int k = 0; k < BY_ALL; ++k) {
      finite = finite && finite_row(b->gradient[k], i, width[k]);
    }
    const uint32_t status = b->status[i];
    ++t->steps;
    t->touching += touches(b, i);
    t->undone += (status & ABUT_WORLD_NOT_CONVERGED) != 0;
    t->with_status += (status & ~(uint32_t)ABUT_WORLD_NOT_CONVERGED) != 0;
    t->not_finite += !finite;
    if ((status && t->undone + t->with_status <= TOLD) || !finite) {
      printf("%s {%s} condim %d: start %zu has status %u%s\n", of->scene.file, of->scene.options,
             of->scene.condim, first + i, status, finite ? "" : ", not finite");
    }
  }
}

static abut_status load(const derive_scene *of, abut_scene *scene)
{
  char path[1024];
  if (of->condim) {
    return derive_load(scenes, assets, of, context, scene);
  }
  snprintf(path, sizeof path, "%s/%s/scene.json", golden, of->file);
  return abut_load_scene(context, path, scene);
}

static void run_trial(const struct trial *of, size_t count, tally *all)
{
  abut_scene scene;
  tally t = {.steps = 0};
  uint64_t random = 23; /* starts of a scene do not depend on others */
  REQUIRE_OK(load(&of->scene, &scene));
  while (t.steps < count) {
    const size_t left = count - t.steps;
    batch b;
    batch_open(&b, scene, left < BATCH ? left : BATCH);
    start(&b, scene, of->dofs, &random);
    const size_t first = t.steps;
    run(&b, scene);
    judge(&b, of, first, &t);
    batch_close(&b);
  }
  CHECK_OK(abut_destroy_scene(scene));
  printf("%s {%s} condim %d: %zu starts, %zu in touch, Newton undone in %zu, another status in "
         "%zu, not finite %zu\n",
         of->scene.file, of->scene.options, of->scene.condim, t.steps, t.touching, t.undone,
         t.with_status, t.not_finite);
  check(2 * t.touching > t.steps, "%s: only %zu of %zu touch", of->scene.file, t.touching, t.steps);
  all->steps += t.steps;
  all->undone += t.undone;
  all->with_status += t.with_status;
  all->not_finite += t.not_finite;
}

/* Starts of a run that any test may make. */
#define USUAL 5000

int main(int argc, char **argv)
{
  tally all = {.steps = 0};
  REQUIRE(argc > 5);
  precision = strcmp(argv[1], "f64") ? ABUT_FLOAT32 : ABUT_FLOAT64;
  scenes = argv[2];
  assets = argv[3];
  golden = argv[4];
  if (atoi(argv[5]) > USUAL && !getenv("ABUT_TEST_ALL")) {
    printf("not run: more than %d starts take minutes; ABUT_TEST_ALL=1 lets them\n", USUAL);
    return 77;
  }
  context = require_context(precision);
  const size_t count = ((size_t)atoi(argv[5]) + TRIALS - 1) / TRIALS;
  for (int i = 0; i < TRIALS; ++i) {
    if (argc == 6 || strstr(trials[i].scene.file, argv[6])) {
      run_trial(&trials[i], count, &all);
    }
  }
  const double share = (double)all.undone / (double)all.steps;
  printf("%zu starts: Newton undone in a share of %.2g, another status in %zu\n", all.steps, share,
         all.with_status);
  CHECK_EQUAL(all.not_finite, 0);
  check(share < UNDONE_LIMIT, "Newton is undone in %zu of %zu", all.undone, all.steps);
  return finish_context(context);
}
