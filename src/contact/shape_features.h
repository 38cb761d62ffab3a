/* The numbers of a body's features in derivatives by its shape: as kernels have them, of the
 * vertices and edges by which it touches fields (body/touching.h), and of the mesh and the stated
 * features that these are made of.
 *
 * Kernels have 3 numbers of each vertex, then the radius of each, then BY_RAIL of each edge. Cones
 * and insets, circles, the centres and axes of arcs, and features of a surface that is no contact
 * mesh do not vary. */
#ifndef ABUT_CONTACT_SHAPE_FEATURES_H
#define ABUT_CONTACT_SHAPE_FEATURES_H

#include "body/body.h"

/* How many numbers kernels have of features, and where among them radii and edges begin. */
size_t feature_numbers(const body *features);
size_t feature_radii_at(const body *features);
size_t feature_rails_at(const body *features);

/* Adds the derivatives by what kernels have to those by the numbers of b, as sums that are written
 * begin with them (contact/shape_rows.h). */
void features_back(const body *b, const body *features, const double *sum, double *own);

/* Writes how a direction of these numbers moves what kernels have. */
void features_along(const body *b, const body *features, const double *own, double *out);

#endif
