/* The arrays of an .npz that a command writes. */
#ifndef ABUT_CLI_OUTPUTS_H
#define ABUT_CLI_OUTPUTS_H

#include "core/cli.h"

#define OUTPUTS_MOST 48

/* What one row of an array is for. */
typedef enum output_of {
  OUTPUT_OF_POSES,   /* a pose; in commands of worlds a world */
  OUTPUT_OF_ENTRIES, /* an entry of a list */
  OUTPUT_ONCE,       /* neither: the array is written once */
  OUTPUT_OF_STATES   /* a state of all worlds: it contains one row per world */
} output_of;

typedef struct outputs {
  abut_array arrays[OUTPUTS_MOST];
  output_of of[OUTPUTS_MOST]; /* used only for folders of results */
  size_t count;
  size_t input_bytes;          /* bytes of other inputs per row, besides its pose; likewise */
  const uint8_t *input_status; /* per row, errors in its inputs; likewise; or NULL */
} outputs;

/* The type of the context's reals. */
abut_array_type real_type(const session *s);
/* Adds an array of rows x columns x depth, with the first `dimensions` of these. The data is owned
 * by the caller. */
void outputs_add(outputs *l, const char *name, abut_array_type type, const void *data,
                 uint32_t dimensions, size_t rows, size_t columns, size_t depth);
/* The same for rows that are not poses. */
void outputs_add_of(outputs *l, output_of of, const char *name, abut_array_type type,
                    const void *data, uint32_t dimensions, size_t rows, size_t columns,
                    size_t depth);
/* Returns the index of the array with this name, or the count. */
size_t outputs_find(const outputs *l, const char *name);
/* Writes everything, followed by `smoothing`, unless there is a scene, and for --soft by `soft`, as
 * JSON. */
exit_code outputs_write(outputs *l, const session *s, const options *o);

#endif
