/* What every mesh that a parser takes must be. */
#ifndef ABUT_TESTS_IO_SOUND_MESH_H
#define ABUT_TESTS_IO_SOUND_MESH_H

#include "format/mesh.h"
#include <math.h>
#include <stdbool.h>

/* Whether all numbers are finite, faces have corners, and indices are of vertices. */
static inline bool mesh_is_sound(const mesh *m)
{
  size_t corners = 0;
  bool sound = m->vertex_count > 0;
  for (size_t i = 0; i < 3 * m->vertex_count; i++) {
    sound &= isfinite(m->vertices[i]) != 0;
  }
  for (size_t i = 0; i < m->face_count; i++) {
    sound &= m->face_sizes[i] >= 3;
    corners += m->face_sizes[i];
  }
  sound &= corners == m->index_count;
  for (size_t i = 0; sound && i < corners; i++) {
    sound &= m->face_indices[i] < m->vertex_count;
  }
  for (size_t i = 0; i < 2 * m->edge_count; i++) {
    sound &= m->edges[i] < m->vertex_count;
  }
  return sound;
}

#endif
