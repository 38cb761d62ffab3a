// The field of a body at points in its own frame, for kernels without poses. points (3, padded) are
// the planes x, y and z. One work-item handles a block of LANES points; the global size is padded /
// LANES.
#ifndef KERNELS_POINTS_H
#define KERNELS_POINTS_H

// Returns a block of points.
static vec own_point(GLOBAL const real *points, int padded, int block)
{
  return field_point(points, 0, POINT_PLANES * padded, padded, points, -1, block, 0);
}

// Writes the field of a block to out (4, padded): the planes phi and normal.
static void put_own_field(GLOBAL const real *points, int padded, GLOBAL const int *head,
                          GLOBAL const real *shape, GLOBAL const coefficients *c, GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  if (block * LANES >= padded) {
    return;
  }
  put_field(head, shape, c, own_point(points, padded, block), out, padded, block, 0);
}

// Writes the distance of a block to out (padded): the plane phi.
static void put_own_distance(GLOBAL const real *points, int padded, GLOBAL const int *head,
                             GLOBAL const real *shape, GLOBAL const coefficients *c,
                             GLOBAL real *out)
{
  const int block = (int)get_global_id(0);
  if (block * LANES >= padded) {
    return;
  }
  put_distance(head, shape, c, own_point(points, padded, block), out, padded, block, 0);
}

#endif
