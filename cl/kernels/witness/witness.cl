// Only witness points, one query per lane: for pairs of edges (docs/dev/spec.md, 6.1) and for
// points and triangles (section 8). Arrays have `stride` queries, of which `count` are in use. The
// derivatives of an array with w numbers per query are w * stride numbers after its values.

static vec none3(void)
{
  const num none = n_lit(R(0.0));
  return FN(make)(none, none, none);
}

static vec with_part3(vec v, int i, vec3_r part)
{
  (void)v;
  (void)i;
  return FN(make)(n_with_part(v.x, i, part.x), n_with_part(v.y, i, part.y),
                  n_with_part(v.z, i, part.z));
}

static vec3_r get_part3(vec v, int i)
{
  (void)i;
  return make_r(n_get_part(v.x, i), n_get_part(v.y, i), n_get_part(v.z, i));
}

// ---- rows of 3, 6 or 9 numbers per query, as vectors. Lanes past the last query repeat it ----
static vec load_query3(GLOBAL const real *p, int stride, int first, int count)
{
#if LANES > 1
  if (first + LANES <= count) {
    vec r = none3();
    EACH_PART (i) {
      r = with_part3(r, i, split3(load_blocks(p + 3 * (i * stride + first))));
    }
    return r;
  }
#endif
  return gather3(p, 3 * stride, first, count - 1, 3);
}

static void load_query6(GLOBAL const real *p, int stride, int first, int count, vec out[2])
{
#if LANES > 1
  if (first + LANES <= count) {
    vec3_r part[2];
    out[0] = none3();
    out[1] = none3();
    EACH_PART (i) {
      load_rows6(p + 6 * (i * stride + first), part);
      out[0] = with_part3(out[0], i, part[0]);
      out[1] = with_part3(out[1], i, part[1]);
    }
    return;
  }
#endif
  out[0] = gather3(p, 6 * stride, first, count - 1, 6);
  out[1] = gather3(p + 3, 6 * stride, first, count - 1, 6);
}

static void load_query9(GLOBAL const real *p, int stride, int first, int count, vec out[3])
{
#if LANES > 1
  if (first + LANES <= count) {
    vec3_r part[3];
    out[0] = none3();
    out[1] = none3();
    out[2] = none3();
    EACH_PART (i) {
      load_rows9(p + 9 * (i * stride + first), part);
      out[0] = with_part3(out[0], i, part[0]);
      out[1] = with_part3(out[1], i, part[1]);
      out[2] = with_part3(out[2], i, part[2]);
    }
    return;
  }
#endif
  out[0] = gather3(p, 9 * stride, first, count - 1, 9);
  out[1] = gather3(p + 3, 9 * stride, first, count - 1, 9);
  out[2] = gather3(p + 6, 9 * stride, first, count - 1, 9);
}

static void store_query3(GLOBAL real *p, int stride, int first, int count, vec v)
{
#if LANES > 1
  if (first + LANES <= count) {
    EACH_PART (i) {
      store_blocks(p + 3 * (i * stride + first), join3(get_part3(v, i)));
    }
    return;
  }
#endif
  store_row3(p, 3 * stride, NO_ORDER, 0, first, count, v);
}

static void store_query6(GLOBAL real *p, int stride, int first, int count, const vec v[2])
{
#if LANES > 1
  if (first + LANES <= count) {
    EACH_PART (i) {
      const vec3_r part[2] = {get_part3(v[0], i), get_part3(v[1], i)};
      store_rows6(p + 6 * (i * stride + first), part);
    }
    return;
  }
#endif
  for (int k = 0; k < 2; ++k) {
    store_step3(p + 3 * k, 6 * stride, NO_ORDER, 0, first, count, 6, v[k]);
  }
}

static void store_query9(GLOBAL real *p, int stride, int first, int count, const vec v[3])
{
#if LANES > 1
  if (first + LANES <= count) {
    EACH_PART (i) {
      const vec3_r part[3] = {get_part3(v[0], i), get_part3(v[1], i), get_part3(v[2], i)};
      store_rows9(p + 9 * (i * stride + first), part);
    }
    return;
  }
#endif
  for (int k = 0; k < 3; ++k) {
    store_step3(p + 3 * k, 9 * stride, NO_ORDER, 0, first, count, 9, v[k]);
  }
}

