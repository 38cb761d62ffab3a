/* A lock that lets one thread at a time query drivers for devices and open them.
 *
 * OpenCL guarantees thread safety, but PoCL 3.1 initializes itself at the first query: a second
 * thread that queries meanwhile gets devices without descriptions, which ends the process. The lock
 * is held only during calls of OpenCL, one at a time. These do not wait for kernels, and no thread
 * takes the lock twice.
 */
#ifndef ABUT_DEVICE_DRIVER_LOCK_H
#define ABUT_DEVICE_DRIVER_LOCK_H

#include <stdbool.h>

void driver_lock(void);
void driver_unlock(void);

/* Records, under the lock, that there are drivers and that they have been queried. */
void drivers_asked(void);

/* Returns whether drivers can be queried. They cannot in a process forked from one that has queried
 * them: the drivers' threads do not exist there, and PoCL waits for them forever, even in a new
 * context of the child. */
bool drivers_are_here(void);

#endif
