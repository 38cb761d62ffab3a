/* Cubics between two of a B-spline's knots by Bernstein coefficients, whose weights are not
 * negative and have the sum 1: a cubic lies between the least and the largest of them. */
#ifndef ABUT_FAMILY_BERNSTEIN_H
#define ABUT_FAMILY_BERNSTEIN_H

#include <stddef.h>

/* Bernstein coefficients of a cubic in [0, 1], or of its derivative raised to a cubic, from four of
 * B-splines, a stride apart. out: likewise; it may not be c. */
void bernstein(const double *c, size_t stride, double *out);
void bernstein_slope(const double *c, size_t stride, double *out);

#endif
