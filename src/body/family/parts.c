#include "body/family/parts.h"

#include "base/error.h"
#include "base/limits.h"
#include <float.h>
#include <math.h>

bool has_length(const double *x, size_t count)
{
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) {
    sum += x[i] * x[i];
  }
  return isfinite(sum) && sum > 0.0;
}

void normalise(const double n[3], double out[3])
{
  const double length = hypot(hypot(n[0], n[1]), n[2]);
  for (int i = 0; i < 3; ++i) {
    out[i] = n[i] / length;
  }
}

void packer_range(packer *p, size_t count)
{
  *p->ranges++ = (int)(p->at - p->base);
  *p->ranges++ = (int)count;
}

double packed_epsilon(const packed *p)
{
  return p->real_bytes == sizeof(double) ? DBL_EPSILON : (double)FLT_EPSILON;
}

abut_status check_range(const json_file *f, const json_at *array, size_t first, size_t count,
                        double low, double high)
{
  for (size_t i = first; i < first + count; i++) {
    json_at element = json_element(array, i);
    double value = json_number_value(element.value);
    if (!(value >= low && value <= high)) {
      return json_fail(f, &element, "%.9g is not in [%g, %g]", value, low, high);
    }
  }
  return ABUT_SUCCESS;
}

abut_status check_not_zero(const json_file *f, const json_at *at, const double *numbers,
                           size_t count, const char *what)
{
  for (size_t i = 0; i < count; i++) {
    if (numbers[i] != 0) {
      return ABUT_SUCCESS;
    }
  }
  return json_fail(f, at, "%s has length 0", what);
}

abut_status read_vector(const json_file *f, const json_at *parent, const char *key, size_t count,
                        double *out, json_at *at)
{
  TRY(json_need(f, parent, key, at));
  return json_numbers(f, at, count, out);
}

abut_status read_placement(const json_file *f, const json_at *at, double position[3],
                           double quaternion[4])
{
  json_at member;
  TRY(read_vector(f, at, "position", 3, position, &member));
  TRY(check_range(f, &member, 0, 3, -COORDINATE_MOST, COORDINATE_MOST));
  TRY(read_vector(f, at, "quaternion", 4, quaternion, &member));
  return check_not_zero(f, &member, quaternion, 4, "the quaternion");
}

abut_status read_rows(const json_file *f, const json_at *at, size_t width, arena *memory,
                      const double **rows, size_t *count)
{
  TRY(json_check_array(f, at, 0));
  *count = json_array_size(at->value);
  if (*count == 0) {
    return json_fail(f, at, "must not be empty");
  }
  void *room;
  TRY(arena_allocate(memory, &room, *count, width * sizeof(double)));
  double *next = room;
  *rows = next;
  for (size_t i = 0; i < *count; i++, next += width) {
    json_at row = json_element(at, i);
    TRY(json_numbers(f, &row, width, next));
  }
  return ABUT_SUCCESS;
}
