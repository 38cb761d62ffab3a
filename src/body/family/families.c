#include "body/family/family.h"

#include "geometry/layout.h"
#include <math.h>
#include <string.h>

#define DECLARE_FAMILY(name) extern const family name##_family;
FAMILIES(DECLARE_FAMILY)
#undef DECLARE_FAMILY

#define LIST_FAMILY(name) &name##_family,
const family *const families[FAMILY_COUNT] = {FAMILIES(LIST_FAMILY)};
#undef LIST_FAMILY

/* The pointer types of arrays differ by family, so they are copied instead of being read as const
 * void *. */
static const char *array_of(const family *f, const abut_body_def *def)
{
  const void *array;
  memcpy(&array, (const char *)def + f->array, sizeof array);
  return array;
}

const void *family_one(const family *f, const abut_body_def *def, size_t i)
{
  return array_of(f, def) + i * f->size;
}

size_t family_count(const family *f, const abut_body_def *def)
{
  size_t count;
  memcpy(&count, (const char *)def + f->count, sizeof count);
  return count;
}

bool family_given(const family *f, const abut_body_def *def)
{
  return array_of(f, def) != NULL;
}

abut_operation family_operation(const family *f, const void *one)
{
  abut_operation operation;
  memcpy(&operation, (const char *)one + f->operation, sizeof operation);
  return operation;
}

void family_set(const family *f, abut_body_def *def, const void *array, size_t count)
{
  memcpy((char *)def + f->array, &array, sizeof array);
  memcpy((char *)def + f->count, &count, sizeof count);
}

bool family_any(const abut_body_def *def)
{
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    if (family_count(families[i], def)) {
      return true;
    }
  }
  return false;
}

bool family_any_added(const abut_body_def *def)
{
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    const size_t count = family_count(families[i], def);
    for (size_t k = 0; k < count; ++k) {
      if (family_operation(families[i], family_one(families[i], def, k)) == ABUT_ADD) {
        return true;
      }
    }
  }
  return false;
}

packed packed_of(const int *head, const reals *shape, abut_operation operation, size_t which)
{
  const int *entry = head + HEAD_ENTRY((size_t)operation, which);
  return (packed){(size_t)entry[ENTRY_COUNT], head + entry[ENTRY_RANGES], (size_t)entry[ENTRY_BASE],
                  shape->data, shape->size};
}

packed packed_one(const packed *p, size_t which, size_t i)
{
  packed one = *p;
  one.count = 1;
  if (families[which]->ranged) {
    one.ranges = p->ranges + i * RANGE_INTS;
  } else {
    one.base = p->base + i * families[which]->stride;
  }
  return one;
}

void box_cover(box *b, const double point[3])
{
  for (int k = 0; k < 3; ++k) {
    b->lower[k] = fmin(b->lower[k], point[k]);
    b->upper[k] = fmax(b->upper[k], point[k]);
  }
}

void box_unbound(box *b)
{
  for (int k = 0; k < 3; ++k) {
    b->lower[k] = -HUGE_VAL;
    b->upper[k] = HUGE_VAL;
  }
}
