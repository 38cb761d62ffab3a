#include "contact/shape_sums.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

void shape_pieces_free(shape_piece *first)
{
  while (first) {
    shape_piece *next = first->next;
    for (int side = 0; side < 2; ++side) {
      free(first->sum[side]);
      free(first->rows[side]);
    }
    free(first->rejected);
    free(first);
    first = next;
  }
}

static abut_status make_numbers(size_t count, double **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof(double)));
  *out = memory;
  memset(*out, 0, count * sizeof(double));
  return ABUT_SUCCESS;
}

abut_status shape_sums_create(const shaped_body bodies[2], size_t poses, size_t real_bytes,
                              shape_sums *out)
{
  *out = (shape_sums){.poses = poses, .real_bytes = real_bytes};
  for (int side = 0; side < 2; ++side) {
    if (bodies[side].of) {
      out->bodies[side] = bodies[side];
      out->width[side] = shape_sum_width(&bodies[side]);
      TRY(make_numbers(out->width[side], &out->total[side]));
      TRY(make_numbers(out->width[side], &out->block[side]));
    }
  }
  return ABUT_SUCCESS;
}

void shape_sums_free(shape_sums *s)
{
  for (int side = 0; side < 2; ++side) {
    free(s->total[side]);
    free(s->block[side]);
  }
  shape_pieces_free(s->waiting);
  *s = (shape_sums){0};
}

void shape_sums_empty(shape_sums *s)
{
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < s->width[side]; ++i) {
      s->total[side][i] = s->block[side][i] = 0.0;
    }
  }
  shape_pieces_free(s->waiting);
  s->waiting = NULL;
  s->next = 0;
}

/* Adds rows of poses to a sum, in order. */
static void add_rows(const shape_sums *s, int side, const shape_piece *p, const void *rows,
                     double *sum)
{
  const size_t first = shape_row_first(&s->bodies[side]);
  for (size_t i = 0; i < p->count; ++i) {
    if (!p->rejected[i]) {
      const char *row = (const char *)rows + i * p->width[side] * s->real_bytes;
      shape_add_row(shape_walk_begin(s->bodies[side].of, p->sites[side], first, first), row,
                    s->real_bytes, sum);
    }
  }
}

/* Fills a piece from its poses' rows. If the piece is the whole chunk, it takes over the chunk's
 * rows. */
static abut_status fill(const shape_sums *s, shape_piece *p, bool whole, const void *const rows[2],
                        void **chunk_rows, const bool *rejected)
{
  void *memory = NULL;
  TRY(allocate(&memory, p->count, sizeof *p->rejected));
  p->rejected = memory;
  memcpy(p->rejected, rejected, p->count * sizeof *p->rejected);
  for (int side = 0; side < 2; ++side) {
    const size_t bytes = p->width[side] * s->real_bytes;
    if (s->bodies[side].of && whole) {
      TRY(make_numbers(s->width[side], &p->sum[side]));
      add_rows(s, side, p, rows[side], p->sum[side]);
    } else if (s->bodies[side].of && chunk_rows) {
      p->rows[side] = chunk_rows[side];
      chunk_rows[side] = NULL;
    } else if (s->bodies[side].of) {
      TRY(allocate(&memory, p->count, bytes));
      p->rows[side] = memory;
      memcpy(p->rows[side], rows[side], p->count * bytes);
    }
  }
  return ABUT_SUCCESS;
}

abut_status shape_pieces_create(const shape_sums *s, size_t first, size_t count, void *rows[2],
                                const size_t sites[2], const bool *rejected, shape_piece **out)
{
  *out = NULL;
  for (size_t at = first, end = first + count; at < end;) {
    const size_t block = at / SHAPE_BLOCK * SHAPE_BLOCK;
    const size_t last = block + SHAPE_BLOCK < s->poses ? block + SHAPE_BLOCK : s->poses;
    void *memory = NULL;
    TRY(allocate(&memory, 1, sizeof(shape_piece)));
    shape_piece *p = memory;
    *p = (shape_piece){.first = at, .count = (last < end ? last : end) - at};
    *out = p;
    out = &p->next;
    const void *of[2] = {NULL, NULL};
    for (int side = 0; side < 2; ++side) {
      if (s->bodies[side].of) {
        p->sites[side] = sites[side];
        p->width[side] = shape_row_width(&s->bodies[side], sites[side]);
        of[side] = (const char *)rows[side] + (at - first) * p->width[side] * s->real_bytes;
      }
    }
    TRY(fill(s, p, at == block && last <= end, of, p->count == count ? rows : NULL,
             rejected + (at - first)));
    at += p->count;
  }
  return ABUT_SUCCESS;
}

/* Adds the piece of the next poses. A block in several pieces is summed separately first. */
static void add_next(shape_sums *s, const shape_piece *p)
{
  const size_t end = p->first + p->count;
  const bool ends = end % SHAPE_BLOCK == 0 || end == s->poses;
  for (int side = 0; side < 2; ++side) {
    double *total = s->total[side], *block = s->block[side];
    if (p->rows[side]) {
      add_rows(s, side, p, p->rows[side], block);
    }
    const double *sum = p->sum[side] ? p->sum[side] : block;
    for (size_t i = 0; ends && i < s->width[side]; ++i) {
      total[i] += sum[i];
      block[i] = 0.0;
    }
  }
  s->next = end;
}

void shape_sums_add(shape_sums *s, shape_piece *pieces)
{
  shape_piece **at = &s->waiting;
  while (pieces) {
    shape_piece *p = pieces;
    pieces = p->next;
    for (; *at && (*at)->first < p->first; at = &(*at)->next) {
    }
    p->next = *at;
    *at = p;
  }
  while (s->waiting && s->waiting->first == s->next) {
    shape_piece *p = s->waiting;
    s->waiting = p->next;
    p->next = NULL;
    add_next(s, p);
    shape_pieces_free(p);
  }
}
