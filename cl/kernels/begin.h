// The common beginning of every suite: numbers and the geometry on them.
//
// TANGENTS selects the kind of number. 0: plain numbers, for forward and reverse kernels. 1: the
// same text on duals, which gives the tangents of forward kernels (JVP) and the derivative of
// reverse kernels along a direction (Hessian-vector products). 6: forward kernels compute tangents
// along six directions at once.
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
