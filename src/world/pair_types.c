/* Pair types: the groups of a scene with equal bodies and smoothings, whose world pairs share one
 * manifold. A hash table finds them, since there may be nearly as many types as pairs. */
#include "base/error.h"
#include "world/pair_batches.h"
#include <stdlib.h>
#include <string.h>

/* Hash table of types with open addressing: (size) types, -1 if empty. */
typedef struct type_table {
  int *of;
  size_t size; /* a power of two */
} type_table;

static void mix_in(uint64_t *hash, const void *from, size_t bytes)
{
  for (size_t i = 0; i < bytes; ++i) { /* FNV-1a */
    *hash = (*hash ^ ((const unsigned char *)from)[i]) * UINT64_C(0x100000001b3);
  }
}

/* Equal pairs have equal hashes. Only part of a smoothing is hashed. */
static uint64_t hash_of(const pair *p)
{
  const abut_smoothing *s = &p->smoothing;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const double some[] = {s->penetration + 0.0, s->union_ + 0.0, s->plane + 0.0,
                         s->floor + 0.0}; /* -0 is 0 */
  for (int k = 0; k < 2; ++k) {
    mix_in(&hash, &p->bodies[k].index, sizeof p->bodies[k].index);
    mix_in(&hash, &p->bodies[k].generation, sizeof p->bodies[k].generation);
  }
  mix_in(&hash, some, sizeof some);
  return hash;
}

/* Sets *type to the type of a pair; adds a new type if there is none. */
static abut_status find_type(loaded_scene *s, type_table *t, size_t i, int *type)
{
  const pair *p = pair_get(s->parts[i].pair);
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  size_t at = (size_t)hash_of(p) & (t->size - 1);
  for (; t->of[at] >= 0; at = (at + 1) & (t->size - 1)) {
    const pair *other = pair_get(s->parts[s->pair_types[t->of[at]].first].pair);
    if (other && pair_is_like(p, other)) {
      *type = t->of[at];
      return ABUT_SUCCESS;
    }
  }
  *type = t->of[at] = (int)s->pair_type_count++;
  s->pair_types[*type].first = i;
  return ABUT_SUCCESS;
}

/* Fills types (groups) with the type of each group, and counts the groups per type. Until
 * order_types, `first` of a type is a group. */
static abut_status count_types(loaded_scene *s, type_table *t, int *types)
{
  for (size_t i = 0; i < t->size; ++i) {
    t->of[i] = -1;
  }
  for (size_t i = 0; i < s->group_count; ++i) {
    const size_t like = s->groups[i].is_tile ? i : s->def.pairs[i].alike;
    /* Beside seams, otherwise equal pairs may differ. */
    const abut_pair own = s->parts[i].pair, other = s->parts[like].pair;
    if (like == i || own.index != other.index || own.generation != other.generation) {
      TRY(find_type(s, t, i, &types[i]));
    } else {
      types[i] = types[like];
    }
    ++s->pair_types[types[i]].count;
  }
  return ABUT_SUCCESS;
}

static void order_types(loaded_scene *s, const int *types)
{
  size_t at = 0;
  for (size_t type = 0; type < s->pair_type_count; ++type) {
    s->pair_types[type].first = at;
    at += s->pair_types[type].count;
    s->pair_types[type].count = 0;
  }
  for (size_t i = 0; i < s->group_count; ++i) {
    pair_type *k = &s->pair_types[types[i]];
    s->pair_order[k->first + k->count++] = (int)i;
  }
}

abut_status find_pair_types(loaded_scene *s)
{
  const size_t count = s->group_count;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *types = NULL;
  type_table t = {.size = 4};
  while (t.size < 2 * count) {
    t.size *= 2;
  }
  TRY(allocate(&memory, count + 1, sizeof *s->pair_types));
  s->pair_types = memory;
  TRY(allocate(&memory, count + 1, sizeof *s->pair_order));
  s->pair_order = memory;
  TRY_DONE(allocate(&types, count + 1, sizeof(int)));
  TRY_DONE(allocate(&memory, t.size, sizeof *t.of));
  t.of = memory;
  TRY_DONE(count_types(s, &t, types));
  order_types(s, types);
done:
  free(t.of);
  free(types);
  return status;
}
