/* Only one call at a time works in a context, from any thread, and none in a process forked since
 * the context was created.
 *
 * Each context has a lock, which its bodies, pairs and states share. A public function that takes a
 * handle starts with ENTER and holds the lock until it returns. The thread that holds the lock may
 * enter again. Locks are never freed: a thread that waits for the lock of a destroyed context still
 * finds the lock, and then a stale handle.
 */
#ifndef ABUT_BASE_CALL_LOCK_H
#define ABUT_BASE_CALL_LOCK_H

#include "base/handle.h"
#include <stdbool.h>

/* Returns an unused lock that belongs to this process. Locks of contexts that are lent within a
 * call (inner) are separate from other locks. Inner locks are always acquired after outer locks. */
abut_status call_lock_reserve(bool inner, call_lock **out);

/* Releases the lock of a destroyed context for reuse. NULL is allowed. */
void call_lock_give_back(call_lock *l);

/* Waits for the lock of a handle's context and acquires it; *out is for call_lock_release. Fails if
 * the handle is then stale or of another process. */
abut_status call_lock_acquire(pool *p, handle h, call_lock **out);

/* Does the same for a call that destroys an object. Refused from within another call, for example
 * from a progress function, because that call still uses the object. */
abut_status call_lock_acquire_alone(pool *p, handle h, call_lock **out);

/* Releases a lock; *l may be NULL. */
void call_lock_release(call_lock **l);

/* Acquire the lock of a public handle for the rest of the function. */
#define ENTER(pool_, handle_) ENTER_BY(call_lock_acquire, pool_, handle_)
#define ENTER_ALONE(pool_, handle_) ENTER_BY(call_lock_acquire_alone, pool_, handle_)
#define ENTER_BY(how, pool_, handle_)                                    \
  call_lock *entered __attribute__((cleanup(call_lock_release))) = NULL; \
  TRY(how(&(pool_), (handle){(handle_).index, (handle_).generation}, &entered))

#endif
