/* The common start of `gradient`, `jvp` and `gradcheck`: a session and a batch of poses. */
#ifndef ABUT_CLI_JOB_H
#define ABUT_CLI_JOB_H

#include "core/folder/run.h"

typedef struct job {
  const options *o;
  session session;
  abut_poses poses;
  pose_arrays arrays;
  abut_batch batch;
  size_t width;   /* numbers per pose */
  size_t all;     /* poses of the whole batch, which a folder splits into blocks */
  double start;   /* start of the current step */
  double seconds; /* duration of the last step */
  progress progress;
} job;

/* Checks operands, --poses, -o and --precision, and that the files exist; opens nothing. */
exit_code job_check(const options *o);
/* Reads the poses, and opens device, bodies and smoothing. Close it after a failure, too. */
exit_code job_open(job *j, const options *o, abut_precision precision);
void job_close(job *j);
/* For a batch in blocks: job_open_scene opens device, bodies and smoothing; job_take replaces the
 * poses by those of a block. */
exit_code job_open_scene(job *j, const options *o, abut_precision precision, abut_pose_kind kind);
exit_code job_take(job *j, const abut_poses *poses);
/* Runs a whole call into a folder of results, block by block. `what` is its name in progress
 * reports. */
exit_code job_run_in_folder(job *j, const options *o, folder_compute compute, void *user,
                            const char *what);
/* Frees the poses as read from the file, once the batch has copies; their count is retained. */
void job_forget_poses(job *j);
/* Called around a call of the library on `batch`: shows its progress and measures its time. */
void job_begin(job *j, const char *what);
/* The same if the caller shows the progress of all blocks. */
void job_begin_block(job *j, progress *p);
exit_code job_end(job *j, abut_status status);
/* Allocates zeros. */
exit_code job_reals(const job *j, size_t a, size_t b, void **out);
/* Prints ", 0.2 s on DEVICE, f32" and a new line. */
void job_print_end(const job *j);

#endif
