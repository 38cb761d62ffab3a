/* A mesh that moves along with the field on whose surface it is, for derivatives with respect to
 * its body's shape. */
#ifndef ABUT_CONTACT_SHAPE_FOLLOW_H
#define ABUT_CONTACT_SHAPE_FOLLOW_H

#include "body/body.h"
#include <abut/manifold.h>

/* Propagates the derivatives with respect to vertices in a sum (shape_rows.h) to the primitives'
 * numbers. A change of these moves each vertex with the field's zero set by -g dphi / |g|^2, where
 * g is the gradient of the distance phi there. Runs on the host in double. */
abut_status shape_follow(const body *b, const abut_smoothing *smoothing, double *sum);

/* Adds the motion of the vertices that follows from the primitives' change to a direction
 * (shape_moves.h). */
abut_status shape_follow_moves(const body *b, const abut_smoothing *smoothing, double *moves);

#endif
