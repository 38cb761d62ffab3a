/* libabut-mpi.so: see plugin.h. */
#include "mpi/plugin.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define TAG_ASK 1
#define TAG_ANSWER 2
#define TAG_END 3
/* Tests before the first sleep, and how long sleeps are [ns]. */
#define EAGER_TESTS 100
#define SLEEP_FIRST 20000
#define SLEEP_MOST 1000000
#define SERVE_EVERY 200000
#define BROADCAST_MOST ((size_t)1 << 30)

static MPI_Comm all = MPI_COMM_NULL, node = MPI_COMM_NULL;

static struct {
  mpi_answer answer;
  void *user;
  pthread_mutex_t turn;
  pthread_t thread;
} asking = {.turn = PTHREAD_MUTEX_INITIALIZER};

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

static bool begin(const char **why)
{
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) {
    *why = "it has no MPI_THREAD_SERIALIZED";
    MPI_Finalize();
    return false;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  return true;
}

static void finish(void)
{
  MPI_Comm_free(&node);
  MPI_Comm_free(&all);
  MPI_Finalize();
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

static int own_rank(void)
{
  return rank_of(all);
}

static int all_ranks(void)
{
  return size_of(all);
}

static int node_rank(void)
{
  return rank_of(node);
}

static int node_size(void)
{
  return size_of(node);
}

/* ---- of all ranks ---- */

static void broadcast(void *bytes, size_t count)
{
  for (char *at = bytes; count;) {
    const size_t now = count < BROADCAST_MOST ? count : BROADCAST_MOST;
    MPI_Request request;
    MPI_Ibcast(at, (int)now, MPI_BYTE, 0, all, &request);
    wait_for(&request);
    at += now;
    count -= now;
  }
}

static void reduce(uint64_t *numbers, int count, MPI_Op op)
{
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, numbers, count, MPI_UINT64_T, op, all, &request);
  wait_for(&request);
}

static void sum(uint64_t *numbers, int count)
{
  reduce(numbers, count, MPI_SUM);
}

static void least(uint64_t *numbers, int count)
{
  reduce(numbers, count, MPI_MIN);
}

static void barrier(void)
{
  MPI_Request request;
  MPI_Ibarrier(all, &request);
  wait_for(&request);
}

/* ---- asking ---- */

/* By messages, not by MPI_Fetch_and_op: a window at rank 0 needs its help as well with some transports, and Open MPI 4's
 * pt2pt windows refuse programs of several threads. */
static void *serve(void *unused)
{
  const int others = all_ranks() - 1;
  (void)unused;
  for (int ended = 0; ended < others;) {
    int there = 0;
    MPI_Status from;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, all, &there, &from);
    if (!there) {
      sleep_for(SERVE_EVERY);
      continue;
    }
    double asked = 0.0;
    uint64_t answer[2];
    MPI_Recv(&asked, 1, MPI_DOUBLE, from.MPI_SOURCE, from.MPI_TAG, all, MPI_STATUS_IGNORE);
    if (from.MPI_TAG == TAG_END) {
      ++ended;
      continue;
    }
    pthread_mutex_lock(&asking.turn);
    asking.answer(asking.user, from.MPI_SOURCE, asked, answer);
    pthread_mutex_unlock(&asking.turn);
    MPI_Send(answer, 2, MPI_UINT64_T, from.MPI_SOURCE, TAG_ANSWER, all);
  }
  return NULL;
}

static void asking_begin(mpi_answer answer, void *user)
{
  sigset_t every, before;
  asking.answer = answer;
  asking.user = user;
  if (own_rank() != 0) {
    return;
  }
  sigfillset(&every); /* signals are the command's */
  pthread_sigmask(SIG_SETMASK, &every, &before);
  if (pthread_create(&asking.thread, NULL, serve, NULL) != 0) {
    MPI_Abort(all, 1);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void ask(double asked, uint64_t answer[2])
{
  if (own_rank() == 0) {
    pthread_mutex_lock(&asking.turn);
    asking.answer(asking.user, 0, asked, answer);
    pthread_mutex_unlock(&asking.turn);
    return;
  }
  MPI_Request request;
  MPI_Irecv(answer, 2, MPI_UINT64_T, 0, TAG_ANSWER, all, &request);
  MPI_Send(&asked, 1, MPI_DOUBLE, 0, TAG_ASK, all);
  wait_for(&request);
}

static void asking_end(void)
{
  const double nothing = 0.0;
  if (own_rank() == 0) {
    pthread_join(asking.thread, NULL);
  } else {
    MPI_Send(&nothing, 1, MPI_DOUBLE, 0, TAG_END, all);
  }
}

#if defined(OMPI_MAJOR_VERSION)
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define MPI_NAME "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION)
#elif defined(MPICH_VERSION)
#define MPI_NAME "MPICH " MPICH_VERSION
#else
#define MPI_NAME "an MPI"
#endif

extern const mpi_plugin abut_mpi_plugin;
__attribute__((visibility("default"))) const mpi_plugin abut_mpi_plugin = {
  .format = MPI_PLUGIN_FORMAT,
  .abut = ABUT_VERSION,
  .mpi = MPI_NAME,
  .begin = begin,
  .rank = own_rank,
  .size = all_ranks,
  .node_rank = node_rank,
  .node_size = node_size,
  .broadcast = broadcast,
  .sum = sum,
  .least = least,
  .barrier = barrier,
  .asking_begin = asking_begin,
  .ask = ask,
  .asking_end = asking_end,
  .finish = finish,
};
