#include "scene/mass.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/overlap.h"
#include "mesh/surface/surface.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A volume below this share of the cube of the reach is a rounding error. */
#define VOLUME_LEAST 1e-14

/* ---- check of closed meshes ---- */

static int compare(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static size_t count_corners(const abut_body_def *mesh)
{
  size_t count = 0;
  for (size_t i = 0; i < mesh->face_count; ++i) {
    count += mesh->face_sizes[i];
  }
  return count;
}

/* Fails with an edge that has no partner. `from` is a directed edge and `against` a reversed one at
 * the first difference of the two sorted lists; the lower of both is missing in the other list. */
static abut_status open_edge(uint64_t from, uint64_t against)
{
  const uint64_t edge = from <= against ? from : against << 32 | against >> 32;
  return fail(ABUT_ERROR_BODY,
              "the mesh is not closed: the edge from vertex %lu to vertex %lu must have exactly "
              "one face on its other side",
              (unsigned long)(edge >> 32), (unsigned long)(edge & UINT32_MAX));
}

/* Refuses a mesh unless it has every directed edge once, and its reverse once. */
static abut_status check_closed(const abut_body_def *mesh)
{
  abut_status status = ABUT_SUCCESS;
  const size_t count = count_corners(mesh);
  void *forward = NULL, *backward = NULL;
  TRY_DONE(allocate(&forward, count, sizeof(uint64_t)));
  TRY_DONE(allocate(&backward, count, sizeof(uint64_t)));
  uint64_t *to = forward, *back = backward;
  const uint32_t *corner = mesh->face_indices;
  for (size_t i = 0, at = 0; i < mesh->face_count; corner += mesh->face_sizes[i++]) {
    for (uint32_t k = 0; k < mesh->face_sizes[i]; ++k, ++at) {
      const uint64_t a = corner[k], b = corner[k + 1 < mesh->face_sizes[i] ? k + 1 : 0];
      to[at] = a << 32 | b;
      back[at] = b << 32 | a;
    }
  }
  qsort(to, count, sizeof *to, compare);
  qsort(back, count, sizeof *back, compare);
  for (size_t i = 0; i < count && status == ABUT_SUCCESS; ++i) {
    if ((i && to[i] == to[i - 1]) || to[i] != back[i]) {
      status = open_edge(to[i], back[i]);
    }
  }
done:
  free(forward);
  free(backward);
  return status;
}

/* ---- integrals ---- */

/* The volume and its first and second moments about a point, summed over the tetrahedra from that
 * point to each triangle of the mesh: V, b and S of docs/dev/cone-formulas.md, section 3. Polygons
 * are split into fans of triangles. */
typedef struct moments {
  double volume, first[3], second[3][3];
  double reach; /* largest distance along an axis from the point to a corner */
} moments;

static void add_triangle(moments *m, double t[3][3])
{
  double sum[3];
  const double volume = (t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) +
                         t[0][1] * (t[1][2] * t[2][0] - t[1][0] * t[2][2]) +
                         t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0])) /
                        6.0;
  m->volume += volume;
  for (int k = 0; k < 3; ++k) {
    sum[k] = t[0][k] + t[1][k] + t[2][k];
    m->first[k] += volume * sum[k] / 4.0;
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      const double products = t[0][i] * t[0][k] + t[1][i] * t[1][k] + t[2][i] * t[2][k];
      m->second[i][k] += volume / 20.0 * (products + sum[i] * sum[k]);
    }
  }
}

/* Integrates over triangles whose corners are relative to the reference point of the moments. */
static moments integrate(const overlap_mesh *m)
{
  moments out = {0};
  for (size_t i = 0; i < m->triangle_count; ++i) {
    double t[3][3];
    for (size_t c = 0; c < 9; ++c) {
      t[c / 3][c % 3] = m->points[3 * (size_t)m->triangles[3 * i + c / 3] + c % 3];
      out.reach = fmax(out.reach, fabs(t[c / 3][c % 3]));
    }
    add_triangle(&out, t);
  }
  return out;
}

