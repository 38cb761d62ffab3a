#include "view/render/marks.h"

#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>

#define BALL 0.085 /* relative to an arrow's length */
#define SHAFT 0.032
#define HEAD_FROM 0.68
#define HEAD 0.10
#define SIDE 3      /* rays along a side of a pixel */
#define BAND 32     /* rows drawn at a time */
#define FAINT 0.55f /* opacity of a mark behind a body */
#define BIAS 0.002  /* of the scene's size: a mark this little inside is still in front */

void bound_mark(const mark *m, v3 *centre, double *radius)
{
  *centre = v3_along(m->point, m->normal, 0.5 * m->length);
  *radius = 0.6 * m->length;
}

static double meet_ball(const mark *m, v3 eye, v3 ray, v3 *normal)
{
  const double r = BALL * m->length;
  const v3 o = v3_sub(eye, m->point);
  const double b = v3_dot(o, ray);
  const v3 nearest = v3_along(o, ray, -b);
  const double rest = r * r - v3_dot(nearest, nearest);
  if (rest < 0.0) {
    return HUGE_VAL;
  }
  const double t = -b - sqrt(rest);
  *normal = v3_scale(v3_along(o, ray, t), 1.0 / r);
  return t > 0.0 ? t : HUGE_VAL;
}

/* Intersects a ray with a solid of revolution around the mark's normal: radius + slope z for z in
 * [low, high]. */
static double meet_side(const mark *m, v3 eye, v3 ray, double low, double high, double radius,
                        double slope, v3 *normal)
{
  const v3 n = m->normal, o = v3_sub(eye, m->point);
  const double oz = v3_dot(o, n), dz = v3_dot(ray, n);
  const v3 of = v3_along(o, n, -oz), df = v3_along(ray, n, -dz);
  const double r0 = radius + slope * oz, r1 = slope * dz;
  const double a = v3_dot(df, df) - r1 * r1, b = v3_dot(of, df) - r0 * r1;
  const double c = v3_dot(of, of) - r0 * r0, rest = b * b - a * c;
  if (rest < 0.0 || fabs(a) < 1e-12) {
    return HUGE_VAL;
  }
  double best = HUGE_VAL;
  for (int side = -1; side <= 1; side += 2) {
    const double t = (-b + side * sqrt(rest)) / a, z = oz + t * dz;
    if (t > 0.0 && t < best && z >= low && z <= high) {
      best = t;
      *normal = v3_unit(v3_along(v3_along(of, df, t), n, -slope * (radius + slope * z)));
    }
  }
  return best;
}

static double meet_base(const mark *m, v3 eye, v3 ray, v3 *normal)
{
  const v3 base = v3_along(m->point, m->normal, HEAD_FROM * m->length);
  const double towards = v3_dot(ray, m->normal);
  if (towards < 1e-12) {
    return HUGE_VAL; /* seen from above: the cone's side hides it */
  }
  const double t = v3_dot(v3_sub(base, eye), m->normal) / towards;
  const v3 off = v3_sub(v3_along(eye, ray, t), base);
  *normal = v3_scale(m->normal, -1.0);
  return t > 0.0 && v3_dot(off, off) <= HEAD * m->length * HEAD * m->length ? t : HUGE_VAL;
}

