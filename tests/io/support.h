/* What the tests of files share. */
#ifndef ABUT_TESTS_IO_SUPPORT_H
#define ABUT_TESTS_IO_SUPPORT_H

#include "support/check.h"

#include <stddef.h>
#include <stdint.h>

/* A folder of the test program's own. It stays where a test ends early. */
void folder_make(void);
void folder_remove(void);

/* The path of a file in it. Valid until 8 further calls. */
const char *in_folder(const char *name);

/* Writes a file there and returns its path. */
const char *write_file(const char *name, const void *bytes, size_t count);
const char *write_text(const char *name, const char *text);

/* The whole file; *count bytes with a zero behind. */
char *slurp(const char *path, size_t *count);

/* How many names the folder has besides . and .. */
size_t folder_entries(void);

/* The status, and the last error's text: it must start with `start` and hold `part`. */
void expect_failure(abut_status got, abut_status wanted, const char *start, const char *part);

#endif
