/* Closes a surface, and checks the result with winding numbers.
 *
 * The generalized winding number of a surface with narrow gaps is close to an integer and
 * identifies the inside without closing. If the rim of a hole runs along several gaps, the
 * triangles that close it cross the solid. */
#include "mesh/surface/maker.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/tree.h"
#include <stdlib.h>

#define PLACES 4096 /* points in the surface's box where winding numbers are compared */
#define INSIDE 0.5  /* winding number */
/* distance to an integer within which a winding number counts as one */
#define WHOLE 0.1
#define WHOLE_LEAST 0.97 /* least share of such points for an almost closed surface */
/* largest share of inside points that may change sides when holes are closed */
#define MOVED_MOST 0.05

/* Returns number i of the van der Corput sequence. */
static double spread(size_t i, size_t base)
{
  double sum = 0.0, share = 1.0;
  for (; i; i /= base) {
    share /= (double)base;
    sum += share * (double)(i % base);
  }
  return sum;
}

/* out: (PLACES) winding numbers of the first `count` triangles. */
static abut_status wind(const surface *s, size_t count, double *out)
{
  static const size_t bases[3] = {2, 3, 5};
  tree some = {0};
  TRY(tree_create(s, NULL, count, &some));
  for (size_t i = 0; i < PLACES; ++i) {
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = s->lower[k] + spread(i + 1, bases[k]) * (s->upper[k] - s->lower[k]);
    }
    out[i] = tree_winding(&some, x);
  }
  tree_free(&some);
  return ABUT_SUCCESS;
}

static abut_status close_and_turn(maker *m)
{
  const surface_report before = *m->report;
  TRY(close_holes(m));
  if (m->s->closing_count) {
    /* Shells may share closing triangles, so nesting is determined on the whole surface. */
    TRY(find_neighbours(m));
    TRY(find_shells_again(m, &before));
  }
  return turn_shells(m);
}

/* ---- with holes left open ---- */

typedef struct outlook {
  double volume; /* [m^3] */
  uint32_t first;
  bool is_open, turns;
} outlook;

/* Turns inside-out closed shells that are not inside another shell. */
static abut_status turn_closed(maker *m)
{
  surface *s = m->s;
  void *memory = NULL;
  tree all = {0};
  TRY(allocate(&memory, m->shell_count, sizeof(outlook)));
  outlook *shells = memory;
  abut_status status = tree_create(s, NULL, s->triangle_count, &all);
  for (size_t i = s->triangle_count; i-- > 0;) {
    outlook *o = &shells[m->shell[i]];
    o->volume += volume_under(s, i, s->lower);
    o->first = (uint32_t)i;
    for (size_t k = 0; k < 3; ++k) {
      o->is_open = o->is_open || m->across[3 * i + k] >= TANGLED;
    }
  }
  for (size_t i = 0; status == ABUT_SUCCESS && i < m->shell_count; ++i) {
    outlook *o = &shells[i];
    double x[3];
    before_face(s, o->first, x);
    /* The faces of such a shell look inwards, and it has winding number -1. */
    o->turns = !o->is_open && o->volume < 0.0 && tree_winding(&all, x) < -INSIDE;
    m->report->shells_turned += o->turns;
  }
  for (size_t i = 0; i < s->triangle_count; ++i) {
    if (shells[m->shell[i]].turns) {
      turn(s, i);
    }
  }
  tree_free(&all);
  free(memory);
  return status;
}

static abut_status open_again(maker *m, snapshot *before, const surface_report *made,
                              bool inside_out)
{
  surface *s = m->s;
  surface_report *r = m->report;
  TRY(snapshot_restore(m, before));
  *r = *made;
  TRY(find_shells_again(m, made));
  s->closing_count = 0;
  r->open_edges = open_sides(m);
  r->shells_turned = inside_out ? r->shells : 0;
  for (size_t i = 0; inside_out && i < s->triangle_count; ++i) {
    turn(s, i);
  }
  return turn_closed(m);
}

/* Returns the share of inside points that are inside in only one of the two. */
static double moved_share(const double *open, const double *closed, bool either_way)
{
  size_t inside = 0, differ = 0;
  for (size_t i = 0; i < PLACES; ++i) {
    const bool within = (either_way ? fabs(open[i]) : open[i]) > INSIDE;
    const bool after = closed[i] > INSIDE;
    inside += within || after;
    differ += within != after;
  }
  return inside ? (double)differ / (double)inside : 0.0;
}

abut_status close_surface(maker *m)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  snapshot before = {0};
  const surface_report made = *m->report;
  if (!open_sides(m)) {
    return turn_shells(m);
  }
  TRY_DONE(allocate(&memory, 3 * PLACES, sizeof(double)));
  double *open = memory, *closed = open + PLACES, *turned = closed + PLACES, sum = 0.0;
  TRY_DONE(wind(m->s, m->s->triangle_count, open));
  TRY_DONE(snapshot_take(m, &before));
  TRY_DONE(close_and_turn(m));
  TRY_DONE(wind(m->s, m->s->triangle_count, closed));
  TRY_DONE(wind(m->s, m->s->triangle_count - m->s->closing_count, turned));
  const double doubt = moved_share(turned, closed, false);
  if (doubt <= MOVED_MOST) {
    goto done;
  }
  size_t whole = 0;
  for (size_t i = 0; i < PLACES; ++i) {
    whole += fabs(open[i] - round(open[i])) < WHOLE;
    sum += open[i];
  }
  const double moved = moved_share(open, closed, true);
  if (moved > MOVED_MOST && (double)whole >= WHOLE_LEAST * PLACES && fabs(sum) > 1.0) {
    TRY_DONE(open_again(m, &before, &made, sum < 0.0));
  } else {
    m->report->doubt = doubt;
  }
done:
  snapshot_free(&before);
  free(memory);
  return status;
}
