/* Texts of drivers as JSON, and objects that are printed. */
#ifndef ABUT_CLI_JSON_TEXT_H
#define ABUT_CLI_JSON_TEXT_H

#include "core/cli.h"
#include <jansson.h>

/* A driver may call itself anything: what is not UTF-8 becomes "?". */
json_t *json_text(const char *s);

/* Prints an object and frees it; numbers have so many digits, or with 0 as many as tell them to the
 * bit. NULL stands for one that there was no memory for. */
exit_code print_object(json_t *root, size_t digits);

#endif
