/* Sums of rows of derivatives by shapes over a batch's poses, in an order that chunks do not
 * change: poses within blocks of SHAPE_BLOCK by their numbers, then blocks. */
#ifndef ABUT_CONTACT_SHAPE_SUMS_H
#define ABUT_CONTACT_SHAPE_SUMS_H

#include "contact/shape_rows.h"

#define SHAPE_BLOCK 256

/* What a device leaves of consecutive poses of one block: the block's sum where they are all of it,
 * else their rows. */
typedef struct shape_piece {
  struct shape_piece *next;
  size_t first, count;
  size_t sites[2], width[2]; /* of rows */
  double *sum[2];
  void *rows[2];
  bool *rejected; /* (count) */
} shape_piece;

void shape_pieces_free(shape_piece *first);

/* A batch's sums of rows, by body; of NULL where a body's are not wanted. */
typedef struct shape_sums {
  shaped_body bodies[2];
  size_t poses, real_bytes;
  size_t width[2];
  double *total[2], *block[2];
  size_t next;          /* the first pose that is not in them yet */
  shape_piece *waiting; /* by their poses */
} shape_sums;

/* bodies[i] of NULL: not wanted. shape_sums_free may follow on failure, too. */
abut_status shape_sums_create(const shaped_body bodies[2], size_t poses, size_t real_bytes,
                              shape_sums *out);
void shape_sums_free(shape_sums *s);
void shape_sums_empty(shape_sums *s);

/* Makes pieces of a chunk's rows, (count, width) of each body that is wanted. rows[i] is NULL
 * behind it where a piece has kept them; all else stays the caller's. rejected: (count). */
abut_status shape_pieces_create(const shape_sums *s, size_t first, size_t count, void *rows[2],
                                const size_t sites[2], const bool *rejected, shape_piece **out);

/* Adds pieces, which are then the sums', as soon as all poses before them have been added. */
void shape_sums_add(shape_sums *s, shape_piece *pieces);

#endif
