/* Bounds on points x below planes, n_i . x <= b_i, along a direction c.
 *
 * Any weights y_i >= 0 with sum y_i n_i = c give a bound: c . x = sum y_i (n_i . x) <= sum y_i b_i
 * (weak duality). So the search for weights only affects how tight a bound is, and a search that
 * ends early gives a looser one.
 *
 * The search is the dual simplex method. It begins far away, at the corner of three artificial
 * planes, perpendicular to c and both other axes. Each pivot adds the plane that is violated most,
 * and removes the first plane whose weight would become negative. Zero weights could cause cycles,
 * so c is perturbed infinitesimally towards the other axes: ties are broken by the weights of c's
 * second and third axis. */
#include "body/family/planes_box.h"

#include "body/family/parts.h"
#include "geometry/layout.h"
#include "math/vector.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define NOT_THERE SIZE_MAX
#define FAR 1e7         /* distance of the artificial planes, relative to the others */
#define NOTHING 1e-12   /* rounding errors of zero weights */
#define VIOLATED 1e-11  /* least violation, relative to the distances of points and planes */
#define PIVOTS_MOST 200 /* about twenty are needed */
#define RESIDUAL_MOST 1e-6
/* of |x| + |d|: rounding of n . x - d at the middle of six vertices */
#define ROUNDED (32.0 * DBL_EPSILON)

typedef struct plane {
  double n[3], b;
} plane;

/* A vertex of three planes, and the inverse that maps distances of planes to it, by columns. */
typedef struct basis {
  plane planes[3];
  size_t numbers[3]; /* index in the polyhedron, or NOT_THERE */
  double columns[3][3];
  double x[3];
} basis;

/* The axes of a search: its direction, and the two for ties. */
typedef struct directions {
  double axis[3][3];
} directions;

/* A bound on c . x, up to residual |x|, where |x| is the maximum norm. */
typedef struct support {
  double bound, residual, x[3];
} support;

static double largest(const double x[3])
{
  return fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2])));
}

static plane plane_at(const plane_set *p, size_t i, double reach)
{
  const size_t at = p->first + i * PLANE_STRIDE;
  plane one;
  for (size_t k = 0; k < 3; ++k) {
    one.n[k] = packed_number(p->of, at + k);
  }
  one.b = packed_number(p->of, at + 3) + reach;
  return one;
}

/* Returns whether the three planes have a vertex. */
static bool solve(basis *v)
{
  for (int j = 0; j < 3; ++j) {
    cross(v->planes[(j + 1) % 3].n, v->planes[(j + 2) % 3].n, v->columns[j]);
  }
  const double volume = dot(v->planes[0].n, v->columns[0]);
  if (!(fabs(volume) > DBL_MIN)) {
    return false;
  }
  memset(v->x, 0, sizeof v->x);
  for (int j = 0; j < 3; ++j) {
    for (int k = 0; k < 3; ++k) {
      v->columns[j][k] /= volume;
      v->x[k] += v->columns[j][k] * v->planes[j].b;
    }
  }
  return true;
}

/* Returns the plane farthest below x, or NOT_THERE if no violation is significant. */
static size_t most_violated(const plane_set *p, double reach, const basis *v, double scale)
{
  size_t which = NOT_THERE;
  double most = VIOLATED * (largest(v->x) + scale);
  for (size_t i = 0; i < p->count; ++i) {
    const plane one = plane_at(p, i, reach);
    const double above = dot(one.n, v->x) - one.b;
    const bool among = i == v->numbers[0] || i == v->numbers[1] || i == v->numbers[2];
    if (above > most && !among) {
      most = above;
      which = i;
    }
  }
  return which;
}

static double no_dust(double x)
{
  return fabs(x) > NOTHING ? x : 0.0;
}

/* Whether plane a of a vertex leaves before plane b, when the entering plane is combined from
 * theirs with the shares `by`. */
static bool leaves_before(const basis *v, const directions *c, const double by[3], int a, int b)
{
  for (int i = 0; i < 3; ++i) {
    const double of_a = no_dust(dot(c->axis[i], v->columns[a])) * by[b];
    const double of_b = no_dust(dot(c->axis[i], v->columns[b])) * by[a];
    if (of_a != of_b) {
      return of_a < of_b;
    }
  }
  return false;
}

/* Returns the plane that leaves for an entering one, or -1 if no point is below all planes. */
static int leaving(const basis *v, const directions *c, const plane *in)
{
  double by[3];
  int which = -1;
  for (int j = 0; j < 3; ++j) {
    by[j] = dot(in->n, v->columns[j]);
    if (by[j] > NOTHING && (which < 0 || leaves_before(v, c, by, j, which))) {
      which = j;
    }
  }
  return which;
}

