#include "mesh/surface/tree.h"

#include "base/error.h"
#include "mesh/surface/polygon.h"
#include "math/vector.h"
#include <math.h>
#include <string.h>

#define ROUNDING 2e-6f /* relative error of lengths in float, doubled */
/* triangles are far beyond 2.3 of their radii; Barill et al. use 2 */
#define FAR_RATIO2 5.29

/* ---- bounds in float ---- */

/* A point in the tree's units. Distances to boxes and leaves are computed in float, four at a time,
 * with a margin for rounding. */
typedef struct place {
  float x[3];
  double scale, slack;
} place;

static place place_of(const tree *t, const double x[3])
{
  place p = {.scale = t->scale, .slack = 1.0};
  for (int k = 0; k < 3; ++k) {
    const double at = (x[k] - t->middle[k]) * t->scale;
    p.x[k] = (float)at;
    p.slack = fmax(p.slack, fabs(at));
  }
  p.slack *= 4.0 * (double)ROUNDING;
  return p;
}

/* Upper bound on the results of the next two functions for anything within sqrt(distance2). */
static float limit_of(const place *p, double distance2)
{
  const double reach = sqrt(distance2) * p->scale + p->slack;
  return (float)(4.0 * reach * reach * (1.0 + 4.0 * (double)ROUNDING));
}

/* Computes four times the squared distances to a node's children. */
static void measure_boxes(const tree_node *n, const float x[3], float out[TREE_WIDE])
{
  for (int c = 0; c < TREE_WIDE; ++c) {
    out[c] = 0.0f;
  }
  for (int k = 0; k < 3; ++k) {
    for (int c = 0; c < TREE_WIDE; ++c) {
      const float beyond = fabsf(n->centre[k][c] - x[k]) - n->half[k][c];
      const float twice = beyond + fabsf(beyond);
      out[c] += twice * twice;
    }
  }
}

/* Computes four times the squares of lower bounds on the distances to a leaf's triangles: the
 * distance from the plane, combined with that beyond the farthest side. */
static void measure_leaf(const tree_leaf *l, const float x[3], float out[TREE_WIDE])
{
  float beyond[TREE_WIDE];
  for (int c = 0; c < TREE_WIDE; ++c) {
    beyond[c] = 0.0f;
  }
  for (int a = 0; a < 3; ++a) {
    for (int c = 0; c < TREE_WIDE; ++c) {
      const float side = l->side[a][0][c] * x[0] + l->side[a][1][c] * x[1] +
                         l->side[a][2][c] * x[2] - l->side[a][3][c];
      const float more = side - beyond[c];
      beyond[c] += 0.5f * (more + fabsf(more));
    }
  }
  for (int c = 0; c < TREE_WIDE; ++c) {
    const float height =
      l->plane[0][c] * x[0] + l->plane[1][c] * x[1] + l->plane[2][c] * x[2] - l->plane[3][c];
    out[c] = 4.0f * (height * height + beyond[c] * beyond[c]);
  }
}

/* ---- the nearest point ---- */

/* The cases are from Ericson 2005, section 5.1.5. */
double corners_nearest(const double *c, const double x[3], double out[3])
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
    /* The projection on the plane: barycentric coordinates of a sliver lose all digits. */
    double n[3];
    cross(ab, ac, n);
    const double square = dot(n, n), height = dot(n, ap) / square;
    for (int k = 0; k < 3; ++k) {
      out[k] = x[k] - height * n[k];
    }
    return height * height * square;
  }
  double distance2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    out[k] = c[k] + ab[k] * v + ac[k] * w;
    distance2 += (x[k] - out[k]) * (x[k] - out[k]);
  }
  return distance2;
}

typedef struct step {
  uint32_t child;
  float distance2;
} step;

/* Pushes the children of a node within a limit, the nearest on top. */
static size_t push_children(const tree_node *n, const place *p, float limit, step *stack,
                            size_t depth)
{
  float distance2[TREE_WIDE];
  const size_t bottom = depth;
  measure_boxes(n, p->x, distance2);
  for (size_t c = 0; c < TREE_WIDE; ++c) {
    if (distance2[c] > limit || n->child[c] == TREE_NOTHING) {
      continue;
    }
    size_t at = depth++;
    for (; at > bottom && stack[at - 1].distance2 < distance2[c]; --at) {
      stack[at] = stack[at - 1];
    }
    stack[at] = (step){n->child[c], distance2[c]};
  }
  return depth;
}

static void take_nearer(const tree *t, const double x[3], uint32_t at, nearest *best)
{
  double point[3];
  const double distance2 = corners_nearest(t->corners + 9 * (size_t)at, x, point);
  if (distance2 < best->distance2) {
    best->distance2 = distance2;
    memcpy(best->point, point, sizeof point);
    best->at = at;
  }
}

