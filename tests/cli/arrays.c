/* What the shell cannot do with .npz files:
 *   arrays show FILE          name, type and shape of every array, one a line
 *   arrays show FILE NAME     its numbers, one a line, or its text
 *   arrays quaternions FILE   writes three poses of two bodies; the second has no rotation
 *   arrays turned FILE        the same with body 2 askew
 *   arrays fill FILE NAME=SHAPE:VALUE...   writes float64 arrays of one value each, or of several
 *                             like 1,2,3 over and over; int64 of a
 *                             value like w3, or of several like w1,2,3; or, of the value `text`, a
 *                             text; SHAPE is like 2x6
 *   arrays pick FILE NAME=FROM:ARRAY[:ROWS]...   writes arrays of other files, under names of its
 *                             own; of NAME^ with the first two axes swapped; of ROWS the first ones
 *   arrays compare FILE NAME OTHER NAME LIMIT   prints the largest difference and the largest
 *                             number of OTHER's array; exits with 0 up to LIMIT times that */
#include <abut/files.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_number(const abut_array *a, size_t i)
{
  switch (a->type) {
  case ABUT_ARRAY_FLOAT32:
    printf("%.9g\n", (double)((const float *)a->data)[i]);
    break;
  case ABUT_ARRAY_FLOAT64:
    printf("%.17g\n", ((const double *)a->data)[i]);
    break;
  case ABUT_ARRAY_UINT8:
    printf("%u\n", (unsigned)((const uint8_t *)a->data)[i]);
    break;
  case ABUT_ARRAY_INT32:
    printf("%d\n", ((const int32_t *)a->data)[i]);
    break;
  case ABUT_ARRAY_INT64:
    printf("%lld\n", (long long)((const int64_t *)a->data)[i]);
    break;
  default:
    printf("%u\n", ((const uint32_t *)a->data)[i]);
    break;
  }
}

static void print_array(const abut_array *a)
{
  size_t count = 1;
  if (a->type == ABUT_ARRAY_TEXT) {
    printf("%.*s", (int)a->shape[0], (const char *)a->data);
    return;
  }
  for (uint32_t i = 0; i < a->dimensions; ++i) {
    count *= a->shape[i];
  }
  for (size_t i = 0; i < count; ++i) {
    print_number(a, i);
  }
}

static void print_shape(const abut_array *a)
{
  static const char *const types[] = {"float32", "float64", "uint8", "uint32",
                                      "text",    "int32",   "int64"};
  printf("%s %s", a->name, types[a->type]);
  for (uint32_t i = 0; a->type != ABUT_ARRAY_TEXT && i < a->dimensions; ++i) {
    printf(" %zu", a->shape[i]);
  }
  printf("\n");
}

static int show(const char *path, const char *name)
{
  abut_npz npz;
  const abut_status status = name ? abut_read_npz_arrays(path, &name, 1, &npz)
                                  : abut_read_npz(path, &npz);
  if (status != ABUT_SUCCESS) {
    fprintf(stderr, "%s\n", abut_last_error());
    return 1;
  }
  bool found = !name;
  for (size_t i = 0; i < npz.count; ++i) {
    if (!name) {
      print_shape(&npz.arrays[i]);
    } else if (strcmp(npz.arrays[i].name, name) == 0) {
      print_array(&npz.arrays[i]);
      found = true;
    }
  }
  abut_free_npz(&npz);
  return !found;
}

static int write_quaternions(const char *path, bool askew)
{
  static const double pose1[3][7] = {{0, 0, 0, 1, 0, 0, 0},
                                     {0, 0, 0, 1, 0, 0, 0},
                                     {0, 0, 0, 2, 0, 0, 0}};
  static const double pose2[3][7] = {{0, 0, 0.98, 1, 0, 0, 0},
                                     {0, 0, 0.98, 0, 0, 0, 0},
                                     {0, 0, 0.98, 1, 0, 0, 0}};
  static const double turned[3][7] = {{0.1, 0.03, 0.97, 0.9, 0.05, 0.11, 0.4},
                                      {0, 0, 0.98, 0, 0, 0, 0},
                                      {-0.2, 0.13, 1.02, 0.5, -0.03, 0.07, 0.2}};
  const abut_array arrays[2] = {{"pose1", ABUT_ARRAY_FLOAT64, 2, {3, 7}, pose1},
                                {"pose2", ABUT_ARRAY_FLOAT64, 2, {3, 7}, askew ? turned : pose2}};
  return abut_write_npz(path, arrays, 2) != ABUT_SUCCESS;
}

/* ---- fill ---- */

#define FILL_MOST 8

static size_t count_of(const abut_array *a)
{
  size_t count = 1;
  for (uint32_t i = 0; i < a->dimensions; ++i) {
    count *= a->shape[i];
  }
  return count;
}

/* NAME=SHAPE:VALUE, cut in place. The numbers are to be freed. */
static void *fill_one(char *text, abut_array *a)
{
  char *shape = strchr(text, '='), *value = strchr(text, ':');
  if (!shape || !value) {
    return NULL;
  }
  *shape++ = *value++ = '\0';
  *a = (abut_array){.name = text, .type = ABUT_ARRAY_FLOAT64};
  for (char *at = shape; a->dimensions < 4; ++at) {
    a->shape[a->dimensions++] = strtoul(at, &at, 10);
    if (*at != 'x') {
      break;
    }
  }
  const size_t count = count_of(a);
  a->data = calloc(count + 1, sizeof(double));
  a->type = strcmp(value, "text") == 0 ? ABUT_ARRAY_TEXT
            : *value == 'w'            ? ABUT_ARRAY_INT64
                                       : ABUT_ARRAY_FLOAT64;
  char *at = value;
  for (size_t i = 0; a->data && i < count; ++i) {
    if (a->type == ABUT_ARRAY_INT64) {
      ((int64_t *)(uintptr_t)a->data)[i] = strtoll(i ? at : value + 1, &at, 10);
      at = *at == ',' ? at + 1 : value + 1;
    } else if (a->type == ABUT_ARRAY_FLOAT64) {
      ((double *)(uintptr_t)a->data)[i] = strtod(at, &at);
      at = *at == ',' ? at + 1 : value; /* over and over */
    }
  }
  return (void *)(uintptr_t)a->data;
}

