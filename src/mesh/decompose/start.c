/* The first set: clusters of inside cells become ellipsoids. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include "math/vector.h"
#include <math.h>

#define PLACES_MOST 20000 /* maximum number of points in the clustering */
#define ROUNDS 15         /* iterations of Lloyd's algorithm */
#define CLUSTER_LEAST 4   /* a cluster with no more points is left out */

typedef struct clusters {
  const double **place; /* (count) */
  size_t count, of;
  uint32_t *nearest; /* (count) */
  double *distance2; /* (count) to the nearest centre */
  double centre[DECOMPOSE_MOST][3];
} clusters;

/* Takes every point, or evenly spaced ones if there are too many. */
static void choose_places(const cell_set *cells, clusters *c)
{
  for (size_t i = 0; i < c->count; ++i) {
    c->place[i] = cells->samples.x + 3 * (i * cells->samples.count / c->count);
  }
}

static void measure(clusters *c, size_t first, size_t end)
{
  for (size_t i = 0; i < c->count; ++i) {
    for (size_t k = first; k < end; ++k) {
      double d[3];
      difference(c->place[i], c->centre[k], d);
      const double square = dot(d, d);
      if (square < c->distance2[i]) {
        c->distance2[i] = square;
        c->nearest[i] = (uint32_t)k;
      }
    }
  }
}

static void forget(clusters *c)
{
  for (size_t i = 0; i < c->count; ++i) {
    c->distance2[i] = HUGE_VAL;
  }
}

/* Each centre begins at the point farthest from the previous centres. */
static void begin_centres(clusters *c, uint64_t seed)
{
  size_t at = (size_t)(uniform_at(seed, 0, 3) * (double)c->count);
  forget(c);
  for (size_t k = 0; k < c->of; ++k) {
    memcpy(c->centre[k], c->place[at], sizeof c->centre[k]);
    measure(c, k, k + 1);
    at = 0;
    for (size_t i = 1; i < c->count; ++i) {
      at = c->distance2[i] > c->distance2[at] ? i : at;
    }
  }
}

static void move_centres(clusters *c)
{
  size_t members[DECOMPOSE_MOST] = {0};
  double sum[DECOMPOSE_MOST][3] = {{0.0}};
  for (size_t i = 0; i < c->count; ++i) {
    ++members[c->nearest[i]];
    for (int a = 0; a < 3; ++a) {
      sum[c->nearest[i]][a] += c->place[i][a];
    }
  }
  for (size_t k = 0; k < c->of; ++k) {
    for (int a = 0; a < 3 && members[k]; ++a) {
      c->centre[k][a] = sum[k][a] / (double)members[k];
    }
  }
}

/* Makes the ellipsoid of a cluster. Returns whether the cluster has enough points. */
static bool make_primitive(const clusters *c, size_t k, primitive *out)
{
  moments m = {0};
  for (int turn = 0; turn < 2; ++turn) {
    for (size_t i = 0; i < c->count; ++i) {
      if (c->nearest[i] != k) {
        continue;
      }
      m.weight += turn == 0;
      for (int a = 0; a < 3; ++a) {
        m.mean[a] += turn == 0 ? c->place[i][a] : 0.0;
        for (int b = 0; b < 3 && turn == 1; ++b) {
          m.covariance[3 * a + b] += (c->place[i][a] - m.mean[a]) * (c->place[i][b] - m.mean[b]);
        }
      }
    }
    for (int a = 0; a < 3 && turn == 0; ++a) {
      m.mean[a] /= fmax(m.weight, 1.0);
    }
  }
  if (m.weight <= CLUSTER_LEAST) {
    return false;
  }
  for (int a = 0; a < 9; ++a) {
    m.covariance[a] /= m.weight - 1.0;
  }
  *out = primitive_of_moments(&m);
  return true;
}

abut_status start_clusters(const decomposition *d, const cell_set *from, size_t count,
                           primitives *out)
{
  abut_status status = ABUT_SUCCESS;
  void *all = NULL, *places = NULL, *numbers = NULL, *distances = NULL;
  TRY_DONE(allocate(&all, 1, sizeof(clusters)));
  clusters *c = all;
  const size_t cells = from->samples.count;
  c->count = cells < PLACES_MOST ? cells : PLACES_MOST;
  c->of = count < c->count / CLUSTER_CELLS ? count : c->count / CLUSTER_CELLS;
  c->of = c->of < DECOMPOSE_MOST ? c->of : DECOMPOSE_MOST;
  TRY_DONE(allocate(&places, c->count, sizeof *c->place));
  TRY_DONE(allocate(&numbers, c->count, sizeof *c->nearest));
  TRY_DONE(allocate(&distances, c->count, sizeof *c->distance2));
  c->place = places;
  c->nearest = numbers;
  c->distance2 = distances;
  choose_places(from, c);
  begin_centres(c, d->options->seed);
  for (int round = 0; round < ROUNDS; ++round) {
    move_centres(c);
    forget(c);
    measure(c, 0, c->of);
  }
  out->count = 0;
  for (size_t k = 0; k < c->of; ++k) {
    out->count += make_primitive(c, k, &out->at[out->count]);
  }
done:
  free(all);
  free(places);
  free(numbers);
  free(distances);
  return status;
}
