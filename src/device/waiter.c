#include "device/waiter.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include <pthread.h>
#include <stdlib.h>

struct waiter {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool done;
  cl_int code;
  double ended;
  int holders;
};

static void tell(waiter *w, cl_int code)
{
  pthread_mutex_lock(&w->lock);
  w->done = true;
  w->code = code;
  w->ended = now();
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->lock);
  waiter_leave(w);
}

static void CL_CALLBACK event_ended(cl_event event, cl_int status, void *user)
{
  (void)event;
  tell(user, status < 0 ? status : CL_SUCCESS);
}

/* Held by the one who waits and by the one who tells. */
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

/* There is nobody who tells. */
static void unmake(waiter *w)
{
  w->holders = 1;
  waiter_leave(w);
}

abut_status waiter_create(cl_event event, waiter **out)
{
  waiter *w = NULL;
  *out = NULL;
  TRY(make(&w));
  const cl_int code = clSetEventCallback(event, CL_COMPLETE, event_ended, w);
  if (code != CL_SUCCESS) {
    unmake(w);
    return fail(code, "clSetEventCallback failed: %s", abut_status_name(code));
  }
  *out = w;
  return ABUT_SUCCESS;
}

bool waiter_wait(waiter *w, double seconds, cl_int *code, double *ended)
{
  const double until = now() + seconds;
  const struct timespec deadline = {(time_t)until, (long)((until - (double)(time_t)until) * 1e9)};
  pthread_mutex_lock(&w->lock);
  int timed_out = 0;
  while (!w->done && !timed_out) {
    timed_out = pthread_cond_timedwait(&w->changed, &w->lock, &deadline);
  }
  const bool done = w->done;
  *code = w->code;
  *ended = w->ended;
  pthread_mutex_unlock(&w->lock);
  return done;
}

void waiter_leave(waiter *w)
{
  if (!w) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  const bool last = --w->holders == 0;
  pthread_mutex_unlock(&w->lock);
  if (last) {
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
  }
}

/* ---- clFinish ---- */

typedef struct finishing {
  waiter *waiter;
  cl_command_queue queue;
  bool retained; /* whoever waits may give up and let the queue go */
} finishing;

static void *finish(void *user)
{
  const finishing f = *(finishing *)user;
  free(user);
  const cl_int code = clFinish(f.queue);
  if (f.retained) {
    clReleaseCommandQueue(f.queue);
  }
  tell(f.waiter, code);
  return NULL;
}

/* The thread cannot be stopped, and may last as long as the process. */
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
