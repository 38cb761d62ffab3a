/* Size and thickness of the bodies of a scene's pairs. Steps use them to detect bodies that may
 * pass through each other within a step (status 128, docs/simulate.md, "Too fast, too stiff"). */
#ifndef ABUT_WORLD_EXTENT_H
#define ABUT_WORLD_EXTENT_H

#include "world/loaded.h"

/* The box around a body in its own frame, and the body's thickness [m], 0 if unknown. */
typedef struct extent {
  double lower[3], upper[3], thickness;
} extent;

/* Finds the extent of the body on side 0 or 1 of a pair. The extent of a plane follows from its
 * lengths. The law's `measure` finds the extents of other bodies. extent_of_body is such a
 * `measure`, based on the loaded body. */
abut_status extent_of(const loaded_scene *s, const scene_pair *p, int side, extent *out);
abut_status extent_of_body(const loaded_scene *s, const scene_pair *p, int side, extent *out);

/* Returns the diagonal of the box [m]. */
double extent_diagonal(const extent *e);

/* Fills `half` and `ball` of the definition's pairs, after the law has loaded its bodies or clouds.
 */
abut_status scene_measure_pairs(loaded_scene *s);

#endif
