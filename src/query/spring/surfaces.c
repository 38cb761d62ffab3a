#include "query/spring/surfaces.h"

#include "base/error.h"
#include "base/memory.h"
#include "geometry/spring.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void surfaces_free(packed_surfaces *p)
{
  free(p->ints);
  free(p->vertices.data);
}

static abut_status check_surface(const abut_cloud *c, size_t cloud, size_t *corners)
{
  if (!c->vertices || !c->face_sizes || !c->face_indices || !c->vertex_count) {
    return fail(ABUT_ERROR_BODY,
                "cloud %zu has no vertices: only clouds made of faces have soft points", cloud);
  }
  *corners = 0;
  for (size_t i = 0; i < c->count; ++i) {
    for (uint32_t k = 0; k < c->face_sizes[i]; ++k) {
      if (c->face_indices[*corners + k] >= c->vertex_count) {
        return fail(ABUT_ERROR_BODY,
                    "face %zu of cloud %zu uses vertex %u, but there are only %zu vertices", i,
                    cloud, (unsigned)c->face_indices[*corners + k], c->vertex_count);
      }
    }
    *corners += c->face_sizes[i];
  }
  return ABUT_SUCCESS;
}

/* Lists the faces around each vertex, in the faces' order. */
static void put_faces(const abut_cloud *c, int *starts, int *of, int *corners)
{
  const uint32_t *index = c->face_indices;
  for (size_t i = 0; i < c->count; ++i) {
    for (uint32_t k = 0; k < c->face_sizes[i]; ++k) {
      ++starts[*index++ + 1];
    }
  }
  for (size_t i = 0; i < c->vertex_count; ++i) {
    starts[i + 1] += starts[i];
  }
  index = c->face_indices;
  for (size_t i = 0; i < c->count; ++i) {
    for (uint32_t k = 0; k < c->face_sizes[i]; ++k) {
      const int at = starts[*index++]++;
      of[at] = (int)i;
      corners[at] = (int)c->face_sizes[i];
    }
  }
  for (size_t i = c->vertex_count; i > 0; --i) { /* restores the start of each list */
    starts[i] = starts[i - 1];
  }
  starts[0] = 0;
}

abut_status pack_surfaces(const abut_cloud *clouds, size_t count, size_t real_size,
                          packed_surfaces *out)
{
  size_t ints = SPRING_SURFACE_INTS * count, numbers = 0;
  void *memory = NULL;
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < count; ++i) {
    size_t corners;
    TRY(check_surface(clouds + i, i, &corners));
    ints += clouds[i].vertex_count + 1 + 2 * corners;
    numbers += 3 * clouds[i].vertex_count;
    if (ints > INT_MAX || numbers > INT_MAX) {
      return fail(ABUT_ERROR_BODY, "the clouds of a call have too many vertices");
    }
  }
  TRY(allocate(&memory, ints, sizeof(int)));
  out->ints = memory;
  out->int_count = ints;
  TRY(reals_create(&out->vertices, numbers + 1, real_size));
  size_t at = SPRING_SURFACE_INTS * count, number = 0;
  for (size_t i = 0; i < count; ++i) {
    const abut_cloud *c = clouds + i;
    int *head = out->ints + SPRING_SURFACE_INTS * i;
    size_t corners;
    TRY(check_surface(c, i, &corners));
    head[SPRING_SURFACE_COUNT] = (int)c->vertex_count;
    head[SPRING_SURFACE_FACES] = (int)c->count;
    head[SPRING_SURFACE_STARTS] = (int)at;
    head[SPRING_SURFACE_OF] = (int)(at + c->vertex_count + 1);
    head[SPRING_SURFACE_CORNERS] = (int)(at + c->vertex_count + 1 + corners);
    head[SPRING_SURFACE_VERTICES] = (int)number;
    put_faces(c, out->ints + at, out->ints + head[SPRING_SURFACE_OF],
              out->ints + head[SPRING_SURFACE_CORNERS]);
    at += c->vertex_count + 1 + 2 * corners;
    for (size_t k = 0; k < 3 * c->vertex_count; ++k) {
      reals_set(&out->vertices, number++, c->vertices[k]);
    }
  }
  return ABUT_SUCCESS;
}
