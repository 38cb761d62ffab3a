/* Extends subtracted primitives out of the mesh. The objective measures the sign of a field and its
 * rate of change at the surface, so the primitive of a bore may end just beyond the bore's mouth.
 * There the fields of the primitive and of the body are near 0, though the surface is far: a bolt
 * with clearance on all sides would touch. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include "math/vector.h"
#include <stdlib.h>

#define LEVELS 4
/* share of the diagonal by which an end moves in the first level; each further level doubles the
 * total */
#define REACH (1.0 / 32.0)
/* share of the mesh's volume that may change sides */
#define CHANGED 0.002

/* Number of ends of an entry: two per axis for a superquadric, one per plane for a part of a
 * polyhedron. */
static size_t ends_of(const primitive *p)
{
  return p->parts ? PLANES_EACH : 6;
}

/* Moves a plane outwards. Returns whether it exists and may move. */
static bool move_plane(primitive *p, size_t end, double by)
{
  double *plane = p->planes[end];
  if (!(dot(plane, plane) > 0.0) || plane[3] + by > OFFSET_HIGH) {
    return false;
  }
  plane[3] += by;
  return true;
}

/* Moves an end outwards and leaves the opposite end in place. For a superquadric, it is an end of
 * axis end / 2. Returns whether the move is allowed. */
static bool stretch_end(primitive *p, size_t end, double by)
{
  const size_t k = end / 2;
  if (p->parts) {
    return move_plane(p, end, by);
  }
  if (p->axes[k] + 0.5 * by > AXIS_HIGH) {
    return false;
  }
  p->axes[k] += 0.5 * by;
  for (size_t i = 0; i < 3; ++i) {
    p->centre[i] += (end % 2 ? -0.5 : 0.5) * by * p->turn[3 * i + k];
  }
  return true;
}

/* Finds the samples inside a body. */
static abut_status look_within(decomposition *d, const primitives *p, unsigned char *within)
{
  TRY(fit_look(&d->fit, &d->fine, p, FINAL_WIDTH));
  TRY(fit_unions(&d->fit, &d->fine));
  for (size_t i = 0; i < d->fine.count; ++i) {
    within[i] = reals_get(&d->fit.numbers, i) <= 0.0;
  }
  return ABUT_SUCCESS;
}

static double changed_volume(const sample_set *s, const unsigned char *before,
                             const unsigned char *after)
{
  double sum = 0.0;
  for (size_t i = 0; i < s->count; ++i) {
    sum += before[i] != after[i] ? s->volume[i] : 0.0;
  }
  return sum;
}

/* Moves all ends as far as allowed, in turn and in small steps. The changes of the volume and of
 * the objective are limited. */
static abut_status stretch(decomposition *d, primitives *p, const unsigned char *before,
                           unsigned char *after, double most, double most_loss)
{
  bool stopped[DECOMPOSE_MOST][6] = {{false}};
  for (int level = 0; level < LEVELS; ++level) {
    const double by = REACH * (level ? 1 << (level - 1) : 1);
    for (size_t i = 0; i < 6 * p->count; ++i) {
      const size_t l = i / 6, end = i % 6;
      const primitive kept = p->at[l];
      if (!kept.away || end >= ends_of(&kept) || stopped[l][end] ||
          !stretch_end(&p->at[l], end, by)) {
        continue;
      }
      TRY(look_within(d, p, after));
      if (changed_volume(&d->fine, before, after) > most ||
          fit_loss(&d->fit, &d->fine) > most_loss) {
        p->at[l] = kept;
        stopped[l][end] = true;
      }
    }
  }
  return ABUT_SUCCESS;
}

abut_status reach_out(decomposition *d, primitives *p, double most_loss)
{
  const sample_set *s = &d->fine;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  double mesh = 0.0;
  TRY(allocate(&memory, s->count, 2));
  unsigned char *before = memory;
  for (size_t i = 0; i < s->count; ++i) {
    mesh += s->distance[i] <= 0.0 ? s->volume[i] : 0.0;
  }
  TRY_DONE(look_within(d, p, before));
  TRY_DONE(stretch(d, p, before, before + s->count, CHANGED * mesh, most_loss));
done:
  free(memory);
  return status;
}
