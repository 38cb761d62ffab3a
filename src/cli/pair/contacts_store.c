#include "pair/contacts_store.h"

#include "core/contact_arrays.h"
#include "geometry/reductions.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Assigns `count` contacts of a block to each output. */
static void share_block(abut_batch *to, size_t count, size_t real, char *at)
{
  for (size_t i = 0; i < OUTPUTS; ++i) {
    put_array(to, contact_arrays[i].in_batch, at);
    at += contact_arrays[i].components * count * real;
  }
}

exit_code store_dense(contacts_store *c, const session *s)
{
  const size_t real = real_bytes(s->precision);
  size_t count = 0, bytes = 0;
  if (!multiply(c->batch.count, s->layout.contacts, 1, &count)) {
    return report(
      EXIT_RUN,
      "%zu poses of %zu contacts are too many; use --compact T to keep only the active contacts",
      c->batch.count, s->layout.contacts);
  }
  c->block = multiply(count, COMPACT_REALS, real, &bytes) ? malloc(bytes ? bytes : 1) : NULL;
  if (!c->block) {
    return report(EXIT_RUN,
                  "not enough memory for %zu contacts of %zu bytes; use --compact T to keep only "
                  "the active contacts",
                  count, COMPACT_REALS * real);
  }
  share_block(&c->batch, count, real, c->block);
  return EXIT_GOOD;
}

void store_compact(contacts_store *c)
{
  c->compact.grows = true;
  c->compact.weights = true;
  c->batch.compact = &c->compact;
}

exit_code store_pairs(contacts_store *c, const abut_poses *poses)
{
  c->own = calloc(poses->count ? poses->count : 1, sizeof *c->own);
  if (!c->own) {
    return report(EXIT_RUN, "not enough memory for the counts of %zu poses", poses->count);
  }
  c->batch.pairs = c->pairs.pairs;
  c->batch.pair_count = c->pairs.files.count;
  c->batch.pair = poses->pair;
  c->batch.contacts = c->own;
  return EXIT_GOOD;
}

/* Reductions that are written as arrays. */
#define KEEP_REDUCTION(member, id, word, file, over, bars, reads) \
  r->member = *(file) ? at + REDUCED_##id * row : NULL;

exit_code store_reductions(contacts_store *c, const session *s)
{
  const size_t row = c->batch.count * real_bytes(s->precision);
  c->reduced =
    calloc(c->batch.count ? c->batch.count : 1, REDUCED_REALS * real_bytes(s->precision));
  if (!c->reduced) {
    return report(EXIT_RUN, "no memory for the numbers of %zu poses", c->batch.count);
  }
  char *at = c->reduced;
  abut_reductions *r = &c->batch.reductions;
  ALL_REDUCTIONS(KEEP_REDUCTION)
  return EXIT_GOOD;
}

bool least_distance(const contacts_store *c, const session *s, double *least)
{
  bool found = false;
  for (size_t i = 0; i < c->batch.count; ++i) {
    const double d = real_at(c->batch.reductions.distance, s->precision, i);
    if (!(c->batch.status[i] & ABUT_POSE_REJECTED) && (!found || d < *least)) {
      *least = d;
      found = true;
    }
  }
  return found;
}

size_t count_active(const contacts_store *c, const session *s, double threshold)
{
  if (c->is_compact) {
    return c->compact.count;
  }
  const size_t count = c->batch.count * s->layout.contacts;
  size_t active = 0;
  for (size_t i = 0; i < count; ++i) {
    active += real_at(c->batch.activity, s->precision, i) >= threshold;
  }
  return active;
}

/* ---- writing ---- */

static void add_dense(outputs *l, const contacts_store *c, const session *s)
{
  const abut_array_type real = real_type(s);
  const abut_batch *b = &c->batch;
  const size_t contacts = s->layout.contacts;
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_array *o = &contact_arrays[i];
    const bool vector = o->components > 1;
    outputs_add(l, o->name, real, array_in(b, o->in_batch), vector ? 3 : 2, b->count, contacts,
                vector ? o->components : 0);
  }
}

#define ADD_REDUCTION(member, id, word, file, over, bars, reads)    \
  if (*(file)) {                                                    \
    outputs_add(l, file, real, r->member, 1, c->batch.count, 0, 0); \
  }

static void add_reductions(outputs *l, const contacts_store *c, const session *s)
{
  const abut_array_type real = real_type(s);
  const abut_reductions *r = &c->batch.reductions;
  ALL_REDUCTIONS(ADD_REDUCTION)
}

