/* Batches that ranks of MPI share: the calls of <abut/manifold.h> and <abut/derivatives.h> on a
 * communicator.
 *
 * All ranks call the same function with the same arguments but for what lies in memory. Each has a
 * context, bodies and a pair of its own, and gets blocks of the batch as it gets free. Of each
 * block its source gives the poses and its sink takes the results, on the rank that computes it and
 * on the calling thread; nothing else is sent but counts and errors. Which rank gets which block
 * differs from run to run; what a pose gives does not, to the bit, with devices of one kind.
 *
 * This is a library of its own, libabut_mpi (pkg-config: abut-mpi), of the MPI that it was built
 * with. MPI is the caller's: started before, with MPI_THREAD_SERIALIZED at least where there is
 * more than one rank, because rank 0 answers the others from a thread of its own while it computes.
 * Below MPI_THREAD_MULTIPLE rank 0's sources and sinks must not call MPI. Whatever fails inside MPI
 * during a call ends all ranks.
 *
 * Errors: what fails on one rank, sources and sinks included, stops all, and all return the first
 * such rank's status; abut_last_error() says which one it was ("rank 3: ..."). Sinks then have had
 * some of the blocks. Ranks whose counts, functions or versions of abut differ are refused,
 * ABUT_ERROR_ARGUMENT. A list that is too short is an error as well: it should grow.
 *
 * But what fails while a rank computes is its own where its sink says that it lasts: the other
 * ranks compute what it has been given and has not done, their sinks take it, each pose once, and
 * they return ABUT_SUCCESS; it returns its own status, also as "rank 3: ...". This holds for all
 * but abut_mpi_share, a progress function that says stop, ABUT_ERROR_ARGUMENT and
 * ABUT_ERROR_HANDLE, what fails before the first block, and what fails to be computed by another
 * rank, too. Since statuses may differ then, what ranks do together next must not depend on their
 * own; abut_mpi_agree makes them one.
 *
 * A call makes communicators of its own: it is for batches that take seconds. Kernels that are not
 * kept yet are compiled by one process of each node, for which the others wait (docs/devices.md).
 */
#ifndef ABUT_MPI_H
#define ABUT_MPI_H

#include <abut/derivatives.h>
#include <abut/device.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where poses come from. `read` gives poses first .. first + block->count - 1, and all else that
 * the call reads a row a pose (cotangents, tangents, which pair): it writes them where the batch
 * has them lie, or points the block, which is a copy of the batch with its `progress` and `user`,
 * elsewhere. It returns ABUT_SUCCESS, or any other status, whose text it may set by
 * abut_set_error. */
typedef abut_status (*abut_mpi_read)(void *user, uint64_t first, abut_batch *block);

typedef struct abut_mpi_source {
  uint64_t count; /* of all poses, the same on all ranks; at most INT64_MAX */
  abut_mpi_read read;
  void *user;
} abut_mpi_source;

/* Where results go. `write` finds those of poses first .. first + block->count - 1 in the first
 * rows of the arrays that the call was given. It returns as `read` does. */
typedef abut_status (*abut_mpi_write)(void *user, uint64_t first, const abut_batch *block);

typedef struct abut_mpi_sink {
  abut_mpi_write write;
  void *user;
  bool lasts; /* what it has taken stays, whatever its rank's call returns, as in a file; see
                 Errors */
} abut_mpi_sink;

/* Computes the contacts of all poses of the source, by all ranks of `comm`.
 *
 * batch  `count` is how many rows its arrays have, on each rank: blocks are no larger than the
 * least of these. Arrays lie
 *        in host or OpenCL memory. `rejected` and `failures` are set to the sums over all ranks.
 *        `progress` is called as by
 *        abut_contacts, with the poses that any rank had begun before this block, and what is done
 *        of it */
ABUT_API abut_status abut_mpi_contacts(MPI_Comm comm, abut_pair pair, abut_batch *batch,
                                       const abut_mpi_source *source, const abut_mpi_sink *sink);

/* abut_vjp, abut_jvp, abut_gradient, abut_hessian_product, abut_hessian and abut_jacobian likewise.
 * Arrays have as many rows as batch->count says. */
ABUT_API abut_status abut_mpi_vjp(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                                  abut_batch *batch, const abut_cotangents *cotangents,
                                  const abut_gradients *gradients, const abut_mpi_source *source,
                                  const abut_mpi_sink *sink);
ABUT_API abut_status abut_mpi_jvp(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                                  abut_batch *batch, const abut_pose_tangents *along,
                                  const abut_tangents *tangents, const abut_mpi_source *source,
                                  const abut_mpi_sink *sink);
ABUT_API abut_status abut_mpi_gradient(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                                       abut_batch *batch, abut_reduction reduction,
                                       const abut_gradients *gradients,
                                       const abut_mpi_source *source, const abut_mpi_sink *sink);
ABUT_API abut_status abut_mpi_hessian_product(
  MPI_Comm comm, abut_pair pair, abut_batch *batch, abut_reduction reduction,
  const abut_pose_tangents *along, const abut_gradients *gradients, const abut_gradients *products,
  const abut_mpi_source *source, const abut_mpi_sink *sink);
ABUT_API abut_status abut_mpi_hessian(MPI_Comm comm, abut_pair pair, abut_batch *batch,
                                      abut_reduction reduction, abut_moving moving,
                                      const abut_gradients *gradients, void *hessian,
                                      const abut_mpi_source *source, const abut_mpi_sink *sink);
ABUT_API abut_status abut_mpi_jacobian(MPI_Comm comm, abut_pair pair, abut_pair derivatives,
                                       abut_batch *batch, void *blocks,
                                       const abut_mpi_source *source, const abut_mpi_sink *sink);

/* What any of these does with a block: elements first .. first + count - 1. */
typedef abut_status (*abut_mpi_work)(void *user, uint64_t first, size_t count);

/* Hands out `count` elements of anything, in blocks of at most `most`: other calls of abut, or what
 * is not abut's. `work` returns as abut_mpi_read does. */
ABUT_API abut_status abut_mpi_share(MPI_Comm comm, uint64_t count, size_t most, abut_mpi_work work,
                                    void *user);

/* What all ranks return together: the first rank's status that is not ABUT_SUCCESS, with its text,
 * else ABUT_SUCCESS. For what each does by itself before a call, such as loading bodies: a rank
 * that ended there would leave the others waiting. */
ABUT_API abut_status abut_mpi_agree(MPI_Comm comm, abut_status status);

/* Finds the device that a rank takes for itself where ranks of a node share what it has: GPUs by
 * turns; of a CPU an equal part each, no larger than the cores that this process may run on.
 *
 * choice  for abut_context_def.devices, of which it is one. Where no rank can have a device for
 * itself (the host path, a
 *         driver that divides nothing) it is the default of abut_find_device, whole
 * idle    set to how many compute units of its part it leaves because the launcher bound it to
 * fewer cores (mpirun's
 *         --bind-to none gives them back); or NULL */
ABUT_API abut_status abut_mpi_find_device(MPI_Comm comm, abut_device_choice *choice,
                                          uint32_t *idle);

#ifdef __cplusplus
}
#endif
#endif
