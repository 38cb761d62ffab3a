#include "query/ccd/ccd.h"
#include "core/outputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

exit_code ccd_take_memory(ccd *c)
{
  abut_ccd_batch *b = &c->batch;
  const size_t rows = c->count ? c->count : 1;
  const abut_precision precision = c->session.precision;
  CLI_TRY(reals_of("poses", c->count, 1, precision, &b->toi));
  CLI_TRY(reals_of("poses", c->count, 3, precision, &b->p1));
  CLI_TRY(reals_of("poses", c->count, 3, precision, &b->p2));
  CLI_TRY(reals_of("poses", c->count, 3, precision, &b->n));
  if (c->derives) {
    CLI_TRY(reals_of("poses", c->count, 12, precision, &c->gradients.by1));
    CLI_TRY(reals_of("poses", c->count, 12, precision, &c->gradients.by2));
  }
  b->status = calloc(rows, sizeof *b->status);
  b->kind = calloc(rows, sizeof *b->kind);
  b->feature1 = calloc(rows, sizeof *b->feature1);
  b->feature2 = calloc(rows, sizeof *b->feature2);
  b->candidates = calloc(rows, sizeof *b->candidates);
  return b->status && b->kind && b->feature1 && b->feature2 && b->candidates
           ? EXIT_GOOD
           : report(EXIT_RUN, "no memory for the features of %zu poses", c->count);
}

void ccd_free_answers(ccd *c)
{
  abut_ccd_batch *b = &c->batch;
  free(b->toi);
  free(b->p1);
  free(b->p2);
  free(b->n);
  free(b->status);
  free(b->kind);
  free(b->feature1);
  free(b->feature2);
  free(b->candidates);
  free(c->gradients.by1);
  free(c->gradients.by2);
  b->toi = b->p1 = b->p2 = b->n = NULL;
  b->status = NULL;
  b->kind = NULL;
  b->feature1 = b->feature2 = b->candidates = NULL;
  c->gradients.by1 = c->gradients.by2 = NULL;
}

exit_code ccd_compute(ccd *c, progress *p)
{
  c->batch.progress = progress_step;
  c->batch.user = p;
  const double start = now();
  const abut_status status =
    c->derives ? abut_ccd_gradient(c->meshes[0], c->meshes[1], &c->batch, &c->gradients)
               : abut_ccd(c->meshes[0], c->meshes[1], &c->batch);
  c->seconds += now() - start;
  return report_status(status);
}

/* ---- reports ---- */

static abut_ccd_status end_of(const ccd *c, size_t row)
{
  return (abut_ccd_status)(c->batch.status[row] & ABUT_CCD_END);
}

static size_t count_rows(const ccd *c, abut_ccd_status end)
{
  size_t count = 0;
  for (size_t i = 0; i < c->count; ++i) {
    count += end_of(c, i) == end;
  }
  return count;
}

const status_note ccd_notes[] = {
  {ABUT_CCD_END, ABUT_CCD_BAD_INPUT,
   "poses that are not finite, or too far out, or with a quaternion of length 0",
   "Their times are 0."},
  {ABUT_CCD_END, ABUT_CCD_LIMIT, "poses that reached the limit of iterations",
   "Their times are safe, but earlier than necessary; a larger --tolerance may help."},
  {ABUT_CCD_ROUGH, ABUT_CCD_ROUGH,
   "poses with grazing features, features that touch at distance 0, or a body that turns by half a "
   "circle",
   "Their derivatives are 0; a --separation above 0 gives touching features a normal."},
  {0}};

/* Finds the least time of the rows that end early; returns false if there are none. */
static bool least_time(const ccd *c, double *out)
{
  *out = INFINITY;
  for (size_t i = 0; i < c->count; ++i) {
    if (end_of(c, i) != ABUT_CCD_FREE && end_of(c, i) != ABUT_CCD_BAD_INPUT) {
      *out = fmin(*out, real_at(c->batch.toi, c->session.precision, i));
    }
  }
  return isfinite(*out);
}

void ccd_summarise(const ccd *c)
{
  static const struct {
    abut_ccd_status end;
    const char *word;
  } ends[] = {{ABUT_CCD_FREE, "free"},
              {ABUT_CCD_HIT, "hit"},
              {ABUT_CCD_LIMIT, "at the limit"},
              {ABUT_CCD_WITHIN, "within"},
              {ABUT_CCD_BAD_INPUT, "rejected"}};
  double least = 0.0;
  printf("%zu pose%s: ", c->count, c->count == 1 ? "" : "s");
  for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
    printf("%zu %s, ", count_rows(c, ends[i].end), ends[i].word);
  }
  if (least_time(c, &least)) {
    printf("least time %.6g, ", least);
  }
  printf("%.3g s on %s, %s\n", c->seconds, session_workers(&c->session).text,
         precision_name(c->session.precision));
}

/* ---- arrays ---- */

void ccd_add(const ccd *c, outputs *l)
{
  const abut_ccd_batch *b = &c->batch;
  const abut_array_type real = real_type(&c->session);
  const size_t count = c->count;
  outputs_add(l, "toi", real, b->toi, 1, count, 0, 0);
  outputs_add(l, "status", ABUT_ARRAY_UINT8, b->status, 1, count, 0, 0);
  outputs_add(l, "kind", ABUT_ARRAY_INT32, b->kind, 1, count, 0, 0);
  outputs_add(l, "feature_a", ABUT_ARRAY_UINT32, b->feature1, 1, count, 0, 0);
  outputs_add(l, "feature_b", ABUT_ARRAY_UINT32, b->feature2, 1, count, 0, 0);
  outputs_add(l, "p_a", real, b->p1, 2, count, 3, 0);
  outputs_add(l, "p_b", real, b->p2, 2, count, 3, 0);
  outputs_add(l, "n", real, b->n, 2, count, 3, 0);
  outputs_add(l, "candidates", ABUT_ARRAY_UINT32, b->candidates, 1, count, 0, 0);
  if (c->derives) {
    outputs_add(l, "dtoi_a", real, c->gradients.by1, 2, count, 12, 0);
    outputs_add(l, "dtoi_b", real, c->gradients.by2, 2, count, 12, 0);
  }
}
