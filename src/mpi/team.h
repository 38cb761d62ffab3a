/* Ranks that work together on a communicator: what the command's plug-in and the library's calls
 * over MPI need of it.
 *
 * MPI_THREAD_SERIALIZED is enough. Calls wait by testing and sleeping, so that a rank that waits
 * takes no processor from those that compute. Whatever fails inside MPI ends all ranks. */
#ifndef ABUT_MPI_TEAM_H
#define ABUT_MPI_TEAM_H

#include "mpi/plugin.h"

#include <mpi.h>
#include <pthread.h>

typedef struct mpi_team {
  MPI_Comm all, node; /* of its own; node: those that share memory with this one */
  mpi_answer answer;
  void *user;
  pthread_mutex_t turn;
  pthread_t thread;
  bool asks;   /* it is not rank 0 */
  bool serves; /* the thread is there */
} mpi_team;

/* Of all ranks of `comm`, as is team_end. */
void team_begin(mpi_team *team, MPI_Comm comm);
void team_end(mpi_team *team);

int team_rank(const mpi_team *team);
int team_size(const mpi_team *team);
int team_node_rank(const mpi_team *team);
int team_node_size(const mpi_team *team);

/* As those of mpi_plugin. */
void team_broadcast(mpi_team *team, int root, void *bytes, size_t count);
void team_sum(mpi_team *team, uint64_t *numbers, int count);
void team_least(mpi_team *team, uint64_t *numbers, int count);
void team_barrier(mpi_team *team);
void team_asking_begin(mpi_team *team, mpi_answer answer, void *user);
void team_ask(mpi_team *team, double asked, uint64_t answer[2]);
void team_asking_end(mpi_team *team);

#endif
