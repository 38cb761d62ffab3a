/* One thread at a time asks a driver which devices there are, and opens them.
 *
 * OpenCL promises that any thread may call it, but PoCL 3.1 starts at the first question: a second
 * thread that asks meanwhile is told of devices which are not described yet, and ends the process.
 * The lock is held for calls of OpenCL alone, one after the other: none waits for kernels, and none
 * takes it twice.
 */
#ifndef ABUT_DEVICE_DRIVER_LOCK_H
#define ABUT_DEVICE_DRIVER_LOCK_H

#include <stdbool.h>

void driver_lock(void);
void driver_unlock(void);

/* Says, under the lock, that there are drivers and that they have been asked. */
void drivers_asked(void);

/* Whether drivers can be asked. They cannot in a process forked from one that has asked them. Their
 * threads are not there, and PoCL waits for them for ever, also in a context of the child's own. */
bool drivers_are_here(void);

#endif
