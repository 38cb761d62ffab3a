// The poses on wide scalars: every function with the suffix _w.
#ifndef GEOMETRY_WIDE_H
#define GEOMETRY_WIDE_H
#define NUM_DUAL 0
#define NUM_WIDE
#include "num/num_on.h"
#include "geometry/vec.inl"
#include "geometry/pose.inl"
#include "num/num_off.h"
#undef NUM_WIDE
#undef NUM_DUAL
#endif
