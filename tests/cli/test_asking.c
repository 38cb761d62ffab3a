/* Rank 0 answers while it computes: test_asking PLUGIN, as one of several ranks. It calls nothing
 * of MPI meanwhile. */
#include "mpi/plugin.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define ASKED 200
#define PATIENCE 30.0 /* [s] */

static atomic_int answered;

static void answer(void *user, int rank, double asked, uint64_t out[2])
{
  (void)user;
  out[0] = (uint64_t)rank;
  out[1] = (uint64_t)asked;
  atomic_fetch_add(&answered, 1);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Until all others have their answers, without any call. */
static int compute(int others)
{
  volatile double sum = 0.0;
  const double start = now();
  while (atomic_load(&answered) < ASKED * others && now() - start < PATIENCE) {
    for (int i = 0; i < 100000; ++i) {
      sum = sum + 1.0;
    }
  }
  return atomic_load(&answered) == ASKED * others;
}

static int ask(const mpi_plugin *mpi)
{
  int good = 1;
  for (int i = 0; i < ASKED; ++i) {
    uint64_t out[2] = {0, 0};
    mpi->ask(i, out);
    good = good && out[0] == (uint64_t)mpi->rank() && out[1] == (uint64_t)i;
  }
  return good;
}

int main(int argc, char **argv)
{
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  const mpi_plugin *mpi = library ? dlsym(library, MPI_PLUGIN_SYMBOL) : NULL;
  const char *why = "";
  if (!mpi || !mpi->begin(&why)) {
    fprintf(stderr, "%s: %s\n", argc == 2 ? argv[1] : "which plug-in?", mpi ? why : dlerror());
    return 1;
  }
  const int rank = mpi->rank(), size = mpi->size();
  mpi->asking_begin(answer, NULL);
  const int good = rank == 0 ? compute(size - 1) : ask(mpi);
  mpi->asking_end();
  uint64_t numbers[2] = {(uint64_t)good, (uint64_t)rank},
           smallest = rank == 1 ? 3 : (uint64_t)INT64_MAX, first = (uint64_t)rank + 5;
  mpi->sum(numbers, 2);
  mpi->least(&smallest, 1);
  mpi->broadcast(&first, sizeof first);
  const int right = numbers[1] == (uint64_t)(size * (size - 1) / 2) && smallest == 3 &&
                    first == 5 && mpi->node_size() >= 1 && mpi->node_rank() < mpi->node_size();
  mpi->barrier();
  mpi->finish();
  if (rank == 0) {
    printf("%d of %d ranks asked and were answered while rank 0 computed\n", (int)numbers[0], size);
  }
  return size < 2 || numbers[0] != (uint64_t)size || !right;
}
