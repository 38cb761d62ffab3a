/* A long batch of poses, block by block, into a folder of results. */
#ifndef ABUT_CLI_FOLDER_RUN_H
#define ABUT_CLI_FOLDER_RUN_H

#include "core/folder/folder.h"

/* Computes a block's poses, of which the batch has `first` before, and gives all arrays, the same
 * ones each time, valid until the next call. Of no poses nothing is computed, and the arrays say
 * what there will be. */
typedef exit_code (*folder_compute)(void *user, const abut_poses *poses, size_t first, progress *p,
                                    outputs *l);

typedef struct folder_run {
  const options *o;
  const session *session;
  option_id input; /* which option names the poses */
  abut_pose_file *file;
  abut_pose_file_info info;
  folder_compute compute;
  void *user;
  const char *what;               /* what progress calls it */
  const status_note *notes;       /* what is said of the array `status` */
  const char *effect;             /* what becomes of rows whose note does not tell */
  const status_note *input_notes; /* what is said of outputs' input_status; or NULL */
} folder_run;

/* Opens the poses, which this option names. */
exit_code folder_run_open(folder_run *r, const options *o, option_id input);
/* Instead of it: a batch of so many worlds, which whoever computes them reads; blocks have a count
 * alone. */
void folder_run_worlds(folder_run *r, const options *o, size_t count);
/* Computes what is missing of this process's part. Without --shard the folder is complete then. */
exit_code folder_run_blocks(const folder_run *r);
void folder_run_close(folder_run *r);

#endif
