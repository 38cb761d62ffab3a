/* A mesh becomes the text of an OBJ file. */
#ifndef ABUT_IO_OBJ_TEXT_H
#define ABUT_IO_OBJ_TEXT_H

#include <abut/body.h>

typedef struct obj_text {
  void *bytes; /* the caller's to free, after a failure, too */
  size_t count, room;
} obj_text;

/* Adds vertices, faces and edges beside those of faces, numbers as they are read back to the
 * bit. */
abut_status obj_text_make(const abut_body_def *def, obj_text *t);

#endif
