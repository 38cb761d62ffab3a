// Boxed linear complementarity problems, for plain numbers only.
#include "kernels/begin.h"
#include "geometry/lcp.h"

#if !TANGENTS
#define NUM_DUAL 0
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/lcp/factor.cl"
#include "kernels/lcp/problem.cl"
#include "kernels/lcp/pivot.cl"
#include "kernels/lcp/lemke.cl"
#include "kernels/lcp/solve.cl"
#include "num/num_off.h"
#undef NUM_DUAL
#endif
