/* Converts a mesh to the text of an OBJ file. */
#ifndef ABUT_IO_OBJ_TEXT_H
#define ABUT_IO_OBJ_TEXT_H

#include <abut/body.h>

typedef struct obj_text {
  void *bytes; /* the caller frees it, even after a failure */
  size_t count, room;
} obj_text;

/* Adds vertices, faces, and edges that are not edges of faces. Numbers are written exactly. */
abut_status obj_text_make(const abut_body_def *def, obj_text *t);

#endif
