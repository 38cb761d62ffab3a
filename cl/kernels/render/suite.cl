// Pictures: the intersections of rays with a body, and its field there. Plain numbers only.
#include "kernels/begin.h"

#if !TANGENTS
#define NUM_DUAL 0
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/field.h"
#include "kernels/points.h"
#include "kernels/render/shade.cl"
#include "num/num_off.h"
#undef NUM_DUAL
#include "kernels/render/render.cl"
#endif
