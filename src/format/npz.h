/* Archives of arrays. */
#ifndef ABUT_FORMAT_NPZ_H
#define ABUT_FORMAT_NPZ_H

#include <abut/files.h>
#include <zip.h>

/* Opens an archive in memory, which must outlive it. Close with zip_discard. */
abut_status npz_open(const char *name, const char *bytes, size_t count, zip_t **out);

/* Reads one array. The array owns its name and data, see npy_free. */
abut_status npz_read_array(const char *name, zip_t *archive, zip_uint64_t index, abut_array *out);

/* abut_read_npz from bytes. */
abut_status npz_parse(const char *name, const char *bytes, size_t count, abut_npz *out);

#endif
