/* From which distance on a body's edges say that no pair of edges touches.
 *
 * An edge contact is active where the points of both edges lie in the other body, as deep as it claims
 * (docs/spec.md, 6.4, `agree`). Where no edge of a body is near the other one, as of a floor on which a box lies far
 * from its rim, a contact could only claim to be apart. How far apart it can claim to be has a bound where the body's
 * field is convex: its slope along the edges, and what the normals' sign makes of it. */
#ifndef ABUT_MANIFOLD_APART_H
#define ABUT_MANIFOLD_APART_H

#include "manifold/pair.h"

/* Returns the least slope of a body's field along its edges, where it is a box whose edges lie on its sides, and 0
 * of any other body. */
double least_slope(const body *b, const abut_smoothing *s);

/* Returns the distance of the other body that some edge of body `side` must come within, lest no edge contact of the
 * pair is more active than `cutoff`; 0 where none is known. */
double edges_apart(const pair *p, int side, double cutoff);

#endif
