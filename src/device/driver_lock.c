#include "device/driver_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void driver_lock(void)
{
  pthread_mutex_lock(&lock);
}

void driver_unlock(void)
{
  pthread_mutex_unlock(&lock);
}
