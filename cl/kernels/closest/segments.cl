// Points and segments, the cores of spheres and capsules, in closed form.

// Returns the vector between the point a z of one segment and t + b axis of the other. It is made
// normal to each segment whose ends it does not touch: for near segments, rounding would make the
// plain difference inexact.
static vec3_r closest_segment_gap(vec3_r axis, vec3_r t, lane a, lane b, ilane free1, ilane free2,
                                  ilane askew)
{
  const lane zero = lane_lit(R(0.0)), one = lane_lit(R(1.0));
  const vec3_r plain = mad3_r(axis, b, make_r(t.x, t.y, t.z - a));
  const vec3_r across = make_r(plain.x, plain.y, lane_select(free1, zero, plain.z));
  const vec3_r less = mad3_r(axis, -dot3_r(axis, plain), plain);
  const vec3_r normal = make_r(-axis.y, axis.x, zero);
  const lane nn = dot3_r(normal, normal);
  const lane height = dot3_r(normal, t) / lane_select(askew, nn, one);
  const vec3_r single = closest_select3(free2, less, across);
  return closest_select3(free1 & free2 & askew, scale3_r(normal, height), single);
}

// Solves the lanes whose shapes are both points or segments in closed form: the nearest points of
// two segments, by their crossing as seen along both, each then clamped to its ends (Lumelsky
// 1985). The outputs shared with other rows are v, the point of shape 1 and the bound.
static ilane closest_segments(const closest_sides *shapes, const closest_pair *p, vec3_r t, lane by,
                              closest_walk *w)
{
  real half_length[2][LANES];
  int bits = 0;
  for (int l = 0; l < LANES; ++l) {
    int both = 1;
    for (int side = 0; side < 2; ++side) {
      const closest_shape *s = &shapes->of[side][l];
      both &= (s->kind == SHAPE_POINT) | (s->kind == SHAPE_CAPSULE);
      half_length[side][l] = s->kind == SHAPE_CAPSULE ? s->record[SHAPE_SIZE] : R(0.0);
    }
    bits |= both << l;
  }
  const ilane these = closest_mask_of(bits) & p->good;
  if (!bits) {
    return these;
  }
  const lane zero = lane_lit(R(0.0));
  const lane h1 = lane_load(half_length[0]) * by, h2 = lane_load(half_length[1]) * by;
  const vec3_r axis = make_r(p->r[2], p->r[5], p->r[8]); // shape 2's axis; shape 1's is z
  const lane sine2 = axis.x * axis.x + axis.y * axis.y;  // from |z x axis|, which keeps its digits
  // (t x axis) . (z x axis), the distance along z to the crossing, times sine2.
  const lane cross =
    (t.z * axis.x - t.x * axis.z) * axis.x - (t.y * axis.z - t.z * axis.y) * axis.y;
  const ilane askew = sine2 > lane_lit(R(16.0) * REAL_EPSILON * REAL_EPSILON);
  const lane free = lane_select(askew, cross / lane_select(askew, sine2, lane_lit(R(1.0))), t.z);
  lane a = lane_max(lane_min(free, h1), -h1);
  const lane b = lane_max(lane_min(axis.z * a - dot3_r(axis, t), h2), -h2);
  a = lane_max(lane_min(t.z + b * axis.z, h1), -h1);
  const vec3_r v = closest_segment_gap(axis, t, a, b, lane_abs(a) < h1, lane_abs(b) < h2, askew);
  const vec3_r u = closest_unit(v);
  const lane open =
    (h1 * lane_abs(u.z) - a * u.z) + (h2 * lane_abs(dot3_r(u, axis)) + b * dot3_r(u, axis));
  w->v = closest_select3(these, v, w->v);
  w->q = lane_select(these, dot3_r(v, v), w->q);
  w->lower = lane_select(these, lane_sqrt(w->q) - open, w->lower);
  w->body1[0] = closest_select3(these, make_r(zero, zero, a), w->body1[0]);
  w->weight[0] = lane_select(these, lane_lit(R(1.0)), w->weight[0]);
  return these;
}

// Writes all ends of both segments as a simplex, for rows that closest_segments solves.
static void closest_segment_codes(GLOBAL int *simplex, const closest_sides *shapes, int row, int l)
{
  GLOBAL int *to = ROW(simplex, row, 2 * SIMPLEX);
  const int first = shapes->of[0][l].kind == SHAPE_CAPSULE,
            second = shapes->of[1][l].kind == SHAPE_CAPSULE;
  for (int k = 0; k < SIMPLEX; ++k) {
    const int there = ((k & 1) <= first) & (k >> 1 <= second);
    to[2 * k] = there ? k & 1 : -1;
    to[2 * k + 1] = there ? k >> 1 : -1;
  }
}
