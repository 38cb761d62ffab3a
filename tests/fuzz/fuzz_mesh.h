/* A mesh that parses must be valid; one that does not must leave nothing behind. */
#ifndef ABUT_TESTS_FUZZ_MESH_H
#define ABUT_TESTS_FUZZ_MESH_H

#include "format/mesh.h"
#include "fuzz.h"
#include <abut/files.h>
#include <math.h>
#include <stdlib.h>

static void check_mesh(const mesh *m)
{
  size_t corners = 0;
  PROMISE(m->vertex_count > 0);
  for (size_t i = 0; i < 3 * m->vertex_count; i++) {
    PROMISE(isfinite(m->vertices[i]));
  }
  for (size_t i = 0; i < m->face_count; i++) {
    PROMISE(m->face_sizes[i] >= 3);
    corners += m->face_sizes[i];
  }
  PROMISE(corners == m->index_count);
  for (size_t i = 0; i < m->index_count; i++) {
    PROMISE(m->face_indices[i] < m->vertex_count);
  }
  for (size_t i = 0; i < 2 * m->edge_count; i++) {
    PROMISE(m->edges[i] < m->vertex_count);
  }
}

/* What came of a parser. */
static int check_outcome(abut_status status, mesh *m)
{
  if (status == ABUT_SUCCESS) {
    check_mesh(m);
    mesh_free(m);
  } else {
    PROMISE(status == ABUT_ERROR_FORMAT && abut_last_error()[0]);
    PROMISE(!m->vertices && !m->face_sizes && !m->face_indices && !m->edges);
  }
  return 0;
}

#endif
