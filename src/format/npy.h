/* The header of a .npy array, and the text arrays' encoding. */
#ifndef ABUT_FORMAT_NPY_H
#define ABUT_FORMAT_NPY_H

#include <abut/files.h>
#include <stdbool.h>

#define NPY_DIMENSIONS 4

/* Names of file and array, for errors; array NULL: the file is one array. */
typedef struct npy_where {
  const char *file, *array;
} npy_where;

/* Whole numbers of files that become int32 in memory. */
typedef enum npy_narrow { NPY_AS_IT_IS, NPY_INT8, NPY_INT16, NPY_UINT16 } npy_narrow;

typedef struct npy {
  abut_array_type type;
  npy_narrow narrow; /* what elements are in the file */
  size_t item_bytes; /* of one element there; a text's all code points */
  uint32_t dimensions;
  size_t shape[NPY_DIMENSIONS];
  size_t data_bytes;
  bool fortran; /* the first index runs fastest, instead of the last */
} npy;

__attribute__((format(printf, 2, 3))) abut_status npy_fail(npy_where where, const char *format,
                                                           ...);

/* Parses the dictionary of a header: what stands behind its length. */
abut_status npy_parse(npy_where where, const char *text, size_t length, npy *out);

/* Writes a whole header of version 1.0. *bytes is to be freed. */
abut_status npy_format(const abut_array *array, size_t code_points, char **bytes, size_t *count);

/* As NumPy calls it. */
const char *npy_type_name(abut_array_type type);

/* Number i of an array that is no text, as near as double has it. */
double npy_real(const abut_array *array, size_t i);

/* Brings `count` narrow numbers to int32. */
void npy_widen(npy_narrow narrow, const void *from, size_t count, int32_t *to);

/* Brings data in Fortran order into C order; `to` is as large. */
void npy_transpose(const npy *header, const void *from, void *to);

/* Elements of `shape`; false where that overflows. */
bool npy_count(uint32_t dimensions, const size_t *shape, size_t *out);

/* Little-endian UTF-32 to UTF-8 with a zero behind; trailing zeros are dropped. */
abut_status npy_decode_text(npy_where where, const unsigned char *utf32, size_t code_points,
                            char **out, size_t *length);

/* The other way; *utf32 is to be freed. */
abut_status npy_encode_text(npy_where where, const char *text, size_t length, unsigned char **utf32,
                            size_t *code_points);

#endif
