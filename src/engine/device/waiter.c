#include "engine/device/waiter.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* An event is polled without sleep for the first SPIN_SECONDS: a sleep takes longer than the
 * kernels of short calls. Then it is polled after a further 1 / POLL_PART of the time waited so
 * far, bounded by these [s]. Its end is thus noticed with a small relative delay. */
#define SPIN_SECONDS 1e-4
#define POLL_PART 64.0
#define POLL_LEAST 2e-5
#define POLL_MOST 1e-3

struct waiter {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool done;
  cl_int code;
  double ended;
  int holders;
  cl_event polled; /* polled while waiting; NULL: only its callback reports the end */
};

static void drop(waiter *w)
{
  pthread_mutex_lock(&w->lock);
  const bool last = --w->holders == 0;
  pthread_mutex_unlock(&w->lock);
  if (last) {
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
  }
}

/* The waiting thread releases the event: a callback must not do this. */
void waiter_leave(waiter *w)
{
  if (!w) {
    return;
  }
  if (w->polled) {
    clReleaseEvent(w->polled);
    w->polled = NULL;
  }
  drop(w);
}

static void signal_end(waiter *w, cl_int code)
{
  pthread_mutex_lock(&w->lock);
  if (!w->done) { /* poll_event may have set it */
    w->done = true;
    w->code = code;
    w->ended = now();
  }
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->lock);
  drop(w);
}

static void CL_CALLBACK event_ended(cl_event event, cl_int status, void *user)
{
  (void)event;
  signal_end(user, status < 0 ? status : CL_SUCCESS);
}

/* Makes a waiter that is held by the waiting thread and by the one that signals the end. */
static abut_status make(waiter **out)
{
  *out = NULL;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(waiter)));
  waiter *w = memory;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&w->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&w->lock, NULL);
  w->holders = 2;
  *out = w;
  return ABUT_SUCCESS;
}

/* Frees a waiter that no thread will signal. */
static void unmake(waiter *w)
{
  w->holders = 1;
  drop(w);
}

abut_status waiter_create(cl_event event, bool polls, waiter **out)
{
  waiter *w = NULL;
  *out = NULL;
  TRY(make(&w));
  const cl_int code = clSetEventCallback(event, CL_COMPLETE, event_ended, w);
  if (code != CL_SUCCESS) {
    unmake(w);
    return fail(code, "clSetEventCallback failed: %s", abut_status_name(code));
  }
  if (polls && clRetainEvent(event) == CL_SUCCESS) {
    w->polled = event;
  }
  *out = w;
  return ABUT_SUCCESS;
}

static struct timespec time_of(double seconds)
{
  return (struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
}

/* Returns the time of the next poll of the event. */
static double next_poll(double begun, double until)
{
  const double at = now(), part = (at - begun) / POLL_PART;
  const double next = at + (part < POLL_LEAST ? POLL_LEAST : part > POLL_MOST ? POLL_MOST : part);
  return next < until ? next : until;
}

/* The callback may be tens of milliseconds late (NVIDIA's driver polls every 20 ms). The lock is
 * not held during the query, because a driver may run the callback from within it. */
static void poll_event(waiter *w)
{
  cl_int state = CL_QUEUED;
  pthread_mutex_unlock(&w->lock);
  const cl_int code =
    clGetEventInfo(w->polled, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  pthread_mutex_lock(&w->lock);
  if (code == CL_SUCCESS && state <= CL_COMPLETE && !w->done) {
    w->done = true;
    w->code = state < 0 ? state : CL_SUCCESS;
    w->ended = now();
  }
}

static void spin(waiter *w, double until)
{
  while (w->polled && !w->done && now() < until) {
    pthread_mutex_unlock(&w->lock);
    sched_yield();
    pthread_mutex_lock(&w->lock);
    poll_event(w);
  }
}

bool waiter_wait(waiter *w, double seconds, cl_int *code, double *ended)
{
  const double begun = now(), until = begun + seconds;
  pthread_mutex_lock(&w->lock);
  spin(w, begun + (seconds < SPIN_SECONDS ? seconds : SPIN_SECONDS));
  for (bool late = false; !w->done && !late;) {
    const struct timespec next = time_of(w->polled ? next_poll(begun, until) : until);
    const bool timed_out = pthread_cond_timedwait(&w->changed, &w->lock, &next) != 0;
    if (timed_out && w->polled && !w->done) {
      poll_event(w);
    }
    late = timed_out && (!w->polled || now() >= until);
  }
  const bool done = w->done;
  *code = w->code;
  *ended = w->ended;
  pthread_mutex_unlock(&w->lock);
  return done;
}

/* ---- clFinish ---- */

typedef struct finishing {
  waiter *waiter;
  cl_command_queue queue;
  bool retained; /* the waiting thread may give up and release the queue */
} finishing;

static void *finish(void *user)
{
  const finishing f = *(finishing *)user;
  free(user);
  const cl_int code = clFinish(f.queue);
  if (f.retained) {
    clReleaseCommandQueue(f.queue);
  }
  signal_end(f.waiter, code);
  return NULL;
}

/* The thread cannot be stopped, and may run as long as the process. */
static bool start(finishing *f)
{
  void *memory = NULL;
  pthread_t thread;
  if (allocate(&memory, 1, sizeof *f) != ABUT_SUCCESS) {
    return false;
  }
  f->retained = clRetainCommandQueue(f->queue) == CL_SUCCESS;
  *(finishing *)memory = *f;
  if (pthread_create(&thread, NULL, finish, memory) != 0) {
    if (f->retained) {
      clReleaseCommandQueue(f->queue);
    }
    free(memory);
    return false;
  }
  pthread_detach(thread);
  return true;
}

bool waiter_finish(cl_command_queue queue, double seconds)
{
  finishing f = {NULL, queue, false};
  cl_int code = CL_SUCCESS;
  double ended = 0.0;
  if (make(&f.waiter) != ABUT_SUCCESS) {
    return false;
  }
  if (!start(&f)) {
    unmake(f.waiter);
    return false;
  }
  const bool done = waiter_wait(f.waiter, seconds, &code, &ended);
  waiter_leave(f.waiter);
  return done;
}
