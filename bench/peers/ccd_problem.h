/* Files of questions about collision in time, which ccd.py writes and all programs beside it read,
 * and of their answers. In the machine's byte order, all reals double:
 *
 *   char magic[8], "ccdtime1"; uint64_t queries, vertices, faces, rows
 *   uint32_t kind[queries] as abut_ccd_kind has them, 2 or 3; double x0[queries][4][3], x1 the same
 *   double vertices[vertices][3]; uint32_t faces[faces][3]
 *   double from1[rows][7], to1, from2, to2: poses x y z qw qx qy qz of two bodies of that mesh
 *
 * Answers of queries: double [queries][6], toi, status, two counts of iterations, microseconds, d0;
 * of rows the same, the second count that of pairs whose boxes met. What is not known is 0. Status
 * as abut_ccd_status has it, of other programs 1 for a hit and 0. C11 and C++. */
#ifndef CCD_PROBLEM_H
#define CCD_PROBLEM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUERY_REALS = 12, POSE_REALS = 7, POINT_TRIANGLE = 2, EDGE_EDGE = 3 };
enum {
  ANSWER_TOI,
  ANSWER_STATUS,
  ANSWER_FIRST,
  ANSWER_SECOND,
  ANSWER_TIME,
  ANSWER_D0,
  ANSWER_WIDTH
};

typedef struct problem {
  uint64_t query_count, vertex_count, face_count, row_count;
  uint32_t *kind, *faces;
  double *x0, *x1, *vertices;
  double *poses[4];
} problem;

/* Reads `count` entries of `size` bytes into new memory. -> NULL where they are not there. */
static void *read_array(FILE *file, uint64_t count, size_t size)
{
  void *array = count < SIZE_MAX / size ? malloc((size_t)count * size + 1) : NULL;
  if (array && fread(array, size, (size_t)count, file) != count) {
    free(array);
    array = NULL;
  }
  return array;
}

static int has_known_kinds(const problem *p)
{
  for (uint64_t i = 0; i < p->query_count; ++i) {
    if (p->kind[i] != POINT_TRIANGLE && p->kind[i] != EDGE_EDGE) {
      return 0;
    }
  }
  return 1;
}

/* -> 1 where the file is one. What was read is freed with the process. */
static int read_problem(const char *path, problem *p)
{
  FILE *file = fopen(path, "rb");
  char magic[8];
  int good = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
             !memcmp(magic, "ccdtime1", sizeof magic) && fread(p, sizeof(uint64_t), 4, file) == 4;
  if (good) {
    p->kind = (uint32_t *)read_array(file, p->query_count, sizeof(uint32_t));
    p->x0 = (double *)read_array(file, p->query_count, QUERY_REALS * sizeof(double));
    p->x1 = (double *)read_array(file, p->query_count, QUERY_REALS * sizeof(double));
    p->vertices = (double *)read_array(file, p->vertex_count, 3 * sizeof(double));
    p->faces = (uint32_t *)read_array(file, p->face_count, 3 * sizeof(uint32_t));
    good = p->kind && p->x0 && p->x1 && p->vertices && p->faces && has_known_kinds(p);
  }
  for (int k = 0; good && k < 4; ++k) {
    p->poses[k] = (double *)read_array(file, p->row_count, POSE_REALS * sizeof(double));
    good = p->poses[k] != NULL;
  }
  if (file) {
    fclose(file);
  }
  return good;
}

/* -> 1 where all of them are written. */
static int write_answers(const char *path, const double *answers, uint64_t count)
{
  FILE *file = fopen(path, "wb");
  const size_t width = ANSWER_WIDTH * sizeof(double);
  const int good = file && fwrite(answers, width, (size_t)count, file) == count;
  return file ? !fclose(file) && good : 0;
}

static double seconds_of(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_now(void)
{
  return seconds_of(CLOCK_MONOTONIC);
}

/* Of all threads of the process. */
static double processor_seconds(void)
{
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static int compare_numbers(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts the numbers. */
static double median_of(double *numbers, size_t count)
{
  qsort(numbers, count, sizeof *numbers, compare_numbers);
  return count ? (numbers[(count - 1) / 2] + numbers[count / 2]) / 2 : 0.0;
}

#endif
