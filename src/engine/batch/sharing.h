/* The state shared by the threads of a schedule, and the choice of each thread's next piece. */
#ifndef ABUT_BATCH_SHARING_H
#define ABUT_BATCH_SHARING_H

#include "engine/batch/batch_on.h"

/* Most pieces that can be returned: those in progress, and one more each time a device is limited
 * to smaller pieces. */
#define RETURNED_MOST (MEMBERS * (DEVICE_SLOTS + 64))

/* A member of the context working on a call, and the chunks it holds, oldest first. */
typedef struct hand {
  struct sharing *sharing;
  size_t member; /* index in the context */
  device *device;
  batch_on *on; /* NULL: the member has not started */
  chunk held[DEVICE_SLOTS];
  size_t slots; /* number of its device's slots in use */
  size_t oldest, count;
  bool bare;       /* a chunk ran out of memory: since then one chunk at a time */
  size_t bare_for; /* its group: other groups have since taken the memory it freed */
  double begun[DEVICE_SLOTS], submitted[DEVICE_SLOTS];
  double ended;       /* end of the last chunk's kernels */
  double reported;    /* when the last chunk was completed */
  size_t group;       /* group of that chunk; for this group: */
  double started;     /* start of its first chunk */
  size_t elements;    /* elements done since then */
  double rate_before; /* rate measured before */
  bool working;
  pthread_t thread;
  bool threaded;
} hand;

/* Shared by the threads, under `lock`. */
typedef struct sharing {
  batch_call *call;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t next, group; /* the first element not yet taken, and its group */
  size_t done, flying;
  size_t reported; /* elements done at the last progress report to the caller */
  size_t returned_count;
  abut_status status;  /* of the whole call */
  bool unfit[MEMBERS]; /* members for which a single element is too large */
  size_t hand_count, working;
  hand hands[MEMBERS]; /* the members from here on are large and are not zeroed at the start */
  char text[ERROR_TEXT_BYTES], unfit_text[ERROR_TEXT_BYTES];
  chunk returned[RETURNED_MOST];
} sharing;

/* Takes the next chunk. With `wait`, blocks until there is one, or until no other device can return
 * one. */
bool sharing_take(hand *h, bool wait, chunk *out);

/* Sets the amount of work in each group and in all later groups. Groups without measurements count
 * as the mean of the others. */
void sharing_weigh_groups(const batch_call *c);

#endif
