/* Locks among the processes of one machine that would otherwise do the same work at the same time.
 *
 * Nothing here is an error: where no lock is to be had, the work is done without. A lock ends with
 * its process, whatever ends that, and no child of a fork has it. Threads of one process do not
 * exclude each other. */
#ifndef ABUT_BASE_PROCESS_LOCK_H
#define ABUT_BASE_PROCESS_LOCK_H

#include "base/cache_folder.h"

/* An open file; -1: no lock is held. */
typedef int process_lock;

/* Takes the lock of a key, for which it waits no longer than that, and none where a process has
 * said that the work is done. It lies in the machine's own folder: abut in XDG_RUNTIME_DIR, else
 * /tmp/abut-UID. */
process_lock process_lock_take(const cache_key *key, double seconds);

/* done: the work is, so that nobody waits for it any more. */
void process_lock_give_back(process_lock lock, bool done);

#endif