static void mean_of(const abut_body_def *mesh, double out[3])
{
  for (size_t k = 0; k < 3; ++k) {
    out[k] = 0.0;
    for (size_t i = 0; i < mesh->vertex_count; ++i) {
      out[k] += mesh->vertices[3 * i + k] / (double)mesh->vertex_count;
    }
  }
}

/* ---- the solid ---- */

/* Returns whether the faces are one shell, with all their vertices connected. */
static abut_status is_one_shell(const abut_body_def *mesh, bool *out)
{
  void *memory;
  size_t roots = 0;
  TRY(allocate(&memory, mesh->vertex_count, sizeof(uint32_t)));
  uint32_t *of = memory;
  for (size_t i = 0; i < mesh->vertex_count; ++i) {
    of[i] = UINT32_MAX; /* no face has it yet */
  }
  const uint32_t *corner = mesh->face_indices;
  for (size_t i = 0; i < mesh->face_count; corner += mesh->face_sizes[i++]) {
    uint32_t first = UINT32_MAX;
    for (uint32_t k = 0; k < mesh->face_sizes[i]; ++k) {
      uint32_t at = corner[k];
      if (of[at] == UINT32_MAX) {
        of[at] = at;
        ++roots;
      }
      while (of[at] != at) {
        at = of[at] = of[of[at]];
      }
      if (first == UINT32_MAX) {
        first = at;
      } else if (at != first) {
        of[at] = first;
        --roots;
      }
    }
  }
  free(memory);
  *out = roots == 1;
  return ABUT_SUCCESS;
}

/* Splits polygons into fans of triangles, reversed if `turned`, with points relative to `from`. */
static abut_status fan_out(const abut_body_def *mesh, const double from[3], bool turned,
                           arena *memory, overlap_mesh *out)
{
  void *points, *triangles;
  TRY(arena_allocate(memory, &points, mesh->vertex_count, 3 * sizeof(double)));
  TRY(arena_allocate(memory, &triangles, count_corners(mesh), 3 * sizeof(uint32_t)));
  double *p = points;
  uint32_t *t = triangles;
  *out = (overlap_mesh){.points = p, .point_count = mesh->vertex_count, .triangles = t};
  for (size_t i = 0; i < 3 * mesh->vertex_count; ++i) {
    p[i] = mesh->vertices[i] - from[i % 3];
  }
  const uint32_t *corner = mesh->face_indices;
  for (size_t i = 0; i < mesh->face_count; corner += mesh->face_sizes[i++]) {
    for (uint32_t k = 1; k + 1 < mesh->face_sizes[i]; ++k) {
      const uint32_t at[3] = {corner[0], corner[k + turned], corner[k + !turned]};
      memcpy(t + 3 * out->triangle_count++, at, sizeof at);
    }
  }
  return ABUT_SUCCESS;
}

/* Subtracts from the sums over triangles what they count more than once. */
static abut_status take_overlap(const overlap_mesh *mesh, moments *m)
{
  static const int place[3][3] = {{4, 7, 8}, {7, 5, 9}, {8, 9, 6}};
  double too_much[OVERLAP_MOMENTS];
  TRY(surface_overlap(mesh, too_much));
  m->volume -= too_much[0];
  for (int i = 0; i < 3; ++i) {
    m->first[i] -= too_much[1 + i];
    for (int k = 0; k < 3; ++k) {
      m->second[i][k] -= too_much[place[i][k]];
    }
  }
  return ABUT_SUCCESS;
}

static abut_status measure_one(const abut_body_def *mesh, const double from[3], moments *out)
{
  arena memory = {0};
  overlap_mesh all;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(fan_out(mesh, from, false, &memory, &all));
  *out = integrate(&all);
  if (out->volume < 0.0) { /* its faces are inside out */
    TRY_DONE(fan_out(mesh, from, true, &memory, &all));
    *out = integrate(&all);
  }
  status = take_overlap(&all, out);
done:
  arena_free(&memory);
  return status;
}

