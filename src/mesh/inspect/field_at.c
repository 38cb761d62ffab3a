#include "mesh/inspect/field_at.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "body/body.h"

#define PIECE ((size_t)1 << 18) /* points per call */

static abut_status real_bytes(abut_body handle_, size_t *size)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  *size = context_real_bytes(b->context);
  return ABUT_SUCCESS;
}

/* Points of a list, or the nodes of a lattice if `points` is NULL. */
typedef struct places {
  const double *points;
  const double *origin, *spacing;
  const size_t *size;
} places;

/* Fills in points from `first` on. */
static void put_places(const places *p, size_t first, size_t count, reals *points)
{
  for (size_t n = 0; n < count; ++n) {
    const size_t at = first + n;
    for (size_t k = 0; k < 3 && p->points; ++k) {
      reals_set(points, 3 * n + k, p->points[3 * at + k]);
    }
    if (p->points) {
      continue;
    }
    const size_t row = p->size[2], layer = p->size[1] * row;
    const size_t place[3] = {at / layer, at / row % p->size[1], at % row};
    for (size_t k = 0; k < 3; ++k) {
      reals_set(points, 3 * n + k, p->origin[k] + p->spacing[k] * (double)place[k]);
    }
  }
}

static abut_status field_at(const field_of *f, const places *p, size_t count, float *value)
{
  const size_t piece = count < PIECE ? count : PIECE;
  size_t bytes = 0;
  reals points = {0}, distance = {0};
  abut_status status = real_bytes(f->body, &bytes);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  TRY_DONE(reals_create(&points, piece, 3 * bytes));
  points.size = bytes;
  TRY_DONE(reals_create(&distance, piece, bytes));
  for (size_t first = 0; first < count; first += piece) {
    const size_t now = count - first < piece ? count - first : piece;
    put_places(p, first, now, &points);
    TRY_DONE(abut_evaluate_body(f->body, f->union_tau, f->plane_tau, now, points.data,
                                distance.data, NULL));
    for (size_t n = 0; n < now; ++n) {
      value[first + n] = (float)reals_get(&distance, n);
    }
  }
done:
  free(points.data);
  free(distance.data);
  return status;
}

abut_status field_at_nodes(const field_of *f, const double origin[3], const double spacing[3],
                           const size_t size[3], float *value)
{
  const places p = {NULL, origin, spacing, size};
  return field_at(f, &p, size[0] * size[1] * size[2], value);
}

abut_status field_at_places(const field_of *f, const double *points, size_t count, float *value)
{
  const places p = {.points = points};
  return field_at(f, &p, count, value);
}
