// The angle of a vector, for the few files that need it.
#ifndef NUM_ANGLES_H
#define NUM_ANGLES_H

#if defined(__OPENCL_VERSION__) || REAL_DOUBLE
#define lane_atan2(a, b) atan2(a, b)
#else
#define lane_atan2(a, b) atan2f(a, b)
#endif
#if TANGENTS
static dual dual_atan2(dual y, dual x)
{
  const lane square = x.v * x.v + y.v * y.v;
  return dual_with_value(dual_sub(dual_scale(y, x.v / square), dual_scale(x, y.v / square)),
                         lane_atan2(y.v, x.v));
}
#define n_atan2(a, b) dual_atan2(a, b)
#else
#define n_atan2(a, b) lane_atan2(a, b)
#endif

#endif
