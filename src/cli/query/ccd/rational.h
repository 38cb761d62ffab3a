/* Rational numbers of any length, rounded to a floating-point number exactly. */
#ifndef ABUT_CLI_CCD_RATIONAL_H
#define ABUT_CLI_CCD_RATIONAL_H

#include <stdbool.h>
#include <stddef.h>

/* Decimal digits. They need not end with a NUL. */
typedef struct digits {
  const char *start;
  size_t length;
} digits;

/* What a format of floating-point numbers can hold. */
typedef struct rational_format {
  int bits;           /* of the significand, 1 to 53 */
  int least_exponent; /* of the last bit of its smallest numbers */
  double most;        /* its largest number */
} rational_format;

extern const rational_format rational_f32, rational_f64;

typedef enum rational_kind {
  RATIONAL_EXACT,
  RATIONAL_ROUNDED,
  RATIONAL_TOO_LARGE, /* beyond the largest number, rounded; *out is left alone */
  RATIONAL_NO_MEMORY
} rational_kind;

/* numerator / denominator to the nearest number of the format, of two as near the one whose last bit is 0.
 * The denominator must not be 0. */
rational_kind rational_round(digits numerator, digits denominator, const rational_format *format,
                             double *out);

#endif
