#include "fuzz.h"
#include "io/poses.h"
#include <stdlib.h>

const sample_kind fuzz_seeds = SAMPLE_CSV;

static volatile double sink;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  abut_poses poses;
  if (poses_parse_csv("fuzz", (const char *)bytes, count, &poses) == ABUT_SUCCESS) {
    for (size_t i = 0; i < 6 * poses.count; i++) {
      sink = poses.pose1[i] + poses.pose2[i];
    }
    abut_free_poses(&poses);
  } else {
    PROMISE(poses.count == 0 && !poses.pose1 && !poses.pose2);
  }
  return 0;
}
