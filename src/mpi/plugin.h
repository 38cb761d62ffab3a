/* What libabut-mpi.so gives the command: the few things that it needs of MPI, as a table of
 * functions. The command opens the file when a launcher has started it as one of several ranks, so
 * that neither it nor the library is linked to MPI. Whatever fails inside MPI ends all ranks. MPI
 * is started for MPI_THREAD_SERIALIZED; team.h says how ranks wait. */
#ifndef ABUT_MPI_PLUGIN_H
#define ABUT_MPI_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MPI_PLUGIN_FORMAT 1
#define MPI_PLUGIN_NAME "libabut-mpi.so"
#define MPI_PLUGIN_SYMBOL "abut_mpi_plugin"

/* What rank 0 answers a rank that asks for more; by one thread at a time, not always the same. */
typedef void (*mpi_answer)(void *user, int rank, double asked, uint64_t answer[2]);

typedef struct mpi_plugin {
  uint32_t format;  /* MPI_PLUGIN_FORMAT; what follows is as here where it is the same */
  const char *abut; /* version of the abut that it is built with */
  const char *mpi;  /* and of the MPI */
  /* Starts MPI. false: it cannot do what is needed, and *why says what. */
  bool (*begin)(const char **why);
  int (*rank)(void);
  int (*size)(void);
  /* The same among the ranks that share memory, which are those of a node. */
  int (*node_rank)(void);
  int (*node_size)(void);
  /* Of all ranks, in the same order on each. */
  void (*broadcast)(void *bytes, size_t count); /* of rank 0 */
  void (*sum)(uint64_t *numbers, int count);
  void (*least)(uint64_t *numbers, int count); /* of numbers up to INT64_MAX */
  void (*barrier)(void);
  /* Between begin and end each rank asks rank 0, which answers from a thread of its own while it
   * computes. No other call in between. end waits until all ranks are there. */
  void (*asking_begin)(mpi_answer answer, void *user);
  void (*ask)(double asked, uint64_t answer[2]);
  void (*asking_end)(void);
  void (*finish)(void);
} mpi_plugin;

#endif
