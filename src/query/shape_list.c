/* Lists of shapes, packed once and retained for later calls with the same shapes. */
#include "query/shape.h"

#include "base/call_lock.h"
#include "base/error.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void shape_list_free(void *object)
{
  shape_list *l = object;
  if (!l) {
    return;
  }
  for (size_t i = 0; i < MEMBERS; ++i) {
    buffer_destroy(l->ints_on[i]);
    buffer_destroy(l->numbers_on[i]);
  }
  free(l->shapes);
  free(l->ints);
  free(l->numbers.data);
  free(l);
}

/* ---- packing ---- */

/* A shape of another context might be destroyed by another thread during the check, so only its
 * lock is compared. */
static abut_status check_handle(const context *c, abut_shape s, size_t i)
{
  const call_lock *l = pool_call_lock(&shape_pool, (handle){s.index, s.generation});
  if (!l) {
    return fail(ABUT_ERROR_HANDLE, "the shape handle at index %zu is %s", i,
                s.generation ? "stale" : "null");
  }
  return l == c->call_lock
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_HANDLE, "the shape at index %zu belongs to another context", i);
}

static size_t whole_pads(size_t count)
{
  return (count + SHAPE_PAD - 1) / SHAPE_PAD * SHAPE_PAD;
}

/* Counts the room that the shapes need. */
static abut_status measure(const abut_shape *shapes, size_t count, size_t *ints, size_t *numbers)
{
  *ints = count * SHAPE_INTS;
  *numbers = whole_pads(count * SHAPE_REALS);
  for (size_t i = 0; i < count; ++i) {
    const shape *s = shape_get(shapes[i]);
    *ints += s->ring_ints;
    *numbers += 3 * (size_t)s->head[SHAPE_PADDED];
    if (*ints > INT_MAX || *numbers > INT_MAX) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "%zu shapes are too many: their data exceed %d numbers from index %zu on", count,
                  INT_MAX, i);
    }
  }
  return ABUT_SUCCESS;
}

/* Packs one shape. *ring and *plane: start of the next rings and vertices. */
static void pack_shape(shape_list *l, size_t i, const shape *s, size_t *ring, size_t *plane)
{
  int *head = l->ints + i * SHAPE_INTS;
  const size_t padding = (size_t)s->head[SHAPE_PADDED];
  memcpy(head, s->head, sizeof s->head);
  head[SHAPE_RECORD] = (int)(i * SHAPE_REALS);
  head[SHAPE_PLANES] = (int)*plane;
  head[SHAPE_RINGS] = (int)*ring;
  for (size_t k = 0; k < SHAPE_REALS; ++k) {
    reals_set(&l->numbers, i * SHAPE_REALS + k, s->record[k]);
  }
  for (size_t k = 0; k < 3 * padding; ++k) {
    reals_set(&l->numbers, *plane + k, s->planes[k]);
  }
  if (s->ring_ints) {
    memcpy(l->ints + *ring, s->rings, s->ring_ints * sizeof *s->rings);
  }
  *plane += 3 * padding;
  *ring += s->ring_ints;
  l->vertices_most = s->info.vertices > l->vertices_most ? s->info.vertices : l->vertices_most;
}

static abut_status pack(shape_list *l, const abut_shape *shapes, size_t count)
{
  size_t numbers = 0;
  void *memory = NULL;
  TRY(measure(shapes, count, &l->ints_count, &numbers));
  TRY(allocate(&memory, count, sizeof *shapes));
  l->shapes = memory;
  l->count = count;
  memcpy(l->shapes, shapes, count * sizeof *shapes);
  TRY(allocate(&memory, l->ints_count, sizeof *l->ints));
  l->ints = memory;
  TRY(reals_create(&l->numbers, numbers, context_real_bytes(l->context)));
  size_t ring = count * SHAPE_INTS, plane = whole_pads(count * SHAPE_REALS);
  for (size_t i = 0; i < count; ++i) {
    pack_shape(l, i, shape_get(shapes[i]), &ring, &plane);
  }
  return ABUT_SUCCESS;
}

/* ---- retained lists ---- */

