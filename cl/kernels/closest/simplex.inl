// The point of a simplex of up to four points that is nearest to the origin. No include guard: the
// file is included for lanes, and for wide numbers, with NUM_EPSILON.
//
// The newest point is in slot 3. The other points, at most three, were searched earlier, so the
// nearest point now involves the newest one. Every segment and triangle with the newest point is
// tried, and the best one is taken. There are no cases, and no decision depends on a sign that
// rounding may have flipped.

typedef struct FN(closest_nearest) {
  vec x; // the nearest point
  num q; // its square
  num weight[SIMPLEX];
  n_mask inside; // the origin lies in the tetrahedron
} FN(closest_nearest);

static void FN(closest_try)(FN(closest_nearest) *best, n_mask take, vec x, num q, int i, num wi,
                            int j, num wj, num wnew)
{
  best->x.x = n_select(take, x.x, best->x.x);
  best->x.y = n_select(take, x.y, best->x.y);
  best->x.z = n_select(take, x.z, best->x.z);
  best->q = n_select(take, q, best->q);
  for (int k = 0; k < NEWEST; ++k) {
    const num w = k == i ? wi : k == j ? wj : n_lit(R(0.0));
    best->weight[k] = n_select(take, w, best->weight[k]);
  }
  best->weight[NEWEST] = n_select(take, wnew, best->weight[NEWEST]);
}

static void FN(closest_try_segment)(FN(closest_nearest) *best, const vec w[SIMPLEX], n_mask there,
                                    int i, vec e)
{
  const num ee = FN(dot3)(e, e);
  const n_mask sound = there & (ee > n_lit(REAL_TINY));
  const num zero = n_lit(R(0.0)), one = n_lit(R(1.0));
  const num share = -FN(dot3)(w[NEWEST], e) / n_select(sound, ee, n_lit(R(1.0)));
  const num t = n_select(share > zero, n_select(share < one, share, one), zero);
  const vec at = FN(mad3)(e, t, w[NEWEST]);
  // Near the origin rounding leaves a component along the segment, which would rotate the normal.
  const num along =
    n_select((t > zero) & (t < one) & sound, FN(dot3)(at, e) / n_select(sound, ee, one), zero);
  const vec x = FN(mad3)(e, -along, at);
  const num q = FN(dot3)(x, x);
  FN(closest_try)(best, sound & (q < best->q), x, q, i, t, i, t, one - t);
}

// The rounding error of zero, as a share of squares of lengths.
#define SIMPLEX_NOISE2 (R(4096.0) * NUM_EPSILON * NUM_EPSILON)

// The origin's projection is found by the normal, which keeps its digits if the triangle is near
// the origin. For this reason the triangle is preferred over segments that are equally near up to
// rounding. If the normal is mostly rounding, which the weighted sum of the corners reveals, that
// sum is used; it is at least a point of the triangle.
static void FN(closest_try_triangle)(FN(closest_nearest) *best, const vec w[SIMPLEX], n_mask there,
                                     int i, int j, vec ei, vec ej, vec normal)
{
  const num nn = FN(dot3)(normal, normal), big = FN(dot3)(ei, ei) * FN(dot3)(ej, ej);
  const n_mask sound = there & (nn > big * SIMPLEX_NOISE2) & (nn > n_lit(REAL_TINY));
  const num by = n_lit(R(1.0)) / n_select(sound, nn, n_lit(R(1.0)));
  const vec from = FN(neg3)(w[NEWEST]);
  const num wi = FN(dot3)(FN(cross3)(from, ej), normal) * by,
            wj = FN(dot3)(FN(cross3)(ei, from), normal) * by;
  const num zero = n_lit(R(0.0));
  const n_mask within = sound & (wi > zero) & (wj > zero) & (wi + wj < n_lit(R(1.0)));
  const num height = FN(dot3)(w[NEWEST], normal);
  const vec foot = FN(scale3)(normal, height * by),
            sum = FN(mad3)(ei, wi, FN(mad3)(ej, wj, w[NEWEST]));
  const vec off = FN(sub3)(sum, foot);
  const n_mask same = FN(dot3)(off, off) <=
                      (FN(dot3)(from, from) + FN(dot3)(ei, ei) + FN(dot3)(ej, ej)) * SIMPLEX_NOISE2;
  const vec x = FN(make)(n_select(same, foot.x, sum.x), n_select(same, foot.y, sum.y),
                         n_select(same, foot.z, sum.z));
  const num q = FN(dot3)(x, x), slack = n_sqrt(best->q) * (R(8.0) * NUM_EPSILON);
  FN(closest_try)(best, within & (q <= best->q + slack), x, q, i, wi, j, wj,
                  n_lit(R(1.0)) - wi - wj);
}

// Whether the origin and the point e, relative to the newest point, are on the same side of a face
// through it.
static n_mask FN(closest_same_side)(vec normal, vec newest, vec e)
{
  return -FN(dot3)(newest, normal) * FN(dot3)(e, normal) > n_lit(R(0.0));
}

// Whether three edges from a corner span a volume that exceeds rounding.
static n_mask FN(closest_is_solid)(vec normal, vec a, vec b, vec c)
{
  const num volume = FN(dot3)(normal, c);
  const num product = FN(dot3)(a, a) * FN(dot3)(b, b) * FN(dot3)(c, c);
  return volume * volume > product * (R(256.0) * NUM_EPSILON * NUM_EPSILON);
}

// there: which of the slots 0 to 2 have a point. segments, triangles: whether any lane has one, or
// two, of these points.
static FN(closest_nearest)
  FN(closest_search)(const vec w[SIMPLEX], const n_mask there[NEWEST], int segments, int triangles)
{
  FN(closest_nearest) best;
  const num zero = n_lit(R(0.0));
  best.x = w[NEWEST];
  best.q = FN(dot3)(best.x, best.x);
  best.weight[0] = best.weight[1] = best.weight[2] = zero;
  best.weight[NEWEST] = n_lit(R(1.0));
  best.inside = zero > zero;
  if (!segments) {
    return best;
  }
  const vec e0 = FN(sub3)(w[0], w[NEWEST]), e1 = FN(sub3)(w[1], w[NEWEST]),
            e2 = FN(sub3)(w[2], w[NEWEST]);
  FN(closest_try_segment)(&best, w, there[0], 0, e0);
  FN(closest_try_segment)(&best, w, there[1], 1, e1);
  FN(closest_try_segment)(&best, w, there[2], 2, e2);
  if (!triangles) {
    return best;
  }
  const vec n01 = FN(cross3)(e0, e1), n12 = FN(cross3)(e1, e2), n20 = FN(cross3)(e2, e0);
  FN(closest_try_triangle)(&best, w, there[0] & there[1], 0, 1, e0, e1, n01);
  FN(closest_try_triangle)(&best, w, there[1] & there[2], 1, 2, e1, e2, n12);
  FN(closest_try_triangle)(&best, w, there[2] & there[0], 2, 0, e2, e0, n20);
  const vec base = FN(cross3)(FN(sub3)(w[1], w[0]), FN(sub3)(w[2], w[0]));
  best.inside =
    there[0] & there[1] & there[2] & FN(closest_same_side)(n01, w[NEWEST], e2) &
    FN(closest_same_side)(n12, w[NEWEST], e0) & FN(closest_same_side)(n20, w[NEWEST], e1) &
    (-FN(dot3)(w[0], base) * -FN(dot3)(e0, base) > zero) & FN(closest_is_solid)(n01, e0, e1, e2);
  return best;
}
#undef SIMPLEX_NOISE2
