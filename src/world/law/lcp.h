/* What the files of hard contacts share. The sections named here are those of
 * docs/dev/lcp-formulas.md. */
#ifndef ABUT_WORLD_LAW_LCP_H
#define ABUT_WORLD_LAW_LCP_H

#include "world/law/law.h"

/* Buffers of the worlds' pool behind those that all laws have. m is world_sizes.hard_rows, the most
 * rows that the boxed problem of a world may have. */
enum lcp_buffer {
  HARD_NUMBERS = WORLD_BUFFERS, /* (HARD_REALS) J, J M^-1, restitutions and slopes of targets s */
  HARD_CHOICE,                  /* (HARD_INTS) the chosen contacts, and the rows behind theirs */
  HARD_CANDIDATES,              /* (slots + 1, HARD_CANDIDATE) what contacts are chosen from,
                                   section 5 */
  HARD_NEAREST,                 /* (slots) how far each candidate is from the nearest chosen one */
  /* The problem w = A f + b of section 2: how many rows it has and their parents, its numbers, and
   * the classes that are guessed. */
  HARD_PARENTS, /* (m + 1) */
  HARD_A,       /* (m, m) */
  HARD_B,       /* (m) */
  HARD_MU,      /* (m) */
  HARD_BOX,     /* (m) */
  HARD_GUESS,   /* (m) */
  /* Its answer: impulses, speeds, classes (LCP_... of geometry/lcp.h), how it was found, what is
   * left. */
  HARD_F,       /* (m) */
  HARD_W,       /* (m) */
  HARD_CLASSES, /* (m) */
  HARD_HOW,
  HARD_RESIDUAL,
  HARD_ROOM, /* with HARD_PLACES the memory of the kernel lcp_solve */
  HARD_PLACES,
  HARD_TABLES, /* with HARD_TABLE_PLACES that of lcp_rest, for LCP_SHARED worlds together */
  HARD_TABLE_PLACES,
  HARD_OTHER,        /* (m) the classes that descent would choose, section 9 */
  HARD_KEPT_ADJOINT, /* (HARD_ESCAPE) the cotangents with which a step's adjoint begins each try */
  HARD_EXTRA,        /* (nv, then controls of moved links) what collisions in time add to the
                        cotangents of q and of these, section 8 */
  HARD_BUFFERS
};

_Static_assert((int)HARD_BUFFERS <= POOL_BUFFERS,
               "a pool has no room for all buffers of hard contacts");

/* Arguments of launches: what make_problem leaves of contacts' rows, and what the tree and contacts
 * are. */
#define HARD(s) OF(s, HARD_NUMBERS), OF(s, HARD_CHOICE), OF(s, HARD_PARENTS)
#define FOUND(s) OF(s, WORLD_SCRATCH), ACTIVE_PAIRS(s), OF(s, WORLD_WORK)

/* Whether the call asks for `escape`: derivatives may then go by classes that descent would choose
 * (section 9). */
bool is_escaping(const steps_call *c);

/* ---- derivatives (lcp_adjoint.c) ---- */
abut_status lcp_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status lcp_contacts_adjoint(const stepping *s);
abut_status lcp_tree_adjoint(const stepping *s);
abut_status lcp_jacobian(const stepping *s, int stage, int stages);

#endif
