/* Finds the line of a value in a JSON text. */
#ifndef ABUT_FORMAT_JSON_LINE_H
#define ABUT_FORMAT_JSON_LINE_H

#include "format/json.h"

/* Returns the line, from 1, of the member's key or of the element's first byte. The text must be
 * the one from which `at` was parsed; its grammar is not checked again. */
size_t json_line(const json_file *f, const json_at *at);

#endif
