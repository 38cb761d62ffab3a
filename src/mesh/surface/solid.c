#include "mesh/surface/solid.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/sides.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSIDE 0.5 /* winding number */
#define TWICE 1.4  /* a larger winding number means being inside two shells */
/* of the diagonal: within this distance of a face, the side is undetermined */
#define ON_FACE 1e-9
#define PI 3.14159265358979323846
#define UNSURE 0.1    /* largest error of a winding number */
#define DRIFT_SIDE 48 /* largest number of cells of the drift map along the longest side */
/* bound on cells times edges, which reduces the cells */
#define DRIFT_WORK ((size_t)2 << 23)

/* ---- open edges ---- */

typedef struct open_side {
  uint32_t low, high;
  int32_t turn; /* 1: from low to high, else -1 */
} open_side;

static int compare_open(const void *a, const void *b)
{
  const open_side *x = a, *y = b;
  return x->low != y->low ? (x->low < y->low ? -1 : 1) : (x->high > y->high) - (x->high < y->high);
}

/* Lists the sides that are not paired with one of opposite direction. */
static abut_status list_open(const surface *s, open_side **out, size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  const size_t sides = 3 * s->triangle_count;
  void *list = NULL;
  *count = 0;
  for (size_t i = 0; i < sides; ++i) {
    *count += s->across[i] >= SIDE_TANGLED;
  }
  TRY_DONE(allocate(&list, *count, sizeof(open_side)));
  *out = list;
  *count = 0;
  for (uint32_t i = 0; i < sides; ++i) {
    const uint32_t a = s->triangles[i], b = s->triangles[side_next(i)];
    if (s->across[i] >= SIDE_TANGLED) {
      (*out)[(*count)++] = (open_side){a < b ? a : b, a < b ? b : a, a < b ? 1 : -1};
    }
  }
  qsort(*out, *count, sizeof **out, compare_open);
done:
  return status;
}

/* Returns the squared distance between two boxes. */
static double apart2(const double low[3], const double high[3], const double p[3],
                     const double q[3])
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double least = fmin(p[k], q[k]), most = fmax(p[k], q[k]);
    const double d = fmax(fmax(least - high[k], low[k] - most), 0.0);
    sum += d * d;
  }
  return sum;
}

/* The winding number is a solid angle over 4 pi. Its gradient is the field of a current along the
 * open edges (Biot and Savart). It is at most the sum over edges of min(l / d, pi) / (4 pi d),
 * where d is the distance from an edge of length l, or from its line. */
static abut_status map_drift(const surface *s, const open_side *edges, size_t count, solid *out)
{
  double most = 0.0;
  size_t side = DRIFT_SIDE, cells = 1;
  for (int k = 0; k < 3; ++k) {
    most = fmax(most, s->upper[k] - s->lower[k]);
  }
  while (side > 8 && side * side * side * count > DRIFT_WORK) {
    --side;
  }
  out->drift_cell = most / (double)side;
  for (int k = 0; k < 3; ++k) {
    out->drift_origin[k] = s->lower[k];
    out->drift_size[k] = (size_t)((s->upper[k] - s->lower[k]) / out->drift_cell) + 1;
    cells *= out->drift_size[k];
  }
  void *memory = NULL;
  TRY(allocate(&memory, cells, sizeof(float)));
  out->drift = memory;
  for (size_t at = 0; at < cells; ++at) {
    const size_t place[3] = {at / (out->drift_size[1] * out->drift_size[2]),
                             at / out->drift_size[2] % out->drift_size[1], at % out->drift_size[2]};
    double low[3], high[3], sum = 0.0;
    for (int k = 0; k < 3; ++k) {
      low[k] = out->drift_origin[k] + out->drift_cell * (double)place[k];
      high[k] = low[k] + out->drift_cell;
    }
    for (size_t i = 0; i < count && sum < HUGE_VAL; ++i) {
      const double *p = s->points + 3 * (size_t)edges[i].low;
      const double *q = s->points + 3 * (size_t)edges[i].high;
      const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
      const double away = sqrt(apart2(low, high, p, q)), length = sqrt(dot(d, d));
      sum += away > 0.0 ? edges[i].turn * fmin(length / away, PI) / (4.0 * PI * away) : HUGE_VAL;
    }
    out->drift[at] = (float)fmin(1.001 * sum, 1e30);
  }
  return ABUT_SUCCESS;
}

