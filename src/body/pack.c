#include "body/parts.h"

#include "base/error.h"
#include "geometry/layout.h"
#include <math.h>
#include <stdlib.h>

#define LOG2E_DOUBLE 1.44269504088896340736
#define EXPONENT_INVERSE_MOST 1e30 /* keeps differences times 1/e finite in float */

/* Where the next numbers go while a body is packed. */
typedef struct packer {
  int *head;
  reals *shape;
  size_t at;     /* next real */
  size_t ranges; /* next (first, count) of head */
} packer;

static void rotation_of(const double q[4], double m[9])
{
  const double scale = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
  double w = q[0] / scale, x = q[1] / scale, y = q[2] / scale, z = q[3] / scale;
  const double length = sqrt(w * w + x * x + y * y + z * z);
  w /= length;
  x /= length;
  y /= length;
  z /= length;
  m[0] = 1 - 2 * (y * y + z * z);
  m[1] = 2 * (x * y - w * z);
  m[2] = 2 * (x * z + w * y);
  m[3] = 2 * (x * y + w * z);
  m[4] = 1 - 2 * (x * x + z * z);
  m[5] = 2 * (y * z - w * x);
  m[6] = 2 * (x * z - w * y);
  m[7] = 2 * (y * z + w * x);
  m[8] = 1 - 2 * (x * x + y * y);
}

/* The largest A u + B w over u^(1/e) + w^(1/e) = 1, u, w >= 0, or the least: by the sign of 1 - e
 * one is at a corner, the other a dual norm. */
static double extreme(double a, double b, double e, bool largest)
{
  const double corner = largest ? fmax(a, b) : fmin(a, b);
  if (largest == (e >= 1.0)) {
    return corner;
  }
  const double q = 1.0 / (1.0 - e);
  return corner * pow(pow(a / corner, q) + pow(b / corner, q), 1.0 - e);
}

/* The largest or the least sum of (A_i y_i / axes_i)^2 over the surface, a little rounded outwards.
 * With the axes for A, that is the square of the distance from the centre. */
static double extreme2(const abut_superquadric *s, const double a[3], bool largest)
{
  const double across = extreme(a[0] * a[0], a[1] * a[1], s->exponents[1], largest);
  const double all = extreme(across, a[2] * a[2], s->exponents[0], largest);
  return all * (largest ? 1.0 + 2e-5 : 1.0 - 2e-5);
}

static void pack_superquadric(packer *p, const abut_superquadric *s)
{
  double m[9], size2 = 0.0;
  rotation_of(s->quaternion, m);
  for (size_t i = 0; i < 9; ++i) {
    reals_set(p->shape, p->at + i, m[i]);
  }
  for (size_t i = 0; i < 3; ++i) {
    reals_set(p->shape, p->at + SUPERQUADRIC_POSITION + i, s->position[i]);
    reals_set(p->shape, p->at + SUPERQUADRIC_AXES_INV + i, 1.0 / s->axes[i]);
    size2 += s->axes[i] * s->axes[i];
  }
  const double e1 = s->exponents[0], e2 = s->exponents[1];
  reals_set(p->shape, p->at + SUPERQUADRIC_E1, e1);
  reals_set(p->shape, p->at + SUPERQUADRIC_E1_INV, fmin(1.0 / e1, EXPONENT_INVERSE_MOST));
  reals_set(p->shape, p->at + SUPERQUADRIC_E2, e2);
  reals_set(p->shape, p->at + SUPERQUADRIC_E2_INV, fmin(1.0 / e2, EXPONENT_INVERSE_MOST));
  reals_set(p->shape, p->at + SUPERQUADRIC_FLOOR, 1e-12 * size2);
  static const double even[3] = {1.0, 1.0, 1.0};
  reals_set(p->shape, p->at + SUPERQUADRIC_OUTER, sqrt(extreme2(s, s->axes, true)));
  reals_set(p->shape, p->at + SUPERQUADRIC_MOST, sqrt(extreme2(s, even, true)));
  reals_set(p->shape, p->at + SUPERQUADRIC_LEAST, sqrt(extreme2(s, even, false)));
  for (size_t i = 0; i < 9; ++i) {
    reals_set(p->shape, p->at + SUPERQUADRIC_MAP + i, m[i % 3 * 3 + i / 3] / s->axes[i / 3]);
  }
  p->at += SUPERQUADRIC_STRIDE;
}

/* Spheres of the superquadrics of one operation. Padding is never looked at. */
static void pack_balls(packer *p, const abut_body_def *def, int operation)
{
  const size_t padded = PADDED_BALLS((size_t)p->head[HEAD_SUPERQUADRICS + operation]);
  p->head[HEAD_BALLS + operation] = (int)p->at;
  size_t at = p->at;
  for (size_t i = 0; i < def->superquadric_count; ++i) {
    const abut_superquadric *s = &def->superquadrics[i];
    if ((int)s->operation != operation) {
      continue;
    }
    for (size_t k = 0; k < 3; ++k) {
      reals_set(p->shape, at + k * padded, s->position[k]);
    }
    reals_set(p->shape, at++ + 3 * padded, sqrt(extreme2(s, s->axes, true)));
  }
  p->at += BALL_PLANES * padded;
}

/* n / |n| without overflow; |n| > 0. */
static void normalise(const double n[3], double out[3])
{
  const double length = hypot(hypot(n[0], n[1]), n[2]);
  for (int i = 0; i < 3; ++i) {
    out[i] = n[i] / length;
  }
}

static void pack_range(packer *p, size_t first, size_t count)
{
  p->head[p->ranges++] = (int)first;
  p->head[p->ranges++] = (int)count;
}

