/* The arrays of an .npz that a command writes. */
#ifndef ABUT_CLI_OUTPUTS_H
#define ABUT_CLI_OUTPUTS_H

#include "core/cli.h"

#define OUTPUTS_MOST 48

/* What the rows of an array are of: a pose each, an entry of a list each, neither, or a state each,
 * within which there is one for each pose, which is a world then. */
typedef enum output_of {
  OUTPUT_OF_POSES,
  OUTPUT_OF_ENTRIES,
  OUTPUT_ONCE,
  OUTPUT_OF_STATES
} output_of;

typedef struct outputs {
  abut_array arrays[OUTPUTS_MOST];
  output_of of[OUTPUTS_MOST]; /* what a folder of results asks; else not looked at */
  size_t count;
  size_t input_bytes;          /* that a row has among inputs beside its pose; likewise */
  const uint8_t *input_status; /* of each row, what is wrong with its inputs; likewise; or NULL */
} outputs;

/* The type of the context's reals. */
abut_array_type real_type(const session *s);
/* Adds rows x columns x depth, of which the first `dimensions` count. The data stays the
 * caller's. */
void outputs_add(outputs *l, const char *name, abut_array_type type, const void *data,
                 uint32_t dimensions, size_t rows, size_t columns, size_t depth);
/* The same of rows that are no poses'. */
void outputs_add_of(outputs *l, output_of of, const char *name, abut_array_type type,
                    const void *data, uint32_t dimensions, size_t rows, size_t columns,
                    size_t depth);
/* The place of an array of this name, or the count. */
size_t outputs_find(const outputs *l, const char *name);
/* Writes all, with `smoothing`, unless of a scene, and of --soft `soft` as JSON behind. */
exit_code outputs_write(outputs *l, const session *s, const options *o);

#endif
