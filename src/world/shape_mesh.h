/* Closed meshes of simple shapes, their faces counterclockwise seen from outside. */
#ifndef ABUT_WORLD_SHAPE_MESH_H
#define ABUT_WORLD_SHAPE_MESH_H

#include "base/memory.h"
#include <abut/body.h>

#define SHAPE_SIDES 32 /* how many sides what is round about z has */

/* How many vertices flat sides have within them. No face has these as corners; they are there so that a
 * side that lies on another one is held all over, where its corners alone would hold it only there. Soft
 * contacts need many: a contact at touch is half active and gives way, so that the stiffness of two sides
 * on each other grows with their points, and with few of them a pile of ten cubes buckles like a column of
 * foam. Hard contacts need few: they do not give way, and some are chosen out of them. */
typedef enum side_points { POINTS_NONE, POINTS_FEW, POINTS_MANY } side_points;

/* Each of these sets the mesh of *out, which is of `memory`, and leaves the rest of *out as it is. */

abut_status make_box_mesh(const double lower[3], const double upper[3], side_points points,
                          arena *memory, abut_body_def *out);
abut_status make_ball_mesh(const double half[3], arena *memory, abut_body_def *out);

/* Makes a mesh of rings about z, which are (radius, height) from the lowest on. With top above 0 there is a
 * pole at +-top behind either end; with top 0 a polygon closes each end, and `points` lie within it. */
abut_status make_turned_mesh(double (*rings)[2], size_t count, double top, side_points points,
                             arena *memory, abut_body_def *out);

#endif
