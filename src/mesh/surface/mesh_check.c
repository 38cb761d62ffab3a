#include "mesh/surface/mesh_check.h"

#include "base/error.h"
#include "base/limits.h"

static abut_status check_faces(const abut_body_def *def)
{
  size_t at = 0;
  for (size_t i = 0; i < def->face_count; ++i) {
    if (def->face_sizes[i] < 3) {
      return fail(ABUT_ERROR_BODY, "face %zu has %u corners; at least 3 are needed", i,
                  def->face_sizes[i]);
    }
    for (uint32_t k = 0; k < def->face_sizes[i]; ++k, ++at) {
      if (def->face_indices[at] >= def->vertex_count) {
        return fail(ABUT_ERROR_BODY, "face %zu uses vertex %u, but there are only %zu vertices", i,
                    def->face_indices[at], def->vertex_count);
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_edges(const abut_body_def *def)
{
  for (size_t i = 0; i < 2 * def->edge_count; ++i) {
    if (def->edges[i] >= def->vertex_count) {
      return fail(ABUT_ERROR_BODY, "edge %zu uses vertex %u, but there are only %zu vertices",
                  i / 2, def->edges[i], def->vertex_count);
    }
  }
  return ABUT_SUCCESS;
}

abut_status check_mesh(const abut_body_def *def)
{
  if (!def->vertex_count || !def->vertices) {
    return fail(ABUT_ERROR_BODY, "the mesh has no vertices");
  }
  if (def->vertex_count > ELEMENT_LIMIT || def->face_count > ELEMENT_LIMIT) {
    return fail(ABUT_ERROR_BODY,
                "the mesh has %zu vertices and %zu faces; at most %zu of each are possible",
                def->vertex_count, def->face_count, ELEMENT_LIMIT);
  }
  for (size_t i = 0; i < def->vertex_count; ++i) {
    if (!all_within(def->vertices + 3 * i, 3, COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "vertex %zu is not within +-%g", i, COORDINATE_MOST);
    }
  }
  if (def->face_count && (!def->face_sizes || !def->face_indices)) {
    return fail(ABUT_ERROR_ARGUMENT, "the mesh has faces, but their array is NULL");
  }
  if (def->edge_count > ELEMENT_LIMIT || (def->edge_count && !def->edges)) {
    return def->edges
             ? fail(ABUT_ERROR_BODY,
                    "the mesh has %zu edges besides those of faces; at most %zu are possible",
                    def->edge_count, ELEMENT_LIMIT)
             : fail(ABUT_ERROR_ARGUMENT, "the mesh has edges, but their array is NULL");
  }
  TRY(check_edges(def));
  return check_faces(def);
}
