/* Closed meshes of simple shapes, their faces counterclockwise seen from outside. */
#ifndef ABUT_WORLD_SHAPE_MESH_H
#define ABUT_WORLD_SHAPE_MESH_H

#include "base/memory.h"
#include <abut/body.h>

#define SHAPE_SIDES 32 /* of what is turned about z */

/* Points on flat sides, which no face names: a side is held wherever another body's side covers it, not
 * by its corners alone. Soft contacts want many: one at touch is half active and gives way, so that how
 * stiff two sides lie on each other follows from how many points they have, and with few a pile of ten
 * cubes buckles like a column of foam. Hard contacts want few: they do not give way, and choose some. */
typedef enum side_points { POINTS_NONE, POINTS_FEW, POINTS_MANY } side_points;

/* Each sets the mesh of *out, which is of `memory`, and nothing else. */

abut_status make_box_mesh(const double lower[3], const double upper[3], side_points points,
                          arena *memory, abut_body_def *out);
abut_status make_ball_mesh(const double half[3], arena *memory, abut_body_def *out);

/* Rings about z, from below, as (radius, height); between poles at +-top, or closed by a polygon at
 * both ends where top is 0, which have points. */
abut_status make_turned_mesh(double (*rings)[2], size_t count, double top, side_points points,
                             arena *memory, abut_body_def *out);

#endif
