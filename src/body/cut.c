#include "body/cut.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

/* ---- tiles ---- */

void body_tiles_free(body_tiles *t)
{
  free(t->vertices);
  free(t->vertex_at);
  free(t->edges);
  free(t->edge_at);
  *t = (body_tiles){0};
}

static abut_status make_room(const body *b, body_tiles *t)
{
  void *memory = NULL;
  TRY(allocate(&memory, b->info.vertices, sizeof *t->vertices));
  t->vertices = memory;
  TRY(allocate(&memory, b->info.edges, sizeof *t->edges));
  t->edges = memory;
  TRY(allocate(&memory, t->count + 1, sizeof *t->vertex_at));
  t->vertex_at = memory;
  TRY(allocate(&memory, t->count + 2, sizeof *t->edge_at));
  t->edge_at = memory;
  return ABUT_SUCCESS;
}

/* Sorts the edges into their tiles, by counting; `of` is the tile of each vertex. */
static void sort_edges(const body *b, const uint32_t *of, body_tiles *t)
{
  for (size_t i = 0; i < b->info.edges; ++i) {
    ++t->edge_at[of[b->edges[2 * i]] + 2];
  }
  for (size_t i = 2; i < t->count + 2; ++i) {
    t->edge_at[i] += t->edge_at[i - 1];
  }
  for (size_t i = 0; i < b->info.edges; ++i) { /* edge_at[tile + 1] moves on to where the tile's edges end */
    t->edges[t->edge_at[of[b->edges[2 * i]] + 1]++] = (uint32_t)i;
  }
}

size_t body_tile_count(const body *b)
{
  return (b->info.vertices + TILE_VERTICES - 1) / TILE_VERTICES;
}

abut_status body_tiles_make(const body *b, body_tiles *out)
{
  const size_t count = b->info.vertices, tiles = body_tile_count(b), each = (count + tiles - 1) / tiles;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  *out = (body_tiles){.count = (count + each - 1) / each};
  TRY_DONE(make_room(b, out));
  TRY_DONE(allocate(&memory, count, sizeof(uint32_t)));
  uint32_t *of = memory;
  sort_in_space(b->vertices, count, each, out->vertices);
  for (size_t i = 0; i < count; ++i) {
    of[out->vertices[i]] = (uint32_t)(i / each);
  }
  for (size_t i = 0; i <= out->count; ++i) {
    out->vertex_at[i] = i * each < count ? i * each : count;
  }
  sort_edges(b, of, out);
done:
  free(memory);
  if (status != ABUT_SUCCESS) {
    body_tiles_free(out);
  }
  return status;
}

/* ---- parts ---- */

/* A part in the making: which vertices of the whole it has, and where each of the whole's is among them, plus 1. */
typedef struct part {
  body *of;
  const body *whole;
  uint32_t *place;
} part;

static void add_vertex(part *p, uint32_t vertex)
{
  body *b = p->of;
  if (!p->place[vertex]) {
    memcpy(b->vertices + 3 * b->info.vertices, p->whole->vertices + 3 * (size_t)vertex, 3 * sizeof(double));
    b->names[b->info.vertices] = vertex;
    p->place[vertex] = (uint32_t)++b->info.vertices;
  }
}

static void add_edge(part *p, uint32_t edge)
{
  body *b = p->of;
  const uint32_t *ends = p->whole->edges + 2 * (size_t)edge;
  for (int k = 0; k < 2; ++k) {
    add_vertex(p, ends[k]);
    b->edges[2 * b->info.edges + (size_t)k] = p->place[ends[k]] - 1;
  }
  ++b->info.edges;
}

/* Starts a part that has room for so many vertices and edges. What its info tells beside their numbers is the whole's. */
static abut_status begin_part(body *whole, size_t vertices, size_t edges, part *p)
{
  void *memory = NULL;
  *p = (part){.whole = whole};
  TRY(allocate(&memory, 1, sizeof *p->of));
  body *b = p->of = memory;
  b->context = whole->context;
  b->whole = whole;
  b->info = whole->info;
  b->info.vertices = b->info.edges = b->info.faces = 0;
  b->head = whole->head;
  b->head_count = whole->head_count;
  b->shape = whole->shape;
  TRY(allocate(&memory, vertices, 3 * sizeof(double)));
  b->vertices = memory;
  TRY(allocate(&memory, vertices, sizeof *b->names));
  b->names = memory;
  TRY(allocate(&memory, edges, 2 * sizeof *b->edges));
  b->edges = memory;
  TRY(allocate(&memory, whole->info.vertices, sizeof *p->place));
  p->place = memory;
  return ABUT_SUCCESS;
}

/* Ends it, whether it could be made or not. */
static abut_status end_part(part *p, abut_status status, abut_body *out)
{
  free(p->place);
  if (status != ABUT_SUCCESS) {
    body_free(p->of);
    return status;
  }
  return body_adopt(p->of, out);
}

abut_status body_cut_tile(body *whole, const body_tiles *t, size_t tile, abut_body *out)
{
  const size_t first = t->vertex_at[tile], end = t->vertex_at[tile + 1];
  const size_t edge = t->edge_at[tile], edge_end = t->edge_at[tile + 1];
  part p;
  const abut_status status = begin_part(whole, end - first + edge_end - edge, edge_end - edge, &p);
  for (size_t i = first; status == ABUT_SUCCESS && i < end; ++i) {
    add_vertex(&p, t->vertices[i]);
  }
  for (size_t i = edge; status == ABUT_SUCCESS && i < edge_end; ++i) {
    add_edge(&p, t->edges[i]);
  }
  if (status == ABUT_SUCCESS) {
    p.of->held = end - first;
  }
  return end_part(&p, status, out);
}

abut_status body_cut_field(body *whole, abut_body *out)
{
  part p;
  const abut_status status = begin_part(whole, 1, 0, &p);
  if (status == ABUT_SUCCESS) {
    add_vertex(&p, 0);
  }
  return end_part(&p, status, out);
}

abut_status body_cut_edges(body *whole, abut_body *out)
{
  part p;
  if (!whole->info.edges) {
    return body_cut_field(whole, out);
  }
  const abut_status status = begin_part(whole, whole->info.vertices, whole->info.edges, &p);
  for (size_t i = 0; status == ABUT_SUCCESS && i < whole->info.edges; ++i) {
    add_edge(&p, (uint32_t)i);
  }
  return end_part(&p, status, out);
}
