// Worlds: trees of links that move, with contacts.
#include "kernels/begin.h"
#include "geometry/world.h"

#define NUM_DUAL (TANGENTS > 0)
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/world/memory.cl"
#include "kernels/world/tree.cl"
#include "kernels/world/contacts.cl"
#include "num/num_off.h"
#undef NUM_DUAL

#if !TANGENTS
#define NUM_DUAL 0
#include "num/num_on.h"
#if WITH_FORWARD
#include "kernels/world/newton.cl"
#include "kernels/world/step.cl"
#endif
#include "num/num_off.h"
#undef NUM_DUAL
#endif
