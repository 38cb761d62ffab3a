/* Of one mesh format, MESH_FORMAT. */
#include "fuzz_mesh.h"

const sample_kind fuzz_seeds = (sample_kind)MESH_FORMAT;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  mesh m;
  return check_outcome(mesh_parse("fuzz", MESH_FORMAT, (const char *)bytes, count, &m), &m);
}
