#include "surface/tree.h"

#include "base/error.h"
#include "base/memory.h"
#include "surface/polygon.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAF 4              /* triangles, at most */
#define BINS 16
#define DEPTH 96            /* no path is longer: */
#define CUT_DEPTH 64        /* from here on runs are halved, of at most 2^31 triangles */
#define FAR_RATIO2 5.29     /* a node is far beyond 2.3 of its radii: Barill et al. take 2 */

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- building ---- */

typedef struct builder {
  tree *t;
  float (*box)[6];            /* of each triangle: lower, upper */
  float (*centre)[3];
  uint32_t *order;            /* being sorted */
} builder;

typedef struct bounds {
  float lower[3], upper[3];
} bounds;

static bounds no_bounds(void)
{
  return (bounds){{HUGE_VALF, HUGE_VALF, HUGE_VALF}, {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}};
}

static void widen(bounds *b, const float lower[3], const float upper[3])
{
  for (int k = 0; k < 3; ++k) {
    b->lower[k] = lower[k] < b->lower[k] ? lower[k] : b->lower[k];
    b->upper[k] = upper[k] > b->upper[k] ? upper[k] : b->upper[k];
  }
}

static float half_area(const bounds *b)
{
  const float x = b->upper[0] - b->lower[0], y = b->upper[1] - b->lower[1],
              z = b->upper[2] - b->lower[2];
  return x >= 0.0f ? x * y + y * z + z * x : 0.0f;
}

static int bin_of(float x, float low, float scale)
{
  const float k = (x - low) * scale;
  return k > 0.0f ? (k < (float)(BINS - 1) ? (int)k : BINS - 1) : 0;
}

/* Where a run of triangles is best cut: the least sum of areas times counts over bins of their
 * centres. Returns the place; sorts the run around it. */
static size_t split(builder *b, size_t first, size_t count)
{
  bounds centres = no_bounds();
  for (size_t i = 0; i < count; ++i) {
    const float *c = b->centre[b->order[first + i]];
    widen(&centres, c, c);
  }
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    axis = centres.upper[k] - centres.lower[k] > centres.upper[axis] - centres.lower[axis] ? k
                                                                                         : axis;
  }
  const float low = centres.lower[axis], span = centres.upper[axis] - low;
  const float scale = (float)BINS * 0.9999f / span;
  if (!(span > 0.0f) || !isfinite(scale)) {
    return first + count / 2;
  }
  bounds bin[BINS], right[BINS];
  size_t in[BINS] = {0};
  for (int i = 0; i < BINS; ++i) {
    bin[i] = no_bounds();
  }
  for (size_t i = 0; i < count; ++i) {
    const uint32_t at = b->order[first + i];
    const int k = bin_of(b->centre[at][axis], low, scale);
    widen(&bin[k], b->box[at], b->box[at] + 3);
    ++in[k];
  }
  right[BINS - 1] = bin[BINS - 1];
  for (int i = BINS - 2; i >= 0; --i) {
    right[i] = right[i + 1];
    widen(&right[i], bin[i].lower, bin[i].upper);
  }
  bounds left = no_bounds();
  size_t so_far = 0;
  float best = HUGE_VALF;
  int cut = 0;
  for (int i = 0; i + 1 < BINS; ++i) {
    widen(&left, bin[i].lower, bin[i].upper);
    so_far += in[i];
    const float cost = half_area(&left) * (float)so_far +
                       half_area(&right[i + 1]) * (float)(count - so_far);
    if (so_far && so_far < count && cost < best) {
      best = cost;
      cut = i + 1;
    }
  }
  size_t i = first, j = first + count;
  while (i < j) {
    const uint32_t at = b->order[i];
    if (bin_of(b->centre[at][axis], low, scale) < cut) {
      ++i;
    } else {
      b->order[i] = b->order[--j];
      b->order[j] = at;
    }
  }
  return i > first && i < first + count ? i : first + count / 2;
}

/* Area vector and centre by area of one triangle. */
static double measure(const double *c, double area[3], double centre[3])
{
  double u[3], v[3];
  for (int k = 0; k < 3; ++k) {
    u[k] = c[3 + k] - c[k];
    v[k] = c[6 + k] - c[k];
    centre[k] = (c[k] + c[3 + k] + c[6 + k]) / 3.0;
  }
  area[0] = 0.5 * (u[1] * v[2] - u[2] * v[1]);
  area[1] = 0.5 * (u[2] * v[0] - u[0] * v[2]);
  area[2] = 0.5 * (u[0] * v[1] - u[1] * v[0]);
  return sqrt(dot(area, area));
}

