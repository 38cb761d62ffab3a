/* libabut-mpi.so: see plugin.h. */
#include "mpi/team.h"

static mpi_team team;

static bool begin(const char **why)
{
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) {
    *why = "it does not support MPI_THREAD_SERIALIZED";
    MPI_Finalize();
    return false;
  }
  team_begin(&team, MPI_COMM_WORLD);
  return true;
}

static void finish(void)
{
  team_end(&team);
  MPI_Finalize();
}

static int own_rank(void)
{
  return team_rank(&team);
}

static int all_ranks(void)
{
  return team_size(&team);
}

static int node_rank(void)
{
  return team_node_rank(&team);
}

static int node_size(void)
{
  return team_node_size(&team);
}

static void broadcast(void *bytes, size_t count)
{
  team_broadcast(&team, 0, bytes, count);
}

static void sum(uint64_t *numbers, int count)
{
  team_sum(&team, numbers, count);
}

static void least(uint64_t *numbers, int count)
{
  team_least(&team, numbers, count);
}

static void barrier(void)
{
  team_barrier(&team);
}

static void asking_begin(mpi_answer answer, void *user)
{
  team_asking_begin(&team, answer, user);
}

static void ask(double asked, uint64_t answer[2])
{
  team_ask(&team, asked, answer);
}

static void asking_end(void)
{
  team_asking_end(&team);
}

#if defined(OMPI_MAJOR_VERSION)
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define MPI_NAME \
  "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION)
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
