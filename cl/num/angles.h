// The angle of a vector on plain lanes, for the few texts that need it.
#ifndef NUM_ANGLES_H
#define NUM_ANGLES_H

#if defined(__OPENCL_VERSION__) || REAL_DOUBLE
#define lane_atan2(a, b) atan2(a, b)
#else
#define lane_atan2(a, b) atan2f(a, b)
#endif
#define n_atan2(a, b) lane_atan2(a, b)

#endif
