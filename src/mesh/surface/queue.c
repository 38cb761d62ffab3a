#include "mesh/surface/queue.h"

#include "base/error.h"
#include <stdbool.h>
#include <string.h>

#define WAYS 4 /* children per entry: a flatter heap has fewer cache misses */
#define ABSENT UINT32_MAX

abut_status queue_create(queue *q, arena *memory, size_t ids, size_t room)
{
  void *heap, *place;
  TRY(arena_allocate(memory, &heap, room, sizeof(queue_entry)));
  TRY(arena_allocate(memory, &place, ids, sizeof(uint32_t)));
  memset(place, 0xff, ids * sizeof(uint32_t));
  *q = (queue){.heap = heap, .place = place};
  return ABUT_SUCCESS;
}

static bool is_before(queue_entry a, queue_entry b)
{
  return a.key != b.key ? a.key < b.key : a.id < b.id;
}

static void set(queue *q, size_t at, queue_entry e)
{
  q->heap[at] = e;
  q->place[e.id] = (uint32_t)at;
}

static void rise(queue *q, size_t at, queue_entry e)
{
  while (at && is_before(e, q->heap[(at - 1) / WAYS])) {
    set(q, at, q->heap[(at - 1) / WAYS]);
    at = (at - 1) / WAYS;
  }
  set(q, at, e);
}

static void sink(queue *q, size_t at, queue_entry e)
{
  for (size_t child = WAYS * at + 1; child < q->count; child = WAYS * at + 1) {
    const size_t end = child + WAYS < q->count ? child + WAYS : q->count;
    size_t least = child;
    for (size_t i = child + 1; i < end; ++i) {
      least = is_before(q->heap[i], q->heap[least]) ? i : least;
    }
    if (!is_before(q->heap[least], e)) {
      break;
    }
    set(q, at, q->heap[least]);
    at = least;
  }
  set(q, at, e);
}

/* Moves an entry up or down from a place whose key has changed. */
static void settle(queue *q, size_t at, queue_entry e)
{
  if (at && is_before(e, q->heap[(at - 1) / WAYS])) {
    rise(q, at, e);
  } else {
    sink(q, at, e);
  }
}

void queue_put(queue *q, uint32_t id, float key)
{
  const queue_entry e = {key, id};
  if (q->place[id] == ABSENT) {
    rise(q, q->count++, e);
  } else {
    settle(q, q->place[id], e);
  }
}

void queue_remove(queue *q, uint32_t id)
{
  const size_t at = q->place[id];
  if (at == ABSENT) {
    return;
  }
  q->place[id] = ABSENT;
  --q->count;
  if (at < q->count) {
    settle(q, at, q->heap[q->count]);
  }
}
