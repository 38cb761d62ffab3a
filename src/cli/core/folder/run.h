/* Computes a long batch of poses block by block into a folder of results. */
#ifndef ABUT_CLI_FOLDER_RUN_H
#define ABUT_CLI_FOLDER_RUN_H

#include "core/folder/folder.h"

/* Computes a block of poses, which is preceded by `first` poses of the batch, and gives all arrays.
 * The arrays are the same in every call, and valid until the next one. For zero poses nothing is
 * computed, and the arrays only describe the results. */
typedef exit_code (*folder_compute)(void *user, const abut_poses *poses, size_t first, progress *p,
                                    outputs *l);

typedef struct folder_run {
  const options *o;
  const session *session;
  option_id input; /* the option that names the poses */
  abut_pose_file *file;
  abut_pose_file_info info;
  folder_compute compute;
  void *user;
  const char *what;               /* name in progress reports */
  const status_note *notes;       /* notes on the array `status` */
  const char *effect;             /* consequence for rows whose note has none */
  const status_note *input_notes; /* notes on outputs' input_status; or NULL */
} folder_run;

/* Opens the poses named by this option. */
exit_code folder_run_open(folder_run *r, const options *o, option_id input);
/* The alternative: a batch of `count` worlds, which the compute function reads itself; blocks have
 * only a count. */
void folder_run_worlds(folder_run *r, const options *o, size_t count);
/* Computes what is missing of this process's part. Without --shard this completes the folder. */
exit_code folder_run_blocks(const folder_run *r);
void folder_run_close(folder_run *r);

#endif
