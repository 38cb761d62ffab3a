/* Arrays of indices in archives. */
#ifndef ABUT_IO_INDICES_H
#define ABUT_IO_INDICES_H

#include "format/npz.h"

/* Reads an array of whole numbers from 0 to 2^32 - 1, one for each of `count` poses. `what` says what they
 * are the indices of. *out is NULL where the archive lacks the array, and to be freed. */
abut_status indices_find(const char *name, zip_t *archive, const char *array, const char *what,
                         size_t count, uint32_t **out);

#endif
