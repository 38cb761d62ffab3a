#include "base/call_lock.h"

#include "base/error.h"
#include "base/memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct call_lock {
  pthread_mutex_t mutex;
  pid_t process; /* process that owns the context */
  bool taken, inner;
  unsigned depth; /* nested calls of the thread that holds it */
  call_lock *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static call_lock *all;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A fork waits for locks that are held only briefly, so that they are in a valid state in the
 * child. */
static void before_fork(void)
{
  pthread_mutex_lock(&lock);
  pools_lock();
}

static void after_fork(void)
{
  pools_unlock();
  pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
  pthread_atfork(before_fork, after_fork, after_fork);
}

static bool open_mutex(call_lock *l)
{
  pthread_mutexattr_t kind;
  if (pthread_mutexattr_init(&kind)) {
    return false;
  }
  const bool done = !pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE) &&
                    !pthread_mutex_init(&l->mutex, &kind);
  pthread_mutexattr_destroy(&kind);
  return done;
}

/* A lock released before a fork may remain locked in the child forever, so the child does not reuse
 * it. */
static call_lock *find_free(pid_t process, bool inner)
{
  call_lock *l = all;
  while (l && (l->taken || l->process != process || l->inner != inner)) {
    l = l->next;
  }
  return l;
}

static abut_status add(call_lock **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(call_lock)));
  call_lock *l = memory;
  if (!open_mutex(l)) {
    free(memory);
    return fail(ABUT_ERROR_MEMORY, "not enough memory for a lock");
  }
  l->next = all;
  *out = all = l;
  return ABUT_SUCCESS;
}

abut_status call_lock_reserve(bool inner, call_lock **out)
{
  const pid_t process = getpid();
  abut_status status = ABUT_SUCCESS;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&lock);
  *out = find_free(process, inner);
  if (!*out) {
    status = add(out);
  }
  if (status == ABUT_SUCCESS) {
    (*out)->process = process;
    (*out)->taken = true;
    (*out)->inner = inner;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

void call_lock_give_back(call_lock *l)
{
  if (l) {
    pthread_mutex_lock(&lock);
    l->taken = false;
    pthread_mutex_unlock(&lock);
  }
}

abut_status call_lock_acquire(pool *p, handle h, call_lock **out)
{
  call_lock *l = pool_call_lock(p, h);
  if (!l) {
    return ABUT_ERROR_HANDLE;
  }
  if (l->process != getpid()) {
    return fail(ABUT_ERROR_HANDLE, "the context was opened before fork(): open one in the child "
                                   "process, or start workers with spawn");
  }
  pthread_mutex_lock(&l->mutex);
  if (!pool_get(p, h)) {
    pthread_mutex_unlock(&l->mutex);
    return ABUT_ERROR_HANDLE;
  }
  ++l->depth;
  *out = l;
  return ABUT_SUCCESS;
}

abut_status call_lock_acquire_alone(pool *p, handle h, call_lock **out)
{
  TRY(call_lock_acquire(p, h, out));
  if ((*out)->depth > 1) {
    call_lock_release(out);
    *out = NULL;
    return fail(ABUT_ERROR_ARGUMENT,
                "objects cannot be destroyed during a call that uses their context");
  }
  return ABUT_SUCCESS;
}

void call_lock_release(call_lock **l)
{
  if (*l) {
    --(*l)->depth;
    pthread_mutex_unlock(&(*l)->mutex);
  }
}
