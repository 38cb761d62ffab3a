#include "mesh/inspect/apart.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/inspect/scatter.h"
#include "mesh/surface/tree.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 200000 /* points on each surface */
/* the first of these, whose nearest points are found */
#define QUERIES 30000
#define QUERY_PIECE 500 /* queries per piece of work */
#define FIRST_SEED 1
#define SECOND_SEED 3
#define LEFT_OUT (-1.0)

typedef struct cloud {
  double *points; /* (POINTS, 3) */
  tree at;
  tree closing; /* the triangles that close holes */
} cloud;

typedef struct queries {
  const cloud *from, *to;
  double *distance; /* (QUERIES); LEFT_OUT for points over holes */
} queries;

static void cloud_free(cloud *c)
{
  tree_free(&c->closing);
  tree_free(&c->at);
  free(c->points);
}

static abut_status closing_create(const surface *s, tree *out)
{
  void *memory;
  TRY(allocate(&memory, s->closing_count, sizeof(uint32_t)));
  uint32_t *which = memory;
  for (size_t i = 0; i < s->closing_count; ++i) {
    which[i] = (uint32_t)(s->triangle_count - s->closing_count + i);
  }
  const abut_status status = tree_create(s, which, s->closing_count, out);
  free(memory);
  return status;
}

static abut_status cloud_create(const surface *s, uint64_t seed, cloud *out)
{
  void *corners = NULL, *points = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&points, POINTS, 3 * sizeof(double)));
  out->points = points;
  TRY_DONE(scatter(s, s->triangle_count - s->closing_count, seed, POINTS, points));
  TRY_DONE(allocate(&corners, POINTS, 9 * sizeof(double)));
  for (size_t i = 0; i < POINTS; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      memcpy((double *)corners + 9 * i + 3 * k, out->points + 3 * i, 3 * sizeof(double));
    }
  }
  TRY_DONE(tree_of_corners(corners, POINTS, &out->at));
  if (s->closing_count) {
    TRY_DONE(closing_create(s, &out->closing));
  }
done:
  free(corners);
  return status;
}

static void ask(void *user, size_t piece)
{
  const queries *q = user;
  uint32_t guess = UINT32_MAX;
  for (size_t i = piece * QUERY_PIECE; i < (piece + 1) * QUERY_PIECE; ++i) {
    const double *x = q->from->points + 3 * i;
    const nearest found = tree_nearest_from(&q->to->at, x, guess);
    const bool over = q->to->closing.count &&
                      tree_nearest(&q->to->closing, x, found.distance2).at != UINT32_MAX;
    guess = found.at;
    q->distance[i] = over ? LEFT_OUT : sqrt(found.distance2);
  }
}

/* Finds the mean and the largest distance, the share of points beyond `limit`, and the share of
 * points over holes. */
static abut_status compare_points(const cloud *from, const cloud *to, double limit, double *mean,
                                  double *most, double *beyond, double *over)
{
  void *memory;
  TRY(allocate(&memory, QUERIES, sizeof(double)));
  queries q = {from, to, memory};
  parallel_for(QUERIES / QUERY_PIECE, ask, &q);
  size_t far = 0, asked = 0;
  for (size_t i = 0; i < QUERIES; ++i) {
    asked += q.distance[i] >= 0.0;
  }
  *mean = *most = 0.0;
  for (size_t i = 0; i < QUERIES; ++i) {
    if (q.distance[i] >= 0.0) {
      *mean += q.distance[i] / (double)asked;
      *most = fmax(*most, q.distance[i]);
      far += q.distance[i] > limit;
    }
  }
  *beyond = asked ? (double)far / (double)asked : 0.0;
  *over = (double)(QUERIES - asked) / QUERIES;
  free(memory);
  return ABUT_SUCCESS;
}

abut_status surfaces_apart(const surface *a, const surface *b, double limit, distances *out)
{
  cloud first = {0}, second = {0};
  double beyond, over;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(cloud_create(a, FIRST_SEED, &first));
  TRY_DONE(cloud_create(b, SECOND_SEED, &second));
  TRY_DONE(
    compare_points(&first, &second, limit, &out->mean[0], &out->most[0], &out->beyond, &over));
  TRY_DONE(compare_points(&second, &first, limit, &out->mean[1], &out->most[1], &beyond,
                          &out->over_holes));
done:
  cloud_free(&first);
  cloud_free(&second);
  return status;
}