/* The winding data of a run of triangles, in the leaves' order. */
static void gather(const tree *t, size_t first, size_t count, tree_sum *n)
{
  double weight = 0.0, mean[3] = {0.0, 0.0, 0.0};
  for (size_t i = first; i < first + count; ++i) {
    double area[3], centre[3];
    const double size = measure(t->corners + 9 * i, area, centre);
    weight += size;
    for (int k = 0; k < 3; ++k) {
      n->area[k] += area[k];
      mean[k] += size * centre[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    n->centre[k] = weight > 0.0 ? mean[k] / weight : t->corners[9 * first + (size_t)k];
  }
  for (size_t i = 3 * first; i < 3 * (first + count); ++i) {
    const double *c = t->corners + 3 * i;
    const double d[3] = {c[0] - n->centre[0], c[1] - n->centre[1], c[2] - n->centre[2]};
    n->radius2 = fmax(n->radius2, dot(d, d));
  }
}

typedef struct task {
  uint32_t node;
  uint32_t depth;
  size_t first, count;
} task;

static void build(builder *b)
{
  tree *t = b->t;
  task stack[DEPTH];
  size_t depth = 1;
  stack[0] = (task){0, 0, 0, t->count};
  t->node_count = 1;
  while (depth) {
    const task now = stack[--depth];
    tree_node *n = &t->nodes[now.node];
    bounds around = no_bounds();
    for (size_t i = 0; i < now.count; ++i) {
      const float *box = b->box[b->order[now.first + i]];
      widen(&around, box, box + 3);
    }
    memcpy(n->lower, around.lower, sizeof n->lower);
    memcpy(n->upper, around.upper, sizeof n->upper);
    n->first = (uint32_t)now.first;
    n->count = (uint32_t)now.count;
    if (now.count <= LEAF) {
      continue;
    }
    const size_t cut = now.depth >= CUT_DEPTH ? now.first + now.count / 2
                                              : split(b, now.first, now.count);
    n->first = (uint32_t)t->node_count;
    n->count = 0;
    t->node_count += 2;
    stack[depth++] = (task){n->first, now.depth + 1, now.first, cut - now.first};
    stack[depth++] = (task){n->first + 1, now.depth + 1, cut, now.first + now.count - cut};
  }
}

/* From below: children lie behind their parents. Each node's run of triangles follows from its
 * leaves'. */
static void gather_all(tree *t, size_t (*run)[2])
{
  for (size_t i = t->node_count; i-- > 0;) {
    tree_node *n = &t->nodes[i];
    if (n->count) {
      run[i][0] = n->first;
      run[i][1] = n->count;
    } else {
      run[i][0] = run[n->first][0] < run[n->first + 1][0] ? run[n->first][0]
                                                          : run[n->first + 1][0];
      run[i][1] = run[n->first][1] + run[n->first + 1][1];
    }
  }
  for (size_t i = 0; i < t->node_count; ++i) {
    gather(t, run[i][0], run[i][1], &t->sums[i]);
  }
}

static abut_status tree_from(const double *corners, const uint32_t *names, size_t count, tree *out)
{
  abut_status status = ABUT_SUCCESS;
  builder b = {.t = out};
  void *box = NULL, *centre = NULL, *order = NULL, *run = NULL, *memory = NULL;
  *out = (tree){.count = count};
  TRY_DONE(allocate(&box, count, sizeof *b.box));
  TRY_DONE(allocate(&centre, count, sizeof *b.centre));
  TRY_DONE(allocate(&order, count, sizeof *b.order));
  TRY_DONE(allocate(&run, 2 * count + 1, 2 * sizeof(size_t)));
  TRY_DONE(allocate(&memory, 2 * count + 1, sizeof *out->nodes));
  out->nodes = memory;
  TRY_DONE(allocate(&memory, 2 * count + 1, sizeof *out->sums));
  out->sums = memory;
  TRY_DONE(allocate(&memory, count, 9 * sizeof(double)));
  out->corners = memory;
  TRY_DONE(allocate(&memory, count, sizeof *out->triangle));
  out->triangle = memory;
  b.box = box;
  b.centre = centre;
  b.order = order;
  for (size_t i = 0; i < count; ++i) {
    const double *c = corners + 9 * i;
    b.order[i] = (uint32_t)i;
    for (int k = 0; k < 3; ++k) {
      const double low = fmin(c[k], fmin(c[3 + k], c[6 + k]));
      const double high = fmax(c[k], fmax(c[3 + k], c[6 + k]));
      b.box[i][k] = nextafterf((float)low, -HUGE_VALF);
      b.box[i][3 + k] = nextafterf((float)high, HUGE_VALF);
      b.centre[i][k] = (float)(0.5 * (low + high));
    }
  }
  if (count) {
    build(&b);
  }
  for (size_t i = 0; i < count; ++i) {
    memcpy(out->corners + 9 * i, corners + 9 * (size_t)b.order[i], 9 * sizeof(double));
    out->triangle[i] = names ? names[b.order[i]] : b.order[i];
  }
  gather_all(out, run);
done:
  free(box);
  free(centre);
  free(order);
  free(run);
  if (status != ABUT_SUCCESS) {
    tree_free(out);
  }
  return status;
}

abut_status tree_of_corners(const double *corners, size_t count, tree *out)
{
  return tree_from(corners, NULL, count, out);
}

abut_status tree_create(const surface *s, const uint32_t *which, size_t count, tree *out)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *names = NULL;
  *out = (tree){0};
  TRY_DONE(allocate(&memory, count, 9 * sizeof(double)));
  TRY_DONE(allocate(&names, count, sizeof(uint32_t)));
  double *corners = memory;
  uint32_t *name = names;
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = which ? which[i] : i;
    double *c = corners + 9 * used, area[3], centre[3];
    for (size_t k = 0; k < 3; ++k) {
      memcpy(c + 3 * k, s->points + 3 * (size_t)s->triangles[3 * at + k], 3 * sizeof(double));
    }
    if (measure(c, area, centre) > 0.0) {
      name[used++] = (uint32_t)at;
    }
  }
  TRY_DONE(tree_from(corners, name, used, out));
done:
  free(memory);
  free(names);
  return status;
}

