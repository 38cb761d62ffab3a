/* Sums of rows of derivatives with respect to shapes over a batch's poses, in an order independent
 * of chunks: poses within blocks of SHAPE_BLOCK in order, then blocks. */
#ifndef ABUT_CONTACT_SHAPE_SUMS_H
#define ABUT_CONTACT_SHAPE_SUMS_H

#include "contact/shape_rows.h"

#define SHAPE_BLOCK 256

/* A device's result for consecutive poses of one block: the sum if they are the whole block,
 * otherwise their rows. */
typedef struct shape_piece {
  struct shape_piece *next;
  size_t first, count;
  size_t sites[2], width[2]; /* of rows */
  double *sum[2];
  void *rows[2];
  bool *rejected; /* (count) */
} shape_piece;

void shape_pieces_free(shape_piece *first);

/* A batch's sums of rows for each body. `of` is NULL if a body's are not wanted. */
typedef struct shape_sums {
  shaped_body bodies[2];
  size_t poses, real_bytes;
  size_t width[2];
  double *total[2], *block[2];
  size_t next;          /* the first pose not yet included */
  shape_piece *waiting; /* sorted by their poses */
} shape_sums;

/* bodies[i].of is NULL if not wanted. shape_sums_free may be called after a failure, too. */
abut_status shape_sums_create(const shaped_body bodies[2], size_t poses, size_t real_bytes,
                              shape_sums *out);
void shape_sums_free(shape_sums *s);
void shape_sums_empty(shape_sums *s);

/* Makes pieces of a chunk's rows, (count, width) for each wanted body. If a piece takes rows[i]
 * over, rows[i] becomes NULL; the caller still owns everything else. rejected: (count). */
abut_status shape_pieces_create(const shape_sums *s, size_t first, size_t count, void *rows[2],
                                const size_t sites[2], const bool *rejected, shape_piece **out);

/* Takes pieces over. They are summed as soon as all earlier poses have been added. */
void shape_sums_add(shape_sums *s, shape_piece *pieces);

#endif
