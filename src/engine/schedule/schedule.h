/* Shares a batch among the devices of a context. Knows no geometry.
 *
 * Each working device has a thread, one alone the caller's. A thread takes the next piece of
 * the batch whenever a slot of its device is free: large pieces first, by the device's measured
 * throughput, smaller ones towards the end, so that all end together. While the kernels of one slot
 * run, the other is filled or read. What a failed device held goes back to the others.
 */
#ifndef ABUT_SCHEDULE_SCHEDULE_H
#define ABUT_SCHEDULE_SCHEDULE_H

#include "engine/device/context.h"

/* Elements first .. first + count - 1 of a batch, all of one group. */
typedef struct chunk {
  size_t first, count;
  size_t group;
} chunk;

/* Elements of a batch that are alike and lie side by side: a chunk never has those of two. Groups
 * may differ in what an element takes, of memory and of time. */
typedef struct job_group {
  size_t end;    /* behind its last element */
  double *rates; /* of the context's members, elements a second, by this job and those before that
                    had this group; 0: not yet. The caller keeps them. */
  double each;   /* what an element takes beside those of other groups; by the schedule */
  double behind; /* what all later groups take; by the schedule */
} job_group;

typedef struct job job;

/* A member of the context at work on a job. */
typedef struct worker {
  job *job;
  size_t member;
  device *device;
  void *user;      /* the job's own; by `open` */
  size_t *most;    /* elements of a chunk that fit the device's memory, by group; by `open` */
  bool in_place;   /* kernels write where other devices will, who wait for their end; by it */
  double computed; /* when kernels that `collect` itself had launched ended, by now(); by it */
} worker;

/* What a worker does. `slot` is the device's, selected before each step. An error for which a
 * device is to blame (is_device_error) costs this device, and ABUT_ERROR_TOO_LARGE its part in this
 * job alone; any other one the whole job. */
typedef struct job_steps {
  abut_status (*open)(worker *w);
  abut_status (*upload)(worker *w, size_t slot, chunk c);
  abut_status (*launch)(worker *w, size_t slot, chunk c);  /* need not wait */
  abut_status (*collect)(worker *w, size_t slot, chunk c); /* all that was launched has ended */
  void (*let_go)(worker *w, size_t slot); /* of what an idle slot holds for chunks */
  void (*close)(worker *w);               /* always, open or not */
} job_steps;

struct job {
  context *context;
  job_steps steps;
  void *user;
  size_t total;
  size_t bound;      /* most elements of a chunk that anyone may take; 0: no bound */
  size_t multiple;   /* chunks but the last are of multiples of so many elements; 0: of any */
  size_t least;      /* a device without the memory for so many elements fails; 0: for one */
  job_group *groups; /* of the whole batch, in order, none of them empty */
  size_t group_count;
  bool (*progress)(size_t done, size_t total, void *user); /* on the calling thread; or NULL */
  void *progress_user;
};

/* Does a job whole, or fails. */
abut_status schedule(job *j);

/* The most elements of a chunk: as many as `budget` bytes hold, no buffer above `allocation`.
 * bytes: each buffer's bytes an element. Fails where one element does not fit. */
abut_status size_chunk(const size_t *bytes, size_t buffers, uint64_t budget, uint64_t allocation,
                       size_t *most);

#endif
