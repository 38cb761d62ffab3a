/* How large the bodies of a scene's pairs are, and what follows from it alone: how fast is too fast for a
 * step. */
#ifndef ABUT_WORLD_EXTENT_H
#define ABUT_WORLD_EXTENT_H

#include "world/loaded.h"

/* A body's box in its own frame, and how thick it is [m]; 0: not known. */
typedef struct extent {
  double lower[3], upper[3], thickness;
} extent;

/* The extent of a body of a pair, side 0 or 1; of one that is no plane, by its field. */
abut_status extent_of(const loaded_scene *s, const scene_pair *p, int side, extent *out);
abut_status extent_of_body(const loaded_scene *s, const scene_pair *p, int side, extent *out);
double extent_diagonal(const extent *e);

/* Fills `half` and `ball` of the definition's pairs, once their bodies or clouds are there. */
abut_status scene_measure_pairs(loaded_scene *s);

#endif
