#include "query/ccd/queries.h"
#include "core/inputs.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Half of the last bit, as a share of a number. */
#define ROUNDING_F32 0x1p-24
#define ROUNDING_F64 0x1p-53

/* The kinds that a .csv may be of. */
static const char *const kind_words[] = {"pt", "ee"};
static const abut_ccd_kind kinds[] = {ABUT_CCD_POINT_TRIANGLE, ABUT_CCD_EDGE_EDGE};
static const char *const kind_folders[] = {"vertex-face", "edge-edge"};
#define KINDS_OF_CSV (sizeof kinds / sizeof *kinds)

/* As arrays of an .npz name them, and what they are where an .npz does not have them. */
static const struct {
  const char *name;
  double value;
} settings[QUERY_SETTINGS] = {
  [QUERY_SEPARATION] = {"xi", 0.0}, [QUERY_KEEP] = {"s", 0.0},
  [QUERY_TOLERANCE] = {"tol", 0.0}, [QUERY_END] = {"tmax", 1.0},
  [QUERY_ERROR] = {"ein", 0.0},     [QUERY_RELATIVE_ERROR] = {"eta", 0.0}};

static bool is_csv(const char *path)
{
  return ends_with(path, ".csv");
}

exit_code query_file_check(const options *o)
{
  const char *path = o->operands[0];
  size_t unused = 0;
  CLI_TRY(option_word(o, OPTION_KIND, kind_words, KINDS_OF_CSV, &unused));
  if (!is_csv(path) && !ends_with(path, ".npz")) {
    return usage_error(o->command, "%s: queries end with .csv or .npz", path);
  }
  return o->value[OPTION_KIND] && !is_csv(path)
           ? usage_error(o->command, "--kind is of a .csv; an .npz has the kind of each query")
           : EXIT_GOOD;
}

/* ---- room ---- */

static exit_code take_room(query_file *f, size_t count)
{
  const size_t rows = count ? count : 1;
  f->count = count;
  f->kind = calloc(rows, sizeof *f->kind);
  f->truth = calloc(rows, sizeof *f->truth);
  f->x = calloc(rows, QUERY_NUMBERS * sizeof *f->x);
  bool good = f->kind && f->truth && f->x;
  for (int k = 0; k < QUERY_SETTINGS; ++k) {
    f->settings[k] = calloc(rows, sizeof **f->settings);
    good = good && f->settings[k];
  }
  return good ? EXIT_GOOD : report(EXIT_RUN, "%s: no memory for %zu queries", f->path, count);
}

void query_file_free(query_file *f)
{
  free(f->kind);
  free(f->truth);
  free(f->x);
  for (int k = 0; k < QUERY_SETTINGS; ++k) {
    free(f->settings[k]);
  }
  *f = (query_file){0};
}

/* ---- .csv ---- */

/* --kind, else the one kind that the path names. */
static exit_code find_kind(const query_file *f, const options *o, abut_ccd_kind *kind)
{
  size_t place = KINDS_OF_CSV;
  const bool named[KINDS_OF_CSV] = {strstr(f->path, kind_folders[0]),
                                    strstr(f->path, kind_folders[1])};
  for (size_t i = 0; i < KINDS_OF_CSV; ++i) {
    place = named[i] ? i : place;
  }
  if (!o->value[OPTION_KIND] && named[0] == named[1]) {
    return report(
      EXIT_INPUT,
      "%s: neither --kind nor one of the folders vertex-face and edge-edge in its path says "
      "of which kind the queries are",
      f->path);
  }
  const size_t by_path = named[0] != named[1] ? place : KINDS_OF_CSV;
  CLI_TRY(option_word(o, OPTION_KIND, kind_words, KINDS_OF_CSV, &place));
  if (by_path < KINDS_OF_CSV && by_path != place) {
    warn("%s: its path says %s; --kind %s is taken", f->path, kind_folders[by_path],
         kind_words[place]);
  }
  *kind = kinds[place];
  return EXIT_GOOD;
}

