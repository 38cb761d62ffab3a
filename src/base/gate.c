#include "base/gate.h"

#include "base/error.h"
#include "base/memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct gate {
  pthread_mutex_t lock;
  pid_t process; /* whose context it is */
  bool taken, inner;
  unsigned depth; /* calls within each other, of the thread that is inside */
  gate *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static gate *all;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What is locked for a moment only is in order in a forked child, whichever thread forked. */
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

static bool open_lock(gate *g)
{
  pthread_mutexattr_t kind;
  if (pthread_mutexattr_init(&kind)) {
    return false;
  }
  const bool done = !pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE) &&
                    !pthread_mutex_init(&g->lock, &kind);
  pthread_mutexattr_destroy(&kind);
  return done;
}

/* A gate that was given back before a fork may be locked for ever: in the child it is not taken. */
static gate *find_free(pid_t process, bool inner)
{
  gate *g = all;
  while (g && (g->taken || g->process != process || g->inner != inner)) {
    g = g->next;
  }
  return g;
}

static abut_status add(gate **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(gate)));
  gate *g = memory;
  if (!open_lock(g)) {
    free(memory);
    return fail(ABUT_ERROR_MEMORY, "no memory for a lock");
  }
  g->next = all;
  *out = all = g;
  return ABUT_SUCCESS;
}

abut_status gate_take(bool inner, gate **out)
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

void gate_give_back(gate *g)
{
  if (g) {
    pthread_mutex_lock(&lock);
    g->taken = false;
    pthread_mutex_unlock(&lock);
  }
}

abut_status gate_enter(pool *p, handle h, gate **out)
{
  gate *g = pool_gate(p, h);
  if (!g) {
    return ABUT_ERROR_HANDLE;
  }
  if (g->process != getpid()) {
    return fail(ABUT_ERROR_HANDLE, "opened before fork(); open a context in the child, or start "
                "workers by spawn");
  }
  pthread_mutex_lock(&g->lock);
  if (!pool_get(p, h)) {
    pthread_mutex_unlock(&g->lock);
    return ABUT_ERROR_HANDLE;
  }
  ++g->depth;
  *out = g;
  return ABUT_SUCCESS;
}

abut_status gate_enter_alone(pool *p, handle h, gate **out)
{
  TRY(gate_enter(p, h, out));
  if ((*out)->depth > 1) {
    gate_leave(out);
    *out = NULL;
    return fail(ABUT_ERROR_ARGUMENT, "nothing is destroyed from within a call with its context");
  }
  return ABUT_SUCCESS;
}

void gate_leave(gate **g)
{
  if (*g) {
    --(*g)->depth;
    pthread_mutex_unlock(&(*g)->lock);
  }
}
