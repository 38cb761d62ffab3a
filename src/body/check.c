#include "base/error.h"
#include "base/limits.h"
#include "body/parts.h"
#include <math.h>

#define ELEMENT_LIMIT ((size_t)1 << 24)

static bool all_within(const double *x, size_t count, double limit)
{
  for (size_t i = 0; i < count; ++i) {
    if (!(fabs(x[i]) <= limit)) {
      return false;
    }
  }
  return true;
}

static bool has_length(const double *x, size_t count)
{
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) {
    sum += x[i] * x[i];
  }
  return isfinite(sum) && sum > 0.0;
}

static abut_status check_operation(abut_operation operation, const char *what, size_t i)
{
  return operation == ABUT_ADD || operation == ABUT_SUBTRACT
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_BODY, "%s %zu: there is no operation %d", what, i, (int)operation);
}

static abut_status check_superquadric(const abut_superquadric *s, size_t i)
{
  TRY(check_operation(s->operation, "superquadric", i));
  for (int k = 0; k < 3; ++k) {
    if (!(s->axes[k] >= AXIS_LEAST && s->axes[k] <= COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "superquadric %zu: axis %d is %g, not in [%g, %g]", i, k,
                  s->axes[k], AXIS_LEAST, COORDINATE_MOST);
    }
  }
  for (int k = 0; k < 2; ++k) {
    if (!(s->exponents[k] > 0.0 && s->exponents[k] <= 2.0)) {
      return fail(ABUT_ERROR_BODY, "superquadric %zu: exponent %d is %g, not in (0, 2]", i, k,
                  s->exponents[k]);
    }
  }
  if (!all_within(s->position, 3, COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "superquadric %zu: position is not within +-%g", i,
                COORDINATE_MOST);
  }
  if (!has_length(s->quaternion, 4)) {
    return fail(ABUT_ERROR_BODY, "superquadric %zu: quaternion has no length", i);
  }
  return ABUT_SUCCESS;
}

static abut_status check_polyhedron(const abut_polyhedron *p, size_t i)
{
  TRY(check_operation(p->operation, "polyhedron", i));
  if (!p->count || p->count > ELEMENT_LIMIT || !p->planes) {
    return fail(ABUT_ERROR_BODY, "polyhedron %zu has %zu planes", i, p->count);
  }
  for (size_t k = 0; k < p->count; ++k) {
    const double *plane = p->planes + 6 * k;
    if (!has_length(plane, 3) || !all_within(plane + 3, 3, COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "polyhedron %zu: plane %zu has no normal, or its point is not "
                  "within +-%g", i, k, COORDINATE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_pointcloud(const abut_pointcloud *c, size_t i)
{
  TRY(check_operation(c->operation, "point cloud", i));
  if (!c->count || c->count > ELEMENT_LIMIT || !c->points) {
    return fail(ABUT_ERROR_BODY, "point cloud %zu has %zu points", i, c->count);
  }
  for (size_t k = 0; k < c->count; ++k) {
    const double *point = c->points + 7 * k;
    if (!all_within(point, 3, COORDINATE_MOST) || !has_length(point + 3, 3)) {
      return fail(ABUT_ERROR_BODY, "point cloud %zu: point %zu is not within +-%g, or has no "
                  "normal", i, k, COORDINATE_MOST);
    }
    if (!(point[6] >= WIDTH_LEAST && point[6] <= COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "point cloud %zu: width %zu is %g, not in [%g, %g]", i, k,
                  point[6], WIDTH_LEAST, COORDINATE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_faces(const abut_body_def *def)
{
  size_t at = 0;
  for (size_t i = 0; i < def->face_count; ++i) {
    if (def->face_sizes[i] < 3) {
      return fail(ABUT_ERROR_BODY, "face %zu has %u corners", i, def->face_sizes[i]);
    }
    for (uint32_t k = 0; k < def->face_sizes[i]; ++k, ++at) {
      if (def->face_indices[at] >= def->vertex_count) {
        return fail(ABUT_ERROR_BODY, "face %zu uses vertex %u of %zu", i, def->face_indices[at],
                    def->vertex_count);
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_mesh(const abut_body_def *def)
{
  if (!def->vertex_count || !def->vertices) {
    return fail(ABUT_ERROR_BODY, "the mesh has no vertices");
  }
  if (def->vertex_count > ELEMENT_LIMIT || def->face_count > ELEMENT_LIMIT) {
    return fail(ABUT_ERROR_BODY, "the mesh has %zu vertices and %zu faces; %zu are the most",
                def->vertex_count, def->face_count, ELEMENT_LIMIT);
  }
  for (size_t i = 0; i < def->vertex_count; ++i) {
    if (!all_within(def->vertices + 3 * i, 3, COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "vertex %zu is not within +-%g", i, COORDINATE_MOST);
    }
  }
  if (def->face_count && (!def->face_sizes || !def->face_indices)) {
    return fail(ABUT_ERROR_ARGUMENT, "faces are counted but not given");
  }
  return check_faces(def);
}

static abut_status check_added(const abut_body_def *def)
{
  bool added = def->cloud_from_mesh;
  for (size_t i = 0; i < def->superquadric_count; ++i) {
    added = added || def->superquadrics[i].operation == ABUT_ADD;
  }
  for (size_t i = 0; i < def->polyhedron_count; ++i) {
    added = added || def->polyhedra[i].operation == ABUT_ADD;
  }
  for (size_t i = 0; i < def->pointcloud_count; ++i) {
    added = added || def->pointclouds[i].operation == ABUT_ADD;
  }
  return added ? ABUT_SUCCESS : fail(ABUT_ERROR_BODY, "the body has no added primitive");
}

abut_status check_body_def(const abut_body_def *def)
{
  TRY(check_mesh(def));
  if ((def->superquadric_count && !def->superquadrics) ||
      (def->polyhedron_count && !def->polyhedra) || (def->pointcloud_count && !def->pointclouds)) {
    return fail(ABUT_ERROR_ARGUMENT, "primitives are counted but not given");
  }
  for (size_t i = 0; i < def->superquadric_count; ++i) {
    TRY(check_superquadric(&def->superquadrics[i], i));
  }
  for (size_t i = 0; i < def->polyhedron_count; ++i) {
    TRY(check_polyhedron(&def->polyhedra[i], i));
  }
  for (size_t i = 0; i < def->pointcloud_count; ++i) {
    TRY(check_pointcloud(&def->pointclouds[i], i));
  }
  return check_added(def);
}
