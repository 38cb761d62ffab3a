/* A handle is a value: an index into a pool, and the generation of the object there. */
#ifndef ABUT_BASE_HANDLE_H
#define ABUT_BASE_HANDLE_H

#include <abut/status.h>
#include <stdint.h>

typedef struct handle {
  uint32_t index, generation; /* the null handle has generation 0 */
} handle;

typedef struct pool pool;
typedef struct call_lock call_lock; /* call_lock.h */

/* The pools of the library, each guarded by its own lock. */
extern pool context_pool, body_pool, pair_pool, state_pool, scene_pool, shape_pool, shape_list_pool,
  ccd_mesh_pool;

/* Creates a handle for an object. Calls with the handle acquire the lock l. */
abut_status pool_add(pool *p, void *object, call_lock *l, handle *out);

/* Returns the object of a handle, or NULL with an error text if the handle is null or stale. */
void *pool_get(pool *p, handle h);

/* Returns the lock of a handle, or NULL likewise. The object may be accessed only while its lock is
 * held, because another thread may destroy it at any time. */
call_lock *pool_call_lock(pool *p, handle h);

/* Lock and unlock all pools, so that a process may fork in between. */
void pools_lock(void);
void pools_unlock(void);

/* Invalidates a handle. The caller frees its object. */
void pool_remove(pool *p, handle h);

#endif
