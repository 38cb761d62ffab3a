#include "body/parts.h"

#include "base/error.h"
#include "body/family/family.h"
#include "geometry/layout.h"
#include <stdlib.h>

/* A definition's primitives in packing order: added before subtracted ones, family by family. */
typedef struct sorted {
  const void **ones;
  size_t counts[OPERATIONS][FAMILY_COUNT];
} sorted;

static abut_status sort(const abut_body_def *def, sorted *s)
{
  size_t all = 0, next = 0;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    all += family_count(families[i], def);
  }
  void *memory = NULL;
  TRY(allocate(&memory, all, sizeof *s->ones));
  *s = (sorted){.ones = memory};
  for (int operation = 0; operation < OPERATIONS; ++operation) {
    for (size_t i = 0; i < FAMILY_COUNT; ++i) {
      const size_t first = next, count = family_count(families[i], def);
      for (size_t k = 0; k < count; ++k) {
        const void *one = family_one(families[i], def, k);
        if ((int)family_operation(families[i], one) == operation) {
          s->ones[next++] = one;
        }
      }
      s->counts[operation][i] = next - first;
    }
  }
  return ABUT_SUCCESS;
}

/* Counts the integers and reals for packing. */
static abut_status measure(const sorted *s, size_t *head_count, size_t *shape_count)
{
  const void *const *ones = s->ones;
  size_t ints = HEAD_RANGES, numbers = 0;
  for (int operation = 0; operation < OPERATIONS; ++operation) {
    for (size_t i = 0; i < FAMILY_COUNT; ++i) {
      const size_t count = s->counts[operation][i];
      ints += families[i]->ranged ? RANGE_INTS * count : 0;
      numbers += families[i]->room(ones, count);
      ones += count;
    }
  }
  if (numbers > 0x7fffffff) {
    return fail(ABUT_ERROR_BODY, "the body has too many primitives: they need %zu numbers",
                numbers);
  }
  *head_count = ints;
  *shape_count = numbers;
  return ABUT_SUCCESS;
}

static abut_status pack_sorted(const sorted *s, int *head, reals *shape)
{
  const void *const *ones = s->ones;
  packer p = {.shape = shape, .ranges = head + HEAD_RANGES};
  for (int operation = 0; operation < OPERATIONS; ++operation) {
    for (size_t i = 0; i < FAMILY_COUNT; ++i) {
      const size_t count = s->counts[operation][i];
      int *entry = head + HEAD_ENTRY((size_t)operation, i);
      p.base = p.at;
      entry[ENTRY_COUNT] = (int)count;
      entry[ENTRY_BASE] = (int)p.base;
      entry[ENTRY_RANGES] = (int)(p.ranges - head);
      TRY(families[i]->pack(&p, ones, count));
      head[operation ? HEAD_SUBTRACTED : HEAD_ADDED] += (int)count;
      ones += count;
    }
  }
  return ABUT_SUCCESS;
}

abut_status pack_primitives(const abut_body_def *def, size_t real_size, int **head,
                            size_t *head_count, reals *shape)
{
  abut_status status = ABUT_SUCCESS;
  sorted s = {0};
  size_t numbers = 0;
  void *memory = NULL;
  TRY_DONE(sort(def, &s));
  TRY_DONE(measure(&s, head_count, &numbers));
  TRY_DONE(allocate(&memory, *head_count, sizeof(int)));
  *head = memory;
  TRY_DONE(reals_create(shape, numbers, real_size));
  TRY_DONE(pack_sorted(&s, *head, shape));
done:
  free(s.ones);
  return status;
}
