#include "manifold/compact_list.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/layout.h"
#include <stdlib.h>
#include <string.h>

abut_status piece_create(const compact_list *l, size_t first, size_t poses, size_t found,
                         piece **out)
{
  *out = NULL;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *ints = NULL, *reals = NULL, *blocks = NULL;
  const size_t entries = found < l->out->capacity ? found : l->out->capacity;
  TRY_DONE(allocate(&memory, 1, sizeof(piece)));
  TRY_DONE(allocate(&ints, entries, COMPACT_INTS * sizeof(int)));
  TRY_DONE(allocate(&reals, entries, COMPACT_REALS * l->real_bytes));
  if (l->blocks) {
    TRY_DONE(allocate(&blocks, entries, l->block_bytes));
  }
  *out = memory;
  **out = (piece){NULL, first, poses, found, entries, ints, reals, blocks};
done:
  if (status != ABUT_SUCCESS) {
    free(memory);
    free(ints);
    free(reals);
  }
  return status;
}

void piece_free(piece *p)
{
  if (p) {
    free(p->ints);
    free(p->reals);
    free(p->blocks);
    free(p);
  }
}

/* `width` reals of column `column` of a piece's rows into `to`. */
static void scatter(const compact_list *l, void *to, size_t base, const piece *p, size_t count,
                    size_t column, size_t width)
{
  const size_t size = l->real_bytes;
  for (size_t i = 0; to && i < count; ++i) {
    memcpy((char *)to + (base + i) * width * size, p->reals + (i * COMPACT_REALS + column) * size,
           width * size);
  }
}

static void append(compact_list *l, const piece *p)
{
  abut_compact *out = l->out;
  const size_t base = out->count < out->capacity ? out->count : out->capacity;
  const size_t room = out->capacity - base, count = p->entries < room ? p->entries : room;
  for (size_t i = 0; i < count; ++i) {
    const int *entry = p->ints + i * COMPACT_INTS;
    if (out->pose) {
      out->pose[base + i] = (uint32_t)(p->first + (size_t)entry[0]);
    }
    if (out->slot) {
      out->slot[base + i] = (uint32_t)entry[1];
    }
    if (out->feature) {
      out->feature[2 * (base + i)] = (uint32_t)entry[2];
      out->feature[2 * (base + i) + 1] = (uint32_t)entry[3];
    }
  }
  scatter(l, out->p, base, p, count, 0, 3);
  scatter(l, out->d, base, p, count, 3, 1);
  scatter(l, out->n, base, p, count, 4, 3);
  scatter(l, out->activity, base, p, count, 7, 1);
  if (l->blocks) {
    memcpy(l->blocks + base * l->block_bytes, p->blocks, count * l->block_bytes);
  }
  out->count += p->found;
  l->poses += p->poses;
}

void compact_list_add(compact_list *l, piece *p)
{
  piece **at = &l->waiting;
  while (*at && (*at)->first < p->first) {
    at = &(*at)->next;
  }
  p->next = *at;
  *at = p;
  while (l->waiting && l->waiting->first == l->poses) {
    piece *next = l->waiting;
    l->waiting = next->next;
    append(l, next);
    piece_free(next);
  }
}

void compact_list_free(compact_list *l)
{
  while (l->waiting) {
    piece *next = l->waiting;
    l->waiting = next->next;
    piece_free(next);
  }
}
