/* The arrays of a contact's outputs: names in files and members in public structs. */
#ifndef ABUT_CLI_CONTACT_ARRAYS_H
#define ABUT_CLI_CONTACT_ARRAYS_H

#include "geometry/outputs.h"

#include <stddef.h>

typedef struct contact_array {
  const char *name, *compact, *cotangent, *tangent;     /* in files */
  size_t components;                                    /* reals per contact */
  size_t in_batch, in_list, in_cotangents, in_tangents; /* offsets in the corresponding structs */
} contact_array;

extern const contact_array contact_arrays[OUTPUTS];

/* Access an array in a public struct by its offset. */
void *array_in(const void *of, size_t offset);
void put_array(void *of, size_t offset, const void *array);

#endif
