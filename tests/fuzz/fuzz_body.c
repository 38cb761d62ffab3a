#include "body/feature_check.h"
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

static void check_cones(const double *cones, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    PROMISE(isfinite(cones[4 * i]) && isfinite(cones[4 * i + 1]) && isfinite(cones[4 * i + 2]));
    PROMISE(cones[4 * i + 3] >= 0.0 && cones[4 * i + 3] <= 180.0);
  }
}

/* What is made of features counts on this. */
static void check_stated(const abut_body_def *def)
{
  PROMISE(def->sharp >= 0.0 && def->sharp < 180.0);
  PROMISE(def->states_features || (!def->feature_vertex_count && !def->feature_edge_count));
  for (size_t i = 0; i < def->feature_vertex_count; ++i) {
    PROMISE(def->feature_vertices[4 * i + 3] >= 0.0);
    check_finite(def->feature_vertices + 4 * i, 4);
  }
  for (size_t i = 0; i < def->feature_edge_count; ++i) {
    const abut_feature_edge *e = &def->feature_edges[i];
    const abut_feature_edge settled = feature_edge_settled(e, def->feature_vertices);
    PROMISE(e->from < def->feature_vertex_count && e->to < def->feature_vertex_count &&
            e->from != e->to);
    PROMISE(e->radius >= 0.0 && settled.from < settled.to);
    check_finite(settled.centre, 3);
    PROMISE(!e->arc ||
            fabs(hypot(hypot(settled.axis[0], settled.axis[1]), settled.axis[2]) - 1.0) < 1e-9);
  }
  check_cones(def->vertex_cones, def->vertex_cone_count);
  check_cones(def->edge_cones, def->edge_cone_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  body_file b;
  if (body_file_parse("folder/fuzz", (const char *)bytes, count, &b) != ABUT_SUCCESS) {
    PROMISE(!b.mesh_path && !b.surface_path && !b.def.superquadrics && !b.memory.at);
    return 0;
  }
  const abut_body_def *def = &b.def;
  PROMISE(b.mesh_path || (def->height_field_count && def->vertex_count && def->surface.face_count));
  PROMISE(b.cloud.source || def->superquadric_count + def->polyhedron_count +
                                def->pointcloud_count + def->height_field_count + def->core_count >
                              0);
  PROMISE(b.cloud.eps1 >= 0.0 && (b.cloud.source == CLOUD_POINTS) == (b.cloud.count > 0));
  if (b.cloud.count) {
    check_finite(b.cloud.points, 7 * b.cloud.count);
  }
  check_stated(def);
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
