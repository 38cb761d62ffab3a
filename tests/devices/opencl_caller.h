/* A caller with OpenCL objects of its own; arrays in its memory and on the host; calls on them. */
#ifndef ABUT_TESTS_OPENCL_CALLER_H
#define ABUT_TESTS_OPENCL_CALLER_H

#include "support/check.h"
#include <CL/cl.h>

enum { MOST = 389, CALLS = 13, JVP = 2 };

extern abut_precision precision;

typedef struct caller {
  uint32_t index; /* abut's */
  abut_device_info info;
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
} caller;

extern caller me;

bool check_cl(cl_int code, const char *what);

/* The OpenCL device behind an entry of abut_list_devices. False, after a line that says so, where
 * it is not there. */
bool find_device(void);

cl_context new_context(void);
cl_mem new_memory(cl_context context, size_t bytes, const void *from);

typedef struct references {
  cl_uint context, queue;
} references;

/* Once what the queue did is done with: a driver may let go of that a little later. */
references count_references(const references *wanted);

typedef struct world {
  abut_context context;
  abut_pair pair;
  abut_pair pairs[3]; /* it, a narrower one of edges in fields, and a wider one */
} world;

abut_context_def def_of(bool mine, uint32_t chunk);
bool world_open(bool mine, uint32_t chunk, world *w);

enum {
  POSE,
  ALONG = 2,
  BARS = 4,
  TANGENTS = 8,
  GRADIENT = 12,
  PRODUCT = 14,
  OUT = 16,
  ARRAYS = 20
};

/* All arrays of a call, on the host or, as cl_mem, on the device; inputs come first. */
typedef struct arrays {
  size_t count, contacts;
  void *at[ARRAYS];
  size_t bytes[ARRAYS];
  uint8_t status[MOST];
  double reduced[MOST];
  abut_memory memory;
  const abut_pair *pairs; /* three, in turn; or NULL */
  uint32_t pair[MOST];
} arrays;

void host_arrays(arrays *a, size_t count, size_t contacts);
void device_arrays(arrays *a, const arrays *host);

/* Once the contexts are gone: a driver's kernels may hold what they used last, and it may let go of
 * that a little after its last command has ended. */
bool is_held_once(cl_mem memory);

/* Checks, too, that nobody else holds those of OpenCL. */
void free_arrays(arrays *a);

abut_batch batch_of(arrays *a);
abut_status contacts(abut_pair pair, arrays *a, bool reduced);

/* The order of at[] is that of the API: p, d, n, activity. */
abut_status call(abut_pair pair, arrays *a, int which);

#endif
