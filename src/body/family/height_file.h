/* Height fields in body files and scenes. */
#ifndef ABUT_FAMILY_HEIGHT_FILE_H
#define ABUT_FAMILY_HEIGHT_FILE_H

#include "base/memory.h"
#include "format/json.h"
#include <abut/body.h>

/* Reads a height field. Its heights are rows of numbers, or a .png or .npy file relative to the
 * file's folder. primitive: an operation is allowed, which the caller reads. Arrays of *out are
 * allocated from `memory`. */
abut_status height_field_read(const json_file *f, const json_at *at, bool primitive, arena *memory,
                              abut_height_field *out);

/* Reads heights from a .npy file, whose first row is at the lower end of y, or from a grey .png
 * file. A .png file has heights from 0 to 1, and its first row is at the upper end. Sets rows,
 * columns, and heights, which are multiplied by `scale`. */
abut_status heights_parse_npy(const char *name, const char *bytes, size_t count, double scale,
                              arena *memory, abut_height_field *out);
abut_status heights_parse_png(const char *name, const char *bytes, size_t count, double scale,
                              arena *memory, abut_height_field *out);

/* Returns whether a height is not finite, too large, not above the base, or too steep relative to
 * the previous one in its row or column. Then *at is the first such height, and `cause` describes
 * the fault. The other members must be valid. */
bool height_field_fault(const abut_height_field *h, size_t *at, char *cause, size_t room);

/* Returns whether two height fields are identical except for their operations. */
bool height_field_is_same(const abut_height_field *a, const abut_height_field *b);

#endif
