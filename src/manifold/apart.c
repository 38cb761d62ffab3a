#include "manifold/apart.h"

#include "manifold/active.h"
#include <math.h>


#define EDGES_MOST 64   /* of which each is looked at, instead of balls around vertices */
#define BOX_SIDES 6
#define STRAIGHT 1e-9   /* how far the cosines of a box's normals are from 0 and 1 at most */
#define ON_A_SIDE 1e-9  /* how far from a side an edge lies, in the body's diagonal */

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* How far x is beyond the plane, whose row is a normal of any length and a point. */
static double beyond(const double plane[6], const double x[3])
{
  const double *n = plane, *at = plane + 3;
  return (n[0] * (x[0] - at[0]) + n[1] * (x[1] - at[1]) + n[2] * (x[2] - at[2])) / sqrt(dot(n, n));
}

/* Returns half the shortest side of a box, given as six planes, or 0 where they are no box's: each plane must have
 * one that is opposite, and be square to the other four. */
static double half_of_box(const double *planes)
{
  double least = HUGE_VAL;
  for (size_t i = 0; i < BOX_SIDES; ++i) {
    const double *own = planes + 6 * i;
    size_t square = 0, opposite = 0;
    for (size_t k = 0; k < BOX_SIDES; ++k) {
      const double *other = planes + 6 * k;
      const double cosine = dot(own, other) / sqrt(dot(own, own) * dot(other, other));
      square += fabs(cosine) <= STRAIGHT;
      if (cosine <= STRAIGHT - 1.0) {
        ++opposite;
        least = fmin(least, -0.5 * beyond(own, other + 3));
      }
    }
    if (square != 4 || opposite != 1) {
      return 0.0;
    }
  }
  return fmax(least, 0.0);
}

/* Says whether every edge lies on a side of the box, so that the field is not below 0 anywhere along it. */
static bool edges_on_sides(const body *b, const double *planes)
{
  const double near = ON_A_SIDE * b->info.diagonal;
  for (size_t i = 0; i < b->info.edges; ++i) {
    const double *from = b->vertices + 3 * (size_t)b->edges[2 * i];
    const double *to = b->vertices + 3 * (size_t)b->edges[2 * i + 1];
    bool on = false;
    for (size_t k = 0; k < BOX_SIDES; ++k) {
      on |= fabs(beyond(planes + 6 * k, from)) <= near && fabs(beyond(planes + 6 * k, to)) <= near;
    }
    if (!on) {
      return false;
    }
  }
  return true;
}

/* The field is at most -deep in the box that is smaller by `inset`, as it exceeds the distance to the farthest side
 * by at most plane ln 6. From a point of an edge, where it is at least 0, that box is at most sqrt(3) inset away, and
 * what an edge overshoots its end. A convex function falls from the one to the other no faster than its slope at
 * the edge. */
double least_slope(const body *b, const abut_smoothing *s)
{
  const abut_body_info *info = &b->info;
  const body_parts *field = b->whole ? &b->whole->parts : &b->parts;
  const bool one = info->primitives == 1 && info->polyhedra == 1 && info->planes == BOX_SIDES;
  if (!one || !info->edges || info->edges > EDGES_MOST ||
      field->polyhedra[0].operation != ABUT_ADD) {
    return 0.0;
  }
  const double inset = half_of_box(field->planes), deep = inset - s->plane * log(BOX_SIDES);
  const double over = edge_overshoot(s, 0.0) * b->info.diagonal;
  return deep > 0.0 && edges_on_sides(b, field->planes) ? deep / (sqrt(3.0) * inset + over) : 0.0;
}

/* Say R is the least distance of the body's edges from the other body, in penetrations as all lengths here. A point
 * of the body's own edges has an activity of at most exp(-R).
 *
 * A point of the other one's edge has an activity of at most exp(-u), u its distance in the body's field, where u > 0,
 * and of at most exp(-2 (R - 1.5 - ln(3)/4 - agree d)), as the body's edge lies no deeper than -R, less what the soft
 * least of three depths takes off. It claims the distance d, the gap times the sign of the cosine between gap and
 * normal, which makes at most 1 / sign of that cosine. The field is convex and at least 0 at the edge, so that
 * the gap times the cosine is at most u / slope: d <= u / (slope sign). Where u <= 0 it claims no distance above 0. */
double edges_apart(const pair *p, int side, double cutoff)
{
  const abut_smoothing *s = &p->smoothing;
  const double slope = p->least_slope[side];
  if (!(slope > 0.0 && s->agree > 0.0 && cutoff > 0.0)) {
    return 0.0;
  }
  const double steps = log(1.0 / cutoff), claims = s->agree / (slope * s->sign); /* agree d is claims u at most */
  return s->penetration * fmax(steps, 1.5 + 0.25 * log(3.0) + (claims + 0.5) * steps);
}
