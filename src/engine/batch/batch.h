/* The one engine for batches: it carries out a call of an operation on all devices of a context.
 *
 * An operation tells which arrays of the caller's lie where in its buffer pools, what it needs on a
 * device and which kernels make the outputs of a chunk from its inputs. The engine cuts the batch
 * into chunks that fit each device's memory, shares these among the devices, brings inputs up and
 * outputs down while kernels of another chunk run, lets kernels work in the caller's own memory
 * where that is possible, and gives what a failed device held to the others.
 *
 * A batch may be of groups, each of elements that are computed alike: the engine takes them group
 * by group, wherever their rows lie in the caller's arrays, which are as wide as the widest
 * group's. Whatever lies behind a narrower group's own row becomes 0.
 */
#ifndef ABUT_BATCH_BATCH_H
#define ABUT_BATCH_BATCH_H

#include "base/ranges.h"
#include "engine/batch/state.h"
#include "engine/device/buffer_pool.h"
#include "engine/device/context.h"
#include <abut/manifold.h>

/* Elements first .. first + count - 1 of a batch, all of one group. */
typedef struct chunk {
  size_t first, count;
  size_t group;
} chunk;

/* Elements of a batch that are alike and lie side by side: a chunk never has those of two. Groups
 * may differ in what an element takes, of memory and of time. */
typedef struct batch_group {
  size_t end;    /* behind its last element */
  double *rates; /* of the context's members, elements a second, by this call and those before that
                    had this group; 0: not yet. The caller keeps them. */
  double each;   /* what an element takes beside those of other groups; by the schedule */
  double behind; /* what all later groups take; by the schedule */
} batch_group;

#define BATCH_ARRAYS 48
#define BATCH_BESIDE 64
#define BATCH_ROWS (POOL_BUFFERS - 1) /* the engine's own buffer in the first pool of a slot */

/* The ways in which the rows of a chunk may lie in a buffer of a buffer pool. */
typedef enum array_form {
  FORM_ROWS,        /* one behind the other */
  FORM_DUAL_ROWS,   /* each row's values, then its derivatives */
  FORM_DUAL_HALVES, /* the values of all rows, then their derivatives */
  FORM_PLANES       /* component by component; the last row is repeated up to whole granules */
} array_form;

/* An array of the caller's, with a row for each element of the batch. An array with neither `in`
 * nor `out` only takes room on the device, where kernels touch it. */
typedef struct batch_array {
  const char *name;    /* what errors call it */
  const void *in;      /* rows that are brought up, or NULL; for a state, an abut_state_array */
  void *out;           /* where rows are brought down to, or NULL; as `in` for a state */
  abut_memory memory;  /* where these lie */
  size_t width, size;  /* how many numbers a row has, and how many bytes a number */
  size_t each;         /* if not 0: a group's row has `each` numbers for each of its units */
  size_t pool, buffer; /* in which of a device's buffers a chunk's rows lie */
  array_form form;
  size_t parts;  /* in the dual forms, how many a number has: value and derivatives */
  size_t part;   /* of duals: 0 values, 1 derivatives; of planes: which comes first */
  bool zeros;    /* rows of zeros take the place of `in` */
  bool in_place; /* kernels may use the caller's memory in the buffer's place */
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
  size_t place;                             /* the device's, among the context's members */
  size_t bytes[BUFFER_POOLS][POOL_BUFFERS]; /* of an element; set by `place` or `enter`,
                                               which may leave the arrays' out */
  bool rows[BUFFER_POOLS][POOL_BUFFERS];    /* kernels touch the rows of elements alone, so that no
                                               room is needed for the rest of a granule; set as
                                               `bytes` */
  uint64_t fixed;             /* bytes that a slot takes beside these, however many elements a chunk
                                 has; set as `bytes` */
  size_t most;                /* bounds a chunk's elements, beside memory; set as `bytes` */
  size_t *mosts;              /* of each group, the same with what memory allows */
  size_t granule;             /* buffers have room for whole multiples of it; 1 or set by `place` */
  size_t units[DEVICE_SLOTS]; /* of the slot's group, see batch_array.each; set by `enter` */
  bool straight[DEVICE_SLOTS]; /* the chunk's rows lie side by side in the caller's arrays */
  void *user;                  /* the operation's own; set by `place` */
  double computed; /* when what `collect` launched has ended, by now(); set by it, or 0 */
  chunk_memory memory[DEVICE_SLOTS][BUFFER_POOLS];
  bool borrows; /* kernels work in the caller's host memory */
  struct host_room {
    void *at;
    size_t bytes;
  } zeros, planes, gathered, staged; /* room that copies need */
} batch_on;

