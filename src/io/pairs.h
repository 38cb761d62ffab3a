/* Lists of pairs from bytes. */
#ifndef ABUT_IO_PAIRS_H
#define ABUT_IO_PAIRS_H

#include <abut/files.h>

/* name: of the list; files are relative to its folder. *out is empty on failure. */
abut_status pairs_parse(const char *name, const char *bytes, size_t count, abut_pair_files *out);

#endif
