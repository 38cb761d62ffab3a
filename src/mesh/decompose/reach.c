/* What is taken away reaches out of the mesh. The objective sees the sign of a field and how fast
 * it changes at the surface, so that a bore's primitive may end just beyond the bore's mouth. There
 * its own field is near 0, and so is the body's, though its surface is far: a bolt that has room on
 * all sides would touch. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include "math/vector.h"
#include <stdlib.h>

#define LEVELS 4
/* of the diagonal, by which an end is moved in the first level, and in all twice as far in each
 * further one */
#define REACH (1.0 / 32.0)
/* of the mesh's volume, that may be on another side of the surface than before */
#define CHANGED 0.002

/* How many ends an entry of a set has: a superquadric two of each axis, a part of a polyhedron its
 * planes. */
static size_t ends_of(const primitive *p)
{
  return p->parts ? PLANES_EACH : 6;
}

/* Moves a plane out. Returns whether there is one, and it may. */
static bool move_plane(primitive *p, size_t end, double by)
{
  double *plane = p->planes[end];
  if (!(dot(plane, plane) > 0.0) || plane[3] + by > OFFSET_HIGH) {
    return false;
  }
  plane[3] += by;
  return true;
}

/* Moves an end of an entry out, of a superquadric that of its axis end / 2, and leaves the other
 * one where it is. Returns whether it may go so far. */
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

/* Which samples a body has within. */
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

/* Moves all ends as far as they may go, each a little before any goes farther. Neither the volume
 * nor the objective may change by more than that. */
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
