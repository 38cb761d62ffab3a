// The field of one body at points of a picture, as in field/query.cl.

// Writes the field of a block of points, out (4, padded): planes phi and normal.
KERNEL void picture_field(GLOBAL const real *points, int padded, GLOBAL const int *head,
                          GLOBAL const real *shape, GLOBAL const coefficients *c, GLOBAL real *out)
{
  put_own_field(points, padded, head, shape, c, out);
}

// Writes the distance of a block of points, out (padded): the plane phi.
KERNEL void picture_distance(GLOBAL const real *points, int padded, GLOBAL const int *head,
                             GLOBAL const real *shape, GLOBAL const coefficients *c,
                             GLOBAL real *out)
{
  put_own_distance(points, padded, head, shape, c, out);
}
