// The whole suite: one program. What each file may know is what stands above it.
//
// TANGENTS 0: kernels on plain numbers, forward and reverse. TANGENTS 1: the same text on duals,
// which gives the forward kernels' tangents (JVP) and the derivative of the reverse ones along a
// direction (Hessian-vector products).
#ifndef TANGENTS
#define TANGENTS 0
#endif
#include "num/real.h"
#include "geometry/coefficients.h"
#include "geometry/layout.h"
#include "geometry/plain.h"
#if TANGENTS
#define DUAL_TANGENTS TANGENTS
#include "num/dual.h"
#include "geometry/dual.h"
#endif
#include "geometry/wide.h"

#define NUM_DUAL (TANGENTS > 0)
#include "num/num_on.h"
#include "kernels/rows.h"
#include "kernels/access.h"
#include "kernels/field.cl"
#include "kernels/vertex.cl"
#include "kernels/select.cl"
#include "kernels/edge.cl"
#include "kernels/reduce.cl"
#include "kernels/witness.cl"
#include "num/num_off.h"

#define NUM_WIDE
#include "num/num_on.h"
#include "kernels/poses.cl"
#include "num/num_off.h"
#undef NUM_WIDE
#undef NUM_DUAL

#if !TANGENTS
#if WITH_FORWARD
#include "kernels/compact.cl"
#include "kernels/render.cl"
#endif
#endif
