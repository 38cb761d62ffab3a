#include "world/clouds.h"

#include "base/error.h"
#include <stdlib.h>

abut_status scene_clouds_load(const scene_def *s, scene_clouds *out)
{
  (void)s;
  *out = (scene_clouds){0};
  return fail(ABUT_ERROR_ARGUMENT, "not yet");
}

void scene_clouds_free(scene_clouds *c)
{
  *c = (scene_clouds){0};
}
