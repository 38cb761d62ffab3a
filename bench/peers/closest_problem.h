/* A file of pairs of convex shapes, which closest.py writes and both sides of the comparison
 * read, and the file of their answers. In the machine's byte order:
 *
 *   char magic[8], "closest1"; uint64_t shapes, vertices, pairs
 *   shapes of them: uint32_t kind, uint32_t vertex_count; double size[3], exponents[2], radius
 *   double vertices[vertices][3], of all hulls, one behind the other
 *   uint32_t one[pairs], two[pairs]; double pose1[pairs][7], pose2[pairs][7]: x y z qw qx qy qz
 *
 * Kinds and their numbers are those of abut_shape_def. Answers: double [pairs][12], of d, n, p1,
 * p2, gap and status, where a gap that is not known is NaN. C11 and C++. */
#ifndef CLOSEST_PROBLEM_H
#define CLOSEST_PROBLEM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROBLEM_HULL = 0, PROBLEM_SPHERE = 1, PROBLEM_BOX = 2, PROBLEM_CAPSULE = 4 };
enum {
  ANSWER_D = 0,
  ANSWER_N = 1,
  ANSWER_P1 = 4,
  ANSWER_P2 = 7,
  ANSWER_GAP = 10,
  ANSWER_STATUS = 11,
  ANSWER_WIDTH = 12
};

typedef struct problem_shape {
  uint32_t kind, vertex_count;
  double size[3], exponents[2], radius;
} problem_shape;

typedef struct problem {
  uint64_t shape_count, vertex_count, pair_count;
  problem_shape *shapes;
  double *vertices;
  uint32_t *one, *two;
  double *pose1, *pose2;
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

/* The shapes' numbers of vertices must add up to those of the file, and rows must name shapes. */
static int is_whole(const problem *p)
{
  uint64_t vertices = 0;
  for (uint64_t i = 0; i < p->shape_count; ++i) {
    vertices += p->shapes[i].vertex_count;
  }
  for (uint64_t i = 0; i < p->pair_count; ++i) {
    if (p->one[i] >= p->shape_count || p->two[i] >= p->shape_count) {
      return 0;
    }
  }
  return vertices == p->vertex_count;
}

/* -> 1 where the file is one. What was read is freed with the process. */
static int read_problem(const char *path, problem *p)
{
  FILE *file = fopen(path, "rb");
  char magic[8];
  int good = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
             !memcmp(magic, "closest1", sizeof magic) && fread(p, sizeof(uint64_t), 3, file) == 3;
  if (good) {
    p->shapes = (problem_shape *)read_array(file, p->shape_count, sizeof *p->shapes);
    p->vertices = (double *)read_array(file, p->vertex_count, 3 * sizeof(double));
    p->one = (uint32_t *)read_array(file, p->pair_count, sizeof(uint32_t));
    p->two = (uint32_t *)read_array(file, p->pair_count, sizeof(uint32_t));
    p->pose1 = (double *)read_array(file, p->pair_count, 7 * sizeof(double));
    p->pose2 = (double *)read_array(file, p->pair_count, 7 * sizeof(double));
    good = p->shapes && p->vertices && p->one && p->two && p->pose1 && p->pose2 && is_whole(p);
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
