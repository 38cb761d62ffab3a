/* Oriented point clouds of meshes, with one point per face. They are computed once per body, in
 * double. */
#include "base/error.h"
#include "base/memory.h"
#include "format/mesh.h"
#include <abut/spring.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAT 1e-12     /* a face with a smaller share of the largest face's area is degenerate */
#define OPEN 1e-6      /* largest sum of the faces' area vectors, relative to the total area */
#define EPS1_SHARE 8.0 /* default eps1 is the mean area of a face divided by this */

void abut_free_cloud(abut_cloud *cloud)
{
  if (cloud) {
    free(cloud->points);
    free(cloud->normals);
    free(cloud->log_weights);
    free(cloud->eps1);
    free(cloud->kernels);
    free(cloud->vertices);
    free(cloud->face_sizes);
    free(cloud->face_indices);
    memset(cloud, 0, sizeof *cloud);
  }
}

static abut_status make_room(size_t count, abut_cloud *cloud)
{
  if (!count || count > ABUT_CLOUD_POINTS_MOST) {
    return fail(ABUT_ERROR_BODY, "a cloud cannot have %zu points; give 1 to %d", count,
                ABUT_CLOUD_POINTS_MOST);
  }
  void *points = NULL, *normals = NULL, *weights = NULL, *eps1 = NULL;
  abut_status status = allocate(&points, 3 * count, sizeof(double));
  status = status == ABUT_SUCCESS ? allocate(&normals, 3 * count, sizeof(double)) : status;
  status = status == ABUT_SUCCESS ? allocate(&weights, count, sizeof(double)) : status;
  status = status == ABUT_SUCCESS ? allocate(&eps1, count, sizeof(double)) : status;
  *cloud = (abut_cloud){.count = count,
                        .points = points,
                        .normals = normals,
                        .log_weights = weights,
                        .eps1 = eps1};
  return status;
}

/* Computes a polygon's area vector, with corners relative to the first one. */
static void area_vector(const double *vertices, const uint32_t *corners, uint32_t size,
                        double out[3])
{
  const double *first = vertices + 3 * (size_t)corners[0];
  memset(out, 0, 3 * sizeof *out);
  for (uint32_t i = 1; i + 1 < size; ++i) {
    const double *b = vertices + 3 * (size_t)corners[i], *c = vertices + 3 * (size_t)corners[i + 1];
    for (int k = 0; k < 3; ++k) {
      const int y = (k + 1) % 3, z = (k + 2) % 3;
      out[k] +=
        0.5 * ((b[y] - first[y]) * (c[z] - first[z]) - (b[z] - first[z]) * (c[y] - first[y]));
    }
  }
}

typedef struct totals {
  double area, largest, vector[3], volume; /* `volume` holds three times the volume */
} totals;

/* Fills a face's point and its area vector; log_weights holds areas for now. */
static void add_face(const double *vertices, const uint32_t *corners, uint32_t size, size_t face,
                     abut_cloud *cloud, totals *all)
{
  double *p = cloud->points + 3 * face, *n = cloud->normals + 3 * face;
  area_vector(vertices, corners, size, n);
  for (uint32_t i = 0; i < size; ++i) {
    for (int k = 0; k < 3; ++k) {
      p[k] += vertices[3 * (size_t)corners[i] + (size_t)k] / (double)size;
    }
  }
  const double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  cloud->log_weights[face] = area;
  all->area += area;
  all->largest = fmax(all->largest, area);
  for (int k = 0; k < 3; ++k) {
    all->vector[k] += n[k];
    all->volume += n[k] * p[k];
  }
}

/* Refuses a surface that is not closed, or that faces inwards. */
static abut_status check_surface(const abut_cloud *cloud, const totals *all)
{
  for (size_t i = 0; i < cloud->count; ++i) {
    if (!(cloud->log_weights[i] > FLAT * all->largest)) {
      return fail(ABUT_ERROR_BODY, "face %zu has no area", i);
    }
  }
  const double *v = all->vector;
  if (!(sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) <= OPEN * all->area)) {
    return fail(ABUT_ERROR_BODY, "the mesh is open: its faces' areas do not add up to 0");
  }
  if (!(all->volume > 0.0)) {
    return fail(ABUT_ERROR_BODY, "the mesh is inside out: its volume is not above 0");
  }
  return ABUT_SUCCESS;
}

