#include "base/error.h"
#include "body/parts.h"
#include <stdlib.h>

#define EDGES_MOST ((size_t)1 << 24) /* kernels rank them as reals */

/* Makes a pair of vertices, the lower one first. */
static uint64_t pair_of(uint64_t a, uint64_t b)
{
  return a < b ? a << 32 | b : b << 32 | a;
}

static int compare_pairs(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

abut_status make_edges(const abut_body_def *def, uint32_t **edges, size_t *count)
{
  *edges = NULL;
  *count = 0;
  size_t corners = 0;
  for (size_t i = 0; i < def->face_count; ++i) {
    corners += def->face_sizes[i];
  }
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  uint64_t *pairs = NULL;
  TRY_DONE(allocate(&memory, corners + def->edge_count, sizeof *pairs));
  pairs = memory;
  size_t used = 0;
  const uint32_t *corner = def->face_indices;
  for (size_t i = 0; i < def->face_count; corner += def->face_sizes[i], ++i) {
    for (uint32_t k = 0; k < def->face_sizes[i]; ++k) {
      const uint64_t a = corner[k], b = corner[(k + 1) % def->face_sizes[i]];
      if (a != b) {
        pairs[used++] = pair_of(a, b);
      }
    }
  }
  for (size_t i = 0; i < def->edge_count; ++i) {
    if (def->edges[2 * i] != def->edges[2 * i + 1]) {
      pairs[used++] = pair_of(def->edges[2 * i], def->edges[2 * i + 1]);
    }
  }
  qsort(pairs, used, sizeof *pairs, compare_pairs);
  TRY_DONE(allocate(&memory, used, 2 * sizeof(uint32_t)));
  *edges = memory;
  for (size_t i = 0; i < used; ++i) {
    if (i == 0 || pairs[i] != pairs[i - 1]) {
      (*edges)[2 * *count] = (uint32_t)(pairs[i] >> 32);
      (*edges)[2 * *count + 1] = (uint32_t)pairs[i];
      ++*count;
    }
  }
  if (*count > EDGES_MOST) {
    status = fail(ABUT_ERROR_BODY, "the mesh has %zu edges; %zu are the most", *count, EDGES_MOST);
    free(*edges);
    *edges = NULL;
  }
done:
  free(pairs);
  return status;
}
