/* Convex shapes made from the parts of a body. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/limits.h"
#include "body/body.h"
#include "query/half_spaces.h"
#include "query/shape.h"
#include <math.h>
#include <string.h>

static size_t count_parts(const body *b, abut_body_part part)
{
  size_t count = 0;
  if (part == ABUT_PART_HULL) {
    return 1;
  }
  for (size_t i = 0; part == ABUT_PART_SUPERQUADRICS && i < b->parts.superquadric_count; ++i) {
    count += b->parts.superquadrics[i].operation == ABUT_ADD;
  }
  for (size_t i = 0; part == ABUT_PART_POLYHEDRA && i < b->parts.polyhedron_count; ++i) {
    count += b->parts.polyhedra[i].operation == ABUT_ADD;
  }
  return count;
}

static abut_status check_part(abut_body_part part)
{
  return part == ABUT_PART_HULL || part == ABUT_PART_SUPERQUADRICS || part == ABUT_PART_POLYHEDRA
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "unknown part of bodies %d", (int)part);
}

abut_status abut_count_body_shapes(abut_body handle_, abut_body_part part, size_t *count)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  if (!count) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_count_body_shapes needs a place for its answer");
  }
  TRY(check_part(part));
  *count = count_parts(b, part);
  return ABUT_SUCCESS;
}

static abut_status make_superquadric(context *c, const abut_superquadric *s, abut_shape *out)
{
  abut_shape_def def = abut_default_shape_def();
  def.kind = ABUT_SHAPE_SUPERQUADRIC;
  memcpy(def.size, s->axes, sizeof def.size);
  memcpy(def.position, s->position, sizeof def.position);
  memcpy(def.quaternion, s->quaternion, sizeof def.quaternion);
  for (int k = 0; k < 2; ++k) {
    def.exponents[k] = fmin(fmax(s->exponents[k], SHAPE_EXPONENT_LEAST), SHAPE_EXPONENT_MOST);
  }
  return shape_create(c, &def, out);
}

/* i: index among all polyhedra of the body's file. */
static abut_status make_polyhedron(context *c, const abut_polyhedron *p, size_t i, abut_shape *out)
{
  abut_status status = ABUT_SUCCESS;
  corners found;
  abut_shape_def def = abut_default_shape_def();
  TRY(find_corners(&found, p->planes, p->count));
  if (!found.count || !found.is_bounded) {
    status =
      fail(ABUT_ERROR_BODY, "polyhedron %zu %s", i,
           found.count ? "is not bounded within +-1e6 m" : "is empty: its planes leave no volume");
    goto done;
  }
  def.vertices = found.at;
  def.vertex_count = found.count;
  TRY_DONE(shape_create(c, &def, out));
done:
  corners_free(&found);
  return status;
}

static abut_status make_hull(const body *b, abut_shape *out)
{
  abut_shape_def def = abut_default_shape_def();
  def.vertices = b->vertices;
  def.vertex_count = b->info.vertices;
  return shape_create(b->context, &def, out);
}

/* Makes the shapes. *made is their number, even after a failure. */
static abut_status make(const body *b, abut_body_part part, abut_shape *shapes, size_t *made)
{
  const body_parts *p = &b->parts;
  if (part == ABUT_PART_HULL) {
    TRY(make_hull(b, shapes));
    ++*made;
  }
  for (size_t i = 0; part == ABUT_PART_SUPERQUADRICS && i < p->superquadric_count; ++i) {
    if (p->superquadrics[i].operation == ABUT_ADD) {
      TRY(make_superquadric(b->context, &p->superquadrics[i], &shapes[*made]));
      ++*made;
    }
  }
  for (size_t i = 0; part == ABUT_PART_POLYHEDRA && i < p->polyhedron_count; ++i) {
    if (p->polyhedra[i].operation == ABUT_ADD) {
      TRY(make_polyhedron(b->context, &p->polyhedra[i], i, &shapes[*made]));
      ++*made;
    }
  }
  return ABUT_SUCCESS;
}

abut_status abut_create_body_shapes(abut_body handle_, abut_body_part part, size_t count,
                                    abut_shape *shapes)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  size_t made = 0;
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(check_part(part));
  const size_t there = count_parts(b, part);
  if (!there || count != there || !shapes) {
    return fail(ABUT_ERROR_ARGUMENT, "the body has %zu added %s, but %zu shapes are %s", there,
                part == ABUT_PART_SUPERQUADRICS ? "superquadrics"
                : part == ABUT_PART_POLYHEDRA   ? "polyhedra"
                                                : "meshes",
                count, shapes ? "requested" : "requested with a NULL array");
  }
  const abut_status status = make(b, part, shapes, &made);
  for (size_t i = 0; status != ABUT_SUCCESS && i < made; ++i) {
    context_discard(b->context, &shape_get(shapes[i])->base);
  }
  return status;
}
