#include "fuzz_mesh.h"

const sample_kind fuzz_seeds = SAMPLE_OFF;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  mesh m;
  return check_outcome(mesh_parse("fuzz", MESH_OFF, (const char *)bytes, count, &m), &m);
}
