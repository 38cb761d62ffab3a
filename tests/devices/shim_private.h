/* What the shim's OpenCL functions ask before they hand a call on. */
#ifndef ABUT_TESTS_SHIM_PRIVATE_H
#define ABUT_TESTS_SHIM_PRIVATE_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

/* Of objects. */
enum { CONTEXT, QUEUE, PROGRAM, KERNEL, MEMORY, SHARED, EVENT, KINDS };

/* Whether this call is to fail: with `code`. */
bool shim_fails(const char *name, cl_int *code);

/* Whether a buffer of so many bytes is too large by itself. */
bool shim_too_much(size_t bytes, cl_int *code);

/* Whether there is no room for so many bytes more; 0: whether a launch has too little. */
bool shim_overfull(size_t bytes, cl_int *code);

void shim_count_live(int kind, long change);

/* Replaces a device's answer by that of the GPU that it is presented as, if it is. `room` is that
 * of `to`. */
void shim_answer_as_gpu(cl_device_info what, size_t room, void *to);

/* Counts a command. Of copies: the direction, whether they block, and their bytes. */
typedef enum shim_command {
  SHIM_LAUNCH,
  SHIM_MARKER,
  SHIM_FLUSH,
  SHIM_READ,
  SHIM_WRITE,
  SHIM_COPY /* on the device, not counted */
} shim_command;
void shim_count_command(shim_command what, bool blocks, size_t bytes);

/* Whether kernels do not run. */
bool shim_skips_kernels(void);

/* A cl_mem, or shared memory, that lives from here to there. */
void shim_add_memory(void *object, size_t bytes);
void shim_forget_memory(const void *object);

/* The function that is called behind the library's back, as a pointer's bytes. */
void shim_find(const char *name, void *function);

/* What a command must wait for: nothing, or the event that ends the hang. */
cl_event *shim_waits_for(cl_command_queue queue, bool launch, cl_event *event);

#endif
