/* Derivatives of worlds of springs against central differences of abut_step_worlds itself, in
 * float64: test_spring_derivatives SCENES ASSETS
 *
 * Scenes of other laws, whose keys springs leave aside: trees with joints of all kinds, limits,
 * friction losses and actuators; bodies by all words on free links and on a hammer. Springs between
 * clouds and at contacts. */
#include "world/derive_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPRINGS "\"contact_model\": \"spring\", \"integrator\": "
#define STEP_LIMIT 1e-6
#define ROLL_LIMIT 1e-5
#define FAINT 1e-2 /* a velocity's rounding is more than STEP_LIMIT of what is less */

enum { ROLL_STEPS = 5 };

static const struct trial {
  derive_scene scene;
  double scatter[3];
  size_t starts;
  bool rolls;
} trials[] = {
  {{"derive-tree", SPRINGS "\"euler\"", 3}, {0.3, 0.5}, 4, false}, /* thrown back by limits */
  {{"derive-tree", SPRINGS "\"rk4\"", 3}, {0.12, 0.3}, 4, false},
  {{"derive-tree", SPRINGS "\"euler\"", 3}, {0.03, 0.2}, 4, true},
  {{"derive-tree", SPRINGS "\"rk4\"", 3}, {0.03, 0.2}, 4, true},
  {{"derive-tree", SPRINGS "\"implicit\"", 3}, {0.03, 0.2}, 4, true},
  {{"two-bricks-spring", "\"integrator\": \"implicit\"", 3}, {2e-4, 0.05}, 4, true},
  {{"two-bricks-spring", "\"integrator\": \"euler\"", 3}, {2e-4, 0.05}, 4, true},
  {{"two-bricks-spring", "\"integrator\": \"rk4\"", 3}, {2e-4, 0.05}, 4, true},
  {{"derive-shapes", SPRINGS "\"euler\", \"clouds\": true", 3}, {1e-3, 0.05}, 1, false},
  {{"derive-shapes", SPRINGS "\"euler\"", 3}, {1e-3, 0.05}, 1, false},
  {{"derive-pushed", SPRINGS "\"implicit\"", 3}, {2e-4, 0.05, 1e-3}, 4, true},
  {{"derive-pushed", SPRINGS "\"rk4\", \"clouds\": true", 3}, {2e-4, 0.05, 1e-3}, 2, false},
  {{"spring-contacts", "\"integrator\": \"implicit\"", 3}, {2e-4, 0.05}, 4, true},
  {{"spring-contacts", "\"integrator\": \"euler\"", 3}, {2e-4, 0.05}, 4, true},
  {{"spring-contacts", "\"integrator\": \"rk4\"", 3}, {2e-4, 0.05}, 4, true},
};

static void run_trial(const struct trial *of, const char *const folders[2], abut_context context,
                      uint64_t *random)
{
  abut_scene scene;
  derive d;
  derive_trial named = {.step_limit = STEP_LIMIT,
                        .roll_limit = ROLL_LIMIT,
                        .faint = FAINT,
                        .left_out = 0.1};
  snprintf(named.name, sizeof named.name, "%s {%s}", of->scene.file, of->scene.options);
  REQUIRE_OK(derive_load(folders[0], folders[1], &of->scene, context, &scene));
  derive_open(&d, scene, of->starts, 1, 3, of->scatter, random);
  derive_compare(&named, &d, random);
  d.steps = ROLL_STEPS;
  d.count = d.count < 2 ? d.count : 2;
  /* as the others do */
  if (of->rolls && !(usual_share() && of == &trials[sizeof trials / sizeof *trials - 1])) {
    derive_compare(&named, &d, random);
  }
  derive_close(&d);
  CHECK_OK(abut_destroy_scene(scene));
}

int main(int argc, char **argv)
{
  uint64_t random = 17;
  REQUIRE(argc > 2);
  const char *const folders[2] = {argv[1], argv[2]};
  abut_context context = require_context(ABUT_FLOAT64);
  for (size_t i = 0; i < sizeof trials / sizeof *trials; ++i) {
    if (argc < 4 || strstr(trials[i].scene.file, argv[3])) {
      run_trial(&trials[i], folders, context, &random);
    }
  }
  return finish_context(context);
}
