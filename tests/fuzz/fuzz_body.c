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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  body_file b;
  if (body_file_parse("folder/fuzz", (const char *)bytes, count, &b) != ABUT_SUCCESS) {
    PROMISE(!b.mesh_path && !b.superquadrics && !b.numbers);
    return 0;
  }
  PROMISE(b.mesh_path && b.superquadric_count + b.polyhedron_count + b.pointcloud_count > 0);
  for (size_t i = 0; i < b.superquadric_count; i++) {
    check_superquadric(&b.superquadrics[i]);
  }
  for (size_t i = 0; i < b.number_count; i++) {
    PROMISE(isfinite(b.numbers[i]));
  }
  body_file_free(&b);
  return 0;
}
