/* Features of a body file, its angle of sharp edges and its cones. */
#ifndef ABUT_IO_FEATURES_FILE_H
#define ABUT_IO_FEATURES_FILE_H

#include "base/memory.h"
#include "format/json.h"
#include <abut/body.h>

/* Reads the keys "features", "sharp" and "cones", each of which may be missing, into a definition;
 * what it points to is of `memory`. How many cones there must be is checked here only where
 * features are stated. */
abut_status features_read(const json_file *f, const json_at *root, arena *memory,
                          abut_body_def *def);

#endif
