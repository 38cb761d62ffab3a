/* Pictures in grey. */
#ifndef ABUT_FORMAT_PNG_READ_H
#define ABUT_FORMAT_PNG_READ_H

#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

/* Tells how large a picture says that it is. Fails where it is none of .png, or not in grey. */
abut_status png_size(const char *name, const char *bytes, size_t count, size_t *columns, size_t *rows);

/* Reads all pixels from the topmost row on, 0 to 65535, whatever the picture's depth is; transparency is
 * left out. *greys are the caller's to free, NULL on failure. */
abut_status png_read_grey(const char *name, const char *bytes, size_t count, uint16_t **greys);

#endif
