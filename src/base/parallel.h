/* Parallel loops over several threads. */
#ifndef ABUT_BASE_PARALLEL_H
#define ABUT_BASE_PARALLEL_H

#include <stddef.h>

/* Calls work(user, i) for each i below count, on as many threads as there are processors, including
 * the calling thread. Returns when all are done. If threads are unavailable, the caller does
 * everything. */
void parallel_for(size_t count, void (*work)(void *user, size_t i), void *user);

#endif