void tree_free(tree *t)
{
  free(t->nodes);
  free(t->sums);
  free(t->corners);
  free(t->triangle);
  *t = (tree){0};
}

/* ---- the nearest point ---- */

static double box_distance2(const tree_node *n, const double x[3])
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double below = (double)n->lower[k] - x[k], above = x[k] - (double)n->upper[k];
    const double out = below > above ? below : above;
    sum += out > 0.0 ? out * out : 0.0;
  }
  return sum;
}

/* The nearest point of a triangle (Ericson 2005, section 5.1.5). Returns the squared distance. */
static double nearest_of_triangle(const double *c, const double x[3], double out[3])
{
  double ab[3], ac[3], ap[3];
  for (int k = 0; k < 3; ++k) {
    ab[k] = c[3 + k] - c[k];
    ac[k] = c[6 + k] - c[k];
    ap[k] = x[k] - c[k];
  }
  double v = 0.0, w = 0.0;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  const double aa = dot(ab, ab), bb = dot(ab, ac), cc = dot(ac, ac);
  const double d3 = d1 - aa, d4 = d2 - bb, d5 = d1 - bb, d6 = d2 - cc;
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  if (d1 <= 0.0 && d2 <= 0.0) {
    v = w = 0.0;
  } else if (d3 >= 0.0 && d4 <= d3) {
    v = 1.0;
  } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    v = d1 / (d1 - d3);
  } else if (d6 >= 0.0 && d5 <= d6) {
    w = 1.0;
  } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    w = d2 / (d2 - d6);
  } else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    v = 1.0 - w;
  } else {
    const double sum = va + vb + vc;
    v = vb / sum;
    w = vc / sum;
  }
  double distance2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    out[k] = c[k] + ab[k] * v + ac[k] * w;
    distance2 += (x[k] - out[k]) * (x[k] - out[k]);
  }
  return distance2;
}

typedef struct step {
  uint32_t node;
  double distance2;
} step;

static void take_nearer(const tree *t, const double x[3], uint32_t at, nearest *best)
{
  double point[3];
  const double distance2 = nearest_of_triangle(t->corners + 9 * (size_t)at, x, point);
  if (distance2 < best->distance2) {
    best->distance2 = distance2;
    memcpy(best->point, point, sizeof point);
    best->at = at;
  }
}

static nearest search(const tree *t, const double x[3], nearest best)
{
  step stack[DEPTH];
  size_t depth = 0;
  if (t->count) {
    stack[depth++] = (step){0, box_distance2(&t->nodes[0], x)};
  }
  while (depth) {
    const step now = stack[--depth];
    if (!(now.distance2 < best.distance2)) {
      continue;
    }
    const tree_node *n = &t->nodes[now.node];
    for (uint32_t i = n->first; i < n->first + n->count; ++i) {
      take_nearer(t, x, i, &best);
    }
    if (!n->count) {
      const double a = box_distance2(&t->nodes[n->first], x);
      const double b = box_distance2(&t->nodes[n->first + 1], x);
      const uint32_t other = a <= b;
      stack[depth++] = (step){n->first + other, a <= b ? b : a};
      stack[depth++] = (step){n->first + !other, a <= b ? a : b};
    }
  }
  return best;
}

nearest tree_nearest(const tree *t, const double x[3], double limit2)
{
  return search(t, x, (nearest){limit2, {0.0, 0.0, 0.0}, UINT32_MAX});
}

