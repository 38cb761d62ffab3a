#include "base/error.h"
#include "body/parts.h"
#include <math.h>
#include <stdlib.h>

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
  TRY_DONE(allocate(&memory, corners, sizeof *pairs));
  pairs = memory;
  size_t used = 0;
  const uint32_t *corner = def->face_indices;
  for (size_t i = 0; i < def->face_count; corner += def->face_sizes[i], ++i) {
    for (uint32_t k = 0; k < def->face_sizes[i]; ++k) {
      const uint64_t a = corner[k], b = corner[(k + 1) % def->face_sizes[i]];
      if (a != b) {
        pairs[used++] = a < b ? a << 32 | b : b << 32 | a;
      }
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
done:
  free(pairs);
  return status;
}

/* Adds a polygon's area vector (Newell's method) to the normal of each of its corners. */
static void add_face_normal(const double *vertices, const uint32_t *corner, uint32_t size,
                            double *points)
{
  double area[3] = {0.0, 0.0, 0.0};
  for (uint32_t k = 0; k < size; ++k) {
    const double *a = vertices + 3 * (size_t)corner[k];
    const double *b = vertices + 3 * (size_t)corner[(k + 1) % size];
    const double *o = vertices + 3 * (size_t)corner[0];
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      area[i] += (a[j] - o[j]) * (b[l] - o[l]) - (a[l] - o[l]) * (b[j] - o[j]);
    }
  }
  for (uint32_t k = 0; k < size; ++k) {
    for (int i = 0; i < 3; ++i) {
      points[7 * (size_t)corner[k] + 3 + (size_t)i] += area[i];
    }
  }
}

/* Mean length of the edges at each vertex into points[.][6]. */
static abut_status set_widths(const double *vertices, size_t vertex_count, const uint32_t *edges,
                              size_t edge_count, double *points)
{
  void *memory = NULL;
  TRY(allocate(&memory, vertex_count, sizeof(uint32_t)));
  uint32_t *degree = memory;
  for (size_t i = 0; i < edge_count; ++i) {
    const double *a = vertices + 3 * (size_t)edges[2 * i];
    const double *b = vertices + 3 * (size_t)edges[2 * i + 1];
    const double length = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
    for (int k = 0; k < 2; ++k) {
      points[7 * (size_t)edges[2 * i + (size_t)k] + 6] += length;
      ++degree[edges[2 * i + (size_t)k]];
    }
  }
  for (size_t i = 0; i < vertex_count; ++i) {
    points[7 * i + 6] /= degree[i] ? degree[i] : 1;
  }
  free(memory);
  return ABUT_SUCCESS;
}

/* Keeps the points that have a normal and a width, with the normal at length 1. */
static size_t keep_oriented(double *points, size_t count)
{
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const double *from = points + 7 * i;
    const double length = hypot(hypot(from[3], from[4]), from[5]);
    if (!(length > 0.0) || !(from[6] > 1e-6)) {
      continue;
    }
    double *to = points + 7 * kept++;
    for (int k = 0; k < 7; ++k) {
      to[k] = k >= 3 && k < 6 ? from[k] / length : from[k];
    }
  }
  return kept;
}

abut_status make_mesh_cloud(const abut_body_def *def, const uint32_t *edges, size_t edge_count,
                            double **points, size_t *count)
{
  void *memory = NULL;
  *points = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&memory, def->vertex_count, 7 * sizeof(double)));
  *points = memory;
  for (size_t i = 0; i < def->vertex_count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      (*points)[7 * i + k] = def->vertices[3 * i + k];
    }
  }
  const uint32_t *corner = def->face_indices;
  for (size_t i = 0; i < def->face_count; corner += def->face_sizes[i], ++i) {
    add_face_normal(def->vertices, corner, def->face_sizes[i], *points);
  }
  TRY_DONE(set_widths(def->vertices, def->vertex_count, edges, edge_count, *points));
  *count = keep_oriented(*points, def->vertex_count);
  if (!*count) {
    status = fail(ABUT_ERROR_BODY, "the mesh has no face of any area to make a point cloud from");
  }
done:
  if (status != ABUT_SUCCESS) {
    free(*points);
    *points = NULL;
  }
  return status;
}
