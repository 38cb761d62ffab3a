#include "world/scene_def.h"

#include <string.h>

void scene_def_free(scene_def *s)
{
  arena_free(&s->memory);
  memset(s, 0, sizeof *s);
}

int joint_positions(joint_type type)
{
  static const int counts[] = {0, 1, 1, 4, 7};
  return counts[type];
}

int joint_dofs(joint_type type)
{
  static const int counts[] = {0, 1, 1, 3, 6};
  return counts[type];
}
