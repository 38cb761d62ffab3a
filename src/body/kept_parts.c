#include "body/parts.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

static abut_status copy(void **out, const void *from, size_t count, size_t size)
{
  TRY(allocate(out, count, size));
  if (count) {
    memcpy(*out, from, count * size);
  }
  return ABUT_SUCCESS;
}

static abut_status keep_surface(const abut_surface *from, body_parts *out)
{
  size_t corners = 0;
  void *memory = NULL;
  for (size_t i = 0; i < from->face_count; ++i) {
    corners += from->face_sizes[i];
  }
  if (!from->face_count) {
    return ABUT_SUCCESS;
  }
  TRY(copy(&memory, from->vertices, from->vertex_count, 3 * sizeof *out->surface_vertices));
  out->surface_vertices = memory;
  TRY(copy(&memory, from->face_sizes, from->face_count, sizeof *out->surface_sizes));
  out->surface_sizes = memory;
  TRY(copy(&memory, from->face_indices, corners, sizeof *out->surface_indices));
  out->surface_indices = memory;
  out->surface_vertex_count = from->vertex_count;
  out->surface_face_count = from->face_count;
  return ABUT_SUCCESS;
}

abut_status keep_parts(const abut_body_def *def, body_parts *out)
{
  size_t planes = 0;
  void *memory = NULL;
  TRY(copy(&memory, def->superquadrics, def->superquadric_count, sizeof *out->superquadrics));
  out->superquadrics = memory;
  out->superquadric_count = def->superquadric_count;
  TRY(copy(&memory, def->polyhedra, def->polyhedron_count, sizeof *out->polyhedra));
  out->polyhedra = memory;
  out->polyhedron_count = def->polyhedron_count;
  for (size_t i = 0; i < def->polyhedron_count; ++i) {
    planes += def->polyhedra[i].count;
  }
  TRY(copy(&memory, def->cores, def->core_count, sizeof *out->cores));
  out->cores = memory;
  out->core_count = def->core_count;
  TRY(allocate(&memory, planes, 6 * sizeof(double)));
  out->planes = memory;
  for (size_t i = 0, next = 0; i < def->polyhedron_count; ++i) {
    abut_polyhedron *p = &out->polyhedra[i];
    memcpy(out->planes + 6 * next, p->planes, p->count * 6 * sizeof(double));
    p->planes = out->planes + 6 * next;
    next += p->count;
  }
  TRY(keep_features(def, &out->features));
  return keep_surface(&def->surface, out);
}

static abut_status keep_levels(abut_grid *g)
{
  void *memory = NULL;
  const abut_grid_level *from = g->levels;
  g->coefficients = NULL;
  g->levels = NULL;
  TRY(allocate(&memory, g->level_count, sizeof *from));
  abut_grid_level *levels = memory;
  g->levels = levels;
  for (size_t i = 0; i < g->level_count; ++i) {
    levels[i].block_count = from[i].block_count;
    TRY(copy(&memory, from[i].blocks, from[i].block_count, 3 * sizeof *from[i].blocks));
    levels[i].blocks = memory;
  }
  return ABUT_SUCCESS;
}

abut_status keep_outlines(const abut_body_def *def, body_parts *out)
{
  void *memory = NULL;
  TRY(allocate(&memory, def->pointcloud_count, sizeof *out->pointclouds));
  out->pointclouds = memory;
  for (; out->pointcloud_count < def->pointcloud_count; ++out->pointcloud_count) {
    const abut_pointcloud *from = &def->pointclouds[out->pointcloud_count];
    TRY(copy(&memory, from->points, from->count, 7 * sizeof *from->points));
    out->pointclouds[out->pointcloud_count] =
      (abut_pointcloud){memory, from->count, from->operation};
  }
  TRY(allocate(&memory, def->grid_count, sizeof *out->grids));
  out->grids = memory;
  for (; out->grid_count < def->grid_count; ++out->grid_count) {
    abut_grid *g = &out->grids[out->grid_count];
    *g = def->grids[out->grid_count];
    const abut_status status = keep_levels(g);
    if (status != ABUT_SUCCESS) {
      ++out->grid_count; /* so that its arrays are freed */
      return status;
    }
  }
  return ABUT_SUCCESS;
}

void free_parts(body_parts *p)
{
  for (size_t i = 0; i < p->grid_count; ++i) {
    const abut_grid *g = &p->grids[i];
    for (size_t l = 0; g->levels && l < g->level_count; ++l) {
      free((void *)(uintptr_t)g->levels[l].blocks);
    }
    free((void *)(uintptr_t)g->levels);
  }
  free(p->grids);
  for (size_t i = 0; i < p->pointcloud_count; ++i) {
    free((void *)(uintptr_t)p->pointclouds[i].points);
  }
  free(p->pointclouds);
  free(p->superquadrics);
  free(p->polyhedra);
  free(p->planes);
  free(p->cores);
  free(p->surface_vertices);
  free(p->surface_sizes);
  free(p->surface_indices);
  free_features(&p->features);
  *p = (body_parts){0};
}
