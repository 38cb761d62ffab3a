#include "base/handle.h"

#include "base/error.h"
#include "base/memory.h"
#include <pthread.h>
#include <stddef.h>

typedef struct slot {
  void *object; /* NULL if the slot is free */
  call_lock *call_lock;
  uint32_t generation;
} slot;

struct pool {
  pthread_mutex_t lock;
  slot *slots;
  size_t count, capacity;
  const char *what;
  size_t taken; /* upper bound on the leading slots that are in use */
};

pool context_pool = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, "context", 0};
pool body_pool = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, "body", 0};
pool pair_pool = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, "pair", 0};
pool state_pool = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, "state", 0};
pool scene_pool = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, "scene", 0};
pool shape_pool = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, "shape", 0};
pool shape_list_pool = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, "shape list", 0};
pool ccd_mesh_pool = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, "mesh", 0};

abut_status pool_add(pool *p, void *object, call_lock *l, handle *out)
{
  abut_status status = ABUT_SUCCESS;
  pthread_mutex_lock(&p->lock);
  size_t i = p->taken;
  while (i < p->count && p->slots[i].object) {
    ++i;
  }
  p->taken = i;
  if (i == p->count) {
    void *slots = p->slots;
    TRY_DONE(grow(&slots, &p->capacity, p->count + 1, sizeof(slot)));
    p->slots = slots;
    p->slots[p->count++] = (slot){NULL, NULL, 0};
  }
  p->slots[i].object = object;
  p->slots[i].call_lock = l;
  p->slots[i].generation += p->slots[i].generation == UINT32_MAX ? 2 : 1;
  *out = (handle){(uint32_t)i, p->slots[i].generation};
done:
  pthread_mutex_unlock(&p->lock);
  return status;
}

/* Returns a copy of a handle's slot, without an object if the handle is null or stale. */
static slot find(pool *p, handle h)
{
  slot found = {NULL, NULL, 0};
  pthread_mutex_lock(&p->lock);
  if (h.generation && h.index < p->count && p->slots[h.index].generation == h.generation) {
    found = p->slots[h.index];
  }
  pthread_mutex_unlock(&p->lock);
  if (!found.object) {
    fail(ABUT_ERROR_HANDLE, "the %s handle is %s", p->what, h.generation ? "stale" : "null");
  }
  return found;
}

void *pool_get(pool *p, handle h)
{
  return find(p, h).object;
}

call_lock *pool_call_lock(pool *p, handle h)
{
  const slot found = find(p, h);
  return found.object ? found.call_lock : NULL;
}

static pool *const pools[] = {&context_pool, &body_pool,  &pair_pool,       &state_pool,
                              &scene_pool,   &shape_pool, &shape_list_pool, &ccd_mesh_pool};

void pools_lock(void)
{
  for (size_t i = 0; i < sizeof pools / sizeof *pools; ++i) {
    pthread_mutex_lock(&pools[i]->lock);
  }
}

void pools_unlock(void)
{
  for (size_t i = sizeof pools / sizeof *pools; i-- > 0;) {
    pthread_mutex_unlock(&pools[i]->lock);
  }
}

void pool_remove(pool *p, handle h)
{
  pthread_mutex_lock(&p->lock);
  if (h.index < p->count && p->slots[h.index].generation == h.generation) {
    p->slots[h.index].object = NULL;
    p->taken = h.index < p->taken ? h.index : p->taken;
  }
  pthread_mutex_unlock(&p->lock);
}
