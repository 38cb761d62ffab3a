/* The arrays of a folder: files with one row per pose, or one array for all poses. */
#ifndef ABUT_CLI_FOLDER_ARRAYS_H
#define ABUT_CLI_FOLDER_ARRAYS_H

#include "core/folder/folder.h"

/* Returns whether an array has one row per pose. */
bool folder_has_rows(const folder_array *a);

/* Returns the size of the data after the header in bytes. */
uint64_t folder_data_bytes(const folder_array *a);

/* Copies the descriptions of arrays, with their shapes for the whole folder. */
exit_code folder_take_arrays(folder *f, const outputs *l);

/* Writes an array that does not grow with the poses completely; otherwise writes its header and
 * reserves room for its rows. */
exit_code folder_make_array(const folder *f, const folder_array *a, const void *data);

/* Writes a block's rows of an array. */
exit_code folder_put_rows(const folder *f, const folder_array *a, range block,
                          const abut_array *from);

#endif
