/* Waits for an OpenCL event and for a queue have a bound here; OpenCL's own have none. */
#ifndef ABUT_DEVICE_WAITER_H
#define ABUT_DEVICE_WAITER_H

#include <CL/cl.h>
#include <abut/status.h>
#include <stdbool.h>

/* The one who waits shares this with the event's callback, which may come long after the former has
 * gone. */
typedef struct waiter waiter;

/* polls: whoever waits looks at the event, too, because the driver's callbacks come late. */
abut_status waiter_create(cl_event event, bool polls, waiter **out);

/* Waits for the event. False where it has not ended within so many seconds. code is the event's
 * error; ended is when it ended, by now(). */
bool waiter_wait(waiter *w, double seconds, cl_int *code, double *ended);

void waiter_leave(waiter *w); /* NULL is allowed */

/* Calls clFinish with a bound. False where it has not returned within so many seconds, or cannot be
 * waited for. */
bool waiter_finish(cl_command_queue queue, double seconds);

#endif
