// How far a ray can advance without passing a primitive. Plain lanes only.
//
// A superquadric's h - 1 and a polyhedron's LSE are convex functions, negative inside. With f such
// a function and g its gradient at x, every point y of the body has f + g.(y - x) <= 0, and every
// point within `margin` of it f + g.(y - x) <= margin |g|. A step along the ray up to that half
// space cannot pass the primitive, however much its radial distance differs from a true one. The
// soft union extends at most union ln(primitives), the margin, beyond the hard one. Within the
// margin the ray advances in small steps until the field's sign changes, and the root is then
// bracketed.

// The state that the families update in turn, with their functions NAME_march.
typedef struct FN(marching) {
  FN(blend) blend;    // only distances
  lane step;          // the least bound of the primitives so far
  vec d;              // the ray's direction
  real margin, creep; // lengths
} FN(marching);

// Returns how far the ray can advance by one convex function. `gap` is the function's value at the
// ray's point and g its gradient.
static lane FN(march_bound)(const FN(marching) *m, lane gap, vec g)
{
  const lane slope = -FN(dot3)(g, m->d);
  const lane rest = gap - m->margin * lane_sqrt(FN(dot3)(g, g));
  const ilane ahead = slope > lane_lit(REAL_TINY);
  const lane step = rest / lane_select(ahead, slope, lane_lit(R(1.0)));
  const lane outside = lane_select(ahead, lane_max(step, lane_lit(m->creep)), lane_lit(REAL_BIG));
  return lane_select(rest > lane_lit(R(0.0)), outside, lane_lit(m->creep));
}
