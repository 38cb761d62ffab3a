#include "query/shape.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/limits.h"
#include "math/rigid.h"
#include "query/hull.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab07005au
#define CORNERS 8
#define CORNER_NEIGHBOURS 36 /* total over all corners of a box */

static const struct {
  const char *name;
  size_t sizes;
} kinds[ABUT_SHAPE_KINDS] = {
  [ABUT_SHAPE_HULL] = {"hull", 0},       [ABUT_SHAPE_SPHERE] = {"sphere", 1},
  [ABUT_SHAPE_BOX] = {"box", 3},         [ABUT_SHAPE_ELLIPSOID] = {"ellipsoid", 3},
  [ABUT_SHAPE_CAPSULE] = {"capsule", 2}, [ABUT_SHAPE_CYLINDER] = {"cylinder", 2},
  [ABUT_SHAPE_CONE] = {"cone", 2},       [ABUT_SHAPE_SUPERQUADRIC] = {"superquadric", 3},
};

abut_shape_def abut_default_shape_def(void)
{
  abut_shape_def def;
  memset(&def, 0, sizeof def);
  def.exponents[0] = def.exponents[1] = 1.0;
  def.quaternion[0] = 1.0;
  def.cookie = COOKIE;
  return def;
}

shape *shape_get(abut_shape s)
{
  return pool_get(&shape_pool, (handle){s.index, s.generation});
}

static void shape_free(void *object)
{
  shape *s = object;
  if (!s) {
    return;
  }
  free(s->rings);
  free(s->planes);
  free(s->vertices);
  free(s);
}

/* ---- checks ---- */