static nearest search(const tree *t, const double x[3], nearest best)
{
  const place p = place_of(t, x);
  step stack[TREE_STACK];
  float limit = limit_of(&p, best.distance2);
  size_t depth = t->count ? push_children(&t->nodes[0], &p, limit, stack, 0) : 0;
  while (depth) {
    const step now = stack[--depth];
    if (now.distance2 > limit) {
      continue;
    }
    if (!(now.child & TREE_LEAF)) {
      depth = push_children(&t->nodes[now.child], &p, limit, stack, depth);
      continue;
    }
    const tree_leaf *l = &t->leaves[now.child & ~TREE_LEAF];
    float least[TREE_WIDE];
    measure_leaf(l, p.x, least);
    for (uint32_t c = 0; c < l->count; ++c) {
      if (!(least[c] > limit)) {
        take_nearer(t, x, l->first + c, &best);
        limit = limit_of(&p, best.distance2);
      }
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
  const place p = place_of(t, x);
  const float limit = limit_of(&p, reach * reach);
  step stack[TREE_STACK];
  size_t depth = t->count ? push_children(&t->nodes[0], &p, limit, stack, 0) : 0;
  while (depth) {
    const step now = stack[--depth];
    if (!(now.child & TREE_LEAF)) {
      depth = push_children(&t->nodes[now.child], &p, limit, stack, depth);
      continue;
    }
    const tree_leaf *l = &t->leaves[now.child & ~TREE_LEAF];
    float least[TREE_WIDE];
    double point[3];
    measure_leaf(l, p.x, least);
    for (uint32_t c = 0; c < l->count; ++c) {
      const double *corners = t->corners + 9 * (size_t)(l->first + c);
      if (!(least[c] > limit) && corners_nearest(corners, x, point) <= reach * reach) {
        TRY(visit(user, l->first + c));
      }
    }
  }
  return ABUT_SUCCESS;
}

/* ---- winding numbers ---- */

/* Angles with small tangents are accumulated as the product of (1 + i tangent), which needs one arc
 * tangent for many of them. */
typedef struct angles {
  double sum, re, im, most; /* sum: the other angles; most: bound on the angle of the product */
} angles;

#define TURN_MOST 3.0 /* below pi, where the argument of the product is still unique */

static void angles_close(angles *a)
{
  a->sum += atan2(a->im, a->re);
  a->re = 1.0;
  a->im = a->most = 0.0;
}

static void angles_add(angles *a, const double turn[2])
{
  if (!(fabs(turn[1]) < turn[0])) {
    a->sum += atan2(turn[1], turn[0]);
    return;
  }
  const double tangent = turn[1] / turn[0];
  if (a->most + fabs(tangent) > TURN_MOST) {
    angles_close(a);
  }
  const double re = a->re;
  a->re = re - a->im * tangent;
  a->im += re * tangent;
  a->most += fabs(tangent);
}

double tree_winding(const tree *t, const double x[3])
{
  angles near = {0.0, 1.0, 0.0, 0.0};
  uint32_t stack[TREE_STACK];
  size_t depth = 0;
  double sum = 0.0;
  if (t->count) {
    stack[depth++] = 0;
  }
  while (depth) {
    const uint32_t at = stack[--depth];
    for (size_t c = 0; c < TREE_WIDE && t->nodes[at].child[c] != TREE_NOTHING; ++c) {
      const uint32_t child = t->nodes[at].child[c];
      const tree_sum *all = &t->sums[TREE_WIDE * (size_t)at + c];
      const double d[3] = {all->centre[0] - x[0], all->centre[1] - x[1], all->centre[2] - x[2]};
      const double r2 = dot(d, d);
      if (r2 > FAR_RATIO2 * all->radius2) {
        sum += dot(all->area, d) / (4.0 * 3.14159265358979323846 * r2 * sqrt(r2));
      } else if (child & TREE_LEAF) {
        const tree_leaf *l = &t->leaves[child & ~TREE_LEAF];
        for (uint32_t i = l->first; i < l->first + l->count; ++i) {
          const double *corner = t->corners + 9 * (size_t)i;
          double turn[2];
          triangle_turn(corner, corner + 3, corner + 6, x, turn);
          angles_add(&near, turn);
        }
      } else {
        stack[depth++] = child;
      }
    }
  }
  angles_close(&near);
  return sum + near.sum / (2.0 * 3.14159265358979323846);
}

/* ---- rays ---- */

/* A ray in the tree's units. */
typedef struct ray {
  double x[3], inverse[3];
} ray;

/* Marks the children of a node that a ray meets up to `most`. */
static void meet_boxes(const tree_node *n, const ray *r, double most, bool out[TREE_WIDE])
{
  double near[TREE_WIDE], far[TREE_WIDE];
  for (int c = 0; c < TREE_WIDE; ++c) {
    near[c] = 0.0;
    far[c] = most;
  }
  for (int k = 0; k < 3; ++k) {
    for (int c = 0; c < TREE_WIDE; ++c) {
      const double middle = ((double)n->centre[k][c] - r->x[k]) * r->inverse[k];
      const double half = (double)n->half[k][c] * fabs(r->inverse[k]);
      near[c] = middle - half > near[c] ? middle - half : near[c];
      far[c] = middle + half < far[c] ? middle + half : far[c];
    }
  }
  for (int c = 0; c < TREE_WIDE; ++c) {
    out[c] = near[c] <= far[c];
  }
}

/* Intersects a triangle (Moeller and Trumbore 1997). */
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
  ray r;
  uint32_t stack[TREE_STACK];
  size_t depth = 0;
  double best = HUGE_VAL;
  for (int k = 0; k < 3; ++k) {
    r.x[k] = (x[k] - t->middle[k]) * t->scale;
    r.inverse[k] = 1.0 / (d[k] != 0.0 ? d[k] : 1e-300);
  }
  if (t->count) {
    stack[depth++] = 0;
  }
  while (depth) {
    const uint32_t now = stack[--depth];
    if (now & TREE_LEAF) {
      const tree_leaf *l = &t->leaves[now & ~TREE_LEAF];
      for (uint32_t i = l->first; i < l->first + l->count; ++i) {
        const double at = cast_triangle(t->corners + 9 * (size_t)i, x, d);
        best = at > least && at <= most && at < best ? at : best;
      }
      continue;
    }
    const tree_node *n = &t->nodes[now];
    bool meets[TREE_WIDE];
    meet_boxes(n, &r, (best < most ? best : most) * t->scale, meets);
    for (size_t c = 0; c < TREE_WIDE; ++c) {
      if (meets[c] && n->child[c] != TREE_NOTHING) {
        stack[depth++] = n->child[c];
      }
    }
  }
  return best;
}
