/* Writes blocks of a folder to disk while the next block is computed: a thread syncs the data, and
 * then enters the block in the journal. One block at a time is in progress. */
#ifndef ABUT_CLI_BEHIND_H
#define ABUT_CLI_BEHIND_H

#include "core/folder/ranges.h"

#include <pthread.h>

struct folder;

typedef struct behind {
  struct folder *folder; /* NULL: there is no thread */
  pthread_t thread;
  pthread_mutex_t turn;
  pthread_cond_t changed;
  bool busy, ends;
  range block;
  int error;     /* errno of a failure; 0: none */
  size_t failed; /* index of the array that failed; the array count means the journal */
  bool lost;     /* the last block taken is not in the journal, and will not be */
} behind;

/* Takes a block whose data are written, after the previous block is done. Fails with that block's
 * error. */
exit_code behind_put(struct folder *f, range block);
/* Waits until everything is done, and ends the thread. Does nothing without a thread. */
exit_code behind_end(struct folder *f);

#endif
