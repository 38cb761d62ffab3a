/* Archives of arrays. */
#ifndef ABUT_FORMAT_NPZ_H
#define ABUT_FORMAT_NPZ_H

#include "format/npy.h"

#include <zip.h>

/* Opens an archive in memory, which must outlive it. Close with zip_discard. */
abut_status npz_open(const char *name, const char *bytes, size_t count, zip_t **out);

/* Opens an archive on disk, of which only what is asked for is read. *out is NULL where the file is
 * no regular one, such as a pipe, of which no ranges can be read. Close with zip_discard. */
abut_status npz_open_file(const char *path, zip_t **out);

/* The header of a member, and the member opened behind it: to be closed with zip_fclose. *stored:
 * whether it is not compressed, so that zip_fseek goes to any place of it. *header_bytes: where its
 * data begins. Its size has been compared with the shape. */
abut_status npz_open_array(const char *name, zip_t *archive, zip_uint64_t index, npy *header,
                           size_t *header_bytes, bool *stored, zip_file_t **member);

/* Reads one array. The array owns its name and data, see npy_free. */
abut_status npz_read_array(const char *name, zip_t *archive, zip_uint64_t index, abut_array *out);

/* abut_read_npz from bytes. */
abut_status npz_parse(const char *name, const char *bytes, size_t count, abut_npz *out);

#endif
