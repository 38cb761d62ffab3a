// Meshes that move along a direction of their vertices: each pose has its own rows, on duals,
// instead of the shared ones. `moves` has move_stride numbers per pose, or 0 if all poses have the
// same direction. Its vertices (count, 3), in the order of the mesh, begin at move_base.

// One work-item moves one vertex of a mesh in one pose, from `planes` to out (poses, POINT_PLANES,
// padded). With `ordered` the vertices have the order of the planes, otherwise that of the mesh.
// Padding repeats the last one.
KERNEL void moved_vertices(GLOBAL const real *planes, GLOBAL const int *order, int ordered,
                           int count, int padded, GLOBAL const real *moves, int move_stride,
                           int move_base, GLOBAL real *out)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= padded) {
    return;
  }
  const int at = MIN_INT(i, count - 1);
  GLOBAL const real *move =
    ROW(moves, pose, move_stride) + move_base + 3 * (ordered ? order[at] : at);
  GLOBAL real *to = NUMS(out, pose, POINT_PLANES * padded) + i;
  for (int k = 0; k < POINT_PLANES; ++k) {
    to[k * padded] = planes[k * padded + i];
    to[(POINT_PLANES + k) * padded] = move[k];
  }
}

// One work-item does the same with the ends of one edge, from `ends` to out (poses, ENDS_PLANES,
// padded). `edges` has the places of its vertices in the sorted mesh, and `order` their indices.
KERNEL void moved_ends(GLOBAL const real *ends, GLOBAL const int *edges, GLOBAL const int *order,
                       int count, int padded, GLOBAL const real *moves, int move_stride,
                       int move_base, GLOBAL real *out)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= padded) {
    return;
  }
  const int at = MIN_INT(i, count - 1);
  GLOBAL const real *row = ROW(moves, pose, move_stride) + move_base;
  GLOBAL real *to = NUMS(out, pose, ENDS_PLANES * padded) + i;
  for (int k = 0; k < ENDS_PLANES; ++k) {
    const int vertex = order[edges[k / POINT_PLANES * padded + at]];
    to[k * padded] = ends[k * padded + i];
    to[(ENDS_PLANES + k) * padded] = row[3 * vertex + k % POINT_PLANES];
  }
}

// Features have their radii and edges after their vertices in `moves`: radii starting at
// radius_base, and BY_RAIL numbers of each edge starting at rail_base.

// One work-item does the same with the radii and cones of one vertex, to out (poses, RADII_PLANES,
// padded). Cones do not change.
KERNEL void moved_radii(GLOBAL const real *radii, GLOBAL const int *order, int count, int padded,
                        GLOBAL const real *moves, int move_stride, int radius_base,
                        GLOBAL real *out)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= padded) {
    return;
  }
  const int at = MIN_INT(i, count - 1);
  GLOBAL const real *row = ROW(moves, pose, move_stride) + radius_base;
  GLOBAL real *to = NUMS(out, pose, RADII_PLANES * padded) + i;
  for (int k = 0; k < RADII_PLANES; ++k) {
    to[k * padded] = radii[k * padded + i];
    to[(RADII_PLANES + k) * padded] = k == 0 ? row[order[at]] : k == 1 ? row[at] : R(0.0);
  }
}

// One work-item moves one edge in one pose, from `rails` to out (poses, EDGE_PLANES, padded).
KERNEL void moved_rails(GLOBAL const real *rails, int count, int padded, GLOBAL const real *moves,
                        int move_stride, int rail_base, GLOBAL real *out)
{
  const int i = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  if (i >= padded) {
    return;
  }
  GLOBAL const real *row =
    ROW(moves, pose, move_stride) + rail_base + BY_RAIL * MIN_INT(i, count - 1);
  GLOBAL real *to = NUMS(out, pose, EDGE_PLANES * padded) + i;
  for (int k = 0; k < EDGE_PLANES; ++k) {
    to[k * padded] = rails[k * padded + i];
    to[(EDGE_PLANES + k) * padded] = k < BY_RAIL ? row[k] : R(0.0);
  }
}
