/* The numbers of a body's features in derivatives with respect to its shape. Kernels have the
 * numbers of the vertices and edges by which it touches fields (body/touching.h). These are made of
 * the mesh and the stated features.
 *
 * Kernels have 3 numbers for each vertex, then a radius for each, then BY_RAIL for each edge. Cones
 * and insets, circles, the centres and axes of arcs, and features of a surface that is not the
 * contact mesh do not vary. */
#ifndef ABUT_CONTACT_SHAPE_FEATURES_H
#define ABUT_CONTACT_SHAPE_FEATURES_H

#include "body/body.h"

/* The number of the kernels' numbers for features, and the offsets of radii and edges in them. */
size_t feature_numbers(const body *features);
size_t feature_radii_at(const body *features);
size_t feature_rails_at(const body *features);

/* Adds the derivatives with respect to the kernels' numbers to those by the numbers of b, with
 * which written sums begin (contact/shape_rows.h). */
void features_back(const body *b, const body *features, const double *sum, double *own);

/* Writes the change of the kernels' numbers along a direction of the numbers of b. */
void features_along(const body *b, const body *features, const double *own, double *out);

#endif
