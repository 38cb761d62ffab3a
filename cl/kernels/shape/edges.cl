// Edges in the field of a body whose parameters change.

// One work-item computes the contacts of a block of LANES retained edges of body `side` in one
// pose. The tangents include the direction `moves` of the other body's parameters, with move_stride
// numbers per pose, or 0. Everything else is as in edges_in_field, which this kernel replaces.
KERNEL void edges_along_shape(GLOBAL const real *edges, GLOBAL const int *index,
                              GLOBAL const real *weights, GLOBAL const real *frames,
                              GLOBAL const int *head, GLOBAL const real *shape,
                              GLOBAL const pair_head *pair, int side, int want,
                              GLOBAL const real *moves, int move_stride, GLOBAL real *places,
                              OUTPUT_ARRAYS_TO_WRITE)
{
  const int first = (int)get_global_id(0) * LANES, pose = (int)get_global_id(1);
  put_edges_moving(edges, index, weights, frames, head, shape, pair, side, want,
                   ROW(moves, pose, move_stride), places, OUTPUT_MEMBERS, first, pose);
}
