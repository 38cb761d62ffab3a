#include "contacts_store.h"

#include "outputs.h"

#include <stdint.h>
#include <stdlib.h>

#define REALS 8   /* p, d, n, activity of one contact */
#define INTS 4    /* pose, slot, feature of one active contact */
/* The first guess: active contacts a pose, and in all. */
#define GUESS_A_POSE 64
#define GUESS_LEAST 4096

static exit_code take_block(contacts_store *c, size_t count, size_t bytes_each, const char *advice)
{
  size_t bytes = 0;
  free(c->block);
  c->block = NULL;
  if (multiply(count, bytes_each, 1, &bytes)) {
    c->block = malloc(bytes ? bytes : 1);
  }
  if (!c->block) {
    return report(EXIT_RUN, "no memory for %zu contacts of %zu bytes%s", count, bytes_each, advice);
  }
  return EXIT_GOOD;
}

exit_code store_dense(contacts_store *c, const scene *s)
{
  const size_t real = real_bytes(s->precision);
  size_t count = 0;
  if (!multiply(c->batch.count, s->layout.contacts, 1, &count)) {
    return report(EXIT_RUN, "%zu poses of %zu contacts are too many; --compact T keeps the active",
                  c->batch.count, s->layout.contacts);
  }
  CLI_TRY(take_block(c, count, REALS * real, "; --compact T keeps the active ones alone"));
  char *at = c->block;
  c->batch.p = at;
  c->batch.n = at + 3 * count * real;
  c->batch.d = at + 6 * count * real;
  c->batch.activity = at + 7 * count * real;
  return EXIT_GOOD;
}

static exit_code take_jacobian(contacts_store *c, size_t capacity, size_t real)
{
  size_t bytes = 0;
  free(c->jacobian);
  c->jacobian = NULL;
  if (multiply(capacity, 8 * c->columns, real, &bytes)) {
    c->jacobian = malloc(bytes ? bytes : 1);
  }
  return c->jacobian ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu Jacobian blocks", capacity);
}

exit_code store_compact(contacts_store *c, const scene *s, size_t capacity)
{
  const size_t real = real_bytes(s->precision);
  if (c->columns) {
    CLI_TRY(take_jacobian(c, capacity, real));
  }
  CLI_TRY(take_block(c, capacity, REALS * real + INTS * sizeof(uint32_t), ""));
  char *at = c->block;
  abut_compact *list = &c->compact;
  list->capacity = capacity;
  list->p = at;
  list->n = at + 3 * capacity * real;
  list->d = at + 6 * capacity * real;
  list->activity = at + 7 * capacity * real;
  list->pose = (uint32_t *)(void *)(at + 8 * capacity * real);
  list->slot = list->pose + capacity;
  list->feature = list->slot + capacity;
  c->batch.compact = list;
  return EXIT_GOOD;
}

exit_code store_reductions(contacts_store *c, const scene *s)
{
  const size_t row = c->batch.count * real_bytes(s->precision);
  c->reduced = calloc(c->batch.count ? c->batch.count : 1, REDUCTIONS * real_bytes(s->precision));
  if (!c->reduced) {
    return report(EXIT_RUN, "no memory for the numbers of %zu poses", c->batch.count);
  }
  char *at = c->reduced;
  c->batch.reductions.minimum_distance = at + REDUCTION_LEAST * row;
  c->batch.reductions.soft_minimum = at + REDUCTION_SOFT * row;
  c->batch.reductions.energy = at + REDUCTION_ENERGY * row;
  c->batch.reductions.activity = at + REDUCTION_ACTIVITY * row;
  return EXIT_GOOD;
}

bool least_distance(const contacts_store *c, const scene *s, double *least)
{
  bool found = false;
  for (size_t i = 0; i < c->batch.count; ++i) {
    const double d = real_at(c->batch.reductions.minimum_distance, s->precision, i);
    if (c->batch.status[i] == ABUT_POSE_OK && (!found || d < *least)) {
      *least = d;
      found = true;
    }
  }
  return found;
}

