/* Boxes for the broad phase of worlds, which leaves out pairs without contacts.
 *
 * The activity of a contact has the factor [phi <= 0] of the opposing field at its point. All
 * points of a body are in its box `points`; the field's activity exceeds a cutoff only within its
 * box `field`. If the points of each body are apart from the field of the other, no contact exceeds
 * the cutoff. If the cutoff is the smoothing's floor (active_cutoff), all activities and their
 * first and second derivatives are 0. */
#ifndef ABUT_WORLD_BOXES_H
#define ABUT_WORLD_BOXES_H

#include "contact/pair.h"

/* A box in a body's own frame. It is unbounded along an axis with a half side of HUGE_VAL. An empty
 * box has half sides of -1. */
typedef struct body_box {
  double centre[3], half[3];
} body_box;

/* The boxes of a pair's two bodies. `points` contains the vertices and all points of edges that may
 * be in contact; it is empty if no points of the body take part in the pair's contacts. Outside of
 * `field` no point has an activity above the cutoff in the body's field. */
typedef struct pair_boxes {
  body_box points[2], field[2];
  bool bounded;
} pair_boxes;

/* Finds the boxes of a pair for contacts with an activity above `cutoff`. The gap between the
 * cutoff and the floor covers rounding. Some pairs cannot be left out: pair_can_skip_inactive
 * refuses them, or points meet a field without a known bound, such as a point cloud or a
 * half-space. For these, bounded is false, and all boxes are unbounded. */
abut_status boxes_of_pair(const pair *p, double cutoff, pair_boxes *out);

/* Only finds whether the boxes are bounded, which is much faster for grids. */
abut_status pair_is_bounded(const pair *p, double cutoff, bool *out);

/* Finds the boxes of a pair whose body `side` is a tile and whose other body is only a field. The
 * boxes of the tile's points and of that field are filled; the other two are empty. */
abut_status boxes_of_tile(const pair *p, int side, double cutoff, pair_boxes *out);

/* Returns whether two boxes are certainly apart along the world's axes, or along one of the fifteen
 * axes of oriented boxes. Poses are positions and quaternions (w first, of any length). eps is the
 * relative rounding error of points on devices. An empty box is apart from every other box. At
 * invalid poses only empty boxes are apart. */
bool boxes_apart(const body_box *a, const double pose_a[7], const body_box *b,
                 const double pose_b[7], double eps);

#endif
