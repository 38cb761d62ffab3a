#include "query/ccd/query_csv.h"
#include "fuzz.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const sample_kind fuzz_seeds = SAMPLE_QUERIES;

static void look_at(const query_csv *q, double most)
{
  PROMISE(q->count > 0);
  for (size_t i = 0; i < q->count; i++) {
    PROMISE(q->hit[i] <= 1 && q->rounding[i] <= QUERY_SMALL);
    for (size_t k = 0; k < QUERY_NUMBERS; k++) {
      PROMISE(fabs(q->x[QUERY_NUMBERS * i + k]) <= most);
    }
  }
}

/* Both formats take the same files, but for numbers that float cannot reach. */
static bool read_as(const rational_format *format, double most, const uint8_t *bytes, size_t count,
                    query_fault *fault)
{
  query_csv q;
  const bool good = query_csv_parse((const char *)bytes, count, format, &q, fault);
  if (good) {
    look_at(&q, most);
    query_csv_free(&q);
  } else {
    PROMISE(!q.count && !q.x && !q.hit && !q.rounding && *fault->text);
  }
  return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  query_fault narrow, wide;
  const bool in_f32 = read_as(&rational_f32, FLT_MAX, bytes, count, &narrow);
  const bool in_f64 = read_as(&rational_f64, DBL_MAX, bytes, count, &wide);
  PROMISE(!in_f32 || in_f64);
  PROMISE(in_f32 || in_f64 || narrow.line <= wide.line);
  PROMISE(in_f32 || !in_f64 || strstr(narrow.text, "beyond float32"));
  return 0;
}
