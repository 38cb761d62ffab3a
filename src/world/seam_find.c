#include "world/seam_find.h"

#include "base/error.h"
#include "math/vector.h"
#include "scene/body_shapes.h"
#include "world/tiles.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lengths in units of penetration: the distance from a seam within which its zone is 1 despite
 * rounding of fields, the length over which the zone fades, and how far the bridge extends beyond.
 * Also the length in units of the smoothing's `plane` within which planes are mixed. */
#define WHOLE_STEPS 8.0
#define FADE_STEPS 4.0
#define REST_STEPS 8.0
#define PLANE_STEPS 8.0
#define BRIDGE_MORE 1.1 /* because the edges of a bridge are rounded, too */
#define BRIDGE_MOST \
  100.0 /* If both bodies continue, a bridge is at most this many times its reach. */
#define LEAST_FADES 2.0 /* A zone narrower than this many fade lengths is not used. */
/* ---- bodies ---- */

bool seam_counts(const pair *p)
{
  return p && is_in_fields(p) && p->smoothing.cone_outer > p->smoothing.cone_inner;
}

const pair *seam_counted(const loaded_scene *s, size_t i)
{
  const abut_pair own = s->pairs[s->def.pairs[i].alike];
  const pair *p = has_pair(own) && s->parts[i].tile == PART_WHOLE ? pair_get(own) : NULL;
  return seam_counts(p) ? p : NULL;
}

static void note_pairs(const loaded_scene *s, flush_body *bodies)
{
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const pair *p = seam_counted(s, i);
    for (int side = 0; p && side < 2; ++side) {
      flush_body *b = &bodies[scene_pair_body(&s->def, &s->def.pairs[i], side)];
      const double penetration = p->smoothing.penetration;
      b->least = b->asked ? fmin(b->least, penetration) : penetration;
      b->most = fmax(b->most, penetration);
      b->plane = fmax(b->plane, p->smoothing.plane);
      b->asked = true;
    }
  }
}

int seam_place_in_unit(const scene_def *s, size_t link, double place[PLACE])
{
  static const double still[PLACE] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  const scene_link *l = &s->links[link];
  memcpy(place, still, sizeof still);
  if (joint_moves(l->joint.type)) {
    return (int)link;
  }
  int unit = WORLD;
  double above[PLACE];
  memcpy(above, still, sizeof still);
  if (l->parent != WORLD) {
    unit = seam_place_in_unit(s, (size_t)l->parent, above);
  }
  place_link(l, above, NULL, place);
  return unit;
}

static void move_point(const double place[PLACE], double x[3])
{
  double turned[3];
  place_turn(place, x, turned);
  for (int k = 0; k < 3; ++k) {
    x[k] = place[k] + turned[k];
  }
}

static void move_face(const double place[PLACE], seam_face *f)
{
  move_point(place, f->centre);
  for (int k = 0; k < 3; ++k) {
    double turned[3];
    place_turn(place, f->axes[k], turned);
    memcpy(f->axes[k], turned, sizeof turned);
  }
}

static seam_sizes lengths_of(const flush_body *a, const flush_body *b)
{
  const double most = fmax(a->most, b->most);
  seam_sizes z = {.near = fmin(a->least, b->least), .fade = FADE_STEPS * most};
  z.whole = WHOLE_STEPS * most + fmax(a->round, b->round);
  z.reach = BRIDGE_MORE * (z.whole + z.fade + REST_STEPS * most);
  return z;
}

static abut_status fill_body(const loaded_scene *s, size_t number, flush_body *b)
{
  const size_t link = scene_body_link(&s->def, number);
  const scene_body *of = &s->def.links[link].bodies[number - s->def.links[link].first_body];
  const body *loaded = body_get(s->bodies[number]);
  double at[PLACE], diagonal = 0.0;
  if (!loaded) {
    return ABUT_ERROR_HANDLE;
  }
  b->unit = seam_place_in_unit(&s->def, link, at);
  place_body(of, at, b->place);
  b->round = seam_roundness(loaded);
  if (loaded->info.polyhedra || loaded->info.height_fields) {
    b->round += PLANE_STEPS * b->plane;
  }
  if (isinf(b->round)) {
    return ABUT_SUCCESS;
  }
  const seam_sizes z = lengths_of(b, b);
  const seam_lengths lengths = {z.near, z.reach};
  b->face_count = seam_faces_of(of, loaded, &lengths, b->faces);
  for (size_t i = 0; i < b->face_count; ++i) {
    move_face(b->place, &b->faces[i]);
  }
  for (int k = 0; k < 3; ++k) {
    b->middle[k] = 0.5 * (loaded->info.lower[k] + loaded->info.upper[k]);
    diagonal = hypot(diagonal, loaded->info.upper[k] - loaded->info.lower[k]);
  }
  b->radius = 0.5 * diagonal;
  move_point(b->place, b->middle);
  return ABUT_SUCCESS;
}

