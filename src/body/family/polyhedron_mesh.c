#include "body/family/polyhedron_mesh.h"

#include "base/error.h"
#include "math/vector.h"
#include <math.h>
#include <string.h>

/* A vertex is on a plane, or coincides with another vertex, if the distance is below this share of
 * the mesh's extent. Files may have coordinates with only five digits. */
#define ON_PLANE 2e-5
/* Planes are parallel if their normals agree to this tolerance. They are the same plane if their
 * distance is small, too. */
#define SAME_NORMAL 1e-9

typedef struct side {
  double normal[3], point[3];
} side;

static void less(const double *a, const double *b, double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = a[k] - b[k];
  }
}

static side side_of(const double *row)
{
  side s;
  const double length = sqrt(dot(row, row));
  for (int k = 0; k < 3; ++k) {
    s.normal[k] = row[k] / length;
    s.point[k] = row[3 + k];
  }
  return s;
}

/* Whether an earlier plane is the same, so that its face already exists. */
static bool is_repeated(const abut_polyhedron *p, size_t i, double near)
{
  const side own = side_of(&p->planes[6 * i]);
  for (size_t k = 0; k < i; ++k) {
    const side other = side_of(&p->planes[6 * k]);
    double between[3];
    less(own.point, other.point, between);
    if (dot(own.normal, other.normal) > 1.0 - SAME_NORMAL &&
        fabs(dot(between, own.normal)) <= near) {
      return true;
    }
  }
  return false;
}

static double extent_of(const abut_body_def *def)
{
  double most = 0.0;
  for (size_t i = 0; i < def->vertex_count; ++i) {
    double x[3];
    less(&def->vertices[3 * i], def->vertices, x);
    most = fmax(most, dot(x, x));
  }
  return sqrt(most);
}

/* Twice the area of the triangle of three vertices; positive if counterclockwise seen against the
 * normal. */
static double turn(const abut_body_def *def, const side *s, uint32_t from, uint32_t to, uint32_t at)
{
  double a[3], b[3];
  less(&def->vertices[(size_t)3 * to], &def->vertices[(size_t)3 * from], a);
  less(&def->vertices[(size_t)3 * at], &def->vertices[(size_t)3 * from], b);
  const double across[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                            a[0] * b[1] - a[1] * b[0]};
  return dot(across, s->normal);
}

static double distance2(const abut_body_def *def, uint32_t i, uint32_t k)
{
  double x[3];
  less(&def->vertices[(size_t)3 * i], &def->vertices[(size_t)3 * k], x);
  return dot(x, x);
}

/* Writes the corners of the convex hull of the `count` vertices `on` a plane, counterclockwise.
 * Returns their number, which is below 3 if the hull has no area. Vertices inside the polygon or on
 * its sides are not corners. */
static size_t wrap(const abut_body_def *def, const side *s, const uint32_t *on, size_t count,
                   double near, uint32_t *out)
{
  uint32_t first = on[0];
  for (size_t i = 1; i < count; ++i) { /* the vertex farthest from any other is a corner */
    first = distance2(def, on[i], on[0]) > distance2(def, first, on[0]) ? on[i] : first;
  }
  size_t corners = 0;
  uint32_t at = first;
  do {
    uint32_t next = at;
    for (size_t i = 0; i < count; ++i) {
      const double far = sqrt(distance2(def, on[i], at)), so_far = sqrt(distance2(def, next, at));
      if (far <= near) {
        continue; /* the vertex itself, or a coinciding one */
      }
      const double left = next == at ? -1.0 : turn(def, s, at, next, on[i]);
      const double straight = near * so_far;
      if (left < -straight || (left <= straight && far > so_far)) {
        next = on[i];
      }
    }
    out[corners++] = at;
    at = next;
  } while (at != first && corners < count);
  return at == first ? corners : 0;
}

/* Whether the faces form a closed convex body, by Euler's formula, where each edge has two corners.
 * `seen`: room for the vertices. */
static bool is_closed(const uint32_t *corners, size_t corner_count, size_t faces, size_t vertices,
                      uint32_t *seen)
{
  size_t used = 0;
  memset(seen, 0, vertices * sizeof *seen);
  for (size_t i = 0; i < corner_count; ++i) {
    used += !seen[corners[i]];
    seen[corners[i]] = 1;
  }
  return faces >= 4 && 2 * (used + faces) == corner_count + 4;
}

static bool wants_faces(const abut_body_def *d)
{
  const size_t others = d->superquadric_count + d->pointcloud_count + d->grid_count +
                        d->height_field_count + d->core_count;
  return d->vertex_count >= 4 && !d->face_count && !d->edge_count && !d->states_features &&
         !d->cloud_from_mesh && !others && d->polyhedron_count == 1 &&
         d->polyhedra[0].operation == ABUT_ADD && d->cones != ABUT_CONES_GIVEN;
}

/* Writes the vertices on a plane to `on`, and returns their number. Only the first of coinciding
 * vertices is included. */
static size_t find_on(const abut_body_def *def, const side *s, double near, uint32_t *on)
{
  size_t count = 0;
  for (size_t k = 0; k < def->vertex_count; ++k) {
    double x[3];
    less(&def->vertices[3 * k], s->point, x);
    bool taken = fabs(dot(x, s->normal)) > near;
    for (size_t i = 0; i < count && !taken; ++i) {
      taken = distance2(def, on[i], (uint32_t)k) <= near * near;
    }
    if (!taken) {
      on[count++] = (uint32_t)k;
    }
  }
  return count;
}

abut_status polyhedron_faces_add(arena *memory, abut_body_def *def)
{
  if (!wants_faces(def)) {
    return ABUT_SUCCESS;
  }
  const abut_polyhedron *p = &def->polyhedra[0];
  const double near = ON_PLANE * extent_of(def);
  void *sizes_, *corners_ = NULL, *on_;
  TRY(arena_allocate(memory, &sizes_, p->count, sizeof(uint32_t)));
  TRY(arena_allocate(memory, &on_, def->vertex_count, sizeof(uint32_t)));
  uint32_t *sizes = sizes_, *on = on_, *corners = NULL;
  size_t room = 0, faces = 0, at = 0;
  for (int pass = 0; pass < 2; ++pass) { /* the first pass counts */
    for (size_t i = 0; i < p->count; ++i) {
      const side s = side_of(&p->planes[6 * i]);
      const size_t count = find_on(def, &s, near, on);
      if (!pass) {
        room += count;
        continue;
      }
      const size_t found =
        count > 2 && !is_repeated(p, i, near) ? wrap(def, &s, on, count, near, &corners[at]) : 0;
      if (found > 2) {
        sizes[faces++] = (uint32_t)found;
        at += found;
      }
    }
    if (!pass) {
      TRY(arena_allocate(memory, &corners_, room, sizeof(uint32_t)));
      corners = corners_;
    }
  }
  if (is_closed(corners, at, faces, def->vertex_count, on)) {
    def->face_sizes = sizes;
    def->face_indices = corners;
    def->face_count = faces;
  }
  return ABUT_SUCCESS;
}
