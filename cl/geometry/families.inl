// The families' code. Each family has a function NAME_add, which adds one operation's primitives to
// a blend. On plain lanes it also has NAME_march, which bounds a ray's step, and NAME_bound, a
// lower bound of distances over balls.
#if !NUM_DUAL
// Returns a bound over a ball from a bound of the Euclidean distance at its centre, which falls by
// at most the radius over the ball. There is no bound if the distance is not positive.
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
