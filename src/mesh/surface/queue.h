/* A priority queue of numbered items, the least key first. Equal keys are ordered by number. */
#ifndef ABUT_SURFACE_QUEUE_H
#define ABUT_SURFACE_QUEUE_H

#include "base/memory.h"
#include <stdint.h>

typedef struct queue_entry {
  float key;
  uint32_t id;
} queue_entry;

typedef struct queue {
  queue_entry *heap;
  uint32_t *place; /* (ids) place in the heap; UINT32_MAX: not in the queue */
  size_t count;
} queue;

/* Makes an empty queue for numbers below `ids`, with at most `room` entries. */
abut_status queue_create(queue *q, arena *memory, size_t ids, size_t room);

/* Inserts an item, or changes its key. */
void queue_put(queue *q, uint32_t id, float key);
void queue_remove(queue *q, uint32_t id);

#endif
