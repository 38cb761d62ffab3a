/* Shape indices for the rows of a batch, from bytes. */
#ifndef ABUT_IO_SHAPE_ROWS_H
#define ABUT_IO_SHAPE_ROWS_H

#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

/* See abut_load_shape_rows, for an .npz archive. Both are NULL on failure. */
abut_status shape_rows_parse(const char *name, const char *bytes, size_t size, size_t count,
                             uint32_t **one, uint32_t **two);

#endif
