#include "contacts_store.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REALS 8   /* p, d, n, activity of one contact */
#define INTS 4    /* pose, slot, feature of one active contact */
#define ARRAYS 16 /* most in one file */
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

exit_code store_compact(contacts_store *c, const scene *s, size_t capacity)
{
  const size_t real = real_bytes(s->precision);
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
    const void *all = c->batch.reductions.minimum_distance;
    const double d = s->precision == ABUT_FLOAT64 ? ((const double *)all)[i]
                                                  : (double)((const float *)all)[i];
    if (c->status[i] == ABUT_POSE_OK && (!found || d < *least)) {
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
  const double *f64 = c->batch.activity;
  const float *f32 = c->batch.activity;
  size_t active = 0;
  for (size_t i = 0; i < count; ++i) {
    active += (s->precision == ABUT_FLOAT64 ? f64[i] : (double)f32[i]) >= threshold;
  }
  return active;
}

/* ---- writing ---- */

typedef struct array_list {
  abut_array arrays[ARRAYS];
  size_t count;
} array_list;

static void add(array_list *l, const char *name, abut_array_type type, const void *data,
                uint32_t dimensions, size_t rows, size_t columns)
{
  l->arrays[l->count++] = (abut_array){name, type, dimensions, {rows, columns, 3, 0}, data};
}

static void add_dense(array_list *l, const contacts_store *c, const scene *s)
{
  const abut_array_type real = s->precision == ABUT_FLOAT64 ? ABUT_ARRAY_FLOAT64
                                                            : ABUT_ARRAY_FLOAT32;
  const abut_batch *b = &c->batch;
  const size_t contacts = s->layout.contacts;
  add(l, "p", real, b->p, 3, b->count, contacts);
  add(l, "d", real, b->d, 2, b->count, contacts);
  add(l, "n", real, b->n, 3, b->count, contacts);
  add(l, "activity", real, b->activity, 2, b->count, contacts);
}

static void add_reductions(array_list *l, const contacts_store *c, const scene *s)
{
  const abut_array_type real = s->precision == ABUT_FLOAT64 ? ABUT_ARRAY_FLOAT64
                                                            : ABUT_ARRAY_FLOAT32;
  const abut_reductions *r = &c->batch.reductions;
  add(l, "minimum_distance", real, r->minimum_distance, 1, c->batch.count, 0);
  add(l, "soft_minimum", real, r->soft_minimum, 1, c->batch.count, 0);
  add(l, "energy", real, r->energy, 1, c->batch.count, 0);
  add(l, "activity_sum", real, r->activity, 1, c->batch.count, 0);
}

static void add_compact(array_list *l, const contacts_store *c, const scene *s)
{
  const abut_array_type real = s->precision == ABUT_FLOAT64 ? ABUT_ARRAY_FLOAT64
                                                            : ABUT_ARRAY_FLOAT32;
  const abut_compact *list = &c->compact;
  add(l, "compact_pose", ABUT_ARRAY_UINT32, list->pose, 1, list->count, 0);
  add(l, "compact_slot", ABUT_ARRAY_UINT32, list->slot, 1, list->count, 0);
  add(l, "compact_feature", ABUT_ARRAY_UINT32, list->feature, 2, list->count, 2);
  add(l, "compact_p", real, list->p, 2, list->count, 3);
  add(l, "compact_d", real, list->d, 1, list->count, 0);
  add(l, "compact_n", real, list->n, 2, list->count, 3);
  add(l, "compact_activity", real, list->activity, 1, list->count, 0);
  add(l, "compact_threshold", ABUT_ARRAY_FLOAT64, &list->threshold, 1, 1, 0);
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

exit_code store_write(const contacts_store *c, const scene *s, const char *path)
{
  array_list l = {0};
  uint32_t layout[LAYOUT_NUMBERS];
  char *text = NULL;
  CLI_TRY(report_status(abut_format_smoothing(&s->smoothing, &text)));
  if (c->is_compact) {
    add_compact(&l, c, s);
  } else {
    add_dense(&l, c, s);
  }
  add_reductions(&l, c, s);
  number_layout(&s->layout, layout);
  add(&l, "status", ABUT_ARRAY_UINT8, c->status, 1, c->batch.count, 0);
  add(&l, "layout", ABUT_ARRAY_UINT32, layout, 1, LAYOUT_NUMBERS, 0);
  add(&l, "smoothing", ABUT_ARRAY_TEXT, text, 1, strlen(text), 0);
  const exit_code code = report_status(abut_write_npz(path, l.arrays, l.count));
  abut_free(text);
  return code;
}

void store_free(contacts_store *c)
{
  free(c->block);
  free(c->pose1);
  free(c->pose2);
  free(c->status);
  free(c->reduced);
  *c = (contacts_store){0};
}
