/* What batches of witness points must not depend on: a query's place in the batch, and how the
 * caller's arrays lie in memory: test_witness PRECISION. Answers are equal to the bit. */
#define _DEFAULT_SOURCE
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { QUERIES = 83, ROOM = QUERIES * 9 + 2 }; /* whole blocks of lanes and a rest */

typedef struct scene {
  abut_context context;
  abut_smoothing smoothing;
  size_t real;
  char *edges1, *edges2, *points, *triangles;
  char *e1, *e2, *interior,
    *projected; /* answers of all queries in one call, each array by itself */
  uint8_t status[QUERIES];
  size_t rejected;
} scene;

static char *random_array(abut_precision precision, size_t count, uint64_t *seed)
{
  char *a = calloc(ROOM, sizeof(double));
  for (size_t i = 0; a && i < count; ++i) {
    real_put(a, precision, i, random_normal(seed));
  }
  return a;
}

static bool same(const scene *s, const void *a, const void *b, size_t reals, const char *what)
{
  return check(!memcmp(a, b, reals * s->real), "%s: answers differ", what);
}

/* Queries 5 and 70 have triangles without area. */
static void spoil(scene *s)
{
  memcpy(s->triangles + 9 * 5 * s->real, s->triangles + (9 * 5 + 3) * s->real, 3 * s->real);
  memset(s->triangles + 9 * 70 * s->real, 0, 9 * s->real);
}

static bool take(scene *s, abut_precision precision)
{
  uint64_t seed = 23;
  s->smoothing = abut_default_smoothing();
  s->real = real_size(precision);
  s->edges1 = random_array(precision, 6 * QUERIES, &seed);
  s->edges2 = random_array(precision, 6 * QUERIES, &seed);
  s->points = random_array(precision, 3 * QUERIES, &seed);
  s->triangles = random_array(precision, 9 * QUERIES, &seed);
  s->e1 = random_array(precision, 0, &seed);
  s->e2 = random_array(precision, 0, &seed);
  s->interior = random_array(precision, 0, &seed);
  s->projected = random_array(precision, 0, &seed);
  if (!check(s->edges1 && s->edges2 && s->points && s->triangles && s->e1 && s->e2 && s->interior &&
               s->projected,
             "no memory")) {
    return false;
  }
  spoil(s);
  return CHECK_OK(abut_witness_edges(s->context, &s->smoothing, QUERIES, s->edges1, s->edges2,
                                     s->e1, s->e2, s->interior)) &&
         CHECK_OK(abut_witness_faces(s->context, &s->smoothing, QUERIES, s->points, s->triangles,
                                     s->projected, s->status, &s->rejected));
}

static void test_statuses(const scene *s)
{
  size_t rejected = 0;
  char out[ROOM * sizeof(double)];
  for (size_t i = 0; i < QUERIES; ++i) {
    check(s->status[i] == (i == 5 || i == 70), "status %d of query %zu", s->status[i], i);
  }
  check(s->rejected == 2, "%zu refused, not 2", s->rejected);
  CHECK_OK(abut_witness_faces(s->context, &s->smoothing, QUERIES, s->points, s->triangles, out,
                              NULL, &rejected));
  check(rejected == 2, "%zu refused without statuses, not 2", rejected);
}

/* Each query by itself: in no whole block of lanes. */
static void test_alone(const scene *s)
{
  const size_t r = s->real;
  for (size_t i = 0; i < QUERIES; ++i) {
    char e1[24], e2[24], interior[8], projected[24];
    uint8_t status = 9;
    CHECK_OK(abut_witness_edges(s->context, &s->smoothing, 1, s->edges1 + 6 * i * r,
                                s->edges2 + 6 * i * r, e1, e2, interior));
    same(s, e1, s->e1 + 3 * i * r, 3, "a first point alone");
    same(s, e2, s->e2 + 3 * i * r, 3, "a second point alone");
    same(s, interior, s->interior + i * r, 1, "an interior alone");
    CHECK_OK(abut_witness_faces(s->context, &s->smoothing, 1, s->points + 3 * i * r,
                                s->triangles + 9 * i * r, projected, &status, NULL));
    same(s, projected, s->projected + 3 * i * r, status ? 0 : 3, "a projection alone");
    check(status == s->status[i], "status %d of query %zu alone", status, i);
  }
}

/* A first query elsewhere in its block, and arrays that begin anywhere in memory. */
static void test_begins(const scene *s)
{
  CHECK_OK(
    abut_witness_edges(s->context, &s->smoothing, QUERIES, s->edges1, s->edges2, NULL, NULL, NULL));
  static const size_t skips[] = {1, 7, 16, 19};
  const size_t r = s->real;
  for (size_t k = 0; k < sizeof skips / sizeof *skips; ++k) {
    char e1[ROOM * sizeof(double)], projected[ROOM * sizeof(double)];
    const size_t at = skips[k], count = QUERIES - at;
    CHECK_OK(abut_witness_edges(s->context, &s->smoothing, count, s->edges1 + 6 * at * r,
                                s->edges2 + 6 * at * r, e1 + k, NULL, NULL));
    same(s, e1 + k, s->e1 + 3 * at * r, 3 * count, "a part");
    CHECK_OK(abut_witness_faces(s->context, &s->smoothing, count, s->points + 3 * at * r,
                                s->triangles + 9 * at * r, projected + k, NULL, NULL));
    for (size_t i = 0; i < count; ++i) { /* NaN where it is refused */
      same(s, projected + k + 3 * i * r, s->projected + 3 * (at + i) * r, s->status[at + i] ? 0 : 3,
           "a part's projections");
    }
  }
}

