/* Decompositions from existing superquadrics, such as another program's table. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include "body/family/family.h"
#include "body/family/superquadric_row.h"
#include "mesh/surface/diagnostics.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNION_USUAL 0.004 /* programs that write tables fit hard unions */
#define UNION_LEAST 0.001
#define UNION_MOST 0.05
#define RINGS 5 /* rings of vertices on each primitive */
#define SIDES 8 /* vertices per ring; each end of the z axis has a vertex too */
#define POINTS (RINGS * SIDES + 2)
#define FACES (SIDES * (RINGS + 1))
#define CORNERS (4 * SIDES * (RINGS - 1) + 2 * 3 * SIDES)
#define PI 3.14159265358979323846

extern const family superquadrics_family;

static primitive primitive_given(const abut_superquadric *s)
{
  primitive p = {.away = s->operation == ABUT_SUBTRACT};
  memcpy(p.axes, s->axes, sizeof p.axes);
  memcpy(p.exponents, s->exponents, sizeof p.exponents);
  memcpy(p.centre, s->position, sizeof p.centre);
  superquadric_rotation(s->quaternion, p.turn);
  return p;
}

/* ---- extents ---- */

/* The maximum of a x + b y on |x|^(2/e) + |y|^(2/e) = 1, with a, b >= 0: the dual norm. */
static double dual_norm(double a, double b, double e)
{
  const double most = fmax(a, b);
  return most > 0.0 ? most * pow(1.0 + pow(fmin(a, b) / most, 2.0 / (2.0 - e)), 0.5 * (2.0 - e))
                    : 0.0;
}

static double reach_along(const primitive *p, int axis)
{
  double part[3];
  for (int k = 0; k < 3; ++k) {
    part[k] = fabs(p->turn[3 * axis + k]) * p->axes[k];
  }
  return dual_norm(dual_norm(part[0], part[1], p->exponents[1]), part[2], p->exponents[0]);
}

static double diagonal_of(const abut_superquadric *s, size_t count)
{
  double square = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t l = 0; l < count; ++l) {
      const primitive p = primitive_given(&s[l]);
      const double reach = reach_along(&p, axis);
      low = fmin(low, p.centre[axis] - reach);
      high = fmax(high, p.centre[axis] + reach);
    }
    square += (high - low) * (high - low);
  }
  return sqrt(square);
}

/* ---- a closed mesh on each primitive ---- */

static void place_vertex(const primitive *p, double latitude, double longitude, double out[3])
{
  const double u[3] = {cos(latitude) * cos(longitude), cos(latitude) * sin(longitude),
                       sin(latitude)};
  const double beyond = primitive_beyond(p, u);
  for (int i = 0; i < 3; ++i) {
    out[i] = p->centre[i];
    for (int k = 0; k < 3; ++k) {
      out[i] += p->turn[3 * i + k] * p->axes[k] * u[k] / beyond;
    }
  }
}

static void place_vertices(const primitive *p, double *out)
{
  for (int ring = 0; ring < RINGS; ++ring) {
    for (int side = 0; side < SIDES; ++side) {
      place_vertex(p, PI * ((ring + 1.0) / (RINGS + 1.0) - 0.5), 2.0 * PI * side / SIDES,
                   out + 3 * (SIDES * ring + side));
    }
  }
  place_vertex(p, -0.5 * PI, 0.0, out + 3 * (POINTS - 2));
  place_vertex(p, 0.5 * PI, 0.0, out + 3 * (POINTS - 1));
}

/* Faces are counterclockwise seen from outside. `first`: the primitive's first vertex. */
static void place_faces(uint32_t first, uint32_t *sizes, uint32_t *corners)
{
  const uint32_t top = first + SIDES * (RINGS - 1);
  for (uint32_t side = 0; side < SIDES; ++side) {
    const uint32_t next = (side + 1) % SIDES;
    for (uint32_t ring = 0; ring + 1 < RINGS; ++ring) {
      const uint32_t low = first + SIDES * ring, high = low + SIDES;
      const uint32_t quad[4] = {low + side, low + next, high + next, high + side};
      memcpy(corners, quad, sizeof quad);
      corners += 4;
      *sizes++ = 4;
    }
    const uint32_t ends[6] = {first + next, first + side, first + POINTS - 2,
                              top + side,   top + next,   first + POINTS - 1};
    memcpy(corners, ends, sizeof ends);
    corners += 6;
    *sizes++ = 3;
    *sizes++ = 3;
  }
}