static bool is_of(const shape_list *l, const abut_shape *shapes, size_t count)
{
  if (l->count != count) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    if (l->shapes[i].index != shapes[i].index || l->shapes[i].generation != shapes[i].generation) {
      return false;
    }
  }
  return true;
}

static void end_list(shape_list **place)
{
  shape_list *l = *place;
  for (size_t i = 0; i < l->count; ++i) {
    --shape_get(l->shapes[i])->lists; /* it exists: shapes are not destroyed before their lists */
  }
  *place = NULL;
  context_discard(l->context, &l->base);
}

/* Finds a place for a list: a free one, or that of the least recently used list that no call uses.
 * Returns NULL if all are in use. */
static shape_list **find_place(context *c)
{
  shape_list **found = NULL;
  for (size_t i = 0; i < SHAPE_LISTS_MOST; ++i) {
    shape_list **place = &c->shape_lists[i];
    if (!*place) {
      return place;
    }
    if (!(*place)->holds && (!found || (*place)->used < (*found)->used)) {
      found = place;
    }
  }
  return found;
}

static abut_status make(context *c, const abut_shape *shapes, size_t count, shape_list **out)
{
  for (size_t i = 0; i < count; ++i) {
    TRY(check_handle(c, shapes[i], i));
  }
  shape_list **place = find_place(c);
  if (!place) {
    return fail(ABUT_ERROR_ARGUMENT,
                "too many nested calls: they already use %d other lists of shapes",
                SHAPE_LISTS_MOST);
  }
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(shape_list)));
  shape_list *l = memory;
  l->context = c;
  TRY_DONE(pack(l, shapes, count));
  TRY_DONE(context_adopt(c, &shape_list_pool, &l->base, shape_list_free));
  for (size_t i = 0; i < count; ++i) {
    ++shape_get(shapes[i])->lists;
  }
  if (*place) {
    end_list(place);
  }
  *out = *place = l;
  l = NULL;
done:
  shape_list_free(l);
  return status;
}

abut_status shape_list_of(context *c, const abut_shape *shapes, size_t count, shape_list **out)
{
  uint64_t latest = 0;
  *out = NULL;
  if (!shapes || !count || count > INT_MAX / SHAPE_REALS) {
    return fail(ABUT_ERROR_ARGUMENT, "%zu shapes are %s; 1 to %d are possible", count,
                shapes ? "given" : "counted, but their array is NULL", INT_MAX / SHAPE_REALS);
  }
  for (size_t i = 0; i < SHAPE_LISTS_MOST; ++i) {
    shape_list *l = c->shape_lists[i];
    latest = l && l->used > latest ? l->used : latest;
    *out = l && is_of(l, shapes, count) ? l : *out;
  }
  if (!*out) {
    TRY(make(c, shapes, count, out));
  }
  (*out)->used = latest + 1;
  return ABUT_SUCCESS;
}

void shape_list_hold(shape_list *l)
{
  ++l->holds;
}

void shape_list_let_go(shape_list *l)
{
  --l->holds;
}

abut_status shape_list_on(shape_list *l, size_t place)
{
  device *d = l->context->members[place].device;
  if (!l->ints_on[place]) {
    TRY(buffer_upload(d, l->ints_count * sizeof *l->ints, l->ints, &l->ints_on[place]));
  }
  if (!l->numbers_on[place]) {
    TRY(
      buffer_upload(d, l->numbers.count * l->numbers.size, l->numbers.data, &l->numbers_on[place]));
  }
  return ABUT_SUCCESS;
}

static bool has_shape(const shape_list *l, handle s)
{
  size_t i = 0;
  while (i < l->count &&
         (l->shapes[i].index != s.index || l->shapes[i].generation != s.generation)) {
    ++i;
  }
  return i < l->count;
}

void shape_lists_forget(const shape *s)
{
  for (size_t i = 0; i < SHAPE_LISTS_MOST && s->lists; ++i) {
    shape_list **place = &s->context->shape_lists[i];
    if (*place && has_shape(*place, s->base.self)) {
      end_list(place);
    }
  }
}
