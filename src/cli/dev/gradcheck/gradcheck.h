/* The comparisons of `gradcheck`. */
#ifndef ABUT_CLI_GRADCHECK_GRADCHECK_H
#define ABUT_CLI_GRADCHECK_GRADCHECK_H

#include "core/contact_arrays.h"
#include "core/job.h"
#include "dev/gradcheck/quotients.h"
#include "core/reductions.h"

/* Index of a tally: CHECK_JVP or CHECK_VJP plus an output, CHECK_GRADIENT or CHECK_HESSIAN plus a
 * reduction, or CHECK_JACOBIAN. */
enum {
  CHECK_JVP,
  CHECK_VJP = CHECK_JVP + OUTPUTS,
  CHECK_GRADIENT = CHECK_VJP + OUTPUTS,
  CHECK_HESSIAN = CHECK_GRADIENT + REDUCTIONS_SLOPED,
  CHECK_JACOBIAN = CHECK_HESSIAN + REDUCTIONS_SLOPED,
  CHECKS
};

typedef struct gradcheck {
  job *job;
  double step;   /* h of translations [m] */
  double turn;   /* h of rotations [rad]; of a quaternion, relative to its length */
  size_t *poses; /* indices of the checked poses */
  size_t pose_count;
  uint64_t random; /* state of the random numbers */
  tally tallies[CHECKS];
  size_t bad; /* derivatives not confirmed so far */
} gradcheck;

/* Fills the tallies, one stage after the other, each over all poses. After each stage, `done` is
 * called with the range of completed tallies. */
typedef void (*gradcheck_done)(gradcheck *g, int first, int end);
exit_code gradcheck_run(gradcheck *g, gradcheck_done done);

/* Print the table's header, and a row. where: place of the worst entry. */
void print_tally_head(void);
void print_tally(const char *name, const char *against, const tally *t, double limit,
                 const char *where);

/* `gradcheck` for a scene's worlds: worlds.c. */
exit_code gradcheck_worlds(const options *o);

#endif
