/* The one engine for batches: what an operation says of itself, and a call of it on all devices of
 * a context.
 *
 * An operation tells which arrays of the caller's lie where in its buffer pools, what it needs on a
 * device and which kernels make the outputs of a chunk from its inputs. The engine cuts the batch
 * into chunks that fit each device's memory, shares these among the devices, brings inputs up and
 * outputs down while kernels of another chunk run, lets kernels work in the caller's own memory
 * where that is possible, and gives what a failed device held to the others.
 *
 * A batch may be of groups, each of elements that are computed alike: the engine takes them group
 * by group, wherever their rows lie in the caller's arrays, which are as wide as the widest
 * group's. What is behind a narrower group's own row becomes 0.
 */
#ifndef ABUT_BATCH_BATCH_H
#define ABUT_BATCH_BATCH_H

#include "batch/state.h"
#include "device/buffer_pool.h"
#include "schedule/schedule.h"
#include <abut/manifold.h>

#define BATCH_ARRAYS 48
#define BATCH_ROWS (POOL_BUFFERS - 1) /* the engine's own buffer in the first pool of a slot */

/* How the rows of a chunk lie in a buffer of a buffer pool. */
typedef enum array_form {
  FORM_ROWS,        /* one behind the other */
  FORM_DUAL_ROWS,   /* each row's values, then its derivatives */
  FORM_DUAL_HALVES, /* the values of all rows, then their derivatives */
  FORM_PLANES       /* component by component; the last row is repeated up to whole granules */
} array_form;

/* An array of the caller's: a row for each element of the batch. One that is neither given nor
 * wanted only takes room, where kernels touch it. */
typedef struct batch_array {
  const char *name;    /* what errors call it */
  const void *in;      /* what is brought up, or NULL; of a state, an abut_state_array */
  void *out;           /* where rows are brought down to, or NULL; likewise */
  abut_memory memory;  /* where these lie */
  size_t width, size;  /* numbers of a row; bytes of one */
  size_t each;         /* where groups differ in how wide their rows are: numbers a unit */
  size_t pool, buffer; /* where a chunk's rows lie on a device */
  array_form form;
  size_t parts;        /* of a number in the dual forms: a value and its derivatives */
  size_t part;         /* of duals: 0 values, 1 derivatives; of planes: the first one */
  bool zeros;          /* zeros go up */
  bool in_place;       /* kernels may use the caller's memory in the buffer's place */
} batch_array;

/* A buffer pool as a chunk uses it. */
typedef struct chunk_memory {
  buffer_pool *pool;
  buffer *external[POOL_BUFFERS]; /* the caller's memory in place of the pool's, or NULL */
} chunk_memory;

static inline buffer *memory_buffer(const chunk_memory *m, size_t id)
{
  return m->external[id] ? m->external[id] : m->pool->buffers[id];
}

typedef struct batch_call batch_call;

/* A call at work on one device of the context. */
typedef struct batch_on {
  batch_call *call;
  device *device;
  size_t place;            /* among the context's members */
  size_t bytes[BUFFER_POOLS][POOL_BUFFERS]; /* an element; by `place` or `enter`, arrays'
                                               own may be left out */
  size_t most;             /* elements of a chunk, whatever memory allows; by `place` or `enter` */
  size_t *mosts;           /* what memory allows, too, by group */
  size_t granule;          /* buffers have room for whole multiples of so many; by `place`, or 1 */
  size_t units[DEVICE_SLOTS]; /* of the slot's group, see batch_array.each; by `enter` */
  bool straight[DEVICE_SLOTS]; /* the chunk's rows lie side by side in the caller's arrays */
  void *user;              /* the operation's own; by `place` */
  double computed;         /* when what `collect` had launched ended, by now(); by it, or 0 */
  chunk_memory memory[DEVICE_SLOTS][BUFFER_POOLS];
  bool borrows;            /* kernels work in the caller's host memory */
  struct host_room {
    void *at;
    size_t bytes;
  } zeros, planes, gathered, staged; /* what copies need */
} batch_on;

/* What is particular to a kind of call. What may be NULL does nothing then. */
typedef struct operation {
  module_id module; /* of its kernels; how large chunks are best is known by module */
  /* The member answers the self-tests of what the call needs. */
  abut_status (*test)(const batch_call *c, size_t place);
  /* Brings to on->device what all chunks use, and tells sizes. */
  abut_status (*place)(batch_on *on);
  /* The slot's next chunk is of a group: tells the sizes of its elements, which are all 0 before;
   * called before any chunk, too. NULL where `place` does that, and groups do not differ. */
  abut_status (*enter)(batch_on *on, size_t slot, size_t group);
  /* What goes up beside the arrays; or NULL. */
  abut_status (*upload)(batch_on *on, size_t slot, chunk c);
  /* From the chunk's inputs in on->memory[slot] to its outputs. */
  abut_status (*launch)(batch_on *on, size_t slot, chunk c);
  /* What comes down beside the arrays, after all that was launched has ended. It may launch and
   * wait for more, and knows how much that is only now. It must not change what a chunk that is
   * done once more would read. Or NULL. */
  abut_status (*collect)(batch_on *on, size_t slot, chunk c);
  /* A chunk is whole: adds it to the call's answer. One thread at a time; or NULL. */
  void (*add)(batch_on *on, chunk c);
  /* Frees on->user, placed or not; or NULL. */
  void (*leave)(batch_on *on);
  /* All chunks come once more: empties what `add` has filled. Or NULL. */
  void (*again)(batch_call *c);
} operation;

/* A call; an operation's own has it first. */
struct batch_call {
  const operation *operation;
  context *context;
  size_t count;     /* elements of the batch */
  batch_array arrays[BATCH_ARRAYS];
  size_t array_count;
  bool borrows;     /* CPUs' kernels may work in arrays of the host that are `in_place` */
  bool unbounded;   /* the context's bound on chunks is not for these elements */
  size_t multiple;  /* chunks but the last are of multiples of so many elements; 0: of any */
  size_t least;     /* a device without the memory for so many is of no use; 0: for one */
  double *rates;    /* see job_group.rates; unless there are groups */
  job_group *groups; /* where elements differ in what they are computed from; or NULL */
  size_t group_count;
  const uint32_t *rows; /* with groups: the caller's row of each element; or NULL: its own place */
  state *state;     /* in which its arrays are that say so, whose ranges their owning devices
                       compute; or NULL */
  bool replaces;    /* kernels read and write one array of a state, row by row */
  abut_progress progress;
  void *progress_user;
  size_t failures;  /* out: devices that failed on the way */
  bool in_place;    /* an output lies where an input is read from */
  pthread_mutex_t lock; /* of `add` */
};

/* An element's row in the caller's arrays. */
static inline size_t batch_row(const batch_call *c, size_t element)
{
  return c->rows ? c->rows[element] : element;
}

/* Adds an array to a call; batch_run refuses more than BATCH_ARRAYS. */
void batch_add(batch_call *c, batch_array a);

/* Does the whole call, or fails. Arrays in OpenCL memory that are none of the context's, or too
 * short, are refused before anything is done. */
abut_status batch_run(batch_call *c);

#endif
