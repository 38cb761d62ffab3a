#include "format/builder.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

abut_status builder_vertex(builder *b, const double position[3])
{
  mesh *m = &b->m;
  if (m->vertex_count == UINT32_MAX) {
    return fail_at(ABUT_ERROR_FORMAT, b->name, 0, "has more than %u vertices", UINT32_MAX);
  }
  void *vertices = m->vertices;
  abut_status status = grow(&vertices, &b->vertex_room, m->vertex_count + 1, 3 * sizeof(double));
  m->vertices = vertices;
  if (status == ABUT_SUCCESS) {
    memcpy(m->vertices + 3 * m->vertex_count++, position, 3 * sizeof(double));
  }
  return status;
}

static abut_status append(uint32_t **array, size_t *room, size_t *count, uint32_t value)
{
  void *grown = *array;
  abut_status status = grow(&grown, room, *count + 1, sizeof **array);
  *array = grown;
  if (status == ABUT_SUCCESS) {
    (*array)[(*count)++] = value;
  }
  return status;
}

static void note(builder *b, uint32_t index, const char *of, size_t line)
{
  if (!b->top_of || index > b->top) {
    b->top = index;
    b->top_of = of;
    b->top_line = line;
  }
}

abut_status builder_corner(builder *b, uint32_t index, size_t line)
{
  note(b, index, "face", line);
  return append(&b->m.face_indices, &b->index_room, &b->m.index_count, index);
}

abut_status builder_face(builder *b, size_t line)
{
  size_t corners = b->m.index_count - b->closed;
  if (corners < 3) {
    return fail_at(ABUT_ERROR_FORMAT, b->name, line, "a face has %zu corners; it needs at least 3",
                   corners);
  }
  if (corners > UINT32_MAX) {
    return fail_at(ABUT_ERROR_FORMAT, b->name, line, "a face has %zu corners, which is too many",
                   corners);
  }
  b->closed = b->m.index_count;
  return append(&b->m.face_sizes, &b->face_room, &b->m.face_count, (uint32_t)corners);
}

abut_status builder_edge(builder *b, uint32_t from, uint32_t to, size_t line)
{
  note(b, from, "line", line);
  note(b, to, "line", line);
  TRY(append(&b->m.edges, &b->end_room, &b->end_count, from));
  TRY(append(&b->m.edges, &b->end_room, &b->end_count, to));
  b->m.edge_count = b->end_count / 2;
  return ABUT_SUCCESS;
}

static abut_status check(const builder *b)
{
  const mesh *m = &b->m;
  if (b->top_of && b->top >= m->vertex_count) {
    return fail_at(ABUT_ERROR_FORMAT, b->name, b->top_line,
                   "a %s names vertex %llu, but the file has only %zu vertices, numbered from %u",
                   b->top_of, (unsigned long long)b->top + b->base, m->vertex_count, b->base);
  }
  if (m->vertex_count == 0) {
    return fail_at(ABUT_ERROR_FORMAT, b->name, 0, "contains no vertices");
  }
  return ABUT_SUCCESS;
}

abut_status builder_finish(builder *b, abut_status so_far, mesh *out)
{
  abut_status status = so_far == ABUT_SUCCESS ? check(b) : so_far;
  if (status != ABUT_SUCCESS) {
    mesh_free(&b->m);
  }
  *out = b->m;
  return status;
}
