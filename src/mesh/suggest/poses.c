/* Random poses in which two bodies overlap by the wanted depth. */
#include "mesh/suggest/finder.h"
#include "math/random.h"
#include "mesh/inspect/field_at.h"
#include <math.h>
#include <string.h>

#define HALVINGS 11 /* bisection steps between separated and overlapping */

/* Gives a random rotation matrix by rows (Shoemake 1992). */
static void random_turn(uint64_t seed, uint64_t *at, double m[9])
{
  const double pi = 3.14159265358979323846;
  const double u = random_number(seed, (*at)++), v = 2.0 * pi * random_number(seed, (*at)++);
  const double w = 2.0 * pi * random_number(seed, (*at)++);
  const double q[4] = {sqrt(1.0 - u) * sin(v), sqrt(1.0 - u) * cos(v), sqrt(u) * sin(w),
                       sqrt(u) * cos(w)};
  const double x = q[0], y = q[1], z = q[2], s = q[3];
  const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * s),
                          2 * (x * z + y * s),     2 * (x * y + z * s),
                          1 - 2 * (x * x + z * z), 2 * (y * z - x * s),
                          2 * (x * z - y * s),     2 * (y * z + x * s),
                          1 - 2 * (x * x + y * y)};
  memcpy(m, rows, sizeof rows);
}

/* Returns the extent of a rotated mesh along a direction. */
static double reach(const side *s, const double m[9], const double along[3])
{
  double farthest = -HUGE_VAL, own[3];
  finder_turned_back(m, along, own);
  for (size_t i = 0; i < s->info.vertices; ++i) {
    farthest = fmax(farthest, dot(s->vertices + 3 * i, own));
  }
  return farthest;
}

void finder_draw(const finder *f, size_t i, pose *p)
{
  const double size = fmin(f->sides[0].info.diagonal, f->sides[1].info.diagonal),
               x[3] = {0.0, 0.0, 1.0};
  uint64_t at = 16 * (uint64_t)i;
  double turn[9], back[3];
  random_turn(f->o.seed, &at, p->turn[0]);
  random_turn(f->o.seed, &at, p->turn[1]);
  random_turn(f->o.seed, &at, turn);
  finder_turned(turn, x, p->along);
  p->depth = f->o.depth * size * random_number(f->o.seed, at);
  for (int k = 0; k < 3; ++k) {
    back[k] = -p->along[k];
  }
  p->apart = reach(&f->sides[0], p->turn[0], p->along) + reach(&f->sides[1], p->turn[1], back);
}

/* ---- fields ---- */

/* Transforms a side's points into the frame of the other body. */
static void put_places(const finder *f, int which, const pose *p, double *out)
{
  const side *s = &f->sides[which];
  const double sign = which ? 1.0 : -1.0;
  for (size_t i = 0; i < s->places; ++i) {
    double own[3], world[3];
    if (i < s->info.vertices) {
      memcpy(own, s->vertices + 3 * i, sizeof own);
    } else {
      const size_t edge = (i - s->info.vertices) / BETWEEN, n = (i - s->info.vertices) % BETWEEN;
      const double *a = s->vertices + 3 * (size_t)s->edges[2 * edge];
      const double *b = s->vertices + 3 * (size_t)s->edges[2 * edge + 1];
      const double share = (double)(n + 1) / (BETWEEN + 1);
      for (int k = 0; k < 3; ++k) {
        own[k] = a[k] + share * (b[k] - a[k]);
      }
    }
    finder_turned(p->turn[which], own, world);
    for (int k = 0; k < 3; ++k) {
      world[k] += sign * p->apart * p->along[k];
    }
    finder_turned_back(p->turn[1 - which], world, out + 3 * i);
  }
}

/* Evaluates the fields of both sides at `count` poses. */
static abut_status ask(finder *f, const pose *poses, size_t count)
{
  for (int which = 0; which < 2; ++which) {
    const field_of field = {f->sides[1 - which].body, f->smoothing->union_, f->smoothing->plane};
    const size_t places = f->sides[which].places;
    for (size_t i = 0; i < count; ++i) {
      put_places(f, which, &poses[i], f->places + 3 * i * places);
    }
    TRY(field_at_places(&field, f->places, count * places, f->field[which]));
  }
  return ABUT_SUCCESS;
}

/* Returns the largest depth of either body's points in the other body [m]; negative if the bodies
 * are separated. */
static double depth_at(const finder *f, size_t i)
{
  double least = HUGE_VAL;
  for (int which = 0; which < 2; ++which) {
    const size_t places = f->sides[which].places;
    for (size_t n = 0; n < places; ++n) {
      least = fmin(least, (double)f->field[which][i * places + n]);
    }
  }
  return -least;
}

/* Moves the bodies of a piece of the poses together until the overlap almost reaches the wanted
 * depth, without exceeding it. lower, upper: (count) [m]. */
abut_status finder_bring_together(finder *f, pose *poses, size_t count, double *lower,
                                  double *upper)
{
  for (size_t i = 0; i < count; ++i) {
    lower[i] = 0.0;
    upper[i] = poses[i].apart;
  }
  for (int h = 0; h < HALVINGS; ++h) {
    for (size_t i = 0; i < count; ++i) {
      poses[i].apart = 0.5 * (lower[i] + upper[i]);
    }
    TRY(ask(f, poses, count));
    for (size_t i = 0; i < count; ++i) {
      const bool deep = depth_at(f, i) > poses[i].depth;
      *(deep ? &lower[i] : &upper[i]) = poses[i].apart;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    poses[i].apart = upper[i];
  }
  TRY(ask(f, poses, count));
  for (size_t i = 0; i < count; ++i) {
    poses[i].collides = depth_at(f, i) > 0.0;
  }
  return ABUT_SUCCESS;
}
