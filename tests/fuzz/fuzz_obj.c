#include "fuzz_mesh.h"

const sample_kind fuzz_seeds = SAMPLE_OBJ;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  return fuzz_mesh(MESH_OBJ, bytes, count);
}
