#include "query/ccd/queries.h"

#include "dev/bench/bench.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many queries of one kind are timed together for the median, how often, and how many such batches of a
 * long file, which are spread over it. */
#define BATCH 64
#define ROUNDS 5
#define BATCHES_MOST 256
/* How often the whole file is timed for the mean: so often, and until so many seconds are over. */
#define RUNS_LEAST 3
#define RUNS_MOST 1000
#define SECONDS_WANTED 0.5
/* What takes longer is timed once. */
#define SECONDS_LONG 2.0

/* By abut_ccd_kind. */
static const size_t vertices_of[ABUT_CCD_KINDS] = {2, 3, 4, 4};

/* ---- by kinds ---- */

/* Of numbers that must not get smaller where float rounds them. */
static bool goes_up(query_setting k)
{
  return k != QUERY_KEEP && k != QUERY_TOLERANCE;
}

static void put(void *reals, abut_precision precision, size_t i, double x, bool up)
{
  if (precision == ABUT_FLOAT64) {
    ((double *)reals)[i] = x;
    return;
  }
  const float rounded = (float)x;
  ((float *)reals)[i] = up && (double)rounded < x ? nextafterf(rounded, INFINITY) : rounded;
}

static exit_code reals(const queries *q, size_t rows, size_t width, void **out)
{
  return reals_of("queries", rows, width, q->scene.precision, out);
}

/* Whether a number of the group is another one than the library's own. */
static bool is_set(const queries *q, const query_group *g, query_setting k)
{
  const double common = k == QUERY_END ? 1.0 : 0.0;
  for (size_t i = 0; i < g->count; ++i) {
    if (!(q->file.settings[k][g->rows[i]] == common)) {
      return true;
    }
  }
  return false;
}

static exit_code take_settings(const queries *q, query_group *g)
{
  for (query_setting k = 0; k < QUERY_SETTINGS; ++k) {
    if (!is_set(q, g, k)) {
      continue;
    }
    CLI_TRY(reals(q, g->count, 1, &g->settings[k]));
    for (size_t i = 0; i < g->count; ++i) {
      put(g->settings[k], q->scene.precision, i, q->file.settings[k][g->rows[i]], goes_up(k));
    }
  }
  return EXIT_GOOD;
}

static exit_code take_vertices(const queries *q, query_group *g, size_t width)
{
  for (size_t end = 0; end < 2; ++end) {
    CLI_TRY(reals(q, g->count, width, &g->x[end]));
    for (size_t i = 0; i < g->count; ++i) {
      const double *from = q->file.x + QUERY_NUMBERS * g->rows[i] + 12 * end;
      for (size_t k = 0; k < width; ++k) {
        put(g->x[end], q->scene.precision, width * i + k, from[k], false);
      }
    }
  }
  return EXIT_GOOD;
}

static exit_code take_group(const queries *q, query_group *g, uint8_t kind)
{
  const size_t count = q->file.count ? q->file.count : 1;
  g->rows = calloc(count, sizeof *g->rows);
  g->status = calloc(count, sizeof *g->status);
  g->iterations = calloc(count, 2 * sizeof *g->iterations);
  if (!g->rows || !g->status || !g->iterations) {
    return report(EXIT_RUN, "no memory for %zu queries", count);
  }
  for (size_t i = 0; i < q->file.count; ++i) {
    if (q->file.kind[i] == kind) {
      g->rows[g->count++] = i;
    }
  }
  CLI_TRY(reals(q, g->count, 1, &g->toi));
  CLI_TRY(take_settings(q, g));
  return take_vertices(q, g, 3 * vertices_of[kind]);
}

exit_code queries_take(queries *q)
{
  const size_t count = q->file.count ? q->file.count : 1;
  for (uint8_t kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    CLI_TRY(take_group(q, &q->groups[kind], kind));
  }
  q->status = calloc(count, sizeof *q->status);
  q->iterations = calloc(count, 2 * sizeof *q->iterations);
  CLI_TRY(reals(q, count, 1, &q->toi));
  return q->status && q->iterations
           ? EXIT_GOOD
           : report(EXIT_RUN, "no memory for the answers of %zu queries", count);
}

void queries_free(queries *q)
{
  for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    query_group *g = &q->groups[kind];
    free(g->rows);
    free(g->x[0]);
    free(g->x[1]);
    for (int k = 0; k < QUERY_SETTINGS; ++k) {
      free(g->settings[k]);
    }
    free(g->toi);
    free(g->status);
    free(g->iterations);
  }
  free(q->toi);
  free(q->status);
  free(q->iterations);
}

/* ---- calls ---- */

/* Row `first` of reals of a width; of none, none. */
static void *from_row(const queries *q, void *array, size_t first, size_t width)
{
  return array ? (char *)array + first * width * real_bytes(q->scene.precision) : NULL;
}

