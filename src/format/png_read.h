/* Pictures in grey. */
#ifndef ABUT_FORMAT_PNG_READ_H
#define ABUT_FORMAT_PNG_READ_H

#include <abut/status.h>
#include <stddef.h>

/* Tells how large a picture is. Fails where it is damaged, none of .png, or not in grey. */
abut_status png_size(const char *name, const char *bytes, size_t count, size_t *columns,
                     size_t *rows);

/* Reads all pixels of a picture that png_size took, from the topmost row on, 0 to 1, whatever its
 * depth is; transparency is left out. greys: (rows, columns). */
abut_status png_read_grey(const char *name, const char *bytes, size_t count, double *greys);

#endif