size_t guess_capacity(const scene *s, size_t poses)
{
  size_t all = 0, guess = 0;
  const bool fits = multiply(poses, s->layout.contacts, 1, &all);
  if (!multiply(poses, GUESS_A_POSE, 1, &guess) || guess < GUESS_LEAST) {
    guess = GUESS_LEAST;
  }
  return fits && all < guess ? all : guess;
}

size_t count_active(const contacts_store *c, const scene *s, double threshold)
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

static void add_dense(outputs *l, const contacts_store *c, const scene *s)
{
  const abut_array_type real = real_type(s);
  const abut_batch *b = &c->batch;
  const size_t contacts = s->layout.contacts;
  outputs_add(l, "p", real, b->p, 3, b->count, contacts, 3);
  outputs_add(l, "d", real, b->d, 2, b->count, contacts, 0);
  outputs_add(l, "n", real, b->n, 3, b->count, contacts, 3);
  outputs_add(l, "activity", real, b->activity, 2, b->count, contacts, 0);
}

static void add_reductions(outputs *l, const contacts_store *c, const scene *s)
{
  const abut_array_type real = real_type(s);
  const abut_reductions *r = &c->batch.reductions;
  outputs_add(l, "minimum_distance", real, r->minimum_distance, 1, c->batch.count, 0, 0);
  outputs_add(l, "soft_minimum", real, r->soft_minimum, 1, c->batch.count, 0, 0);
  outputs_add(l, "energy", real, r->energy, 1, c->batch.count, 0, 0);
  outputs_add(l, "activity_sum", real, r->activity, 1, c->batch.count, 0, 0);
}

static void add_compact(outputs *l, const contacts_store *c, const scene *s)
{
  const abut_array_type real = real_type(s);
  const abut_compact *list = &c->compact;
  outputs_add(l, "compact_pose", ABUT_ARRAY_UINT32, list->pose, 1, list->count, 0, 0);
  outputs_add(l, "compact_slot", ABUT_ARRAY_UINT32, list->slot, 1, list->count, 0, 0);
  outputs_add(l, "compact_feature", ABUT_ARRAY_UINT32, list->feature, 2, list->count, 2, 0);
  outputs_add(l, "compact_p", real, list->p, 2, list->count, 3, 0);
  outputs_add(l, "compact_d", real, list->d, 1, list->count, 0, 0);
  outputs_add(l, "compact_n", real, list->n, 2, list->count, 3, 0);
  outputs_add(l, "compact_activity", real, list->activity, 1, list->count, 0, 0);
  outputs_add(l, "compact_threshold", ABUT_ARRAY_FLOAT64, &list->threshold, 1, 1, 0, 0);
}

#define LAYOUT_NUMBERS 9

static void number_layout(const abut_layout *l, uint32_t out[LAYOUT_NUMBERS])
{
  const size_t numbers[LAYOUT_NUMBERS] = {
    l->contacts,         l->vertices[0],      l->vertices[1],    l->edges[0],       l->edges[1],
    l->vertex_offset[0], l->vertex_offset[1], l->edge_offset[0], l->edge_offset[1]};
  for (int i = 0; i < LAYOUT_NUMBERS; ++i) {
    out[i] = (uint32_t)numbers[i]; /* a pair has at most 2^28 contacts */
  }
}

exit_code store_write(const contacts_store *c, const scene *s, const options *o)
{
  outputs l = {0};
  uint32_t layout[LAYOUT_NUMBERS];
  if (c->is_compact) {
    add_compact(&l, c, s);
  } else {
    add_dense(&l, c, s);
  }
  if (c->columns) {
    outputs_add(&l, "jacobian", real_type(s), c->jacobian, 3, c->compact.count, 8, c->columns);
  }
  add_reductions(&l, c, s);
  number_layout(&s->layout, layout);
  outputs_add(&l, "status", ABUT_ARRAY_UINT8, c->batch.status, 1, c->batch.count, 0, 0);
  outputs_add(&l, "layout", ABUT_ARRAY_UINT32, layout, 1, LAYOUT_NUMBERS, 0, 0);
  return outputs_write(&l, s, o);
}

void store_free(contacts_store *c)
{
  free(c->block);
  free(c->jacobian);
  free(c->reduced);
  pose_arrays_close(&c->poses);
  *c = (contacts_store){0};
}
