/* The arrays of a contact's outputs, as files call them and as public structs have them. */
#ifndef ABUT_CLI_CONTACT_ARRAYS_H
#define ABUT_CLI_CONTACT_ARRAYS_H

#include "geometry/outputs.h"

#include <stddef.h>

typedef struct contact_array {
  const char *name, *compact, *cotangent, *tangent;     /* in files */
  size_t components;                                    /* reals a contact */
  size_t in_batch, in_list, in_cotangents, in_tangents; /* offsets in the structs of these */
} contact_array;

extern const contact_array contact_arrays[OUTPUTS];

/* An array in a public struct, by its offset there. */
void *array_in(const void *of, size_t offset);
void put_array(void *of, size_t offset, const void *array);

#endif