double meet_mark(const mark *m, v3 eye, v3 ray, v3 *normal)
{
  double best = meet_ball(m, eye, ray, normal);
  if (!(v3_dot(m->normal, m->normal) > 0.5)) {
    return best;
  }
  const double length = m->length, from = HEAD_FROM * length;
  const double slope = -HEAD / (1.0 - HEAD_FROM);
  v3 n[3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  const double t[3] = {meet_side(m, eye, ray, 0.0, from, SHAFT * length, 0.0, &n[0]),
                       meet_side(m, eye, ray, from, length, -slope * length, slope, &n[1]),
                       meet_base(m, eye, ray, &n[2])};
  for (int i = 0; i < 3; ++i) {
    if (t[i] < best) {
      best = t[i];
      *normal = n[i];
    }
  }
  return best;
}

/* For one ray, the nearest mark in front of the bodies, and the nearest behind. */
typedef struct layers {
  float depth[2];
  uint32_t mark[2]; /* its index + 1, 0 for none */
  float normal[2][3];
} layers;

typedef struct band {
  size_t first, rows; /* in pixels */
  layers *at;         /* (rows SIDE, width SIDE) */
} band;

static place place_of(size_t column, size_t row)
{
  return (place){((float)column + 0.5f) / SIDE, ((float)row + 0.5f) / SIDE};
}

static void put_ray(const canvas *c, const scene *s, const mark *m, uint32_t number, size_t column,
                    size_t row, layers *to)
{
  const place at = place_of(column, row);
  v3 n = {0.0, 0.0, 0.0};
  const v3 ray = camera_ray(&s->camera, at.x, at.y);
  const double t = meet_mark(m, s->camera.eye, ray, &n);
  if (!(t < HUGE_VAL)) {
    return;
  }
  const double surface = (double)c->centre[row / SIDE * c->width + column / SIDE].depth;
  const int behind = t > surface + BIAS * s->size;
  if ((float)t < to->depth[behind]) {
    to->depth[behind] = (float)t;
    to->mark[behind] = number + 1;
    to->normal[behind][0] = (float)n.x;
    to->normal[behind][1] = (float)n.y;
    to->normal[behind][2] = (float)n.z;
  }
}

/* Draws the part of a mark that is in the band. */
static void put_mark(const canvas *c, const scene *s, const mark *m, uint32_t number, const band *b)
{
  v3 centre;
  double radius, x, y, depth;
  bound_mark(m, &centre, &radius);
  if (!camera_project(&s->camera, centre, &x, &y, &depth) || !(depth > 1.5 * radius)) {
    return;
  }
  const double reach = radius / ((depth - radius) * s->camera.scale) + 1.0;
  const double top = (double)b->first, bottom = (double)(b->first + b->rows);
  if (!(y + reach > top && y - reach < bottom && x + reach > 0.0 && x - reach < c->width)) {
    return;
  }
  const size_t row0 = (size_t)(SIDE * fmax(y - reach, top));
  const size_t row1 = (size_t)(SIDE * fmin(y + reach, bottom));
  const size_t column0 = (size_t)(SIDE * fmax(x - reach, 0.0));
  const size_t column1 = (size_t)(SIDE * fmin(x + reach, c->width));
  const size_t width = (size_t)c->width * SIDE;
  for (size_t row = row0; row < row1; ++row) {
    for (size_t column = column0; column < column1; ++column) {
      put_ray(c, s, m, number, column, row, &b->at[(row - b->first * SIDE) * width + column]);
    }
  }
}

/* Blends one ray's marks over the body's colour. */
static colour blend_ray(const scene *s, const mark *marks, const layers *l, place at, colour under)
{
  for (int behind = 1; behind >= 0; --behind) {
    if (l->mark[behind]) {
      const float *n = l->normal[behind];
      const v3 normal = {(double)n[0], (double)n[1], (double)n[2]};
      const colour lit = shade_matt(&s->camera, marks[l->mark[behind] - 1].paint, normal,
                                    camera_ray(&s->camera, at.x, at.y), 1.0f);
      under = colour_mix(under, lit, behind ? FAINT : 1.0f);
    }
  }
  return under;
}

static void blend_band(canvas *c, const scene *s, const mark *marks, const band *b)
{
  const size_t width = (size_t)c->width * SIDE;
  for (size_t y = 0; y < b->rows; ++y) {
    for (size_t x = 0; x < c->width; ++x) {
      colour *to = &c->light[(b->first + y) * c->width + x];
      const colour under = *to;
      colour sum = {0.0f, 0.0f, 0.0f};
      for (size_t k = 0; k < SIDE * SIDE; ++k) {
        const size_t column = x * SIDE + k % SIDE, row = y * SIDE + k / SIDE;
        const colour one = blend_ray(s, marks, &b->at[row * width + column],
                                     place_of(column, row + b->first * SIDE), under);
        sum = (colour){sum.r + one.r, sum.g + one.g, sum.b + one.b};
      }
      *to = (colour){sum.r / (SIDE * SIDE), sum.g / (SIDE * SIDE), sum.b / (SIDE * SIDE)};
    }
  }
}

abut_status draw_marks(canvas *c, const scene *s, const mark *marks, size_t count)
{
  void *memory = NULL;
  const size_t rays = (size_t)c->width * SIDE * BAND * SIDE;
  TRY(allocate(&memory, rays, sizeof(layers)));
  band b = {0, 0, memory};
  for (; b.first < c->height; b.first += BAND) {
    b.rows = c->height - b.first < BAND ? c->height - b.first : BAND;
    for (size_t i = 0; i < rays; ++i) {
      b.at[i] = (layers){{HUGE_VALF, HUGE_VALF}, {0, 0}, {{0.0f}}};
    }
    for (size_t i = 0; i < count; ++i) {
      put_mark(c, s, &marks[i], (uint32_t)i, &b);
    }
    blend_band(c, s, marks, &b);
  }
  free(b.at);
  return ABUT_SUCCESS;
}
