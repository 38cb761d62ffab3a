/* Closed meshes of simple shapes, their faces counterclockwise seen from outside. */
#ifndef ABUT_SCENE_SHAPE_MESH_H
#define ABUT_SCENE_SHAPE_MESH_H

#include "base/memory.h"
#include <abut/body.h>

#define SHAPE_SIDES 32 /* how many sides what is round about z has */

/* Each of these sets the mesh of *out, which is of `memory`, and leaves the rest of *out as it
 * is. */

abut_status make_box_mesh(const double lower[3], const double upper[3], arena *memory,
                          abut_body_def *out);
abut_status make_ball_mesh(const double half[3], arena *memory, abut_body_def *out);

/* Makes a mesh of rings about z, which are (radius, height) from the lowest on. With top above 0
 * there is a pole at +-top behind either end; with top 0 a polygon closes each end. */
abut_status make_turned_mesh(double (*rings)[2], size_t count, double top, arena *memory,
                             abut_body_def *out);

#endif