/* The bound at a vertex, from nonnegative weights and real planes. */
static support bound_of(const basis *v, const double c[3])
{
  support s = {0};
  double left[3] = {c[0], c[1], c[2]}, size = 0.0;
  for (int j = 0; j < 3; ++j) {
    const double weight = fmax(dot(c, v->columns[j]), 0.0);
    if (v->numbers[j] != NOT_THERE) {
      s.bound += weight * v->planes[j].b;
      size += fabs(weight * v->planes[j].b);
      for (int k = 0; k < 3; ++k) {
        left[k] -= weight * v->planes[j].n[k];
      }
    }
  }
  s.bound += 8.0 * DBL_EPSILON * size;
  s.residual = fabs(left[0]) + fabs(left[1]) + fabs(left[2]) + 8.0 * DBL_EPSILON;
  memcpy(s.x, v->x, sizeof s.x);
  return s;
}

/* Finds the bound along an axis in the direction of `sign`. */
static bool find_support(const plane_set *p, double reach, int axis, double sign, double scale,
                         support *out)
{
  directions c = {{{0.0}}};
  basis v;
  for (int j = 0; j < 3; ++j) {
    c.axis[j][(axis + j) % 3] = j ? 1.0 : sign;
    memcpy(v.planes[j].n, c.axis[j], sizeof c.axis[j]);
    v.planes[j].b = FAR * scale;
    v.numbers[j] = NOT_THERE;
  }
  bool has_vertex = solve(&v);
  for (int i = 0; has_vertex && i < PIVOTS_MOST; ++i) {
    const size_t next = most_violated(p, reach, &v, scale);
    if (next == NOT_THERE) {
      break;
    }
    const plane in = plane_at(p, next, reach);
    const int out_of = leaving(&v, &c, &in);
    if (out_of < 0) {
      return false;
    }
    v.planes[out_of] = in;
    v.numbers[out_of] = next;
    has_vertex = solve(&v);
  }
  *out = has_vertex ? bound_of(&v, c.axis[0]) : (support){.residual = HUGE_VAL};
  return out->residual < RESIDUAL_MOST;
}

static double scale_of(const plane_set *p, double reach)
{
  double most = reach;
  for (size_t i = 0; i < p->count; ++i) {
    most = fmax(most, fabs(packed_number(p->of, p->first + i * PLANE_STRIDE + 3)));
  }
  return fmax(most, FLT_MIN);
}

/* Whether a point is below all planes, independently of the search. If all points found are in one
 * plane, such as a ramp's slope, their middle is too, and rounding may put it on either side. */
static bool is_below(const plane_set *p, double reach, const double x[3])
{
  for (size_t i = 0; i < p->count; ++i) {
    const plane one = plane_at(p, i, reach);
    if (!(dot(one.n, x) <= one.b + ROUNDED * (largest(x) + fabs(one.b)))) {
      return false;
    }
  }
  return true;
}

/* The largest |x_k| of a point is one of the six c . x, so it is at most the largest bound plus the
 * residual times itself. */
static bool exact_box(const plane_set *p, double reach, box *out)
{
  const double scale = scale_of(p, reach);
  double middle[3] = {0.0}, size = 0.0, residual = 0.0;
  support s[3][2];
  for (int k = 0; k < 3; ++k) {
    for (int side = 0; side < 2; ++side) {
      if (!find_support(p, reach, k, side ? 1.0 : -1.0, scale, &s[k][side])) {
        return false;
      }
      size = fmax(size, fabs(s[k][side].bound));
      residual = fmax(residual, s[k][side].residual);
      for (int i = 0; i < 3; ++i) {
        middle[i] += s[k][side].x[i] / 6.0;
      }
    }
  }
  const double reached = size / (1.0 - residual);
  for (int k = 0; k < 3; ++k) {
    out->lower[k] = -s[k][0].bound - s[k][0].residual * reached;
    out->upper[k] = s[k][1].bound + s[k][1].residual * reached;
  }
  return is_below(p, reach, middle);
}

static double corner_of(const box *b)
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double most = fmax(fabs(b->lower[k]), fabs(b->upper[k]));
    sum += most * most;
  }
  return sqrt(sum);
}

/* Devices round a plane's distance at x by at most 8 eps (|x| + |d|). Let f be the maximum of the
 * planes' distances, which is convex, x0 a point with f(x0) <= reach, and X the farthest corner of
 * the box of f <= more. A ray from x0 leaves that box at a point x1 with |x1| <= X and f(x1) >=
 * more. Beyond it, at x = x0 + t (x1 - x0) with t >= 1, f(x) >= reach + t (more - reach), while |x|
 * <= 3 t X. So devices' results exceed the reach if more - reach >= 8 eps (3 X + |d|), plus the
 * amount by which f(x0) may exceed the reach. */
bool planes_box(const plane_set *p, double reach, box *out)
{
  const double rounding = FIELD_ROUNDINGS / 2.0 * packed_epsilon(p->of) + ROUNDED;
  double more = reach;
  box b;
  if (!exact_box(p, reach, &b)) {
    return false;
  }
  for (int i = 0; i < 8; ++i) {
    const double needed = reach + rounding * (corner_of(&b) + scale_of(p, reach));
    if (more >= needed) {
      *out = b;
      return true;
    }
    more = reach + 2.0 * (needed - reach);
    if (!exact_box(p, more, &b)) {
      return false;
    }
  }
  return false;
}
