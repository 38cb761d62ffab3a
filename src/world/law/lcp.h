/* What the files of hard contacts share: their buffers, and what derivatives ask of steps. */
#ifndef ABUT_WORLD_LAW_LCP_H
#define ABUT_WORLD_LAW_LCP_H

#include "world/law/law.h"

/* Buffers of the worlds' pool, behind those of all laws. */
enum lcp_buffer {
  HARD_NUMBERS = WORLD_BUFFERS,
  HARD_CHOICE,
  HARD_CANDIDATES,
  HARD_NEAREST,
  HARD_PARENTS,
  HARD_A,
  HARD_B,
  HARD_MU,
  HARD_BOX,
  HARD_GUESS,
  HARD_F,
  HARD_W,
  HARD_CLASSES,
  HARD_HOW,
  HARD_RESIDUAL,
  HARD_ROOM, /* of lcp_solve */
  HARD_PLACES,
  HARD_TABLES, /* of lcp_rest */
  HARD_TABLE_PLACES,
  HARD_OTHER, /* classes that descent chooses */
  HARD_KEPT_ADJOINT,
  HARD_EXTRA, /* what collisions in time add to a cotangent of q */
  HARD_BUFFERS
};

_Static_assert((int)HARD_BUFFERS <= POOL_BUFFERS, "a pool has no room for all buffers of hard contacts");

#define HARD(s) OF(s, HARD_NUMBERS), OF(s, HARD_CHOICE), OF(s, HARD_PARENTS)
#define FOUND(s) OF(s, WORLD_SCRATCH), OF(s, WORLD_CONTACTS), OF(s, WORLD_MARKS), OF(s, WORLD_WORK)

/* Whether descent may choose classes (docs/lcp-formulas.md). */
bool is_escaping(const steps_call *c);

/* ---- derivatives (lcp_adjoint.c) ---- */
abut_status lcp_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status lcp_contacts_adjoint(const stepping *s);
abut_status lcp_jacobian(const stepping *s, int stage, int stages);

#endif
