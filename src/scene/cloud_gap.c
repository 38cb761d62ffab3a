/* Estimates the error of the field of a cloud made of faces. Between the points of a coarse mesh,
 * the planes of neighbours are blended. Over an opening, the planes of its rim may close it like a
 * lid, so that outside counts as inside. */
#include "scene/cloud_gap.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/tree.h"
#include "math/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACES_MOST 512 /* approximate number of faces tested, evenly distributed */
#define RAYS_MOST 128  /* approximate number of faces from which rays are cast */
#define STEPS 8        /* parts of each ray */
#define FAINT 50.0     /* Weights below e^-50 of the largest one are ignored. */

/* Returns the field phi of docs/dev/spring-formulas.md at x by plain sums, which are fast enough
 * for few points. */
static double field_at(const abut_cloud *c, const double x[3])
{
  double top = -HUGE_VAL, sum = 0.0, all = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < c->count; ++i) {
      const double *p = c->points + 3 * i, *n = c->normals + 3 * i;
      const double r[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]};
      const double l = c->log_weights[i] - (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / c->eps1[i];
      const double w = pass && l > top - FAINT ? exp(l - top) : 0.0;
      top = pass ? top : fmax(top, l);
      sum += w;
      all += w * (r[0] * n[0] + r[1] * n[1] + r[2] * n[2]);
    }
  }
  return all / sum;
}

/* Makes a tree of the faces' triangles, which are fans from each face's first corner. */
static abut_status make_tree(const abut_cloud *c, tree *out)
{
  size_t count = 0, at = 0;
  void *room;
  for (size_t i = 0; i < c->count; ++i) {
    count += c->face_sizes[i] - 2;
  }
  TRY(allocate(&room, 9 * count, sizeof(double)));
  double *corners = room;
  const uint32_t *corner = c->face_indices;
  for (size_t i = 0; i < c->count; corner += c->face_sizes[i++]) {
    for (uint32_t k = 2; k < c->face_sizes[i]; ++k) {
      const uint32_t of[3] = {corner[0], corner[k - 1], corner[k]};
      for (int v = 0; v < 3; ++v) {
        memcpy(corners + 9 * at + 3 * v, c->vertices + 3 * (size_t)of[v], 3 * sizeof(double));
      }
      ++at;
    }
  }
  const abut_status status = tree_of_corners(corners, count, out);
  free(corners);
  return status;
}

/* Returns the largest height of a face's own corners above its point. Up to there, a ray along the
 * normal may hit the face itself if it is not flat. */
static double own_height(const abut_cloud *c, size_t i, const uint32_t *corner)
{
  double height = 0.0;
  for (uint32_t k = 0; k < c->face_sizes[i]; ++k) {
    double r[3];
    difference(c->vertices + 3 * (size_t)corner[k], c->points + 3 * i, r);
    height = fmax(height, dot(r, c->normals + 3 * i));
  }
  return height;
}

/* Returns the largest depth of the field along the normal from face i up to the next face. This
 * whole ray is outside the body. */
static double lid(const abut_cloud *c, const tree *t, size_t i, const uint32_t *corner,
                  double diagonal)
{
  const double *p = c->points + 3 * i, *n = c->normals + 3 * i;
  const double way =
    fmin(diagonal, tree_cast(t, p, n, own_height(c, i, corner) + 1e-9 * diagonal, diagonal));
  double deepest = 0.0;
  for (int k = 1; k < STEPS; ++k) {
    const double far = way * k / STEPS,
                 x[3] = {p[0] + far * n[0], p[1] + far * n[1], p[2] + far * n[2]};
    deepest = fmax(deepest, -field_at(c, x));
  }
  return deepest;
}

static double diagonal_of(const abut_cloud *c)
{
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (size_t i = 0; i < 3 * c->vertex_count; ++i) {
    low[i % 3] = fmin(low[i % 3], c->vertices[i]);
    high[i % 3] = fmax(high[i % 3], c->vertices[i]);
  }
  return hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
}

abut_status cloud_gap(const abut_cloud *c, double *out)
{
  const size_t every = c->count / FACES_MOST + 1, ray = c->count / RAYS_MOST + 1;
  const uint32_t *corner = c->face_indices;
  double worst = 0.0;
  tree t;
  *out = 0.0;
  if (!c->vertices || c->kernels) {
    return ABUT_SUCCESS;
  }
  TRY(make_tree(c, &t));
  const double diagonal = diagonal_of(c);
  for (size_t i = 0; i < c->count; corner += c->face_sizes[i++]) {
    for (uint32_t k = 0; i % every == 0 && k < c->face_sizes[i]; ++k) {
      const double *v = c->vertices + 3 * (size_t)corner[k], *p = c->points + 3 * i;
      const double middle[3] = {0.5 * (v[0] + p[0]), 0.5 * (v[1] + p[1]), 0.5 * (v[2] + p[2])};
      worst = fmax(worst, fabs(field_at(c, middle)));
    }
    worst = i % ray == 0 ? fmax(worst, lid(c, &t, i, corner, diagonal)) : worst;
  }
  tree_free(&t);
  *out = worst / diagonal;
  return ABUT_SUCCESS;
}
