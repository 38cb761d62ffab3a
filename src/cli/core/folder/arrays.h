/* The arrays of a folder: files with a row for each pose, or one for all. */
#ifndef ABUT_CLI_FOLDER_ARRAYS_H
#define ABUT_CLI_FOLDER_ARRAYS_H

#include "core/folder/folder.h"

/* Whether it has a row for each pose. */
bool folder_has_rows(const folder_array *a);

/* How many bytes all of it has, behind the header. */
uint64_t folder_data_bytes(const folder_array *a);

/* Takes arrays as they are described, with the shapes that they have in the whole folder. */
exit_code folder_take_arrays(folder *f, const outputs *l);

/* Writes all of an array that does not grow with the poses, else its header and room for its
 * rows. */
exit_code folder_make_array(const folder *f, const folder_array *a, const void *data);

/* Writes a block's rows of an array. */
exit_code folder_put_rows(const folder *f, const folder_array *a, range block,
                          const abut_array *from);

#endif
