/* Batches that ranks of MPI share: the calls of <abut/manifold.h> and <abut/derivatives.h> on a
 * communicator.
 *
 * All ranks call the same function with the same arguments, except for the contents of memory. Each
 * rank has its own context, bodies and pair, and gets the next block of the batch when it is free.
 * The source of a block provides its poses, and the sink takes its results. Both run on the rank
 * that computes the block and on the calling thread. Only counts and errors are sent between ranks.
 * The distribution of blocks differs from run to run; the results of a pose do not, to the bit,
 * with devices of one kind.
 *
 * This is a separate library, libabut_mpi (pkg-config: abut-mpi), for the MPI that it was built
 * with. The caller initialises MPI before. With more than one rank it needs at least
 * MPI_THREAD_SERIALIZED, because rank 0 answers the others from a separate thread while it
 * computes. Below MPI_THREAD_MULTIPLE, rank 0's sources and sinks must not call MPI. Any failure
 * inside MPI during a call ends all ranks.
 *
 * Errors: an error on one rank, also in a source or a sink, stops all ranks, and all return the
 * status of the first such rank. abut_last_error() names that rank ("rank 3: ..."). Sinks then have
 * some of the blocks. Ranks whose counts, functions or versions of abut differ are refused,
 * ABUT_ERROR_ARGUMENT. A list that is too short is an error, too: use a list with `grows`.
 *
 * A rank's error while it computes does not stop the others if the rank's sink has `lasts`. The
 * other ranks then compute the blocks that it was given and has not finished, and their sinks take
 * them, each pose once. They return ABUT_SUCCESS; the failed rank returns its own status, also as
 * "rank 3: ...". This holds for all calls except abut_mpi_share. It does not hold for a progress
 * function that stops the call, for ABUT_ERROR_ARGUMENT and ABUT_ERROR_HANDLE, for an error before
 * the first block, and for a block that another rank fails to compute, too. Since statuses may
 * differ, the next collective step of the ranks must not depend on their own status. abut_mpi_agree
 * gives all ranks the same status.
 *
 * A call makes its own communicators: it is meant for batches that take seconds. Kernels that are
 * not cached yet are compiled by one process of each node, and the others wait for it
 * (docs/devices.md).
 */
#ifndef ABUT_MPI_H
#define ABUT_MPI_H

#include <abut/derivatives.h>
#include <abut/device.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Source of poses. `read` provides poses first .. first + block->count - 1, and all other per-pose
 * inputs of the call (cotangents, tangents, pair indices). It either writes them to the arrays of
 * the batch, or points `block` to other arrays. `block` is a copy of the batch with its `progress`
 * and `user`. `read` returns ABUT_SUCCESS, or any other status, whose text it may set by
 * abut_set_error. */
typedef abut_status (*abut_mpi_read)(void *user, uint64_t first, abut_batch *block);

typedef struct abut_mpi_source {
  uint64_t count; /* number of all poses, the same on all ranks; at most INT64_MAX */
  abut_mpi_read read;
  void *user;
} abut_mpi_source;

/* Sink of results. `write` gets the results of poses first .. first + block->count - 1 in the first
 * rows of the arrays that the call was given. It returns as `read` does. */
typedef abut_status (*abut_mpi_write)(void *user, uint64_t first, const abut_batch *block);

typedef struct abut_mpi_sink {
  abut_mpi_write write;
  void *user;
  bool lasts; /* blocks that the sink has taken remain, whatever its rank's call returns, as in a
                 file; see Errors */
} abut_mpi_sink;

/* Computes the contacts of all poses of the source, by all ranks of `comm`.
 *
 * batch  `count` is the number of rows of its arrays, on each rank: blocks are at most the smallest
 *        of these. Arrays are in host or OpenCL memory. `rejected` and `failures` are set to the
 *        sums over all ranks. `progress` is called as by abut_contacts, with the number of poses
 *        that all ranks had begun before this block plus the finished ones of this block */
