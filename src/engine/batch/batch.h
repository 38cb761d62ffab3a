/* The engine for batches: runs one call of an operation on all devices of a context.
 *
 * An operation defines how the caller's arrays map to its buffer pools, what it needs on a device,
 * and which kernels compute a chunk's outputs from its inputs. The engine cuts the batch into
 * chunks that fit each device's memory and distributes them among the devices. It overlaps
 * transfers with the kernels of another chunk, lets kernels work in the caller's memory if
 * possible, and passes a failed device's chunks to the other devices.
 *
 * A batch may consist of groups of elements that are computed alike. The engine processes one group
 * after another, wherever their rows are in the caller's arrays. These arrays are as wide as the
 * widest group needs; the unused end of a narrower group's row is set to 0.
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

/* Consecutive elements of a batch that are computed alike. A chunk never spans two groups. The
 * memory and the time per element may differ between groups. */
typedef struct batch_group {
  size_t end;    /* one past its last element */
  double *rates; /* measured throughput of each member of the context [elements/s], from this call
                    and earlier calls with this group; 0: unknown. Owned by the caller. */
  double each;   /* cost of one element relative to other groups; set by the schedule */
  double behind; /* cost of all later groups; set by the schedule */
} batch_group;

#define BATCH_ARRAYS 48
#define BATCH_BESIDE 64
#define BATCH_ROWS (POOL_BUFFERS - 1) /* the engine's own buffer in the first pool of a slot */

/* Layouts of a chunk's rows in a buffer of a buffer pool. */
typedef enum array_form {
  FORM_ROWS,        /* one row after the other */
  FORM_DUAL_ROWS,   /* each row's values, then its derivatives */
  FORM_DUAL_HALVES, /* the values of all rows, then their derivatives */
  FORM_PLANES       /* component by component; the last row is repeated up to whole granules */
} array_form;

/* One of the caller's arrays, with one row per element of the batch. An array with neither `in` nor
 * `out` only reserves room on the device for kernels to use. */
typedef struct batch_array {
  const char *name;    /* name in error texts */
  const void *in;      /* rows to copy to the device, or NULL; for a state, an abut_state_array */
  void *out;           /* destination of rows read back, or NULL; an abut_state_array for a state */
  abut_memory memory;  /* kind of memory of `in` and `out` */
  size_t width, size;  /* numbers per row, and bytes per number */
  size_t each;         /* if not 0: a row has `each` numbers per unit of its group */
  size_t pool, buffer; /* the device's buffer that holds a chunk's rows */
  array_form form;
  size_t parts;  /* for the dual forms: parts of a number (value and derivatives) */
  size_t part;   /* of duals: 0 values, 1 derivatives; of planes: the first component */
  bool zeros;    /* zeros are used in place of `in` */
  bool in_place; /* kernels may use the caller's memory in place of the buffer */
} batch_array;

/* The buffers of a pool that a chunk uses. */
typedef struct chunk_memory {
  buffer_pool *pool;
  buffer *external[POOL_BUFFERS]; /* the caller's memory in place of the pool's buffer, or NULL */
} chunk_memory;

static inline buffer *memory_buffer(const chunk_memory *m, size_t id)
{
  return m->external[id] ? m->external[id] : m->pool->buffers[id];
}

typedef struct batch_call batch_call;

/* A call in progress on one device of the context. */
typedef struct batch_on {
  batch_call *call;
  device *device;
  size_t place;                             /* the device's index among the context's members */
  size_t bytes[BUFFER_POOLS][POOL_BUFFERS]; /* per element; set by `place` or `enter`, which may
                                               leave out the arrays' bytes */
  bool rows[BUFFER_POOLS][POOL_BUFFERS]; /* kernels access only the rows of elements, so no room is
                                            needed for the rest of a granule; set like `bytes` */
  uint64_t fixed; /* additional bytes per slot, independent of the chunk's size; set like `bytes` */
  size_t most;    /* upper bound on a chunk's elements besides the memory limit; set like `bytes` */
  size_t *mosts;  /* for each group: `most`, reduced to what memory allows */
  size_t granule; /* buffers have room for whole multiples of it; 1 unless set by `place` */
  size_t units[DEVICE_SLOTS];  /* of the slot's group, see batch_array.each; set by `enter` */
  bool straight[DEVICE_SLOTS]; /* the chunk's rows are contiguous in the caller's arrays */
  void *user;                  /* the operation's own data; set by `place` */
  double computed; /* end time, by now(), of what `collect` launched; set by `collect`, or 0 */
  chunk_memory memory[DEVICE_SLOTS][BUFFER_POOLS];
  bool borrows; /* kernels work in the caller's host memory */
  struct host_room {
    void *at;
    size_t bytes;
  } zeros, planes, gathered, staged; /* room for copies */
} batch_on;

