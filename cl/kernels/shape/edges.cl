// Edges in the field of a body whose numbers move.

// One work-item makes the contacts of a block of LANES kept edges of body `side` in one pose, with
// tangents also along the direction `moves` of the other body's numbers, move_stride numbers a pose
// or 0. All else is as in edges_in_field, whose place it takes.
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
