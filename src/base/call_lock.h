/* One call at a time works in a context, from whatever thread, and none in a process that was
 * forked since.
 *
 * Each context has a lock, which its bodies, pairs and states share. A public function that takes a
 * handle begins with ENTER and holds the lock until it returns. A call may enter again from the
 * thread that holds it. Locks are never freed: who waits for one finds it there, and the handle
 * stale, when the context has gone.
 */
#ifndef ABUT_BASE_CALL_LOCK_H
#define ABUT_BASE_CALL_LOCK_H

#include "base/handle.h"
#include <stdbool.h>

/* Gives a lock that no context has, and that belongs to this process. Locks of contexts that are
 * lent within a call (inner) and of others are not each other's: the one is always acquired behind
 * the other. */
abut_status call_lock_reserve(bool inner, call_lock **out);

/* Lets another context have the lock of one that has gone. NULL is allowed. */
void call_lock_give_back(call_lock *l);

/* Waits for the lock of a handle's context, and acquires it; *out is for call_lock_release. Fails
 * where the handle is stale by then, or of another process. */
abut_status call_lock_acquire(pool *p, handle h, call_lock **out);

/* Does the same for a call that destroys, and refuses it from within another call, as from a
 * progress function, whose ground it would take away. */
abut_status call_lock_acquire_alone(pool *p, handle h, call_lock **out);

/* Releases a lock; *l may be NULL. */
void call_lock_release(call_lock **l);

/* These acquire the lock of a public handle for the rest of the function. */
#define ENTER(pool_, handle_) ENTER_BY(call_lock_acquire, pool_, handle_)
#define ENTER_ALONE(pool_, handle_) ENTER_BY(call_lock_acquire_alone, pool_, handle_)
#define ENTER_BY(how, pool_, handle_)                                    \
  call_lock *entered __attribute__((cleanup(call_lock_release))) = NULL; \
  TRY(how(&(pool_), (handle){(handle_).index, (handle_).generation}, &entered))

#endif
