// The families' texts. Each has a function NAME_add, which adds one operation's primitives to a
// blend, and on plain lanes NAME_march, which also bounds a ray's step, and NAME_bound, a lower
// bound of distances over balls.
#if !NUM_DUAL
// Returns a bound over a ball, of a bound of the Euclidean distance at its centre, which falls by
// no more than the radius over the ball; none where it is not positive.
static lane FN(bound_over)(lane distance, lane radius)
{
  return lane_select(distance > lane_lit(R(0.0)), distance - radius, lane_lit(-REAL_BIG));
}
#endif
#include "geometry/superquadric.inl"
#if !NUM_DUAL
#include "geometry/cull.inl"
#endif
#include "geometry/superquadrics.inl"
#include "geometry/polyhedron.inl"
#include "geometry/pointcloud.inl"
#include "geometry/grid.inl"
#include "geometry/grids.inl"
#include "geometry/height_field.inl"
#include "geometry/height_fields.inl"
#include "geometry/core.inl"
#include "geometry/cores.inl"
