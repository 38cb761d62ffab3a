/* Reads .npy arrays from files or from members of archives. */
#ifndef ABUT_FORMAT_NPY_READ_H
#define ABUT_FORMAT_NPY_READ_H

#include "format/npy.h"

/* A source of bytes: `get` takes the next `count` bytes or fails. */
typedef struct npy_source {
  abut_status (*get)(npy_where where, void *from, void *out, size_t count);
  void *from;
} npy_source;

/* Reads the magic, the version, and the dictionary with its length. *bytes: bytes read. */
abut_status npy_read_header(npy_where where, const npy_source *source, npy *header, size_t *bytes);

/* Takes data over. Converts it to C order, narrow numbers to int32, and text to UTF-8. Frees the
 * data on failure. */
abut_status npy_store(npy_where where, const npy *header, void *data, abut_array *out);

/* Reads a whole file `name`. Its array has no name. */
abut_status npy_read(const char *name, const char *bytes, size_t count, abut_array *out);

/* Frees the array's name and data. */
void npy_free(abut_array *array);

#endif
