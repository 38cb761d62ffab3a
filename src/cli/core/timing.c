#include "core/timing.h"

#include <stdlib.h>

#define RUNS_LEAST 5
#define RUNS_MOST 10000
#define SECONDS_WANTED 0.5
#define SECONDS_MOST 10.0

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double median_of(double *numbers, size_t count)
{
  qsort(numbers, count, sizeof *numbers, compare);
  return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* `seconds` and `work`: (RUNS_MOST, count) and (RUNS_MOST). */
static void summarise(const double *seconds, size_t runs, size_t count, size_t base, double *work,
                      timing *out)
{
  for (size_t i = 0; i < count; ++i) {
    for (size_t r = 0; r < runs; ++r) {
      work[r] = seconds[r * count + i];
    }
    out[i].median = median_of(work, runs);
    out[i].least = work[0];
    for (size_t r = 0; r < runs && base < count; ++r) {
      work[r] = seconds[r * count + i] / seconds[r * count + base];
    }
    out[i].ratio = base < count ? median_of(work, runs) : 0.0;
  }
}

static exit_code time_round(timed_call call, void *user, size_t count, double *seconds)
{
  for (size_t i = 0; i < count; ++i) {
    const double start = now();
    CLI_TRY(call(user, i));
    seconds[i] = now() - start;
  }
  return EXIT_GOOD;
}

exit_code time_rounds(timed_call call, void *user, size_t count, size_t base, timing *out)
{
  double *seconds = calloc(RUNS_MOST * (count + 1), sizeof *seconds), total = 0.0;
  exit_code code = seconds ? time_round(call, user, count, seconds)
                           : report(EXIT_RUN, "not enough memory for times");
  size_t runs = 0;
  while (code == EXIT_GOOD && runs < RUNS_MOST &&
         (total < SECONDS_WANTED * (double)count ||
          (runs < RUNS_LEAST && total < SECONDS_MOST * (double)count))) {
    double *row = seconds + runs * count;
    code = time_round(call, user, count, row);
    for (size_t i = 0; i < count; ++i) {
      total += row[i];
    }
    ++runs;
  }
  if (code == EXIT_GOOD) {
    summarise(seconds, runs, count, base, seconds + RUNS_MOST * count, out);
  }
  free(seconds);
  return code;
}

exit_code report_failures(size_t failures)
{
  return failures ? report(EXIT_RUN, "some of the devices failed during the calls")
                  : EXIT_GOOD; /* the failed devices and the reasons are reported when the session
                                  is closed */
}
