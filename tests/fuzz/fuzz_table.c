#include "fuzz.h"
#include "io/superquadric_table.h"
#include <math.h>
#include <stdlib.h>

const sample_kind fuzz_seeds = SAMPLE_TABLE;

/* What is read may be written as a table, and holds to the bounds of bodies. */
static void check_whole(const abut_superquadrics *s)
{
  PROMISE(s->count > 0);
  for (size_t i = 0; i < s->count; i++) {
    const abut_superquadric *q = &s->superquadrics[i];
    double row[ABUT_TABLE_COLUMNS];
    for (int k = 0; k < 3; k++) {
      PROMISE(q->axes[k] >= 1e-6 && q->axes[k] <= 1e6 && fabs(q->position[k]) <= 1e6);
    }
    PROMISE(q->exponents[0] > 0 && q->exponents[0] <= 2 && q->exponents[1] > 0 &&
            q->exponents[1] <= 2);
    PROMISE(abut_superquadrics_to_rows(q, 1, row) == ABUT_SUCCESS);
    for (size_t k = 0; k < ABUT_TABLE_COLUMNS; k++) {
      PROMISE(isfinite(row[k]));
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  abut_superquadrics s;
  if (superquadric_table_parse("fuzz", (const char *)bytes, count, 0.5, &s) == ABUT_SUCCESS) {
    check_whole(&s);
    abut_free_superquadrics(&s);
  } else {
    PROMISE(!s.superquadrics && !s.count);
  }
  return 0;
}
