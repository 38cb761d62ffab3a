#include "mesh/surface/polygon.h"

#include <math.h>

static const double *at(const double *points, const uint32_t *corner, uint32_t i)
{
  return points + 3 * (size_t)corner[i];
}

void polygon_area(const double *points, const uint32_t *corner, size_t size, double area[3])
{
  const double *o = at(points, corner, 0);
  area[0] = area[1] = area[2] = 0.0;
  for (size_t k = 1; k + 1 < size; ++k) {
    const double *a = at(points, corner, (uint32_t)k), *b = at(points, corner, (uint32_t)k + 1);
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      area[i] += (a[j] - o[j]) * (b[l] - o[l]) - (a[l] - o[l]) * (b[j] - o[j]);
    }
  }
}

/* Returns twice the signed area of a triangle along the polygon's normal. */
static double lean(const double *a, const double *b, const double *c, const double n[3])
{
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    sum += n[i] * ((b[j] - a[j]) * (c[l] - a[l]) - (b[l] - a[l]) * (c[j] - a[j]));
  }
  return sum;
}

/* The remaining corners, in a ring. The links use the room after the triangles in `out`. */
typedef struct ring {
  const double *points;
  const uint32_t *corner;
  double normal[3];
  uint32_t *next;
} ring;

static double lean_of(const ring *r, uint32_t a, uint32_t b, uint32_t c)
{
  return lean(at(r->points, r->corner, a), at(r->points, r->corner, b), at(r->points, r->corner, c),
              r->normal);
}

/* Whether a, b, c turn left and contain no other corner. */
static int is_ear(const ring *r, uint32_t a, uint32_t b, uint32_t c)
{
  if (!(lean_of(r, a, b, c) > 0.0)) {
    return 0;
  }
  for (uint32_t p = r->next[c]; p != a; p = r->next[p]) {
    if (r->corner[p] != r->corner[a] && r->corner[p] != r->corner[b] &&
        r->corner[p] != r->corner[c] && lean_of(r, a, b, p) >= 0.0 && lean_of(r, b, c, p) >= 0.0 &&
        lean_of(r, c, a, p) >= 0.0) {
      return 0;
    }
  }
  return 1;
}

/* Chooses between the two triangulations of four corners the one with the smaller angle between its
 * triangles. */
static size_t cut_four(const ring *r, uint32_t *out)
{
  static const uint32_t ways[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 1, 3, 1, 2, 3}};
  double worst[2];
  for (int i = 0; i < 2; ++i) {
    const uint32_t *w = ways[i];
    worst[i] = fmin(lean_of(r, w[0], w[1], w[2]), lean_of(r, w[3], w[4], w[5]));
  }
  for (int i = 0; i < 6; ++i) {
    out[i] = ways[worst[1] > worst[0]][i];
  }
  return 2;
}

size_t polygon_cut(const double *points, const uint32_t *corner, size_t size, uint32_t *out)
{
  ring r = {.points = points, .corner = corner};
  polygon_area(points, corner, size, r.normal);
  if (size == 3) {
    out[0] = 0;
    out[1] = 1;
    out[2] = 2;
    return 1;
  }
  if (size == 4) {
    return cut_four(&r, out);
  }
  r.next = out + 3 * (size - 2);
  for (uint32_t i = 0; i < size; ++i) {
    r.next[i] = i + 1 < size ? i + 1 : 0;
  }
  uint32_t before = (uint32_t)size - 1;
  size_t left = size, refused = 0, count = 0;
  while (left > 3) {
    const uint32_t ear = r.next[before], after = r.next[ear];
    /* If no corner is an ear, the polygon intersects itself or is almost a line. */
    if (refused < left && !is_ear(&r, before, ear, after)) {
      before = ear;
      ++refused;
      continue;
    }
    out[3 * count] = before;
    out[3 * count + 1] = ear;
    out[3 * count++ + 2] = after;
    r.next[before] = after;
    before = after; /* alternating ears give better triangles than fans */
    --left;
    refused = 0;
  }
  const uint32_t second = r.next[before], third = r.next[second];
  out[3 * count] = before;
  out[3 * count + 1] = second;
  out[3 * count + 2] = third;
  return count + 1;
}

void triangle_turn(const double *p, const double *q, const double *s, const double x[3],
                   double out[2])
{
  double a[3], b[3], c[3], la = 0.0, lb = 0.0, lc = 0.0, ab = 0.0, bc = 0.0, ca = 0.0;
  for (int k = 0; k < 3; ++k) {
    a[k] = p[k] - x[k];
    b[k] = q[k] - x[k];
    c[k] = s[k] - x[k];
    la += a[k] * a[k];
    lb += b[k] * b[k];
    lc += c[k] * c[k];
    ab += a[k] * b[k];
    bc += b[k] * c[k];
    ca += c[k] * a[k];
  }
  la = sqrt(la);
  lb = sqrt(lb);
  lc = sqrt(lc);
  const double triple = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                        a[2] * (b[0] * c[1] - b[1] * c[0]);
  out[0] = la * lb * lc + ab * lc + bc * la + ca * lb;
  out[1] = triple;
}

double triangle_angle(const double *p, const double *q, const double *s, const double x[3])
{
  double turn[2];
  triangle_turn(p, q, s, x, turn);
  return atan2(turn[1], turn[0]) / (2.0 * 3.14159265358979323846);
}
