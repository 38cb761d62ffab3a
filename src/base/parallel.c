#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS_MOST 16

typedef struct loop {
  size_t count;
  void (*work)(void *user, size_t i);
  void *user;
  atomic_size_t next;
} loop;

static void *run(void *argument)
{
  loop *l = argument;
  for (size_t i = atomic_fetch_add(&l->next, 1); i < l->count; i = atomic_fetch_add(&l->next, 1)) {
    l->work(l->user, i);
  }
  return NULL;
}

void parallel_for(size_t count, void (*work)(void *user, size_t i), void *user)
{
  loop l = {.count = count, .work = work, .user = user};
  pthread_t threads[THREADS_MOST];
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  size_t wanted = processors > 1 ? (size_t)processors - 1 : 0, started = 0;
  wanted = wanted < THREADS_MOST ? wanted : THREADS_MOST;
  wanted = count > 1 && wanted > count - 1 ? count - 1 : wanted;
  atomic_init(&l.next, 0);
  while (count > 1 && started < wanted && !pthread_create(&threads[started], NULL, run, &l)) {
    ++started;
  }
  run(&l);
  while (started) {
    pthread_join(threads[--started], NULL);
  }
}
