/* Polyhedra of a decomposition: a few planes around an interior centre. */
#include "mesh/decompose/decompose.h"
#include "math/vector.h"
#include <math.h>
#include <string.h>

#define PARALLEL 1e-12 /* three normals with a smaller determinant do not make a corner */
#define ON 1e-9        /* tolerance of being inside a plane */

static double within(double x, double low, double high)
{
  return fmin(fmax(x, low), high);
}

size_t polyhedron_create(const double (*planes)[4], size_t count, const double centre[3], bool away,
                         primitive *parts)
{
  const size_t needed = (count + PLANES_EACH - 1) / PLANES_EACH;
  for (size_t part = 0; part < needed; ++part) {
    primitive *p = &parts[part];
    *p = (primitive){.away = away, .parts = needed, .part = part};
    memcpy(p->centre, centre, sizeof p->centre);
    for (size_t i = 0; i < PLANES_EACH; ++i) {
      const size_t at = PLANES_EACH * part + i;
      p->planes[i][3] = PLANE_NONE;
      if (at < count) {
        memcpy(p->planes[i], planes[at], sizeof p->planes[i]);
        p->planes[i][3] = within(planes[at][3], AXIS_LOW, OFFSET_HIGH);
      }
    }
  }
  return needed;
}

void part_move(primitive *part, const double step[PARAMETERS])
{
  for (int i = 0; i < PLANES_EACH; ++i) {
    double *n = part->planes[i], along[3], across[3], square = 0.0;
    unit_across(n, along);
    cross(n, along, across);
    if (!(dot(along, along) > 0.0)) {
      continue; /* not a plane */
    }
    for (int k = 0; k < 3; ++k) {
      n[k] += within(step[3 * i + 1], -0.5, 0.5) * along[k] +
              within(step[3 * i + 2], -0.5, 0.5) * across[k];
      square += n[k] * n[k];
    }
    for (int k = 0; k < 3; ++k) {
      n[k] /= sqrt(square);
    }
    n[3] = within(n[3] + step[3 * i], AXIS_LOW, OFFSET_HIGH);
  }
}

/* ---- fields ---- */

/* Lists the existing planes. Returns their number. */
static size_t list_planes(const primitive *parts, double (*planes)[4])
{
  size_t count = 0;
  for (size_t i = 0; i < PLANES_EACH * parts->parts; ++i) {
    const double *from = parts[i / PLANES_EACH].planes[i % PLANES_EACH];
    if (dot(from, from) > 0.0) {
      memcpy(planes[count++], from, 4 * sizeof *from);
    }
  }
  return count;
}

double polyhedron_field(const primitive *parts, const double x[3], double plane)
{
  double planes[PARTS_MOST * PLANES_EACH][4], y[3], sum = 0.0;
  const size_t count = list_planes(parts, planes);
  const double most = polyhedron_beyond(parts, x);
  difference(x, parts->centre, y);
  for (size_t i = 0; i < count; ++i) {
    sum += exp((dot(planes[i], y) - planes[i][3] - most) / plane);
  }
  return most + plane * log(sum);
}

double polyhedron_beyond(const primitive *parts, const double x[3])
{
  double planes[PARTS_MOST * PLANES_EACH][4], y[3], most = -HUGE_VAL;
  const size_t count = list_planes(parts, planes);
  difference(x, parts->centre, y);
  for (size_t i = 0; i < count; ++i) {
    most = fmax(most, dot(planes[i], y) - planes[i][3]);
  }
  return most;
}

/* ---- corners ---- */

static bool is_within_all(const double (*planes)[4], size_t count, const double y[3],
                          bool direction)
{
  for (size_t i = 0; i < count; ++i) {
    if (dot(planes[i], y) > (direction ? 0.0 : planes[i][3]) + ON) {
      return false;
    }
  }
  return true;
}

/* Whether a polyhedron is unbounded: then a direction along two of its planes exists that no plane
 * stops. */
static bool is_endless(const double (*planes)[4], size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      double along[3];
      cross(planes[i], planes[j], along);
      if (i != j && dot(along, along) > PARALLEL && is_within_all(planes, count, along, true)) {
        return true;
      }
    }
  }
  return false;
}

/* Finds the intersection of three planes. Returns whether it exists and is inside all planes. */
static bool find_corner(const double (*planes)[4], size_t count, const size_t three[3], double y[3])
{
  double by[3][3];
  for (size_t k = 0; k < 3; ++k) {
    cross(planes[three[(k + 1) % 3]], planes[three[(k + 2) % 3]], by[k]);
  }
  const double determinant = dot(planes[three[0]], by[0]);
  if (!(fabs(determinant) > PARALLEL)) {
    return false;
  }
  for (size_t k = 0; k < 3; ++k) {
    y[k] = (planes[three[0]][3] * by[0][k] + planes[three[1]][3] * by[1][k] +
            planes[three[2]][3] * by[2][k]) /
           determinant;
  }
  return is_within_all(planes, count, y, false);
}

/* Properties of a polyhedron's corners, relative to its centre. */
typedef struct corners {
  double lower[3], upper[3];
  /* along each normal, within its plane */
  double nearest[PARTS_MOST * PLANES_EACH], farthest[PARTS_MOST * PLANES_EACH];
  size_t count;
} corners;

static void find_corners(const double (*planes)[4], size_t count, corners *c)
{
  *c = (corners){.count = 0};
  for (int k = 0; k < 3; ++k) {
    c->lower[k] = HUGE_VAL;
    c->upper[k] = -HUGE_VAL;
  }
  for (size_t i = 0; i < count; ++i) {
    c->nearest[i] = HUGE_VAL;
  }
  for (size_t all = 0; all < count * count * count; ++all) {
    const size_t three[3] = {all / count / count, all / count % count, all % count};
    double y[3];
    if (three[0] >= three[1] || three[1] >= three[2] || !find_corner(planes, count, three, y)) {
      continue;
    }
    ++c->count;
    for (int k = 0; k < 3; ++k) {
      c->lower[k] = fmin(c->lower[k], y[k]);
      c->upper[k] = fmax(c->upper[k], y[k]);
    }
    for (size_t i = 0; i < count; ++i) {
      const double far_in = planes[i][3] - dot(planes[i], y);
      c->nearest[i] = fmin(c->nearest[i], far_in);
      c->farthest[i] = fmax(c->farthest[i], far_in);
    }
  }
}

size_t polyhedron_planes(const primitive *parts, double idle, double (*planes)[4], double lower[3],
                         double upper[3], double *half_width)
{
  double all[PARTS_MOST * PLANES_EACH][4], least = HUGE_VAL;
  corners c;
  size_t kept = 0;
  const size_t count = list_planes(parts, all);
  find_corners((const double(*)[4])all, count, &c);
  if (!c.count || is_endless((const double(*)[4])all, count)) {
    return 0;
  }
  for (size_t i = 0; i < count; ++i) {
    if (c.nearest[i] < idle) {
      least = fmin(least, 0.5 * (c.farthest[i] - c.nearest[i]));
      memcpy(planes[kept++], all[i], sizeof all[i]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    lower[k] = parts->centre[k] + c.lower[k];
    upper[k] = parts->centre[k] + c.upper[k];
  }
  if (half_width) {
    *half_width = least;
  }
  return kept;
}
