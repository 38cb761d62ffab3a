// Continuous collision detection, only for plain numbers.
#include "kernels/begin.h"
#include "geometry/ccd.h"
#include "geometry/wide.h"

#if !TANGENTS
// The certificate counts roundings: each operation is rounded once. gcc fuses no operations in
// standard C.
#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
#define NUM_DUAL 0
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/ccd/front.h"
#include "kernels/ccd/rows.h"
#include "kernels/ccd/witness.cl"
#include "kernels/ccd/path.cl"
#include "kernels/ccd/bodies.h"
#include "kernels/ccd/touch.cl"
#define CCD_STAGE 0
#define CCD_V CCD_U
#define CCD_SLACK (8 * CCD_U)
#define CCD_KIND CCD_POINT_POINT
#include "kernels/ccd/query.inl"
#define CCD_KIND CCD_POINT_EDGE
#include "kernels/ccd/query.inl"
#define CCD_KIND CCD_POINT_TRIANGLE
#define CCD_OF_MESHES
#include "kernels/ccd/query.inl"
#define CCD_KIND CCD_EDGE_EDGE
#include "kernels/ccd/query.inl"
#undef CCD_OF_MESHES
#undef CCD_STAGE
#undef CCD_V
#undef CCD_SLACK
#include "num/num_off.h"

#define NUM_DOUBLED
#include "num/doubled.h"
#include "num/num_on.h"
#include "geometry/vec.inl"
#define CCD_STAGE 1
#define CCD_V (16 * CCD_U * CCD_U)
#define CCD_SLACK (4 * CCD_V)
#define CCD_KIND CCD_POINT_POINT
#include "kernels/ccd/query.inl"
#define CCD_KIND CCD_POINT_EDGE
#include "kernels/ccd/query.inl"
#define CCD_KIND CCD_POINT_TRIANGLE
#include "kernels/ccd/query.inl"
#define CCD_KIND CCD_EDGE_EDGE
#include "kernels/ccd/query.inl"
#undef CCD_STAGE
#undef CCD_V
#undef CCD_SLACK
#include "num/num_off.h"
#undef NUM_DOUBLED

#include "num/num_on.h"
#include "kernels/ccd/queries.cl"
#include "kernels/ccd/gradient.cl"
#include "kernels/ccd/pierced.cl"
#include "kernels/ccd/bodies.cl"
#include "kernels/ccd/slopes.cl"
#include "num/num_off.h"
#undef NUM_DUAL
#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT ON
#elif defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#endif
#endif
