/* Arrays of files of which ranges are read. */
#ifndef ABUT_FORMAT_NPY_RANGE_H
#define ABUT_FORMAT_NPY_RANGE_H

#include "format/npz.h"

/* Where a file's bytes are: on disk, or in memory. */
typedef struct npy_bytes {
  const char *bytes; /* or NULL */
  uint64_t count;
  int file; /* without bytes */
} npy_bytes;

/* An array in a file. */
typedef struct npy_stored {
  npy header;
  uint64_t data;      /* where its numbers begin, in the file or the member */
  npy_bytes from;     /* of a file that is one array */
  zip_file_t *member; /* of an archive, else NULL: one that is not compressed */
} npy_stored;

/* Finds the one array of a file, which may be a text. */
abut_status npy_find(npy_where where, npy_bytes from, npy_stored *out);
/* That its file is as long as its shape says. */
abut_status npy_check_bytes(npy_where where, const npy_stored *a);

/* Reads elements first[k] .. first[k] + count[k] - 1 of each dimension, which must be there, of an
 * array that is no text: as an array of its own in C order, without a name. */
abut_status npy_read_range(npy_where where, const npy_stored *a, const size_t *first,
                           const size_t *count, abut_array *out);

#endif
