/* Bodies that a word and a few lengths tell, so that scenes need no files for them. */
#ifndef ABUT_WORLD_BODY_SHAPES_H
#define ABUT_WORLD_BODY_SHAPES_H

#include "world/scene_def.h"
#include "world/shape_mesh.h"
#include <abut/body.h>

/* A body for abut_create_body: its contact mesh, closed and outward, and its field.
 *
 * box        8 vertices, quads; a polyhedron, whose sides are exact planes
 * plane      the same, a slab below z = 0 as thick as the shorter of both half lengths
 * sphere, ellipsoid   642 vertices; a superquadric: of a sphere the distance itself, of an
 *            ellipsoid that along the ray from its centre
 * capsule, cylinder   32 sides; a grid of the Euclidean distance
 *
 * points     how many are on flat sides, and how many rings along straight ones
 *
 * What it points to is of `memory`. Fails with ABUT_ERROR_BODY where sizes are out of range. */
abut_status body_shape_make(body_shape shape, const double size[3], side_points points,
                           arena *memory, abut_body_def *out);

#endif
