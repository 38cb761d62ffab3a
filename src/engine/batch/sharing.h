/* What the threads of a schedule share, and what each takes next. */
#ifndef ABUT_BATCH_SHARING_H
#define ABUT_BATCH_SHARING_H

#include "engine/batch/batch_on.h"

/* Pieces that can lie returned: what all hold, and one more each time a device takes less. */
#define RETURNED_MOST (MEMBERS * (DEVICE_SLOTS + 64))

/* A member of the context at work on a call, and what it has taken, oldest first. */
typedef struct hand {
  struct sharing *sharing;
  size_t member; /* of the context */
  device *device;
  batch_on *on; /* NULL: the member has not begun */
  chunk held[DEVICE_SLOTS];
  size_t slots; /* that it uses of its device's */
  size_t oldest, count;
  bool bare;       /* a chunk found no memory: since then one at a time */
  size_t bare_for; /* the last such chunk's group: what it let go of others have taken since */
  double begun[DEVICE_SLOTS], submitted[DEVICE_SLOTS];
  double ended;       /* the last chunk's kernels */
  double reported;    /* when the last chunk was done */
  size_t group;       /* that chunk's; of it: */
  double started;     /* when its first chunk began */
  size_t elements;    /* done since */
  double rate_before; /* measured before */
  bool working;
  pthread_t thread;
  bool threaded;
} hand;

/* What the threads share, under `lock`. */
typedef struct sharing {
  batch_call *call;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t next, group; /* the first element that nobody has taken, and its group */
  size_t done, flying;
  size_t reported; /* how much was done when the caller was told last */
  size_t returned_count;
  abut_status status;  /* of the whole call */
  bool unfit[MEMBERS]; /* members for which one element is too large */
  size_t hand_count, working;
  hand hands[MEMBERS]; /* from here on all is long, and begins without content */
  char text[ERROR_TEXT_BYTES], unfit_text[ERROR_TEXT_BYTES];
  chunk returned[RETURNED_MOST];
} sharing;

/* Takes work; with `wait`, until there is some, or nothing that others hold can come back. */
bool sharing_take(hand *h, bool wait, chunk *out);

/* Sets how much of the work is in each group, and behind it. Groups that nobody has measured count
 * as the mean of the others. */
void sharing_weigh_groups(const batch_call *c);

#endif
