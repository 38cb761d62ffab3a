/* Inputs of worlds for which there are derivatives. */
#ifndef ABUT_CLI_WORLD_INPUTS_H
#define ABUT_CLI_WORLD_INPUTS_H

#include "world/worlds.h"

typedef enum world_input {
  BY_Q,
  BY_V,
  BY_U,
  BY_MASS_SCALE,
  BY_FRICTION,
  BY_STIFFNESS,
  BY_GRAVITY,
  BY_SPRINGS, /* if the scene's contacts are springs */
  WORLD_INPUTS
} world_input;

extern const char *const world_input_names[WORLD_INPUTS];

/* Numbers per world in derivatives by an input; for controls those of one step. */
size_t world_input_width(const abut_scene_info *info, int input);

/* Returns gradients with their destinations by input, (worlds, ...), except springs. */
abut_worlds_gradients world_gradients(void *const to[WORLD_INPUTS]);

#endif