/* What is particular to a kind of call: the only table of functions that the engine calls. A NULL
 * member does nothing. The functions of `base` are called first (`leave`: last) with the same
 * arguments, so that similar kinds of calls can share steps. A base has no base of its own. `test`
 * and `launch` must be present in the operation or its base.
 *
 * Order for each device: test, place, enter for each group; then for each chunk enter, upload,
 * launch, ahead, collect and add; leave at the end. */
typedef struct operation operation;
struct operation {
  const operation *base; /* or NULL */
  module_id module;      /* module of its kernels; determines the best chunk size */
  /* Ensures that the member has passed the self-tests that the call depends on. */
  abut_status (*test)(const batch_call *c, size_t place);
  /* Uploads what all chunks use to on->device, and sets sizes. */
  abut_status (*place)(batch_on *on);
  /* Sets the sizes of an element of a group, which are 0 on entry. The slot's next chunk is of this
   * group. If it is NULL, the sizes set by `place` apply. */
  abut_status (*enter)(batch_on *on, size_t slot, size_t group);
  /* Uploads what a chunk needs besides the arrays. */
  abut_status (*upload)(batch_on *on, size_t slot, chunk c);
  /* Launches the kernels that compute the chunk's outputs from its inputs in on->memory[slot]. It
   * may return before they end. */
  abut_status (*launch)(batch_on *on, size_t slot, chunk c);
  /* Enqueues reads, by buffer_read_ahead, of what `collect` reads first. Nothing is launched
   * between this and `collect`. */
  abut_status (*ahead)(batch_on *on, size_t slot, chunk c);
  /* Reads back what a chunk produces besides the arrays, after everything launched has ended. If
   * the amount depends on the chunk's results, it may launch more kernels and wait for them. It
   * must not change the inputs of a chunk that may be repeated. */
  abut_status (*collect)(batch_on *on, size_t slot, chunk c);
  /* Adds a completed chunk to the call's result. Only one thread at a time calls it. */
  void (*add)(batch_on *on, chunk c);
  /* Frees on->user, even if `place` was never called. */
  void (*leave)(batch_on *on);
  /* Resets what `add` has collected, because all chunks will be computed again. */
  void (*again)(batch_call *c);
};

/* A call. The struct of an operation's own call starts with it. */
struct batch_call {
  const operation *operation;
  context *context;
  size_t count; /* elements of the batch */
  batch_array arrays[BATCH_ARRAYS];
  size_t array_count;
  const memory_range *beside; /* host memory of the caller that the call uses besides the arrays, at
                                 most BATCH_BESIDE ranges; or NULL */
  size_t beside_count;
  bool wholes;         /* an output may overlap an input only if both coincide */
  bool borrows;        /* kernels on CPUs may work in host arrays that are `in_place` */
  bool unbounded;      /* the context's bound on chunks does not apply to these elements */
  size_t multiple;     /* all chunks except the last are multiples of this; 0: any size */
  size_t least;        /* a device needs memory for at least this many elements; 0: for one */
  double *rates;       /* see batch_group.rates; unused if there are groups */
  batch_group *groups; /* given if elements differ in the data they are computed from; or NULL */
  size_t group_count;
  const uint32_t *rows; /* with groups: each element's row in the caller's arrays, or NULL */
  state *state;         /* state of arrays marked so, computed by its owning devices; or NULL */
  bool replaces;        /* kernels read and write the same array of a state, row by row */
  abut_progress progress;
  void *progress_user;
  size_t failures;      /* out: devices that failed during the call */
  bool in_place;        /* an output has the same memory as an input */
  pthread_mutex_t lock; /* for `add` */
};

/* Returns an element's row in the caller's arrays. */
static inline size_t batch_row(const batch_call *c, size_t element)
{
  return c->rows ? c->rows[element] : element;
}

/* Resets what chunks have added to a call's result. */
void batch_again(batch_call *c);

/* Adds an array to a call; batch_run refuses more than BATCH_ARRAYS. */
void batch_add(batch_call *c, batch_array a);

/* Runs the whole call, or fails. OpenCL memory that does not belong to the context or is too short,
 * and overlapping outputs are refused before any work starts. */
abut_status batch_run(batch_call *c);

#endif
