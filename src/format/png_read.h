/* Reads grey pictures. */
#ifndef ABUT_FORMAT_PNG_READ_H
#define ABUT_FORMAT_PNG_READ_H

#include <abut/status.h>
#include <stddef.h>

/* Gives a picture's size. Fails if it is damaged, not a .png, or not grey. */
abut_status png_size(const char *name, const char *bytes, size_t count, size_t *columns,
                     size_t *rows);

/* Reads all pixels of a picture checked by png_size, from the top row down, as 0 to 1 for every bit
 * depth. Transparency is ignored. greys: (rows, columns). */
abut_status png_read_grey(const char *name, const char *bytes, size_t count, double *greys);

#endif