static int fill(const char *path, int count, char **texts)
{
  abut_array arrays[FILL_MOST];
  void *numbers[FILL_MOST] = {NULL};
  bool good = count <= FILL_MOST;
  for (int i = 0; good && i < count; ++i) {
    numbers[i] = fill_one(texts[i], &arrays[i]);
    good = numbers[i] != NULL;
  }
  good = good && abut_write_npz(path, arrays, (size_t)count) == ABUT_SUCCESS;
  for (int i = 0; i < FILL_MOST; ++i) {
    free(numbers[i]);
  }
  return !good;
}

/* ---- pick ---- */

static double number(const abut_array *a, size_t i);
static const abut_array *find(const char *path, const char *name);

/* NAME[^]=FROM:ARRAY[:ROWS], cut in place. The numbers are to be freed. */
static double *pick_one(char *text, abut_array *a)
{
  char *path = strchr(text, '='), *name = path ? strchr(path, ':') : NULL;
  if (!name) {
    return NULL;
  }
  *path++ = *name++ = '\0';
  char *rows = strchr(name, ':'), *swap = strchr(text, '^');
  if (rows) {
    *rows++ = '\0';
  }
  if (swap) {
    *swap = '\0';
  }
  const abut_array *from = find(path, name);
  if (!from || from->dimensions < (swap ? 2 : 1)) {
    return NULL;
  }
  const size_t first = from->shape[0], second = swap ? from->shape[1] : 1;
  const size_t count = count_of(from), depth = count ? count / (first * second) : 0;
  double *to = calloc(count + 1, sizeof *to);
  *a = *from;
  a->name = text;
  a->type = ABUT_ARRAY_FLOAT64;
  a->data = to;
  for (size_t i = 0; to && i < count; ++i) {
    const size_t row = i / depth;
    to[(row % second * first + row / second) * depth + i % depth] = number(from, i);
  }
  if (swap) {
    a->shape[0] = second;
    a->shape[1] = first;
  }
  if (rows && strtoul(rows, NULL, 10) < a->shape[0]) {
    a->shape[0] = strtoul(rows, NULL, 10);
  }
  return to;
}

static int pick(const char *path, int count, char **texts)
{
  abut_array arrays[FILL_MOST];
  double *numbers[FILL_MOST] = {NULL};
  bool good = count <= FILL_MOST;
  for (int i = 0; good && i < count; ++i) {
    numbers[i] = pick_one(texts[i], &arrays[i]);
    good = numbers[i] != NULL;
  }
  good = good && abut_write_npz(path, arrays, (size_t)count) == ABUT_SUCCESS;
  for (int i = 0; i < FILL_MOST; ++i) {
    free(numbers[i]);
  }
  return !good;
}

/* ---- compare ---- */

static const abut_array *find(const char *path, const char *name)
{
  static abut_npz files[2];
  static int used;
  abut_npz *npz = &files[used++ % 2];
  abut_free_npz(npz);
  if (abut_read_npz_arrays(path, &name, 1, npz) != ABUT_SUCCESS) {
    fprintf(stderr, "%s\n", abut_last_error());
    return NULL;
  }
  for (size_t i = 0; i < npz->count; ++i) {
    if (strcmp(npz->arrays[i].name, name) == 0) {
      return &npz->arrays[i];
    }
  }
  fprintf(stderr, "%s: no %s\n", path, name);
  return NULL;
}

static double number(const abut_array *a, size_t i)
{
  return a->type == ABUT_ARRAY_FLOAT64 ? ((const double *)a->data)[i]
                                       : (double)((const float *)a->data)[i];
}

static int compare(char **words)
{
  const abut_array *got = find(words[0], words[1]), *want = find(words[2], words[3]);
  double largest = 0.0, worst = 0.0;
  if (!got || !want || got->dimensions != want->dimensions ||
      memcmp(got->shape, want->shape, want->dimensions * sizeof *want->shape) != 0) {
    printf("not of one shape\n");
    return 1;
  }
  for (size_t i = 0; i < count_of(want); ++i) {
    const double difference = fabs(number(got, i) - number(want, i));
    largest = fmax(largest, fabs(number(want, i)));
    worst = isnan(difference) ? INFINITY : fmax(worst, difference);
  }
  printf("%g of %g\n", worst, largest);
  return !(worst <= strtod(words[4], NULL) * largest) || count_of(want) == 0;
}

int main(int argc, char **argv)
{
  if (argc >= 3 && strcmp(argv[1], "show") == 0) {
    return show(argv[2], argc > 3 ? argv[3] : NULL);
  }
  if (argc > 3 && strcmp(argv[1], "fill") == 0) {
    return fill(argv[2], argc - 3, argv + 3);
  }
  if (argc > 3 && strcmp(argv[1], "pick") == 0) {
    return pick(argv[2], argc - 3, argv + 3);
  }
  if (argc == 7 && strcmp(argv[1], "compare") == 0) {
    return compare(argv + 2);
  }
  const bool askew = argc == 3 && strcmp(argv[1], "turned") == 0;
  return askew || (argc == 3 && strcmp(argv[1], "quaternions") == 0)
           ? write_quaternions(argv[2], askew)
           : 2;
}
