/* Compares the mesh of a body with its field, and measures its triangles. */
#include "base/call_lock.h"
#include "base/error.h"
#include "body/body.h"
#include "mesh/inspect/field_at.h"
#include "mesh/inspect/quality.h"
#include <abut/inspect.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALONG 8      /* points between an edge's ends at which the field is evaluated */
#define LEAVING 0.01 /* share of the diagonal above which an edge has left the field */

/* A copy of the measured data of a body's mesh, so that the body may be destroyed meanwhile. */
typedef struct copied {
  arena memory;
  double *vertices, *places; /* (vertices, 3), (edges, ALONG, 3) */
  size_t vertex_count, edge_count;
  double diagonal;
} copied;

static void add_triangles(const body *b, abut_mesh_quality *out)
{
  size_t at = 0;
  out->quality_least = 1.0;
  for (size_t f = 0; f < b->info.faces; at += b->face_sizes[f], ++f) {
    for (uint32_t k = 2; k < b->face_sizes[f]; ++k, ++out->triangles) {
      const uint32_t *c = b->face_indices + at;
      const double quality = triangle_quality(b->vertices + 3 * (size_t)c[0],
                                              b->vertices + 3 * (size_t)c[k - 1],
                                              b->vertices + 3 * (size_t)c[k]);
      out->quality_mean += quality;
      out->quality_least = fmin(out->quality_least, quality);
    }
  }
  out->quality_mean = out->triangles ? out->quality_mean / (double)out->triangles : 0.0;
  out->quality_least = out->triangles ? out->quality_least : 0.0;
}

static abut_status copy(abut_body handle_, copied *c, abut_mesh_quality *out)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  void *memory;
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  c->vertex_count = b->info.vertices;
  c->edge_count = b->info.edges;
  c->diagonal = b->info.diagonal;
  TRY(arena_allocate(&c->memory, &memory, c->vertex_count, 3 * sizeof(double)));
  c->vertices = memory;
  memcpy(c->vertices, b->vertices, c->vertex_count * 3 * sizeof(double));
  TRY(arena_allocate(&c->memory, &memory, c->edge_count * ALONG, 3 * sizeof(double)));
  c->places = memory;
  for (size_t i = 0; i < c->edge_count * ALONG; ++i) {
    const uint32_t *e = b->edges + 2 * (i / ALONG);
    const double *from = b->vertices + 3 * (size_t)e[0], *to = b->vertices + 3 * (size_t)e[1];
    const double share = ((double)(i % ALONG) + 0.5) / ALONG;
    for (size_t k = 0; k < 3; ++k) {
      c->places[3 * i + k] = from[k] + share * (to[k] - from[k]);
    }
  }
  add_triangles(b, out);
  return ABUT_SUCCESS;
}

static abut_status compare(const field_of *f, copied *c, abut_mesh_quality *out)
{
  const size_t places = c->edge_count * ALONG;
  void *memory;
  size_t leaving = 0;
  TRY(arena_allocate(&c->memory, &memory, c->vertex_count + places, sizeof(float)));
  float *at_vertex = memory, *along = at_vertex + c->vertex_count;
  TRY(field_at_places(f, c->vertices, c->vertex_count, at_vertex));
  TRY(field_at_places(f, c->places, places, along));
  for (size_t i = 0; i < c->vertex_count; ++i) {
    /* all vertices at one point: 0 */
    const double off = c->diagonal > 0.0 ? 100.0 * fabs((double)at_vertex[i]) / c->diagonal : 0.0;
    out->off_mean += off / (double)c->vertex_count;
    out->off_most = fmax(out->off_most, off);
  }
  for (size_t e = 0; e < c->edge_count; ++e) {
    bool leaves = false;
    for (size_t i = 0; i < ALONG; ++i) {
      leaves = leaves || (double)along[e * ALONG + i] > LEAVING * c->diagonal;
    }
    leaving += leaves;
  }
  out->edges_leaving = c->edge_count ? (double)leaving / (double)c->edge_count : 0.0;
  return ABUT_SUCCESS;
}

abut_status abut_measure_mesh(abut_body handle_, double union_tau, double plane_tau,
                              abut_mesh_quality *quality)
{
  const field_of field = {handle_, union_tau, plane_tau};
  copied c = {0};
  if (!quality) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_measure_mesh needs a place for its answer");
  }
  memset(quality, 0, sizeof *quality);
  abut_status status = copy(handle_, &c, quality);
  if (status == ABUT_SUCCESS) {
    status = compare(&field, &c, quality);
  }
  arena_free(&c.memory);
  return status;
}
