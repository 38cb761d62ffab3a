/* Computes the thickness of a body, which is twice the greatest depth inside, by its field.
 *
 * Rays go inwards from points of the surface, against the field's normal. The middle of each ray's
 * interval in the body is also centred in the perpendicular directions. Its depth is the distance
 * to the nearest point where a ray leaves the body. The largest depth is used. The field's own
 * distance is unsuitable: for a superquadric, it is measured along the ray from the centre, which
 * is half the length of a long thin one. For a grid, it is rounded off where the nearest face
 * changes. For a union, it is that of one primitive. The host runs the kernels at a bounded number
 * of points, because transfers to a device would take longer. */
#include "body/body.h"
#include "engine/device/host_path.h"
#include "geometry/layout.h"
#include <abut/manifold.h>
#include <math.h>
#include <string.h>

typedef double real; /* for the list's struct; unused here */
#include "geometry/coefficients.h"

#define COEFFICIENT_COUNTED(name, value) +1
#define COEFFICIENT_COUNT (0 COEFFICIENTS(COEFFICIENT_COUNTED))

#define WORK 250000.0 /* approximate limit on the terms of all evaluated fields */
#define FIRST_MOST 32 /* rays inwards */
#define FIRST_LEAST 8
#define BEST_MOST 4   /* middles that are examined in all directions */
#define BEST_COST 5   /* cost of one of them, in first rays */
#define RAY_POINTS 48 /* approximate field evaluations per first ray */
#define ENTRIES 16    /* doubling steps to get inside */
#define ENTRY 1e-4    /* the first step, as a share of the box's diagonal */
#define STEPS 64      /* along a ray, until it is outside */
#define STEP_LEAST 1e-3
#define CROSSING_STEPS 40
#define ROUNDING 1e-5 /* relative to the distance */
#define CENTRINGS 1
#define DESCENTS 3       /* steps along the normal to the nearest point of the surface */
#define UNION_SHARE 1e-5 /* of the diagonal: practically no blending */

/* A probe evaluates the field of one body. */
typedef struct probe {
  const body *of;
  double far; /* longest ray [m] */
  union {
    float f32[COEFFICIENT_COUNT];
    double f64[COEFFICIENT_COUNT];
  } coefficients;
} probe;

/* A point inside and a bound on its depth. */
typedef struct middle {
  double at[3];
  double frame[3][3]; /* first axis: the ray that found it */
  double depth;       /* upper bound [m] */
} middle;

static void set_coefficients(probe *p)
{
  abut_smoothing all = abut_default_smoothing();
  const abut_smoothing *s = &all;
  all.union_ = all.plane = fmax(UNION_SHARE * p->of->info.diagonal, 1e-6);
#define COEFFICIENT_VALUE(name, value) value,
  const double values[] = {COEFFICIENTS(COEFFICIENT_VALUE)};
#undef COEFFICIENT_VALUE
  for (size_t i = 0; i < COEFFICIENT_COUNT; ++i) {
    if (p->of->shape.size == sizeof(double)) {
      p->coefficients.f64[i] = values[i];
    } else {
      p->coefficients.f32[i] = (float)values[i];
    }
  }
}

/* Returns the depth of a point. Gives the outward normal unless it is NULL. */
static double depth_at(probe *p, const double x[3], double normal[3])
{
  const kernel_id kernel = normal ? KERNEL_QUERY_FIELD : KERNEL_QUERY_DISTANCE;
  const body *b = p->of;
  const host_argument rest[] = {{.integer = 1}, {.pointer = b->head}, {.pointer = b->shape.data}};
  if (b->shape.size == sizeof(double)) {
    double point[3] = {x[0], x[1], x[2]}, out[4] = {0.0};
    const host_argument a[] = {
      {.pointer = point}, rest[0], rest[1], rest[2], {.pointer = p->coefficients.f64},
      {.pointer = out}};
    host_launch_f64(kernel, 1, 1, a);
    for (size_t k = 0; normal && k < 3; ++k) {
      normal[k] = out[1 + k];
    }
    return -out[0];
  }
  float point[3] = {(float)x[0], (float)x[1], (float)x[2]}, out[4] = {0.0f};
  const host_argument a[] = {
    {.pointer = point}, rest[0], rest[1], rest[2], {.pointer = p->coefficients.f32},
    {.pointer = out}};
  host_launch_f32(kernel, 1, 1, a);
  for (size_t k = 0; normal && k < 3; ++k) {
    normal[k] = (double)out[1 + k];
  }
  return -(double)out[0];
}

