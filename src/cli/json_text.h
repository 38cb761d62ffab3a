/* Texts of drivers as JSON. */
#ifndef ABUT_CLI_JSON_TEXT_H
#define ABUT_CLI_JSON_TEXT_H

#include <jansson.h>

/* A driver may call itself anything: what is not UTF-8 becomes "?". */
json_t *json_text(const char *s);

#endif
