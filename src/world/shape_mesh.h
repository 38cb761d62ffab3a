/* Closed meshes of simple shapes, their faces counterclockwise seen from outside. */
#ifndef ABUT_WORLD_SHAPE_MESH_H
#define ABUT_WORLD_SHAPE_MESH_H

#include "base/memory.h"
#include <abut/body.h>

#define SHAPE_SIDES 32 /* of what is turned about z */

/* Each sets the mesh of *out, which is of `memory`, and nothing else. Flat sides have vertices that no
 * face names: a side is held wherever another body's side covers it, not by its corners alone. */

/* points: beside the corners, on all sides. */
abut_status make_box_mesh(const double lower[3], const double upper[3], bool points, arena *memory,
                          abut_body_def *out);
abut_status make_ball_mesh(const double half[3], arena *memory, abut_body_def *out);

/* Rings about z, from below, as (radius, height); between poles at +-top, or closed by a polygon at
 * both ends where top is 0. */
abut_status make_turned_mesh(double (*rings)[2], size_t count, double top, arena *memory,
                         abut_body_def *out);

#endif
