/* The most float32 multiply-adds that this machine's cores do, with the widest vectors the compiler
 * has: what fractions of peak in docs/benchmarks/speed.md refer to. Prints GFLOP/s of one thread
 * and of `threads` together.
 *
 *   peak [THREADS]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LANES 16
#define CHAINS 12 /* independent sums, to fill the pipes' latency */
#define STEPS 40000000L

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *out)
{
  lanes sum[CHAINS], factor, step;
  for (int i = 0; i < LANES; ++i) {
    factor[i] = 0.999f + 1e-4f * (float)i;
    step[i] = 1e-3f;
  }
  for (int k = 0; k < CHAINS; ++k) {
    sum[k] = step * (float)(k + 1);
  }
  for (long n = 0; n < STEPS; ++n) {
    for (int k = 0; k < CHAINS; ++k) {
      sum[k] = sum[k] * factor + step;
    }
  }
  float total = 0.0f;
  for (int k = 0; k < CHAINS; ++k) {
    for (int i = 0; i < LANES; ++i) {
      total += sum[k][i];
    }
  }
  *(volatile float *)out = total;
  return NULL;
}

static double gflops(int threads)
{
  pthread_t *ids = calloc((size_t)threads, sizeof *ids);
  float *out = calloc((size_t)threads, sizeof *out);
  double best = 0.0;
  for (int round = 0; ids && out && round < 3; ++round) {
    const double start = now();
    int started = 0;
    while (started < threads && !pthread_create(&ids[started], NULL, work, &out[started])) {
      ++started;
    }
    for (int i = 0; i < started; ++i) {
      pthread_join(ids[i], NULL);
    }
    const double rate = 2e-9 * LANES * CHAINS * (double)STEPS * started / (now() - start);
    best = rate > best ? rate : best;
  }
  free(ids);
  free(out);
  return best;
}

int main(int argc, char **argv)
{
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  printf("one thread: %.1f GFLOP/s\n", gflops(1));
  printf("%d threads: %.1f GFLOP/s\n", threads, gflops(threads));
  return threads < 1;
}
