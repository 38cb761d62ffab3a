/* Collision in time of two meshes between two poses: what `abut ccd` computes. */
#ifndef ABUT_CLI_CCD_CCD_H
#define ABUT_CLI_CCD_CCD_H

#include "core/outputs.h"
#include <abut/ccd.h>

typedef struct ccd {
  const options *o;
  session session;
  abut_poses from, to;     /* of both bodies at times 0 and 1, as they are read */
  abut_pose_file *to_file; /* of blocks of a folder, else NULL */
  size_t count;            /* of poses that are computed at once */
  void *poses[4];          /* what the batch has of them */
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
/* The same of a folder: --to by ranges, of which --from has these. */
exit_code ccd_open_poses(ccd *c, const abut_pose_file_info *from);
/* Poses that are there, in place of those before. */
exit_code ccd_take_poses(ccd *c, const abut_poses *from, const abut_poses *to);
exit_code ccd_load_meshes(ccd *c);
void ccd_free_inputs(ccd *c);

/* ---- answers.c ---- */

exit_code ccd_take_memory(ccd *c);
exit_code ccd_compute(ccd *c, progress *p);
/* Of rows that were rejected, or whose answers are less than was asked for. */
extern const status_note ccd_notes[];
void ccd_add(const ccd *c, outputs *l);
/* Prints the line that sums up. */
void ccd_summarise(const ccd *c);
void ccd_free_answers(ccd *c);

#endif