static abut_status check_faces(size_t vertex_count, const double *vertices, size_t face_count,
                               const uint32_t *sizes, const uint32_t *indices)
{
  if (!vertices || !sizes || !indices) {
    return fail(ABUT_ERROR_ARGUMENT, "the vertices or the faces of the mesh are NULL");
  }
  for (size_t i = 0; i < 3 * vertex_count; ++i) {
    if (!isfinite(vertices[i])) {
      return fail(ABUT_ERROR_BODY, "vertex %zu is not finite", i / 3);
    }
  }
  for (size_t i = 0; i < face_count; indices += sizes[i++]) {
    for (uint32_t k = 0; k < sizes[i]; ++k) {
      if (indices[k] >= vertex_count) {
        return fail(ABUT_ERROR_BODY, "face %zu uses vertex %u, but there are only %zu vertices", i,
                    (unsigned)indices[k], vertex_count);
      }
    }
    if (sizes[i] < 3) {
      return fail(ABUT_ERROR_BODY, "face %zu has %u corners; at least 3 are needed", i,
                  (unsigned)sizes[i]);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status fill(const double *vertices, const uint32_t *sizes, const uint32_t *indices,
                        double eps1, bool area_weight, abut_cloud *cloud)
{
  totals all = {0};
  for (size_t i = 0; i < cloud->count; indices += sizes[i++]) {
    add_face(vertices, indices, sizes[i], i, cloud, &all);
  }
  TRY(check_surface(cloud, &all));
  const double mean = all.area / (double)cloud->count;
  for (size_t i = 0; i < cloud->count; ++i) {
    const double area = cloud->log_weights[i];
    for (size_t k = 0; k < 3; ++k) {
      cloud->normals[3 * i + k] /= area;
    }
    cloud->log_weights[i] = area_weight ? log(area / mean) : 0.0;
    cloud->eps1[i] = eps1 > 0.0 ? eps1 : mean / EPS1_SHARE;
  }
  return ABUT_SUCCESS;
}

static abut_status copy(const void *from, size_t count, size_t size, void **out)
{
  TRY(allocate(out, count + 1, size));
  memcpy(*out, from, count * size);
  return ABUT_SUCCESS;
}

/* Stores the vertices and faces, which soft collision points need. */
static abut_status keep_faces(size_t vertex_count, const double *vertices, const uint32_t *sizes,
                              const uint32_t *indices, abut_cloud *cloud)
{
  void *memory = NULL;
  size_t corners = 0;
  for (size_t i = 0; i < cloud->count; ++i) {
    corners += sizes[i];
  }
  TRY(copy(vertices, 3 * vertex_count, sizeof *vertices, &memory));
  cloud->vertices = memory;
  cloud->vertex_count = vertex_count;
  TRY(copy(sizes, cloud->count, sizeof *sizes, &memory));
  cloud->face_sizes = memory;
  TRY(copy(indices, corners, sizeof *indices, &memory));
  cloud->face_indices = memory;
  return ABUT_SUCCESS;
}

abut_status abut_make_cloud(size_t vertex_count, const double *vertices, size_t face_count,
                            const uint32_t *face_sizes, const uint32_t *face_indices, double eps1,
                            bool area_weight, abut_cloud *cloud)
{
  if (!cloud || !(eps1 >= 0.0) || !isfinite(eps1)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "making a cloud: the output pointer is NULL, or eps1 is below 0");
  }
  memset(cloud, 0, sizeof *cloud);
  TRY(check_faces(vertex_count, vertices, face_count, face_sizes, face_indices));
  abut_status status = make_room(face_count, cloud);
  if (status == ABUT_SUCCESS) {
    status = fill(vertices, face_sizes, face_indices, eps1, area_weight, cloud);
  }
  if (status == ABUT_SUCCESS) {
    status = keep_faces(vertex_count, vertices, face_sizes, face_indices, cloud);
  }
  if (status != ABUT_SUCCESS) {
    abut_free_cloud(cloud);
  }
  return status;
}

abut_status abut_load_cloud(const char *path, double eps1, bool area_weight, abut_cloud *cloud)
{
  if (!path || !cloud) {
    return fail(ABUT_ERROR_ARGUMENT, "loading a cloud: the path or the output pointer is NULL");
  }
  mesh m;
  memset(cloud, 0, sizeof *cloud);
  TRY(mesh_read(path, &m));
  const abut_status status = abut_make_cloud(m.vertex_count, m.vertices, m.face_count, m.face_sizes,
                                             m.face_indices, eps1, area_weight, cloud);
  cloud->trailing = status == ABUT_SUCCESS ? m.trailing : 0;
  mesh_free(&m);
  return status;
}

abut_status abut_make_cloud_of_points(size_t count, const double *points, abut_cloud *cloud)
{
  if (!points || !cloud) {
    return fail(ABUT_ERROR_ARGUMENT, "making a cloud: the points or the output pointer is NULL");
  }
  const abut_status status = make_room(count, cloud);
  for (size_t i = 0; status == ABUT_SUCCESS && i < count; ++i) {
    const double *p = points + 7 * i;
    const double length = sqrt(p[3] * p[3] + p[4] * p[4] + p[5] * p[5]);
    for (size_t k = 0; k < 3; ++k) {
      cloud->points[3 * i + k] = p[k];
      cloud->normals[3 * i + k] = length > 0.0 ? p[3 + k] / length : 0.0;
    }
    cloud->eps1[i] = p[6];
  }
  if (status != ABUT_SUCCESS) {
    abut_free_cloud(cloud);
  }
  return status;
}
