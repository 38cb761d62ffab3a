#include "fuzz.h"
#include "io/body_file.h"
#include <math.h>
#include <stdlib.h>

const sample_kind fuzz_seeds = SAMPLE_BODY;

static void check_superquadric(const abut_superquadric *s)
{
  for (int i = 0; i < 3; i++) {
    PROMISE(s->axes[i] > 0 && isfinite(s->axes[i]) && isfinite(s->position[i]));
  }
  for (int i = 0; i < 2; i++) {
    PROMISE(s->exponents[i] > 0 && s->exponents[i] <= 2);
  }
}

static void check_core(const abut_core *c)
{
  PROMISE(c->kind == ABUT_CORE_BOX || c->kind == ABUT_CORE_DISC);
  PROMISE(c->radius > 0 && isfinite(c->radius));
  for (int i = 0; i < 3; i++) {
    PROMISE(c->half[i] >= 0 && isfinite(c->half[i]) && isfinite(c->position[i]));
  }
  PROMISE(c->kind == ABUT_CORE_BOX || (c->half[0] > 0 && c->half[1] > 0));
}

static void check_finite(const double *x, size_t count)
{
  PROMISE(count > 0);
  for (size_t i = 0; i < count; i++) {
    PROMISE(isfinite(x[i]));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  body_file b;
  if (body_file_parse("folder/fuzz", (const char *)bytes, count, &b) != ABUT_SUCCESS) {
    PROMISE(!b.mesh_path && !b.def.superquadrics && !b.memory.at);
    return 0;
  }
  const abut_body_def *def = &b.def;
  PROMISE(b.mesh_path || (def->height_field_count && def->vertex_count && def->surface.face_count));
  PROMISE(b.cloud.source ||
          def->superquadric_count + def->polyhedron_count + def->pointcloud_count +
              def->height_field_count + def->core_count > 0);
  PROMISE(b.cloud.eps1 >= 0.0 && (b.cloud.source == CLOUD_POINTS) == (b.cloud.count > 0));
  if (b.cloud.count) {
    check_finite(b.cloud.points, 7 * b.cloud.count);
  }
  for (size_t i = 0; i < def->superquadric_count; i++) {
    check_superquadric(&def->superquadrics[i]);
  }
  for (size_t i = 0; i < def->polyhedron_count; i++) {
    check_finite(def->polyhedra[i].planes, 6 * def->polyhedra[i].count);
  }
  for (size_t i = 0; i < def->pointcloud_count; i++) {
    check_finite(def->pointclouds[i].points, 7 * def->pointclouds[i].count);
  }
  for (size_t i = 0; i < def->height_field_count; i++) {
    const abut_height_field *h = &def->height_fields[i];
    check_finite(h->heights, h->rows * h->columns);
  }
  for (size_t i = 0; i < def->core_count; i++) {
    check_core(&def->cores[i]);
  }
  body_file_free(&b);
  return 0;
}
