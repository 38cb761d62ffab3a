// Witness points alone: one query a lane.

KERNEL void witness_edges(GLOBAL const real *edges1, GLOBAL const real *edges2, int count,
                          GLOBAL const coefficients *c, GLOBAL real *points1,
                          GLOBAL real *points2, GLOBAL real *interior)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const int last = count - 1;
  vec3_r e1, e2;
  lane con;
  edge_witness_r(gather3(edges1, first, last, 6), gather3(edges1 + 3, first, last, 6),
                 gather3(edges2, first, last, 6), gather3(edges2 + 3, first, last, 6), c, &e1, &e2,
                 &con);
  store_row3(points1, NO_ORDER, 0, first, count, e1);
  store_row3(points2, NO_ORDER, 0, first, count, e2);
  store_row(interior, NO_ORDER, 0, first, count, con);
}

// status: 1 where the triangle has no area, an edge has no length, or a number is not finite.
KERNEL void witness_faces(GLOBAL const real *points, GLOBAL const real *triangles, int count,
                          GLOBAL const coefficients *c, GLOBAL real *projected,
                          GLOBAL int *status)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const int last = count - 1;
  const vec3_r v = gather3(points, first, last, 3);
  const vec3_r a = gather3(triangles, first, last, 9);
  const vec3_r b = gather3(triangles + 3, first, last, 9);
  const vec3_r e = gather3(triangles + 6, first, last, 9);
  const vec3_r d1 = sub3_r(b, a), d2 = sub3_r(e, a), d3 = sub3_r(e, b), to_v = sub3_r(v, a);
  const vec3_r normal = cross3_r(d1, d2);
  const lane area2 = dot3_r(normal, normal);
  const lane l1 = dot3_r(d1, d1), l2 = dot3_r(d2, d2), l3 = dot3_r(d3, d3);
  // Twice the area below rounding of the edges' product counts as none.
  const lane least = lane_min(l3, lane_min(l1, l2));
  const lane needed = l1 * l2 * (REAL_EPSILON * REAL_EPSILON);
  const lane sane = dot3_r(to_v, to_v) + l1 * l2 + l3 + area2;
  const ilane good = (area2 > needed) & (area2 > lane_lit(REAL_TINY)) &
                     (least > lane_lit(REAL_TINY)) & (sane <= lane_lit(REAL_MOST));
  const vec3_r r = face_witness_r(v, a, b, e, c);
  const lane none = lane_lit(REAL_NAN);
  store_row3(projected, NO_ORDER, 0, first, count, make_r(lane_select(good, r.x, none),
                                             lane_select(good, r.y, none),
                                             lane_select(good, r.z, none)));
  real t[LANES];
  lane_store(lane_select(good, lane_lit(R(0.0)), lane_lit(R(1.0))), t);
  for (int i = 0; i < LANES && first + i < count; ++i) {
    status[first + i] = t[i] > R(0.0);
  }
}
