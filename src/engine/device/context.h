/* A context has open devices and the objects created in it. */
#ifndef ABUT_DEVICE_CONTEXT_H
#define ABUT_DEVICE_CONTEXT_H

#include "base/error.h"
#include "base/handle.h"
#include "engine/device/buffer_pool.h"
#include <pthread.h>

/* The first member of bodies, pairs, states and scenes, so that a context can free them. */
typedef struct owned {
  struct owned *next, *previous;
  pool *pool;
  handle self;
  void (*destroy)(void *object);
} owned;

/* What a program is tested for before its first use. Each self-test runs when a call first needs
 * it, because a driver may compile a kernel only when it first runs. */
typedef enum self_test_part {
  SELF_TEST_MAIN,
  SELF_TEST_ACTIVE,          /* active contacts only */
  SELF_TEST_FIELDS,          /* edges in fields */
  SELF_TEST_HARD,            /* worlds with hard contacts */
  SELF_TEST_SPRING,          /* worlds with springs between clouds */
  SELF_TEST_SPRING_CONTACTS, /* worlds with springs at contacts */
  SELF_TEST_MESHES, /* collision in time between two meshes; the entries before it are the kinds of
                       features */
  SELF_TEST_PARTS,
  SELF_TEST_KIND = SELF_TEST_MAIN
} self_test_part;

/* A member is a device of a context. */
typedef struct member {
  device *device;              /* NULL: not opened yet */
  buffer_pools *pools;         /* reused by calls; NULL: none yet */
  abut_status status;          /* ABUT_SUCCESS, or why it failed */
  size_t failure;              /* number of this failure among the context's, from 1 */
  char text[ERROR_TEXT_BYTES]; /* full text, including a compiler's log */
  uint64_t chunks, elements;
  bool tested[SELF_TEST_PARTS][PROGRAM_COUNT]; /* programs that have passed, by PROGRAM_OF */
} member;

/* The members are the chosen devices, followed by possible substitutes. The host path is last. If
 * no device was chosen, the devices after the first in the order of preference come before it. */
#define MEMBERS (ABUT_DEVICES_MOST + 1)

#define QUERY_KINDS 19      /* kinds of queries without bodies; each has its own throughput */
#define QUERY_LCP 6         /* boxed problems */
#define QUERY_SPRING 7      /* pairs of clouds */
#define QUERY_SPRING_BACK 8 /* with derivatives */
#define QUERY_CLOUD 9       /* points in the field of a cloud */
#define QUERY_CCD 10        /* by kind of features, without and with the gradient */
#define QUERY_DECOMPOSE 18  /* whole decompositions */

#define SHAPE_LISTS_MOST 8 /* retained for later calls */

typedef struct context {
  member members[MEMBERS];
  double query_rates[QUERY_KINDS][MEMBERS]; /* queries per second, see batch_group.rates */
  size_t count;       /* number of chosen devices; substitutes follow, and each is used only if none
                         before it works */
  bool by_preference; /* no device was chosen */
  char *kernel_directory; /* for devices that are opened later */
  size_t failures;
  abut_context_def def;
  owned *newest;
  struct shape_list *shape_lists[SHAPE_LISTS_MOST]; /* query/shape.h; NULL if there is none */
  handle self;
  call_lock *call_lock;
  pthread_mutex_t lock; /* guards data shared by worker threads: statuses, counts, the timeline */
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

/* Creates a context with only one member's device and no substitutes, and ends it with all objects
 * created in it. NULL is allowed. Meanwhile the owner does not use the device. */
abut_status context_lend(context *c, size_t place, context **out);
void context_take_back(context *lent);

/* Gives a member's buffer pools to its thread. */
abut_status context_buffer_pools(context *c, size_t place, buffer_pools **out);

/* Closes a member's device and buffer pools, as if it had never been opened. */
void member_close(member *m);

/* Creates a handle for an object and adds the object to the context. After a failure the caller
 * must still free the object. */
abut_status context_adopt(context *c, pool *p, owned *object, void (*destroy)(void *object));

/* Invalidates the object's handle and frees the object. During a call, abut_destroy_* do not free
 * objects themselves. */
void context_discard(context *c, owned *object);

size_t context_real_bytes(const context *c); /* 4 or 8 */

/* Return whether the member at an index works, and the index of the first one that does (MEMBERS if
 * there is none). */
bool context_works(const context *c, size_t place);
size_t context_first(const context *c);

/* Returns the number of members including substitutes in use, which is also the next free index. */
size_t context_members(const context *c);

/* Returns whether the device caused the error, so that other devices may succeed. */
bool is_device_error(abut_status status);

/* Returns whether a device lacks memory for a chunk. The error comes from an allocation or, if the
 * driver allocates late, from a command that uses the memory. A smaller chunk may fit. */
bool is_memory_error(abut_status status);

/* Returns the memory error for an operation that itself finds a chunk of several elements too
 * large. A chunk of one element must fail with another error, because this one would remove the
 * device. */
abut_status too_many_elements(void);

/* Marks a member as failed, with the last error text. */
void context_fail(context *c, size_t place, abut_status status);

/* Adds a substitute as a working member: the next device in the order of preference if no device
 * was chosen, else the host path if the definition allows it. */
bool context_can_stand_in(const context *c);
abut_status context_stand_in(context *c);

/* Calls a function for every working member. Fails if none is left. */
typedef abut_status (*member_function)(context *c, size_t place, void *user);
abut_status context_on_each(context *c, member_function run, void *user);

/* Records a span of the timeline if a timeline was requested. Its begin and end are from now().
 * Spans are dropped if memory runs out. */
void context_span(context *c, const abut_span *span);

#endif
