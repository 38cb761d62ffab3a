/* Arrays of indices in archives. */
#ifndef ABUT_IO_INDICES_H
#define ABUT_IO_INDICES_H

#include "format/npz.h"

/* The numbers of an array of whole numbers from 0 to 2^32 - 1 of shape (count,), whose rows are
 * counted from `first` on. `what` says what they are the indices of. *out is to be freed; NULL on
 * failure. */
abut_status indices_of(npy_where where, const abut_array *a, const char *what, size_t first,
                       size_t count, uint32_t **out);

/* Reads an array of whole numbers from 0 to 2^32 - 1, one for each of `count` poses. `what` says
 * what they are the indices of. *out is NULL where the archive lacks the array, and to be freed. */
abut_status indices_find(const char *name, zip_t *archive, const char *array, const char *what,
                         size_t count, uint32_t **out);

#endif
