/* Closes a surface, and judges what closes it by winding numbers.
 *
 * The generalized winding number of a surface with narrow gaps is all but whole, and says where its
 * inside is without closing it. Rims of holes may run along several gaps, and what closes them then
 * crosses the solid. */
#include "mesh/surface/maker.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/tree.h"
#include <stdlib.h>

#define PLACES 4096      /* in the surface's box, at which both are asked */
#define INSIDE 0.5       /* winding number */
#define WHOLE 0.1        /* so near to a whole number it is one, */
#define WHOLE_LEAST 0.97 /* and a surface is nearly closed where it is one at so many places */
#define DIFFER_MOST 0.05 /* of the places inside may be on the other side without and with */

/* Returns the i-th number of the sequence of van der Corput. */
static double spread(size_t i, size_t base)
{
  double sum = 0.0, share = 1.0;
  for (; i; i /= base) {
    share /= (double)base;
    sum += share * (double)(i % base);
  }
  return sum;
}

/* out: (PLACES) winding numbers. */
static abut_status wind(const surface *s, double *out)
{
  static const size_t bases[3] = {2, 3, 5};
  tree all = {0};
  TRY(tree_create(s, NULL, s->triangle_count, &all));
  for (size_t i = 0; i < PLACES; ++i) {
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = s->lower[k] + spread(i + 1, bases[k]) * (s->upper[k] - s->lower[k]);
    }
    out[i] = tree_winding(&all, x);
  }
  tree_free(&all);
  return ABUT_SUCCESS;
}

static abut_status find_shells_again(maker *m)
{
  void *memory = NULL;
  const size_t shells = m->report->shells, tangled = m->report->tangled_edges;
  TRY(allocate(&memory, m->s->triangle_count, 1));
  const abut_status status = find_shells(m, memory);
  free(memory);
  m->report->shells = shells;
  m->report->tangled_edges = tangled;
  return status;
}

static abut_status close_and_turn(maker *m)
{
  TRY(close_holes(m));
  if (m->s->closing_count) {
    /* Two shells may share what closes them: who lies in whom is a question to the whole. */
    TRY(find_neighbours(m));
    TRY(find_shells_again(m));
  }
  return turn_shells(m);
}

static abut_status open_again(maker *m, const snapshot *before, bool inside_out)
{
  surface *s = m->s;
  surface_report *r = m->report;
  TRY(snapshot_restore(m, before));
  TRY(find_shells_again(m));
  s->closing_count = r->holes = r->sheets = 0;
  r->hole_share = r->hole_widest = r->sheet_widest = 0.0;
  r->open_edges = open_sides(m);
  r->shells_turned = inside_out ? r->shells : 0;
  for (size_t i = 0; inside_out && i < s->triangle_count; ++i) {
    turn(s, i);
  }
  return ABUT_SUCCESS;
}

abut_status close_surface(maker *m)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  snapshot before = {0};
  if (!open_sides(m)) {
    return turn_shells(m);
  }
  TRY_DONE(allocate(&memory, 2 * PLACES, sizeof(double)));
  double *open = memory, *closed = open + PLACES, sum = 0.0;
  TRY_DONE(wind(m->s, open));
  TRY_DONE(snapshot_take(m, &before));
  TRY_DONE(close_and_turn(m));
  TRY_DONE(wind(m->s, closed));
  size_t whole = 0, inside = 0, differ = 0;
  for (size_t i = 0; i < PLACES; ++i) {
    const bool within = fabs(open[i]) > INSIDE, after = closed[i] > INSIDE;
    whole += fabs(open[i] - round(open[i])) < WHOLE;
    inside += within || after;
    differ += within != after;
    sum += open[i];
  }
  const bool moved = (double)differ > DIFFER_MOST * (double)inside;
  if (moved && (double)whole >= WHOLE_LEAST * PLACES && fabs(sum) > 1.0) {
    TRY_DONE(open_again(m, &before, sum < 0.0));
  } else if (moved) {
    m->report->doubt = (double)differ / (double)inside;
  }
done:
  snapshot_free(&before);
  free(memory);
  return status;
}
