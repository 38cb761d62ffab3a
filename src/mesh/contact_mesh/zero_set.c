#include "mesh/contact_mesh/zero_set.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/sides.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COARSE 110.0 /* cells along the diagonal */
#define NODES_MOST 3e8
#define AROUND 3.0 /* margin around the box, in cells */
/* margin around the box in temperatures, since a union may be larger than its parts */
#define BLENDS 4.0

/* ---- pieces ---- */

/* Gives each triangle the number of its connected piece. Returns the number of pieces. waiting:
 * scratch, one number per triangle. */
static size_t number_pieces(const surface *s, uint32_t *piece, uint32_t *waiting)
{
  size_t pieces = 0;
  memset(piece, 0xff, s->triangle_count * sizeof *piece);
  for (size_t t = 0; t < s->triangle_count; ++t) {
    size_t count = 0;
    if (piece[t] != UINT32_MAX) {
      continue;
    }
    piece[t] = (uint32_t)pieces;
    waiting[count++] = (uint32_t)t;
    while (count) {
      const size_t one = waiting[--count];
      for (size_t k = 0; k < 3; ++k) {
        const uint32_t beside = s->across[3 * one + k] / 3;
        if (s->across[3 * one + k] < SIDE_TANGLED && piece[beside] == UINT32_MAX) {
          piece[beside] = (uint32_t)pieces;
          waiting[count++] = beside;
        }
      }
    }
    ++pieces;
  }
  return pieces;
}

/* Keeps the triangles of one piece and their points in order. name: scratch for all points. */
static void keep_piece(surface *s, const uint32_t *piece, uint32_t which, uint32_t *name)
{
  size_t triangles = 0, points = 0;
  memset(name, 0xff, s->point_count * sizeof *name);
  for (size_t t = 0; t < s->triangle_count; ++t) {
    if (piece[t] == which) {
      memmove(s->triangles + 3 * triangles++, s->triangles + 3 * t, 3 * sizeof *s->triangles);
    }
  }
  for (size_t i = 0; i < 3 * triangles; ++i) {
    name[s->triangles[i]] = 0;
  }
  for (size_t i = 0; i < s->point_count; ++i) {
    if (!name[i]) {
      memmove(s->points + 3 * points, s->points + 3 * i, 3 * sizeof *s->points);
      name[i] = (uint32_t)points++;
    }
  }
  for (size_t i = 0; i < 3 * triangles; ++i) {
    s->triangles[i] = name[s->triangles[i]];
  }
  s->triangle_count = triangles;
  s->point_count = points;
}

/* Keeps the piece of the largest volume. Removes cavities too, which have a negative volume. */
static abut_status keep_largest(zero_set *z)
{
  surface *s = &z->fine;
  void *piece = NULL, *other = NULL, *volume = NULL;
  double whole = 0.0;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&piece, s->triangle_count, sizeof(uint32_t)));
  TRY_DONE(allocate(&other, s->triangle_count + s->point_count, sizeof(uint32_t)));
  const size_t pieces = number_pieces(s, piece, other);
  TRY_DONE(allocate(&volume, pieces, sizeof(double)));
  double *of = volume;
  size_t largest = 0;
  for (size_t t = 0; t < s->triangle_count; ++t) {
    of[((uint32_t *)piece)[t]] += level_set_volume(s, t);
  }
  for (size_t i = 0; i < pieces; ++i) {
    largest = of[i] > of[largest] ? i : largest;
    whole += fabs(of[i]);
  }
  z->others = pieces - 1;
  z->others_share = pieces > 1 ? 1.0 - of[largest] / whole : 0.0;
  if (pieces > 1) {
    keep_piece(s, piece, (uint32_t)largest, other);
    free(s->across);
    s->across = NULL;
    TRY_DONE(surface_pair_sides(s));
  }
  level_set_measure(s);
done:
  free(piece);
  free(other);
  free(volume);
  return status;
}

/* ---- the lattice ---- */

static abut_status check_box(const box *b)
{
  for (int k = 0; k < 3; ++k) {
    if (!isfinite(b->lower[k]) || !isfinite(b->upper[k])) {
      return fail(ABUT_ERROR_BODY, "the body's field is unbounded, so it has no contact mesh");
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_closed(const surface *s)
{
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    if (s->across[i] >= SIDE_TANGLED) {
      return fail(ABUT_ERROR_BODY, "the body's field extends beyond the box of its primitives, so "
                                   "its surface cannot be closed");
    }
  }
  return ABUT_SUCCESS;
}

static abut_status march(const field_of *f, const box *b, double cells, zero_set *out)
{
  lattice l;
  void *value = NULL;
  double size2 = 0.0, nodes = 1.0;
  abut_status status = ABUT_SUCCESS;
  *out = (zero_set){0};
  for (int k = 0; k < 3; ++k) {
    size2 += (b->upper[k] - b->lower[k]) * (b->upper[k] - b->lower[k]);
  }
  l.spacing = sqrt(size2) / cells;
  for (int k = 0; k < 3; ++k) {
    const double around = AROUND * l.spacing + BLENDS * f->union_tau;
    const double count = ceil((b->upper[k] - b->lower[k] + 2.0 * around) / l.spacing) + 1.0;
    l.origin[k] = b->lower[k] - around;
    nodes *= count;
    if (!(nodes < NODES_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "the temperature of the union, %g m, is far larger than the body", f->union_tau);
    }
    l.size[k] = (size_t)count;
  }
  const double step[3] = {l.spacing, l.spacing, l.spacing};
  TRY_DONE(allocate(&value, lattice_count(&l), sizeof(float)));
  TRY_DONE(field_at_nodes(f, l.origin, step, l.size, value));
  TRY_DONE(level_set_create(&l, value, &out->fine));
  if (!out->fine.triangle_count) {
    status = fail(ABUT_ERROR_BODY, "the body's field has no surface");
    goto done;
  }
  TRY_DONE(surface_pair_sides(&out->fine));
  TRY_DONE(check_closed(&out->fine));
  TRY_DONE(keep_largest(out));
  /* Euler's formula V - E + F = 2 - 2 g, where each edge has two triangles. */
  out->genus = 1 - ((int64_t)out->fine.point_count - (int64_t)out->fine.triangle_count / 2) / 2;
done:
  free(value);
  if (status != ABUT_SUCCESS) {
    zero_set_free(out);
  }
  return status;
}

abut_status zero_set_create(const field_of *f, const box *b, zero_set *out)
{
  zero_set finer;
  *out = (zero_set){0};
  TRY(check_box(b));
  TRY(march(f, b, COARSE, out));
  const abut_status status = march(f, b, 2.0 * COARSE, &finer);
  if (status == ABUT_SUCCESS && finer.genus != out->genus) {
    zero_set_free(out);
    *out = finer;
    return ABUT_SUCCESS;
  }
  zero_set_free(status == ABUT_SUCCESS ? &finer : out);
  return status;
}

void zero_set_free(zero_set *z)
{
  surface_free(&z->fine);
}
