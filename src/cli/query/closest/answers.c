#include "query/closest/closest.h"
#include "core/outputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

exit_code closest_take_memory(closest *c)
{
  abut_closest_batch *b = &c->batch;
  const size_t rows = c->poses.count ? c->poses.count : 1;
  const abut_precision precision = c->session.precision;
  CLI_TRY(reals_of("poses", c->poses.count, 1, precision, &b->d));
  CLI_TRY(reals_of("poses", c->poses.count, 3, precision, &b->n));
  CLI_TRY(reals_of("poses", c->poses.count, 3, precision, &b->p1));
  CLI_TRY(reals_of("poses", c->poses.count, 3, precision, &b->p2));
  CLI_TRY(reals_of("poses", c->poses.count, 1, precision, &b->gap));
  if (c->derives) {
    CLI_TRY(reals_of("poses", c->poses.count, 36, precision, &c->jacobians.p1));
    CLI_TRY(reals_of("poses", c->poses.count, 36, precision, &c->jacobians.p2));
    CLI_TRY(reals_of("poses", c->poses.count, 36, precision, &c->jacobians.n));
    CLI_TRY(reals_of("poses", c->poses.count, 12, precision, &c->jacobians.d));
  }
  b->iterations = calloc(rows, sizeof *b->iterations);
  b->simplex = calloc(rows, 8 * sizeof *b->simplex);
  return b->iterations && b->simplex
           ? EXIT_GOOD
           : report(EXIT_RUN, "no memory for the simplices of %zu poses", c->poses.count);
}

void closest_free_answers(closest *c)
{
  abut_closest_batch *b = &c->batch;
  free(b->d);
  free(b->n);
  free(b->p1);
  free(b->p2);
  free(b->gap);
  free(b->iterations);
  free(b->simplex);
  free(c->jacobians.p1);
  free(c->jacobians.p2);
  free(c->jacobians.n);
  free(c->jacobians.d);
  b->d = b->n = b->p1 = b->p2 = b->gap = NULL;
  b->iterations = NULL;
  b->simplex = NULL;
  c->jacobians = (abut_closest_jacobians){0};
}

exit_code closest_compute(closest *c, progress *p)
{
  c->batch.progress = progress_step;
  c->batch.user = p;
  const double start = now();
  const abut_status status =
    c->derives ? abut_closest_jacobian(c->session.context, &c->batch, &c->smoothing, &c->jacobians)
               : abut_closest(c->session.context, &c->batch);
  c->seconds += now() - start;
  return report_status(status);
}

/* ---- reports ---- */

#define END ((uint8_t) ~((unsigned)ABUT_CLOSEST_FLAT | (unsigned)ABUT_CLOSEST_STEEP))

static abut_closest_status end_of(const closest *c, size_t row)
{
  return (abut_closest_status)(c->batch.status[row] & END);
}

const status_note closest_notes[] = {
  {END, ABUT_CLOSEST_BAD_INPUT, "poses that are not finite, or with a quaternion of length 0",
   "Their rows are NaN."},
  {END, ABUT_CLOSEST_ITERATION_LIMIT, "poses that reached the limit of iterations",
   "Their answers are correct to within their gap."},
  {END, ABUT_CLOSEST_DEGENERATE,
   "poses whose shapes both lie in one plane, or whose rounding errors exceed the tolerance",
   "Their answers are correct to within their gap."},
  {ABUT_CLOSEST_FLAT, ABUT_CLOSEST_FLAT,
   "poses that touch a face or an edge, which has no curvature",
   "The curvature is taken as 0; --jacobian gumbel and gaussian smooth it."},
  {ABUT_CLOSEST_STEEP, ABUT_CLOSEST_STEEP, "poses whose normal is not determined by curvature",
   "Their Jacobians of n, p1 and p2 may be as large as 1e6; that of d is correct. --jacobian "
   "gaussian or a higher --temperature may help."},
  {0}};

static size_t count_beyond(const closest *c)
{
  size_t count = 0;
  for (size_t i = 0; i < c->poses.count; ++i) {
    count += end_of(c, i) == ABUT_CLOSEST_BEYOND;
  }
  return count;
}

/* Finds the least of the known distances; returns false if there are none. */
static bool least_distance(const closest *c, double *out)
{
  *out = INFINITY;
  for (size_t i = 0; i < c->poses.count; ++i) {
    if (end_of(c, i) != ABUT_CLOSEST_BAD_INPUT && end_of(c, i) != ABUT_CLOSEST_BEYOND) {
      *out = fmin(*out, real_at(c->batch.d, c->session.precision, i));
    }
  }
  return isfinite(*out);
}

void closest_summarise(const closest *c)
{
  const size_t count = c->poses.count;
  double least = 0.0;
  printf("%zu pose%s of ", count, count == 1 ? "" : "s");
  if (c->counts[0]) {
    printf("%zu and %zu shapes, ", c->counts[0], c->counts[1]);
  } else {
    printf("%zu shapes, ", c->shape_count);
  }
  if (least_distance(c, &least)) {
    printf("least distance %.4g m, ", least);
  }
  if (c->o->value[OPTION_CUTOFF]) {
    printf("%zu beyond the cutoff, ", count_beyond(c));
  }
  if (c->derives) {
    printf("derivatives by %s, ", closest_method(c));
  }
  printf("%zu not converged, %zu rejected, %.3g s on %s, %s\n", c->batch.unsettled,
         c->batch.rejected, c->seconds, session_workers(&c->session).text,
         precision_name(c->session.precision));
}

/* ---- arrays ---- */

/* For body 2, whose shapes follow those of body 1. */
static void count_from_own(const closest *c)
{
  for (size_t i = 0; i < c->poses.count; ++i) {
    c->two[i] -= (uint32_t)c->counts[0];
  }
}

void closest_add(const closest *c, outputs *l)
{
  const abut_closest_batch *b = &c->batch;
  const abut_array_type real = real_type(&c->session);
  const size_t count = c->poses.count;
  outputs_add(l, "d", real, b->d, 1, count, 0, 0);
  outputs_add(l, "n", real, b->n, 2, count, 3, 0);
  outputs_add(l, "p1", real, b->p1, 2, count, 3, 0);
  outputs_add(l, "p2", real, b->p2, 2, count, 3, 0);
  outputs_add(l, "gap", real, b->gap, 1, count, 0, 0);
  outputs_add(l, "status", ABUT_ARRAY_UINT8, b->status, 1, count, 0, 0);
  outputs_add(l, "iterations", ABUT_ARRAY_UINT32, b->iterations, 1, count, 0, 0);
  outputs_add(l, "simplex", ABUT_ARRAY_INT32, b->simplex, 3, count, 4, 2);
  if (c->derives) {
    outputs_add(l, "jacobian_p1", real, c->jacobians.p1, 3, count, 3, 12);
    outputs_add(l, "jacobian_p2", real, c->jacobians.p2, 3, count, 3, 12);
    outputs_add(l, "jacobian_n", real, c->jacobians.n, 3, count, 3, 12);
    outputs_add(l, "jacobian_d", real, c->jacobians.d, 2, count, 12, 0);
  }
  if (closest_tells_rows(c)) {
    count_from_own(c);
    outputs_add(l, "one", ABUT_ARRAY_UINT32, c->one, 1, count, 0, 0);
    outputs_add(l, "two", ABUT_ARRAY_UINT32, c->two, 1, count, 0, 0);
  }
}
