/* The features with which a body touches fields, in the format of kernels. They are a part of the
 * body (body/cut.h) whose vertices and edges have radii and whose edges may be arcs.
 *
 * A body makes such a part when a pair first requests it, and retains it. */
#ifndef ABUT_BODY_TOUCHING_H
#define ABUT_BODY_TOUCHING_H

#include "body/body.h"

/* Gives the part with a body's features; with `cones`, without features that have no slot. Sharp
 * vertices, and the sharp edges that kernels read, are moved by `inset` into the body along their
 * cones' axes (docs/dev/spec.md). */
abut_status body_touching(body *whole, bool cones, double inset, body **out);

/* Returns the distance inside its body, along the cone's axis, at which a feature evaluates the
 * field: `inset` if the feature is sharp, otherwise 0. cone: [rad]. */
double feature_inset(const double cone[4], double radius, double inset);

/* Frees the part with everything it owns. */
void body_touching_free(body *part);

/* Determines whether a part has radii, arcs and circles, and its largest radius. */
void measure_touching(const body *part, resident_body *r);

/* Uploads the radii of a part's vertices, in sorted order and then in its own, and its edges
 * (EDGE_* of cl/geometry/layout.h). */
abut_status upload_touching(const body *part, const uint32_t *order, resident_body *r);

#endif
