/* What programs of benchmarks share: an end with a cause, memory, a clock. */
#ifndef ABUT_BENCH_SUPPORT_H
#define ABUT_BENCH_SUPPORT_H

#include <abut/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void stop(const char *what, long code)
{
  fprintf(stderr, "%s: %ld %s\n", what, code, abut_last_error());
  exit(1);
}

static inline void good(const char *what, long code)
{
  if (code) {
    stop(what, code);
  }
}

static inline void *room(size_t count, size_t size)
{
  void *memory = calloc(count, size);
  if (!memory) {
    stop("memory", 0);
  }
  return memory;
}

/* Seconds. */
static inline double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
