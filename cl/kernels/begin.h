// What every suite begins with: numbers, and the geometry on them.
//
// TANGENTS says of which kind the numbers are. 0: kernels compute on plain numbers, forward and
// reverse. 1: the same text computes on duals, which gives the forward kernels' tangents (JVP) and
// the derivative of the reverse ones along a direction (Hessian-vector products). 6: forward
// kernels compute tangents along six directions at a time.
#ifndef KERNELS_BEGIN_H
#define KERNELS_BEGIN_H
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
#endif
