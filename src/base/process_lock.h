/* Locks between processes of one machine that would otherwise do the same work at the same time.
 *
 * Nothing here is an error: if no lock is available, the work is done without one. A lock is
 * released when its process ends for any reason, and a forked child does not hold it. Threads of
 * one process do not exclude each other. */
#ifndef ABUT_BASE_PROCESS_LOCK_H
#define ABUT_BASE_PROCESS_LOCK_H

#include "base/cache_folder.h"

/* An open file; -1: no lock is held. */
typedef int process_lock;

/* Acquires the lock of a key, waiting at most `seconds`. Returns no lock if a process has marked
 * the work as done. The lock is in a folder of the local machine: abut in XDG_RUNTIME_DIR, else
 * /tmp/abut-UID. */
process_lock process_lock_take(const cache_key *key, double seconds);

/* done: the work is complete, so that other processes no longer wait for it. */
void process_lock_give_back(process_lock lock, bool done);

#endif
