// Only witness points, for edges and for faces.
#include "kernels/begin.h"

#define NUM_DUAL (TANGENTS > 0)
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/witness/rows.h"
#include "kernels/witness/witness.cl"
#include "num/num_off.h"
#undef NUM_DUAL
