/* smoothing.json. */
#ifndef ABUT_IO_SMOOTHING_FILE_H
#define ABUT_IO_SMOOTHING_FILE_H

#include "io/json.h"
#include <abut/manifold.h>

/* Sets all of *out but its cookie, of an object in another file. */
abut_status smoothing_read(const json_file *f, const json_at *at, abut_smoothing *out);

/* The same of a whole file. */
abut_status smoothing_parse(const char *name, const char *bytes, size_t count,
                            abut_smoothing *out);

#endif
