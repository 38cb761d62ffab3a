// Derivatives of contacts with respect to the shapes of their bodies. On duals, a direction of the
// shapes' parameters adds to the tangents of the manifold's forward pass. On plain numbers, the
// cotangents of meshes' and fields' places, written by the manifold's reverse pass, are propagated
// to vertices and primitives.
#include "kernels/begin.h"

#if TANGENTS == 1
#define NUM_DUAL 0
#include "num/num_on.h"
#include "geometry/core_slopes.inl"
#include "geometry/superquadric_slopes.inl"
#include "num/num_off.h"
#undef NUM_DUAL

#define NUM_DUAL 1
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/field.h"
#include "kernels/manifold/pair.h"
#include "kernels/manifold/none.h"
#include "kernels/shape/moves.cl"
#include "kernels/shape/along.cl"
#include "kernels/manifold/edge_field.h"
#define EDGE(name) name##_moving
#define FIELD_MOVES 1
#include "kernels/manifold/edge_slots.inl"
#undef FIELD_MOVES
#undef EDGE
#include "kernels/shape/edges.cl"
#include "num/num_off.h"
#undef NUM_DUAL
#endif

#if !TANGENTS
#define NUM_DUAL 0
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/manifold/pair.h"
#include "geometry/core_slopes.inl"
#include "geometry/superquadric_slopes.inl"
#include "kernels/shape/vertices.cl"
#include "kernels/shape/fields.cl"
#include "kernels/shape/superquadrics.cl"
#include "kernels/shape/polyhedra.cl"
#include "kernels/shape/pointclouds.cl"
#include "kernels/shape/grids.cl"
#include "kernels/shape/cores.cl"
#include "num/num_off.h"
#undef NUM_DUAL
#endif
