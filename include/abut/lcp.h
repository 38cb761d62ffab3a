/* Boxed linear complementarity problems in batches, as each step with hard contacts needs them.
 *
 * w = A f + b, with m rows. A row without a parent has f >= 0, w >= 0 and f w = 0, like the normal
 * force of a contact. A row with a parent has |f| <= h = mu f_parent + box, with w >= 0 at -h, w <=
 * 0 at h and w = 0 between, like friction along a tangent. ABUT_LCP_BOXED rows have h = box.
 *
 *   abut_lcp p = abut_default_lcp();
 *   p.count = 1000;  p.rows = 12;  p.A = ...;  p.b = ...;  p.parent = ...;  p.f = ...;
 *   abut_solve_lcp(context, &p);
 *
 * Source: Werling et al. 2021 (arXiv 2103.16021), Stewart and Trinkle 1996 for Lemke's method.
 */
#ifndef ABUT_LCP_H
#define ABUT_LCP_H

#include <abut/device.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABUT_LCP_NORMAL (-1) /* value of `parent` */
#define ABUT_LCP_BOXED (-2)
#define ABUT_LCP_ROWS_MOST 128

/* Classes of rows, for the solution or as a guess. */
typedef enum abut_lcp_class {
  ABUT_LCP_SEPARATING = 0, /* f = 0 */
  ABUT_LCP_CLAMPING = 1,   /* w = 0 */
  ABUT_LCP_UPPER = 2,      /* f = h */
  ABUT_LCP_LOWER = 3,      /* f = -h */
  ABUT_LCP_TIED = 4        /* at a bound, and w = 0; never friction that has a parent; in a
                               guess it counts as separating */
} abut_lcp_class;

typedef enum abut_lcp_how {
  ABUT_LCP_WARM = 0,     /* the guess was correct */
  ABUT_LCP_PIVOTED = 1,  /* by principal pivoting */
  ABUT_LCP_LEMKE = 2,    /* by Lemke's method */
  ABUT_LCP_SQUEEZED = 3, /* there is no solution; this is the solution for A with its diagonal
                            times 1.001 */
  ABUT_LCP_FAILED = 4,   /* f is the best value found */
  ABUT_LCP_BAD = 5       /* a number that is not finite, or a mu or a box below 0: f = w = 0 */
} abut_lcp_how;

/* Reals are in the context's precision, in host memory. Outputs that are NULL are not written.
 * Initialise it by abut_default_lcp. */
typedef struct abut_lcp {
  size_t count, rows;    /* number of problems; rows m of each, 1 to ABUT_LCP_ROWS_MOST */
  const void *A, *b;     /* (count, m, m) symmetric, positive semidefinite; (count, m) */
  const void *mu, *box;  /* (count, m) from 0; NULL: 0 */
  const int32_t *parent; /* (m), the same for all problems: the row whose f bounds |f|, which
                            must be a normal row, or ABUT_LCP_NORMAL, ABUT_LCP_BOXED */
  const int32_t *guess;  /* (count, m) classes to start from; NULL: none */
  double tolerance;      /* permitted residual as a share of the largest |b|, if it is more than
                            1e-10 in double or 1e-4 in float: for rows that are nearly dependent
                            and whose b is not exactly in range(A) */
  void *f, *w;           /* (count, m) */
  int32_t *classes;      /* (count, m) */
  uint32_t *how;         /* (count) abut_lcp_how */
  void *residual;        /* (count) the largest max |A_ii (f_i - clip(f_i - w_i / A_ii))|, in w's
                            unit: at most 1e-10 of the largest |b| in double, 1e-4 in float, or
                            `tolerance`, except at FAILED. At SQUEEZED it is of the largest A_ii
                            |f_i|, if that is more */
  size_t failures;       /* out: devices that failed during the call, and whose share other
                            devices did */
  uint32_t cookie;
} abut_lcp;

ABUT_API abut_lcp abut_default_lcp(void);

/* Solves all problems, on all devices of the context. If there are several solutions, redundant
 * rows share the force (least squares of least norm), the same to the bit for any split. Errors:
 * ABUT_ERROR_ARGUMENT. `how` reports the result of each problem. */
ABUT_API abut_status abut_solve_lcp(abut_context context, abut_lcp *problems);

#ifdef __cplusplus
}
#endif

#endif
