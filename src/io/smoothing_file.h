/* smoothing.json. */
#ifndef ABUT_IO_SMOOTHING_FILE_H
#define ABUT_IO_SMOOTHING_FILE_H

#include <abut/manifold.h>

/* Sets all of *out but its cookie. */
abut_status smoothing_parse(const char *name, const char *bytes, size_t count,
                            abut_smoothing *out);

#endif
