#include "engine/device/driver_lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int asked_by; /* a process ID; 0: none */

void driver_lock(void)
{
  pthread_mutex_lock(&lock);
}

void drivers_asked(void)
{
  int nobody = 0;
  atomic_compare_exchange_strong(&asked_by, &nobody, (int)getpid());
}

void driver_unlock(void)
{
  pthread_mutex_unlock(&lock);
}

bool drivers_are_here(void)
{
  const int process = atomic_load(&asked_by);
  return !process || process == (int)getpid();
}
