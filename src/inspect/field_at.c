#include "inspect/field_at.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "body/body.h"

#define PIECE ((size_t)1 << 18) /* points a call */

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

/* Fills in the places of nodes from `first` on. */
static void place_nodes(const double origin[3], const double spacing[3], const size_t size[3],
                        size_t first, size_t count, reals *points)
{
  for (size_t n = 0; n < count; ++n) {
    const size_t at = first + n;
    const size_t place[3] = {at / (size[1] * size[2]), at / size[2] % size[1], at % size[2]};
    for (size_t k = 0; k < 3; ++k) {
      reals_set(points, 3 * n + k, origin[k] + spacing[k] * (double)place[k]);
    }
  }
}

abut_status field_at_nodes(const field_of *f, const double origin[3], const double spacing[3],
                           const size_t size[3], float *value)
{
  const size_t count = size[0] * size[1] * size[2], piece = count < PIECE ? count : PIECE;
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
    place_nodes(origin, spacing, size, first, now, &points);
    TRY_DONE(abut_evaluate_body(f->body, f->union_tau, f->plane_tau, now, points.data, distance.data,
                                NULL));
    for (size_t n = 0; n < now; ++n) {
      value[first + n] = (float)reals_get(&distance, n);
    }
  }
done:
  free(points.data);
  free(distance.data);
  return status;
}
