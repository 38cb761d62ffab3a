// The families' texts. Each has a function NAME_add, which adds one operation's primitives to a
// blend, and on plain lanes NAME_march, which also bounds a ray's step, and NAME_bound, a lower
// bound of distances.
#include "geometry/superquadric.inl"
#if !NUM_DUAL
#include "geometry/cull.inl"
#endif
#include "geometry/superquadrics.inl"
#include "geometry/polyhedron.inl"
#include "geometry/pointcloud.inl"
