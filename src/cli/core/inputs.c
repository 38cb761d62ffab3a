#include "core/inputs.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

exit_code inputs_open(inputs *f, const char *path)
{
  *f = (inputs){.path = path};
  return report_status(abut_read_npz(path, &f->npz));
}

/* ---- row by row ---- */

exit_code inputs_open_rows(inputs *f, const char *path, inputs_axis axis, size_t all)
{
  const abut_array *there;
  size_t count;
  *f = (inputs){.path = path, .axis = axis, .all = all};
  CLI_TRY(report_status(abut_open_arrays(path, &f->file)));
  CLI_TRY(report_status(abut_list_arrays(f->file, &there, &count)));
  f->npz.arrays = calloc(count ? count : 1, sizeof *f->npz.arrays);
  if (!f->npz.arrays) {
    return report(EXIT_RUN, "%s: not enough memory for %zu arrays", path, count);
  }
  memcpy(f->npz.arrays, there, count * sizeof *there);
  f->npz.count = count;
  return EXIT_GOOD;
}

static void free_owned(inputs *f)
{
  for (size_t i = 0; i < f->owned_count; ++i) {
    free(f->owned[i]);
  }
  f->owned_count = 0;
}

static void free_data(abut_array *a)
{
  abut_free((void *)(uintptr_t)a->data);
  a->data = NULL;
}

/* Returns the array with its shape in the file, for a file that is read by rows. */
static const abut_array *whole_of(const inputs *f, const abut_array *a)
{
  const abut_array *there = NULL;
  size_t count;
  return f->file && abut_list_arrays(f->file, &there, &count) == ABUT_SUCCESS
           ? there + (a - f->npz.arrays)
           : a;
}

static exit_code read_rows(inputs *f, size_t i, size_t first, size_t count)
{
  abut_array *a = &f->npz.arrays[i];
  const abut_array *whole = whole_of(f, a);
  const int axis = f->axis(whole);
  size_t from[4] = {0};
  void *data = NULL;
  if (axis < 0 && a->data) {
    return EXIT_GOOD;
  }
  free_data(a);
  *a = *whole;
  if (a->type == ABUT_ARRAY_TEXT) { /* refused when it is requested */
    return EXIT_GOOD;
  }
  if (axis == NOT_WANTED || (axis >= 0 && whole->shape[axis] != f->all)) { /* likewise */
    return EXIT_GOOD;
  }
  if (axis == 1 && f->last && whole->shape[0]) {
    from[0] = whole->shape[0] - 1;
    a->shape[0] = 1;
  }
  if (axis >= 0) {
    from[axis] = first;
    a->shape[axis] = count;
  }
  CLI_TRY(report_status(abut_read_array(f->file, i, from, a->shape, &data)));
  a->data = data;
  return EXIT_GOOD;
}

exit_code inputs_read_rows(inputs *f, size_t first, size_t count)
{
  free_owned(f);
  f->first = first;
  for (size_t i = 0; i < f->npz.count; ++i) {
    CLI_TRY(read_rows(f, i, first, count));
  }
  return EXIT_GOOD;
}

size_t inputs_row_bytes(const inputs *f)
{
  size_t bytes = 0;
  for (size_t i = 0; i < f->npz.count; ++i) {
    const abut_array *a = &f->npz.arrays[i];
    const int axis = f->axis(a);
    size_t numbers = axis >= 0;
    for (int k = 0; k < (int)a->dimensions; ++k) {
      numbers *= k == axis ? 1 : a->shape[k];
    }
    bytes += 2 * sizeof(double) * numbers;
  }
  return bytes;
}

void inputs_close(inputs *f)
{
  free_owned(f);
  if (f->file) { /* names are owned by the file */
    for (size_t i = 0; i < f->npz.count; ++i) {
      free_data(&f->npz.arrays[i]);
    }
    free(f->npz.arrays);
    abut_close_arrays(f->file);
  } else {
    abut_free_npz(&f->npz);
  }
  *f = (inputs){0};
}

const abut_array *inputs_find(const inputs *f, const char *name)
{
  for (size_t i = 0; i < f->npz.count; ++i) {
    if (strcmp(f->npz.arrays[i].name, name) == 0) {
      return &f->npz.arrays[i];
    }
  }
  return NULL;
}

/* ---- checks of arrays ---- */

/* A shape as NumPy prints a tuple. */
typedef struct shape_text {
  char text[96];
} shape_text;

static shape_text print_shape(uint32_t dimensions, const size_t *shape)
{
  shape_text s = {"("};
  size_t used = 1;
  for (uint32_t i = 0; i < dimensions; ++i) {
    used += (size_t)snprintf(s.text + used, sizeof s.text - used, "%s%zu", i ? ", " : "", shape[i]);
  }
  snprintf(s.text + used, sizeof s.text - used, dimensions == 1 ? ",)" : ")");
  return s;
}

