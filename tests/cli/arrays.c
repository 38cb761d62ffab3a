/* What the shell cannot do with .npz files:
 *   arrays show FILE          name, type and shape of every array, one a line
 *   arrays show FILE NAME     its numbers, one a line, or its text
 *   arrays quaternions FILE   writes three poses of two bodies; the second has no rotation */
#include <abut/files.h>
#include <stdio.h>
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
  static const char *const types[] = {"float32", "float64", "uint8", "uint32", "text"};
  printf("%s %s", a->name, types[a->type]);
  for (uint32_t i = 0; a->type != ABUT_ARRAY_TEXT && i < a->dimensions; ++i) {
    printf(" %zu", a->shape[i]);
  }
  printf("\n");
}

static int show(const char *path, const char *name)
{
  abut_npz npz;
  if (abut_read_npz(path, &npz) != ABUT_SUCCESS) {
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

static int write_quaternions(const char *path)
{
  static const double pose1[3][7] = {{0, 0, 0, 1, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 0},
                                     {0, 0, 0, 2, 0, 0, 0}};
  static const double pose2[3][7] = {{0, 0, 0.98, 1, 0, 0, 0}, {0, 0, 0.98, 0, 0, 0, 0},
                                     {0, 0, 0.98, 1, 0, 0, 0}};
  const abut_array arrays[2] = {{"pose1", ABUT_ARRAY_FLOAT64, 2, {3, 7}, pose1},
                                {"pose2", ABUT_ARRAY_FLOAT64, 2, {3, 7}, pose2}};
  return abut_write_npz(path, arrays, 2) != ABUT_SUCCESS;
}

int main(int argc, char **argv)
{
  if (argc >= 3 && strcmp(argv[1], "show") == 0) {
    return show(argv[2], argc > 3 ? argv[3] : NULL);
  }
  return argc == 3 && strcmp(argv[1], "quaternions") == 0 ? write_quaternions(argv[2]) : 2;
}
