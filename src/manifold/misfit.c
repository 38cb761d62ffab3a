#include "manifold/misfit.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "body/parts.h"
#include "device/host_path.h"
#include "smoothing/smoothing.h"
#include <math.h>
#include <stdlib.h>

#define ASKED 256     /* so many vertices are asked, spread over the mesh */
#define FITTED 0.004  /* temperatures as shares of the diagonal, as fitted smoothing has them */

static double diagonal_of(const abut_body_def *def)
{
  double square = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < def->vertex_count; ++i) {
      low = fmin(low, def->vertices[3 * i + k]);
      high = fmax(high, def->vertices[3 * i + k]);
    }
    square += (high - low) * (high - low);
  }
  return sqrt(square);
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Evaluates the size of the field at `count` vertices, which are at most ASKED. */
static void evaluate(const abut_body_def *def, size_t count, int *head, const reals *shape,
                     const reals *coefficients, double out[ASKED])
{
  double points[3 * ASKED];
  for (size_t i = 0; i < count; ++i) {
    const double *v = def->vertices + 3 * (i * def->vertex_count / count);
    for (size_t k = 0; k < 3; ++k) {
      points[k * count + i] = v[k];
    }
  }
  const host_argument arguments[] = {{.pointer = points},      {.integer = (int)count},
                                     {.pointer = head},        {.pointer = shape->data},
                                     {.pointer = coefficients->data}, {.pointer = out}};
  host_launch_f64(KERNEL_QUERY_DISTANCE, count, 1, arguments);
  for (size_t i = 0; i < count; ++i) {
    out[i] = fabs(out[i]);
  }
}

abut_status find_misfit(const abut_body_def *def, double *median, double *diagonal)
{
  abut_status status = ABUT_SUCCESS;
  double off[ASKED];
  int *head = NULL;
  size_t head_count = 0;
  reals shape = {0}, coefficients = {0};
  const size_t count = def->vertex_count < ASKED ? def->vertex_count : ASKED;
  abut_smoothing smoothing = abut_default_smoothing();
  *median = 0.0;
  *diagonal = diagonal_of(def);
  smoothing.union_ = smoothing.plane = fmax(FITTED * *diagonal, SMOOTHING_LENGTH_LEAST);
  TRY_DONE(pack_primitives(def, sizeof(double), &head, &head_count, &shape));
  TRY_DONE(coefficients_of(&smoothing, sizeof(double), 0, &coefficients));
  evaluate(def, count, head, &shape, &coefficients, off);
  qsort(off, count, sizeof *off, compare);
  *median = off[count / 2];
done:
  free(head);
  free(shape.data);
  free(coefficients.data);
  return status;
}
