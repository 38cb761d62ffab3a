/* Continuous collision detection of two meshes between two poses, for `abut ccd`. */
#ifndef ABUT_CLI_CCD_CCD_H
#define ABUT_CLI_CCD_CCD_H

#include "core/outputs.h"
#include <abut/ccd.h>

typedef struct ccd {
  const options *o;
  session session;
  abut_poses from, to;     /* of both bodies at times 0 and 1, as read */
  abut_pose_file *to_file; /* for blocks of a folder, else NULL */
  size_t count;            /* poses computed at once */
  void *poses[4];          /* converted for the batch */
  abut_ccd_mesh meshes[2];
  abut_ccd_batch batch;
  bool derives; /* --gradient */
  abut_ccd_gradients gradients;
  double seconds; /* time in the library */
} ccd;

/* ---- settings.c ---- */

/* Reads --motion with its centres, and all settings of the query. */
exit_code ccd_read_settings(ccd *c);

/* ---- inputs.c ---- */

/* Reads --from and --to, which must have the same number of poses of the same kind. */
exit_code ccd_read_poses(ccd *c);
/* The same for a folder: --to is read by ranges; `from` is the info of --from. */
exit_code ccd_open_poses(ccd *c, const abut_pose_file_info *from);
/* Takes given poses in place of the previous ones. */
exit_code ccd_take_poses(ccd *c, const abut_poses *from, const abut_poses *to);
exit_code ccd_load_meshes(ccd *c);
void ccd_free_inputs(ccd *c);

/* ---- answers.c ---- */

exit_code ccd_take_memory(ccd *c);
exit_code ccd_compute(ccd *c, progress *p);
/* Notes on rows that were rejected, or whose results are less than requested. */
extern const status_note ccd_notes[];
void ccd_add(const ccd *c, outputs *l);
/* Prints the summary line. */
void ccd_summarise(const ccd *c);
void ccd_free_answers(ccd *c);

#endif