static abut_status check_vertices(const abut_shape_def *def)
{
  if (!def->vertices || !def->vertex_count || def->vertex_count > ELEMENT_LIMIT) {
    return fail(ABUT_ERROR_ARGUMENT,
                "a hull needs 1 to %zu vertices: the count is %zu, and the array is %s",
                ELEMENT_LIMIT, def->vertex_count, def->vertices ? "given" : "NULL");
  }
  for (size_t i = 0; i < def->vertex_count; ++i) {
    if (!all_within(def->vertices + 3 * i, 3, COORDINATE_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT, "vertex %zu of the hull is not within +-%g", i,
                  COORDINATE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_sizes(const abut_shape_def *def)
{
  const bool divides = def->kind == ABUT_SHAPE_ELLIPSOID || def->kind == ABUT_SHAPE_SUPERQUADRIC;
  const double least = divides ? SHAPE_AXIS_LEAST : 0.0;
  for (size_t i = 0; i < kinds[def->kind].sizes; ++i) {
    if (!(def->size[i] >= least && def->size[i] <= COORDINATE_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT, "size %zu of the %s is %g, not in [%g, %g]", i,
                  kinds[def->kind].name, def->size[i], least, COORDINATE_MOST);
    }
  }
  for (size_t i = 0; def->kind == ABUT_SHAPE_SUPERQUADRIC && i < 2; ++i) {
    if (!(def->exponents[i] >= SHAPE_EXPONENT_LEAST && def->exponents[i] <= SHAPE_EXPONENT_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT, "exponent %zu of the superquadric is %g, not in [%g, %g]", i,
                  def->exponents[i], SHAPE_EXPONENT_LEAST, SHAPE_EXPONENT_MOST);
    }
  }
  return ABUT_SUCCESS;
}

/* Returns the shape's own frame relative to the frame that poses move; NaN without a valid
 * quaternion. */
static rigid frame_of(const abut_shape_def *def)
{
  double numbers[7];
  memcpy(numbers, def->position, sizeof def->position);
  memcpy(numbers + 3, def->quaternion, sizeof def->quaternion);
  return chart_at(ABUT_POSE_QUATERNION, numbers).x;
}

static abut_status check_shape_def(const abut_shape_def *def)
{
  if ((int)def->kind < 0 || (int)def->kind >= ABUT_SHAPE_KINDS) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown kind of shapes %d", (int)def->kind);
  }
  const rigid frame = frame_of(def);
  TRY(def->kind == ABUT_SHAPE_HULL ? check_vertices(def) : check_sizes(def));
  if (!(def->radius >= 0.0 && def->radius <= COORDINATE_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "radius of the %s is %g, not in [0, %g]",
                kinds[def->kind].name, def->radius, COORDINATE_MOST);
  }
  if (!all_within(def->position, 3, COORDINATE_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "position of the %s is not within +-%g", kinds[def->kind].name,
                COORDINATE_MOST);
  }
  if (isnan(frame.q[0])) {
    return fail(ABUT_ERROR_ARGUMENT, "quaternion of the %s has length 0 or is not finite",
                kinds[def->kind].name);
  }
  return ABUT_SUCCESS;
}

/* ---- vertices ---- */

/* Stores the vertices, and packs them relative to the middle of their box; padding repeats the
 * first. */
static abut_status keep_vertices(shape *s, const double *vertices, const uint32_t *which,
                                 size_t count, const double middle[3])
{
  const size_t padding = (count + SHAPE_PAD - 1) / SHAPE_PAD * SHAPE_PAD;
  void *memory = NULL;
  TRY(allocate(&memory, count, 3 * sizeof(double)));
  s->vertices = memory;
  TRY(allocate(&memory, padding, 3 * sizeof(double)));
  s->planes = memory;
  for (size_t i = 0; i < padding; ++i) {
    const size_t at = i < count ? i : 0;
    for (size_t k = 0; k < 3; ++k) {
      s->vertices[3 * at + k] = vertices[3 * (size_t)which[at] + k];
      s->planes[k * padding + i] = s->vertices[3 * at + k] - middle[k];
    }
  }
  s->info.vertices = count;
  s->head[SHAPE_COUNT] = (int)count;
  s->head[SHAPE_PADDED] = (int)padding;
  return ABUT_SUCCESS;
}

static void box_of(const double *vertices, const hull *h, double middle[3], double extents[3])
{
  for (size_t k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < h->count; ++i) {
      low = fmin(low, vertices[3 * (size_t)h->vertices[i] + k]);
      high = fmax(high, vertices[3 * (size_t)h->vertices[i] + k]);
    }
    middle[k] = 0.5 * (low + high);
    extents[k] = high - low;
  }
}

static abut_status make_hull(shape *s, const abut_shape_def *def, double middle[3],
                             double extents[3])
{
  hull h;
  TRY(hull_create(&h, def->vertices, def->vertex_count));
  box_of(def->vertices, &h, middle, extents);
  s->info.dimensions = h.dimensions;
  s->rings = h.rings;
  s->ring_ints = h.ring_ints;
  h.rings = NULL; /* owned by the shape now */
  const abut_status status = keep_vertices(s, def->vertices, h.vertices, h.count, middle);
  hull_free(&h);
  return status;
}

/* Returns whether two corners are neighbours: on a common edge or, on a face, at the ends of the
 * diagonal whose corners have an even number of bits. */
static bool are_neighbours(uint32_t i, uint32_t j)
{
  static const int bits[CORNERS] = {0, 1, 1, 2, 1, 2, 2, 3};
  return bits[i ^ j] == 1 || (bits[i ^ j] == 2 && bits[i] % 2 == 0);
}

/* Makes a box's corners: bit k of a corner's index is set at the upper end of axis k. */
static abut_status make_box(shape *s, const double half[3])
{
  static const uint32_t all[CORNERS] = {0, 1, 2, 3, 4, 5, 6, 7};
  static const double middle[3] = {0.0, 0.0, 0.0};
  double corners[3 * CORNERS];
  void *memory = NULL;
  TRY(allocate(&memory, CORNERS + 1 + CORNER_NEIGHBOURS, sizeof(int)));
  s->rings = memory;
  s->ring_ints = CORNERS + 1;
  for (uint32_t i = 0; i < CORNERS; ++i) {
    s->rings[i] = (int)s->ring_ints;
    for (uint32_t j = 0; j < CORNERS; ++j) {
      if (are_neighbours(i, j)) {
        s->rings[s->ring_ints++] = (int)j;
      }
    }
    for (uint32_t k = 0; k < 3; ++k) {
      corners[3 * i + k] = i >> k & 1 ? half[k] : -half[k];
    }
  }
  s->rings[CORNERS] = (int)s->ring_ints;
  return keep_vertices(s, corners, all, CORNERS, middle);
}

/* ---- records ---- */

/* Stores the sizes in the kernels' layout, and returns the extents along the shape's own axes. */
static void take_sizes(shape *s, const abut_shape_def *def, double extents[3])
{
  const double *size = def->size;
  double *out = s->record + SHAPE_SIZE;
  for (size_t k = 0; k < 3; ++k) {
    extents[k] = 2.0 * size[kinds[def->kind].sizes == 3 ? k : 0];
  }
  switch (def->kind) {
  case ABUT_SHAPE_SPHERE:
    s->record[SHAPE_RADIUS] += size[0];
    break;
  case ABUT_SHAPE_CAPSULE:
    s->record[SHAPE_RADIUS] += size[0];
    out[0] = size[1];
    extents[2] = 2.0 * (size[1] + size[0]);
    break;
  case ABUT_SHAPE_CYLINDER:
  case ABUT_SHAPE_CONE:
    memcpy(out, size, 2 * sizeof *out);
    extents[2] = 2.0 * size[1];
    break;
  default:
    memcpy(out, size, 3 * sizeof *out);
  }
}

/* Sets flags that let kernels skip the shape's own frame. */
static void set_placing(shape *s)
{
  for (size_t i = 0; i < 9; ++i) {
    const bool as_given = s->record[SHAPE_ROTATION + i] == (i % 4 == 0 ? 1.0 : 0.0);
    s->head[SHAPE_PLACING] |= as_given ? 0 : SHAPE_TURNED;
  }
  for (size_t k = 0; k < 3; ++k) {
    s->head[SHAPE_PLACING] |= s->record[SHAPE_OFFSET + k] != 0.0 ? SHAPE_MOVED : 0;
  }
}

/* Records the shape's own frame, whose origin is now the middle of its box. */
static void place(shape *s, const abut_shape_def *def, const double middle[3])
{
  const rigid frame = frame_of(def);
  double shift[3];
  rigid_turn(&frame, middle, shift);
  for (size_t k = 0; k < 3; ++k) {
    const double axis[3] = {k == 0, k == 1, k == 2};
    double column[3];
    rigid_turn(&frame, axis, column);
    for (size_t row = 0; row < 3; ++row) {
      s->record[SHAPE_ROTATION + 3 * row + k] = column[row];
    }
    s->record[SHAPE_OFFSET + k] = def->position[k] + shift[k];
  }
  set_placing(s);
}

static double norm3(const double x[3], double more)
{
  return hypot(hypot(x[0] + more, x[1] + more), x[2] + more);
}

static abut_status make(shape *s, const abut_shape_def *def)
{
  double middle[3] = {0.0, 0.0, 0.0}, extents[3];
  s->info.kind = def->kind;
  s->info.dimensions = 3;
  s->head[SHAPE_KIND] = (int)def->kind;
  s->record[SHAPE_RADIUS] = def->radius;
  if (def->kind == ABUT_SHAPE_HULL) {
    TRY(make_hull(s, def, middle, extents));
  } else {
    take_sizes(s, def, extents);
  }
  if (def->kind == ABUT_SHAPE_BOX) {
    TRY(make_box(s, def->size));
  }
  for (size_t k = 0; k < 2; ++k) {
    const double e = def->kind == ABUT_SHAPE_SUPERQUADRIC ? def->exponents[k] : 1.0;
    s->record[SHAPE_EXPONENTS + k] = 2.0 / (2.0 - e);
  }
  place(s, def, middle);
  s->info.trailing = def->trailing;
  s->info.diagonal = s->record[SHAPE_DIAGONAL] = norm3(extents, 0.0);
  s->info.span = s->record[SHAPE_SPAN] = norm3(extents, 2.0 * def->radius);
  return ABUT_SUCCESS;
}

/* ---- handles ---- */

abut_status shape_create(context *c, const abut_shape_def *def, abut_shape *out)
{
  TRY(check_shape_def(def));
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(shape)));
  shape *s = memory;
  abut_status status = ABUT_SUCCESS;
  s->context = c;
  TRY_DONE(make(s, def));
  TRY_DONE(context_adopt(c, &shape_pool, &s->base, shape_free));
  *out = (abut_shape){s->base.self.index, s->base.self.generation};
  s = NULL;
done:
  shape_free(s);
  return status;
}

abut_status abut_create_shape(abut_context handle_, const abut_shape_def *def, abut_shape *out)
{
  ENTER(context_pool, handle_);
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  if (!def || !out || def->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_shape: the handle is NULL, or the definition was "
                                     "not made by abut_default_shape_def");
  }
  return shape_create(c, def, out);
}

abut_status abut_destroy_shape(abut_shape handle_)
{
  ENTER_ALONE(shape_pool, handle_);
  shape *s = shape_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  shape_lists_forget(s);
  context_discard(s->context, &s->base);
  return ABUT_SUCCESS;
}

abut_status abut_get_shape_info(abut_shape handle_, abut_shape_info *info)
{
  ENTER(shape_pool, handle_);
  if (!info) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_shape_info needs a place for its answer");
  }
  const shape *s = shape_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  *info = s->info;
  return ABUT_SUCCESS;
}

abut_status abut_get_shape_vertices(abut_shape handle_, double *vertices)
{
  ENTER(shape_pool, handle_);
  const shape *s = shape_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!vertices) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_shape_vertices needs a place for its answer");
  }
  if (s->info.vertices) {
    memcpy(vertices, s->vertices, s->info.vertices * 3 * sizeof(double));
  }
  return ABUT_SUCCESS;
}
