/* The arrays of an .npz that a command writes. */
#ifndef ABUT_CLI_OUTPUTS_H
#define ABUT_CLI_OUTPUTS_H

#include "cli.h"

#define OUTPUTS_MOST 32

typedef struct outputs {
  abut_array arrays[OUTPUTS_MOST];
  size_t count;
} outputs;

/* The type of the context's reals. */
abut_array_type real_type(const scene *s);
/* Adds rows x columns x depth, of which the first `dimensions` count. The data stays the
 * caller's. */
void outputs_add(outputs *l, const char *name, abut_array_type type, const void *data,
                 uint32_t dimensions, size_t rows, size_t columns, size_t depth);
/* Writes all, with `smoothing`, unless of a scene, and of --soft `soft` as JSON behind. */
exit_code outputs_write(outputs *l, const scene *s, const options *o);

#endif
