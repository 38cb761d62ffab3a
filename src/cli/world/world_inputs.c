#include "world/world_inputs.h"

const char *const world_input_names[WORLD_INPUTS] = {"q",          "v",        "u",
                                                     "mass_scale", "friction", "stiffness",
                                                     "gravity",    "springs"};

size_t world_input_width(const abut_scene_info *info, int input)
{
  const size_t widths[WORLD_INPUTS] = {
    info->nv,         info->nv,         info->nu, info->links,
    info->parameters, info->parameters, 3,        SPRING_WIDTH * info->springs};
  return widths[input];
}

abut_worlds_gradients world_gradients(void *const to[WORLD_INPUTS])
{
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.q = to[BY_Q];
  g.v = to[BY_V];
  g.u = to[BY_U];
  g.mass_scale = to[BY_MASS_SCALE];
  g.friction = to[BY_FRICTION];
  g.stiffness = to[BY_STIFFNESS];
  g.gravity = to[BY_GRAVITY];
  return g;
}