/* Inputs in memory that nobody may write, and not at the begin of a page, where drivers may work in
 * copies. Nothing is wanted, at last. */
static void test_read_only(const scene *s)
{
  const size_t bytes = 6 * QUERIES * s->real, room = 2 * sizeof(double) + bytes;
  char out[ROOM * sizeof(double)];
  char *inputs[2];
  const char *from[2] = {s->edges1, s->edges2};
  for (int i = 0; i < 2; ++i) {
    inputs[i] = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!check(inputs[i] != MAP_FAILED, "no memory")) {
      return;
    }
    memcpy(inputs[i] + 2 * sizeof(double), from[i], bytes);
    mprotect(inputs[i], room, PROT_READ);
  }
  const char *edges1 = inputs[0] + 2 * sizeof(double), *edges2 = inputs[1] + 2 * sizeof(double);
  CHECK_OK(abut_witness_edges(s->context, &s->smoothing, QUERIES, edges1, edges2, out, NULL, NULL));
  same(s, out, s->e1, 3 * QUERIES, "read-only inputs");
  CHECK_OK(
    abut_witness_edges(s->context, &s->smoothing, QUERIES, edges1, edges2, NULL, NULL, NULL));
  munmap(inputs[0], room);
  munmap(inputs[1], room);
}

/* Arrays that are one another, wholly or in part. */
static void test_overlaps(const scene *s)
{
  const size_t r = s->real;
  char self[ROOM * sizeof(double)], copy[ROOM * sizeof(double)], in_place[ROOM * sizeof(double)];
  char one[ROOM * sizeof(double)], other[ROOM * sizeof(double)];
  memcpy(copy, s->edges1, 6 * QUERIES * r);
  CHECK_OK(
    abut_witness_edges(s->context, &s->smoothing, QUERIES, s->edges1, s->edges1, self, NULL, NULL));
  CHECK_OK(
    abut_witness_edges(s->context, &s->smoothing, QUERIES, s->edges1, copy, one, NULL, NULL));
  same(s, self, one, 3 * QUERIES, "edges against themselves");
  CHECK_OK(abut_witness_edges(s->context, &s->smoothing, QUERIES - 1, s->edges1, s->edges1 + 6 * r,
                              self, NULL, NULL));
  CHECK_OK(abut_witness_edges(s->context, &s->smoothing, QUERIES - 1, s->edges1, copy + 6 * r,
                              other, NULL, NULL));
  same(s, self, other, 3 * (QUERIES - 1), "edges against their neighbours");
  memcpy(in_place, s->points, 3 * QUERIES * r);
  CHECK_OK(abut_witness_faces(s->context, &s->smoothing, QUERIES, in_place, s->triangles, in_place,
                              NULL, NULL));
  same(s, in_place, s->projected, 3 * 5, "points in place");
  same(s, in_place + 3 * 6 * r, s->projected + 3 * 6 * r, 3 * 64, "points in place");
}

/* Adjoints of all queries, and of those from the second on, which lie in other lanes. */
static void test_adjoints(const scene *s)
{
  const size_t r = s->real;
  char all[2][ROOM * sizeof(double)], part[2][ROOM * sizeof(double)];
  CHECK_OK(abut_witness_edges_vjp(s->context, &s->smoothing, QUERIES, s->edges1, s->edges2,
                                  s->edges2, s->points, NULL, all[0], all[1]));
  CHECK_OK(abut_witness_edges_vjp(s->context, &s->smoothing, QUERIES - 1, s->edges1 + 6 * r,
                                  s->edges2 + 6 * r, s->edges2 + 3 * r, s->points + 3 * r, NULL,
                                  part[0], part[1]));
  same(s, part[0], all[0] + 6 * r, 6 * (QUERIES - 1), "adjoints of first edges");
  same(s, part[1], all[1] + 6 * r, 6 * (QUERIES - 1), "adjoints of second edges");
  CHECK_OK(abut_witness_faces_vjp(s->context, &s->smoothing, QUERIES, s->points, s->triangles,
                                  s->edges1, all[0], all[1], NULL, NULL));
  CHECK_OK(abut_witness_faces_vjp(s->context, &s->smoothing, 60, s->points + 21 * r,
                                  s->triangles + 63 * r, s->edges1 + 21 * r, part[0], part[1], NULL,
                                  NULL));
  same(s, part[0], all[0] + 21 * r, 3 * 60, "adjoints of points");
  same(s, part[1], all[1] + 63 * r, 9 * 60, "adjoints of triangles");
}

int main(int argc, char **argv)
{
  const abut_precision precision = argc > 1 && !strcmp(argv[1], "f32") ? ABUT_FLOAT32
                                                                       : ABUT_FLOAT64;
  scene s = {.real = 0};
  s.context = require_context(precision);
  if (take(&s, precision)) {
    test_statuses(&s);
    test_alone(&s);
    test_begins(&s);
    test_read_only(&s);
    test_overlaps(&s);
    test_adjoints(&s);
  }
  char *arrays[] = {s.edges1, s.edges2, s.points, s.triangles, s.e1, s.e2, s.interior, s.projected};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
    free(arrays[i]);
  }
  return finish_context(s.context);
}
