/* Which line of a JSON text a value stands in. */
#ifndef ABUT_FORMAT_JSON_LINE_H
#define ABUT_FORMAT_JSON_LINE_H

#include "format/json.h"

/* The line, from 1, of the member's key or of the element's first byte. The text must be the one
 * that `at` was parsed from: it is walked without another check of its grammar. */
size_t json_line(const json_file *f, const json_at *at);

#endif
