/* What `bench` times, and on which poses. */
#ifndef ABUT_CLI_BENCH_H
#define ABUT_CLI_BENCH_H

#include "cli.h"

/* 1024 poses around touching, the same on every machine up to rounding. abut_free_poses frees them.
 * Both bodies get a random rotation; body 2 lies in a random direction, so far that the farthest
 * mesh points along it meet, less or more by up to 5 % of the smaller body's diagonal. */
exit_code random_poses(const abut_body bodies[2], abut_poses *out);

typedef struct bench_result {
  double median, least; /* [s] a call */
} bench_result;

/* One warm-up call, then calls for half a second and at least 5, but not beyond 10 seconds: from
 * the caller's `batch` poses, which repeat those of `poses`, to p, d, n and activity in its
 * memory. */
exit_code time_forward(const scene *s, const abut_poses *poses, size_t batch, bench_result *out);

#endif
