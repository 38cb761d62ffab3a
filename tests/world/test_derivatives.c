/* Derivatives of steps and of rollouts against central differences of abut_step_worlds itself, in
 * float64: test_derivatives SCENES ASSETS quick | full
 *
 * derive_compare prints what differs. */
#include "derive_compare.h"

#include <stdlib.h>
#include <string.h>

#define STEP_LIMIT 1e-5
#define HEAP_LIMIT 1e-6 /* of heaps */
#define ROLL_LIMIT 1e-4
#define ROLL_STEPS 20
#define FAINT 1e-4

static abut_context context;
static const char *scenes, *assets;
static bool full;

/* What is as it stands is told by the scene: joints of all kinds with springs, dampers, armature,
 * friction loss in both zones, limits in and out of touch, actuators of all kinds; bodies by all
 * words; bodies of files. */
static const struct trial {
  derive_scene scene;
  double scatter[3];
  bool quick, rolls; /* also in the short test; with rollouts there */
} trials[] = {
  {{"derive-tree", "", 3}, {0.3, 0.5}, true, true},
  {{"derive-tree", "\"integrator\": \"rk4\"", 3}, {0.3, 0.5}, true, true},
  {{"derive-tree", "\"limit_smoothing\": 0.02", 3}, {0.3, 0.5}, true, true},
  {{"derive-tree", "\"diagonal\": \"exact\"", 3}, {0.3, 0.5}, true, true},
  {{"derive-tree",
    "\"diagonal\": \"exact\", \"cone_smoothing\": 0.5, \"limit_smoothing\": 0.02, "
    "\"integrator\": \"rk4\"",
    3},
   {0.3, 0.5},
   false,
   false},
  {{"derive-shapes", "", 3}, {0.01, 0.2}, true, false},
  {{"derive-shapes", "\"integrator\": \"rk4\"", 3}, {0.01, 0.2}, false, false},
  {{"derive-shapes", "\"cone_smoothing\": 0.5, \"limit_smoothing\": 0.01", 3},
   {0.01, 0.2},
   true,
   true},
  {{"derive-shapes", "\"cone_smoothing\": 0.5, \"impratio\": 4", 3}, {0.01, 0.2}, false, false},
  {{"derive-shapes", "\"diagonal\": \"exact\"", 3}, {0.01, 0.2}, true, false},
  {{"derive-shapes", "\"diagonal\": \"exact\", \"cone_smoothing\": 0.5, \"integrator\": \"rk4\"",
    3},
   {0.01, 0.2},
   false,
   false},
  {{"derive-shapes", "\"cone\": \"pyramidal\"", 3}, {0.01, 0.2}, true, false},
  {{"derive-shapes", "\"cone\": \"pyramidal\", \"diagonal\": \"exact\", \"impratio\": 2", 3},
   {0.01, 0.2},
   false,
   false},
  {{"derive-shapes", "\"cone\": \"pyramidal\", \"cone_smoothing\": 0.5", 3},
   {0.01, 0.2},
   false,
   false},
  {{"derive-pyramids", "\"cone\": \"pyramidal\"", 3}, {0.01, 0.2}, true, false},
  {{"derive-pyramids", "\"cone\": \"pyramidal\", \"diagonal\": \"exact\"", 3},
   {0.01, 0.2},
   true,
   false},
  {{"derive-pyramids", "\"cone\": \"pyramidal\", \"cone_smoothing\": 0.5, \"integrator\": \"rk4\"",
    3},
   {0.01, 0.2},
   false,
   false},
  {{"derive-pyramids", "", 3}, {0.01, 0.2}, false, false},
  {{"derive-shapes", "\"impratio\": 5", 3}, {0.01, 0.2}, false, false},
  {{"derive-shapes", "", 1}, {0.01, 0.2}, true, false},
  {{"derive-shapes", "\"diagonal\": \"exact\", \"cone_smoothing\": 0.5", 1},
   {0.01, 0.2},
   false,
   false},
  {{"derive-assets", "", 3}, {0.01, 0.2}, false, false},
  {{"derive-assets", "\"cone_smoothing\": 0.5", 3}, {0.01, 0.2}, false, false},
  {{"derive-assets", "\"cone\": \"pyramidal\", \"diagonal\": \"exact\"", 3},
   {0.01, 0.2},
   false,
   false},
  {{"derive-assets", "\"integrator\": \"rk4\"", 1}, {0.01, 0.2}, false, false},
};

/* Equalities of all kinds, tendons with springs and as what actuators pull, and a contact; moved
 * links that drag by equalities and that push by contacts. Hard contacts have no stiffness, and
 * change their classes within a rollout. */
