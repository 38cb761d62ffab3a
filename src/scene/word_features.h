/* Features and cones of the bodies that scenes describe by a word (docs/features.md). */
#ifndef ABUT_SCENE_WORD_FEATURES_H
#define ABUT_SCENE_WORD_FEATURES_H

#include "scene/definition.h"
#include <abut/body.h>

/* A `round` above 0 is at least this share of the shortest half length, and less than all of it. */
#define ROUND_LEAST 1e-3

/* Sets the features and cones of a definition: states_features and the members after it. The
 * lengths must be in range (body_shape_make). `round` is the radius of a box's corners and edges
 * and of a cylinder's rims; 0: they are sharp.
 * - sphere: 1 vertex of the sphere's radius, whose cone contains every normal
 * - capsule: 2 vertices, the lower one first, and the edge between them, of the capsule's radius
 * - box: 8 corners; number b has + in axis k if bit k of b is set; 12 edges, of radius `round`
 * - cylinder: 2 rims, circles of radius `round`, the lower one first; the middles of both ends and
 *   the axis between them, of the cylinder's radius
 * - plane: none
 * Edges have from < to and are in lexicographic order. Cones are those of the sharp body.
 *
 * Leaves an ellipsoid, a height field and a file unchanged: their features are those of their
 * meshes. The arrays of *out are allocated in `memory`. Fails with ABUT_ERROR_BODY if `round` is
 * out of range, or is given for another word. */
abut_status word_features_make(body_shape shape, const double size[3], double round, arena *memory,
                               abut_body_def *out);

#endif
