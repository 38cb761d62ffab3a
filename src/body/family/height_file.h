/* Height fields as body files and scenes describe them. */
#ifndef ABUT_FAMILY_HEIGHT_FILE_H
#define ABUT_FAMILY_HEIGHT_FILE_H

#include "base/memory.h"
#include "format/json.h"
#include <abut/body.h>

/* Reads a height field, whose heights are rows of numbers or a .png or .npy that is found from the
 * file's folder. primitive: it may state an operation, which is left to the caller. What *out
 * points to is of `memory`. */
abut_status height_field_read(const json_file *f, const json_at *at, bool primitive, arena *memory,
                              abut_height_field *out);

/* Reads the heights of a .npy, whose first row is at the lower end of y, or of a .png in grey, from
 * 0 to 1, whose first row is at the higher end. Sets heights, which are `scale` times the file's,
 * rows and columns. */
abut_status heights_parse_npy(const char *name, const char *bytes, size_t count, double scale,
                              arena *memory, abut_height_field *out);
abut_status heights_parse_png(const char *name, const char *bytes, size_t count, double scale,
                              arena *memory, abut_height_field *out);

/* Returns whether a height is not finite, too large, not above the base, or too steep from the one
 * before it in its row or column; then *at is the first that is, and `cause` says what. The other
 * members must be in range. */
bool height_field_fault(const abut_height_field *h, size_t *at, char *cause, size_t room);

/* Returns whether two are the same, number by number, but for their operations. */
bool height_field_is_same(const abut_height_field *a, const abut_height_field *b);

#endif