ABUT_API abut_status abut_mpi_contacts(MPI_Comm comm, abut_pair pair, abut_batch *batch,
                                       const abut_mpi_source *source, const abut_mpi_sink *sink);

/* Computes abut_vjp for all poses of the source, by all ranks of `comm`. Arrays have as many rows
 * as batch->count. All else is as in abut_mpi_contacts. */
ABUT_API abut_status abut_mpi_vjp(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                                  abut_batch *batch, const abut_cotangents *cotangents,
                                  const abut_gradients *gradients, const abut_mpi_source *source,
                                  const abut_mpi_sink *sink);

/* Computes abut_jvp for all poses of the source, as abut_mpi_vjp does for abut_vjp. */
ABUT_API abut_status abut_mpi_jvp(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                                  abut_batch *batch, const abut_pose_tangents *along,
                                  const abut_tangents *tangents, const abut_mpi_source *source,
                                  const abut_mpi_sink *sink);

/* Computes abut_gradient for all poses of the source, as abut_mpi_vjp does for abut_vjp. */
ABUT_API abut_status abut_mpi_gradient(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                                       abut_batch *batch, abut_reduction reduction,
                                       const abut_gradients *gradients,
                                       const abut_mpi_source *source, const abut_mpi_sink *sink);

/* Computes abut_hessian_product for all poses of the source, as abut_mpi_vjp does for abut_vjp. */
ABUT_API abut_status abut_mpi_hessian_product(
  MPI_Comm comm, abut_pair pair, abut_batch *batch, abut_reduction reduction,
  const abut_pose_tangents *along, const abut_gradients *gradients, const abut_gradients *products,
  const abut_mpi_source *source, const abut_mpi_sink *sink);

/* Computes abut_hessian for all poses of the source, as abut_mpi_vjp does for abut_vjp. */
ABUT_API abut_status abut_mpi_hessian(MPI_Comm comm, abut_pair pair, abut_batch *batch,
                                      abut_reduction reduction, abut_moving moving,
                                      const abut_gradients *gradients, void *hessian,
                                      const abut_mpi_source *source, const abut_mpi_sink *sink);

/* Computes abut_jacobian for all poses of the source, as abut_mpi_vjp does for abut_vjp. */
ABUT_API abut_status abut_mpi_jacobian(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                                       abut_batch *batch, void *blocks,
                                       const abut_mpi_source *source, const abut_mpi_sink *sink);

/* Work on a block of a share: elements first .. first + count - 1. */
typedef abut_status (*abut_mpi_work)(void *user, uint64_t first, size_t count);

/* Hands out `count` elements of anything, in blocks of at most `most`, for other calls of abut or
 * for other work. `work` returns as abut_mpi_read does. */
ABUT_API abut_status abut_mpi_share(MPI_Comm comm, uint64_t count, size_t most, abut_mpi_work work,
                                    void *user);

/* Gives all ranks the same status: that of the first rank whose status is not ABUT_SUCCESS, with
 * its text, else ABUT_SUCCESS. It is for steps of each rank before a call, such as loading bodies:
 * a rank that returned early would leave the others waiting. */
ABUT_API abut_status abut_mpi_agree(MPI_Comm comm, abut_status status);

/* Finds a rank's own device on a node whose ranks share the devices. GPUs are assigned in turn.
 * Each rank gets an equal part of a CPU, no larger than the cores that its process may run on.
 *
 * choice  an entry for abut_context_def.devices. If no rank can have its own device (the host path,
 *         or a driver that cannot divide a device), it is the whole default device of
 *         abut_find_device
 * idle    set to the number of compute units of its part that remain unused because the launcher
 *         bound the process to fewer cores (mpirun's --bind-to none frees them); or NULL */
ABUT_API abut_status abut_mpi_find_device(MPI_Comm comm, abut_device_choice *choice,
                                          uint32_t *idle);

#ifdef __cplusplus
}
#endif
#endif