/* All of the file. */
static exit_code read_whole(const char *path, char **bytes, size_t *count)
{
  FILE *file = fopen(path, "rb");
  size_t room = 1 << 16, got = 1;
  if (!file) {
    return report(EXIT_INPUT, "%s: %s", path, strerror(errno));
  }
  *bytes = malloc(room);
  for (*count = 0; *bytes && got; *count += got) {
    if (*count == room) {
      room *= 2;
      char *more = realloc(*bytes, room);
      if (!more) {
        free(*bytes);
      }
      *bytes = more;
    }
    got = *bytes ? fread(*bytes + *count, 1, room - *count, file) : 0;
  }
  const bool bad = ferror(file) != 0;
  fclose(file);
  if (bad) {
    return report(EXIT_INPUT, "%s: cannot be read", path);
  }
  return *bytes ? EXIT_GOOD : report(EXIT_RUN, "%s: no memory for its text", path);
}

static exit_code report_fault(const char *path, const query_fault *fault)
{
  const exit_code code = fault->no_memory ? EXIT_RUN : EXIT_INPUT;
  return fault->line ? report(code, "%s:%zu: %s", path, fault->line, fault->text)
                     : report(code, "%s: %s", path, fault->text);
}

/* What rounding leaves in doubt of a query. */
static void doubt(query_file *f, size_t row, query_rounding rounding, abut_precision precision)
{
  const bool narrow = precision == ABUT_FLOAT32;
  if (rounding != QUERY_EXACT) {
    f->settings[QUERY_RELATIVE_ERROR][row] += narrow ? ROUNDING_F32 : ROUNDING_F64;
  }
  if (rounding == QUERY_SMALL) {
    f->settings[QUERY_ERROR][row] += narrow ? (double)FLT_MIN : DBL_MIN;
  }
}

static exit_code keep_csv(query_file *f, query_csv *csv, abut_ccd_kind kind,
                          abut_precision precision)
{
  CLI_TRY(take_room(f, csv->count));
  f->tells = true;
  memcpy(f->x, csv->x, csv->count * QUERY_NUMBERS * sizeof *f->x);
  for (size_t i = 0; i < f->count; ++i) {
    f->kind[i] = (uint8_t)kind;
    f->truth[i] = csv->hit[i] ? QUERY_IS_HIT : QUERY_IS_FREE;
    f->settings[QUERY_END][i] = 1.0;
    doubt(f, i, (query_rounding)csv->rounding[i], precision);
  }
  return EXIT_GOOD;
}

static exit_code read_csv(query_file *f, const options *o, abut_precision precision)
{
  char *bytes = NULL;
  size_t count = 0;
  query_csv csv = {0};
  query_fault fault;
  abut_ccd_kind kind = ABUT_CCD_POINT_TRIANGLE;
  CLI_TRY(find_kind(f, o, &kind));
  exit_code code = read_whole(f->path, &bytes, &count);
  if (code == EXIT_GOOD) {
    const bool good = query_csv_parse(bytes, count,
                                      precision == ABUT_FLOAT64 ? &rational_f64 : &rational_f32,
                                      &csv, &fault);
    code = good ? keep_csv(f, &csv, kind, precision) : report_fault(f->path, &fault);
  }
  query_csv_free(&csv);
  free(bytes);
  return code;
}

/* ---- .npz ---- */

/* An array of so many axes, of which the first is the queries'. */
static exit_code find_array(inputs *in, const char *name, uint32_t rank, size_t count, bool needed,
                            const double **out)
{
  const size_t shape[3] = {count, 4, 3};
  const void *numbers = NULL;
  CLI_TRY(inputs_numbers(in, name, rank, shape, "a row a query", ABUT_FLOAT64, &numbers));
  *out = numbers;
  return numbers || !needed ? EXIT_GOOD
                            : report(EXIT_INPUT, "%s: array '%s' is missing", in->path, name);
}

/* Whole numbers from 0 to below `end`. */
static exit_code check_words(const inputs *in, const char *name, const double *numbers,
                             size_t count, int end)
{
  for (size_t i = 0; i < count; ++i) {
    if (!(numbers[i] >= 0.0 && numbers[i] < end && numbers[i] == floor(numbers[i]))) {
      return report(EXIT_INPUT, "%s: array '%s': row %zu, counted from 0: %g is not one of 0 to %d",
                    in->path, name, i, numbers[i], end - 1);
    }
  }
  return EXIT_GOOD;
}

