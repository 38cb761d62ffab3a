#include "mpi/team.h"

#include <signal.h>
#include <time.h>

#define TAG_ASK 1
#define TAG_ANSWER 2
#define TAG_END 3
/* Number of tests before the first sleep, and the length of sleeps [ns]. */
#define EAGER_TESTS 100
#define SLEEP_FIRST 20000
#define SLEEP_MOST 1000000
/* Each poll wakes a core that rank 0 computes on. A delay of a millisecond is small compared with a
 * block. */
#define SERVE_EVERY 1000000
#define BROADCAST_MOST ((size_t)1 << 30)

static void sleep_for(long nanoseconds)
{
  nanosleep(&(struct timespec){0, nanoseconds}, NULL);
}

static void wait_for(MPI_Request *request)
{
  long pause = SLEEP_FIRST;
  int done = 0;
  for (int i = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done; ++i) {
    if (i > EAGER_TESTS) {
      sleep_for(pause);
      pause = 2 * pause < SLEEP_MOST ? 2 * pause : SLEEP_MOST;
    }
  }
}

/* ---- start and end ---- */

void team_begin(mpi_team *team, MPI_Comm comm)
{
  *team = (mpi_team){.all = MPI_COMM_NULL, .node = MPI_COMM_NULL};
  pthread_mutex_init(&team->turn, NULL);
  MPI_Comm_dup(comm, &team->all);
  /* If the caller's own error handler returned, the other ranks would wait forever. */
  MPI_Comm_set_errhandler(team->all, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_split_type(team->all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &team->node);
}

void team_end(mpi_team *team)
{
  MPI_Comm_free(&team->node);
  MPI_Comm_free(&team->all);
  pthread_mutex_destroy(&team->turn);
}

static int rank_of(MPI_Comm comm)
{
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static int size_of(MPI_Comm comm)
{
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

int team_rank(const mpi_team *team)
{
  return rank_of(team->all);
}

int team_size(const mpi_team *team)
{
  return size_of(team->all);
}

int team_node_rank(const mpi_team *team)
{
  return rank_of(team->node);
}

int team_node_size(const mpi_team *team)
{
  return size_of(team->node);
}

/* ---- collective calls ---- */

void team_broadcast(mpi_team *team, int root, void *bytes, size_t count)
{
  for (char *at = bytes; count;) {
    const size_t now = count < BROADCAST_MOST ? count : BROADCAST_MOST;
    MPI_Request request;
    MPI_Ibcast(at, (int)now, MPI_BYTE, root, team->all, &request);
    wait_for(&request);
    at += now;
    count -= now;
  }
}

static void reduce(mpi_team *team, uint64_t *numbers, int count, MPI_Op op)
{
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, numbers, count, MPI_UINT64_T, op, team->all, &request);
  wait_for(&request);
}

void team_sum(mpi_team *team, uint64_t *numbers, int count)
{
  reduce(team, numbers, count, MPI_SUM);
}

void team_least(mpi_team *team, uint64_t *numbers, int count)
{
  reduce(team, numbers, count, MPI_MIN);
}

void team_barrier(mpi_team *team)
{
  MPI_Request request;
  MPI_Ibarrier(team->all, &request);
  wait_for(&request);
}

/* ---- asking ---- */

static void answer_one(mpi_team *team, int rank, double asked, uint64_t answer[2])
{
  pthread_mutex_lock(&team->turn);
  team->answer(team->user, rank, asked, answer);
  pthread_mutex_unlock(&team->turn);
}

/* Uses messages instead of MPI_Fetch_and_op: with some transports a window at rank 0 needs rank 0's
 * participation too, and the pt2pt windows of Open MPI 4 refuse multithreaded programs. */
static void *serve(void *of)
{
  mpi_team *team = of;
  const int others = team_size(team) - 1;
  long pause = SLEEP_FIRST;
  for (int ended = 0; ended < others;) {
    int there = 0;
    MPI_Status from;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, team->all, &there, &from);
    if (!there) {
      sleep_for(pause);
      pause = 2 * pause < SERVE_EVERY ? 2 * pause : SERVE_EVERY;
      continue;
    }
    pause = SLEEP_FIRST; /* a rank with small blocks asks again soon */
    double asked = 0.0;
    uint64_t answer[2];
    MPI_Recv(&asked, 1, MPI_DOUBLE, from.MPI_SOURCE, from.MPI_TAG, team->all, MPI_STATUS_IGNORE);
    if (from.MPI_TAG == TAG_END) {
      ++ended;
      continue;
    }
    answer_one(team, from.MPI_SOURCE, asked, answer);
    MPI_Send(answer, 2, MPI_UINT64_T, from.MPI_SOURCE, TAG_ANSWER, team->all);
  }
  return NULL;
}

/* A single rank needs no thread. If no thread can be created, rank 0 only serves the others, which
 * then do all the work. */
void team_asking_begin(mpi_team *team, mpi_answer answer, void *user)
{
  sigset_t every, before;
  team->answer = answer;
  team->user = user;
  team->asks = team_rank(team) != 0;
  team->serves = false;
  if (team->asks || team_size(team) == 1) {
    return;
  }
  sigfillset(&every); /* signals are handled by the program's own threads */
  pthread_sigmask(SIG_SETMASK, &every, &before);
  team->serves = pthread_create(&team->thread, NULL, serve, team) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!team->serves) {
    serve(team);
  }
}

void team_ask(mpi_team *team, double asked, uint64_t answer[2])
{
  if (!team->asks) {
    answer_one(team, 0, asked, answer);
    return;
  }
  MPI_Request request;
  MPI_Irecv(answer, 2, MPI_UINT64_T, 0, TAG_ANSWER, team->all, &request);
  MPI_Send(&asked, 1, MPI_DOUBLE, 0, TAG_ASK, team->all);
  wait_for(&request);
}

void team_asking_end(mpi_team *team)
{
  const double nothing = 0.0;
  if (team->serves) {
    pthread_join(team->thread, NULL);
  }
  if (team->asks) {
    MPI_Send(&nothing, 1, MPI_DOUBLE, 0, TAG_END, team->all);
  }
}
