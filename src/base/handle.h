/* A handle is a value: an index into a pool, and the generation of what lies there. */
#ifndef ABUT_BASE_HANDLE_H
#define ABUT_BASE_HANDLE_H

#include <abut/status.h>
#include <stdint.h>

typedef struct handle {
  uint32_t index, generation; /* the null handle has generation 0 */
} handle;

typedef struct pool pool;
typedef struct call_lock call_lock; /* call_lock.h */

/* These are the pools of the library. Each is guarded by a lock of its own. */
extern pool context_pool, body_pool, pair_pool, state_pool, scene_pool, shape_pool, shape_list_pool,
  ccd_mesh_pool;

/* Puts an object under a new handle; calls with it acquire a lock. */
abut_status pool_add(pool *p, void *object, call_lock *l, handle *out);

/* Returns the object of a handle; NULL, with an error text, where the handle is null or stale. */
void *pool_get(pool *p, handle h);

/* Returns the lock of a handle, or NULL likewise. Another thread may destroy at any time what has
 * another lock than one's own, so nobody looks into it. */
call_lock *pool_call_lock(pool *p, handle h);

/* Locks and unlocks all pools, so that a process may fork between. */
void pools_lock(void);
void pools_unlock(void);

/* Ends a handle. The caller frees its object. */
void pool_remove(pool *p, handle h);

#endif
