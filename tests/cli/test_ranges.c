/* Parts of poses and what is left of them, beyond 2^32 and to the end of what a file may have. */
#include "core/folder/journal.h"
#include "mpi/own_device.h"
#include "mpi/shares.h"
#include "support/check.h"

static void parts(void)
{
  static const uint64_t counts[] = {0,         1, 7, 1000, UINT64_C(1) << 33, (uint64_t)INT64_MAX,
                                    UINT64_MAX};
  static const uint64_t pieces[] = {1, 2, 3, 16, 17, SHARDS_MOST};
  for (size_t n = 0; n < sizeof counts / sizeof *counts; ++n) {
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; ++k) {
      const uint64_t count = counts[n], of = pieces[k], step = of > 100 ? of / 50 : 1;
      CHECK(range_of_part(count, 0, of).first == 0 &&
            range_of_part(count, of - 1, of).end == count);
      for (uint64_t i = 0; i + 1 < of; i += step) {
        const range one = range_of_part(count, i, of);
        CHECK(one.end == range_of_part(count, i + 1, of).first);
        CHECK(one.end - one.first - count / of <= 1); /* as long as any other, or one longer */
      }
    }
  }
  const range third = range_of_part(UINT64_C(1000000000), 3, 16); /* as abut.shard has it */
  CHECK(third.first == 187500000 && third.end == 250000000);
}

static void gaps(void)
{
  const range whole = {10, 100, 0};
  ranges done = {0}, left = {0};
  CHECK(ranges_gaps(&done, whole, &left) == EXIT_GOOD && left.count == 1);
  CHECK(left.at[0].first == 10 && left.at[0].end == 100 && ranges_total(&left) == 90);
  ranges_free(&left);
  static const range some[] = {{90, 95, 0}, {20, 30, 5},  {30, 40, 0}, {10, 12, 1},
                               {25, 28, 0}, {99, 120, 0}, {0, 11, 0}};
  for (size_t i = 0; i < sizeof some / sizeof *some; ++i) {
    CHECK(ranges_add(&done, some[i]) == EXIT_GOOD);
  }
  ranges_sort(&done);
  CHECK(done.at[0].first == 0 && done.at[1].first == 10 && done.at[6].first == 99 &&
        done.at[2].entries == 5);
  CHECK(ranges_gaps(&done, whole, &left) == EXIT_GOOD);
  static const range wanted[] = {{12, 20, 0}, {40, 90, 0}, {95, 99, 0}};
  require(CHECK_EQUAL(left.count, 3));
  for (size_t i = 0; i < 3; ++i) {
    CHECK(left.at[i].first == wanted[i].first && left.at[i].end == wanted[i].end);
  }
  CHECK(ranges_total(&left) == 62);
  ranges_free(&left);
  CHECK(ranges_gaps(&done, (range){20, 40, 0}, &left) == EXIT_GOOD && left.count == 0);
  CHECK(ranges_gaps(&done, (range){50, 50, 0}, &left) == EXIT_GOOD && left.count == 0);
  ranges_free(&left);
  ranges_free(&done);
}

/* Ranks of unlike speeds take blocks, whoever gets free first: each pose once, no block beyond the
 * bound, the end at nearly the same time. A rank of unknown speed begins small. */
static void handing(void)
{
  static const double speeds[] = {1000.0, 100.0, 5000.0, 1000.0};
  enum { RANKS = sizeof speeds / sizeof *speeds };
  const uint64_t total = 1000000, most = 200000;
  double free_at[RANKS] = {0.0}, known[RANKS] = {0.0}, first = 1e30, last = 0.0;
  uint64_t at = 0, of[2], blocks = 0;
  shares s;
  CHECK(shares_begin(&s, total, most, RANKS));
  for (;;) {
    size_t next = 0;
    for (size_t i = 1; i < RANKS; ++i) {
      next = free_at[i] < free_at[next] ? i : next;
    }
    shares_next(&s, next, known[next], of);
    if (!of[1]) {
      break;
    }
    CHECK(of[0] == at && of[1] <= most && (known[next] > 0.0 || of[1] <= total / 256 / RANKS));
    at += of[1];
    free_at[next] += (double)of[1] / speeds[next];
    known[next] = speeds[next];
    ++blocks;
  }
  for (size_t i = 0; i < RANKS; ++i) {
    first = free_at[i] < first ? free_at[i] : first;
    last = free_at[i] > last ? free_at[i] : last;
  }
  const double ideal = (double)total / 7100.0;
  CHECK(at == total && blocks < 200);
  CHECK(last < 1.02 * ideal && last - first < 0.1 * ideal);
  shares_end(&s);

  CHECK(shares_begin(&s, 10, 1, 2));
  shares_next(&s, 0, 0.0, of);
  CHECK(of[0] == 0 && of[1] == 1);
  shares_next(&s, 1, 1e9, of); /* as many as are worth a block, but for the bound */
  CHECK(of[0] == 1 && of[1] == 1);
  shares_next(&s, 1, -1.0, of); /* it has failed */
  CHECK(of[1] == 0);
  shares_next(&s, 0, 1.0, of);
  CHECK(of[1] == 0);
  shares_end(&s);
  CHECK(shares_begin(&s, 0, 8, 1));
  shares_next(&s, 0, 0.0, of);
  CHECK(of[1] == 0);
  shares_end(&s);
}

/* A part each, no larger than the cores that a launcher lets a rank run on. */
static void own_parts(void)
{
  static const struct {
    uint32_t units;
    size_t cores, rank, ranks;
    uint32_t of, part, idle;
  } cases[] = {{16, 16, 3, 4, 4, 3, 0}, {16, 1, 3, 4, 1, 3, 3}, {16, 0, 1, 2, 8, 1, 0},
               {2, 1, 1, 2, 1, 1, 0},   {2, 2, 4, 5, 1, 0, 0},  {7, 7, 2, 3, 2, 2, 0},
               {1, 1, 6, 8, 1, 0, 0},   {16, 3, 0, 1, 3, 0, 13}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    uint32_t idle = 99;
    const abut_device_choice c =
      own_part(5, cases[i].units, cases[i].cores, cases[i].rank, cases[i].ranks, &idle);
    check(c.device == 5 && c.units == cases[i].of && c.part == cases[i].part &&
            idle == cases[i].idle,
          "case %zu: part %u of %u units, %u idle", i, c.part, c.units, idle);
  }
  CHECK(own_cores() > 0);
}

int main(void)
{
  parts();
  gaps();
  handing();
  own_parts();
  return check_finish();
}
