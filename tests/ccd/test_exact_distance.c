/* Rows of collision in time against the distance itself: test_exact_distance PRECISION [ROWS]
 *
 * ROWS random and awkward rows in all, 176,000 by default, of eleven groups and four kinds, with
 * separations of 0, of 1/1000 of their size and a share of the distance that is kept. In long
 * double, at 20 times up to toi, the distance is above r, up to that computation's own rounding;
 * and a hit is near r. 77 where there is no such device. */
#include "core/scene.h"
#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1000, TIMES = 20 };

/* The distance's own rounding: of vertices, of products, and of small angles. */
#define SLACK 4e-18L

typedef struct tally {
  size_t rows, hits, limits, misses;
  double early; /* over the size: how far above r hits end */
} tally;

static double largest(const double x[12], size_t width)
{
  double most = 0.0;
  for (size_t i = 0; i < width; ++i) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

/* What stands for numbers that a device may flush to 0, over a size. */
static double flushed(const pairs *p, double size)
{
  return (p->precision == ABUT_FLOAT64 ? 0x1p-1018 : 0x1p-122) / size;
}

/* Of a row's components at both ends. */
static double size_of(const pairs *p, const double x0[12], const double x1[12])
{
  return fmax(largest(x0, p->width), largest(x1, p->width));
}

static long double radius_of(double separation, double keep, const pairs *p, size_t row)
{
  const double d0 = real_at(p->d0, p->precision, row);
  return separation + keep * fmax(d0 - separation, 0.0);
}

static void check_row(const pairs *p, size_t row, int group, double separation, double keep,
                      tally *to)
{
  double x0[12], x1[12];
  long double x[12];
  pairs_get(p, row, x0, x1);
  const double toi = real_at(p->toi, p->precision, row), size = size_of(p, x0, x1);
  const long double r = radius_of(separation, keep, p, row), slack = SLACK * size;
  const int status = p->status[row];
  ++to->rows;
  to->limits += status == ABUT_CCD_LIMIT;
  if (status == ABUT_CCD_WITHIN) {
    vertices_at(x0, x1, 0.0, x);
    const double over = (double)(distance_of(p->kind, x) - separation) / size;
    const double most = (p->precision == ABUT_FLOAT64 ? 1e-14 : 4e-6) + 4.0 * flushed(p, size);
    check(toi == 0.0 && !(over > most), "%s of %s %zu: apart by %g at 0, and called within",
          group_names[group], kind_names[p->kind], row, over);
    return;
  }
  check(status <= ABUT_CCD_LIMIT && toi >= 0.0 && toi <= 1.0 && (status || toi == 1.0),
        "%s of %s %zu: status %d, toi %g", group_names[group], kind_names[p->kind], row, status,
        toi);
  long double d = 0.0L;
  for (int i = 0; i <= TIMES; ++i) {
    vertices_at(x0, x1, i == TIMES ? toi : toi * i / TIMES, x);
    d = distance_of(p->kind, x);
    if (!check(d - r > -slack, "%s of %s %zu: at %d/%d of toi %.17g, status %d, d - r is %Lg",
               group_names[group], kind_names[p->kind], row, i, TIMES, toi, status, d - r)) {
      ++to->misses;
      return;
    }
  }
  if (status == ABUT_CCD_HIT) {
    ++to->hits;
    const double kept = keep * real_at(p->d0, p->precision, row),
                 over = ((double)(d - r) - kept) / size;
    to->early = fmax(to->early, over - 4.0 * flushed(p, size));
  }
}

static void fill(pairs *p, int group, uint64_t *seed)
{
  for (size_t i = 0; i < p->count; ++i) {
    double x0[12], x1[12];
    random_pair(seed, group, p->precision, p->kind, x0, x1);
    pairs_put(p, i, x0, x1);
  }
}

/* One of three questions, by turns. */
static void run_chunk(abut_context context, abut_precision precision, int group, abut_ccd_kind kind,
                      size_t which, size_t count, tally *to)
{
  const double scale = group == HUGE_  ? (precision == ABUT_FLOAT64 ? 1e300 : 1e37)
                       : group == TINY ? (precision == ABUT_FLOAT64 ? 1e-300 : 1e-36)
                                       : 1.0;
  const double thousandth = precision == ABUT_FLOAT64 ? 1e-3 * scale
                                                      : (double)(float)(1e-3 * scale);
  const double separation = which % 3 == 1 ? thousandth : 0.0, keep = which % 3 == 2 ? 0.125 : 0.0;
  uint64_t seed = 1000003 * which + 101 * (size_t)group + (size_t)kind;
  pairs p;
  pairs_create(&p, precision, kind, count);
  fill(&p, group, &seed);
  abut_ccd_queries q = pairs_batch(&p, 0, count);
  q.separation = separation;
  q.keep = keep;
  if (CHECK_OK(abut_run_ccd_queries(context, &q))) {
    for (size_t i = 0; i < count; ++i) {
      check_row(&p, i, group, separation, keep, to);
    }
  }
  pairs_free(&p);
}

static void run_group(abut_context context, abut_precision precision, int group, size_t rows)
{
  tally t = {0};
  for (size_t done = 0, which = 0; done < rows; done += CHUNK, ++which) {
    for (int kind = 0; kind < ABUT_CCD_KINDS; ++kind) {
      run_chunk(context, precision, group, (abut_ccd_kind)kind, which, CHUNK, &t);
    }
  }
  printf("%-10s %zu rows, %zu hits, %zu limits, %zu misses; hits end %.2e of the size above r\n",
         group_names[group], t.rows, t.hits, t.limits, t.misses, t.early);
  check(t.hits > 0 || group == STILL, "%s: nothing is hit", group_names[group]);
  const double most = precision == ABUT_FLOAT64 ? 0x1p-46 : 0x1p-18;
  check(t.early < 2.0 * most, "%s: a hit ends %g of its size above r", group_names[group], t.early);
}

#define USUAL_MOST 1e6

int main(int argc, char **argv)
{
  const abut_precision precision = precision_of(argc, argv);
  const double asked = argc > 2 ? atof(argv[2]) : 176000.0;
  const double rows = asked > USUAL_MOST && !getenv("ABUT_TEST_ALL") ? USUAL_MOST : asked;
  if (rows < asked) {
    printf("%g rows of %g, which take minutes; ABUT_TEST_ALL=1 lets them\n", rows, asked);
  }
  abut_context context = require_context(precision);
  for (int group = 0; group < GROUPS; ++group) {
    run_group(context, precision, group, (size_t)(rows / GROUPS / ABUT_CCD_KINDS));
  }
  return finish_context(context);
}
