/* What a body touches fields with, as kernels read it: its features as a part of the body
 * (body/cut.h), whose vertices and edges have radii and whose edges may be arcs.
 *
 * A body makes them when a pair first asks for them, and keeps them. */
#ifndef ABUT_BODY_TOUCHING_H
#define ABUT_BODY_TOUCHING_H

#include "body/body.h"

/* Gives the part with a body's features, with `cones` without those that have no slot. Its
 * vertices, and the edges that kernels read, lie by `inset` inside the body along their cones'
 * axes, where they are sharp (docs/dev/spec.md). */
abut_status body_touching(body *whole, bool cones, double inset, body **out);

/* Returns by how much of such a part's `inset` a feature with this cone [rad] and radius asks the
 * field inside its body, along the cone's axis: all of it where the feature is sharp, else
 * nothing. */
double feature_inset(const double cone[4], double radius, double inset);

/* Frees the part with what only it has. */
void body_touching_free(body *part);

/* Sets whether a part has radii, arcs and circles, and its largest radius. */
void measure_touching(const body *part, resident_body *r);

/* Uploads the radii of a part's vertices, in their sorted order and then in its own, and its edges
 * (EDGE_* of cl/geometry/layout.h). */
abut_status upload_touching(const body *part, const uint32_t *order, resident_body *r);

#endif