nearest tree_nearest_from(const tree *t, const double x[3], uint32_t guess)
{
  nearest best = {HUGE_VAL, {0.0, 0.0, 0.0}, UINT32_MAX};
  if (guess < t->count) {
    take_nearer(t, x, guess, &best);
  }
  return search(t, x, best);
}

abut_status tree_visit(const tree *t, const double x[3], double reach,
                       abut_status (*visit)(void *user, uint32_t at), void *user)
{
  uint32_t stack[DEPTH];
  size_t depth = 0;
  if (t->count) {
    stack[depth++] = 0;
  }
  while (depth) {
    const tree_node *n = &t->nodes[stack[--depth]];
    if (box_distance2(n, x) > reach * reach) {
      continue;
    }
    for (uint32_t i = n->first; i < n->first + n->count; ++i) {
      double point[3];
      if (nearest_of_triangle(t->corners + 9 * (size_t)i, x, point) <= reach * reach) {
        TRY(visit(user, i));
      }
    }
    if (!n->count) {
      stack[depth++] = n->first;
      stack[depth++] = n->first + 1;
    }
  }
  return ABUT_SUCCESS;
}

/* ---- winding numbers ---- */

double tree_winding(const tree *t, const double x[3])
{
  uint32_t stack[DEPTH];
  size_t depth = 0;
  double sum = 0.0;
  if (t->count) {
    stack[depth++] = 0;
  }
  while (depth) {
    const uint32_t at = stack[--depth];
    const tree_node *n = &t->nodes[at];
    const tree_sum *all = &t->sums[at];
    const double d[3] = {all->centre[0] - x[0], all->centre[1] - x[1], all->centre[2] - x[2]};
    const double r2 = dot(d, d);
    if (r2 > FAR_RATIO2 * all->radius2) {
      sum += dot(all->area, d) / (4.0 * 3.14159265358979323846 * r2 * sqrt(r2));
    } else if (n->count) {
      for (uint32_t i = n->first; i < n->first + n->count; ++i) {
        const double *c = t->corners + 9 * (size_t)i;
        sum += triangle_angle(c, c + 3, c + 6, x);
      }
    } else {
      stack[depth++] = n->first;
      stack[depth++] = n->first + 1;
    }
  }
  return sum;
}

/* ---- rays ---- */

static bool meets_box(const tree_node *n, const double x[3], const double inv[3], double most)
{
  double near = 0.0, far = most;
  for (int k = 0; k < 3; ++k) {
    const double a = ((double)n->lower[k] - x[k]) * inv[k];
    const double b = ((double)n->upper[k] - x[k]) * inv[k];
    const double first = a < b ? a : b, last = a < b ? b : a;
    near = first > near ? first : near;
    far = last < far ? last : far;
  }
  return near <= far;
}

/* Moeller and Trumbore 1997. */
static double cast_triangle(const double *c, const double x[3], const double d[3])
{
  double u[3], v[3], o[3];
  for (int k = 0; k < 3; ++k) {
    u[k] = c[3 + k] - c[k];
    v[k] = c[6 + k] - c[k];
    o[k] = x[k] - c[k];
  }
  const double p[3] = {d[1] * v[2] - d[2] * v[1], d[2] * v[0] - d[0] * v[2],
                       d[0] * v[1] - d[1] * v[0]};
  const double q[3] = {o[1] * u[2] - o[2] * u[1], o[2] * u[0] - o[0] * u[2],
                       o[0] * u[1] - o[1] * u[0]};
  const double det = dot(u, p);
  const double s = dot(o, p) / det, r = dot(d, q) / det;
  return det != 0.0 && s >= 0.0 && r >= 0.0 && s + r <= 1.0 ? dot(v, q) / det : HUGE_VAL;
}

double tree_cast(const tree *t, const double x[3], const double d[3], double least, double most)
{
  const double inv[3] = {1.0 / (d[0] != 0.0 ? d[0] : 1e-300), 1.0 / (d[1] != 0.0 ? d[1] : 1e-300),
                         1.0 / (d[2] != 0.0 ? d[2] : 1e-300)};
  uint32_t stack[DEPTH];
  size_t depth = 0;
  double best = HUGE_VAL;
  if (t->count) {
    stack[depth++] = 0;
  }
  while (depth) {
    const tree_node *n = &t->nodes[stack[--depth]];
    if (!meets_box(n, x, inv, best < most ? best : most)) {
      continue;
    }
    for (uint32_t i = n->first; i < n->first + n->count; ++i) {
      const double at = cast_triangle(t->corners + 9 * (size_t)i, x, d);
      best = at > least && at <= most && at < best ? at : best;
    }
    if (!n->count) {
      stack[depth++] = n->first;
      stack[depth++] = n->first + 1;
    }
  }
  return best;
}
