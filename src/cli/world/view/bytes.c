/* Answers as bytes, little-endian. */
#include "world/view/live_parts.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "abut"
#define VERSION 3u
#define INTEGERS 13 /* version, contacts in the list, a pair's nine numbers, flags, pushes */
#define HAS_GRADIENT 1u
#define HAS_CANDIDATES 2u
#define HAS_FORCES 4u

static uint8_t *put_bits(uint8_t *to, uint64_t bits, int bytes)
{
  for (int i = 0; i < bytes; ++i) {
    *to++ = (uint8_t)(bits >> 8 * i);
  }
  return to;
}

static uint8_t *put_double(uint8_t *to, double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return put_bits(to, bits, 8);
}

static uint8_t *put_floats(uint8_t *to, const void *from, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, (const float *)from + i, sizeof bits);
    to = put_bits(to, bits, 4);
  }
  return to;
}

static uint8_t *put_wholes(uint8_t *to, const uint32_t *from, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    to = put_bits(to, from[i], 4);
  }
  return to;
}

void layout_numbers(const abut_layout *l, size_t out[9])
{
  const size_t numbers[9] = {l->contacts,         l->vertices[0],      l->vertices[1],    l->edges[0],      l->edges[1],
                             l->vertex_offset[0], l->vertex_offset[1], l->edge_offset[0], l->edge_offset[1]};
  memcpy(out, numbers, sizeof numbers);
}

/* Begins an answer of so many bytes with what all have first. Returns where it goes on; NULL without memory, which *out says. */
static uint8_t *begin(answer *out, size_t size, size_t count, const char *what)
{
  uint8_t *bytes = malloc(size);
  if (!bytes) {
    answer_text(out, FAILED, "no memory for %zu %s", count, what);
    return NULL;
  }
  *out = (answer){OK, (char *)bytes, size};
  memcpy(bytes, MAGIC, 4);
  return put_bits(put_bits(bytes + 4, VERSION, 4), count, 4);
}

void answer_frame(answer *out, const frame_answer *f)
{
  const size_t count = f->list->count, head = 4 + 4 * INTEGERS + 8 * 10, each = 4 * (1 + 2 + 3 + 1 + 3 + 1 + (f->candidates ? 1 : 0) + (f->forces ? 3 : 0));
  const size_t size = head + count * each + 4 * (f->push_count + KIND_WHOLES * f->kind_count);
  uint8_t *to = begin(out, size, count, "contacts");
  if (!to) {
    return;
  }
  for (int i = 0; i < 9; ++i) {
    to = put_bits(to, f->layout[i], 4);
  }
  to = put_bits(to, (f->has_gradient ? HAS_GRADIENT : 0) | (f->candidates ? HAS_CANDIDATES : 0) | (f->forces ? HAS_FORCES : 0), 4);
  to = put_bits(to, f->push_count, 4); /* numbers of eight bytes begin at a multiple of eight */
  for (int i = 0; i < 10; ++i) {
    to = put_double(to, f->numbers[i]);
  }
  to = put_wholes(to, f->list->slot, count);
  to = put_wholes(to, f->list->feature, 2 * count);
  to = put_floats(to, f->list->p, 3 * count);
  to = put_floats(to, f->list->d, count);
  to = put_floats(to, f->list->n, 3 * count);
  to = put_floats(to, f->list->activity, count);
  to = put_wholes(to, f->candidates, f->candidates ? count : 0);
  to = put_floats(to, f->forces, f->forces ? 3 * count : 0);
  to = put_floats(to, f->pushes, f->push_count);
  put_wholes(to, f->kinds, KIND_WHOLES * f->kind_count);
}

void answer_curves(answer *out, size_t rows, size_t count, const float *values)
{
  const size_t size = 4 + 4 * 3 + 4 * rows * count;
  uint8_t *to = begin(out, size, count, "frames of curves");
  if (to) {
    put_floats(put_bits(to, rows, 4), values, rows * count);
  }
}
