/* Reads ranges of arrays in files. */
#ifndef ABUT_FORMAT_NPY_RANGE_H
#define ABUT_FORMAT_NPY_RANGE_H

#include "format/npz.h"

/* Location of a file's bytes: on disk or in memory. */
typedef struct npy_bytes {
  const char *bytes; /* or NULL */
  uint64_t count;
  int file; /* used if bytes is NULL */
} npy_bytes;

/* An array in a file. */
typedef struct npy_stored {
  npy header;
  uint64_t data;      /* offset of its numbers in the file or the member */
  npy_bytes from;     /* for a file with a single array */
  zip_file_t *member; /* an uncompressed member of an archive; otherwise NULL */
} npy_stored;

/* Finds the single array of a file, which may be a text. */
abut_status npy_find(npy_where where, npy_bytes from, npy_stored *out);
/* Checks that the file has the size required by the shape. */
abut_status npy_check_bytes(npy_where where, const npy_stored *a);

/* Reads elements first[k] .. first[k] + count[k] - 1 of each dimension of a numeric array. They
 * must exist. *out is a separate array in C order without a name. */
abut_status npy_read_range(npy_where where, const npy_stored *a, const size_t *first,
                           const size_t *count, abut_array *out);

#endif
