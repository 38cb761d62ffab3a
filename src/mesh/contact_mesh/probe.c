#include "mesh/contact_mesh/probe.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "body/body.h"
#include "engine/device/host_path.h"
#include "contact/smoothing.h"
#include <math.h>

#define STEPS 12        /* steps towards the surface */
#define NEAR 1e-10      /* share of the reach at which the search ends */
#define SLOPE_STEP 1e-5 /* share of the reach over which the slope along the normal is measured */
#define SLOPE_LEAST 0.05

/* Packs the primitives again, in double. If the body has only primitives, the ones it keeps as
 * given are enough. */
static abut_status pack(const body *b, probe *out)
{
  const abut_body_info *info = &b->info;
  const abut_body_def def = {.superquadrics = b->parts.superquadrics,
                             .superquadric_count = b->parts.superquadric_count,
                             .polyhedra = b->parts.polyhedra,
                             .polyhedron_count = b->parts.polyhedron_count,
                             .cores = b->parts.cores,
                             .core_count = b->parts.core_count};
  size_t count;
  void *memory;
  if (info->primitives == info->superquadrics + info->polyhedra + info->cores) {
    return pack_primitives(&def, sizeof(double), &out->head, &count, &out->shape);
  }
  TRY(allocate(&memory, b->head_count, sizeof(int)));
  out->head = memory;
  memcpy(out->head, b->head, b->head_count * sizeof(int));
  return reals_widen(&b->shape, &out->shape);
}

static abut_status fill(const body *of, const field_of *f, probe *out, box *b)
{
  abut_smoothing smoothing = abut_default_smoothing();
  void *memory;
  smoothing.union_ = f->union_tau;
  smoothing.plane = f->plane_tau;
  TRY(check_smoothing(&smoothing));
  TRY(coefficients_of(&smoothing, sizeof(double), 0, &out->coefficients));
  TRY(pack(of, out));
  TRY(allocate(&memory, PROBE_MOST, 3 * sizeof(double)));
  out->points = memory;
  TRY(allocate(&memory, PROBE_MOST, 4 * sizeof(double)));
  out->field = memory;
  for (int k = 0; k < 3; ++k) {
    b->lower[k] = HUGE_VAL;
    b->upper[k] = -HUGE_VAL;
  }
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    const packed p = packed_of(out->head, &out->shape, ABUT_ADD, i);
    const box before = *b;
    families[i]->cover(&p, b);
    if (p.count && memcmp(&before, b, sizeof before) == 0) {
      families[i]->enclose(&p, 0.0, b); /* planes have no bounding box of their own */
    }
  }
  return ABUT_SUCCESS;
}

abut_status probe_create(const field_of *f, probe *out, box *b)
{
  ENTER(body_pool, f->body);
  const body *of = body_get(f->body);
  *out = (probe){0};
  if (!of) {
    return ABUT_ERROR_HANDLE;
  }
  const abut_status status = fill(of, f, out, b);
  if (status != ABUT_SUCCESS) {
    probe_free(out);
  }
  return status;
}

void probe_free(probe *p)
{
  free(p->head);
  free(p->shape.data);
  free(p->coefficients.data);
  free(p->points);
  free(p->field);
  *p = (probe){0};
}

static void ask(probe *p, const double *points, size_t count, double *field, double *normal)
{
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      p->points[k * count + i] = points[3 * i + k];
    }
  }
  const host_argument arguments[] = {
    {.pointer = p->points},     {.integer = (int)count},           {.pointer = p->head},
    {.pointer = p->shape.data}, {.pointer = p->coefficients.data}, {.pointer = p->field}};
  host_launch_f64(normal ? KERNEL_QUERY_FIELD : KERNEL_QUERY_DISTANCE, count, 1, arguments);
  for (size_t i = 0; i < count; ++i) {
    field[i] = p->field[i];
    for (size_t k = 0; normal && k < 3; ++k) {
      normal[3 * i + k] = p->field[(k + 1) * count + i];
    }
  }
}

void probe_field(probe *p, const double *points, size_t count, double *field, double *normal)
{
  for (size_t first = 0; first < count; first += PROBE_MOST) {
    const size_t now = count - first < PROBE_MOST ? count - first : PROBE_MOST;
    ask(p, points + 3 * first, now, field + first, normal ? normal + 3 * first : NULL);
  }
}

/* Newton's method along the normal. The field is not a distance, so its slope along the normal is
 * measured too. */
void probe_project(probe *p, double *points, size_t count, double *normal, bool *done)
{
  const double step = SLOPE_STEP * p->reach;
  double field[PROBE_POINTS], beside[PROBE_POINTS], places[3 * PROBE_POINTS];
  bool all = false;
  for (int turn = 0; turn < STEPS && !all; ++turn) {
    probe_field(p, points, count, field, normal);
    all = true;
    for (size_t i = 0; i < count; ++i) {
      done[i] = fabs(field[i]) <= NEAR * p->reach;
      all = all && done[i];
      for (size_t k = 0; k < 3; ++k) {
        places[3 * i + k] = points[3 * i + k] + step * normal[3 * i + k];
      }
    }
    if (all) {
      break;
    }
    probe_field(p, places, count, beside, NULL);
    for (size_t i = 0; i < count; ++i) {
      const double slope = fmax((beside[i] - field[i]) / step, SLOPE_LEAST);
      const double way = done[i] ? 0.0 : fmin(fmax(-field[i] / slope, -p->reach), p->reach);
      for (size_t k = 0; k < 3; ++k) {
        points[3 * i + k] += way * normal[3 * i + k];
      }
    }
  }
}
