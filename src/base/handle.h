/* Value handles: an index into a pool and the generation of what lies there. */
#ifndef ABUT_BASE_HANDLE_H
#define ABUT_BASE_HANDLE_H

#include <abut/status.h>
#include <stdint.h>

typedef struct handle {
  uint32_t index, generation; /* generation 0 is the null handle */
} handle;

typedef struct pool pool;
typedef struct call_lock call_lock; /* call_lock.h */

/* The pools of the library, each guarded by its own lock. */
extern pool context_pool, body_pool, pair_pool, state_pool, scene_pool;

/* Puts an object under a new handle; calls with it acquire a lock. */
abut_status pool_add(pool *p, void *object, call_lock *l, handle *out);

/* The object of a handle; NULL and an error text where it is null or stale. */
void *pool_get(pool *p, handle h);

/* The lock of a handle; NULL and an error text likewise. What has another lock than one's own may be
 * destroyed at any time: it is not to be looked into. */
call_lock *pool_call_lock(pool *p, handle h);

/* Locks all pools, so that a process may fork. */
void pools_lock(void);
void pools_unlock(void);

/* Ends a handle. Its object is the caller's to free. */
void pool_remove(pool *p, handle h);

#endif
