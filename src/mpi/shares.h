/* The number of elements given to a rank at once. Blocks are large at first and smaller towards the
 * end, so that ranks of different speeds end together. */
#ifndef ABUT_MPI_SHARES_H
#define ABUT_MPI_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shares {
  uint64_t total, given, most; /* elements: total, given so far, and maximum per block */
  size_t ranks;
  double *speed; /* of each rank [elements/s]; 0: unknown */
  bool stopped;  /* a rank has failed: no more elements are given */
} shares;

/* Returns false if there is no memory. */
bool shares_begin(shares *s, uint64_t total, uint64_t most, size_t ranks);
/* Gives a rank its next elements. `speed` is that of its last block; 0: none yet; below 0: the rank
 * has failed. of[0]: the first, of[1]: their number, 0 at the end. */
void shares_next(shares *s, size_t rank, double speed, uint64_t of[2]);
void shares_end(shares *s);

#endif
