#include "base/error.h"
#include "base/limits.h"
#include "body/feature_check.h"
#include "body/parts.h"
#include "body/family/family.h"
#include "mesh/surface/mesh_check.h"

static abut_status check_family(const family *f, const abut_body_def *def)
{
  const size_t count = family_count(f, def);
  for (size_t i = 0; i < count; ++i) {
    const void *one = family_one(f, def, i);
    const abut_operation operation = family_operation(f, one);
    if (operation != ABUT_ADD && operation != ABUT_SUBTRACT) {
      return fail(ABUT_ERROR_BODY, "%s %zu: unknown operation %d", f->one, i, (int)operation);
    }
    TRY(f->check(one, i));
  }
  return ABUT_SUCCESS;
}

static abut_status check_surface(const abut_surface *s)
{
  const abut_body_def mesh = {.vertices = s->vertices,
                              .vertex_count = s->vertex_count,
                              .face_sizes = s->face_sizes,
                              .face_indices = s->face_indices,
                              .face_count = s->face_count};
  return s->face_count ? check_mesh(&mesh) : ABUT_SUCCESS;
}

abut_status check_primitives(const abut_body_def *def)
{
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    if (family_count(families[i], def) && !family_given(families[i], def)) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "the count of a kind of primitives is above 0, but their array is NULL");
    }
  }
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    TRY(check_family(families[i], def));
  }
  return ABUT_SUCCESS;
}

abut_status check_body_def(const abut_body_def *def)
{
  TRY(check_primitives(def)); /* first: they cause faults of a mesh made from them */
  TRY(check_mesh(def));
  TRY(check_surface(&def->surface));
  TRY(check_features(def));
  if (def->union_ != 0.0 &&
      !(def->union_ >= SMOOTHING_LENGTH_LEAST && def->union_ <= SMOOTHING_MOST)) {
    return fail(ABUT_ERROR_BODY, "union is %g; it must be 0 or in [%g, %g]", def->union_,
                SMOOTHING_LENGTH_LEAST, SMOOTHING_MOST);
  }
  return def->cloud_from_mesh || family_any_added(def)
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_BODY, "the body has no primitive with the operation \"add\"");
}
