#include "fuzz.h"
#include "io/shapes_file.h"
#include "query/hull.h"
#include <math.h>
#include <stdlib.h>

const sample_kind fuzz_seeds = SAMPLE_SHAPES;

/* A hull of whatever points has vertices among them, and neighbours among its vertices. */
static void check_hull(const abut_shape_def *def)
{
  hull h;
  PROMISE(def->vertices && def->vertex_count > 0);
  for (size_t i = 0; i < 3 * def->vertex_count; i++) {
    PROMISE(fabs(def->vertices[i]) <= 1e6);
  }
  PROMISE(hull_create(&h, def->vertices, def->vertex_count) == ABUT_SUCCESS);
  PROMISE(h.count > 0 && h.count <= def->vertex_count && h.dimensions <= 3);
  PROMISE(h.dimensions == 0 ? h.count == 1 : h.count > h.dimensions);
  for (size_t i = 0; i < h.count; i++) {
    PROMISE(h.vertices[i] < def->vertex_count && (!i || h.vertices[i] > h.vertices[i - 1]));
    PROMISE(h.rings[i] <= h.rings[i + 1]);
  }
  PROMISE(h.rings[0] == (int)h.count + 1 && h.rings[h.count] == (int)h.ring_ints);
  for (size_t i = h.count + 1; i < h.ring_ints; i++) {
    PROMISE(h.rings[i] >= 0 && (size_t)h.rings[i] < h.count);
  }
  hull_free(&h);
}

static void check_shape(const abut_shape_def *def)
{
  PROMISE((int)def->kind >= 0 && def->kind < ABUT_SHAPE_KINDS);
  PROMISE(def->radius >= 0.0 && def->radius <= 1e6);
  for (int k = 0; k < 3; k++) {
    PROMISE(def->size[k] >= 0.0 && def->size[k] <= 1e6 && fabs(def->position[k]) <= 1e6);
  }
  for (int k = 0; k < 2; k++) {
    PROMISE(def->exponents[k] >= 0.1 && def->exponents[k] <= 1.9);
  }
  double most = 0.0;
  for (int k = 0; k < 4; k++) {
    most = fmax(most, fabs(def->quaternion[k]));
  }
  PROMISE(most > 0.0 && isfinite(most));
  if (def->kind == ABUT_SHAPE_HULL) {
    check_hull(def);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  shapes_file s;
  if (shapes_file_parse("fuzz", (const char *)bytes, count, &s) != ABUT_SUCCESS) {
    PROMISE(!s.defs && !s.count && !s.memory.at);
    return 0;
  }
  PROMISE(s.count > 0);
  for (size_t i = 0; i < s.count; i++) {
    check_shape(&s.defs[i]);
  }
  shapes_file_free(&s);
  return 0;
}
