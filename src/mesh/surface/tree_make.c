#include "mesh/surface/tree.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/polygon.h"
#include "math/vector.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BINS 16
#define DEPTH 96 /* maximum depth */
/* from this depth on, runs are halved; they have at most 2^31 triangles */
#define CUT_DEPTH 64

/* A binary tree is built first, and then converted to a wide one. */
typedef struct pair_node {
  float lower[3], upper[3]; /* rounded outwards */
  uint32_t first, count;    /* its triangles */
  uint32_t child;           /* the first of two; 0: a leaf */
} pair_node;

/* ---- building ---- */

typedef struct builder {
  tree *t;
  pair_node *nodes;
  tree_sum *sums;  /* for each node */
  size_t count;    /* number of nodes */
  float (*box)[6]; /* for each triangle: lower, upper */
  float (*centre)[3];
  uint32_t *order; /* sorted in place */
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

/* Finds the best split of a run of triangles, with the least sum of areas times counts over bins of
 * their centres. Returns the split position, and partitions the run. */
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
    const float cost =
      half_area(&left) * (float)so_far + half_area(&right[i + 1]) * (float)(count - so_far);
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

/* Computes the area vector and the area-weighted centre of one triangle. */
static double measure(const double *c, double area[3], double centre[3])
{
  corners_area(c, area);
  for (int k = 0; k < 3; ++k) {
    area[k] *= 0.5;
    centre[k] = (c[k] + c[3 + k] + c[6 + k]) / 3.0;
  }
  return sqrt(dot(area, area));
}

/* Computes the winding data of a run of triangles, in the leaves' order. */
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
  uint32_t node, depth;
} task;

static void build(builder *b)
{
  task stack[DEPTH];
  size_t depth = 1;
  stack[0] = (task){0, 0};
  b->nodes[0] = (pair_node){.count = (uint32_t)b->t->count};
  b->count = 1;
  while (depth) {
    const task now = stack[--depth];
    pair_node *n = &b->nodes[now.node];
    bounds around = no_bounds();
    for (size_t i = 0; i < n->count; ++i) {
      const float *box = b->box[b->order[n->first + i]];
      widen(&around, box, box + 3);
    }
    memcpy(n->lower, around.lower, sizeof n->lower);
    memcpy(n->upper, around.upper, sizeof n->upper);
    if (n->count <= TREE_WIDE) {
      continue;
    }
    const uint32_t cut = now.depth >= CUT_DEPTH ? n->first + n->count / 2
                                                : (uint32_t)split(b, n->first, n->count);
    n->child = (uint32_t)b->count;
    b->nodes[b->count++] = (pair_node){.first = n->first, .count = cut - n->first};
    b->nodes[b->count++] = (pair_node){.first = cut, .count = n->first + n->count - cut};
    stack[depth++] = (task){n->child, now.depth + 1};
    stack[depth++] = (task){n->child + 1, now.depth + 1};
  }
}

/* Takes up to TREE_WIDE descendants of a node: those with the largest surface are opened. */
static size_t open_node(const builder *b, uint32_t node, uint32_t out[TREE_WIDE])
{
  size_t count = 1;
  out[0] = node;
  while (count < TREE_WIDE) {
    float most = -1.0f;
    size_t largest = 0;
    for (size_t c = 0; c < count; ++c) {
      const pair_node *n = &b->nodes[out[c]];
      bounds box;
      memcpy(box.lower, n->lower, sizeof box.lower);
      memcpy(box.upper, n->upper, sizeof box.upper);
      const float size = n->child ? half_area(&box) : -1.0f;
      largest = size > most ? c : largest;
      most = size > most ? size : most;
    }
    if (!(most >= 0.0f)) {
      break;
    }
    out[count++] = b->nodes[out[largest]].child + 1;
    out[largest] = b->nodes[out[largest]].child;
  }
  return count;
}

static void set_box(tree_node *to, size_t c, const pair_node *from)
{
  for (int k = 0; k < 3; ++k) {
    const float centre = 0.5f * from->lower[k] + 0.5f * from->upper[k];
    const double half =
      fmax((double)from->upper[k] - (double)centre, (double)centre - (double)from->lower[k]);
    to->centre[k][c] = centre;
    to->half[k][c] = nextafterf((float)half, HUGE_VALF);
  }
}

static void set_plane(const tree *t, const double n[3], const double at[3], float (*to)[TREE_WIDE],
                      size_t c)
{
  const double size = sqrt(dot(n, n));
  double offset = 0.0;
  for (int k = 0; k < 3 && size > 0.0; ++k) {
    to[k][c] = (float)(n[k] / size);
    offset += n[k] / size * ((at[k] - t->middle[k]) * t->scale);
  }
  to[3][c] = (float)offset;
}

static void set_leaf(const tree *t, tree_leaf *to, const pair_node *from)
{
  memset(to, 0, sizeof *to);
  to->first = from->first;
  to->count = from->count;
  for (size_t c = 0; c < from->count; ++c) {
    const double *corner = t->corners + 9 * (from->first + c);
    double unit[9], area[3], middle[3];
    for (int i = 0; i < 9; ++i) { /* scaled so that products of small lengths do not underflow */
      unit[i] = (corner[i] - t->middle[i % 3]) * t->scale;
    }
    const double size = measure(unit, area, middle);
    if (!(size > 0.0)) {
      continue;
    }
    set_plane(t, area, corner, to->plane, c);
    for (int a = 0; a < 3; ++a) {
      const double *x = unit + 3 * a, *y = unit + 3 * ((a + 1) % 3);
      const double u[3] = {(y[0] - x[0]) / size, (y[1] - x[1]) / size, (y[2] - x[2]) / size};
      double outward[3];
      cross(u, area, outward);
      set_plane(t, outward, corner + 3 * a, to->side[a], c);
    }
  }
}

