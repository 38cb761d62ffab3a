/* Boxes of bodies by which pairs are left out that have no contact: the broad phase of a world.
 *
 * Every contact's activity has the factor [phi <= 0] of the opposing field at its own point. The
 * points of a body lie in its box `points`, and where a field's activity passes a cutoff in its box
 * `field`. So where the points of each body are apart from the field of the other no contact passes
 * the cutoff; if that is the smoothing's floor (active_cutoff) all activities are 0, with first and
 * second derivatives. */
#ifndef ABUT_WORLD_BOXES_H
#define ABUT_WORLD_BOXES_H

#include "contact/pair.h"

/* A box in a body's own frame. Along an axis whose half side is HUGE_VAL it has no end; an empty
 * box has half sides of -1. */
typedef struct body_box {
  double centre[3], half[3];
} body_box;

/* The boxes of a pair's two bodies. `points` holds the vertices and all points of edges that may be
 * in contact; it is empty where a body has no points of its own in the pair's contacts. Outside of
 * `field` the body's field lets no point be active above the cutoff. */
typedef struct pair_boxes {
  body_box points[2], field[2];
  bool bounded;
} pair_boxes;

/* Finds the boxes of a pair for contacts of more activity than `cutoff`; rounding is left to what
 * the cutoff is below the floor. bounded is false, and no box has an end, for pairs of which
 * nothing can be left out: where pair_can_skip_inactive says so, or a field that the other body's
 * points meet has no end that is known, such as a point cloud's or a half space's. */
abut_status boxes_of_pair(const pair *p, double cutoff, pair_boxes *out);

/* Finds only whether they are bounded, which takes far less time of grids. */
abut_status pair_is_bounded(const pair *p, double cutoff, bool *out);

/* Finds the boxes for a pair of which body `side` is a tile, and the other one its field alone: the
 * tile's points and that field tell all, and the other two boxes are empty. */
abut_status boxes_of_tile(const pair *p, int side, double cutoff, pair_boxes *out);

/* Whether two boxes at two poses (position, quaternion with w first, of any length) are surely
 * apart: along the world's axes, or along one of the fifteen axes of oriented boxes. eps is the
 * relative rounding of the numbers in which devices place points. Empty boxes are apart from all
 * others; at poses that are none nothing else is. */
bool boxes_apart(const body_box *a, const double pose_a[7], const body_box *b,
                 const double pose_b[7], double eps);

#endif
