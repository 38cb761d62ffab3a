/* Bodies of simple shapes, which scenes describe by a name and a few lengths, without a file. */
#ifndef ABUT_SCENE_BODY_SHAPES_H
#define ABUT_SCENE_BODY_SHAPES_H

#include "scene/definition.h"
#include "scene/shape_mesh.h"
#include <abut/body.h>

/* Makes a body for abut_create_body: its contact mesh, which is closed with outward faces, and its
 * field.
 * - box: 8 vertices, quads; a core, whose edges have the radius `round`
 * - plane: the same, as a slab below z = 0 whose thickness is the shorter half length
 * - sphere: 642 vertices; a core
 * - ellipsoid: 642 vertices; a superquadric, whose field is the distance along the ray from the
 *   centre
 * - capsule, cylinder: 32 sides; a core, for a cylinder with rims of the radius `round`
 * If `round` is 0, the field rounds the edges of boxes, planes and cylinders by a fiftieth of the
 * shortest half length. Meshes always have sharp edges.
 *
 * The arrays of *out are allocated in `memory`. Fails with ABUT_ERROR_BODY if sizes are out of
 * range, and with ABUT_ERROR_ARGUMENT for a file and a height field. */
abut_status body_shape_make(body_shape shape, const double size[3], double round, arena *memory,
                            abut_body_def *out);

/* default rounding of edges in fields, relative to the shortest half length */
#define SHAPE_SHARP (1.0 / 50.0)
#define SHAPE_ROUND_LEAST 1e-3 /* relative to the shortest half length; or 0 */

/* Returns whether a shape of these lengths may have edges of this radius. */
bool body_shape_may_be_round(body_shape shape, const double size[3], double round);

/* Does the same for a height field, which must be in range and outlive *out; the result is that of
 * abut_create_body for a definition without vertices. */
abut_status body_of_heights(const abut_height_field *h, arena *memory, abut_body_def *out);

#endif
