/* Arrays of .npy, on their own or in an archive. */
#ifndef ABUT_FORMAT_NPY_READ_H
#define ABUT_FORMAT_NPY_READ_H

#include "format/npy.h"

/* Where the bytes of an array come from: `get` takes the next `count` of them or fails. */
typedef struct npy_source {
  abut_status (*get)(npy_where where, void *from, void *out, size_t count);
  void *from;
} npy_source;

/* Reads the magic, the version, the length of the dictionary and the dictionary. *bytes: how
 * many. */
abut_status npy_read_header(npy_where where, const npy_source *source, npy *header, size_t *bytes);

/* Takes data over, brings it into C order, narrow numbers to int32, and makes a text UTF-8. Where
 * it fails the data is freed. */
abut_status npy_store(npy_where where, const npy *header, void *data, abut_array *out);

/* Reads a whole file `name`, whose array has no name. */
abut_status npy_read(const char *name, const char *bytes, size_t count, abut_array *out);

/* Frees the array's name and data. */
void npy_free(abut_array *array);

#endif
