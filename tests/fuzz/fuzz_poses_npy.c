#include "fuzz.h"
#include "io/pose_file.h"
#include <stdlib.h>

const sample_kind fuzz_seeds = SAMPLE_POSES;

#define POSES_MOST 64 /* that are touched, of what a header claims */

static volatile double sink;

static void touch(abut_pose_file *file, size_t first, size_t count)
{
  abut_poses p;
  if (abut_read_poses(file, first, count, &p) == ABUT_SUCCESS) {
    const size_t width = p.kind == ABUT_POSE_TWIST ? 6 : 7;
    PROMISE(p.count == count && p.pose1 && p.pose2);
    for (size_t i = 0; i < width * count; i++) {
      sink = p.pose1[i] + p.pose2[i];
    }
    abut_free_poses(&p);
  } else {
    PROMISE(p.count == 0 && !p.pose1 && !p.pose2 && !p.pair);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  abut_pose_file *file;
  abut_pose_file_info info;
  if (pose_file_open_npy("fuzz", (pose_bytes){(const char *)bytes, count, -1}, &file, &info) ==
      ABUT_SUCCESS) {
    const size_t most = info.count < POSES_MOST ? info.count : POSES_MOST;
    PROMISE(info.by_range && !info.pairs);
    touch(file, 0, most);
    touch(file, info.count - most, most);
    abut_close_poses(file);
  } else {
    PROMISE(!file);
  }
  return 0;
}
