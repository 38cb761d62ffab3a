// Witness points alone: one query a lane. Arrays have `stride` queries, `count` of them in use:
// the derivatives of an array of w numbers a query lie w * stride numbers behind its values.

static vec with_part3(vec v, int i, vec3_r part)
{
  (void)v;
  (void)i;
  return FN(make)(n_with_part(v.x, i, part.x), n_with_part(v.y, i, part.y),
                  n_with_part(v.z, i, part.z));
}

// Rows of `width` numbers from query `first` on, as vectors. Past the last query lanes repeat it.
static void load_query(GLOBAL const real *p, int width, int stride, int first, int count, vec *out)
{
#if LANES > 1
  if (first + LANES <= count) {
    const num zero = n_lit(R(0.0));
    out[0] = out[width / 3 - 1] = out[width / 6] = FN(make)(zero, zero, zero);
    EACH_PART(i) {
      vec3_r part[3];
      load_rows(p + width * (i * stride + first), width, part);
      for (int k = 0; k < width / 3; ++k) {
        out[k] = with_part3(out[k], i, part[k]);
      }
    }
    return;
  }
#endif
  for (int k = 0; k < width / 3; ++k) {
    out[k] = gather3(p + 3 * k, width * stride, first, count - 1, width);
  }
}

static vec load_query3(GLOBAL const real *p, int stride, int first, int count)
{
  vec r[1];
  load_query(p, 3, stride, first, count, r);
  return r[0];
}

static void store_query(GLOBAL real *p, int width, int stride, int first, int count, const vec *v)
{
#if LANES > 1
  if (first + LANES <= count) {
    EACH_PART(i) {
      vec3_r part[3];
      for (int k = 0; k < width / 3; ++k) {
        part[k] = make_r(n_get_part(v[k].x, i), n_get_part(v[k].y, i), n_get_part(v[k].z, i));
      }
      store_rows(p + width * (i * stride + first), width, part);
    }
    return;
  }
#endif
  for (int k = 0; k < width / 3; ++k) {
    store_step3(p + 3 * k, width * stride, NO_ORDER, 0, first, count, width, v[k]);
  }
}

static edge_ends query_edges(GLOBAL const real *edges1, GLOBAL const real *edges2, int first,
                             int count, int stride)
{
  vec p[2], q[2];
  load_query(edges1, 6, stride, first, count, p);
  load_query(edges2, 6, stride, first, count, q);
  const edge_ends r = {p[0], p[1], q[0], q[1]};
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
  store_query(points1, 3, stride, first, count, &e1);
  store_query(points2, 3, stride, first, count, &e2);
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
  vec bar[4];
  FN(edge_witness_adjoint)(at.p0, at.p1, at.q0, at.q1, c,
                           load_query3(points1_bar, stride, first, count),
                           load_query3(points2_bar, stride, first, count),
                           gather(interior_bar, stride, first, count - 1, 1), bar);
  store_query(edges1_bar, 6, stride, first, count, bar);
  store_query(edges2_bar, 6, stride, first, count, bar + 2);
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
  vec corners[3];
  load_query(triangles, 9, stride, first, count, corners);
  r.v = load_query3(points, stride, first, count);
  r.a = corners[0];
  r.b = corners[1];
  r.e = corners[2];
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

static void store_status(GLOBAL unsigned char *status, int first, int count, ilane good)
{
#if LANES > 1
  if (first + LANES <= count) {
    lane_store_bytes(~good, status + first);
    return;
  }
#endif
  real t[LANES];
  lane_store(lane_select(good, lane_lit(R(0.0)), lane_lit(R(1.0))), t);
  for (int i = 0; i < LANES && first + i < count; ++i) {
    status[first + i] = t[i] > R(0.0);
  }
}

// status: 1 where a query is not good.
KERNEL void witness_faces(GLOBAL const real *points, GLOBAL const real *triangles, int count,
                          int stride, GLOBAL const coefficients *c, GLOBAL real *projected,
                          GLOBAL unsigned char *status)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const face_query q = query_face(points, triangles, first, count, stride);
  const vec onto = good_or_none3(q.good, FN(face_witness)(q.v, q.a, q.b, q.e, c));
  store_query(projected, 3, stride, first, count, &onto);
  store_status(status, first, count, q.good);
}

ADJOINT_KERNEL void witness_faces_adjoint(GLOBAL const real *points, GLOBAL const real *triangles,
                                          int count, int stride, GLOBAL const coefficients *c,
                                          GLOBAL const real *projected_bar, GLOBAL real *points_bar,
                                          GLOBAL real *triangles_bar, GLOBAL unsigned char *status)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const face_query q = query_face(points, triangles, first, count, stride);
  vec out[4];
  FN(face_witness_adjoint)(q.v, q.a, q.b, q.e, c,
                           load_query3(projected_bar, stride, first, count), out);
  for (int i = 0; i < 4; ++i) {
    out[i] = good_or_none3(q.good, out[i]);
  }
  store_query(points_bar, 3, stride, first, count, out);
  store_query(triangles_bar, 9, stride, first, count, out + 1);
  store_status(status, first, count, q.good);
}
