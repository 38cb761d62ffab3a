// Lower bounds of a body's distance over balls, so that bodies that cannot touch are never
// evaluated. Plain lanes only.
//
// Each family's NAME_bound returns the least of lower bounds of its primitives' distances over a
// ball, or -REAL_BIG if there is no bound. Most families bound the Euclidean distance. Outside, a
// primitive's own distance is at least that: a superquadric's is measured along a ray to its
// surface. A soft union is at most union ln N below its least term, and a subtraction only
// increases it.

#define BOUND_SLACK (R(64.0) * REAL_EPSILON) // allowance for rounding in a bound's numbers

// Returns a lower bound of the distance of a body at any point within `radius` of x.
static lane FN(body_bound)(GLOBAL const int *head, GLOBAL const real *shape,
                           GLOBAL const coefficients *c, vec x, lane radius)
{
  lane least = lane_lit(REAL_BIG);
  GLOBAL const int *entry = head + HEAD_ENTRY(0, 0);
#define BOUND_FAMILY(name)                                                                 \
  least = lane_min(least, FN(name##_bound)(entry[ENTRY_COUNT], head + entry[ENTRY_RANGES], \
                                           shape + entry[ENTRY_BASE], x, radius));         \
  entry += ENTRY_INTS;
  FAMILIES(BOUND_FAMILY)
#undef BOUND_FAMILY
  const lane size = lane_abs(x.x) + lane_abs(x.y) + lane_abs(x.z);
  const lane below = lane_log2(lane_lit((real)head[HEAD_ADDED])) * c->union_ln2;
  const lane bound = least - below - (size + lane_abs(least) + radius) * BOUND_SLACK;
  return lane_select(least > lane_lit(-REAL_BIG), bound, lane_lit(-REAL_BIG));
}
