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
  *t = (body_tiles){0};
}

static abut_status make_room(const body *b, body_tiles *t)
{
  void *memory = NULL;
  TRY(allocate(&memory, b->info.vertices, sizeof *t->vertices));
  t->vertices = memory;
  TRY(allocate(&memory, t->count + 1, sizeof *t->vertex_at));
  t->vertex_at = memory;
  return ABUT_SUCCESS;
}

size_t body_tile_count(const body *b)
{
  return (b->info.vertices + TILE_VERTICES - 1) / TILE_VERTICES;
}

abut_status body_tiles_make(const body *b, body_tiles *out)
{
  const size_t count = b->info.vertices, tiles = body_tile_count(b),
               each = (count + tiles - 1) / tiles;
  abut_status status = ABUT_SUCCESS;
  *out = (body_tiles){.count = (count + each - 1) / each};
  TRY_DONE(make_room(b, out));
  sort_in_space(b->vertices, count, each, out->vertices);
  for (size_t i = 0; i <= out->count; ++i) {
    out->vertex_at[i] = i * each < count ? i * each : count;
  }
done:
  if (status != ABUT_SUCCESS) {
    body_tiles_free(out);
  }
  return status;
}

/* ---- parts ---- */

/* A part during construction. */
typedef struct part {
  body *of;
  const body *whole;
} part;

static void add_vertex(part *p, uint32_t vertex)
{
  body *b = p->of;
  memcpy(b->vertices + 3 * b->info.vertices, p->whole->vertices + 3 * (size_t)vertex,
         3 * sizeof(double));
  b->names[b->info.vertices++] = vertex;
}

/* Starts a part with room for `vertices` vertices. Its other info is that of the whole. */
static abut_status begin_part(body *whole, size_t vertices, part *p)
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
  return ABUT_SUCCESS;
}

/* Ends the construction after success or failure. */
static abut_status end_part(part *p, abut_status status, abut_body *out)
{
  if (status != ABUT_SUCCESS) {
    body_free(p->of);
    return status;
  }
  return body_adopt(p->of, out);
}

abut_status body_cut_tile(body *whole, const body_tiles *t, size_t tile, abut_body *out)
{
  const size_t first = t->vertex_at[tile], end = t->vertex_at[tile + 1];
  part p;
  const abut_status status = begin_part(whole, end - first, &p);
  for (size_t i = first; status == ABUT_SUCCESS && i < end; ++i) {
    add_vertex(&p, t->vertices[i]);
  }
  if (status == ABUT_SUCCESS) {
    p.of->held = end - first;
  }
  return end_part(&p, status, out);
}

abut_status body_cut_field(body *whole, abut_body *out)
{
  part p;
  const abut_status status = begin_part(whole, 1, &p);
  if (status == ABUT_SUCCESS) {
    add_vertex(&p, 0);
  }
  return end_part(&p, status, out);
}