static void go(const double from[3], const double along[3], double way, double to[3])
{
  for (size_t k = 0; k < 3; ++k) {
    to[k] = from[k] + way * along[k];
  }
}

static double depth_along(probe *p, const double from[3], const double along[3], double way)
{
  double x[3];
  go(from, along, way, x);
  return depth_at(p, x, NULL);
}

/* Finds the intersection of a ray with the surface between distances inside and outside, by false
 * position. The weight of a retained end is halved (Illinois). If this does not halve the bracket,
 * bisection does. */
static double crossing(probe *p, const double from[3], const double along[3], double in,
                       double in_depth, double out, double out_depth)
{
  const double end = ROUNDING * out;
  bool halve = false;
  int kept = 0;
  for (size_t i = 0; i < CROSSING_STEPS && out - in > end; ++i) {
    const double size = out - in, share = in_depth / (in_depth - out_depth);
    const double at = in + size * (halve ? 0.5 : fmin(fmax(share, 0.01), 0.99));
    const double d = depth_along(p, from, along, at);
    if (d > 0.0) {
      in = at;
      in_depth = d;
      out_depth *= kept == 1 ? 0.5 : 1.0;
      kept = 1;
    } else {
      out = at;
      out_depth = d;
      in_depth *= kept == -1 ? 0.5 : 1.0;
      kept = -1;
    }
    halve = out - in > 0.5 * size;
  }
  return 0.5 * (in + out);
}

/* Returns the distance along a ray from an inside point until it leaves the body, at most `most`.
 * If a ray grazes a face, the steps may not suffice; then returns the distance for which the ray is
 * known to be inside. */
static double way_out(probe *p, const double from[3], double depth, const double along[3],
                      double most)
{
  double in = 0.0, in_depth = depth;
  for (size_t i = 0; i < STEPS && in < most; ++i) {
    const double at = fmin(in + fmax(in_depth, STEP_LEAST * most), most);
    const double d = depth_along(p, from, along, at);
    if (!(d > 0.0)) {
      return crossing(p, from, along, in, in_depth, at, d);
    }
    in = at;
    in_depth = d;
  }
  return in;
}

/* Moves a point to the middle of the body along a line. Returns half the line's length inside. */
static double centre(probe *p, double x[3], double *depth, const double along[3])
{
  const double back[3] = {-along[0], -along[1], -along[2]};
  const double before = way_out(p, x, *depth, along, p->far);
  const double behind = way_out(p, x, *depth, back, p->far);
  double to[3];
  go(x, along, 0.5 * (before - behind), to);
  const double d = depth_at(p, to, NULL);
  if (d > 0.0) {
    memcpy(x, to, sizeof to);
    *depth = d;
  }
  return 0.5 * (before + behind);
}

/* Finds two unit directions perpendicular to a third. */
static void across(const double n[3], double u[3], double v[3])
{
  const size_t least = fabs(n[0]) <= fabs(n[1]) ? (fabs(n[0]) <= fabs(n[2]) ? 0 : 2)
                                                : (fabs(n[1]) <= fabs(n[2]) ? 1 : 2);
  const size_t i = (least + 1) % 3, j = (least + 2) % 3;
  const double size = hypot(n[i], n[j]);
  u[least] = 0.0;
  u[i] = -n[j] / size;
  u[j] = n[i] / size;
  for (size_t k = 0; k < 3; ++k) {
    v[k] = n[(k + 1) % 3] * u[(k + 2) % 3] - n[(k + 2) % 3] * u[(k + 1) % 3];
  }
}

/* Moves from a point near the surface to the middle of the body; false if there is no inside. */
static bool find_middle(probe *p, const double from[3], middle *m)
{
  double normal[3], way = ENTRY * p->far, depth = depth_at(p, from, normal);
  if (!(fabs(normal[0]) + fabs(normal[1]) + fabs(normal[2]) > 0.5)) {
    return false;
  }
  memcpy(m->at, from, sizeof m->at);
  for (size_t k = 0; k < 3; ++k) {
    m->frame[0][k] = -normal[k];
  }
  across(m->frame[0], m->frame[1], m->frame[2]);
  for (size_t i = 0; i < ENTRIES && !(depth > 0.0); ++i, way *= 2.0) {
    go(from, m->frame[0], way, m->at);
    depth = depth_at(p, m->at, NULL);
  }
  if (!(depth > 0.0)) {
    return false;
  }
  m->depth = HUGE_VAL;
  for (size_t i = 0; i < 3; ++i) {
    m->depth = fmin(m->depth, centre(p, m->at, &depth, m->frame[i]));
  }
  return true;
}

