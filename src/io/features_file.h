/* Features of a body file, its angle for sharp edges, and its cones. */
#ifndef ABUT_IO_FEATURES_FILE_H
#define ABUT_IO_FEATURES_FILE_H

#include "base/memory.h"
#include "format/json.h"
#include <abut/body.h>

/* Reads the optional keys "features", "sharp" and "cones" into a definition, with arrays from
 * `memory`. The number of cones is checked here only if features are stated. */
abut_status features_read(const json_file *f, const json_at *root, arena *memory,
                          abut_body_def *def);

#endif
