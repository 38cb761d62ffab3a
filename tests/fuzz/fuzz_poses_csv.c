#include "fuzz.h"
#include "io/poses.h"
#include <stdlib.h>

const sample_kind fuzz_seeds = SAMPLE_CSV;

static volatile double sink;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  abut_poses poses;
  if (poses_parse_csv("fuzz", (const char *)bytes, count, &poses) == ABUT_SUCCESS) {
    const size_t width = poses.kind == ABUT_POSE_TWIST ? 6 : 7;
    for (size_t i = 0; i < width * poses.count; i++) {
      sink = poses.pose1[i] + poses.pose2[i];
    }
    abut_free_poses(&poses);
  } else {
    PROMISE(poses.count == 0 && !poses.pose1 && !poses.pose2);
  }
  return 0;
}
