/* The format of smoothing.json. */
#ifndef ABUT_IO_SMOOTHING_FILE_H
#define ABUT_IO_SMOOTHING_FILE_H

#include "format/json.h"
#include <abut/manifold.h>

/* Reads all of *out except its cookie from an object in another file. */
abut_status smoothing_read(const json_file *f, const json_at *at, abut_smoothing *out);

/* Does the same for an object that may omit keys. *stated has a bit for each existing key. If all
 * required keys exist, *stated is UINT64_MAX. */
abut_status smoothing_read_some(const json_file *f, const json_at *at, abut_smoothing *out,
                                uint64_t *stated);

/* Copies the coefficients of those keys. */
void smoothing_copy_some(const abut_smoothing *from, uint64_t stated, abut_smoothing *to);

/* Reads a file that may omit keys. *out and *stated are as for smoothing_read_some. */
abut_status smoothing_parse_some(const char *name, const char *bytes, size_t count,
                                 abut_smoothing *out, uint64_t *stated);

/* Reads a complete file. */
abut_status smoothing_parse(const char *name, const char *bytes, size_t count, abut_smoothing *out);

#endif
