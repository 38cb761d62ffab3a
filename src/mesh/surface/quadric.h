/* Sums of squared distances, represented as quadratic functions. */
#ifndef ABUT_SURFACE_QUADRIC_H
#define ABUT_SURFACE_QUADRIC_H

#include "mesh/surface/thin.h"

/* Adds the squared distance to the plane through p with unit normal n. */
void quadric_plane(quadric *q, const double n[3], const double p[3], double weight);
void quadric_point(quadric *q, const double p[3], double weight);
quadric quadric_sum(const quadric *a, const quadric *b);
double quadric_value(const quadric *q, const double x[3]);

/* Finds the minimum; returns false if it is ill-conditioned. */
bool quadric_least(const quadric *q, double x[3]);

#endif
