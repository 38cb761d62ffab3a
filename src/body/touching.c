#include "body/touching.h"

#include "base/error.h"
#include "base/memory.h"
#include "body/features.h"
#include "geometry/layout.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RIGHT 1.5707963267948966 /* larger half angles do not belong to a corner [rad] */

/* Rounded features have no corner that could be on a rim. */
double feature_inset(const double cone[4], double radius, double inset)
{
  return radius > 0.0 || cone[3] >= RIGHT ? 0.0 : inset;
}

/* Feature edges are sharp or rounded, and few. A body without vertices gets one that is never in
 * contact, because kernels need one. */
static abut_status fill(body *b, const body_features *f, double inset)
{
  const size_t vertices = f->vertex_count ? f->vertex_count : 1;
  void *memory = NULL;
  TRY(allocate(&memory, vertices, 3 * sizeof(double)));
  b->vertices = memory;
  TRY(allocate(&memory, vertices, sizeof *b->names));
  b->names = memory;
  TRY(allocate(&memory, f->edge_count, 2 * sizeof *b->edges));
  b->edges = memory;
  for (size_t i = 0; i < f->vertex_count; ++i) {
    const double *cone = f->vertex_cones + 4 * i,
                 inside = feature_inset(cone, f->vertices[4 * i + 3], inset);
    for (size_t k = 0; k < 3; ++k) {
      b->vertices[3 * i + k] = f->vertices[4 * i + k] - inside * cone[k];
    }
    b->names[i] = f->names[i];
  }
  for (size_t i = 0; i < f->edge_count; ++i) {
    b->edges[2 * i] = f->edges[i].from;
    b->edges[2 * i + 1] = f->edges[i].to;
  }
  b->info.vertices = vertices;
  b->info.edges = f->edge_count;
  b->info.faces = 0;
  b->held = f->held;
  return ABUT_SUCCESS;
}

static abut_status make(body *whole, bool cones, double inset, body **out)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(body)));
  body *b = memory;
  for (size_t i = 0; i < whole->touching_count && !b->touches; ++i) {
    b->touches = whole->touching[i]->coned == cones ? whole->touching[i]->touches : NULL;
  }
  b->borrows_touches = b->touches != NULL;
  if (!b->touches) {
    TRY_DONE(allocate(&memory, 1, sizeof(body_features)));
    b->touches = memory;
    TRY_DONE(body_features_make(whole, cones, b->touches));
  }
  b->context = whole->context;
  b->whole = whole;
  b->info = whole->info;
  b->head = whole->head;
  b->head_count = whole->head_count;
  b->shape = whole->shape;
  TRY_DONE(fill(b, b->touches, inset));
  b->inset = inset;
  b->coned = cones;
  *out = b;
  b = NULL;
done:
  body_touching_free(b);
  return status;
}

abut_status body_touching(body *whole, bool cones, double inset, body **out)
{
  const double own = cones ? inset : 0.0;
  for (size_t i = 0; i < whole->touching_count; ++i) {
    body *b = whole->touching[i];
    if (b->coned == cones && !(b->inset < own) && !(b->inset > own)) {
      *out = b;
      return ABUT_SUCCESS;
    }
  }
  void *room = whole->touching;
  TRY(grow(&room, &whole->touching_room, whole->touching_count + 1, sizeof *whole->touching));
  whole->touching = room;
  TRY(make(whole, cones, own, out));
  whole->touching[whole->touching_count++] = *out;
  return ABUT_SUCCESS;
}

void body_touching_free(body *part)
{
  if (part && part->touches && !part->borrows_touches) {
    body_features_free(part->touches);
    free(part->touches);
  }
  body_free(part);
}

/* ---- on a device ---- */

/* Writes the numbers of a cone. For an angle of pi the sine is set to exactly 0, which a rounded pi
 * would not give. */
static void cone_of(const double cone[4], double radius, double inset, double out[CONE_PLANES])
{
  const bool every = cone[3] >= CONE_EVERY;
  memcpy(out, cone, 3 * sizeof *out);
  out[CONE_ANGLE] = cone[3];
  out[CONE_COSINE] = every ? -1.0 : cos(cone[3]);
  out[CONE_SINE] = every ? 0.0 : sin(cone[3]);
  out[CONE_INSET] = feature_inset(cone, radius, inset);
}

/* Writes cone i of `padding` cones as planes. */
static void set_cone(reals *to, size_t first, size_t padding, size_t i, const double cone[4],
                     double radius, double inset)
{
  double numbers[CONE_PLANES];
  cone_of(cone, radius, inset, numbers);
  for (size_t k = 0; k < CONE_PLANES; ++k) {
    reals_set(to, first + k * padding + i, numbers[k]);
  }
}

