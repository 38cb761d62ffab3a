/* Derivatives of rows of closest points: Jacobians and products, by each method. */
#ifndef ABUT_TESTS_SLOPES_OF_ROWS_H
#define ABUT_TESTS_SLOPES_OF_ROWS_H

#include "closest/rows.h"

enum { BY_P1, BY_P2, BY_N, BY_D, BY_OUTPUTS };
enum { METHODS = 5, METHODS_OF_FLOAT = 4 }; /* in float32 there is none by central differences */

extern const char *const method_names[METHODS];
extern const char *const output_names[BY_OUTPUTS];
extern const size_t output_heights[BY_OUTPUTS];

/* Jacobians (count, 3, 12) and, of d, (count, 12). */
typedef struct row_jacobians {
  abut_precision precision;
  size_t count;
  void *of[BY_OUTPUTS];
} row_jacobians;

void jacobians_create(row_jacobians *j, abut_precision precision, size_t count);
void jacobians_free(row_jacobians *j);

/* A row's entry. */
double jacobian_at(const row_jacobians *j, int output, size_t row, size_t line, size_t column);

/* Rows from `first` on. */
abut_closest_jacobians jacobians_from(const row_jacobians *j, size_t first);

/* Whether rows agree to the bit. */
bool jacobians_same(const row_jacobians *a, size_t first_a, const row_jacobians *b, size_t first_b,
                    size_t count, const char *what);

abut_closest_smoothing smoothing_of(int method);

/* How many methods a precision has. */
int methods_of(abut_precision precision);

#endif
