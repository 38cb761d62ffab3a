/* Loops are shared among several threads. */
#ifndef ABUT_BASE_PARALLEL_H
#define ABUT_BASE_PARALLEL_H

#include <stddef.h>

/* Calls work(user, i) for each i below count, by as many threads as there are processors, the
 * calling one among them. Returns when all are done. Without threads the caller does it all. */
void parallel_for(size_t count, void (*work)(void *user, size_t i), void *user);

#endif
