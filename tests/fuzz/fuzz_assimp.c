/* What the program that reads meshes by Assimp hands over: a file may have made it do anything. */
#include "format/assimp_mesh.h"
#include "fuzz_mesh.h"

const sample_kind fuzz_seeds = SAMPLE_ASSIMP;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  mesh m;
  return check_outcome(assimp_record_parse("fuzz", (const char *)bytes, count, &m), &m);
}