/* ---- seams ---- */

/* A face's rectangle in the axes u and v of another face, relative to its centre. */
typedef struct rectangle {
  double low[2], high[2];
  bool square[FACE_SIDES];
} rectangle;

static rectangle own_rectangle(const seam_face *f)
{
  rectangle r = {{-f->half[0], -f->half[1]}, {f->half[0], f->half[1]}, {false}};
  memcpy(r.square, f->square, sizeof r.square);
  return r;
}

/* Transforms b into the frame of a. Returns false if it is rotated against a, or does not face a
 * closely. */
static bool seen_from(const seam_face *a, const seam_face *b, double near, rectangle *out)
{
  double apart[3];
  difference(b->centre, a->centre, apart);
  const double size = b->half[0] + b->half[1];
  if (!(fabs(dot(a->axes[0], apart)) <= near) || dot(a->axes[0], b->axes[0]) > 0.0) {
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    if (fabs(dot(a->axes[0], b->axes[1 + i])) * size > near) {
      return false;
    }
  }
  const bool swapped = fabs(dot(a->axes[1], b->axes[1])) < fabs(dot(a->axes[1], b->axes[2]));
  for (int i = 0; i < 2; ++i) {
    const int of = swapped ? 1 - i : i; /* the axis of b along u or v of a */
    const double along = dot(a->axes[1 + i], b->axes[1 + of]), at = dot(a->axes[1 + i], apart);
    if (fabs(dot(a->axes[1 + i], b->axes[2 - of])) * size > near) {
      return false;
    }
    out->low[i] = at - b->half[of];
    out->high[i] = at + b->half[of];
    out->square[2 * i] = b->square[2 * of + (along < 0.0)];
    out->square[2 * i + 1] = b->square[2 * of + (along > 0.0)];
  }
  return true;
}

/* Makes the seam of two faces. At a flush side both bodies continue with a common face
 * perpendicular to the seam's plane, where the zone has no end. Returns false if there is no flush
 * side, or too little room. */
static bool seam_of(const seam_face *a, const seam_face *b, const seam_sizes *z, scene_seam *out,
                    bool flush[FACE_SIDES])
{
  rectangle other;
  if (a->depth < z->reach || b->depth < z->reach || !seen_from(a, b, z->near, &other)) {
    return false;
  }
  const rectangle own = own_rectangle(a);
  bool any = false;
  memcpy(out->axes, a->axes, sizeof out->axes);
  memcpy(out->centre, a->centre, sizeof out->centre);
  out->rise = z->fade;
  out->half[0] = fmax(z->reach, fmin(fmin(a->flat, b->flat), BRIDGE_MOST * z->reach));
  out->low[0] = -z->whole - z->fade;
  out->high[0] = z->whole + z->fade;
  for (int i = 0; i < 2; ++i) {
    const double low = fmax(own.low[i], other.low[i]), high = fmin(own.high[i], other.high[i]);
    flush[2 * i] = fabs(own.low[i] - other.low[i]) <= z->near && own.square[2 * i] &&
                   other.square[2 * i];
    flush[2 * i + 1] = fabs(own.high[i] - other.high[i]) <= z->near && own.square[2 * i + 1] &&
                       other.square[2 * i + 1];
    any = any || flush[2 * i] || flush[2 * i + 1];
    const double middle = 0.5 * (low + high);
    out->half[1 + i] = 0.5 * (high - low);
    out->low[1 + i] = flush[2 * i] ? -NO_END : -out->half[1 + i] + z->whole;
    out->high[1 + i] = flush[2 * i + 1] ? NO_END : out->half[1 + i] - z->whole;
    for (int k = 0; k < 3; ++k) {
      out->centre[k] += middle * a->axes[1 + i][k];
    }
    if (!(high - low > z->near) || out->high[1 + i] - out->low[1 + i] < LEAST_FADES * z->fade) {
      return false;
    }
  }
  return any;
}

