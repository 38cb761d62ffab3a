/* Files named by a member of another file, relative to that file's folder. */
#ifndef ABUT_FAMILY_NAMED_FILE_H
#define ABUT_FAMILY_NAMED_FILE_H

#include "base/memory.h"
#include "format/json.h"

/* Reads the whole file. A failure is reported as a fault of `f`, where `what` describes the
 * contents ("its grid"). *path is allocated from `memory`. The caller frees *bytes, which is NULL
 * on failure. */
abut_status named_file_read(const json_file *f, const json_at *at, const char *what, arena *memory,
                            const char **path, char **bytes, size_t *count);

#endif
