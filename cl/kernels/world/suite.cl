// Worlds: trees of links that move, with contacts; docs/cone.md, docs/lcp-formulas.md and
// docs/spring-formulas.md. Derivatives are adjoints by hand, compiled for plain numbers alone, but
// for those of impacts within a step: these are the only kernels on duals.
#include "kernels/begin.h"
#include "geometry/ccd.h"
#include "geometry/lcp.h"
#include "geometry/spring.h"
#include "geometry/world.h"
#include "num/angles.h"

#define NUM_DUAL (TANGENTS > 0)
#include "num/num_on.h"
#include "kernels/access.h"
#include "kernels/world/sweep.h"
#include "kernels/world/memory.cl"
#include "kernels/world/columns.cl"
#include "kernels/world/rotations.cl"
#include "kernels/world/links.cl"
#include "kernels/world/joints.cl"
#include "kernels/world/mass.cl"

#if TANGENTS == 1
#include "kernels/world/impact.cl"
#endif

#if !TANGENTS
#include "kernels/lcp/factor.cl"
#include "kernels/lcp/problem.cl"
#include "kernels/world/forces.cl"
#include "kernels/world/tree.cl"
#include "kernels/world/mobility.cl"
#include "kernels/world/contacts.cl"
#include "kernels/world/cone.cl"
#include "kernels/world/panels.cl"
#include "kernels/world/cost.cl"
#include "kernels/world/newton.cl"
#include "kernels/world/lcp_choose.cl"
#include "kernels/world/lcp.cl"
#include "kernels/world/step.cl"
#include "kernels/world/watch.cl"
#include "kernels/world/sweep.cl"
#include "kernels/world/broad.cl"
#include "kernels/world/counts.cl"
#include "geometry/spring_curves.inl"
#include "geometry/spring_contact.inl"
#include "kernels/world/spring.cl"
#include "kernels/world/spring_contacts.cl"
#include "kernels/world/contacts_adjoint.cl"
#include "kernels/world/tree_adjoint.cl"
#include "kernels/world/step_adjoint.cl"
#include "kernels/world/tangent.cl"
#include "kernels/world/spring_adjoint.cl"
#include "kernels/world/spring_contacts_adjoint.cl"
#include "kernels/world/lcp_multipliers.cl"
#include "kernels/world/lcp_adjoint.cl"
#endif
#include "num/num_off.h"
#undef NUM_DUAL
