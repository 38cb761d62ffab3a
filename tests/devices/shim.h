/* OpenCL as the library sees it, with faults that tests order.
 *
 * The shim defines every OpenCL function that the library calls and hands it on to the real one: a
 * program of the library's objects and the shim, without libOpenCL, does not link once the library
 * calls a function that is not here. It also takes the place of malloc, calloc and realloc in those
 * objects (-Wl,--wrap). All of it counts what is called, and what is created and not released.
 */
#ifndef ABUT_TESTS_SHIM_H
#define ABUT_TESTS_SHIM_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

/* Loads the real functions. False where there is no libOpenCL. */
bool shim_open(void);

/* ABUT_TEST_SHARING=off: devices say that they share no memory with the host, as most GPUs do. */
bool shim_shares_memory(void);

/* From now on every device reports that it is a GPU without shared memory, with so many bytes in
 * all and in one buffer. What is already open stays as it is. */
void shim_present_gpu(uint64_t memory, uint64_t allocation);

/* From now on launches are counted but no kernel runs. This is for the counts of calls whose
 * commands do not depend on results. */
void shim_skip_kernels(bool skip);

/* Commands to all queues. */
typedef struct shim_commands {
  long launches;     /* of kernels */
  long reads;        /* that block, of any size */
  long writes;       /* that block, of any size */
  long large_copies; /* reads and writes above SHIM_LARGE bytes that block */
  long markers, flushes;
  uint64_t down, up; /* bytes that reads and writes move */
} shim_commands;

#define SHIM_LARGE ((size_t)64 << 10)

/* Returns what was counted since this was called last. */
shim_commands shim_count_commands(void);

/* Whether what fails may be a call for shared memory, in whose place the device's own does. */
bool shim_has_substitute(const char *call);

/* From now on a device has one context that lasts, and a program is built in it once: opening is
 * cheap. Real faults of building and of letting contexts go are not seen then. */
void shim_keep_builds(void);

/* What is counted. */
typedef enum shim_kind {
  SHIM_CALLS,     /* of OpenCL, but for the next ones */
  SHIM_ARGUMENTS, /* clSetKernelArg, four of five calls */
  SHIM_ALLOCATIONS
} shim_kind;

/* Counts from 1 on what comes of a kind; first .. last of it fail: allocations give NULL, OpenCL
 * calls `code`, out-parameters NULL; what releases does so before it fails. 0, 0: none fails. */
void shim_fail(shim_kind kind, long first, long last, cl_int code);

/* What was counted since; nothing fails any more. */
long shim_stop(void);

/* What was made to fail since counting began, and the first one's name. */
long shim_failed(void);
const char *shim_first_failed(void);

/* Buffers of more bytes cannot be made: `code`. 0: all can. What was refused since. */
long shim_limit_memory(size_t bytes, cl_int code);

/* Devices have so many bytes for buffers, all together, from now on: a buffer beyond that fails
 * with `code`, or, with `late`, every launch while there are more. 0: no bound. */
void shim_bound_memory(size_t bytes, cl_int code, bool late);

/* The most bytes of buffers that lived at once, since this was asked; not borrowed ones. */
size_t shim_most_memory(void);

/* When the last kernel was launched, by now(). */
double shim_launched(void);

typedef enum shim_hang {
  SHIM_HANG_QUEUE, /* kernels of other queues, and copies, go on */
  SHIM_HANG_DEVICE /* nothing that is sent to the device's queues from then on ends */
} shim_hang;

/* What the n-th event callback from now on is told when its event ends. 0: as it is. */
void shim_end_event(long n, cl_int status);

/* The n-th launch of a kernel from now on does not end until shim_end_hang. */
void shim_hang_launch(long n, shim_hang how);

/* Whether that launch has come. */
bool shim_hung(void);

/* While a launch hangs, calls of that name fail with `code`; NULL: none does. */
void shim_fail_while_hung(const char *name, cl_int code);

/* Ends the launch that hangs: with CL_COMPLETE or an error. False where none hangs. */
bool shim_end_hang(cl_int status);

/* OpenCL objects created or retained and not released: contexts, queues, programs, kernels, memory,
 * events. Parts of devices are kept. The name is of the first kind that is not 0, or NULL. */
const char *shim_live(long *count);
void shim_forget_live(void);

#endif