/* Prints the shape in the whole file if only rows of it are loaded. */
static shape_text print_found(const inputs *f, const abut_array *a)
{
  const abut_array *whole = whole_of(f, a);
  return print_shape(whole->dimensions, whole->shape);
}

static shape_text print_wanted(const inputs *f, const abut_array *a, uint32_t dimensions,
                               const size_t *shape)
{
  size_t whole[4];
  const int axis = f->file ? f->axis(whole_of(f, a)) : -1;
  memcpy(whole, shape, dimensions * sizeof *shape);
  if (axis >= 0 && axis < (int)dimensions) {
    whole[axis] = f->all;
  }
  return print_shape(dimensions, whole);
}

static bool has_shape(const inputs *f, const abut_array *a, uint32_t dimensions,
                      const size_t *shape)
{
  const abut_array *whole = whole_of(f, a);
  const int axis = f->file ? f->axis(whole) : -1;
  return a->dimensions == dimensions && memcmp(a->shape, shape, dimensions * sizeof *shape) == 0 &&
         (axis < 0 || whole->shape[axis] == f->all);
}

exit_code inputs_check_type(const inputs *f, const abut_array *a)
{
  return a->type != ABUT_ARRAY_TEXT
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: array '%s': is a text; expected numbers", f->path, a->name);
}

static double number_at(const abut_array *a, size_t i)
{
  switch (a->type) {
  case ABUT_ARRAY_FLOAT32:
    return (double)((const float *)a->data)[i];
  case ABUT_ARRAY_UINT8:
    return ((const uint8_t *)a->data)[i];
  case ABUT_ARRAY_UINT32:
    return ((const uint32_t *)a->data)[i];
  case ABUT_ARRAY_INT32:
    return ((const int32_t *)a->data)[i];
  case ABUT_ARRAY_INT64:
    return (double)((const int64_t *)a->data)[i];
  default:
    return ((const double *)a->data)[i];
  }
}

/* Returns the index in the whole array of number i of the loaded rows. */
static size_t place_in_file(const inputs *f, const abut_array *a, size_t i)
{
  const abut_array *whole = whole_of(f, a);
  const int axis = f->file ? f->axis(whole) : SAME_FOR_ALL;
  size_t before[4] = {0}, place = 0, step = 1;
  if (axis >= 0) {
    before[axis] = f->first;
  }
  if (axis == 1 && f->last) {
    before[0] = whole->shape[0] - a->shape[0];
  }
  for (uint32_t k = a->dimensions; k-- > 0; i /= a->shape[k]) {
    place += (before[k] + i % a->shape[k]) * step;
    step *= whole->shape[k];
  }
  return place;
}

static exit_code check_numbers(const inputs *f, const abut_array *a, size_t count,
                               abut_precision precision)
{
  const bool narrow = precision == ABUT_FLOAT32;
  for (size_t i = 0; i < count; ++i) {
    const double x = number_at(a, i);
    if (!isfinite(x)) {
      return report(EXIT_INPUT, "%s: array '%s': number %zu (0-based) is %g; it must be finite",
                    f->path, a->name, place_in_file(f, a, i), x);
    }
    if (narrow && fabs(x) > (double)FLT_MAX) {
      return report(EXIT_INPUT, "%s: array '%s': %g is too large for float32; use --precision f64",
                    f->path, a->name, x);
    }
  }
  return EXIT_GOOD;
}

/* ---- conversion to the context's precision ---- */

static exit_code own(inputs *f, size_t count, abut_precision precision, void **out)
{
  size_t bytes = 0;
  *out = multiply(count, real_bytes(precision), 1, &bytes) ? malloc(bytes ? bytes : 1) : NULL;
  if (!*out) {
    return report(EXIT_RUN, "%s: not enough memory for %zu numbers", f->path, count);
  }
  f->owned[f->owned_count++] = *out;
  return EXIT_GOOD;
}

/* Takes `count` numbers starting at `first`, repeated `times` times. */
static exit_code take(inputs *f, const abut_array *a, size_t first, size_t count, size_t times,
                      abut_precision precision, const void **out)
{
  void *to = NULL;
  size_t all = 0;
  if (times == 1 && a->type == (abut_array_type)precision) {
    *out = (const char *)a->data + first * real_bytes(precision);
    return EXIT_GOOD;
  }
  CLI_TRY(multiply(count, times, 1, &all)
            ? own(f, all, precision, &to)
            : report(EXIT_RUN, "there are too many poses: %zu", times));
  for (size_t i = 0; i < all; ++i) {
    const double x = number_at(a, first + i % count);
    if (precision == ABUT_FLOAT64) {
      ((double *)to)[i] = x;
    } else {
      ((float *)to)[i] = (float)x;
    }
  }
  *out = to;
  return EXIT_GOOD;
}

