/* The comparisons of `gradcheck`. */
#ifndef ABUT_CLI_GRADCHECK_GRADCHECK_H
#define ABUT_CLI_GRADCHECK_GRADCHECK_H

#include "core/contact_arrays.h"
#include "core/job.h"
#include "dev/gradcheck/quotients.h"
#include "core/reductions.h"

/* Which tally of a gradcheck; an output or a reduction is added to the first four. */
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
  size_t *poses; /* which are checked */
  size_t pose_count;
  uint64_t random; /* state */
  tally tallies[CHECKS];
  size_t bad; /* derivatives that are not confirmed, of those that are done */
} gradcheck;

/* Fills the tallies, a stage after the other, each over all poses; `done` is told the tallies that
 * are complete with it, from `first` on and before `end`. */
typedef void (*gradcheck_done)(gradcheck *g, int first, int end);
exit_code gradcheck_run(gradcheck *g, gradcheck_done done);

/* A row of the table, and what stands above. where: of the worst. */
void print_tally_head(void);
void print_tally(const char *name, const char *against, const tally *t, double limit,
                 const char *where);

/* `gradcheck` of a scene's worlds: worlds.c. */
exit_code gradcheck_worlds(const options *o);

#endif
