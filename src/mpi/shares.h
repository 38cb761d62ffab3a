/* How many elements a rank is given at once: much of what is left at first, and less towards the
 * end, so that ranks of different speeds end together. */
#ifndef ABUT_MPI_SHARES_H
#define ABUT_MPI_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shares {
  uint64_t total, given, most; /* elements: all, those given away, and of one block at most */
  size_t ranks;
  double *speed; /* of each rank [elements / s]; 0: not known yet */
  bool stopped;  /* a rank has failed: no more is given */
} shares;

/* false: there is no memory. */
bool shares_begin(shares *s, uint64_t total, uint64_t most, size_t ranks);
/* The next elements of a rank whose last block went at this speed; 0: it has none yet; below 0: it
 * has failed. of[0] and how many, of[1], which is 0 at the end. */
void shares_next(shares *s, size_t rank, double speed, uint64_t of[2]);
void shares_end(shares *s);

#endif
