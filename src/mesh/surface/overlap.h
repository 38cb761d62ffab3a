/* What a surface's triangles count too often where they bound more than once: shells that overlap,
 * lie in each other or are there twice. The solid is where the surface winds around more than half
 * a time, as of fields (solid.h). */
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
  const uint32_t *shell; /* (triangle_count) below shell_count; NULL: they are one */
  size_t shell_count;
} overlap_mesh;

/* Finds the integrals of w - 1 where the surface winds around w > 1 times, and of w where that is
 * below 0, for which the sums over triangles are too large. They are 0 to the bit where shells are
 * disjoint, and are off by some 1e-5 of the whole volume otherwise. */
abut_status surface_overlap(const overlap_mesh *mesh, double out[OVERLAP_MOMENTS]);

#endif