static void add_compact(outputs *l, const contacts_store *c, const session *s)
{
  const abut_array_type real = real_type(s);
  const abut_compact *list = &c->compact;
  outputs_add_of(l, OUTPUT_OF_ENTRIES, "compact_pose", ABUT_ARRAY_UINT32, list->pose, 1,
                 list->count, 0, 0);
  outputs_add_of(l, OUTPUT_OF_ENTRIES, "compact_slot", ABUT_ARRAY_UINT32, list->slot, 1,
                 list->count, 0, 0);
  outputs_add_of(l, OUTPUT_OF_ENTRIES, "compact_feature", ABUT_ARRAY_UINT32, list->feature, 2,
                 list->count, 2, 0);
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_array *o = &contact_arrays[i];
    const bool vector = o->components > 1;
    outputs_add_of(l, OUTPUT_OF_ENTRIES, o->compact, real, array_in(list, o->in_list),
                   vector ? 2 : 1, list->count, vector ? o->components : 0, 0);
  }
  outputs_add_of(l, OUTPUT_ONCE, "compact_threshold", ABUT_ARRAY_FLOAT64, &list->threshold, 1, 1, 0,
                 0);
}

#define LAYOUT_NUMBERS 11

static void number_layout(const abut_layout *l, uint32_t out[LAYOUT_NUMBERS])
{
  const size_t numbers[LAYOUT_NUMBERS] = {l->contacts,         l->vertices[0],
                                          l->vertices[1],      l->edges[0],
                                          l->edges[1],         l->vertex_offset[0],
                                          l->vertex_offset[1], l->edge_offset[0],
                                          l->edge_offset[1],   l->edge_slots[0],
                                          l->edge_slots[1]};
  for (int i = 0; i < LAYOUT_NUMBERS; ++i) {
    out[i] = (uint32_t)numbers[i]; /* a pair has at most 2^28 contacts */
  }
}

/* Adds the numbers of one pair, or one row for each of several. */
static exit_code add_layouts(outputs *l, const contacts_store *c, const session *s, uint32_t **out)
{
  const size_t pairs = c->batch.pairs ? c->batch.pair_count : 1;
  uint32_t *numbers = calloc(pairs, LAYOUT_NUMBERS * sizeof *numbers);
  *out = numbers;
  if (!numbers) {
    return report(EXIT_RUN, "no memory for the layouts of %zu pairs", pairs);
  }
  for (size_t i = 0; i < pairs; ++i) {
    number_layout(c->batch.pairs ? &c->pairs.layouts[i] : &s->layout, numbers + i * LAYOUT_NUMBERS);
  }
  if (!c->batch.pairs) {
    outputs_add_of(l, OUTPUT_ONCE, "layout", ABUT_ARRAY_UINT32, numbers, 1, LAYOUT_NUMBERS, 0, 0);
    return EXIT_GOOD;
  }
  outputs_add_of(l, OUTPUT_ONCE, "layout", ABUT_ARRAY_UINT32, numbers, 2, pairs, LAYOUT_NUMBERS, 0);
  outputs_add(l, "pair", ABUT_ARRAY_UINT32, c->batch.pair, 1, c->batch.count, 0, 0);
  outputs_add(l, "count", ABUT_ARRAY_UINT32, c->own, 1, c->batch.count, 0, 0);
  return EXIT_GOOD;
}

exit_code store_outputs(contacts_store *c, const session *s, outputs *l)
{
  if (c->is_compact) {
    add_compact(l, c, s);
  } else {
    add_dense(l, c, s);
  }
  if (c->columns) {
    outputs_add_of(l, OUTPUT_OF_ENTRIES, "jacobian", real_type(s), c->compact.blocks, 3,
                   c->compact.count, 8, c->columns);
  }
  add_reductions(l, c, s);
  outputs_add(l, "status", ABUT_ARRAY_UINT8, c->batch.status, 1, c->batch.count, 0, 0);
  free(c->numbers);
  return add_layouts(l, c, s, &c->numbers);
}

void store_empty(contacts_store *c)
{
  free(c->block);
  free(c->reduced);
  free(c->own);
  pose_arrays_close(&c->poses);
  c->block = c->reduced = NULL;
  c->own = NULL;
}

void store_free(contacts_store *c)
{
  store_empty(c);
  abut_free_compact(&c->compact);
  free(c->numbers);
  pair_list_free(&c->pairs);
  *c = (contacts_store){0};
}