void measure_touching(const body *part, resident_body *r)
{
  const body_features *f = part->touches;
  for (size_t i = 0; i < f->vertex_count; ++i) {
    r->most_radius = fmax(r->most_radius, f->vertices[4 * i + 3]);
  }
  r->rounds = r->most_radius > 0.0;
  r->most_radius += part->inset;
  r->circles = f->edge_count && f->quarters;
  for (size_t i = 0; i < f->edge_count; ++i) {
    r->arcs = r->arcs || f->edges[i].arc;
  }
}

static abut_status upload_radii(const body *b, const uint32_t *order, resident_body *r)
{
  static const double every[4] = {0.0, 0.0, 1.0, CONE_EVERY};
  const body_features *f = b->touches;
  const size_t count = f->vertex_count, padding = r->vertex_padded;
  reals radii;
  TRY(reals_create(&radii, RADII_PLANES * padding, device_real_bytes(r->device)));
  for (size_t i = 0; i < count; ++i) {
    reals_set(&radii, i, f->vertices[4 * (size_t)order[i] + 3]);
    reals_set(&radii, padding + i, f->vertices[4 * i + 3]);
  }
  for (size_t i = 0; i < padding; ++i) {
    const size_t at = i < count ? order[i] : 0;
    const double *sorted = i < count ? f->vertex_cones + 4 * at : every,
                 *own = i < count ? f->vertex_cones + 4 * i : every;
    set_cone(&radii, RADII_CONES(0, padding), padding, i, sorted,
             i < count ? f->vertices[4 * at + 3] : 0.0, b->inset);
    set_cone(&radii, RADII_CONES(1, padding), padding, i, own,
             i < count ? f->vertices[4 * i + 3] : 0.0, b->inset);
  }
  const abut_status status =
    buffer_upload(r->device, radii.count * radii.size, radii.data, &r->radii);
  free(radii.data);
  return status;
}

/* Writes the numbers of an edge. An arc turns right-handed about its axis from its first end. A
 * `quarter` belongs to a whole circle. */
static void rail_of(const double from[3], const double to[3], const abut_feature_edge *e,
                    bool quarter, double out[EDGE_PLANES])
{
  double length2 = 0.0;
  memset(out, 0, EDGE_PLANES * sizeof *out);
  for (size_t k = 0; k < 3; ++k) {
    out[EDGE_P + k] = from[k];
    out[EDGE_U + k] = to[k] - from[k];
    length2 += out[EDGE_U + k] * out[EDGE_U + k];
  }
  out[EDGE_LENGTH] = sqrt(length2);
  out[EDGE_RADIUS] = e->radius;
  out[EDGE_QUARTER] = quarter;
  if (e->arc) {
    double *e1 = out + EDGE_E1, *e2 = out + EDGE_E2, end[3];
    for (size_t k = 0; k < 3; ++k) {
      e1[k] = from[k] - e->centre[k];
      end[k] = to[k] - e->centre[k];
      out[EDGE_U + k] = 0.0;
    }
    cross(e->axis, e1, e2);
    out[EDGE_ANGLE] = atan2(dot(end, e2), dot(end, e1));
    out[EDGE_LENGTH] = out[EDGE_ANGLE] * sqrt(dot(e1, e1));
  }
  out[EDGE_SCORE] = 0.5 * out[EDGE_LENGTH] + e->radius;
}

static abut_status upload_rails(const body *b, resident_body *r)
{
  const body_features *f = b->touches;
  const size_t count = f->edge_count, padding = r->edge_padded;
  reals rails;
  TRY(reals_create(&rails, EDGE_PLANES * padding, device_real_bytes(r->device)));
  for (size_t i = 0; count && i < padding; ++i) {
    const size_t at = i < count ? i : count - 1; /* padding repeats the last edge */
    const abut_feature_edge *e = &f->edges[at];
    const bool quarter = at + f->quarters >= count;
    double numbers[EDGE_PLANES], cone[CONE_PLANES];
    cone_of(f->edge_cones + 4 * at, e->radius, b->inset, cone);
    rail_of(f->vertices + 4 * (size_t)e->from, f->vertices + 4 * (size_t)e->to, e, quarter,
            numbers);
    memcpy(numbers + EDGE_CONE, cone, sizeof cone);
    for (size_t k = 0; k < 3; ++k) {
      numbers[EDGE_P + k] -= cone[CONE_INSET] * cone[k];
    }
    for (size_t k = 0; k < EDGE_PLANES; ++k) {
      reals_set(&rails, k * padding + i, numbers[k]);
    }
  }
  const abut_status status =
    buffer_upload(r->device, rails.count * rails.size, rails.data, &r->rails);
  free(rails.data);
  return status;
}

abut_status upload_touching(const body *part, const uint32_t *order, resident_body *r)
{
  TRY(upload_radii(part, order, r));
  return upload_rails(part, r);
}
