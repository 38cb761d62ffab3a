#include "mesh/surface/field_surface.h"

#include "base/error.h"
#include "mesh/surface/maker.h"
#include <stdlib.h>
#include <string.h>

static size_t count_corners(const abut_body_def *mesh)
{
  size_t corners = 0;
  for (size_t i = 0; i < mesh->face_count; ++i) {
    corners += mesh->face_sizes[i];
  }
  return corners;
}

/* Numbers the vertices of faces in the mesh's order. to: (vertices) in: the first vertex at the
 * same position; out: the new number, NONE if no face uses the vertex. Returns the number of
 * vertices. */
static size_t number_vertices(const abut_body_def *mesh, size_t corners, uint32_t *to,
                              unsigned char *used)
{
  size_t count = 0;
  for (size_t i = 0; i < corners; ++i) {
    used[to[mesh->face_indices[i]]] = 1;
  }
  /* The first vertex at a position precedes the others there. */
  for (size_t i = 0; i < mesh->vertex_count; ++i) {
    to[i] = to[i] != i ? to[to[i]] : used[i] ? (uint32_t)count++ : NONE;
  }
  return count;
}

static abut_status copy_surface(arena *memory, const abut_body_def *mesh, uint32_t *to,
                                unsigned char *used, abut_surface *out)
{
  const size_t corners = count_corners(mesh);
  void *vertices, *sizes, *indices;
  TRY(weld_equal(mesh->vertices, mesh->vertex_count, to));
  const size_t count = number_vertices(mesh, corners, to, used);
  TRY(arena_allocate(memory, &vertices, count, 3 * sizeof(double)));
  TRY(arena_allocate(memory, &sizes, mesh->face_count, sizeof(uint32_t)));
  TRY(arena_allocate(memory, &indices, corners, sizeof(uint32_t)));
  for (size_t i = 0; i < mesh->vertex_count; ++i) {
    if (to[i] != NONE) {
      memcpy((double *)vertices + 3 * (size_t)to[i], mesh->vertices + 3 * i, 3 * sizeof(double));
    }
  }
  memcpy(sizes, mesh->face_sizes, mesh->face_count * sizeof(uint32_t));
  for (size_t i = 0; i < corners; ++i) {
    ((uint32_t *)indices)[i] = to[mesh->face_indices[i]];
  }
  *out = (abut_surface){vertices, count, sizes, indices, mesh->face_count};
  return ABUT_SUCCESS;
}

abut_status field_hold_surface(arena *memory, const abut_body_def *mesh, abut_body_def *def)
{
  abut_status status = ABUT_SUCCESS;
  void *to = NULL, *used = NULL;
  TRY_DONE(allocate(&to, mesh->vertex_count, sizeof(uint32_t)));
  TRY_DONE(allocate(&used, mesh->vertex_count, 1));
  status = copy_surface(memory, mesh, to, used, &def->surface);
done:
  free(to);
  free(used);
  return status;
}