typedef struct edge_query {
  vec p0, p1, q0, q1;
} edge_query;

static edge_query query_edges(GLOBAL const real *edges1, GLOBAL const real *edges2, int first,
                              int count, int stride)
{
  vec p[2], q[2];
  load_query6(edges1, stride, first, count, p);
  load_query6(edges2, stride, first, count, q);
  const edge_query r = {p[0], p[1], q[0], q[1]};
  return r;
}

// One work-item finds the witness points of LANES pairs of edges. edges1 and edges2 (queries, 6)
// have both ends of each edge. The outputs are points1 and points2 (queries, 3) and the interior
// indicator con, interior (queries).
KERNEL void witness_edges(GLOBAL const real *edges1, GLOBAL const real *edges2, int count,
                          int stride, GLOBAL const coefficients *c, GLOBAL real *points1,
                          GLOBAL real *points2, GLOBAL real *interior)
{
  const int first = (int)get_global_id(0) * LANES;
  if (first >= count) {
    return;
  }
  const edge_query at = query_edges(edges1, edges2, first, count, stride);
  vec e1, e2;
  num con;
  FN(edge_witness)(at.p0, at.p1, at.q0, at.q1, c, &e1, &e2, &con);
  store_query3(points1, stride, first, count, e1);
  store_query3(points2, stride, first, count, e2);
  store_row(interior, stride, NO_ORDER, 0, first, count, con);
}

// One work-item converts the cotangents of LANES queries' results to those of their edges,
// edges1_bar and edges2_bar (queries, 6).
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
  const edge_query at = query_edges(edges1, edges2, first, count, stride);
  vec bar[4];
  FN(edge_witness_adjoint)(at.p0, at.p1, at.q0, at.q1, c,
                           load_query3(points1_bar, stride, first, count),
                           load_query3(points2_bar, stride, first, count),
                           gather(interior_bar, stride, first, count - 1, 1), bar);
  store_query6(edges1_bar, stride, first, count, bar);
  store_query6(edges2_bar, stride, first, count, bar + 2);
}

typedef struct face_query {
  vec v, a, b, e;
  ilane good;
} face_query;

// Reads points (queries, 3) and triangles (queries, 9). A query is bad if its triangle has no area,
// an edge has no length, or a number is not finite.
static face_query query_face(GLOBAL const real *points, GLOBAL const real *triangles, int first,
                             int count, int stride)
{
  face_query r;
  vec corners[3];
  load_query9(triangles, stride, first, count, corners);
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
  // An area counts as zero if twice its value is below the rounding of the edges' product.
  const lane least = lane_min(l3, lane_min(l1, l2));
  const lane needed = l1 * l2 * (REAL_EPSILON * REAL_EPSILON);
  const lane sane = dot3_r(to_v, to_v) + l1 * l2 + l3 + area2;
  r.good = (area2 > needed) & (area2 > lane_lit(REAL_TINY)) & (least > lane_lit(REAL_TINY)) &
           (sane <= lane_lit(REAL_MOST));
  return r;
}

// Returns x. If the query is bad, x and its derivatives are NaN.
static num good_or_none(ilane good, num x)
{
  const lane none = lane_lit(REAL_NAN);
  num r = x;
  EACH_PART (i) {
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

// One work-item projects LANES points onto their triangles: projected (queries, 3), and status
// (queries), which is 1 for a bad query with a NaN result.
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
  store_query3(projected, stride, first, count, onto);
  store_status(status, first, count, q.good);
}

// One work-item converts the cotangents of LANES projected points to those of the points and
// triangles, points_bar (queries, 3) and triangles_bar (queries, 9); status is that of
// witness_faces.
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
  FN(face_witness_adjoint)(q.v, q.a, q.b, q.e, c, load_query3(projected_bar, stride, first, count),
                           out);
  for (int i = 0; i < 4; ++i) {
    out[i] = good_or_none3(q.good, out[i]);
  }
  store_query3(points_bar, stride, first, count, out[0]);
  store_query9(triangles_bar, stride, first, count, out + 1);
  store_status(status, first, count, q.good);
}
