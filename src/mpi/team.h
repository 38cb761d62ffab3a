/* Ranks that cooperate on a communicator, for the command's plug-in and for the library's calls
 * over MPI.
 *
 * MPI_THREAD_SERIALIZED is sufficient. Calls wait by polling and sleeping, so that a waiting rank
 * takes no processor time from computing ranks. An error inside MPI ends all ranks. */
#ifndef ABUT_MPI_TEAM_H
#define ABUT_MPI_TEAM_H

#include "mpi/plugin.h"

#include <mpi.h>
#include <pthread.h>

typedef struct mpi_team {
  MPI_Comm all, node; /* duplicates; node: the ranks that share memory with this one */
  mpi_answer answer;
  void *user;
  pthread_mutex_t turn;
  pthread_t thread;
  bool asks;   /* this is not rank 0 */
  bool serves; /* the thread is running */
} mpi_team;

/* Collective over all ranks of `comm`, like team_end. */
void team_begin(mpi_team *team, MPI_Comm comm);
void team_end(mpi_team *team);

int team_rank(const mpi_team *team);
int team_size(const mpi_team *team);
int team_node_rank(const mpi_team *team);
int team_node_size(const mpi_team *team);

/* As in mpi_plugin. */
void team_broadcast(mpi_team *team, int root, void *bytes, size_t count);
void team_sum(mpi_team *team, uint64_t *numbers, int count);
void team_least(mpi_team *team, uint64_t *numbers, int count);
void team_barrier(mpi_team *team);
void team_asking_begin(mpi_team *team, mpi_answer answer, void *user);
void team_ask(mpi_team *team, double asked, uint64_t answer[2]);
void team_asking_end(mpi_team *team);

#endif
