/* A mesh that moves along with the field that it lies on, for derivatives by its body's shape. */
#ifndef ABUT_CONTACT_SHAPE_FOLLOW_H
#define ABUT_CONTACT_SHAPE_FOLLOW_H

#include "body/body.h"
#include <abut/manifold.h>

/* Adds to a sum (shape_rows.h) what its derivatives by vertices give to the primitives' numbers
 * where a change of these moves each vertex with the field's zero set: by -g dphi / |g|^2, where g
 * is the gradient of the distance phi there. It is done on the host in double. */
abut_status shape_follow(const body *b, const abut_smoothing *smoothing, double *sum);

/* Adds to the vertices of a direction (shape_moves.h) how its primitives' change moves them so. */
abut_status shape_follow_moves(const body *b, const abut_smoothing *smoothing, double *moves);

#endif
