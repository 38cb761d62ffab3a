/* Arrays of indices in archives. */
#ifndef ABUT_IO_INDICES_H
#define ABUT_IO_INDICES_H

#include "format/npz.h"

/* Gives the numbers of an array of integers from 0 to 2^32 - 1 with shape (count,). Its rows are
 * counted from `first` in error texts. `what` describes what the indices refer to. The caller frees
 * *out, which is NULL on failure. */
abut_status indices_of(npy_where where, const abut_array *a, const char *what, size_t first,
                       size_t count, uint32_t **out);

/* Reads an array of integers from 0 to 2^32 - 1, one for each of `count` poses. `what` describes
 * what the indices refer to. The caller frees *out, which is NULL if the array is missing. */
abut_status indices_find(const char *name, zip_t *archive, const char *array, const char *what,
                         size_t count, uint32_t **out);

#endif
