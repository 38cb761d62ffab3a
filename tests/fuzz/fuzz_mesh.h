/* A mesh that parses must be valid; one that does not must leave nothing behind. */
#ifndef ABUT_TESTS_FUZZ_MESH_H
#define ABUT_TESTS_FUZZ_MESH_H

#include "format/mesh.h"
#include "fuzz.h"
#include "sound_mesh.h"
#include <abut/files.h>
#include <stdlib.h>

/* What came of a parser. */
static int check_outcome(abut_status status, mesh *m)
{
  if (status == ABUT_SUCCESS) {
    PROMISE(mesh_is_sound(m));
    mesh_free(m);
  } else {
    PROMISE(status == ABUT_ERROR_FORMAT && abut_last_error()[0]);
    PROMISE(!m->vertices && !m->face_sizes && !m->face_indices && !m->edges);
  }
  return 0;
}

#endif
