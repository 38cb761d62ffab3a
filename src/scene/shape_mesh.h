/* Closed meshes of simple shapes, with faces counterclockwise seen from outside. */
#ifndef ABUT_SCENE_SHAPE_MESH_H
#define ABUT_SCENE_SHAPE_MESH_H

#include "base/memory.h"
#include <abut/body.h>

#define SHAPE_SIDES 32 /* sides of shapes that are round about z */

/* Each function sets the mesh of *out, allocated in `memory`, and leaves the rest of *out
 * unchanged. */

abut_status make_box_mesh(const double lower[3], const double upper[3], arena *memory,
                          abut_body_def *out);
abut_status make_ball_mesh(const double half[3], arena *memory, abut_body_def *out);

/* Makes a mesh of rings about z, given as (radius, height) from the lowest on. If top is above 0,
 * there is a pole at +-top beyond either end; otherwise a polygon closes each end. */
abut_status make_turned_mesh(double (*rings)[2], size_t count, double top, arena *memory,
                             abut_body_def *out);

#endif
