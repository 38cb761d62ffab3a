// Witness points alone: one query a lane. Arrays have `stride` queries, `count` of them in use:
// the derivatives of an array of w numbers a query lie w * stride numbers behind its values.

static edge_ends query_edges(GLOBAL const real *edges1, GLOBAL const real *edges2, int first,
                             int count, int stride)
{
  edge_ends r;
  r.p0 = gather3(edges1, 6 * stride, first, count - 1, 6);
  r.p1 = gather3(edges1 + 3, 6 * stride, first, count - 1, 6);
  r.q0 = gather3(edges2, 6 * stride, first, count - 1, 6);
  r.q1 = gather3(edges2 + 3, 6 * stride, first, count - 1, 6);
  return r;
}

KERNEL void witness_edges(GLOBAL const real *edges1, GLOBAL const real *edges2, int count,
                          int stride, GLOBAL const coefficients *c, GLOBAL real *points1,
                          GLOBAL real *points2, GLOBAL real *interior)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const edge_ends at = query_edges(edges1, edges2, first, count, stride);
  vec e1, e2;
  num con;
  FN(edge_witness)(at.p0, at.p1, at.q0, at.q1, c, &e1, &e2, &con);
  store_row3(points1, 3 * stride, NO_ORDER, 0, first, count, e1);
  store_row3(points2, 3 * stride, NO_ORDER, 0, first, count, e2);
  store_row(interior, stride, NO_ORDER, 0, first, count, con);
}

ADJOINT_KERNEL void witness_edges_adjoint(GLOBAL const real *edges1, GLOBAL const real *edges2,
                                          int count, int stride, GLOBAL const coefficients *c,
                                          GLOBAL const real *points1_bar,
                                          GLOBAL const real *points2_bar,
                                          GLOBAL const real *interior_bar, GLOBAL real *edges1_bar,
                                          GLOBAL real *edges2_bar)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const edge_ends at = query_edges(edges1, edges2, first, count, stride);
  const int last = count - 1, wide_row = 6 * stride;
  vec bar[4];
  FN(edge_witness_adjoint)(at.p0, at.p1, at.q0, at.q1, c,
                           gather3(points1_bar, 3 * stride, first, last, 3),
                           gather3(points2_bar, 3 * stride, first, last, 3),
                           gather(interior_bar, stride, first, last, 1), bar);
  store_step3(edges1_bar, wide_row, NO_ORDER, 0, first, count, 6, bar[0]);
  store_step3(edges1_bar + 3, wide_row, NO_ORDER, 0, first, count, 6, bar[1]);
  store_step3(edges2_bar, wide_row, NO_ORDER, 0, first, count, 6, bar[2]);
  store_step3(edges2_bar + 3, wide_row, NO_ORDER, 0, first, count, 6, bar[3]);
}

typedef struct face_query {
  vec v, a, b, e;
  ilane good;
} face_query;

// Not good: a triangle without area, an edge without length, or a number that is not finite.
static face_query query_face(GLOBAL const real *points, GLOBAL const real *triangles, int first,
                             int count, int stride)
{
  face_query r;
  r.v = gather3(points, 3 * stride, first, count - 1, 3);
  r.a = gather3(triangles, 9 * stride, first, count - 1, 9);
  r.b = gather3(triangles + 3, 9 * stride, first, count - 1, 9);
  r.e = gather3(triangles + 6, 9 * stride, first, count - 1, 9);
  const vec3_r v = make_r(n_value(r.v.x), n_value(r.v.y), n_value(r.v.z));
  const vec3_r a = make_r(n_value(r.a.x), n_value(r.a.y), n_value(r.a.z));
  const vec3_r b = make_r(n_value(r.b.x), n_value(r.b.y), n_value(r.b.z));
  const vec3_r e = make_r(n_value(r.e.x), n_value(r.e.y), n_value(r.e.z));
  const vec3_r d1 = sub3_r(b, a), d2 = sub3_r(e, a), d3 = sub3_r(e, b), to_v = sub3_r(v, a);
  const vec3_r normal = cross3_r(d1, d2);
  const lane area2 = dot3_r(normal, normal);
  const lane l1 = dot3_r(d1, d1), l2 = dot3_r(d2, d2), l3 = dot3_r(d3, d3);
  // Twice the area below rounding of the edges' product counts as none.
  const lane least = lane_min(l3, lane_min(l1, l2));
  const lane needed = l1 * l2 * (REAL_EPSILON * REAL_EPSILON);
  const lane sane = dot3_r(to_v, to_v) + l1 * l2 + l3 + area2;
  r.good = (area2 > needed) & (area2 > lane_lit(REAL_TINY)) & (least > lane_lit(REAL_TINY)) &
           (sane <= lane_lit(REAL_MOST));
  return r;
}

// NaN, also in the derivatives, where a query is not good.
static num good_or_none(ilane good, num x)
{
  const lane none = lane_lit(REAL_NAN);
  num r = x;
  EACH_PART(i) {
    r = n_with_part(r, i, lane_select(good, n_get_part(x, i), none));
  }
  return r;
}

static vec good_or_none3(ilane good, vec v)
{
  return FN(make)(good_or_none(good, v.x), good_or_none(good, v.y), good_or_none(good, v.z));
}

// status: 1 where a query is not good.
KERNEL void witness_faces(GLOBAL const real *points, GLOBAL const real *triangles, int count,
                          int stride, GLOBAL const coefficients *c, GLOBAL real *projected,
                          GLOBAL int *status)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const face_query q = query_face(points, triangles, first, count, stride);
  store_row3(projected, 3 * stride, NO_ORDER, 0, first, count,
             good_or_none3(q.good, FN(face_witness)(q.v, q.a, q.b, q.e, c)));
  real t[LANES];
  lane_store(lane_select(q.good, lane_lit(R(0.0)), lane_lit(R(1.0))), t);
  for (int i = 0; i < LANES && first + i < count; ++i) {
    status[first + i] = t[i] > R(0.0);
  }
}

ADJOINT_KERNEL void witness_faces_adjoint(GLOBAL const real *points, GLOBAL const real *triangles,
                                          int count, int stride, GLOBAL const coefficients *c,
                                          GLOBAL const real *projected_bar, GLOBAL real *points_bar,
                                          GLOBAL real *triangles_bar, GLOBAL int *status)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const face_query q = query_face(points, triangles, first, count, stride);
  vec out[4];
  FN(face_witness_adjoint)(q.v, q.a, q.b, q.e, c,
                           gather3(projected_bar, 3 * stride, first, count - 1, 3), out);
  store_row3(points_bar, 3 * stride, NO_ORDER, 0, first, count, good_or_none3(q.good, out[0]));
  for (int i = 0; i < 3; ++i) {
    store_step3(triangles_bar + 3 * i, 9 * stride, NO_ORDER, 0, first, count, 9,
                good_or_none3(q.good, out[i + 1]));
  }
  real t[LANES];
  lane_store(lane_select(q.good, lane_lit(R(0.0)), lane_lit(R(1.0))), t);
  for (int i = 0; i < LANES && first + i < count; ++i) {
    status[first + i] = t[i] > R(0.0);
  }
}