exit_code inputs_cotangent(inputs *f, const char *name, uint32_t rank, size_t poses,
                           size_t contacts, abut_precision precision, const void **out)
{
  const abut_array *a = inputs_find(f, name);
  const size_t shape[3] = {poses, contacts, 3};
  const size_t count = poses * contacts * (rank == 3 ? 3 : 1);
  *out = NULL;
  if (!a) {
    return EXIT_GOOD;
  }
  CLI_TRY(inputs_check_type(f, a));
  if (!has_shape(f, a, rank, shape)) {
    return report(EXIT_INPUT,
                  "%s: array '%s': has shape %s, expected %s: %zu poses of %zu contacts", f->path,
                  name, print_found(f, a).text, print_wanted(f, a, rank, shape).text,
                  f->file ? f->all : poses, contacts);
  }
  CLI_TRY(check_numbers(f, a, count, precision));
  return take(f, a, 0, count, 1, precision, out);
}

exit_code inputs_numbers(inputs *f, const char *name, uint32_t rank, const size_t *shape,
                         const char *what, abut_precision precision, const void **out)
{
  const abut_array *a = inputs_find(f, name);
  size_t count = 1;
  *out = NULL;
  if (!a) {
    return EXIT_GOOD;
  }
  CLI_TRY(inputs_check_type(f, a));
  if (!has_shape(f, a, rank, shape)) {
    return report(EXIT_INPUT, "%s: array '%s': has shape %s, expected %s: %s", f->path, name,
                  print_found(f, a).text, print_wanted(f, a, rank, shape).text, what);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    count *= shape[i]; /* rows in memory */
  }
  return take(f, a, 0, count, 1, precision, out);
}

exit_code inputs_finite(inputs *f, const char *name, uint32_t rank, const size_t *shape,
                        const char *what, abut_precision precision, const void **out)
{
  size_t count = 1;
  CLI_TRY(inputs_numbers(f, name, rank, shape, what, precision, out));
  for (uint32_t i = 0; *out && i < rank; ++i) {
    count *= shape[i];
  }
  return *out ? check_numbers(f, inputs_find(f, name), count, precision) : EXIT_GOOD;
}

static exit_code tangent_of_one(inputs *f, const abut_array *a, size_t poses, size_t width,
                                abut_precision precision, const void **out)
{
  const size_t shape[2] = {poses, width};
  const bool each = has_shape(f, a, 2, shape), same = has_shape(f, a, 1, shape + 1);
  CLI_TRY(inputs_check_type(f, a));
  if (!each && !same) {
    return report(EXIT_INPUT, "%s: array '%s': has shape %s, expected %s or %s", f->path, a->name,
                  print_found(f, a).text, print_wanted(f, a, 2, shape).text,
                  print_shape(1, shape + 1).text);
  }
  CLI_TRY(check_numbers(f, a, each ? poses * width : width, precision));
  return each ? take(f, a, 0, poses * width, 1, precision, out)
              : take(f, a, 0, width, poses, precision, out);
}

static exit_code tangent_of_both(inputs *f, const abut_array *a, size_t poses, size_t width,
                                 abut_precision precision, abut_pose_tangents *out)
{
  const size_t shape[2] = {2, width};
  CLI_TRY(inputs_check_type(f, a));
  if (!has_shape(f, a, 2, shape)) {
    return report(EXIT_INPUT, "%s: array '%s': has shape %s, expected %s", f->path, a->name,
                  print_shape(a->dimensions, a->shape).text, print_shape(2, shape).text);
  }
  CLI_TRY(check_numbers(f, a, 2 * width, precision));
  CLI_TRY(take(f, a, 0, width, poses, precision, &out->pose1));
  return take(f, a, width, width, poses, precision, &out->pose2);
}

int inputs_tangents_axis(const abut_array *a)
{
  if (strcmp(a->name, "tangent1") == 0 || strcmp(a->name, "tangent2") == 0) {
    return a->dimensions == 2 ? 0 : SAME_FOR_ALL;
  }
  return strcmp(a->name, "tangent") == 0 ? SAME_FOR_ALL : NOT_WANTED;
}

exit_code inputs_tangents(inputs *f, size_t poses, size_t width, abut_precision precision,
                          abut_pose_tangents *out)
{
  const abut_array *both = inputs_find(f, "tangent"), *first = inputs_find(f, "tangent1"),
                   *second = inputs_find(f, "tangent2");
  *out = (abut_pose_tangents){NULL, NULL};
  if (both ? first || second : !first && !second) {
    return report(EXIT_INPUT, "%s: contains %s", f->path,
                  both ? "both tangent and tangent1 or tangent2; give one form"
                       : "no tangent: expected tangent1, tangent2 or tangent");
  }
  if (both) {
    return tangent_of_both(f, both, poses, width, precision, out);
  }
  if (first) {
    CLI_TRY(tangent_of_one(f, first, poses, width, precision, &out->pose1));
  }
  return second ? tangent_of_one(f, second, poses, width, precision, &out->pose2) : EXIT_GOOD;
}
