#include "base/error.h"
#include "base/limits.h"
#include "body/parts.h"
#include "family/parts.h"

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

static abut_status check_edges(const abut_body_def *def)
{
  for (size_t i = 0; i < 2 * def->edge_count; ++i) {
    if (def->edges[i] >= def->vertex_count) {
      return fail(ABUT_ERROR_BODY, "edge %zu uses vertex %u of %zu", i / 2, def->edges[i],
                  def->vertex_count);
    }
  }
  return ABUT_SUCCESS;
}

abut_status check_mesh(const abut_body_def *def)
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
  if (def->edge_count > ELEMENT_LIMIT || (def->edge_count && !def->edges)) {
    return def->edges ? fail(ABUT_ERROR_BODY, "the mesh has %zu edges beside those of faces; %zu "
                             "are the most", def->edge_count, ELEMENT_LIMIT)
                      : fail(ABUT_ERROR_ARGUMENT, "edges are counted but not given");
  }
  TRY(check_edges(def));
  return check_faces(def);
}

static abut_status check_family(const family *f, const abut_body_def *def)
{
  const size_t count = family_count(f, def);
  for (size_t i = 0; i < count; ++i) {
    const void *one = family_one(f, def, i);
    const abut_operation operation = family_operation(f, one);
    if (operation != ABUT_ADD && operation != ABUT_SUBTRACT) {
      return fail(ABUT_ERROR_BODY, "%s %zu: there is no operation %d", f->one, i, (int)operation);
    }
    TRY(f->check(one, i));
  }
  return ABUT_SUCCESS;
}

abut_status check_body_def(const abut_body_def *def)
{
  TRY(check_mesh(def));
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    if (family_count(families[i], def) && !family_given(families[i], def)) {
      return fail(ABUT_ERROR_ARGUMENT, "primitives are counted but not given");
    }
  }
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    TRY(check_family(families[i], def));
  }
  if (def->union_ != 0.0 &&
      !(def->union_ >= SMOOTHING_LENGTH_LEAST && def->union_ <= SMOOTHING_MOST)) {
    return fail(ABUT_ERROR_BODY, "union is %g, neither 0 nor in [%g, %g]", def->union_,
                SMOOTHING_LENGTH_LEAST, SMOOTHING_MOST);
  }
  return def->cloud_from_mesh || family_any_added(def)
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_BODY, "the body has no added primitive");
}
