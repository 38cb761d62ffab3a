#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_LEAST 5
#define RUNS_MOST 10000
#define SECONDS_WANTED 0.5
#define SECONDS_MOST 10.0

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bench_result summarise(double *seconds, size_t runs)
{
  qsort(seconds, runs, sizeof *seconds, compare);
  const double upper = seconds[runs / 2], lower = seconds[(runs - 1) / 2];
  return (bench_result){(lower + upper) / 2, seconds[0]};
}

static exit_code repeat(const scene *s, abut_batch *batch, double *seconds, bench_result *out)
{
  size_t runs = 0;
  double total = 0.0;
  CLI_TRY(report_status(abut_contacts(s->pair, batch)));
  while (runs < RUNS_MOST
         && (total < SECONDS_WANTED || (runs < RUNS_LEAST && total < SECONDS_MOST))) {
    const double start = now();
    CLI_TRY(report_status(abut_contacts(s->pair, batch)));
    seconds[runs] = now() - start;
    total += seconds[runs++];
  }
  *out = summarise(seconds, runs);
  return EXIT_GOOD;
}

/* `count` poses, those of `from` over and over. */
static exit_code cycle(const double *from, size_t there, size_t width, size_t count,
                       abut_precision precision, void **out)
{
  void *once = NULL;
  size_t bytes = 0;
  CLI_TRY(poses_to_reals(from, there * width, precision, &once));
  const size_t row = width * real_bytes(precision);
  *out = multiply(count, row, 1, &bytes) ? malloc(bytes) : NULL;
  for (size_t i = 0; *out && i < count; ++i) {
    memcpy((char *)*out + i * row, (const char *)once + i % there * row, row);
  }
  free(once);
  return *out ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu poses", count);
}

exit_code time_forward(const scene *s, const abut_poses *poses, size_t count, bench_result *out)
{
  const size_t real = real_bytes(s->precision), width = pose_width(poses->kind);
  void *pose1 = NULL, *pose2 = NULL;
  size_t contacts = 0, bytes = 0;
  const bool fits = multiply(count, s->layout.contacts, 1, &contacts) &&
                    multiply(contacts, 8, real, &bytes);
  char *block = fits ? malloc(bytes) : NULL;
  double *seconds = calloc(RUNS_MOST, sizeof *seconds);
  exit_code code = EXIT_GOOD;
  if (!block || !seconds) {
    code = report(EXIT_RUN, "no memory for %zu poses of %zu contacts", count, s->layout.contacts);
    goto done;
  }
  CLI_TRY_DONE(cycle(poses->pose1, poses->count, width, count, s->precision, &pose1));
  CLI_TRY_DONE(cycle(poses->pose2, poses->count, width, count, s->precision, &pose2));
  abut_batch batch = abut_default_batch();
  batch.count = count;
  batch.poses = poses->kind;
  batch.pose1 = pose1;
  batch.pose2 = pose2;
  batch.p = block;
  batch.n = block + 3 * contacts * real;
  batch.d = block + 6 * contacts * real;
  batch.activity = block + 7 * contacts * real;
  code = repeat(s, &batch, seconds, out);
done:
  free(block);
  free(seconds);
  free(pose1);
  free(pose2);
  return code;
}
