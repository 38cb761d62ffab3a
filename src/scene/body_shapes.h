/* Bodies of simple shapes, which scenes describe by a name and a few lengths, without a file. */
#ifndef ABUT_SCENE_BODY_SHAPES_H
#define ABUT_SCENE_BODY_SHAPES_H

#include "scene/definition.h"
#include "scene/shape_mesh.h"
#include <abut/body.h>

/* Makes a body for abut_create_body: its contact mesh, which is closed and faces outward, and its
 * field.
 *
 * - box: 8 vertices, quads; a core, whose edges have the radius `round`
 * - plane: the same, as a slab below z = 0 that is as thick as the shorter of both half lengths
 * - sphere: 642 vertices; a core
 * - ellipsoid: 642 vertices; a superquadric, whose field is the distance along the ray from the
 *   centre
 * - capsule, cylinder: 32 sides; a core, of a cylinder with rims of the radius `round`
 *
 * Where `round` is 0 the field rounds the edges of boxes, planes and cylinders by a fiftieth of the
 * shortest half length. Meshes have sharp edges whatever `round` is.
 *
 * What *out points to is of `memory`. Fails with ABUT_ERROR_BODY where sizes are out of range, and
 * with ABUT_ERROR_ARGUMENT for a file and a height field. */
abut_status body_shape_make(body_shape shape, const double size[3], double round, arena *memory,
                            abut_body_def *out);

/* what edges of fields are rounded by where none is stated, of the shortest half length */
#define SHAPE_SHARP (1.0 / 50.0)
#define SHAPE_ROUND_LEAST 1e-3 /* of the shortest half length; or 0 */

/* Returns whether a shape of these lengths may have edges of this radius. */
bool body_shape_may_be_round(body_shape shape, const double size[3], double round);

/* Does the same for a height field, which must be in range and outlive *out: as abut_create_body
 * does where a definition has no vertices. */
abut_status body_of_heights(const abut_height_field *h, arena *memory, abut_body_def *out);

#endif
