/* Arrays that stay on a context's devices.
 *
 * A state is `count` rows of several arrays of reals: poses, gradients, whatever a loop carries
 * from one step to the next. Calls with batch.memory = ABUT_MEMORY_STATE take their poses, tangents
 * and cotangents from it and leave their outputs in it, so that many steps run one behind the other
 * with nothing going up to the devices or down to the host in between:
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
 * Owning devices: the rows are divided into ranges of consecutive ones, and each range is owned by
 * a device of the context, which does all that concerns it. Ranges come there when a computation
 * first needs them. A call returns when its kernels are on their way: each device does them in
 * order, and holds at most two chunks that the host has not waited for. What must know the numbers
 * waits: reading and saving, and calls that give anything to host memory. While a timeline is
 * recorded all wait.
 *
 * Failures: the host keeps a copy of the state as it was when it was saved last (abut_save_state).
 * Writing from the host counts as saved as long as nothing has been computed since. Where a device
 * fails, the rows that it owned are lost as they are now; rows of different steps would
 * be a wrong answer, so all of them go back to the copy, together, and the call returns
 * ABUT_ERROR_STATE, whose text names the device and says how far back that is; `changes` of
 * abut_get_state_info says it in numbers. The caller goes on from there, on the devices that are
 * left, or on the host path where the context has none and allows it. If nothing had been computed
 * since the copy was made, nothing is lost: the call does its work again on the other devices, and
 * succeeds. Without any device left, the copy can still be read.
 * After any other error the arrays that the call writes are undefined, all others as they were.
 *
 * Results do not depend, to the bit, on how ranges lie on devices of one kind; nor do they differ
 * from those of the same calls with arrays in host memory.
 *
 * A state is of one context, in whose precision its reals are, and goes with it. Of all functions
 * here: ABUT_ERROR_HANDLE for a state that is not there, ABUT_ERROR_ARGUMENT for arrays and rows
 * that are not, or for a call's arrays of other widths than it needs; the text says which.
 */
#ifndef ABUT_STATE_H
#define ABUT_STATE_H

#include <abut/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most arrays of a state. */
#define ABUT_STATE_ARRAYS_MOST 64

typedef struct abut_state {
  uint32_t index, generation;
} abut_state;

/* One array of a state. A batch with memory = ABUT_MEMORY_STATE has pointers to these where
 * otherwise arrays lie: in pose1, pose2, all outputs of contacts and the reductions, and in the
 * cotangents, tangents and gradients of the same call. They need last only until the call
 * returns. */
typedef struct abut_state_array {
  abut_state state;
  uint32_t array; /* its number, from 0 */
} abut_state_array;

typedef struct abut_state_info {
  size_t count, arrays;
  uint64_t changes; /* calls that have computed into it, or written to it after such, since it was
                       created; back to `saved` when it goes back to the copy */
  uint64_t saved;   /* `changes` when the host's copy was made */
  size_t ranges;    /* 0: not on any device, now that the copy is all there is of it */
} abut_state_info;

/* Makes a state whose numbers are all 0. Nothing is put on a device yet.
 *
 * count    rows; a batch that uses the state must have as many
 * widths   (arrays) reals in a row of each: 6 or 7 for poses, 1 for a reduction, 3 C for p, ...
 * parts    (devices of the context, by abut_context_devices) how large each one's part of the rows
 *          is, relative to the others', not negative and not all 0: measured throughput, say. NULL:
 *          equal parts
 * Errors: ABUT_ERROR_ARGUMENT for no arrays, too many, or a width of 0; ABUT_ERROR_MEMORY.
 */
ABUT_API abut_status abut_create_state(abut_context context, size_t count, const size_t *widths,
                                       size_t arrays, const double *parts, abut_state *state);
ABUT_API abut_status abut_destroy_state(abut_state state);

/* Says what a state holds. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_state_info(abut_state state, abut_state_info *info);

/* Copies `rows` rows, from `first` on, between host memory (real (rows, width)) and an array.
 * Reading waits for all that was computed before. ABUT_ERROR_STATE leaves `to` undefined. */
ABUT_API abut_status abut_write_state(abut_state_array array, size_t first, size_t rows,
                                      const void *from);
ABUT_API abut_status abut_read_state(abut_state_array array, size_t first, size_t rows, void *to);

/* Brings all arrays down into the host's copy, to which failures will lead back from now on. Where
 * a device fails meanwhile, the copy before it is what the state goes back to. */
ABUT_API abut_status abut_save_state(abut_state state);

/* Goes back to the host's copy. */
ABUT_API abut_status abut_restore_state(abut_state state);

/* ---- computations on the devices ----
 *
 * Each is one kernel over all rows; all arrays are of one state, and may be the same. */

/* y <- a x + b y, rounded once after b y; where b is 0, y is not read. x is as wide as y; a and b
 * are finite. */
ABUT_API abut_status abut_combine_state(abut_state_array y, double b, abut_state_array x, double a);

/* y <- x z, number by number. x is as wide as y; z is, too, or has one number a row. */
ABUT_API abut_status abut_multiply_state(abut_state_array y, abut_state_array x,
                                         abut_state_array z);

/* y <- x in the rows where left > right, which have one number each; a NaN is not greater. */
ABUT_API abut_status abut_choose_state(abut_state_array y, abut_state_array x,
                                       abut_state_array left, abut_state_array right);

/* y <- w x / sqrt(sum of w x^2) in each row; 0 where that sum is not above 0. With a gradient as x
 * this is the way up of least length, if a step of length s along number k counts as
 * s / sqrt(w[k]): turning and shifting can so be weighed against each other. All are as wide as
 * y. */
ABUT_API abut_status abut_steepest_state(abut_state_array y, abut_state_array x,
                                         abut_state_array w);

#ifdef __cplusplus
}
#endif
#endif