/* Makes wide nodes from binary ones. Each node's index is assigned before its children. */
static void make_wide(const builder *b)
{
  tree *t = b->t;
  uint32_t of[TREE_STACK][2]; /* pending: a wide node and its binary node */
  size_t depth = 1;
  of[0][0] = of[0][1] = 0;
  t->node_count = 1;
  while (depth) {
    const uint32_t at = of[--depth][0];
    tree_node *n = &t->nodes[at];
    uint32_t below[TREE_WIDE];
    const size_t count = open_node(b, of[depth][1], below);
    memset(n, 0, sizeof *n);
    for (size_t c = 0; c < TREE_WIDE; ++c) {
      n->child[c] = TREE_NOTHING;
      for (int k = 0; k < 3; ++k) {
        n->half[k][c] = -FLT_MAX;
      }
    }
    for (size_t c = 0; c < count; ++c) {
      const pair_node *from = &b->nodes[below[c]];
      set_box(n, c, from);
      t->sums[TREE_WIDE * (size_t)at + c] = b->sums[below[c]];
      if (from->child) {
        n->child[c] = (uint32_t)t->node_count;
        of[depth][0] = (uint32_t)t->node_count++;
        of[depth++][1] = below[c];
      } else {
        n->child[c] = TREE_LEAF | (uint32_t)t->leaf_count;
        set_leaf(t, &t->leaves[t->leaf_count++], from);
      }
    }
  }
}

/* Computes the centre of all corners, and the inverse of their largest distance from it along an
 * axis. */
static void set_size(const double *corners, size_t count, tree *out)
{
  double size = 0.0;
  for (int k = 0; k < 3 && count; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < 3 * count; ++i) {
      low = fmin(low, corners[3 * i + (size_t)k]);
      high = fmax(high, corners[3 * i + (size_t)k]);
    }
    out->middle[k] = 0.5 * low + 0.5 * high;
    size = fmax(size, 0.5 * high - 0.5 * low);
  }
  out->scale = 1.0 / size;
  if (!(size > 0.0) || !isfinite(out->scale)) {
    out->scale = 1.0;
  }
}

static void set_boxes(const double *corners, builder *b)
{
  for (size_t i = 0; i < b->t->count; ++i) {
    const double *c = corners + 9 * i;
    b->order[i] = (uint32_t)i;
    for (int k = 0; k < 3; ++k) {
      const double low = fmin(c[k], fmin(c[3 + k], c[6 + k])) - b->t->middle[k];
      const double high = fmax(c[k], fmax(c[3 + k], c[6 + k])) - b->t->middle[k];
      b->box[i][k] = nextafterf((float)(low * b->t->scale), -HUGE_VALF);
      b->box[i][3 + k] = nextafterf((float)(high * b->t->scale), HUGE_VALF);
      b->centre[i][k] = (float)((0.5 * low + 0.5 * high) * b->t->scale);
    }
  }
}

static abut_status tree_from(const double *corners, const uint32_t *names, size_t count, tree *out)
{
  abut_status status = ABUT_SUCCESS;
  builder b = {.t = out};
  void *box = NULL, *centre = NULL, *order = NULL, *nodes = NULL, *sums = NULL, *memory = NULL;
  *out = (tree){.count = count};
  TRY_DONE(allocate(&box, count, sizeof *b.box));
  TRY_DONE(allocate(&centre, count, sizeof *b.centre));
  TRY_DONE(allocate(&order, count, sizeof *b.order));
  TRY_DONE(allocate(&nodes, 2 * count + 1, sizeof *b.nodes));
  TRY_DONE(allocate(&memory, count, 9 * sizeof(double)));
  out->corners = memory;
  TRY_DONE(allocate(&memory, count, sizeof *out->triangle));
  out->triangle = memory;
  set_size(corners, count, out);
  b.box = box;
  b.centre = centre;
  b.order = order;
  b.nodes = nodes;
  set_boxes(corners, &b);
  if (count) {
    build(&b);
  }
  for (size_t i = 0; i < count; ++i) {
    memcpy(out->corners + 9 * i, corners + 9 * (size_t)b.order[i], 9 * sizeof(double));
    out->triangle[i] = names ? names[b.order[i]] : b.order[i];
  }
  TRY_DONE(allocate(&sums, b.count, sizeof *b.sums));
  b.sums = sums;
  for (size_t i = 0; i < b.count; ++i) {
    gather(out, b.nodes[i].first, b.nodes[i].count, &b.sums[i]);
  }
  TRY_DONE(allocate(&memory, b.count, sizeof *out->nodes));
  out->nodes = memory;
  TRY_DONE(allocate(&memory, b.count, sizeof *out->leaves));
  out->leaves = memory;
  TRY_DONE(allocate(&memory, b.count, TREE_WIDE * sizeof *out->sums));
  out->sums = memory;
  if (count) {
    make_wide(&b);
  }
done:
  free(box);
  free(centre);
  free(order);
  free(nodes);
  free(sums);
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
  free(t->leaves);
  free(t->sums);
  free(t->corners);
  free(t->triangle);
  *t = (tree){0};
}
