// The poses on wide scalars; every function has the suffix _w, or on duals of wide scalars _wd.
#ifndef GEOMETRY_WIDE_H
#define GEOMETRY_WIDE_H
#define NUM_WIDE
#define NUM_DUAL 0
#include "num/num_on.h"
#include "geometry/vec.inl"
#include "geometry/pose.inl"
#include "num/num_off.h"
#undef NUM_DUAL
#if TANGENTS
#define NUM_DUAL 1
#include "num/num_on.h"
#include "geometry/vec.inl"
#include "geometry/pose.inl"
#include "num/num_off.h"
#undef NUM_DUAL
#endif
#undef NUM_WIDE
#endif
