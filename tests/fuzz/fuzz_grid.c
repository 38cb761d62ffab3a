#include "base/memory.h"
#include "body/family/family.h"
#include "body/family/grid_file.h"
#include "fuzz.h"
#include <math.h>

extern const family grids_family;

const sample_kind fuzz_seeds = SAMPLE_GRID;

static void check_finite(const double *x, size_t count)
{
  PROMISE(count > 0);
  for (size_t i = 0; i < count; i++) {
    PROMISE(isfinite(x[i]));
  }
}

/* What is read may be checked as any definition is: it is all there. */
static void check_whole(const abut_grid *g)
{
  check_finite(g->coefficients, g->size[0] * g->size[1] * g->size[2]);
  check_finite(g->origin, 3);
  PROMISE(g->spacing > 0 && isfinite(g->spacing));
  for (size_t l = 0; l < g->level_count; l++) {
    check_finite(g->levels[l].coefficients, 512 * g->levels[l].block_count);
  }
  if (grids_family.check(g, 0) == ABUT_SUCCESS) {
    abut_body_info info = {0};
    grids_family.inform(g, &info);
    PROMISE(info.grids == 1);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  arena memory = {0};
  abut_grid g;
  if (grid_file_parse("fuzz", (const char *)bytes, count, &memory, &g) == ABUT_SUCCESS) {
    check_whole(&g);
  }
  arena_free(&memory);
  return 0;
}
