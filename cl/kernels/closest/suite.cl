// Closest points of convex shapes and their derivatives, only for plain numbers.
#include "kernels/begin.h"
#include "geometry/closest.h"
#include "geometry/shape.h"
#include "geometry/wide.h"
#include "num/random.h"

#if !TANGENTS
#define SIMPLEX 4 // points of a simplex; the newest is the last
#define NEWEST 3
#define NUM_DUAL 0
#if WIDE && !REAL_DOUBLE
#define NUM_WIDE
#include "num/num_on.h"
#define NUM_EPSILON WIDE_EPSILON
#include "kernels/closest/simplex.inl"
#undef NUM_EPSILON
#include "num/num_off.h"
#undef NUM_WIDE
#endif
#include "num/num_on.h"
#define NUM_EPSILON REAL_EPSILON
#include "kernels/access.h"
#include "kernels/closest/support.cl"
#include "kernels/closest/place.cl"
#include "kernels/closest/simplex.inl"
#include "kernels/closest/walk.cl"
#include "kernels/closest/segments.cl"
#include "kernels/closest/apart.cl"
#include "kernels/closest/polytope.cl"
#include "kernels/closest/view.cl"
#include "kernels/closest/again.cl"
#include "kernels/closest/overlap.cl"
#include "kernels/closest/exact.cl"
#include "kernels/closest/polish.cl"
#include "kernels/closest/curvature.cl"
#include "kernels/closest/derivatives.cl"
#include "kernels/closest/estimate.cl"
#include "num/num_off.h"
#undef NUM_DUAL
#endif
