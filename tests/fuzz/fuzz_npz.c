#include "format/npz.h"
#include "fuzz.h"
#include "io/pose_file.h"
#include "io/poses.h"
#include "io/shape_rows.h"
#include <stdlib.h>
#include <string.h>

const sample_kind fuzz_seeds = SAMPLE_NPZ;

#define ROWS 2 /* of the samples */

static volatile unsigned sink;

/* Touches every byte that an array claims. */
static unsigned sum(const abut_array *a)
{
  static const size_t sizes[] = {4, 8, 1, 4, 1, 4, 8};
  size_t bytes = sizes[a->type];
  unsigned total = 0;
  for (uint32_t i = 0; i < a->dimensions; i++) {
    bytes *= a->shape[i];
  }
  for (size_t i = 0; i < bytes; i++) {
    total += ((const unsigned char *)a->data)[i];
  }
  return total;
}

/* The same poses by range as at once, if both can be read: ranges do not look at checksums. */
static void read_ranges(const uint8_t *bytes, size_t count, const abut_poses *whole)
{
  abut_pose_file *file;
  abut_pose_file_info info;
  abut_poses p;
  if (pose_file_open_npz("fuzz", (const char *)bytes, count, &file, &info) != ABUT_SUCCESS) {
    PROMISE(!file && !whole);
    return;
  }
  PROMISE(!whole || (info.count == whole->count && info.kind == whole->kind));
  for (size_t i = 0; i < info.count && i < 4; i++) {
    const size_t width = info.kind == ABUT_POSE_TWIST ? 6 : 7;
    const abut_status status = abut_read_poses(file, i, 1, &p);
    PROMISE(!whole || status == ABUT_SUCCESS);
    PROMISE(!whole || memcmp(p.pose1, whole->pose1 + width * i, width * sizeof *p.pose1) == 0);
    abut_free_poses(&p);
  }
  abut_close_poses(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  abut_npz npz;
  abut_poses poses;
  uint32_t *one, *two;
  if (npz_parse("fuzz", (const char *)bytes, count, &npz) == ABUT_SUCCESS) {
    for (size_t i = 0; i < npz.count; i++) {
      sink += sum(&npz.arrays[i]);
    }
    abut_free_npz(&npz);
  }
  if (poses_parse_npz("fuzz", (const char *)bytes, count, &poses) == ABUT_SUCCESS) {
    PROMISE(poses.pose1 && poses.pose2);
    read_ranges(bytes, count, &poses);
    abut_free_poses(&poses);
  } else {
    read_ranges(bytes, count, NULL);
  }
  if (shape_rows_parse("fuzz", (const char *)bytes, count, ROWS, &one, &two) == ABUT_SUCCESS) {
    PROMISE(!one == !two);
    for (size_t i = 0; one && i < ROWS; i++) {
      sink += one[i] + two[i];
    }
  } else {
    PROMISE(!one && !two);
  }
  free(one);
  free(two);
  return 0;
}
