// Superquadrics and polyhedra fitted to a mesh (docs/decompose.md). Derivatives are written by
// hand, compiled only for plain numbers.
#include "kernels/begin.h"
#include "geometry/decompose.h"

#define NUM_DUAL (TANGENTS > 0)
#include "num/num_on.h"
#if !TANGENTS
#include "kernels/decompose/jet.cl"
#include "kernels/decompose/fit.cl"
#include "kernels/decompose/change.cl"
#endif
#include "num/num_off.h"
#undef NUM_DUAL
