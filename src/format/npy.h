/* The header of .npy arrays, and the encoding of text arrays. */
#ifndef ABUT_FORMAT_NPY_H
#define ABUT_FORMAT_NPY_H

#include <abut/files.h>
#include <stdbool.h>

#define NPY_DIMENSIONS 4

/* Names of the file and the array for errors. array is NULL if the file is a single array. */
typedef struct npy_where {
  const char *file, *array;
} npy_where;

/* Integer types in files that become int32 in memory. */
typedef enum npy_narrow { NPY_AS_IT_IS, NPY_INT8, NPY_INT16, NPY_UINT16 } npy_narrow;

typedef struct npy {
  abut_array_type type;
  npy_narrow narrow; /* type of the elements in the file */
  size_t item_bytes; /* of one element in the file; for a text, all its code points */
  uint32_t dimensions;
  size_t shape[NPY_DIMENSIONS];
  size_t data_bytes;
  bool fortran; /* the first index varies fastest */
} npy;

__attribute__((format(printf, 2, 3))) abut_status npy_fail(npy_where where, const char *format,
                                                           ...);

/* Parses the dictionary of a header, which follows its length. */
abut_status npy_parse(npy_where where, const char *text, size_t length, npy *out);

/* Writes a complete header of version 1.0. The caller frees *bytes. */
abut_status npy_format(const abut_array *array, size_t code_points, char **bytes, size_t *count);

/* The name in NumPy. */
const char *npy_type_name(abut_array_type type);

/* Number i of a numeric array, converted to double. */
double npy_real(const abut_array *array, size_t i);

/* Converts `count` narrow numbers to int32. */
void npy_widen(npy_narrow narrow, const void *from, size_t count, int32_t *to);

/* Converts data from Fortran to C order. `to` has the same size. */
void npy_transpose(const npy *header, const void *from, void *to);

/* Counts the elements of `shape`; returns false on overflow. */
bool npy_count(uint32_t dimensions, const size_t *shape, size_t *out);

/* Converts little-endian UTF-32 to UTF-8 and appends a zero. Trailing zeros are dropped. */
abut_status npy_decode_text(npy_where where, const unsigned char *utf32, size_t code_points,
                            char **out, size_t *length);

/* The inverse. The caller frees *utf32. */
abut_status npy_encode_text(npy_where where, const char *text, size_t length, unsigned char **utf32,
                            size_t *code_points);

#endif
