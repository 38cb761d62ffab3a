// The soft-minimum contact model "spring", docs/dev/spring-formulas.md. Its programs on duals
// differentiate the Jacobian along a direction. The derivatives of implicit steps need that along
// velocities, and callers may request it along any motion.
#include "kernels/begin.h"
#include "geometry/spring.h"
#include "geometry/wide.h"

#define NUM_DUAL (TANGENTS > 0)
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/spring/cloud.cl"
#include "geometry/spring_curves.inl"
#include "kernels/spring/law.cl"
#include "kernels/spring/pair.cl"
#include "kernels/spring/slopes.cl"
#include "num/num_off.h"
#undef NUM_DUAL

#if !TANGENTS
#define NUM_DUAL 0
#include "num/num_on.h"
#include "kernels/spring/points.cl"
#include "kernels/spring/query.cl"
#include "num/num_off.h"

#define NUM_WIDE
#include "num/num_on.h"
#include "kernels/spring/frames.cl"
#include "num/num_off.h"
#undef NUM_WIDE
#undef NUM_DUAL
#endif