static exit_code read_kinds(query_file *f, inputs *in)
{
  const abut_array *a = inputs_find(in, "kind");
  const double *numbers = NULL;
  if (!a || a->dimensions != 1) {
    return report(EXIT_INPUT, "%s: array 'kind' is %s", in->path,
                  a ? "not of shape (N,)" : "missing");
  }
  CLI_TRY(find_array(in, "kind", 1, a->shape[0], true, &numbers));
  CLI_TRY(check_words(in, "kind", numbers, a->shape[0], ABUT_CCD_KINDS));
  CLI_TRY(take_room(f, a->shape[0]));
  for (size_t i = 0; i < f->count; ++i) {
    f->kind[i] = (uint8_t)numbers[i];
  }
  return EXIT_GOOD;
}

/* To the precision, and what that did; numbers that are not finite are the query's own fault. */
static query_rounding round_number(double *x, abut_precision precision)
{
  const double was = *x;
  if (precision == ABUT_FLOAT64 || !isfinite(was)) {
    return QUERY_EXACT;
  }
  *x = (double)(float)was;
  return *x == was ? QUERY_EXACT : fabs(*x) < (double)FLT_MIN ? QUERY_SMALL : QUERY_ROUNDED;
}

static exit_code read_vertices(query_file *f, inputs *in, abut_precision precision)
{
  const double *ends[2];
  CLI_TRY(find_array(in, "X0", 3, f->count, true, &ends[0]));
  CLI_TRY(find_array(in, "X1", 3, f->count, true, &ends[1]));
  for (size_t i = 0; i < f->count; ++i) {
    query_rounding worst = QUERY_EXACT;
    for (size_t k = 0; k < QUERY_NUMBERS; ++k) {
      double *to = &f->x[QUERY_NUMBERS * i + k];
      *to = ends[k / 12][12 * i + k % 12];
      if (precision == ABUT_FLOAT32 && isfinite(*to) && fabs(*to) > (double)FLT_MAX) {
        return report(
          EXIT_INPUT,
          "%s: array '%s': row %zu, counted from 0: %g is beyond float32; --precision f64 "
          "takes it",
          in->path, k < 12 ? "X0" : "X1", i, *to);
      }
      const query_rounding here = round_number(to, precision);
      worst = here > worst ? here : worst;
    }
    doubt(f, i, worst, precision);
  }
  return EXIT_GOOD;
}

static exit_code read_settings(query_file *f, inputs *in)
{
  for (int k = 0; k < QUERY_SETTINGS; ++k) {
    const double *numbers = NULL;
    CLI_TRY(find_array(in, settings[k].name, 1, f->count, false, &numbers));
    for (size_t i = 0; i < f->count; ++i) {
      f->settings[k][i] = numbers ? numbers[i] : settings[k].value;
    }
  }
  return EXIT_GOOD;
}

static exit_code read_truth(query_file *f, inputs *in)
{
  const double *numbers = NULL;
  CLI_TRY(find_array(in, "status", 1, f->count, false, &numbers));
  f->tells = numbers != NULL;
  if (!numbers) {
    memset(f->truth, QUERY_IS_ELSE, f->count);
    return EXIT_GOOD;
  }
  CLI_TRY(check_words(in, "status", numbers, f->count, ABUT_CCD_BAD_INPUT + 1));
  for (size_t i = 0; i < f->count; ++i) {
    const abut_ccd_status status = (abut_ccd_status)numbers[i];
    f->truth[i] = status == ABUT_CCD_FREE                               ? QUERY_IS_FREE
                  : status == ABUT_CCD_HIT || status == ABUT_CCD_WITHIN ? QUERY_IS_HIT
                                                                        : QUERY_IS_ELSE;
  }
  return EXIT_GOOD;
}

static exit_code read_arrays(query_file *f, inputs *in, abut_precision precision)
{
  CLI_TRY(read_kinds(f, in));
  CLI_TRY(read_settings(f, in));
  CLI_TRY(read_vertices(f, in, precision)); /* which adds to the errors */
  CLI_TRY(read_truth(f, in));
  if (!f->count) {
    warn("%s: holds no queries", f->path);
  }
  return EXIT_GOOD;
}

exit_code query_file_read(query_file *f, const options *o, abut_precision precision)
{
  static const char *const names[] = {"kind", "X0",   "X1",  "xi",  "s",
                                      "tol",  "tmax", "ein", "eta", "status"};
  inputs in;
  f->path = o->operands[0];
  if (is_csv(f->path)) {
    return read_csv(f, o, precision);
  }
  exit_code code = inputs_open_named(&in, f->path, names, sizeof names / sizeof *names);
  if (code == EXIT_GOOD) {
    code = read_arrays(f, &in, precision);
  }
  inputs_close(&in);
  return code;
}
