// Contacts of two bodies (docs/dev/spec.md): forward and reverse kernels, and reductions of
// contacts. A file may use everything included above it.
#include "kernels/begin.h"
#include "geometry/wide.h"

#define NUM_DUAL (TANGENTS > 0)
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/field.h"
#include "kernels/manifold/pair.h"
#include "kernels/manifold/none.h"
#include "kernels/manifold/group.cl"
#include "kernels/manifold/field.cl"
#include "kernels/manifold/vertex.cl"
#include "kernels/manifold/select.cl"
#include "kernels/manifold/edge_witness.cl"
#include "kernels/manifold/edge.cl"
#include "kernels/manifold/edge_neighbours.cl"
#include "kernels/manifold/weight.cl"
#include "kernels/manifold/edge_field.h"
#define EDGE(name) name
#define FIELD_MOVES 0
#include "kernels/manifold/edge_slots.inl"
#undef FIELD_MOVES
#undef EDGE
#include "kernels/manifold/edge_field.cl"
#include "kernels/manifold/reduce.cl"
#include "kernels/manifold/near.cl"
#include "kernels/manifold/near_edges.cl"
#include "kernels/manifold/near_pairs.cl"
#include "kernels/manifold/middle.cl"
#include "kernels/manifold/listed.cl"
#include "kernels/manifold/listed_entries.cl"
#include "kernels/manifold/entries.cl"
#include "kernels/manifold/edge_listed.cl"
#include "num/num_off.h"

#define NUM_WIDE
#include "num/num_on.h"
#include "kernels/manifold/poses.cl"
#include "kernels/manifold/motions.cl"
#include "num/num_off.h"
#undef NUM_WIDE
#undef NUM_DUAL

#if !TANGENTS
#define NUM_DUAL 0
#include "num/num_on.h"
#include "kernels/manifold/listed_adjoint.cl"
#include "kernels/manifold/near_adjoint.cl"
#include "kernels/manifold/edge_listed_adjoint.cl"
#include "num/num_off.h"
#undef NUM_DUAL
#if WITH_FORWARD
#include "kernels/manifold/compact.cl"
#include "kernels/manifold/state.cl"
#include "kernels/manifold/steps.cl"
#endif
#endif
