// Closest points of convex shapes and their derivatives, for plain numbers alone.
#include "kernels/begin.h"
#include "geometry/closest.h"
#include "geometry/shape.h"
#include "geometry/wide.h"
#include "num/random.h"

#if !TANGENTS
#define NUM_DUAL 0
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/closest/support.cl"
#include "kernels/closest/place.cl"
#include "kernels/closest/simplex.cl"
#include "kernels/closest/apart.cl"
#include "kernels/closest/polytope.cl"
#include "kernels/closest/overlap.cl"
#include "kernels/closest/exact.cl"
#include "kernels/closest/polish.cl"
#include "kernels/closest/curvature.cl"
#include "kernels/closest/derivatives.cl"
#include "kernels/closest/estimate.cl"
#include "num/num_off.h"
#undef NUM_DUAL
#endif
