#include "base/error.h"
#include "body/parts.h"
#include <stdlib.h>

/* kernels store edge indices as reals when they rank them */
#define EDGES_MOST ((size_t)1 << 24)

uint64_t edge_code(uint64_t a, uint64_t b)
{
  return a < b ? a << 32 | b : b << 32 | a;
}

static int compare_codes(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

abut_status unique_edges(uint64_t *codes, size_t count, uint32_t **edges, size_t *edge_count)
{
  void *memory = NULL;
  *edges = NULL;
  *edge_count = 0;
  qsort(codes, count, sizeof *codes, compare_codes);
  TRY(allocate(&memory, count, 2 * sizeof(uint32_t)));
  *edges = memory;
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || codes[i] != codes[i - 1]) {
      (*edges)[2 * *edge_count] = (uint32_t)(codes[i] >> 32);
      (*edges)[2 * *edge_count + 1] = (uint32_t)codes[i];
      ++*edge_count;
    }
  }
  return ABUT_SUCCESS;
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
  TRY(allocate(&memory, corners + def->edge_count, sizeof(uint64_t)));
  uint64_t *codes = memory;
  size_t used = 0;
  const uint32_t *corner = def->face_indices;
  for (size_t i = 0; i < def->face_count; corner += def->face_sizes[i], ++i) {
    for (uint32_t k = 0; k < def->face_sizes[i]; ++k) {
      const uint64_t a = corner[k], b = corner[(k + 1) % def->face_sizes[i]];
      if (a != b) {
        codes[used++] = edge_code(a, b);
      }
    }
  }
  for (size_t i = 0; i < def->edge_count; ++i) {
    if (def->edges[2 * i] != def->edges[2 * i + 1]) {
      codes[used++] = edge_code(def->edges[2 * i], def->edges[2 * i + 1]);
    }
  }
  TRY_DONE(unique_edges(codes, used, edges, count));
  if (*count > EDGES_MOST) {
    status =
      fail(ABUT_ERROR_BODY, "the mesh has %zu edges; at most %zu are possible", *count, EDGES_MOST);
    free(*edges);
    *edges = NULL;
  }
done:
  free(codes);
  return status;
}
