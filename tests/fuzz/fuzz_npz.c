#include "format/npz.h"
#include "fuzz.h"
#include "io/poses.h"
#include "io/shape_rows.h"
#include <stdlib.h>

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
    abut_free_poses(&poses);
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
