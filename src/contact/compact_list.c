#include "contact/compact_list.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/layout.h"
#include "contact/outputs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE (0xab071206u ^ (uint32_t)sizeof(abut_compact)) /* changes when it grows */

abut_status compact_list_check(const abut_compact *l)
{
  if (l && isnan(l->threshold)) {
    return fail(ABUT_ERROR_ARGUMENT, "the threshold of the list is NaN");
  }
  const bool given =
    l && (l->pose || l->slot || l->feature || l->blocks || outputs_given(OUTPUT_LIST, l));
  return l && l->grows && given && l->cookie != COOKIE
           ? fail(ABUT_ERROR_ARGUMENT,
                  "a list that grows must start with NULL arrays: the library allocates them")
           : ABUT_SUCCESS;
}

abut_status piece_create(const compact_list *l, size_t first, size_t poses, size_t found,
                         piece **out)
{
  *out = NULL;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *ints = NULL, *values = NULL, *blocks = NULL;
  const size_t most = l->out->grows ? found : l->out->capacity;
  const size_t entries = found < most ? found : most;
  TRY_DONE(allocate(&memory, 1, sizeof(piece)));
  TRY_DONE(allocate(&ints, entries, COMPACT_INTS * sizeof(int)));
  TRY_DONE(allocate(&values, entries, COMPACT_REALS * l->real_bytes));
  if (l->block_bytes) {
    TRY_DONE(allocate(&blocks, entries, l->block_bytes));
  }
  *out = memory;
  **out = (piece){NULL, first, poses, found, entries, ints, values, blocks};
done:
  if (status != ABUT_SUCCESS) {
    free(memory);
    free(ints);
    free(values);
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

/* Copies an entry of a piece to a place of the caller's list. */
static void put_entry(const compact_list *l, const piece *p, size_t i, size_t pose, size_t place)
{
  const abut_compact *out = l->out;
  const int *entry = p->ints + i * COMPACT_INTS;
  const char *row = p->reals + i * COMPACT_REALS * l->real_bytes;
  if (out->pose) {
    out->pose[place] = (uint32_t)pose;
  }
  if (out->slot) {
    out->slot[place] = (uint32_t)entry[1];
  }
  if (out->feature) {
    out->feature[2 * place] = (uint32_t)entry[2];
    out->feature[2 * place + 1] = (uint32_t)entry[3];
  }
  for (size_t k = 0; k < OUTPUTS; ++k) {
    const contact_output *o = &contact_outputs[k];
    const size_t bytes = o->components * l->real_bytes;
    char *to = output_array(o, OUTPUT_LIST, out);
    if (to) {
      memcpy(to + place * bytes, row + o->column * l->real_bytes, bytes);
    }
  }
  if (l->blocks) {
    memcpy(l->blocks + place * l->block_bytes, p->blocks + i * l->block_bytes, l->block_bytes);
  }
}

static void append(compact_list *l, const piece *p)
{
  abut_compact *out = l->out;
  const size_t base = out->count < out->capacity ? out->count : out->capacity;
  const size_t room = out->capacity - base, count = p->entries < room ? p->entries : room;
  for (size_t i = 0; i < count; ++i) {
    put_entry(l, p, i, p->first + (size_t)p->ints[i * COMPACT_INTS], base + i);
  }
  out->count += p->found;
  l->poses += p->poses;
}

static void append_next(compact_list *l)
{
  while (l->waiting && l->waiting->first == l->poses) {
    piece *next = l->waiting;
    l->waiting = next->next;
    append(l, next);
    piece_free(next);
  }
}

void compact_list_add(compact_list *l, piece *p)
{
  piece **at = &l->waiting;
  while (*at && (*at)->first < p->first) {
    at = &(*at)->next;
  }
  p->next = *at;
  *at = p;
  if (!l->rows && !l->out->grows) {
    append_next(l);
  }
}

/* ---- at the end ---- */

/* Gives the caller's list new arrays with room for all pending entries. */
static abut_status grow_list(compact_list *l)
{
  abut_compact *out = l->out;
  abut_status status = ABUT_SUCCESS;
  size_t count = 0;
  void *ints[3] = {NULL}, *values[OUTPUTS] = {NULL}, *blocks = NULL;
  for (const piece *p = l->waiting; p; p = p->next) {
    count += p->found;
  }
  for (size_t i = 0; i < 3; ++i) {
    TRY_DONE(allocate(&ints[i], count, (i == 2 ? 2 : 1) * sizeof(uint32_t)));
  }
  for (size_t i = 0; i < OUTPUTS; ++i) {
    if (contact_outputs[i].want & WANT_LISTED || out->weights) {
      TRY_DONE(allocate(&values[i], count, contact_outputs[i].components * l->real_bytes));
    }
  }
  TRY_DONE(l->block_bytes ? allocate(&blocks, count, l->block_bytes) : ABUT_SUCCESS);
  *out = (abut_compact){.threshold = out->threshold,
                        .grows = true,
                        .weights = out->weights,
                        .capacity = count,
                        .pose = ints[0],
                        .slot = ints[1],
                        .feature = ints[2],
                        .blocks = blocks,
                        .cookie = COOKIE};
  for (size_t i = 0; i < OUTPUTS; ++i) {
    output_set(&contact_outputs[i], OUTPUT_LIST, out, values[i]);
  }
  l->blocks = blocks;
done:
  for (size_t i = 0; status != ABUT_SUCCESS && i < OUTPUTS; ++i) {
    free(values[i]);
    free(i < 3 ? ints[i] : NULL);
  }
  return status;
}

static size_t pose_of(const compact_list *l, const piece *p, size_t i)
{
  return l->rows[p->first + (size_t)p->ints[i * COMPACT_INTS]];
}

/* Moves pending entries in the order of their poses. A piece's poses ascend, and a pose's entries
 * are in one piece. If a piece was truncated, it has as many entries as the whole list has room
 * for, so entries after the missing ones would not fit either. */
static abut_status put_in_order(compact_list *l, size_t poses)
{
  void *memory = NULL;
  abut_compact *out = l->out;
  TRY(allocate(&memory, poses + 1, sizeof(size_t)));
  size_t *next = memory; /* index of each pose's next entry */
  for (const piece *p = l->waiting; p; p = p->next) {
    out->count += p->found;
    for (size_t i = 0; i < p->entries; ++i) {
      ++next[pose_of(l, p, i) + 1];
    }
  }
  for (size_t i = 1; i < poses; ++i) {
    next[i] += next[i - 1];
  }
  for (const piece *p = l->waiting; p; p = p->next) {
    for (size_t i = 0; i < p->entries; ++i) {
      const size_t pose = pose_of(l, p, i), place = next[pose]++;
      if (place < out->capacity) {
        put_entry(l, p, i, pose, place);
      }
    }
  }
  free(memory);
  return ABUT_SUCCESS;
}

abut_status compact_list_finish(compact_list *l, size_t poses)
{
  if (l->out->grows) {
    TRY(grow_list(l));
  }
  if (l->rows) {
    return put_in_order(l, poses);
  }
  append_next(l);
  return ABUT_SUCCESS;
}

void abut_free_compact(abut_compact *list)
{
  if (!list || list->cookie != COOKIE) {
    return;
  }
  free(list->pose);
  free(list->slot);
  free(list->feature);
  free(list->blocks);
  for (size_t i = 0; i < OUTPUTS; ++i) {
    free(output_array(&contact_outputs[i], OUTPUT_LIST, list));
  }
  *list =
    (abut_compact){.threshold = list->threshold, .grows = list->grows, .weights = list->weights};
}

void compact_list_free(compact_list *l)
{
  while (l->waiting) {
    piece *next = l->waiting;
    l->waiting = next->next;
    piece_free(next);
  }
}
