/* Polygons in space, and solid angles of triangles. */
#ifndef ABUT_SURFACE_POLYGON_H
#define ABUT_SURFACE_POLYGON_H

#include <stddef.h>
#include <stdint.h>

/* Cuts a polygon of at least three corners into `size` - 2 triangles by ear clipping in its
 * best-fitting plane. A polygon that is not simple there is cut anyway. corner: indices of points.
 * out: room for 4 `size`; indices into `corner`, three per triangle. Returns the number of
 * triangles. */
size_t polygon_cut(const double *points, const uint32_t *corner, size_t size, uint32_t *out);

/* Gives twice the area vector of a polygon (Newell's method). */
void polygon_area(const double *points, const uint32_t *corner, size_t size, double area[3]);

/* Returns the solid angle of a triangle seen from x, divided by 4 pi; positive from behind its
 * counterclockwise side. */
double triangle_angle(const double *a, const double *b, const double *c, const double x[3]);

/* Gives a complex number (real, imaginary) whose argument is half of that solid angle. */
void triangle_turn(const double *a, const double *b, const double *c, const double x[3],
                   double out[2]);

#endif
