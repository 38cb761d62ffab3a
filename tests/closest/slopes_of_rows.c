#include "closest/slopes_of_rows.h"

#include <stdlib.h>
#include <string.h>

const char *const method_names[METHODS] = {"exact", "gumbel", "gaussian", "zeroth", "finite"};
const char *const output_names[BY_OUTPUTS] = {"p1", "p2", "n", "d"};
const size_t output_heights[BY_OUTPUTS] = {3, 3, 3, 1};

void jacobians_create(row_jacobians *j, abut_precision precision, size_t count)
{
  *j = (row_jacobians){.precision = precision, .count = count};
  for (int i = 0; i < BY_OUTPUTS; ++i) {
    j->of[i] = calloc((count ? count : 1) * output_heights[i] * 12, real_size(precision));
    REQUIRE(j->of[i] != NULL);
  }
}

void jacobians_free(row_jacobians *j)
{
  for (int i = 0; i < BY_OUTPUTS; ++i) {
    free(j->of[i]);
  }
}

double jacobian_at(const row_jacobians *j, int output, size_t row, size_t line, size_t column)
{
  return real_at(j->of[output], j->precision, (row * output_heights[output] + line) * 12 + column);
}

static char *row_of(const row_jacobians *j, int output, size_t row)
{
  return (char *)j->of[output] + row * output_heights[output] * 12 * real_size(j->precision);
}

abut_closest_jacobians jacobians_from(const row_jacobians *j, size_t first)
{
  return (abut_closest_jacobians){row_of(j, BY_P1, first), row_of(j, BY_P2, first),
                                  row_of(j, BY_N, first), row_of(j, BY_D, first)};
}

bool jacobians_same(const row_jacobians *a, size_t first_a, const row_jacobians *b, size_t first_b,
                    size_t count, const char *what)
{
  bool same = true;
  for (int i = 0; i < BY_OUTPUTS; ++i) {
    const size_t bytes = count * output_heights[i] * 12 * real_size(a->precision);
    same &= check(!memcmp(row_of(a, i, first_a), row_of(b, i, first_b), bytes),
                  "%s: the Jacobian of %s differs", what, output_names[i]);
  }
  return same;
}

abut_closest_smoothing smoothing_of(int method)
{
  abut_closest_smoothing s = abut_default_closest_smoothing();
  s.method = (abut_closest_method)method;
  s.seed = 0x123456789abcdef1u;
  return s;
}

int methods_of(abut_precision precision)
{
  return precision == ABUT_FLOAT64 ? METHODS : METHODS_OF_FLOAT;
}