static void pack_polyhedron(packer *p, const abut_polyhedron *c, size_t first)
{
  pack_range(p, first, c->count);
  for (size_t i = 0; i < c->count; ++i, p->at += PLANE_STRIDE) {
    const double *plane = c->planes + 6 * i;
    double n[3];
    normalise(plane, n);
    for (size_t k = 0; k < 3; ++k) {
      reals_set(p->shape, p->at + k, n[k]);
    }
    reals_set(p->shape, p->at + 3, n[0] * plane[3] + n[1] * plane[4] + n[2] * plane[5]);
  }
}

#define CLOUD_FAR 4.0 /* cloud radii from its centre */

static void pack_cloud_record(packer *p, const abut_pointcloud *c)
{
  double centre[3] = {0.0, 0.0, 0.0}, far2 = 0.0, widest = 0.0;
  for (size_t i = 0; i < c->count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      centre[k] += c->points[7 * i + k] / (double)c->count;
    }
  }
  for (size_t i = 0; i < c->count; ++i) {
    const double *point = c->points + 7 * i;
    const double x = point[0] - centre[0], y = point[1] - centre[1], z = point[2] - centre[2];
    far2 = fmax(far2, CLOUD_FAR * CLOUD_FAR * (x * x + y * y + z * z));
    widest = fmax(widest, point[6]);
  }
  for (size_t k = 0; k < 3; ++k) {
    reals_set(p->shape, p->at + k, centre[k]);
  }
  reals_set(p->shape, p->at + CLOUD_FAR2, far2);
  reals_set(p->shape, p->at + CLOUD_WIDEST, 0.5 * LOG2E_DOUBLE / (widest * widest));
  p->at += POINT_STRIDE;
}

static void pack_pointcloud(packer *p, const abut_pointcloud *c, size_t first)
{
  pack_range(p, first, c->count);
  pack_cloud_record(p, c);
  for (size_t i = 0; i < c->count; ++i, p->at += POINT_STRIDE) {
    const double *point = c->points + 7 * i;
    double n[3];
    normalise(point + 3, n);
    for (size_t k = 0; k < 3; ++k) {
      reals_set(p->shape, p->at + k, point[k]);
      reals_set(p->shape, p->at + 3 + k, n[k]);
    }
    const double width2 = point[6] * point[6];
    reals_set(p->shape, p->at + 6, 1.0 / width2);
    reals_set(p->shape, p->at + 7, 0.5 * LOG2E_DOUBLE / width2);
  }
}

/* Each family, added primitives before subtracted ones. */
static void pack_superquadrics(packer *p, const abut_body_def *def)
{
  p->head[HEAD_SUPERQUADRIC_BASE] = (int)p->at;
  for (int operation = 0; operation < 2; ++operation) {
    for (size_t i = 0; i < def->superquadric_count; ++i) {
      if ((int)def->superquadrics[i].operation == operation) {
        pack_superquadric(p, &def->superquadrics[i]);
        ++p->head[HEAD_SUPERQUADRICS + operation];
      }
    }
  }
}

static void pack_polyhedra(packer *p, const abut_body_def *def)
{
  p->head[HEAD_PLANE_BASE] = (int)p->at;
  size_t first = 0;
  for (int operation = 0; operation < 2; ++operation) {
    for (size_t i = 0; i < def->polyhedron_count; ++i) {
      if ((int)def->polyhedra[i].operation == operation) {
        pack_polyhedron(p, &def->polyhedra[i], first);
        first += def->polyhedra[i].count;
        ++p->head[HEAD_POLYHEDRA + operation];
      }
    }
  }
}

static void pack_pointclouds(packer *p, const abut_body_def *def, const abut_pointcloud *cloud)
{
  p->head[HEAD_POINT_BASE] = (int)p->at;
  size_t first = 0;
  for (int operation = 0; operation < 2; ++operation) {
    for (size_t i = 0; i < def->pointcloud_count + (cloud ? 1 : 0); ++i) {
      const abut_pointcloud *c = i < def->pointcloud_count ? &def->pointclouds[i] : cloud;
      if ((int)c->operation == operation) {
        pack_pointcloud(p, c, first);
        first += c->count + 1; /* with the cloud's own record */
        ++p->head[HEAD_POINTCLOUDS + operation];
      }
    }
  }
}

abut_status pack_primitives(const abut_body_def *def, const abut_pointcloud *cloud,
                            size_t real_size, int **head, size_t *head_count, reals *shape)
{
  size_t planes = 0, points = cloud ? cloud->count + 1 : 0;
  for (size_t i = 0; i < def->polyhedron_count; ++i) {
    planes += def->polyhedra[i].count;
  }
  for (size_t i = 0; i < def->pointcloud_count; ++i) {
    points += def->pointclouds[i].count + 1;
  }
  size_t balls = 0; /* of either operation at most these */
  if (def->superquadric_count) {
    balls = 2 * PADDED_BALLS(def->superquadric_count);
  }
  const size_t count = def->superquadric_count * SUPERQUADRIC_STRIDE + balls * BALL_PLANES +
                       planes * PLANE_STRIDE + points * POINT_STRIDE;
  if (count > 0x7fffffff) {
    return fail(ABUT_ERROR_BODY, "the body has too many primitives: %zu numbers", count);
  }
  *head_count = HEAD_RANGES +
                2 * (def->polyhedron_count + def->pointcloud_count + (cloud ? 1 : 0));
  void *memory = NULL;
  TRY(allocate(&memory, *head_count, sizeof(int)));
  *head = memory;
  TRY(reals_create(shape, count, real_size));
  packer p = {*head, shape, 0, HEAD_RANGES};
  pack_superquadrics(&p, def);
  pack_balls(&p, def, 0);
  pack_balls(&p, def, 1);
  pack_polyhedra(&p, def);
  pack_pointclouds(&p, def, cloud);
  return ABUT_SUCCESS;
}
