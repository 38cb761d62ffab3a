#include "mesh/inspect/depth.h"

#include "base/error.h"
#include "base/parallel.h"
#include "mesh/inspect/measure.h"
#include "mesh/surface/depths.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE ((size_t)MEASURE_SIDE)
#define CELLS (SIDE * SIDE * SIDE)
#define PLACES_MOST ((size_t)20000)
#define PIECE 256 /* points per piece of work */
/* share of a cell of 1/220 of the diagonal, to which pieces of crossing shells are cut */
#define BORDER 0.5
#define FINE 220.0

typedef struct measured {
  solid *inside;
  double *x; /* (count, 3) */
  double *distance;
  size_t count;
} measured;

static void measure_piece(void *user, size_t piece)
{
  const measured *m = user;
  solid_place before;
  for (size_t i = piece * PIECE; i < (piece + 1) * PIECE && i < m->count; ++i) {
    solid_place now;
    memcpy(now.x, m->x + 3 * i, sizeof now.x);
    solid_measure(m->inside, i % PIECE ? &before : NULL, &now);
    m->distance[i] = now.distance;
    before = now;
  }
}

static void measure_all(measured *m)
{
  parallel_for((m->count + PIECE - 1) / PIECE, measure_piece, m);
}

/* Chooses evenly spaced cells among those in both. */
static size_t choose_places(const volumes *v, double *x)
{
  const unsigned char both = CELL_OF_MESH | CELL_OF_FIELD;
  size_t all = 0, seen = 0, count = 0;
  for (size_t i = 0; i < CELLS; ++i) {
    all += v->cells[i] == both;
  }
  const size_t apart = (all + PLACES_MOST - 1) / PLACES_MOST;
  for (size_t i = 0; i < CELLS; ++i) {
    if (v->cells[i] != both || seen++ % apart) {
      continue;
    }
    const size_t at[3] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
    for (size_t k = 0; k < 3; ++k) {
      x[3 * count + k] = v->around.origin[k] + v->around.step[k] * ((double)at[k] + 0.5);
    }
    ++count;
  }
  return count;
}

static abut_status compare(const field_of *f, const surface *s, measured *m, abut_fit *out)
{
  depths d = {0};
  void *value = NULL;
  abut_status status = ABUT_SUCCESS;
  measure_all(m);
  if (atomic_load(&m->inside->overlaps) && m->inside->near == &m->inside->all) {
    TRY_DONE(solid_find_border(m->inside, BORDER * s->diagonal / FINE));
    measure_all(m);
  }
  TRY_DONE(allocate(&value, m->count, sizeof(float)));
  TRY_DONE(field_at_places(f, m->x, m->count, value));
  for (size_t i = 0; i < m->count; ++i) {
    TRY_DONE(depths_add(&d, m->x + 3 * i, (double)((float *)value)[i], m->distance[i],
                        DEPTH_LEAST * s->diagonal, 1.0));
  }
  const depth_ratios r = depths_measure(&d);
  out->depth_ratio_median = r.median;
  out->depth_ratio_95 = r.of_95;
  out->depth_ratio_most = r.most;
  memcpy(out->depth_ratio_most_at, r.most_at, sizeof r.most_at);
done:
  depths_free(&d);
  free(value);
  return status;
}

abut_status measure_depth(const field_of *f, const surface *s, solid *inside, const volumes *v,
                          abut_fit *out)
{
  void *x = NULL, *distance = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&x, PLACES_MOST, 3 * sizeof(double)));
  TRY_DONE(allocate(&distance, PLACES_MOST, sizeof(double)));
  measured m = {inside, x, distance, choose_places(v, x)};
  if (m.count) {
    TRY_DONE(compare(f, s, &m, out));
  }
done:
  free(x);
  free(distance);
  return status;
}