/* Returns an upper bound on the change of the winding number along a path of length `apart` to x. A
 * point outside the map is at least as far from edges as the nearest point of the map. */
static double drift_to(const solid *s, const double x[3], double apart)
{
  double most = 0.0;
  if (!s->drift) {
    return 0.0;
  }
  size_t first[3], last[3];
  for (int k = 0; k < 3; ++k) {
    const double end = (double)s->drift_size[k] - 1.0;
    const double from = (x[k] - apart - s->drift_origin[k]) / s->drift_cell;
    const double to = (x[k] + apart - s->drift_origin[k]) / s->drift_cell;
    first[k] = (size_t)fmax(fmin(from, end), 0.0);
    last[k] = (size_t)fmax(fmin(to, end), 0.0);
  }
  for (size_t i = first[0]; i <= last[0]; ++i) {
    for (size_t j = first[1]; j <= last[1]; ++j) {
      for (size_t k = first[2]; k <= last[2]; ++k) {
        most = fmax(most, s->drift[(i * s->drift_size[1] + j) * s->drift_size[2] + k]);
      }
    }
  }
  return most * apart;
}

/* The border of all triangles is a chain of edges with total length l in a ball of radius r. A cone
 * over it from the ball's centre closes the surface and has an area of at most l r / 2. At a
 * distance d from the ball the winding number thus differs from an integer by at most l r / (8 pi
 * d^2), which is a tenth at d^2 = 0.4 l r. */
static abut_status find_blur(const surface *s, solid *out)
{
  open_side *list = NULL;
  abut_status status = ABUT_SUCCESS;
  size_t count = 0, used = 0;
  double length = 0.0, lower[3], upper[3], radius2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    lower[k] = HUGE_VAL;
    upper[k] = -HUGE_VAL;
  }
  out->blur_radius = -1.0;
  TRY(list_open(s, &list, &count));
  for (size_t i = 0, end = 0; i < count; i = end) {
    int32_t sum = 0;
    for (end = i; end < count && !compare_open(&list[i], &list[end]); ++end) {
      sum += list[end].turn;
    }
    const double *p = s->points + 3 * (size_t)list[i].low,
                 *q = s->points + 3 * (size_t)list[i].high;
    double length2 = 0.0;
    for (int k = 0; k < 3 && sum; ++k) {
      length2 += (p[k] - q[k]) * (p[k] - q[k]);
      lower[k] = fmin(lower[k], fmin(p[k], q[k]));
      upper[k] = fmax(upper[k], fmax(p[k], q[k]));
    }
    length += sqrt(length2) * abs(sum);
    list[used] = list[i];
    list[used].turn = abs(sum);
    used += sum != 0;
  }
  if (used) {
    for (int k = 0; k < 3; ++k) {
      out->blur_centre[k] = 0.5 * (lower[k] + upper[k]);
      radius2 += 0.25 * (upper[k] - lower[k]) * (upper[k] - lower[k]);
    }
    const double radius = sqrt(radius2);
    out->blur_radius = radius + sqrt(0.4 * length * radius);
    status = map_drift(s, list, used, out);
  }
  free(list);
  return status;
}

abut_status solid_create(solid *out, const surface *s)
{
  memset(out, 0, sizeof *out);
  atomic_init(&out->overlaps, 0);
  TRY(tree_create(s, NULL, s->triangle_count, &out->all));
  out->near = &out->all;
  out->diagonal = s->diagonal;
  return find_blur(s, out);
}

void solid_free(solid *s)
{
  tree_free(&s->all);
  tree_free(&s->border);
  free(s->drift);
  s->drift = NULL;
}

