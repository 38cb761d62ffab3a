// The point of a simplex of up to four points that is nearest to the origin, on lanes.
//
// The newest point is the one in slot 3; without it the others, which are at most three, were searched
// already, so that what is nearest now has the newest point in it. Every segment and triangle with it is
// tried, and the best one taken: there are no cases, and nothing is decided by a sign that rounding may
// have turned.

#define SIMPLEX 4
#define NEWEST 3

typedef struct closest_nearest {
  vec3_r x;         // the nearest point
  lane q;           // its square
  lane weight[SIMPLEX];
  ilane inside;     // the origin lies in the tetrahedron
} closest_nearest;

static void closest_try(closest_nearest *best, ilane take, vec3_r x, lane q, int i, lane wi, int j,
                        lane wj, lane wnew)
{
  best->x.x = lane_select(take, x.x, best->x.x);
  best->x.y = lane_select(take, x.y, best->x.y);
  best->x.z = lane_select(take, x.z, best->x.z);
  best->q = lane_select(take, q, best->q);
  for (int k = 0; k < NEWEST; ++k) {
    const lane w = k == i ? wi : k == j ? wj : lane_lit(R(0.0));
    best->weight[k] = lane_select(take, w, best->weight[k]);
  }
  best->weight[NEWEST] = lane_select(take, wnew, best->weight[NEWEST]);
}

static void closest_try_segment(closest_nearest *best, const vec3_r w[SIMPLEX], ilane there, int i,
                                vec3_r e)
{
  const lane ee = dot3_r(e, e);
  const ilane sound = there & (ee > lane_lit(REAL_TINY));
  const lane share = -dot3_r(w[NEWEST], e) / lane_select(sound, ee, lane_lit(R(1.0)));
  const lane t = lane_max(lane_min(share, lane_lit(R(1.0))), lane_lit(R(0.0)));
  const vec3_r x = mad3_r(e, t, w[NEWEST]);
  const lane q = dot3_r(x, x);
  closest_try(best, sound & (q < best->q), x, q, i, t, i, t, R(1.0) - t);
}

// The origin's projection is found by the normal, which keeps its digits where the triangle is near to
// the origin. Where segments are as near up to rounding the triangle counts, for that reason.
static void closest_try_triangle(closest_nearest *best, const vec3_r w[SIMPLEX], ilane there, int i,
                                 int j, vec3_r ei, vec3_r ej, vec3_r normal)
{
  const lane nn = dot3_r(normal, normal), big = dot3_r(ei, ei) * dot3_r(ej, ej);
  const ilane sound = there & (nn > big * (REAL_EPSILON * REAL_EPSILON)) & (nn > lane_lit(REAL_TINY));
  const lane by = R(1.0) / lane_select(sound, nn, lane_lit(R(1.0)));
  const vec3_r from = neg3_r(w[NEWEST]);
  const lane wi = dot3_r(cross3_r(from, ej), normal) * by, wj = dot3_r(cross3_r(ei, from), normal) * by;
  const lane zero = lane_lit(R(0.0));
  const ilane within = sound & (wi > zero) & (wj > zero) & (wi + wj < lane_lit(R(1.0)));
  const lane height = dot3_r(w[NEWEST], normal);
  const lane q = height * height * by;
  const lane slack = lane_sqrt(best->q) * (R(8.0) * REAL_EPSILON);
  closest_try(best, within & (q <= best->q + slack), scale3_r(normal, height * by), q, i, wi, j, wj,
              R(1.0) - wi - wj);
}

// Whether the origin and the point e, seen from the newest one, are on the same side of a face through it.
static ilane closest_same_side(vec3_r normal, vec3_r newest, vec3_r e)
{
  return -dot3_r(newest, normal) * dot3_r(e, normal) > lane_lit(R(0.0));
}

// there: which of the slots 0 to 2 hold a point. faces: whether any lane has two of them.
static closest_nearest closest_search(const vec3_r w[SIMPLEX], const ilane there[NEWEST], int segments,
                                      int triangles)
{
  closest_nearest best;
  const lane zero = lane_lit(R(0.0));
  best.x = w[NEWEST];
  best.q = dot3_r(best.x, best.x);
  best.weight[0] = best.weight[1] = best.weight[2] = zero;
  best.weight[NEWEST] = lane_lit(R(1.0));
  best.inside = zero > zero;
  if (!segments) {
    return best;
  }
  const vec3_r e0 = sub3_r(w[0], w[NEWEST]), e1 = sub3_r(w[1], w[NEWEST]), e2 = sub3_r(w[2], w[NEWEST]);
  closest_try_segment(&best, w, there[0], 0, e0);
  closest_try_segment(&best, w, there[1], 1, e1);
  closest_try_segment(&best, w, there[2], 2, e2);
  if (!triangles) {
    return best;
  }
  const vec3_r n01 = cross3_r(e0, e1), n12 = cross3_r(e1, e2), n20 = cross3_r(e2, e0);
  closest_try_triangle(&best, w, there[0] & there[1], 0, 1, e0, e1, n01);
  closest_try_triangle(&best, w, there[1] & there[2], 1, 2, e1, e2, n12);
  closest_try_triangle(&best, w, there[2] & there[0], 2, 0, e2, e0, n20);
  const vec3_r base = cross3_r(sub3_r(w[1], w[0]), sub3_r(w[2], w[0]));
  best.inside = there[0] & there[1] & there[2] & closest_same_side(n01, w[NEWEST], e2) &
                closest_same_side(n12, w[NEWEST], e0) & closest_same_side(n20, w[NEWEST], e1) &
                (-dot3_r(w[0], base) * -dot3_r(e0, base) > zero);
  return best;
}
