/* Waits for OpenCL events and queues with a time limit. OpenCL's own waits have none. */
#ifndef ABUT_DEVICE_WAITER_H
#define ABUT_DEVICE_WAITER_H

#include <CL/cl.h>
#include <abut/status.h>
#include <stdbool.h>

/* Shared by the waiting thread and the event's callback, which may run long after the thread has
 * left. */
typedef struct waiter waiter;

/* polls: the waiting thread also polls the event, because the driver's callbacks are late. */
abut_status waiter_create(cl_event event, bool polls, waiter **out);

/* Waits for the event. Returns false if it has not ended after `seconds`. code is the event's
 * error; ended is its end time by now(). */
bool waiter_wait(waiter *w, double seconds, cl_int *code, double *ended);

void waiter_leave(waiter *w); /* NULL is allowed */

/* Calls clFinish with a time limit. Returns false if it has not returned after `seconds`, or cannot
 * be waited for. */
bool waiter_finish(cl_command_queue queue, double seconds);

#endif