static abut_status hold_mesh(arena *memory, abut_body_def *def)
{
  const size_t count = def->superquadric_count;
  void *vertices, *sizes, *corners;
  TRY(arena_allocate(memory, &vertices, count, POINTS * 3 * sizeof(double)));
  TRY(arena_allocate(memory, &sizes, count, FACES * sizeof(uint32_t)));
  TRY(arena_allocate(memory, &corners, count, CORNERS * sizeof(uint32_t)));
  for (size_t l = 0; l < count; ++l) {
    const primitive p = primitive_given(&def->superquadrics[l]);
    place_vertices(&p, (double *)vertices + 3 * POINTS * l);
    place_faces((uint32_t)(POINTS * l), (uint32_t *)sizes + FACES * l,
                (uint32_t *)corners + CORNERS * l);
  }
  def->vertices = vertices;
  def->vertex_count = POINTS * count;
  def->face_sizes = sizes;
  def->face_indices = corners;
  def->face_count = FACES * count;
  return ABUT_SUCCESS;
}

/* ---- all of it ---- */

static abut_status check(const abut_superquadrics *from, double union_)
{
  if (!from->count || !from->superquadrics) {
    return fail(ABUT_ERROR_BODY, "there are no superquadrics");
  }
  if (from->count > UINT32_MAX / CORNERS) {
    return fail(ABUT_ERROR_BODY, "there are too many superquadrics: %zu", from->count);
  }
  for (size_t i = 0; i < from->count; ++i) {
    TRY(superquadrics_family.check(&from->superquadrics[i], i));
    if (from->superquadrics[i].operation != ABUT_ADD) {
      return fail(ABUT_ERROR_BODY,
                  "superquadric %zu is subtracted; only added superquadrics are possible here", i);
    }
  }
  if (union_ != 0.0 && !(union_ >= UNION_LEAST && union_ <= UNION_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "the union is %g of the diagonal, not in [%g, %g]", union_,
                UNION_LEAST, UNION_MOST);
  }
  if (!(from->union_ >= 0.0 && isfinite(from->union_))) {
    return fail(ABUT_ERROR_ARGUMENT, "a union of %g m is not a valid temperature", from->union_);
  }
  return ABUT_SUCCESS;
}

static abut_status make(const abut_superquadrics *from, double union_, arena *memory,
                        abut_decomposition *out)
{
  void *all;
  abut_body_def *def = &out->def;
  abut_decompose_report *r = &out->report;
  TRY(arena_allocate(memory, &all, from->count, sizeof *from->superquadrics));
  memcpy(all, from->superquadrics, from->count * sizeof *from->superquadrics);
  *def = abut_default_body_def();
  def->superquadrics = all;
  def->superquadric_count = from->count;
  TRY(hold_mesh(memory, def));
  r->primitives = from->count;
  r->diagonal = diagonal_of(from->superquadrics, from->count);
  r->union_ = union_ != 0.0        ? union_ * r->diagonal
              : from->union_ > 0.0 ? from->union_
                                   : UNION_USUAL * r->diagonal;
  def->union_ = r->union_;
  r->suspicions = diagonal_suspicions(r->diagonal);
  report_superquadrics(r, from->superquadrics, from->count);
  return ABUT_SUCCESS;
}

abut_status abut_import_superquadrics(const abut_superquadrics *from, double union_,
                                      abut_decomposition *out)
{
  void *memory;
  if (!from || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "superquadrics or decomposition is NULL");
  }
  memset(out, 0, sizeof *out);
  TRY(check(from, union_));
  TRY(allocate(&memory, 1, sizeof(arena)));
  const abut_status status = make(from, union_, memory, out);
  if (status != ABUT_SUCCESS) {
    arena_free(memory);
    free(memory);
    memset(out, 0, sizeof *out);
    return status;
  }
  out->memory = memory;
  return ABUT_SUCCESS;
}
