/* What worlds begin with, by each of which there are derivatives. */
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
  BY_SPRINGS, /* where the scene's contacts are */
  WORLD_INPUTS
} world_input;

extern const char *const world_input_names[WORLD_INPUTS];

/* Numbers of a world's derivatives by an input; of controls those of a step. */
size_t world_input_width(const abut_scene_info *info, int input);

/* Room for gradients by their inputs, (worlds, ...), but for springs. */
abut_worlds_gradients world_gradients(void *const to[WORLD_INPUTS]);

#endif
