#include "mesh/inspect/extent.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "body/body.h"
#include "geometry/layout.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK (1.0 + 64.0 * (double)FLT_EPSILON) /* for a product that devices round */
#define BLOCKS_MOST 128
/* block indices, some of them in several boxes */
#define LOOKED_MOST ((size_t)1 << 16)
#define LEVEL_MOST 40
#define FARTHEST 1e18 /* in cells: their indices are 64-bit integers */

/* ---- boxes ---- */

/* The soft union of n primitives is at most tau ln n below their minimum, and subtraction only
 * raises it. */
static abut_status cover(const body *of, double union_tau, extent *out)
{
  const double below = union_tau * log(fmax((double)of->head[HEAD_ADDED], 1.0)) * SLACK;
  void *memory;
  TRY(allocate(&memory, of->info.primitives, sizeof(box)));
  out->boxes = memory;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    const packed all = packed_of(of->head, &of->shape, ABUT_ADD, i);
    for (size_t n = 0; n < all.count; ++n) {
      const packed one = packed_one(&all, i, n);
      box b = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
      bool has_ends = true;
      families[i]->enclose(&one, below, &b);
      for (int k = 0; k < 3; ++k) {
        has_ends = has_ends && isfinite(b.lower[k]) && isfinite(b.upper[k]);
      }
      const bool holds_nothing = b.lower[0] > b.upper[0];
      if (has_ends) {
        out->boxes[out->count++] = b;
      }
      out->endless = out->endless || (!has_ends && !holds_nothing);
    }
  }
  return ABUT_SUCCESS;
}

abut_status extent_create(const field_of *f, extent *out)
{
  ENTER(body_pool, f->body);
  const body *of = body_get(f->body);
  *out = (extent){0};
  return of ? cover(of, f->union_tau, out) : ABUT_ERROR_HANDLE;
}

void extent_free(extent *e)
{
  free(e->boxes);
  *e = (extent){0};
}

/* ---- blocks ---- */

static double block_side(const outskirts *o, int k)
{
  return ldexp(o->step[k] * (double)o->cells[k], (int)o->level);
}

/* Whether a block is in the inner box. Block indices count from the corner of that box. */
static bool is_within(const outskirts *o, const int64_t at[3])
{
  const int64_t blocks = o->level <= 2 ? INNER_BLOCKS >> o->level : 0;
  return at[0] >= 0 && at[0] < blocks && at[1] >= 0 && at[1] < blocks && at[2] >= 0 &&
         at[2] < blocks;
}

static int compare_blocks(const void *a, const void *b)
{
  const int64_t *p = a, *q = b;
  for (int k = 0; k < 3; ++k) {
    if (p[k] != q[k]) {
      return p[k] < q[k] ? -1 : 1;
    }
  }
  return 0;
}

/* Lists the blocks that meet boxes at the present level. Returns whether they fit. */
static bool list_blocks(const extent *e, outskirts *o)
{
  size_t count = 0;
  for (size_t i = 0; i < e->count; ++i) {
    double low[3], high[3], places = 1.0;
    for (int k = 0; k < 3; ++k) {
      low[k] = floor((e->boxes[i].lower[k] - o->origin[k]) / block_side(o, k));
      high[k] = floor((e->boxes[i].upper[k] - o->origin[k]) / block_side(o, k));
      places *= high[k] - low[k] + 1.0;
      places = fmax(fabs(low[k]), fabs(high[k]) + 1.0) * ldexp((double)o->cells[k], (int)o->level) <
                   FARTHEST
                 ? places
                 : HUGE_VAL;
    }
    if (!(places + (double)count <= (double)LOOKED_MOST)) {
      return false;
    }
    for (int64_t x = (int64_t)low[0]; x <= (int64_t)high[0]; ++x) {
      for (int64_t y = (int64_t)low[1]; y <= (int64_t)high[1]; ++y) {
        for (int64_t z = (int64_t)low[2]; z <= (int64_t)high[2]; ++z) {
          const int64_t at[3] = {x, y, z};
          if (!is_within(o, at)) {
            memcpy(o->at[count++], at, sizeof at);
          }
        }
      }
    }
  }
  qsort(o->at, count, sizeof *o->at, compare_blocks);
  o->count = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!i || compare_blocks(o->at[i], o->at[o->count - 1]) != 0) {
      memmove(o->at[o->count++], o->at[i], sizeof *o->at);
    }
  }
  return o->count <= BLOCKS_MOST;
}

abut_status outskirts_create(const extent *e, outskirts *o)
{
  void *memory;
  TRY(allocate(&memory, LOOKED_MOST, sizeof *o->at));
  o->at = memory;
  for (o->level = 0; o->level <= LEVEL_MOST; ++o->level) {
    if (list_blocks(e, o)) {
      return ABUT_SUCCESS;
    }
  }
  outskirts_free(o);
  return fail(ABUT_ERROR_BODY, "the field is far larger than the mesh, so they cannot be compared: "
                               "are both in the same unit of length?");
}

void outskirts_free(outskirts *o)
{
  free(o->at);
  o->at = NULL;
  o->count = 0;
}

void outskirts_place(const outskirts *o, size_t block, double corner[3], double step[3])
{
  for (int k = 0; k < 3; ++k) {
    corner[k] = o->origin[k] + block_side(o, k) * (double)o->at[block][k];
    step[k] = ldexp(o->step[k], (int)o->level);
  }
}

size_t outskirts_find(const outskirts *o, const int64_t at[3])
{
  const int64_t(*found)[3] = o->count ? bsearch(at, o->at, o->count, sizeof *o->at, compare_blocks)
                                      : NULL;
  return found ? (size_t)(found - (const int64_t(*)[3])o->at) : o->count;
}
