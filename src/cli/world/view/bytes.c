/* Converts answers to bytes, little-endian: src/view/page/wire.h defines the layout. */
#include "world/view/live_parts.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC_BYTES (sizeof WIRE_MAGIC - 1)
#define WORD 4u

/* Index of each field among the numbers at the start of an answer. */
#define FRAME(name, count) FRAME_##name, FRAME_##name##_last = FRAME_##name + (count)-1,
enum { WIRE_FRAME_WHOLES(FRAME) FRAME_WHOLES };
#define CURVES(name, count) CURVES_##name, CURVES_##name##_last = CURVES_##name + (count)-1,
enum { WIRE_CURVES_WHOLES(CURVES) CURVES_WHOLES };

/* Arrays of contacts. */
#define CONTACT(name, ...) CONTACT_##name,
enum { WIRE_CONTACTS(CONTACT) CONTACT_ARRAYS };
#define ARRAY(name, type, columns, flag) {columns, flag},
static const struct {
  unsigned columns, flag;
} arrays[CONTACT_ARRAYS] = {WIRE_CONTACTS(ARRAY)};

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

/* Writes numbers of 32 bits, integers or floats. */
static uint8_t *put_words(uint8_t *to, const void *from, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, (const char *)from + WORD * i, sizeof bits);
    to = put_bits(to, bits, WORD);
  }
  return to;
}

void layout_numbers(const abut_layout *l, size_t out[WIRE_LAYOUT_NUMBERS])
{
#define NUMBER(name, member) l->member,
  const size_t numbers[] = {WIRE_LAYOUT(NUMBER)};
#undef NUMBER
  memcpy(out, numbers, sizeof numbers);
}

/* Starts an answer of `size` bytes. Returns the position after its start. Without memory for
 * `count` items returns NULL, and *out is an error answer. */
static uint8_t *begin(answer *out, size_t size, size_t count, const char *what)
{
  uint8_t *bytes = malloc(size);
  if (!bytes) {
    answer_text(out, FAILED, "no memory for %zu %s", count, what);
    return NULL;
  }
  *out = (answer){OK, (char *)bytes, size};
  memcpy(bytes, WIRE_MAGIC, MAGIC_BYTES);
  return bytes + MAGIC_BYTES;
}

void answer_frame(answer *out, const frame_answer *f)
{
  const size_t count = f->list->count;
  const void *const of[CONTACT_ARRAYS] = {
    [CONTACT_slot] = f->list->slot, [CONTACT_feature] = f->list->feature,
    [CONTACT_p] = f->list->p,       [CONTACT_d] = f->list->d,
    [CONTACT_n] = f->list->n,       [CONTACT_activity] = f->list->activity,
    [CONTACT_pair] = f->candidates, [CONTACT_force] = f->forces};
  uint32_t wholes[FRAME_WHOLES] = {[FRAME_version] = WIRE_VERSION,
                                   [FRAME_count] = (uint32_t)count,
                                   [FRAME_flags] = f->has_gradient ? WIRE_HAS_GRADIENT : 0,
                                   [FRAME_pushes] = (uint32_t)f->push_count};
  size_t columns = 0;
  for (int i = 0; i < WIRE_LAYOUT_NUMBERS; ++i) {
    wholes[FRAME_layout + i] = (uint32_t)f->layout[i];
  }
  for (int i = 0; i < CONTACT_ARRAYS; ++i) {
    wholes[FRAME_flags] |= of[i] ? arrays[i].flag : 0;
    columns += of[i] || !arrays[i].flag ? arrays[i].columns : 0;
  }
  const size_t words = count * columns + f->push_count + KIND_WHOLES * f->kind_count;
  uint8_t *to = begin(out, MAGIC_BYTES + WORD * FRAME_WHOLES + sizeof f->numbers + WORD * words,
                      count, "contacts");
  if (!to) {
    return;
  }
  to = put_words(to, wholes, FRAME_WHOLES);
  for (int i = 0; i < REALS; ++i) {
    to = put_double(to, f->numbers[i]);
  }
  for (int i = 0; i < CONTACT_ARRAYS; ++i) {
    to = put_words(to, of[i], of[i] || !arrays[i].flag ? count * arrays[i].columns : 0);
  }
  to = put_words(to, f->pushes, f->push_count);
  put_words(to, f->kinds, KIND_WHOLES * f->kind_count);
}

void answer_curves(answer *out, size_t rows, size_t count, const float *values)
{
  const uint32_t wholes[CURVES_WHOLES] = {[CURVES_version] = WIRE_VERSION,
                                          [CURVES_count] = (uint32_t)count,
                                          [CURVES_rows] = (uint32_t)rows};
  uint8_t *to =
    begin(out, MAGIC_BYTES + WORD * (CURVES_WHOLES + rows * count), count, "frames of curves");
  if (to) {
    put_words(put_words(to, wholes, CURVES_WHOLES), values, rows * count);
  }
}
