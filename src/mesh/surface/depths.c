#include "mesh/surface/depths.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

typedef struct depth_place {
  double ratio, weight, x[3];
} depth_place;

void depths_free(depths *d)
{
  free(d->places);
  *d = (depths){0};
}

abut_status depths_add(depths *d, const double x[3], double field, double distance, double least,
                       double weight)
{
  if (!(distance <= -least) || !(distance < 0.0) || !(field <= 0.0)) {
    return ABUT_SUCCESS;
  }
  TRY(grow(&d->places, &d->room, d->count + 1, sizeof(depth_place)));
  depth_place *p = (depth_place *)d->places + d->count++;
  *p = (depth_place){.ratio = field / distance, .weight = weight};
  memcpy(p->x, x, sizeof p->x);
  return ABUT_SUCCESS;
}

/* By ratio, then by position, so that the result is independent of the initial order. */
static int compare_places(const void *a, const void *b)
{
  const depth_place *p = a, *q = b;
  if (p->ratio != q->ratio) {
    return p->ratio < q->ratio ? -1 : 1;
  }
  for (int k = 0; k < 3; ++k) {
    if (p->x[k] != q->x[k]) {
      return p->x[k] < q->x[k] ? -1 : 1;
    }
  }
  return 0;
}

/* The first ratio at which the cumulative weight reaches this share of the total. */
static double quantile(const depth_place *p, size_t count, double whole, double share)
{
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) {
    sum += p[i].weight;
    if (sum >= share * whole) {
      return p[i].ratio;
    }
  }
  return p[count - 1].ratio;
}

depth_ratios depths_measure(depths *d)
{
  depth_ratios r = {0};
  depth_place *p = d->places;
  double whole = 0.0;
  if (!d->count) {
    return r;
  }
  qsort(p, d->count, sizeof *p, compare_places);
  for (size_t i = 0; i < d->count; ++i) {
    whole += p[i].weight;
  }
  r.median = quantile(p, d->count, whole, 0.5);
  r.of_95 = quantile(p, d->count, whole, 0.95);
  r.most = p[d->count - 1].ratio;
  memcpy(r.most_at, p[d->count - 1].x, sizeof r.most_at);
  return r;
}
