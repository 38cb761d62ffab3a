/* Makes an oriented point cloud of a mesh.
 *
 * Smooth or fine parts of the mesh give their vertices with area-weighted normals. This does not
 * work for a long face at a sharp edge: the mixed normals of its corners do not fit any face, and
 * there are no points between them. Such a face, which is common in CAD parts, gives points inside
 * its own plane instead. */
#include "base/error.h"
#include "body/parts.h"
#include "mesh/surface/polygon.h"
#include <math.h>
#include <stdlib.h>

#define SPACINGS 32.0 /* spacings of the cloud along the mesh's diagonal */
#define SAMPLES_MOST 65536.0
/* cosine between a face's normal and a corner's: sharp beyond 20 degrees */
#define SHARP 0.94
#define POINT 7 /* position, normal, width */

typedef struct sampler {
  const abut_body_def *def;
  double spacing; /* [m] */
  double *points; /* the cloud */
  size_t count;
  double *normals;       /* (vertices, 3) area-weighted */
  unsigned char *coarse; /* (vertices) whether a sampled face has the vertex */
} sampler;

static const double *vertex(const sampler *s, uint32_t i)
{
  return s->def->vertices + 3 * (size_t)i;
}

static double distance(const double *a, const double *b)
{
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* Returns the number of parts for a triangle's longest side; 1 if the side is short. */
static size_t parts_of(const sampler *s, const double *a, const double *b, const double *c)
{
  const double longest = fmax(distance(a, b), fmax(distance(b, c), distance(c, a)));
  return longest > s->spacing ? (size_t)ceil(longest / s->spacing) : 1;
}

/* Whether a face with this unit normal is long and has a corner with a very different normal. */
static bool is_sampled(const sampler *s, const uint32_t *corner, uint32_t size,
                       const double normal[3])
{
  bool long_side = false, sharp = false;
  for (uint32_t k = 0; k < size; ++k) {
    const double *n = s->normals + 3 * (size_t)corner[k];
    const double length = hypot(hypot(n[0], n[1]), n[2]);
    const double along = n[0] * normal[0] + n[1] * normal[1] + n[2] * normal[2];
    sharp = sharp || along < SHARP * length;
    long_side = long_side ||
                distance(vertex(s, corner[k]), vertex(s, corner[(k + 1) % size])) > s->spacing;
  }
  return sharp && long_side;
}

/* Finds the unit normal of a face; false if its area is zero. */
static bool face_normal(const sampler *s, const uint32_t *corner, uint32_t size, double normal[3])
{
  polygon_area(s->def->vertices, corner, size, normal);
  const double length = hypot(hypot(normal[0], normal[1]), normal[2]);
  for (int i = 0; i < 3; ++i) {
    normal[i] /= length > 0.0 ? length : 1.0;
  }
  return length > 0.0;
}

/* Adds a point at barycentric (u, v), in units of 1 / (3 parts). */
static void add_sample(sampler *s, const double *const corner[3], size_t u, size_t v, size_t parts,
                       const double normal[3], double width)
{
  double *to = s->points + POINT * s->count++;
  const double x = (double)u / (3.0 * (double)parts), y = (double)v / (3.0 * (double)parts);
  for (int i = 0; i < 3; ++i) {
    to[i] = corner[0][i] + x * (corner[1][i] - corner[0][i]) + y * (corner[2][i] - corner[0][i]);
    to[3 + i] = normal[i];
  }
  to[6] = width;
}

/* Adds the centres of the parts^2 congruent triangles into which a triangle is cut. */
static void sample_triangle(sampler *s, const double *const corner[3], const double normal[3])
{
  const size_t parts = parts_of(s, corner[0], corner[1], corner[2]);
  const double longest = fmax(distance(corner[0], corner[1]),
                              fmax(distance(corner[1], corner[2]), distance(corner[2], corner[0])));
  const double width = fmax(0.5 * longest / (double)parts, 2e-6);
  for (size_t i = 0; i < parts; ++i) {
    for (size_t j = 0; i + j < parts; ++j) {
      add_sample(s, corner, 3 * i + 1, 3 * j + 1, parts, normal, width);
      if (i + j + 1 < parts) {
        add_sample(s, corner, 3 * i + 2, 3 * j + 2, parts, normal, width);
      }
    }
  }
}

static void add_normals(sampler *s)
{
  const uint32_t *corner = s->def->face_indices;
  for (size_t f = 0; f < s->def->face_count; corner += s->def->face_sizes[f], ++f) {
    double area[3];
    polygon_area(s->def->vertices, corner, s->def->face_sizes[f], area);
    for (uint32_t k = 0; k < s->def->face_sizes[f]; ++k) {
      for (size_t i = 0; i < 3; ++i) {
        s->normals[3 * (size_t)corner[k] + i] += area[i];
      }
    }
  }
}

static void take_face(sampler *s, const uint32_t *corner, uint32_t size)
{
  double normal[3];
  if (!face_normal(s, corner, size, normal) || !is_sampled(s, corner, size, normal)) {
    return;
  }
  for (uint32_t k = 0; k < size; ++k) {
    s->coarse[corner[k]] = 1;
  }
  for (uint32_t k = 1; k + 1 < size; ++k) {
    const double *const triangle[3] = {vertex(s, corner[0]), vertex(s, corner[k]),
                                       vertex(s, corner[k + 1])};
    sample_triangle(s, triangle, normal);
  }
}

/* Finds the mean length of the edges at each vertex. */
static abut_status mean_edges(const sampler *s, const uint32_t *edges, size_t edge_count,
                              double **out)
{
  void *sums = NULL, *degrees = NULL;
  abut_status status = ABUT_SUCCESS;
  const size_t count = s->def->vertex_count;
  TRY_DONE(allocate(&sums, count, sizeof(double)));
  TRY_DONE(allocate(&degrees, count, sizeof(uint32_t)));
  double *sum = sums;
  uint32_t *degree = degrees;
  for (size_t i = 0; i < 2 * edge_count; ++i) {
    sum[edges[i]] += distance(vertex(s, edges[i]), vertex(s, edges[i ^ 1]));
    ++degree[edges[i]];
  }
  for (size_t i = 0; i < count; ++i) {
    sum[i] /= degree[i] ? degree[i] : 1;
  }
  *out = sum;
  sums = NULL;
done:
  free(sums);
  free(degrees);
  return status;
}

/* Adds the vertices of no sampled face. Their width is the mean length of their edges. */
static abut_status take_vertices(sampler *s, const uint32_t *edges, size_t edge_count)
{
  double *widths = NULL;
  TRY(mean_edges(s, edges, edge_count, &widths));
  for (size_t i = 0; i < s->def->vertex_count; ++i) {
    const double *n = s->normals + 3 * i;
    const double length = hypot(hypot(n[0], n[1]), n[2]);
    if (s->coarse[i] || !(length > 0.0) || !(widths[i] > 1e-6)) {
      continue;
    }
    double *to = s->points + POINT * s->count++;
    for (size_t k = 0; k < 3; ++k) {
      to[k] = s->def->vertices[3 * i + k];
      to[3 + k] = n[k] / length;
    }
    to[6] = widths[i];
  }
  free(widths);
  return ABUT_SUCCESS;
}

/* Counts the samples for the present spacing. */
static double count_samples(const sampler *s)
{
  double samples = 0.0;
  const uint32_t *corner = s->def->face_indices;
  for (size_t i = 0; i < s->def->face_count; corner += s->def->face_sizes[i], ++i) {
    const uint32_t size = s->def->face_sizes[i];
    double normal[3];
    if (!face_normal(s, corner, size, normal) || !is_sampled(s, corner, size, normal)) {
      continue;
    }
    for (uint32_t k = 1; k + 1 < size; ++k) {
      const double parts =
        (double)parts_of(s, vertex(s, corner[0]), vertex(s, corner[k]), vertex(s, corner[k + 1]));
      samples += parts * parts;
    }
  }
  return samples;
}

/* Finds a spacing for which the number of samples is within bounds. Many thin faces need a larger
 * one. */
static double choose_spacing(sampler *s, double diagonal)
{
  s->spacing = fmax(diagonal / SPACINGS, 1e-5);
  double samples = count_samples(s);
  for (int i = 0; i < 64 && samples > SAMPLES_MOST; ++i) {
    s->spacing *= 1.25;
    samples = count_samples(s);
  }
  return samples;
}

abut_status make_mesh_cloud(const abut_body_def *def, double diagonal, const uint32_t *edges,
                            size_t edge_count, double **points, size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  sampler s = {.def = def};
  void *cloud = NULL, *normals = NULL, *coarse = NULL;
  TRY_DONE(allocate(&normals, def->vertex_count, 3 * sizeof(double)));
  TRY_DONE(allocate(&coarse, def->vertex_count, 1));
  s.normals = normals;
  s.coarse = coarse;
  add_normals(&s);
  const double samples = choose_spacing(&s, diagonal);
  TRY_DONE(allocate(&cloud, def->vertex_count + (size_t)samples, POINT * sizeof(double)));
  s.points = cloud;
  const uint32_t *corner = def->face_indices;
  for (size_t i = 0; i < def->face_count; corner += def->face_sizes[i], ++i) {
    take_face(&s, corner, def->face_sizes[i]);
  }
  TRY_DONE(take_vertices(&s, edges, edge_count));
  if (!s.count) {
    status = fail(ABUT_ERROR_BODY,
                  "every face of the mesh has area 0: no point cloud can be made from it");
    goto done;
  }
  *points = cloud;
  *count = s.count;
  cloud = NULL;
done:
  free(cloud);
  free(normals);
  free(coarse);
  return status;
}
