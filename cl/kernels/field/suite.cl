// The field of one body at the caller's points.
#include "kernels/begin.h"

#define NUM_DUAL (TANGENTS > 0)
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/field.h"
#include "kernels/points.h"
#include "kernels/field/query.cl"
#include "num/num_off.h"
#undef NUM_DUAL
