/* A sum of squared distances is one quadratic function. */
#ifndef ABUT_SURFACE_QUADRIC_H
#define ABUT_SURFACE_QUADRIC_H

#include "mesh/surface/thin.h"

/* Adds the squared distance to the plane of unit normal n through p. */
void quadric_plane(quadric *q, const double n[3], const double p[3], double weight);
void quadric_point(quadric *q, const double p[3], double weight);
quadric quadric_sum(const quadric *a, const quadric *b);
double quadric_value(const quadric *q, const double x[3]);

/* Finds the point of least value; false where it is ill determined. */
bool quadric_least(const quadric *q, double x[3]);

#endif