static abut_status find_between(finding *f, size_t first, size_t second)
{
  const flush_body *a = &f->bodies[first], *b = &f->bodies[second];
  const seam_sizes z = lengths_of(a, b);
  for (size_t i = 0; i < a->face_count; ++i) {
    for (size_t k = 0; k < b->face_count; ++k) {
      found_seam found = {.sizes = z};
      if (seam_of(&a->faces[i], &b->faces[k], &z, &found.seam, found.flush)) {
        void *all = f->all;
        TRY(grow(&all, &f->room, f->count + 1, sizeof *f->all));
        f->all = all;
        found.seam.unit = a->unit;
        found.seam.tiles[0] = first;
        found.seam.tiles[1] = second;
        found.seam.tile_count = 2;
        f->all[f->count++] = found;
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status find_all(finding *f)
{
  for (size_t i = 0; i < f->s->body_count; ++i) {
    const flush_body *a = &f->bodies[i];
    for (size_t k = i + 1; a->face_count && k < f->s->body_count; ++k) {
      const flush_body *b = &f->bodies[k];
      double apart[3];
      difference(a->middle, b->middle, apart);
      const double reach = a->radius + b->radius + fmin(a->least, b->least);
      if (b->face_count && a->unit == b->unit && dot(apart, apart) <= reach * reach) {
        TRY(find_between(f, i, k));
      }
    }
  }
  return ABUT_SUCCESS;
}

/* ---- ends that other seams cover ---- */

/* Whether a point is in the rectangle of a seam whose plane is perpendicular to `direction`. */
static bool lies_in(const found_seam *f, const double direction[3], const double x[3])
{
  double from[3];
  difference(x, f->seam.centre, from);
  bool in = fabs(dot(f->seam.axes[0], direction)) > 1.0 - 1e-6 &&
            fabs(dot(f->seam.axes[0], from)) <= f->sizes.near;
  for (int k = 1; k < 3; ++k) {
    in = in && fabs(dot(f->seam.axes[k], from)) <= f->seam.half[k] + f->sizes.near;
  }
  return in;
}

/* Whether a seam is flush along `direction`. */
static bool is_flush_along(const found_seam *f, const double direction[3])
{
  bool flush = false;
  for (int side = 0; side < FACE_SIDES; ++side) {
    const double along = dot(f->seam.axes[1 + side / 2], direction);
    flush = flush || (f->flush[side] && (side % 2 ? along : -along) > 1.0 - 1e-6);
  }
  return flush;
}

/* Whether another seam is flush along all flush directions of this seam other than those of `axis`.
 * The bodies behind then continue the same flat faces. */
static bool goes_on_flush(const found_seam *from, const found_seam *other, int axis)
{
  bool flush = true;
  for (int side = 0; side < FACE_SIDES; ++side) {
    double direction[3];
    for (int k = 0; k < 3; ++k) {
      direction[k] = (side % 2 ? 1.0 : -1.0) * from->seam.axes[1 + side / 2][k];
    }
    flush = flush &&
            (1 + side / 2 == axis || !from->flush[side] || is_flush_along(other, direction));
  }
  return flush;
}

static void add_tiles(const scene_seam *from, scene_seam *to)
{
  for (size_t i = 0; i < 2; ++i) {
    size_t k = 0;
    while (k < to->tile_count && to->tiles[k] != from->tiles[i]) {
      ++k;
    }
    if (k == to->tile_count && k < SEAM_TILES) {
      to->tiles[to->tile_count++] = from->tiles[i];
    }
  }
}

void seam_go_on(const finding *f, const found_seam *from, scene_seam *to)
{
  for (int side = 0; side < FACE_SIDES; ++side) {
    const int axis = 1 + side / 2;
    const double sign = side % 2 ? 1.0 : -1.0;
    bool covered = false;
    double x[3], direction[3];
    for (int k = 0; k < 3; ++k) {
      direction[k] = from->seam.axes[axis][k];
      x[k] = from->seam.centre[k] + sign * from->seam.half[axis] * direction[k];
    }
    for (size_t i = 0; i < f->count; ++i) {
      if (f->all[i].seam.unit == from->seam.unit && lies_in(&f->all[i], direction, x) &&
          goes_on_flush(from, &f->all[i], axis)) {
        add_tiles(&f->all[i].seam, to);
        covered = true;
      }
    }
    if (covered) {
      const double more = from->sizes.reach, end = to->half[axis] + more - from->sizes.whole;
      to->half[axis] += 0.5 * more;
      *(side % 2 ? &to->high[axis] : &to->low[axis]) = sign * end;
      for (int k = 0; k < 3; ++k) {
        to->centre[k] += 0.5 * sign * more * direction[k];
      }
      to->low[axis] -= to->low[axis] > -NO_END ? 0.5 * sign * more : 0.0;
      to->high[axis] -= to->high[axis] < NO_END ? 0.5 * sign * more : 0.0;
    }
  }
}

abut_status seams_find(finding *f)
{
  void *memory = NULL;
  TRY(allocate(&memory, f->s->body_count + 1, sizeof *f->bodies));
  f->bodies = memory;
  note_pairs(f->s, f->bodies);
  for (size_t i = 0; i < f->s->body_count; ++i) {
    TRY(f->bodies[i].asked ? fill_body(f->s, i, &f->bodies[i]) : ABUT_SUCCESS);
  }
  return find_all(f);
}
