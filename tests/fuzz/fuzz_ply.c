#include "fuzz_mesh.h"

const sample_kind fuzz_seeds = SAMPLE_PLY;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  return fuzz_mesh(MESH_PLY, bytes, count);
}
