/* smoothing.json. */
#ifndef ABUT_IO_SMOOTHING_FILE_H
#define ABUT_IO_SMOOTHING_FILE_H

#include "format/json.h"
#include <abut/manifold.h>

/* Sets all of *out but its cookie, of an object in another file. */
abut_status smoothing_read(const json_file *f, const json_at *at, abut_smoothing *out);

/* The same of an object that may leave keys out: which are there, as a bit each, in *stated. Where
 * all are that a file must have, it is such a file, and *stated is UINT64_MAX. */
abut_status smoothing_read_some(const json_file *f, const json_at *at, abut_smoothing *out,
                                uint64_t *stated);

/* Coefficients of those keys alone. */
void smoothing_copy_some(const abut_smoothing *from, uint64_t stated, abut_smoothing *to);

/* The keys of a file that may leave some out: those of *out, and which in *stated, as
 * smoothing_read_some has them. */
abut_status smoothing_parse_some(const char *name, const char *bytes, size_t count,
                                 abut_smoothing *out, uint64_t *stated);

/* All of a whole file. */
abut_status smoothing_parse(const char *name, const char *bytes, size_t count, abut_smoothing *out);

#endif
