/* Splits a batch into chunks. Knows no geometry. */
#ifndef ABUT_SCHEDULE_CHUNKS_H
#define ABUT_SCHEDULE_CHUNKS_H

#include <abut/manifold.h>

/* Does the elements first .. first + count - 1. */
typedef abut_status (*chunk_function)(size_t first, size_t count, void *user);

/* Calls `run` for consecutive chunks of at most `chunk` elements, and `progress`, if any, after
 * each. */
abut_status run_chunks(size_t total, size_t chunk, chunk_function run, void *user,
                       abut_progress progress, void *progress_user);

/* The most elements of a chunk: as many as `budget` bytes hold, no buffer above `allocation`, at
 * most `bound` (0: none). bytes: each buffer's bytes an element. Fails where one element does
 * not fit. */
abut_status size_chunk(const size_t *bytes, size_t buffers, uint64_t budget, uint64_t allocation,
                       size_t bound, size_t *chunk);

#endif
