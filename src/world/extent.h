/* How large the bodies of a scene's pairs are, and what follows from it alone: how fast is too fast for a
 * step, and how deep springs give way. */
#ifndef ABUT_WORLD_EXTENT_H
#define ABUT_WORLD_EXTENT_H

#include "world/loaded.h"

/* Fills `half` and `ball` of the definition's pairs, once their bodies or clouds are there. */
abut_status scene_measure_pairs(loaded_scene *s);

/* Of LAW_SPRING: fills s->sinking by what rests on what at the scene's start. */
abut_status scene_find_sinking(loaded_scene *s);

#endif
