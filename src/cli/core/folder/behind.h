/* Blocks of a folder reach the disk while the next one is computed: a thread waits for the disk,
 * and then writes the block into the journal. One block is on its way at a time. */
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
  int error;     /* errno of what failed; 0: nothing has */
  size_t failed; /* the array that it was of; as many as there are: the journal */
  bool lost;     /* the last block that was taken is not in the journal, and will not be */
} behind;

/* Takes a block whose data are written, once the one before is done; fails with what that one has
 * failed with. */
exit_code behind_put(struct folder *f, range block);
/* Waits until all is done, and ends the thread. Nothing to do where there is none. */
exit_code behind_end(struct folder *f);

#endif