static const struct trial linkages[] = {
  {{"derive-linkage", "", 3}, {0.005, 0.2}, true, true},
  {{"derive-linkage", "\"integrator\": \"rk4\", \"cone_smoothing\": 0.5", 3},
   {0.01, 0.2},
   false,
   false},
  {{"derive-linkage", "\"diagonal\": \"exact\", \"limit_smoothing\": 0.02", 3},
   {0.005, 0.2},
   true,
   false},
  {{"derive-linkage", "\"contact_model\": \"lcp\"", 1}, {0.01, 0.2}, true, false},
  {{"derive-linkage", "\"contact_model\": \"lcp\", \"gravity\": [6, 3, -30]", 3},
   {0.002, 0.6},
   false,
   false},
  {{"derive-moved", "", 1}, {0.005, 0.2, 0.05}, true, false},
  {{"derive-moved", "\"integrator\": \"rk4\", \"diagonal\": \"exact\"", 1},
   {0.005, 0.2, 0.05},
   true,
   false},
  {{"derive-moved", "\"contact_model\": \"lcp\"", 1}, {0.005, 0.2, 0.05}, true, false},
  {{"derive-pushed", "", 3}, {0.002, 0.2, 0.003}, true, true},
  {{"derive-pushed", "\"cone_smoothing\": 0.5, \"diagonal\": \"exact\"", 3},
   {0.002, 0.2, 0.003},
   false,
   false},
};

/* Piles, what lies on terrain and what lies beside seams, whose pairs are automatic: a step of a
 * world in which they land, some sticking, some sliding. */
static const struct heap {
  derive_scene scene;
  size_t after; /* steps */
  double scatter[3];
} heaps[] = {{{"derive-pile", "", 3}, 40, {0.005, 0.1}},
             {{"derive-terrain", "", 3}, 40, {0.005, 0.1}},
             {{"derive-seams", "", 3}, 2, {0.001, 0.4}}};

static void run_heap(const struct heap *of, uint64_t *random)
{
  abut_scene scene;
  derive d;
  derive_trial named = {.step_limit = HEAP_LIMIT, .faint = FAINT, .left_out = 0.1};
  snprintf(named.name, sizeof named.name, "%s", of->scene.file);
  REQUIRE_OK(derive_load(scenes, assets, &of->scene, context, &scene));
  derive_open(&d, scene, 1, 1, of->after, of->scatter, random);
  derive_compare(&named, &d, random);
  derive_close(&d);
  CHECK_OK(abut_destroy_scene(scene));
}

static void run_trial(const struct trial *of, uint64_t *random)
{
  abut_scene scene;
  derive d;
  derive_trial named = {.step_limit = STEP_LIMIT,
                        .roll_limit = ROLL_LIMIT,
                        .faint = FAINT,
                        .left_out = 0.1};
  const bool hard = strstr(of->scene.options, "lcp") != NULL;
  named.without[BY_FRICTION] = of->scene.condim == 1;
  named.without[BY_STIFFNESS] = hard;
  snprintf(named.name, sizeof named.name, "%s {%s}%s", of->scene.file, of->scene.options,
           of->scene.condim == 1 ? " condim 1" : "");
  REQUIRE_OK(derive_load(scenes, assets, &of->scene, context, &scene));
  derive_open(&d, scene, full ? 8 : 4, full ? 3 : 1, 20, of->scatter, random);
  derive_compare(&named, &d, random);
  const size_t count = d.count, few = full ? 4 : 1;
  d.steps = ROLL_STEPS;
  d.count = count < few ? count : few;
  if ((full && !hard) || of->rolls) {
    derive_compare(&named, &d, random);
  }
  derive_close(&d);
  CHECK_OK(abut_destroy_scene(scene));
}

int main(int argc, char **argv)
{
  uint64_t random = 17;
  REQUIRE(argc > 3);
  scenes = argv[1];
  assets = argv[2];
  full = !strcmp(argv[3], "full");
  if (full && argc == 4 && !getenv("ABUT_TEST_ALL")) {
    printf("not run: all scenes take minutes; ABUT_TEST_ALL=1 lets them\n");
    return 77;
  }
  context = require_context(ABUT_FLOAT64);
  for (size_t i = 0; i < sizeof trials / sizeof *trials; ++i) {
    if (argc > 4 ? strstr(trials[i].scene.file, argv[4]) != NULL : full || trials[i].quick) {
      run_trial(&trials[i], &random);
    }
  }
  for (size_t i = 0; i < sizeof heaps / sizeof *heaps; ++i) {
    if (argc <= 4 || strstr(heaps[i].scene.file, argv[4])) {
      run_heap(&heaps[i], &random);
    }
  }
  for (size_t i = 0; i < sizeof linkages / sizeof *linkages; ++i) {
    if (argc > 4 ? strstr(linkages[i].scene.file, argv[4]) != NULL : full || linkages[i].quick) {
      run_trial(&linkages[i], &random);
    }
  }
  return finish_context(context);
}