static bool is_inside(solid *s, const double x[3], double distance, double *margin)
{
  const double winding = tree_winding(&s->all, x);
  /* Distance from any half-integer: a triangle inside another shell adds an integer. */
  *margin = fabs(winding - floor(winding) - INSIDE) - UNSURE;
  if (winding > TWICE && distance > ON_FACE * s->diagonal) {
    atomic_store_explicit(&s->overlaps, 1, memory_order_relaxed);
  }
  return winding > INSIDE;
}

double solid_distance(solid *s, const double x[3])
{
  const double distance = sqrt(tree_nearest(s->near, x, HUGE_VAL).distance2);
  double margin;
  return is_inside(s, x, distance, &margin) ? -distance : distance;
}

/* Whether a node has the sign of an adjacent one: if the surface passed between them, it would be
 * nearer to one of them. A node on a face has no sign, and its distance may be rounded. */
static bool follows(double distance, double beside, double spacing)
{
  return distance + fabs(beside) > spacing * (1.0 + 1e-6);
}

bool solid_is_clear(const solid *s, const double x[3], double spacing)
{
  const double reach = s->blur_radius + spacing;
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    sum += (x[k] - s->blur_centre[k]) * (x[k] - s->blur_centre[k]);
  }
  return s->blur_radius < 0.0 || sum > reach * reach;
}

void solid_measure(solid *s, const solid_place *beside, solid_place *out)
{
  const nearest found = tree_nearest_from(s->near, out->x, beside ? beside->nearest : UINT32_MAX);
  const double distance = sqrt(found.distance2);
  double d[3] = {0.0};
  for (int k = 0; k < 3 && beside; ++k) {
    d[k] = out->x[k] - beside->x[k];
  }
  const double apart = sqrt(dot(d, d));
  bool known = beside && follows(distance, beside->distance, apart);
  if (known && !solid_is_clear(s, out->x, apart)) {
    out->margin = beside->margin - drift_to(s, out->x, apart);
    known = out->margin > 0.0;
  } else if (known) {
    out->margin = INSIDE - 2.0 * UNSURE;
  }
  const bool inside = known ? beside->distance < 0.0 : is_inside(s, out->x, distance, &out->margin);
  out->distance = inside ? -distance : distance;
  out->nearest = found.at;
}

void solid_lattice(solid *s, const double origin[3], double spacing, const size_t size[3],
                   double *out)
{
  const size_t step[3] = {size[1] * size[2], size[2], 1};
  uint32_t before = UINT32_MAX, row = UINT32_MAX; /* nearest of the last node, of the row's first */
  double margin = 0.0, row_margin = 0.0;          /* of the same nodes, near open edges */
  size_t at = 0;
  for (size_t i = 0; i < size[0]; ++i) {
    for (size_t j = 0; j < size[1]; ++j) {
      for (size_t k = 0; k < size[2]; ++k, ++at) {
        const size_t place[3] = {i, j, k};
        const double x[3] = {origin[0] + spacing * (double)i, origin[1] + spacing * (double)j,
                             origin[2] + spacing * (double)k};
        const nearest found = tree_nearest_from(s->near, x, k ? before : row);
        const double distance = sqrt(found.distance2);
        before = found.at;
        row = k ? row : before;
        const bool clear = solid_is_clear(s, x, spacing);
        int known = -1;
        for (int a = 0; a < 3 && known < 0 && clear; ++a) {
          known = place[a] && follows(distance, out[at - step[a]], spacing) ? a : -1;
        }
        if (known < 0 && !clear && (k || j)) {
          const double left = (k ? margin : row_margin) - drift_to(s, x, spacing);
          if (left > 0.0 && follows(distance, out[at - step[k ? 2 : 1]], spacing)) {
            known = k ? 2 : 1;
            margin = left;
          }
        } else {
          margin = 0.0;
        }
        const bool inside = known < 0 ? is_inside(s, x, distance, &margin)
                                      : out[at - step[known]] < 0.0;
        row_margin = k ? row_margin : margin;
        out[at] = inside ? -distance : distance;
      }
    }
  }
}