/* Measures several shells as fields do: each is oriented outwards, unless it is a cavity. */
static abut_status measure_shells(const abut_body_def *mesh, const double from[3], moments *out)
{
  surface s;
  surface_report report;
  TRY(surface_create(mesh, &s, &report));
  for (size_t i = 0; i < 3 * s.point_count; ++i) {
    s.points[i] -= from[i % 3];
  }
  const overlap_mesh all = {s.points,         s.point_count, s.triangles,
                            s.triangle_count, s.shell,       s.shell_count};
  *out = integrate(&all);
  const abut_status status = take_overlap(&all, out);
  surface_free(&s);
  return status;
}

abut_status mass_of_mesh(const abut_body_def *mesh, double density, mass *out)
{
  double from[3];
  bool one;
  moments m;
  if (!mesh->face_count) {
    return fail(ABUT_ERROR_BODY, "its mesh has no faces: name a mesh with faces by `surface` in "
                                 "the body file, or give the link mass, com and inertia");
  }
  TRY(check_closed(mesh));
  mean_of(mesh, from);
  TRY(is_one_shell(mesh, &one));
  TRY(one ? measure_one(mesh, from, &m) : measure_shells(mesh, from, &m));
  if (!(m.volume > VOLUME_LEAST * m.reach * m.reach * m.reach)) {
    return fail(ABUT_ERROR_BODY, "the mesh encloses no volume");
  }
  double trace = 0.0;
  out->mass = density * m.volume;
  for (int k = 0; k < 3; ++k) {
    out->com[k] = m.first[k] / m.volume;
    trace += m.second[k][k] - m.volume * out->com[k] * out->com[k];
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      const double central = m.second[i][k] - m.volume * out->com[i] * out->com[k];
      out->inertia[3 * i + k] = density * ((i == k ? trace : 0.0) - central);
    }
  }
  for (int k = 0; k < 3; ++k) {
    out->com[k] += from[k];
  }
  return ABUT_SUCCESS;
}

/* ---- transformed and combined masses ---- */

static void rotation_of(const double q[4], double r[9])
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),
                          2 * (x * z + w * y),     2 * (x * y + w * z),
                          1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                          2 * (x * z - w * y),     2 * (y * z + w * x),
                          1 - 2 * (x * x + y * y)};
  memcpy(r, rows, sizeof rows);
}

mass mass_moved(const mass *m, const double position[3], const double quaternion[4])
{
  mass out = {.mass = m->mass};
  double r[9];
  rotation_of(quaternion, r);
  for (int i = 0; i < 3; ++i) {
    out.com[i] = position[i];
    for (int k = 0; k < 3; ++k) {
      out.com[i] += r[3 * i + k] * m->com[k];
      for (int a = 0; a < 9; ++a) {
        out.inertia[3 * i + k] += r[3 * i + a / 3] * m->inertia[a] * r[3 * k + a % 3];
      }
    }
  }
  return out;
}

/* Adds the inertia about the origin of a point mass m at `off`. */
static void add_point(double inertia[9], double m, const double off[3])
{
  const double square = off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      inertia[3 * i + k] += m * ((i == k ? square : 0.0) - off[i] * off[k]);
    }
  }
}

mass mass_sum(const mass *a, const mass *b)
{
  const mass *const parts[2] = {a, b};
  mass out = {.mass = a->mass + b->mass};
  for (int k = 0; k < 3 && out.mass > 0.0; ++k) {
    out.com[k] = (a->mass * a->com[k] + b->mass * b->com[k]) / out.mass;
  }
  for (int p = 0; p < 2; ++p) {
    double off[3];
    for (int k = 0; k < 3; ++k) {
      off[k] = parts[p]->com[k] - out.com[k];
    }
    for (int i = 0; i < 9; ++i) {
      out.inertia[i] += parts[p]->inertia[i];
    }
    add_point(out.inertia, parts[p]->mass, off);
  }
  return out;
}
