#include "mesh/surface/solid.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/sides.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSIDE 0.5   /* winding number */
#define TWICE 1.4    /* beyond it a place lies in two shells */
#define ON_FACE 1e-9 /* of the diagonal: nearer to a face nobody can tell where a place lies */

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

/* Lists the sides that are not paired with one that runs back. */
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

/* The border of all triangles together is a chain of edges, of length l, in a ball of radius r. A
 * cone over it from the ball's middle closes the surface and has an area of l r / 2 at most, so at
 * a distance d from the ball the winding number is a whole one but for l r / (8 pi d^2): a tenth
 * where d^2 = 0.4 l r. */
static abut_status find_blur(const surface *s, solid *out)
{
  open_side *list = NULL;
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
    used += sum != 0;
  }
  if (used) {
    for (int k = 0; k < 3; ++k) {
      out->blur_centre[k] = 0.5 * (lower[k] + upper[k]);
      radius2 += 0.25 * (upper[k] - lower[k]) * (upper[k] - lower[k]);
    }
    const double radius = sqrt(radius2);
    out->blur_radius = radius + sqrt(0.4 * length * radius);
  }
  free(list);
  return ABUT_SUCCESS;
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
}

static bool is_inside(solid *s, const double x[3], double distance)
{
  const double winding = tree_winding(&s->all, x);
  if (winding > TWICE && distance > ON_FACE * s->diagonal) {
    atomic_store_explicit(&s->overlaps, 1, memory_order_relaxed);
  }
  return winding > INSIDE;
}

double solid_distance(solid *s, const double x[3])
{
  const double distance = sqrt(tree_nearest(s->near, x, HUGE_VAL).distance2);
  return is_inside(s, x, distance) ? -distance : distance;
}

/* Whether the sign of a node follows from one beside it: the surface is nearer to one of both where
 * it passes between them. A node on a face has no sign, and a distance that may be rounded. */
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
  const bool known = beside && solid_is_clear(s, out->x, apart) &&
                     follows(distance, beside->distance, apart);
  const bool inside = known ? beside->distance < 0.0 : is_inside(s, out->x, distance);
  out->distance = inside ? -distance : distance;
  out->nearest = found.at;
}

void solid_lattice(solid *s, const double origin[3], double spacing, const size_t size[3],
                   double *out)
{
  const size_t step[3] = {size[1] * size[2], size[2], 1};
  uint32_t before = UINT32_MAX, row = UINT32_MAX; /* nearest of the last node, of the row's first */
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
        const bool inside = known < 0 ? is_inside(s, x, distance) : out[at - step[known]] < 0.0;
        out[at] = inside ? -distance : distance;
      }
    }
  }
}
