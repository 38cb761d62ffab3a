/* Planes that may replace a superquadric: those of its box, and those of the mesh's faces next to
 * it. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>

#define PLACES 4096    /* points on the mesh's surface */
#define NEAR 0.02      /* largest distance from a primitive's surface, by its field */
#define SEEDS_MOST 512 /* points of a primitive among which faces are searched */
#define ONE_FACE 0.94  /* least cosine between the normals of one face: 20 degrees */
#define FACE_LEAST 6   /* least number of points of a face */
/* a side of the box gets a plane if its cosine to every face's normal is at most this */
#define BESIDE 0.7
#define TURNS 3 /* iterations of taking a face's mean and the points near it */

/* ---- points on the mesh ---- */

static uint32_t nearest_of(const primitives *p, const double x[3])
{
  uint32_t best = UINT32_MAX;
  double least = NEAR;
  for (uint32_t l = 0; l < p->count; ++l) {
    const primitive *q = &p->at[l];
    const double off = q->part ? HUGE_VAL
                               : fabs(q->parts ? polyhedron_beyond(q, x) : primitive_field(q, x));
    if (off < least) {
      best = l;
      least = off;
    }
  }
  return best;
}

/* Divides the total area into equal shares, and takes a random point in each. */
static void take_places(const surface *s, uint64_t seed, double area, facets *f)
{
  size_t triangle = 0;
  double own[3], before = 0.0;
  triangle_area(s, 0, own);
  double size = sqrt(dot(own, own));
  for (size_t i = 0; i < f->count; ++i) {
    const double at = area * ((double)i + uniform_at(seed, i, 4)) / (double)f->count;
    while (before + size < at && triangle + 1 < s->triangle_count) {
      before += size;
      triangle_area(s, ++triangle, own);
      size = sqrt(dot(own, own));
    }
    const double root = sqrt(uniform_at(seed, i, 5)), along = uniform_at(seed, i, 6);
    const double weight[3] = {1.0 - root, root * (1.0 - along), root * along};
    for (size_t k = 0; k < 3; ++k) {
      for (size_t corner = 0; corner < 3; ++corner) {
        f->x[3 * i + k] += weight[corner] * s->points[3 * s->triangles[3 * triangle + corner] + k];
      }
      f->normal[3 * i + k] = size > 0.0 ? own[k] / size : 0.0;
    }
  }
}

abut_status facets_find(const decomposition *d, const primitives *p, facets *out)
{
  void *memory;
  double area = 0.0;
  *out = (facets){.count = PLACES};
  TRY(allocate(&memory, PLACES, 3 * sizeof(double)));
  out->x = memory;
  TRY(allocate(&memory, PLACES, 3 * sizeof(double)));
  out->normal = memory;
  TRY(allocate(&memory, PLACES, sizeof(uint32_t)));
  out->nearest = memory;
  for (size_t i = 0; i < d->of->triangle_count; ++i) {
    double own[3];
    triangle_area(d->of, i, own);
    area += sqrt(dot(own, own));
  }
  take_places(d->of, d->options->seed, area, out);
  for (size_t i = 0; i < PLACES; ++i) {
    out->nearest[i] = nearest_of(p, out->x + 3 * i);
  }
  return ABUT_SUCCESS;
}

void facets_free(facets *f)
{
  free(f->x);
  free(f->normal);
  free(f->nearest);
  *f = (facets){.count = 0};
}

/* ---- planes ---- */

/* The points next to a primitive, relative to its centre, with outward normals. left: points that
 * no face has taken. */
typedef struct beside {
  double y[SEEDS_MOST][3], normal[SEEDS_MOST][3];
  bool left[SEEDS_MOST];
  size_t count;
} beside;

static void choose_beside(const facets *f, const primitive *p, size_t l, beside *b)
{
  size_t of = 0, at = 0;
  for (size_t i = 0; i < f->count; ++i) {
    of += f->nearest[i] == l;
  }
  b->count = of < SEEDS_MOST ? of : SEEDS_MOST;
  for (size_t i = 0, seen = 0; i < f->count && at < b->count; ++i) {
    if (f->nearest[i] != l || seen++ != at * of / b->count) {
      continue;
    }
    difference(f->x + 3 * i, p->centre, b->y[at]);
    for (size_t k = 0; k < 3; ++k) {
      b->normal[at][k] = p->away ? -f->normal[3 * i + k] : f->normal[3 * i + k];
    }
    b->left[at++] = true;
  }
}

/* Counts the free points whose normals are near `n`, and gives the sum of the normals. */
static size_t gather(const beside *b, const double n[3], double sum[3])
{
  size_t count = 0;
  sum[0] = sum[1] = sum[2] = 0.0;
  for (size_t i = 0; i < b->count; ++i) {
    if (b->left[i] && dot(b->normal[i], n) > ONE_FACE) {
      ++count;
      for (int k = 0; k < 3; ++k) {
        sum[k] += b->normal[i][k];
      }
    }
  }
  return count;
}

static int compare_reals(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Takes the points of the largest face. Its distance is the median of its points. Returns whether a
 * face was found. */
static bool take_face(beside *b, double plane[4])
{
  double sum[3], distances[SEEDS_MOST];
  size_t most = 0, count = 0;
  for (size_t i = 0; i < b->count; ++i) {
    const size_t of = b->left[i] ? gather(b, b->normal[i], sum) : 0;
    if (of > most) {
      most = of;
      for (int k = 0; k < 3; ++k) {
        plane[k] = b->normal[i][k];
      }
    }
  }
  if (most < FACE_LEAST) {
    return false;
  }
  for (int turn = 0; turn < TURNS && gather(b, plane, sum); ++turn) {
    const double length = sqrt(dot(sum, sum));
    for (int k = 0; k < 3; ++k) {
      plane[k] = sum[k] / length;
    }
  }
  for (size_t i = 0; i < b->count; ++i) {
    if (b->left[i] && dot(b->normal[i], plane) > ONE_FACE) {
      distances[count++] = dot(b->y[i], plane);
      b->left[i] = false;
    }
  }
  qsort(distances, count, sizeof *distances, compare_reals);
  plane[3] = count ? distances[count / 2] : 0.0;
  return count > 0;
}

size_t box_planes(const primitive *p, double (*planes)[4])
{
  const double box = 8.0 * p->axes[0] * p->axes[1] * p->axes[2];
  const double shrunk = cbrt(primitive_volume(p) / box);
  for (size_t i = 0; i < 6; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      planes[i][k] = (i % 2 ? -1.0 : 1.0) * p->turn[3 * k + i / 2];
    }
    planes[i][3] = shrunk * p->axes[i / 2];
  }
  return 6;
}

size_t facets_planes(const facets *f, const primitives *p, size_t l, double (*planes)[4])
{
  beside b;
  double sides[6][4];
  size_t count = 0;
  choose_beside(f, &p->at[l], l, &b);
  while (count < PLANES_MOST && take_face(&b, planes[count])) {
    ++count;
  }
  box_planes(&p->at[l], sides);
  for (size_t i = 0; i < 6; ++i) {
    bool faced = count == PLANES_MOST;
    for (size_t k = 0; k < count && !faced; ++k) {
      faced = dot(sides[i], planes[k]) > BESIDE;
    }
    for (size_t k = 0; k < 4 && !faced; ++k) {
      planes[count][k] = sides[i][k];
    }
    count += !faced;
  }
  return count;
}
