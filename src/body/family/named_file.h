/* Files that a member of another file names, found from that file's folder. */
#ifndef ABUT_FAMILY_NAMED_FILE_H
#define ABUT_FAMILY_NAMED_FILE_H

#include "base/memory.h"
#include "format/json.h"

/* Reads all of the file; what cannot be read is told as a fault of `f`, where `what` says what the
 * file holds ("its grid"). *path is of `memory`; *bytes are the caller's to free, NULL on
 * failure. */
abut_status named_file_read(const json_file *f, const json_at *at, const char *what, arena *memory,
                            const char **path, char **bytes, size_t *count);

#endif
