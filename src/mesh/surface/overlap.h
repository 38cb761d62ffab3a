/* The excess in sums over a surface's triangles when shells overlap, are nested or are duplicated.
 * The solid is where the winding number exceeds 1/2, as for fields (solid.h). */
#ifndef ABUT_SURFACE_OVERLAP_H
#define ABUT_SURFACE_OVERLAP_H

#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

/* volume; x, y, z; xx, yy, zz, xy, xz, yz: integrals about the origin */
#define OVERLAP_MOMENTS 10

/* Triangles of closed shells, counterclockwise seen from outside. */
typedef struct overlap_mesh {
  const double *points; /* (point_count, 3) */
  size_t point_count;
  const uint32_t *triangles; /* (triangle_count, 3) */
  size_t triangle_count;
  const uint32_t *shell; /* (triangle_count) below shell_count; NULL: one shell */
  size_t shell_count;
} overlap_mesh;

/* Finds the integrals of w - 1 where the winding number w exceeds 1, and of w where it is negative:
 * by these the sums over triangles are too large. They are exactly 0 if shells are disjoint.
 * Otherwise their error is about 1e-5 of the total volume. */
abut_status surface_overlap(const overlap_mesh *mesh, double out[OVERLAP_MOMENTS]);

#endif
