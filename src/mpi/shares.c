#include "mpi/shares.h"

#include <stdlib.h>

/* The first block of a rank of unknown speed, as a fraction of an equal share of the remaining
 * elements; and a block of a rank of known speed, as a fraction of its expected share. */
#define FIRST (1.0 / 256.0)
#define OF_EXPECTED 0.5
/* Shortest block that justifies the cost of asking and writing [s]. */
#define LEAST_SECONDS 0.03

bool shares_begin(shares *s, uint64_t total, uint64_t most, size_t ranks)
{
  *s = (shares){.total = total,
                .most = most,
                .ranks = ranks,
                .speed = calloc(ranks, sizeof *s->speed)};
  return s->speed != NULL;
}

/* Ranks of unknown speed are assumed to be as fast as the others. */
static double expected(const shares *s, size_t rank)
{
  double sum = 0.0;
  size_t known = 0;
  for (size_t i = 0; i < s->ranks; ++i) {
    sum += s->speed[i];
    known += s->speed[i] > 0.0;
  }
  if (!(s->speed[rank] > 0.0)) {
    return FIRST / (double)s->ranks;
  }
  return OF_EXPECTED * s->speed[rank] / (sum * (double)s->ranks / (double)known);
}

void shares_next(shares *s, size_t rank, double speed, uint64_t of[2])
{
  s->stopped = s->stopped || speed < 0.0;
  s->speed[rank] = speed > 0.0 ? speed : s->speed[rank];
  const uint64_t left = s->stopped ? 0 : s->total - s->given;
  const double least = s->speed[rank] * LEAST_SECONDS, share = expected(s, rank) * (double)left;
  const double wanted = share > least ? share : least;
  uint64_t count = wanted < (double)s->most ? (uint64_t)wanted : s->most;
  count = count ? count : 1;
  of[0] = s->given;
  of[1] = count < left ? count : left;
  s->given += of[1];
}

void shares_end(shares *s)
{
  free(s->speed);
  *s = (shares){0};
}
