/* Archives of arrays. */
#ifndef ABUT_FORMAT_NPZ_H
#define ABUT_FORMAT_NPZ_H

#include "format/npy.h"

#include <zip.h>

/* Opens an archive in memory. The bytes must outlive it. Close with zip_discard. */
abut_status npz_open(const char *name, const char *bytes, size_t count, zip_t **out);

/* Opens an archive on disk, and reads only the requested parts. *out is NULL if the file is not
 * regular, such as a pipe, where ranges cannot be read. Close with zip_discard. */
abut_status npz_open_file(const char *path, zip_t **out);

/* Reads the header of a member, and opens the member after it, to be closed with zip_fclose.
 * *stored: whether it is uncompressed, so that zip_fseek can reach every position. *header_bytes:
 * offset of its data. The size is checked against the shape. */
abut_status npz_open_array(const char *name, zip_t *archive, zip_uint64_t index, npy *header,
                           size_t *header_bytes, bool *stored, zip_file_t **member);

/* Reads one array, which owns its name and data; see npy_free. */
abut_status npz_read_array(const char *name, zip_t *archive, zip_uint64_t index, abut_array *out);

/* Same as abut_read_npz, from bytes. */
abut_status npz_parse(const char *name, const char *bytes, size_t count, abut_npz *out);

#endif
