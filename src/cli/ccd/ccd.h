/* Collision in time of two meshes between two poses: what `abut ccd` computes. */
#ifndef ABUT_CLI_CCD_CCD_H
#define ABUT_CLI_CCD_CCD_H

#include "cli.h"
#include <abut/ccd.h>

typedef struct ccd {
  const options *o;
  scene scene;
  abut_poses from, to; /* of both bodies at times 0 and 1 */
  void *poses[4];      /* what the batch has of them */
  abut_ccd_mesh meshes[2];
  abut_ccd_batch batch;
  bool derives; /* --gradient */
  abut_ccd_gradients gradients;
  double seconds; /* that the library took */
} ccd;

/* ---- settings.c ---- */

/* --motion and its centres, and all that is the query's. */
exit_code ccd_read_settings(ccd *c);

/* ---- inputs.c ---- */

/* --from and --to, which must be of as many poses of one kind. */
exit_code ccd_read_poses(ccd *c);
exit_code ccd_take_poses(ccd *c);
exit_code ccd_load_meshes(ccd *c);
void ccd_free_inputs(ccd *c);

/* ---- answers.c ---- */

exit_code ccd_take_memory(ccd *c);
exit_code ccd_compute(ccd *c);
/* Warns of rows that were rejected, or whose answers are less than was asked for. */
void ccd_warn(const ccd *c);
exit_code ccd_write(const ccd *c);
/* Prints the line that sums up. */
void ccd_summarise(const ccd *c);
void ccd_free_answers(ccd *c);

#endif
