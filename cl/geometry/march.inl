// How far a ray may go without passing a primitive. Plain lanes alone.
//
// A superquadric's h - 1 and a polyhedron's LSE are convex functions, negative inside. With f such
// a function and g its gradient at x, every point y of the body has f + g.(y - x) <= 0, and every
// point within `margin` of it f + g.(y - x) <= margin |g|: a step along the ray up to that half
// space cannot pass the primitive, however far its radial distance is from a true one. The soft
// union reaches at most union ln(primitives), the margin, beyond the hard one. Within the margin
// the ray creeps until the field's sign changes, and the root is then bracketed.

// What the families add to in turn, by their functions NAME_march.
typedef struct FN(marching) {
  FN(blend) blend;    // distances alone
  lane step;          // the least bound of the primitives so far
  vec d;              // the ray's direction
  real margin, creep; // lengths
} FN(marching);

// Returns how far the ray may go by one convex function, of which `gap` is the value at the ray's
// point and g the gradient.
static lane FN(march_bound)(const FN(marching) *m, lane gap, vec g)
{
  const lane slope = -FN(dot3)(g, m->d);
  const lane rest = gap - m->margin * lane_sqrt(FN(dot3)(g, g));
  const ilane ahead = slope > lane_lit(REAL_TINY);
  const lane step = rest / lane_select(ahead, slope, lane_lit(R(1.0)));
  const lane outside = lane_select(ahead, lane_max(step, lane_lit(m->creep)), lane_lit(REAL_BIG));
  return lane_select(rest > lane_lit(R(0.0)), outside, lane_lit(m->creep));
}
