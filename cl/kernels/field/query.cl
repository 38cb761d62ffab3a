// The field of one body at the caller's points, in the body's own frame: points (3, padded) are
// planes x, y and z. One work-item has a block of LANES points; the global size is padded / LANES.

// Writes the field of a block, out (4, padded): planes phi and normal.
KERNEL void query_field(GLOBAL const real *points, int padded, GLOBAL const int *head,
                        GLOBAL const real *shape, GLOBAL const coefficients *c, GLOBAL real *out)
{
  put_own_field(points, padded, head, shape, c, out);
}

// Writes the distance of a block, out (padded): the plane phi.
KERNEL void query_distance(GLOBAL const real *points, int padded, GLOBAL const int *head,
                           GLOBAL const real *shape, GLOBAL const coefficients *c, GLOBAL real *out)
{
  put_own_distance(points, padded, head, shape, c, out);
}