/* What is particular to a kind of call: the one table of functions that the engine calls. A member
 * that is NULL does nothing. The functions of `base` are called first (`leave` last), each with the
 * same arguments as the operation's own, so that kinds of calls which differ in a few steps have
 * the others in common. A base has none itself. `test` and `launch` must be there, of the operation
 * or its base.
 *
 * For each device: test, place, enter for each group, then for each chunk enter, upload, launch,
 * collect and add; leave at the end. */
typedef struct operation operation;
struct operation {
  const operation *base; /* or NULL */
  module_id module;      /* of its kernels; by it the best size of chunks is known */
  /* Makes sure that the member passes the self-tests of what the call needs. */
  abut_status (*test)(const batch_call *c, size_t place);
  /* Brings what all chunks use to on->device, and sets sizes. */
  abut_status (*place)(batch_on *on);
  /* Sets the sizes of an element of a group, which are all 0 before: the slot's next chunk is of
   * this group. Where it is NULL the sizes are those that `place` has set. */
  abut_status (*enter)(batch_on *on, size_t slot, size_t group);
  /* Brings up what a chunk needs beside the arrays. */
  abut_status (*upload)(batch_on *on, size_t slot, chunk c);
  /* Launches the kernels from the chunk's inputs in on->memory[slot] to its outputs. It need not
   * wait for them. */
  abut_status (*launch)(batch_on *on, size_t slot, chunk c);
  /* Brings down what a chunk leaves beside the arrays, once all that was launched has ended. Where
   * only the chunk's outcome tells how much there is, it may launch more and wait for that. It must
   * not change what a chunk that is done again would read. */
  abut_status (*collect)(batch_on *on, size_t slot, chunk c);
  /* Adds a chunk that is whole to the call's answer. It is called by one thread at a time. */
  void (*add)(batch_on *on, chunk c);
  /* Frees on->user, whether `place` has been called or not. */
  void (*leave)(batch_on *on);
  /* Empties what `add` has filled, because all chunks will come again. */
  void (*again)(batch_call *c);
};

/* A call. The struct of an operation's own call begins with it. */
struct batch_call {
  const operation *operation;
  context *context;
  size_t count; /* elements of the batch */
  batch_array arrays[BATCH_ARRAYS];
  size_t array_count;
  const memory_range *beside; /* memory of the caller's on the host that the call reads or writes
                                 apart from the arrays, at most BATCH_BESIDE; or NULL */
  size_t beside_count;
  bool wholes;         /* an output may overlap an input only as a whole */
  bool borrows;        /* CPUs' kernels may work in arrays of the host that are `in_place` */
  bool unbounded;      /* the context's bound on chunks is not meant for these elements */
  size_t multiple;     /* all chunks but the last have a multiple of so many elements; 0: any */
  size_t least;        /* a device without memory for so many elements is of no use; 0: for one */
  double *rates;       /* see batch_group.rates; unused where there are groups */
  batch_group *groups; /* given where elements differ in what they are computed from; or NULL */
  size_t group_count;
  const uint32_t *rows; /* where there are groups: each element's row of the caller's, or NULL */
  state *state;         /* of which those arrays are that say so; owning devices compute its
                           ranges; or NULL */
  bool replaces;        /* kernels read and write one array of a state, row by row */
  abut_progress progress;
  void *progress_user;
  size_t failures;      /* out: devices that failed on the way */
  bool in_place;        /* an output lies where an input is read from */
  pthread_mutex_t lock; /* of `add` */
};

/* Returns an element's row in the caller's arrays. */
static inline size_t batch_row(const batch_call *c, size_t element)
{
  return c->rows ? c->rows[element] : element;
}

/* Empties what chunks have added to a call's answer. */
void batch_again(batch_call *c);

/* Adds an array to a call; batch_run refuses more than BATCH_ARRAYS. */
void batch_add(batch_call *c, batch_array a);

/* Does the whole call, or fails. Arrays in OpenCL memory that are none of the context's, or too
 * short, and outputs that overlap are refused before anything is done. */
abut_status batch_run(batch_call *c);

#endif
