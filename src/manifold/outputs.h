/* The one table of what a contact's outputs are called and where each lies: in scratch, in rows of
 * a compact list, in the public structs. */
#ifndef ABUT_MANIFOLD_OUTPUTS_H
#define ABUT_MANIFOLD_OUTPUTS_H

#include "manifold/pair.h"

/* The public structs that have a member for each output. */
typedef enum output_struct {
  OUTPUT_BATCH, OUTPUT_LIST, OUTPUT_COTANGENTS, OUTPUT_TANGENTS,
  OUTPUT_COTANGENT_TANGENTS, /* in a struct of cotangents, too */
  OUTPUT_STRUCTS
} output_struct;

typedef struct contact_output {
  const char *names[OUTPUT_STRUCTS]; /* in errors */
  size_t offsets[OUTPUT_STRUCTS];
  int want;                /* WANT_* */
  size_t components;       /* reals a contact */
  size_t column;           /* the first in a row of a compact list */
  scratch_id values, bars; /* it, and its cotangents */
} contact_output;

enum { OUTPUTS = 5 };
extern const contact_output contact_outputs[OUTPUTS];

/* An output's array in a public struct. */
void *output_array(const contact_output *o, output_struct kind, const void *of);
void output_set(const contact_output *o, output_struct kind, void *of, void *array);

/* WANT_* of the arrays that are there; none in NULL. */
int outputs_given(output_struct kind, const void *of);

#endif
