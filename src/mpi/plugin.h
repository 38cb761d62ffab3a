/* The MPI functions that libabut-mpi.so provides to the command, as a table of functions. The
 * command loads the file only when a launcher has started it as one of several ranks, so neither
 * the command nor the library is linked to MPI. An error inside MPI ends all ranks. MPI is started
 * with MPI_THREAD_SERIALIZED; team.h describes how ranks wait. */
#ifndef ABUT_MPI_PLUGIN_H
#define ABUT_MPI_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MPI_PLUGIN_FORMAT 1
#define MPI_PLUGIN_NAME "libabut-mpi.so"
#define MPI_PLUGIN_SYMBOL "abut_mpi_plugin"

/* Computes rank 0's answer to a rank that asks for more work. Called by one thread at a time, not
 * always the same one. */
typedef void (*mpi_answer)(void *user, int rank, double asked, uint64_t answer[2]);

typedef struct mpi_plugin {
  uint32_t format;  /* MPI_PLUGIN_FORMAT; the members below are valid only if it is the same */
  const char *abut; /* version of abut that it was built with */
  const char *mpi;  /* version of MPI that it was built with */
  /* Starts MPI. Returns false, and the reason in *why, if MPI lacks what is needed. */
  bool (*begin)(const char **why);
  int (*rank)(void);
  int (*size)(void);
  /* The same among the ranks of this node, which share memory. */
  int (*node_rank)(void);
  int (*node_size)(void);
  /* Collective calls, in the same order on each rank. */
  void (*broadcast)(void *bytes, size_t count); /* from rank 0 */
  void (*sum)(uint64_t *numbers, int count);
  void (*least)(uint64_t *numbers, int count); /* minimum of numbers up to INT64_MAX */
  void (*barrier)(void);
  /* Between begin and end each rank may ask rank 0, which answers from a separate thread while it
   * computes. No other call is allowed in between. end waits for all ranks. */
  void (*asking_begin)(mpi_answer answer, void *user);
  void (*ask)(double asked, uint64_t answer[2]);
  void (*asking_end)(void);
  void (*finish)(void);
} mpi_plugin;

#endif