/* Finds the ray with the shortest way out, among the axes of a frame and the diagonals between
 * them. */
static double nearest_way_out(probe *p, const double x[3], double depth, const double frame[3][3],
                              double most, double best[3])
{
  for (int i = 0; i < 27; ++i) {
    const int a = i / 9 - 1, b = i / 3 % 3 - 1, c = i % 3 - 1;
    const double size = sqrt((double)(a * a + b * b + c * c));
    double along[3];
    for (size_t k = 0; size > 0.0 && k < 3; ++k) {
      along[k] = (a * frame[0][k] + b * frame[1][k] + c * frame[2][k]) / size;
    }
    const double way = size > 0.0 ? way_out(p, x, depth, along, most) : most;
    if (way < most) {
      most = way;
      memcpy(best, along, sizeof along);
    }
  }
  return most;
}

/* Returns the depth of a middle in all directions, and gives its improved position. */
static double deepest_near(probe *p, const middle *m, double x[3])
{
  double best[3], end[3], normal[3];
  memcpy(x, m->at, sizeof m->at);
  double depth = depth_at(p, x, NULL);
  for (size_t i = 0; i < 3 * CENTRINGS; ++i) {
    centre(p, x, &depth, m->frame[i % 3]);
  }
  depth = depth_at(p, x, best);
  double most = way_out(p, x, depth, best, p->far);
  most = nearest_way_out(p, x, depth, m->frame, most, best);
  for (size_t i = 0; i < DESCENTS; ++i) {
    go(x, best, most, end);
    depth_at(p, end, normal);
    const double way = way_out(p, x, depth, normal, most);
    if (way < most) {
      most = way;
      memcpy(best, normal, sizeof best);
    }
  }
  return most;
}

/* Keeps the deepest middles in order; the first of equal ones is preferred. */
static void keep(middle *best, size_t *count, size_t most, const middle *m)
{
  size_t at = *count < most ? (*count)++ : most;
  if (at == most && !(m->depth > best[most - 1].depth)) {
    return;
  }
  at = at == most ? most - 1 : at;
  for (; at > 0 && best[at - 1].depth < m->depth; --at) {
    best[at] = best[at - 1];
  }
  best[at] = *m;
}

/* Gives the middle of an edge, or a vertex if the body has no edges. */
static void surface_place(const body *b, size_t i, double x[3])
{
  for (size_t k = 0; k < 3; ++k) {
    x[k] = b->info.edges ? 0.5 * (b->vertices[3 * (size_t)b->edges[2 * i] + k] +
                                  b->vertices[3 * (size_t)b->edges[2 * i + 1] + k])
                         : b->vertices[3 * i + k];
  }
}

static size_t within(double x, size_t least, size_t most)
{
  return x < (double)least ? least : x > (double)most ? most : (size_t)x;
}

double body_thickness(const body *b, double inside[4])
{
  memset(inside, 0, 4 * sizeof *inside);
  probe p = {.of = b, .far = b->info.diagonal};
  if (!(p.far > 0.0)) {
    return 0.0;
  }
  set_coefficients(&p);
  const double terms = 4.0 * (double)(b->info.superquadrics + b->info.grids +
                                      b->info.height_fields + b->info.cores + 1) +
                       (double)b->info.planes + 2.0 * (double)b->info.points;
  const double rays = WORK / (terms * RAY_POINTS);
  const size_t places = b->info.edges ? b->info.edges : b->info.vertices;
  const size_t first = within(0.5 * rays, FIRST_LEAST, FIRST_MOST < places ? FIRST_MOST : places);
  const size_t most = within(0.5 * rays / BEST_COST, 1, BEST_MOST);
  middle best[BEST_MOST], m;
  size_t count = 0;
  double x[3], depth = 0.0;
  for (size_t i = 0; i < first; ++i) {
    surface_place(b, (2 * i + 1) * places / (2 * first), x);
    if (find_middle(&p, x, &m)) {
      keep(best, &count, most, &m);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const double found = deepest_near(&p, &best[i], x);
    if (found > depth) {
      depth = found;
      memcpy(inside, x, sizeof x);
      inside[3] = fmin(found, depth_at(&p, x, NULL)); /* rays may miss the nearest way out */
    }
  }
  return fmin(2.0 * depth, p.far);
}
