/* Driver names as JSON, and printing of objects. */
#ifndef ABUT_CLI_JSON_TEXT_H
#define ABUT_CLI_JSON_TEXT_H

#include "core/cli.h"
#include <jansson.h>

/* Converts a driver's text; invalid UTF-8 becomes "?". */
json_t *json_text(const char *s);

/* Prints an object and frees it. Numbers have this many digits, or with 0 enough to be exact. NULL
 * means that there was no memory for the object. */
exit_code print_object(json_t *root, size_t digits);

#endif
