#include "body/parts.h"

#include "base/error.h"
#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static abut_status copy(void **out, const void *from, size_t count, size_t size)
{
  *out = NULL;
  if (!count || !from) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(out, count, size));
  memcpy(*out, from, count * size);
  return ABUT_SUCCESS;
}

abut_status keep_features(const abut_body_def *def, kept_features *out)
{
  void *memory = NULL;
  out->stated = def->states_features;
  out->sharp = def->sharp;
  out->cones = def->cones;
  TRY(copy(&memory, def->feature_vertices, def->feature_vertex_count, 4 * sizeof *out->vertices));
  out->vertices = memory;
  out->vertex_count = def->feature_vertex_count;
  TRY(copy(&memory, def->feature_edges, def->feature_edge_count, sizeof *out->edges));
  out->edges = memory;
  out->edge_count = def->feature_edge_count;
  TRY(copy(&memory, def->feature_circles, def->feature_circle_count, sizeof *out->circles));
  out->circles = memory;
  out->circle_count = def->feature_circle_count;
  if (def->cones != ABUT_CONES_GIVEN) {
    return ABUT_SUCCESS;
  }
  TRY(copy(&memory, def->vertex_cones, def->vertex_cone_count, 4 * sizeof *out->vertex_cones));
  out->vertex_cones = memory;
  out->vertex_cone_count = def->vertex_cone_count;
  TRY(copy(&memory, def->edge_cones, def->edge_cone_count, 4 * sizeof *out->edge_cones));
  out->edge_cones = memory;
  TRY(copy(&memory, def->edge_cone_ends, def->edge_cone_count, 2 * sizeof *out->edge_cone_ends));
  out->edge_cone_ends = memory;
  out->edge_cone_count = def->edge_cone_count;
  return ABUT_SUCCESS;
}

double largest_radius(const kept_features *f)
{
  double most = 0.0;
  for (size_t i = 0; i < f->vertex_count; ++i) {
    most = fmax(most, f->vertices[4 * i + 3]);
  }
  for (size_t i = 0; i < f->edge_count; ++i) {
    most = fmax(most, f->edges[i].radius);
  }
  return most;
}

void free_features(kept_features *f)
{
  free(f->vertices);
  free(f->edges);
  free(f->circles);
  free(f->vertex_cones);
  free(f->edge_cones);
  free(f->edge_cone_ends);
  *f = (kept_features){0};
}
