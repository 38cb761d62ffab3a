/* The table of a contact's outputs: their names, and their places in scratch, in rows of a compact
 * list and in the public structs. */
#ifndef ABUT_CONTACT_OUTPUTS_H
#define ABUT_CONTACT_OUTPUTS_H

#include "contact/pair.h"

/* The public structs with a member for each output. */
typedef enum output_struct {
  OUTPUT_BATCH,
  OUTPUT_LIST,
  OUTPUT_COTANGENTS,
  OUTPUT_TANGENTS,
  OUTPUT_COTANGENT_TANGENTS, /* has the type of cotangents, too */
  OUTPUT_STRUCTS
} output_struct;

typedef struct contact_output {
  const char *names[OUTPUT_STRUCTS]; /* name in error texts */
  size_t offsets[OUTPUT_STRUCTS];
  int want;                /* WANT_* */
  size_t components;       /* number of reals per contact */
  size_t column;           /* offset in a row of a compact list */
  scratch_id values, bars; /* buffers of its values and of its cotangents */
} contact_output;

extern const contact_output contact_outputs[OUTPUTS];

/* Returns an output's array in a public struct. output_set sets it. */
void *output_array(const contact_output *o, output_struct kind, const void *of);
void output_set(const contact_output *o, output_struct kind, void *of, void *array);

/* Returns the bits WANT_* of the arrays that are not NULL. NULL has none. */
int outputs_given(output_struct kind, const void *of);

#endif
