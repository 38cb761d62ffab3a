/* Declarations that the files of hard contacts share. Section numbers refer to
 * docs/dev/lcp-formulas.md. */
#ifndef ABUT_WORLD_LAW_LCP_H
#define ABUT_WORLD_LAW_LCP_H

#include "world/law/law.h"

/* Buffers of the worlds' pool, after those of all laws. m is world_sizes.hard_rows, the most rows
 * of the boxed problem of a world. */
enum lcp_buffer {
  HARD_NUMBERS =
    WORLD_BUFFERS, /* (HARD_REALS) J, J M^-1, restitutions, and slopes of the targets s */
  HARD_CHOICE,     /* (HARD_INTS) the chosen contacts, then the rows after those of contacts */
  HARD_CANDIDATES, /* (slots + 1, HARD_CANDIDATE) the contacts to choose from, section 5 */
  HARD_NEAREST,    /* (slots) distance of each candidate from the nearest chosen one */
  /* The problem w = A f + b of section 2: the number of rows and their parents, the numbers, and
     the guessed classes. */
  HARD_PARENTS, /* (m + 1) */
  HARD_A,       /* (m, m) */
  HARD_B,       /* (m) */
  HARD_MU,      /* (m) */
  HARD_BOX,     /* (m) */
  HARD_GUESS,   /* (m) */
  /* The solution: impulses, speeds, classes (LCP_... of geometry/lcp.h), how it was found, the
     residual. */
  HARD_F,       /* (m) */
  HARD_W,       /* (m) */
  HARD_CLASSES, /* (m) */
  HARD_HOW,
  HARD_RESIDUAL,
  HARD_ROOM, /* with HARD_PLACES the scratch of the kernel lcp_solve */
  HARD_PLACES,
  HARD_TABLES, /* with HARD_TABLE_PLACES the scratch of lcp_rest, shared by LCP_SHARED worlds */
  HARD_TABLE_PLACES,
  HARD_OTHER,        /* (m) the classes that descent would choose, section 9 */
  HARD_KEPT_ADJOINT, /* (HARD_ESCAPE) the cotangents at the start of each try of a step's adjoint */
  HARD_EXTRA, /* (nv, then controls of moved links) contributions of collisions in time to the
                 cotangents of q and of these controls, section 8 */
  HARD_BUFFERS
};

_Static_assert((int)HARD_BUFFERS <= POOL_BUFFERS,
               "a pool has no room for all buffers of hard contacts");

/* Launch arguments: the results of make_problem for contact rows; the tree and the contacts. */
#define HARD(s) OF(s, HARD_NUMBERS), OF(s, HARD_CHOICE), OF(s, HARD_PARENTS)
#define FOUND(s) OF(s, WORLD_SCRATCH), ACTIVE_PAIRS(s), OF(s, WORLD_WORK)

/* Whether the call sets `escape`: derivatives may then use the classes that descent would choose
 * (section 9). */
bool is_escaping(const steps_call *c);

/* ---- derivatives (lcp_adjoint.c) ---- */
abut_status lcp_step_adjoint(const stepping *s, size_t step, bool is_there);
abut_status lcp_contacts_adjoint(const stepping *s);
abut_status lcp_tree_adjoint(const stepping *s);
abut_status lcp_jacobian(const stepping *s, int stage, int stages);

#endif
