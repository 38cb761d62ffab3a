#include "contact/misfit.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "body/feature_check.h"
#include "body/parts.h"
#include "engine/device/host_path.h"
#include "contact/smoothing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* number of vertices, spread over the mesh, at which the field is evaluated */
#define ASKED 256
#define FEATURES_ASKED ((size_t)4096) /* and maximum number of features */
#define FITTED 0.004 /* temperatures as shares of the diagonal, as in fitted smoothing */

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

/* The data for evaluating a field. */
typedef struct field {
  int *head;
  reals shape, coefficients;
} field;

/* Evaluates the field at `count` points, at most ASKED. points: 3 planes of `count`. */
static void evaluate(const field *f, size_t count, double *points, double out[ASKED])
{
  const host_argument arguments[] = {
    {.pointer = points},        {.integer = (int)count},           {.pointer = f->head},
    {.pointer = f->shape.data}, {.pointer = f->coefficients.data}, {.pointer = out}};
  host_launch_f64(KERNEL_QUERY_DISTANCE, count, 1, arguments);
}

static double median_at(const double *vertices, size_t vertex_count, const field *f)
{
  const size_t count = vertex_count < ASKED ? vertex_count : ASKED;
  double points[3 * ASKED], off[ASKED];
  for (size_t i = 0; i < count; ++i) {
    const double *v = vertices + 3 * (i * vertex_count / count);
    for (size_t k = 0; k < 3; ++k) {
      points[k * count + i] = v[k];
    }
  }
  evaluate(f, count, points, off);
  for (size_t i = 0; i < count; ++i) {
    off[i] = fabs(off[i]);
  }
  qsort(off, count, sizeof *off, compare);
  return off[count / 2];
}

/* ---- features ---- */

/* Gives the middle of an edge and its radius. The ends of an arc are at most a quarter turn apart,
 * so its middle is in the direction of the sum of its ends relative to the centre, at their
 * distance from it. */
static void edge_middle(const abut_body_def *def, const abut_feature_edge *given, double out[4])
{
  const abut_feature_edge e = feature_edge_settled(given, def->feature_vertices);
  const double *from = def->feature_vertices + 4 * (size_t)e.from,
               *to = def->feature_vertices + 4 * (size_t)e.to;
  double across[3], square = 0.0, length = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    out[k] = 0.5 * (from[k] + to[k]);
    across[k] = out[k] - e.centre[k];
    square += (from[k] - e.centre[k]) * (from[k] - e.centre[k]);
    length += across[k] * across[k];
  }
  for (size_t k = 0; e.arc && k < 3; ++k) {
    out[k] = e.centre[k] + across[k] * sqrt(square / length);
  }
  out[3] = e.radius;
}

static double worst_feature(const abut_body_def *def, const field *f)
{
  const size_t vertices = def->feature_vertex_count, all = vertices + def->feature_edge_count;
  const size_t asked = all < FEATURES_ASKED ? all : FEATURES_ASKED;
  double worst = 0.0;
  for (size_t first = 0; first < asked; first += ASKED) {
    const size_t count = asked - first < ASKED ? asked - first : ASKED;
    double points[3 * ASKED], radii[ASKED], phi[ASKED];
    for (size_t i = 0; i < count; ++i) {
      const size_t at = (first + i) * all / asked;
      double place[4];
      if (at < vertices) {
        memcpy(place, def->feature_vertices + 4 * at, sizeof place);
      } else {
        edge_middle(def, &def->feature_edges[at - vertices], place);
      }
      for (size_t k = 0; k < 3; ++k) {
        points[k * count + i] = place[k];
      }
      radii[i] = place[3];
    }
    evaluate(f, count, points, phi);
    for (size_t i = 0; i < count; ++i) {
      worst = fmax(worst, fabs(phi[i] + radii[i]));
    }
  }
  return worst;
}

abut_status find_misfit(const abut_body_def *def, misfit *out)
{
  abut_status status = ABUT_SUCCESS;
  field f = {0};
  size_t head_count = 0;
  abut_smoothing smoothing = abut_default_smoothing();
  *out = (misfit){.diagonal = diagonal_of(def)};
  smoothing.union_ = smoothing.plane = fmax(FITTED * out->diagonal, SMOOTHING_LENGTH_LEAST);
  TRY_DONE(pack_primitives(def, sizeof(double), &f.head, &head_count, &f.shape));
  TRY_DONE(coefficients_of(&smoothing, sizeof(double), 0, &f.coefficients));
  out->median = median_at(def->vertices, def->vertex_count, &f);
  if (def->surface.face_count && !def->height_field_count) {
    out->median =
      fmax(out->median, median_at(def->surface.vertices, def->surface.vertex_count, &f));
  }
  out->features = worst_feature(def, &f);
done:
  free(f.head);
  free(f.shape.data);
  free(f.coefficients.data);
  return status;
}
