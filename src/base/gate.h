/* One call at a time in a context, from whatever thread; none in a process forked since.
 *
 * Each context has a gate, which its bodies, pairs and states share. A public function that takes a
 * handle begins with ENTER and holds the gate until it returns. A call may enter again from the
 * thread that is inside. Gates are never freed: who waits at one finds it there, and the handle
 * stale, when the context has gone.
 */
#ifndef ABUT_BASE_GATE_H
#define ABUT_BASE_GATE_H

#include "base/handle.h"
#include <stdbool.h>

/* A gate that nobody has; it belongs to this process. Gates of contexts that are lent within a call
 * (inner) and of others are not each other's: the one is always entered behind the other. */
abut_status gate_take(bool inner, gate **out);

/* Its context has gone: another one may take it. NULL is allowed. */
void gate_give_back(gate *g);

/* Waits at the gate of a handle's context, and enters; *out: for gate_leave. Fails where the handle
 * is stale by then, or of another process. */
abut_status gate_enter(pool *p, handle h, gate **out);

/* The same for a call that destroys: refused from within another one, as from a progress function,
 * whose ground it would take away. */
abut_status gate_enter_alone(pool *p, handle h, gate **out);

/* NULL is allowed. */
void gate_leave(gate **g);

/* Of a handle of abut.h, for the rest of the function. */
#define ENTER(pool_, handle_) ENTER_BY(gate_enter, pool_, handle_)
#define ENTER_ALONE(pool_, handle_) ENTER_BY(gate_enter_alone, pool_, handle_)
#define ENTER_BY(how, pool_, handle_)                        \
  gate *entered __attribute__((cleanup(gate_leave))) = NULL; \
  TRY(how(&(pool_), (handle){(handle_).index, (handle_).generation}, &entered))

#endif
