// The geometry on duals; every function has the suffix _d.
#ifndef GEOMETRY_DUAL_H
#define GEOMETRY_DUAL_H
#define NUM_DUAL 1
#include "num/num_on.h"
#include "geometry/vec.inl"
#include "geometry/smooth.inl"
#include "geometry/pose.inl"
#include "geometry/blend.inl"
#include "geometry/families.inl"
#include "geometry/compose.inl"
#include "geometry/edge_edge.inl"
#include "geometry/edge_weight.inl"
#include "geometry/vertex_face.inl"
#include "geometry/cone.inl"
#include "geometry/seam.inl"
#include "geometry/edge_field.inl"
#include "num/num_off.h"
#undef NUM_DUAL
#endif
