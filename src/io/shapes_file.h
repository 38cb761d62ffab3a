/* Files of shapes: shapes.json. */
#ifndef ABUT_IO_SHAPES_FILE_H
#define ABUT_IO_SHAPES_FILE_H

#include "base/memory.h"
#include <abut/closest.h>

typedef struct shapes_file {
  abut_shape_def *defs; /* (count), all valid */
  size_t count;         /* at least 1 */
  arena memory;         /* for these and the vertices of hulls */
} shapes_file;

/* Reads and checks everything; `name` is the file's path. *out is empty on failure. */
abut_status shapes_file_parse(const char *name, const char *bytes, size_t count, shapes_file *out);
void shapes_file_free(shapes_file *s);

#endif
