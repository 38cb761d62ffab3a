/* What `gradient`, `jvp` and `gradcheck` begin with: a session and a batch of poses. */
#ifndef ABUT_CLI_JOB_H
#define ABUT_CLI_JOB_H

#include "core/folder/run.h"

typedef struct job {
  const options *o;
  session session;
  abut_poses poses;
  pose_arrays arrays;
  abut_batch batch;
  size_t width;   /* of a pose */
  size_t all;     /* poses of the whole batch, of which a folder's blocks are parts */
  double start;   /* of the step in progress */
  double seconds; /* of the last step */
  progress progress;
} job;

/* Operands, --poses, -o and --precision, and that the files are there; nothing is opened. */
exit_code job_check(const options *o);
/* Reads the poses, and opens device, bodies and smoothing. Close it after a failure, too. */
exit_code job_open(job *j, const options *o, abut_precision precision);
void job_close(job *j);
/* Of a batch that comes in blocks: device, bodies and smoothing; and each block's poses, in place
 * of those before. */
exit_code job_open_scene(job *j, const options *o, abut_precision precision, abut_pose_kind kind);
exit_code job_take(job *j, const abut_poses *poses);
/* The whole of a call into a folder of results, block by block. `what` is what progress calls
 * it. */
exit_code job_run_in_folder(job *j, const options *o, folder_compute compute, void *user,
                            const char *what);
/* Frees the poses as they were read, once the batch has its own; their count stays. */
void job_forget_poses(job *j);
/* Around a call of the library on `batch`: shows its progress and takes its time. */
void job_begin(job *j, const char *what);
/* The same where somebody else shows the progress of all blocks. */
void job_begin_block(job *j, progress *p);
exit_code job_end(job *j, abut_status status);
/* Zeros. */
exit_code job_reals(const job *j, size_t a, size_t b, void **out);
/* ", 0.2 s on DEVICE, f32" and a new line on stdout. */
void job_print_end(const job *j);

#endif
