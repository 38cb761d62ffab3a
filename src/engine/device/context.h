/* A context has open devices, and what was made in it. */
#ifndef ABUT_DEVICE_CONTEXT_H
#define ABUT_DEVICE_CONTEXT_H

#include "base/error.h"
#include "base/handle.h"
#include "engine/device/buffer_pool.h"
#include <pthread.h>

/* Embedded first in bodies, pairs, states and scenes, so that a context can free them. */
typedef struct owned {
  struct owned *next, *previous;
  pool *pool;
  handle self;
  void (*destroy)(void *object);
} owned;

/* What a program is tested for before its first use: self-tests run one by one, when a call first
 * needs what they are of, for a driver may compile a kernel only when it first runs. */
typedef enum self_test_part {
  SELF_TEST_MAIN,
  SELF_TEST_ACTIVE,          /* active contacts alone */
  SELF_TEST_FIELDS,          /* edges in fields */
  SELF_TEST_HARD,            /* worlds with hard contacts */
  SELF_TEST_SPRING,          /* worlds with springs between clouds */
  SELF_TEST_SPRING_CONTACTS, /* worlds with springs at contacts */
  SELF_TEST_MESHES, /* collision in time: between two meshes; its parts before are the kinds of
                       features */
  SELF_TEST_PARTS,
  SELF_TEST_KIND = SELF_TEST_MAIN
} self_test_part;

/* A member is a device of a context. */
typedef struct member {
  device *device;              /* NULL: nothing has this place yet */
  buffer_pools *pools;         /* what calls reuse there; NULL: nothing yet */
  abut_status status;          /* ABUT_SUCCESS, or why it failed */
  size_t failure;              /* which of the context's that was, from 1 */
  char text[ERROR_TEXT_BYTES]; /* whole, a compiler's log among it */
  uint64_t chunks, elements;
  bool tested[SELF_TEST_PARTS][PROGRAM_COUNT]; /* what has been answered rightly, by PROGRAM_OF */
} member;

/* The members are the chosen devices, and places for what may stand in for them: the host path,
 * last; before it, where no device was chosen, those behind the first one in the order of
 * preference. */
#define MEMBERS (ABUT_DEVICES_MOST + 1)

#define QUERY_KINDS 19      /* of queries that need no body, each of which takes its own time */
#define QUERY_LCP 6         /* boxed problems */
#define QUERY_SPRING 7      /* pairs of clouds */
#define QUERY_SPRING_BACK 8 /* with derivatives */
#define QUERY_CLOUD 9       /* points in the field of a cloud */
#define QUERY_CCD 10        /* by kind of features, without and with the gradient */
#define QUERY_DECOMPOSE 18  /* whole decompositions */

#define SHAPE_LISTS_MOST 8 /* are kept for the calls to come */

typedef struct context {
  member members[MEMBERS];
  double query_rates[QUERY_KINDS][MEMBERS]; /* queries a second, see batch_group.rates */
  size_t count;       /* of chosen devices; behind them are those that stand in: one takes part only
                         where none before it does */
  bool by_preference; /* no device was chosen */
  char *kernel_directory; /* for those that are opened later */
  size_t failures;
  abut_context_def def;
  owned *newest;
  struct shape_list *shape_lists[SHAPE_LISTS_MOST]; /* query/shape.h; NULL where there is none */
  handle self;
  call_lock *call_lock;
  pthread_mutex_t lock; /* guards what workers share: statuses, counts, the timeline */
  abut_span *spans;
  size_t span_count, span_capacity;
  bool timed;
  double timeline_begin;
} context;

/* Returns the context of a handle, or NULL with an error text. */
context *context_get(abut_context c);

/* Opens the devices of a definition and makes a handle. */
abut_status context_open(const abut_context_def *def, context **out);
void context_close(context *c);

/* Makes a context of its own with one member's device alone, for which nothing stands in; and ends
 * it, with all that was made in it. NULL is allowed. The owner does nothing on the device
 * meanwhile. */
abut_status context_lend(context *c, size_t place, context **out);
void context_take_back(context *lent);

/* Gives the buffer pools of a member to its thread. */
abut_status context_buffer_pools(context *c, size_t place, buffer_pools **out);

/* Closes a member's device with its buffer pools, as if it had never been opened. */
void member_close(member *m);

/* Gives an object that was made in the context a handle, and the context the object. On failure it
 * is still the caller's to free. */
abut_status context_adopt(context *c, pool *p, owned *object, void (*destroy)(void *object));

/* Ends its handle, and frees it; abut_destroy_* do not do so from within a call. */
void context_discard(context *c, owned *object);

size_t context_real_bytes(const context *c); /* 4 or 8 */

/* Whether the member at a place works, and the place of the first one that does (MEMBERS where
 * there is none). */
bool context_works(const context *c, size_t place);
size_t context_first(const context *c);

/* Counts the members, chosen or standing in; that is the next place, too. */
size_t context_members(const context *c);

/* Whether a device is to blame, and others may do better. */
bool is_device_error(abut_status status);

/* Whether a device lacks the memory for a chunk. A buffer says so or, where a driver allocates
 * late, a command that uses it. A smaller chunk may fit. */
bool is_memory_error(abut_status status);

/* The memory error of an operation that finds a chunk of several elements too large by its own
 * count. A chunk of one must fail otherwise, since this would cost the device. */
abut_status too_many_elements(void);

/* Marks a member as failed, with the last error text. */
void context_fail(context *c, size_t place, abut_status status);

/* Makes the next device in the order of preference a working member, where none was chosen, or else
 * the host path, where the definition allows it. */
bool context_can_stand_in(const context *c);
abut_status context_stand_in(context *c);

/* Does something on every working member; fails where none is left. */
typedef abut_status (*member_function)(context *c, size_t place, void *user);
abut_status context_on_each(context *c, member_function run, void *user);

/* Records a span of the timeline where one was asked for; begin and end by now(). A span that finds
 * no memory is left out. */
void context_span(context *c, const abut_span *span);

#endif