/* The queries from `first` on of a kind. */
static abut_ccd_queries of_rows(const queries *q, size_t kind, size_t first, size_t count)
{
  const query_group *g = &q->groups[kind];
  const size_t width = 3 * vertices_of[kind];
  abut_ccd_queries a = abut_default_ccd_queries();
  a.kind = (abut_ccd_kind)kind;
  a.count = count;
  a.x0 = from_row(q, g->x[0], first, width);
  a.x1 = from_row(q, g->x[1], first, width);
  a.separations = from_row(q, g->settings[QUERY_SEPARATION], first, 1);
  a.keeps = from_row(q, g->settings[QUERY_KEEP], first, 1);
  a.tolerances = from_row(q, g->settings[QUERY_TOLERANCE], first, 1);
  a.ends = from_row(q, g->settings[QUERY_END], first, 1);
  a.errors = from_row(q, g->settings[QUERY_ERROR], first, 1);
  a.relative_errors = from_row(q, g->settings[QUERY_RELATIVE_ERROR], first, 1);
  a.method = q->method;
  a.iterations_most = q->iterations_most;
  a.toi = from_row(q, g->toi, first, 1);
  a.status = g->status + first;
  return a;
}

/* To where the file has the queries. */
static void scatter(queries *q, const query_group *g)
{
  const size_t real = real_bytes(q->scene.precision);
  for (size_t i = 0; i < g->count; ++i) {
    const size_t row = g->rows[i];
    memcpy((char *)q->toi + row * real, (const char *)g->toi + i * real, real);
    q->status[row] = g->status[i];
    q->iterations[2 * row] = g->iterations[2 * i];
    q->iterations[2 * row + 1] = g->iterations[2 * i + 1];
  }
}

exit_code queries_compute(queries *q)
{
  for (size_t kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    query_group *g = &q->groups[kind];
    abut_ccd_queries a = of_rows(q, kind, 0, g->count);
    progress p = progress_begin(q->o, "collision in time, queries");
    a.iterations = g->iterations;
    a.progress = progress_step;
    a.user = &p;
    const abut_status status = g->count ? abut_run_ccd_queries(q->scene.context, &a) : ABUT_SUCCESS;
    progress_end(&p);
    CLI_TRY(report_status(status));
    scatter(q, g);
  }
  return EXIT_GOOD;
}

/* ---- time ---- */

/* Seconds of one call, which computes times and statuses. */
static exit_code time_call(const queries *q, size_t kind, size_t first, size_t count,
                           double *seconds)
{
  abut_ccd_queries a = of_rows(q, kind, first, count);
  const double start = now();
  const abut_status status = count ? abut_run_ccd_queries(q->scene.context, &a) : ABUT_SUCCESS;
  *seconds = now() - start;
  return report_status(status);
}

static exit_code time_file(queries *q)
{
  double all = 0.0, seconds = 0.0;
  size_t runs = 0;
  for (; all < SECONDS_LONG && (runs < RUNS_LEAST || (runs < RUNS_MOST && all < SECONDS_WANTED));
       ++runs) {
    for (size_t kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
      CLI_TRY(time_call(q, kind, 0, q->groups[kind].count, &seconds));
      all += seconds;
    }
  }
  q->mean = all / (double)runs / (double)q->file.count;
  return EXIT_GOOD;
}

/* The median of a batch's calls, of each query's share. */
static exit_code time_batch(const queries *q, size_t kind, size_t first, double *share)
{
  const size_t left = q->groups[kind].count - first, count = left < BATCH ? left : BATCH;
  const size_t rounds = q->mean * (double)q->file.count > SECONDS_LONG ? 1 : ROUNDS;
  double seconds[ROUNDS];
  for (size_t i = 0; i < rounds; ++i) {
    CLI_TRY(time_call(q, kind, first, count, &seconds[i]));
  }
  *share = bench_median(seconds, rounds) / (double)count;
  return EXIT_GOOD;
}

/* The last one may be of half as many; of a kind that has fewer all are one. */
static size_t batches_of(const query_group *g)
{
  return g->count < BATCH ? g->count > 0 : (g->count + BATCH / 2) / BATCH;
}

static exit_code time_batches(queries *q)
{
  double shares[BATCHES_MOST];
  size_t all = 0, timed = 0, place = 0;
  for (size_t kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    all += batches_of(&q->groups[kind]);
  }
  const size_t stride = (all + BATCHES_MOST - 1) / BATCHES_MOST;
  for (size_t kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
    for (size_t i = 0; i < batches_of(&q->groups[kind]); ++i, ++place) {
      if (place % stride == 0) {
        CLI_TRY(time_batch(q, kind, i * BATCH, &shares[timed++]));
      }
    }
  }
  q->median = bench_median(shares, timed);
  return EXIT_GOOD;
}

exit_code queries_time(queries *q)
{
  if (!q->file.count) {
    return EXIT_GOOD;
  }
  CLI_TRY(time_file(q));
  return time_batches(q);
}
