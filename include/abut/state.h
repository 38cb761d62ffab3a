/* Arrays that stay on a context's devices.
 *
 * A state is `count` rows of several arrays of reals: poses, gradients, anything that a loop
 * carries from one step to the next. Calls with batch.memory = ABUT_MEMORY_STATE read their poses,
 * tangents and cotangents from it and leave their outputs in it. Many steps then run one after the
 * other, without transfers between host and devices in between:
 *
 *   const size_t widths[] = {7, 7, 7};                 // poses of A, of B, the gradient of B's
 *   abut_state state;     abut_create_state(context, count, widths, 3, NULL, &state);
 *   abut_state_array pose1 = {state, 0}, pose2 = {state, 1}, slope = {state, 2};
 *   abut_write_state(pose1, 0, count, poses_of_a); ...
 *   batch.memory = ABUT_MEMORY_STATE;   batch.pose1 = &pose1;   batch.pose2 = &pose2;
 *   abut_gradients gradients = {NULL, &slope};
 *   for (...) {
 *     abut_gradient(pair, ABUT_SAME_PAIR, &batch, ABUT_REDUCE_SOFT_MINIMUM, &gradients);
 *     abut_combine_state(pose2, 1.0, slope, 0.01);     // pose2 += 0.01 slope
 *   }
 *   abut_read_state(pose2, 0, count, poses_of_b);
 *
 * Owning devices: the rows are divided into ranges of consecutive rows. A device of the context
 * owns each range and does all of its work. Ranges are uploaded when a computation first needs
 * them. A call returns when its kernels are queued. Each device runs them in order, and holds at
 * most two chunks that the host has not waited for. Operations that need the numbers wait: reading
 * and saving, and calls that write to host memory. While a timeline is recorded, all calls wait.
 *
 * Failures: the host keeps a copy of the state as it was last saved (abut_save_state). Writing from
 * the host counts as saving if nothing has been computed since the last copy. If a device fails,
 * the current values of its rows are lost. Rows of different steps would be a wrong result, so all
 * rows return to the copy together. The call then returns ABUT_ERROR_STATE, whose text names the
 * device and how far back the copy is; `changes` of abut_get_state_info is the same in numbers. The
 * caller continues from there, on the remaining devices, or on the host path if the context has
 * none and permits it. If nothing was computed since the copy, nothing is lost: the call repeats
 * its work on the other devices and succeeds. Without any remaining device, the copy can still be
 * read. After any other error the arrays that the call writes are undefined, and all others
 * unchanged.
 *
 * Results do not depend, to the bit, on the distribution of ranges over devices of one kind. They
 * also equal the results of the same calls with arrays in host memory.
 *
 * A state belongs to one context: its reals have the context's precision, and it is destroyed with
 * the context. Errors of all functions here: ABUT_ERROR_HANDLE for a state that does not exist,
 * ABUT_ERROR_ARGUMENT for arrays and rows that do not exist, or for arrays of another width than a
 * call needs. The text says which.
 */
#ifndef ABUT_STATE_H
#define ABUT_STATE_H

#include <abut/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of arrays of a state. */
#define ABUT_STATE_ARRAYS_MOST 64

typedef struct abut_state {
  uint32_t index, generation;
} abut_state;

/* One array of a state. A batch with memory = ABUT_MEMORY_STATE has pointers to these instead of
 * pointers to arrays: in pose1, pose2, all outputs of contacts and the reductions, and in the
 * cotangents, tangents and gradients of the same call. They need to last only until the call
 * returns. */
typedef struct abut_state_array {
  abut_state state;
  uint32_t array; /* index of the array, from 0 */
} abut_state_array;

typedef struct abut_state_info {
  size_t count, arrays;
  uint64_t changes; /* number of calls since creation that have computed into the state, or
                       written to it after such calls; returns to `saved` when the state returns
                       to the copy */
  uint64_t saved;   /* `changes` when the host's copy was made */
  size_t ranges;    /* 0: on no device, and only the copy exists */
} abut_state_info;

/* Makes a state whose numbers are all 0. Nothing is uploaded to a device yet.
 *
 * count    rows; a batch that uses the state must have as many
 * widths   (arrays) reals in a row of each: 6 or 7 for poses, 1 for a reduction, 3 C for p, ...
 * parts    (devices of the context, by abut_context_devices) relative size of each device's part of
 *          the rows, not negative and not all 0: for example measured throughput. NULL: equal parts
 * Errors: ABUT_ERROR_ARGUMENT for no arrays, too many, or a width of 0; ABUT_ERROR_MEMORY.
 */
ABUT_API abut_status abut_create_state(abut_context context, size_t count, const size_t *widths,
                                       size_t arrays, const double *parts, abut_state *state);

/* Destroys a state and frees its arrays on the host and on the devices. */
ABUT_API abut_status abut_destroy_state(abut_state state);

/* Gets the sizes, changes and ranges of a state. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_state_info(abut_state state, abut_state_info *info);

/* Copies `rows` rows, from row `first` on, from host memory (real (rows, width)) into an array. */
ABUT_API abut_status abut_write_state(abut_state_array array, size_t first, size_t rows,
                                      const void *from);

/* Copies `rows` rows, from row `first` on, from an array into host memory (real (rows, width)). The
 * call waits for all earlier computations. ABUT_ERROR_STATE leaves `to` undefined. */
ABUT_API abut_status abut_read_state(abut_state_array array, size_t first, size_t rows, void *to);

/* Copies all arrays to the host's copy, to which failures return from now on. If a device fails
 * during the call, the state returns to the copy before. */
ABUT_API abut_status abut_save_state(abut_state state);

/* Returns the state to the host's copy. */
ABUT_API abut_status abut_restore_state(abut_state state);

/* ---- computations on the devices ----
 *
 * Each is one kernel over all rows; all arrays are of one state, and may be the same. */

/* Computes y <- a x + b y, rounded once after b y. If b is 0, y is not read. x is as wide as y; a
 * and b are finite. */
ABUT_API abut_status abut_combine_state(abut_state_array y, double b, abut_state_array x, double a);

/* Computes y <- x z, number by number. x is as wide as y; z is as wide as y, or has one number per
 * row. */
ABUT_API abut_status abut_multiply_state(abut_state_array y, abut_state_array x,
                                         abut_state_array z);

/* Computes y <- x in the rows with left > right. Both have one number per row; a NaN is not
 * greater. */
ABUT_API abut_status abut_choose_state(abut_state_array y, abut_state_array x,
                                       abut_state_array left, abut_state_array right);

/* Computes y <- w x / sqrt(sum of w x^2) in each row; 0 if that sum is not above 0. With a gradient
 * as x this is the direction of steepest ascent, if a step of length s along number k counts as s /
 * sqrt(w[k]). Rotation and translation can so be weighted against each other. All arrays are as
 * wide as y. */
ABUT_API abut_status abut_steepest_state(abut_state_array y, abut_state_array x,
                                         abut_state_array w);

#ifdef __cplusplus
}
#endif
#endif
