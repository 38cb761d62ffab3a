#include "world/seams.h"

#include "base/error.h"
#include "contact/pair.h"
#include "math/vector.h"
#include "scene/body_shapes.h"
#include "scene/seam_faces.h"
#include "world/tiles.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lengths in penetrations: how far from a seam its zone is whole beyond what fields round, over which length it fades, and
 * how far the bridge goes on behind that; and in the smoothing's `plane`, within which planes are mixed. */
#define WHOLE_STEPS 8.0
#define FADE_STEPS 4.0
#define REST_STEPS 8.0
#define PLANE_STEPS 8.0
#define BRIDGE_MORE 1.1 /* since a bridge has round edges, too */
#define BRIDGE_MOST 100.0 /* A bridge goes on for so many times its reach where both bodies do. */
#define LEAST_FADES 2.0 /* A zone that is narrower than so many of its fades is none. */
#define NO_END 1e9      /* [m] */
#define GRAIN 1073741824.0 /* zones are kept to 1/GRAIN m, so that those that are equal in truth are equal */

/* ---- what bodies have ---- */

/* A body that pairs with normal cones have, in the frame of what carries it. */
typedef struct flush_body {
  bool asked;
  int unit;
  double place[PLACE], middle[3], radius;
  double least, most, plane; /* `penetration` of its pairs, and the largest `plane` */
  double round;              /* seam_roundness */
  seam_face faces[SEAM_FACES]; /* in the frame of the unit */
  size_t face_count;
} flush_body;

static bool counts(const pair *p)
{
  return p && is_in_fields(p) && p->smoothing.cone_outer > p->smoothing.cone_inner;
}

/* Returns pair i of the scene where seams matter to it, else NULL. */
static const pair *counted(const loaded_scene *s, size_t i)
{
  const abut_pair own = s->pairs[s->def.pairs[i].alike];
  const pair *p = has_pair(own) && s->parts[i].tile == PART_WHOLE ? pair_get(own) : NULL;
  return counts(p) ? p : NULL;
}

static void note_pairs(const loaded_scene *s, flush_body *bodies)
{
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const pair *p = counted(s, i);
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

/* Places a link in the frame of the link that moves and carries it, or of the world. Returns that link. */
static int place_in_unit(const scene_def *s, size_t link, double place[PLACE])
{
  static const double still[PLACE] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  const scene_link *l = &s->links[link];
  memcpy(place, still, sizeof still);
  if (joint_dofs(l->joint.type)) {
    return (int)link;
  }
  int unit = WORLD;
  double above[PLACE];
  memcpy(above, still, sizeof still);
  if (l->parent != WORLD) {
    unit = place_in_unit(s, (size_t)l->parent, above);
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

/* What the seam of two bodies, or of one with itself, needs [m]. */
typedef struct seam_sizes {
  double near;  /* below which faces are flush */
  double whole; /* how far from the seam the zone is whole */
  double fade, reach; /* over which length it fades; how far from the seam the bridge ends at least */
} seam_sizes;

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
  b->unit = place_in_unit(&s->def, link, at);
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

static abut_status make_room(void **at, size_t count, size_t *room, size_t bytes)
{
  void *memory = NULL;
  if (count < *room) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, 2 * count + 8, bytes));
  if (count) {
    memcpy(memory, *at, count * bytes);
  }
  free(*at);
  *at = memory;
  *room = 2 * count + 8;
  return ABUT_SUCCESS;
}

/* A rectangle of a face in the axes u and v of another one, from whose centre it is seen. */
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

/* Sees b in the frame of a. Returns false where it is turned against a, or does not face a closely. */
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
    const int of = swapped ? 1 - i : i; /* which axis of b lies along u or v of a */
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

/* Makes the seam of two faces. At its flush sides both bodies go on with one face, at a right angle to the seam's plane: there
 * the zone has no end. Returns false where there is no such side, or too little room. */
static bool seam_of(const seam_face *a, const seam_face *b, const seam_sizes *z, scene_seam *out, bool flush[FACE_SIDES])
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
    flush[2 * i] = fabs(own.low[i] - other.low[i]) <= z->near && own.square[2 * i] && other.square[2 * i];
    flush[2 * i + 1] = fabs(own.high[i] - other.high[i]) <= z->near && own.square[2 * i + 1] && other.square[2 * i + 1];
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

/* A seam, and what is known of it until all are found. */
typedef struct found_seam {
  scene_seam seam;
  seam_sizes sizes;
  bool flush[FACE_SIDES];
} found_seam;

typedef struct finding {
  const loaded_scene *s;
  flush_body *bodies;
  found_seam *all;
  size_t count, room;
} finding;

static abut_status find_between(finding *f, size_t first, size_t second)
{
  const flush_body *a = &f->bodies[first], *b = &f->bodies[second];
  const seam_sizes z = lengths_of(a, b);
  for (size_t i = 0; i < a->face_count; ++i) {
    for (size_t k = 0; k < b->face_count; ++k) {
      found_seam found = {.sizes = z};
      if (seam_of(&a->faces[i], &b->faces[k], &z, &found.seam, found.flush)) {
        void *all = f->all;
        TRY(make_room(&all, f->count, &f->room, sizeof *f->all));
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

/* Whether a point lies in the rectangle of a seam, whose plane is across `direction`. */
static bool lies_in(const found_seam *f, const double direction[3], const double x[3])
{
  double from[3];
  difference(x, f->seam.centre, from);
  bool in = fabs(dot(f->seam.axes[0], direction)) > 1.0 - 1e-6 && fabs(dot(f->seam.axes[0], from)) <= f->sizes.near;
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

/* Whether another seam is flush along all directions along which this one is, but for those of `axis`: then the bodies behind
 * go on with the same flat faces. */
static bool goes_on_flush(const found_seam *from, const found_seam *other, int axis)
{
  bool flush = true;
  for (int side = 0; side < FACE_SIDES; ++side) {
    double direction[3];
    for (int k = 0; k < 3; ++k) {
      direction[k] = (side % 2 ? 1.0 : -1.0) * from->seam.axes[1 + side / 2][k];
    }
    flush = flush && (1 + side / 2 == axis || !from->flush[side] || is_flush_along(other, direction));
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

/* Where a side of a seam lies in another seam, as where four floor tiles meet, or three, its bridge goes on into the bodies
 * behind, and its zone ends there. */
static void go_on(const finding *f, const found_seam *from, scene_seam *to)
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

/* ---- bridges ---- */

/* Turns the frame of a seam, whose axes are right-handed, into a place. */
static rigid place_of_seam(const scene_seam *m)
{
  const double(*a)[3] = m->axes;
  rigid r = {{m->centre[0], m->centre[1], m->centre[2]}, {0.0}};
  /* Of four ways to read a quaternion off a matrix that of the largest number is exact. */
  const double squares[4] = {1.0 + a[0][0] + a[1][1] + a[2][2], 1.0 + a[0][0] - a[1][1] - a[2][2],
                             1.0 - a[0][0] + a[1][1] - a[2][2], 1.0 - a[0][0] - a[1][1] + a[2][2]};
  const double turns[3] = {a[1][2] - a[2][1], a[2][0] - a[0][2], a[0][1] - a[1][0]};
  const double mixed[3] = {a[1][2] + a[2][1], a[2][0] + a[0][2], a[0][1] + a[1][0]}; /* of y z, z x, x y */
  int most = 0;
  for (int i = 1; i < 4; ++i) {
    most = squares[i] > squares[most] ? i : most;
  }
  const double twice = 2.0 * sqrt(squares[most]);
  r.q[most] = 0.25 * twice;
  for (int i = 0; i < 3; ++i) {
    if (most == 0) {
      r.q[1 + i] = turns[i] / twice;
    } else if (i != most - 1) {
      r.q[1 + i] = mixed[3 - i - (most - 1)] / twice;
    } else {
      r.q[0] = turns[i] / twice;
    }
  }
  return r;
}

static abut_status make_bridge(loaded_scene *s, abut_context c, size_t number)
{
  scene_seam *m = &s->seams->all[number];
  arena memory = {0};
  abut_body_def def;
  for (size_t i = 0; i < number; ++i) {
    const double *half = s->seams->all[i].half;
    if (half[0] == m->half[0] && half[1] == m->half[1] && half[2] == m->half[2]) {
      m->bridge = s->seams->all[i].bridge;
      return ABUT_SUCCESS;
    }
  }
  abut_status status = body_shape_make(SHAPE_BOX, m->half, 0.0, &memory, &def);
  if (status == ABUT_SUCCESS) { /* All that touches a flat face is found by the other body's features. */
    def.feature_vertex_count = def.vertex_cone_count = def.feature_edge_count = def.edge_cone_count = 0;
    status = abut_create_body(c, &def, &m->bridge);
  }
  arena_free(&memory);
  return status;
}

static double grained(double x)
{
  return fabs(x) < 1e6 ? nearbyint(x * GRAIN) / GRAIN + 0.0 : x;
}

static abut_status keep_seams(loaded_scene *s, abut_context c, const finding *f)
{
  void *memory = NULL;
  TRY(allocate(&memory, f->count, sizeof *s->seams->all));
  s->seams->all = memory;
  for (size_t i = 0; i < f->count; ++i) {
    scene_seam *m = &s->seams->all[i];
    *m = f->all[i].seam;
    go_on(f, &f->all[i], m);
    for (int k = 0; k < 3; ++k) {
      m->half[k] = grained(m->half[k]);
    }
    double at[PLACE];
    place_in_unit(&s->def, scene_body_link(&s->def, m->tiles[0]), at);
    rigid link;
    memcpy(link.t, at, sizeof link.t);
    memcpy(link.q, at + 3, sizeof link.q);
    const rigid back = rigid_inverse(&link), own = place_of_seam(m), place = rigid_product(&back, &own);
    memcpy(m->place, place.t, sizeof place.t);
    memcpy(m->place + 3, place.q, sizeof place.q);
    s->seams->count = i + 1;
    TRY(make_bridge(s, c, i));
  }
  return ABUT_SUCCESS;
}

/* ---- zones ---- */

/* A list of zones in the making. */
typedef struct zone_list {
  double (*of)[ZONE_REALS];
  size_t count, room;
} zone_list;

/* Adds the zone of a seam as it is seen from a frame: its axes are the rows of `to`, its origin is `origin`. */
static abut_status add_zone(zone_list *l, const scene_seam *m, const double to[3][3], const double origin[3], bool outside)
{
  void *all = l->of;
  TRY(make_room(&all, l->count, &l->room, sizeof *l->of));
  l->of = all;
  double *zone = l->of[l->count++], from[3];
  difference(origin, m->centre, from);
  for (int k = 0; k < 3; ++k) {
    const double shift = dot(m->axes[k], from);
    for (int i = 0; i < 3; ++i) {
      zone[ZONE_AXES + 3 * k + i] = grained(dot(m->axes[k], to[i]));
    }
    zone[ZONE_LOW + k] = grained(m->low[k] > -NO_END ? m->low[k] - shift : -NO_END);
    zone[ZONE_HIGH + k] = grained(m->high[k] < NO_END ? m->high[k] - shift : NO_END);
  }
  zone[ZONE_INVERSE] = 1.0 / m->rise;
  zone[ZONE_OUTSIDE] = outside;
  return ABUT_SUCCESS;
}

static int compare_zones(const void *a_, const void *b_)
{
  const double *a = a_, *b = b_;
  int i = 0;
  while (i < ZONE_REALS - 1 && a[i] == b[i]) {
    ++i;
  }
  return (a[i] > b[i]) - (a[i] < b[i]);
}

/* Equal bodies whose neighbours lie alike shall have equal lists. */
static void sort_zones(zone_list *l)
{
  if (l->count) {
    qsort(l->of, l->count, sizeof *l->of, compare_zones);
  }
}

static bool has_tile(const scene_seam *m, size_t number)
{
  size_t k = 0;
  while (k < m->tile_count && m->tiles[k] != number) {
    ++k;
  }
  return k < m->tile_count;
}

/* Whether the bridges of two seams may overlap, with what their zones reach beyond. */
static bool may_overlap(const scene_seam *a, const scene_seam *b)
{
  double apart[3];
  difference(a->centre, b->centre, apart);
  const double reach = hypot(hypot(a->half[0], a->half[1]), a->half[2]) + hypot(hypot(b->half[0], b->half[1]), b->half[2]);
  return a->unit == b->unit && dot(apart, apart) <= reach * reach;
}

/* ---- pairs ---- */

typedef struct giving {
  loaded_scene *s;
  abut_context context;
  const flush_body *bodies;
  unsigned char *usable; /* (seams, bodies): how many of a seam's tiles the body may touch, at most all */
  zone_list zones[2], bridge;
  size_t group_room;
} giving;

/* A seam matters to bodies that may touch all of its tiles. */
static bool is_usable(const giving *g, size_t seam, size_t number)
{
  return g->usable[seam * g->s->body_count + number] == g->s->seams->all[seam].tile_count;
}

static void count_usable(giving *g)
{
  for (size_t i = 0; i < g->s->def.pair_count; ++i) {
    for (int side = 0; counted(g->s, i) && side < 2; ++side) {
      const size_t tile = scene_pair_body(&g->s->def, &g->s->def.pairs[i], side);
      const size_t other = scene_pair_body(&g->s->def, &g->s->def.pairs[i], !side);
      for (size_t k = 0; k < g->s->seams->count; ++k) {
        g->usable[k * g->s->body_count + other] += has_tile(&g->s->seams->all[k], tile);
      }
    }
  }
}

/* Lists the zones of a body that touches `other`. */
static abut_status list_zones(giving *g, size_t number, size_t other, zone_list *to)
{
  const flush_body *b = &g->bodies[number];
  double axes[3][3];
  to->count = 0;
  for (int k = 0; k < 3; ++k) {
    const double unit[3] = {k == 0, k == 1, k == 2};
    place_turn(b->place, unit, axes[k]);
  }
  for (size_t i = 0; i < g->s->seams->count; ++i) {
    if (has_tile(&g->s->seams->all[i], number) && is_usable(g, i, other)) {
      TRY(add_zone(to, &g->s->seams->all[i], (const double(*)[3])axes, b->place, true));
    }
  }
  sort_zones(to);
  return ABUT_SUCCESS;
}

/* Lists the zones of a bridge: its own, and what zones of bridges before it leave. So all shares add up to 1. */
static abut_status list_bridge(giving *g, size_t number, size_t other)
{
  const scene_seam *m = &g->s->seams->all[number];
  g->bridge.count = 0;
  for (size_t i = 0; i < number; ++i) {
    const scene_seam *before = &g->s->seams->all[i];
    if (may_overlap(m, before) && is_usable(g, i, other)) {
      TRY(add_zone(&g->bridge, before, (const double(*)[3])m->axes, m->centre, true));
    }
  }
  TRY(add_zone(&g->bridge, m, (const double(*)[3])m->axes, m->centre, false));
  sort_zones(&g->bridge);
  return ABUT_SUCCESS;
}

/* Finds a pair with zones, or makes it. */
static abut_status find_pair(giving *g, const abut_body bodies[2], const abut_smoothing *smoothing, const pair_zones *zones,
                             size_t offset, abut_pair *out)
{
  scene_seams *all = g->s->seams;
  for (size_t i = 0; i < all->pair_count; ++i) {
    const pair *p = pair_get(all->pairs[i].pair);
    if (p && all->pairs[i].offset == offset && pair_is(p, bodies, smoothing, zones)) {
      *out = all->pairs[i].pair;
      return ABUT_SUCCESS;
    }
  }
  void *memory = all->pairs;
  TRY(make_room(&memory, all->pair_count, &all->pair_room, sizeof *all->pairs));
  all->pairs = memory;
  TRY(pair_create_with_zones(bodies[0], bodies[1], smoothing, zones, out));
  all->pairs[all->pair_count++] = (seam_pair){*out, offset};
  pair *p = pair_get(*out);
  for (int k = 0; p && k < 4; ++k) {
    p->slot[k] += offset;
  }
  return ABUT_SUCCESS;
}

static abut_status add_group(giving *g, size_t i, const group_part *part, size_t contacts)
{
  loaded_scene *s = g->s;
  void *groups = s->groups, *parts = s->parts;
  size_t room = g->group_room;
  TRY(make_room(&groups, s->group_count, &room, sizeof *s->groups));
  s->groups = groups;
  TRY(make_room(&parts, s->group_count, &g->group_room, sizeof *s->parts));
  s->parts = parts;
  s->groups[s->group_count] = s->groups[i];
  s->groups[s->group_count].is_tile = true;
  s->groups[s->group_count].contacts = contacts;
  s->parts[s->group_count++] = *part;
  return ABUT_SUCCESS;
}

/* Adds the groups of the bridges of a pair's body `side`. */
static abut_status add_bridges(giving *g, size_t i, const pair *p, int side, size_t *offset)
{
  loaded_scene *s = g->s;
  const size_t own = scene_pair_body(&s->def, &s->def.pairs[i], side), other = scene_pair_body(&s->def, &s->def.pairs[i], !side);
  for (size_t k = 0; k < s->seams->count && p->layout.vertices[!side] + p->layout.edges[!side]; ++k) {
    if (s->seams->all[k].tiles[0] != own || !is_usable(g, k, other)) {
      continue;
    }
    abut_body bodies[2] = {p->bodies[0], p->bodies[1]};
    abut_layout layout;
    group_part part = {.tile = PART_BRIDGE, .side = side, .seam = k};
    pair_zones zones;
    TRY(list_bridge(g, k, other));
    bodies[side] = s->seams->all[k].bridge;
    zones.of[side] = g->bridge.of[0];
    zones.count[side] = g->bridge.count;
    zones.of[!side] = (const double *)g->zones[!side].of;
    zones.count[!side] = g->zones[!side].count;
    TRY(find_pair(g, bodies, &p->smoothing, &zones, *offset, &part.pair));
    TRY(abut_get_layout(part.pair, &layout));
    TRY(add_group(g, i, &part, layout.contacts));
    *offset += layout.contacts;
  }
  return ABUT_SUCCESS;
}

static abut_status give_zones(giving *g, size_t i)
{
  loaded_scene *s = g->s;
  const pair *p = counted(s, i);
  pair_zones zones;
  if (!p) {
    return ABUT_SUCCESS;
  }
  for (int side = 0; side < 2; ++side) {
    const size_t own = scene_pair_body(&s->def, &s->def.pairs[i], side), other = scene_pair_body(&s->def, &s->def.pairs[i], !side);
    TRY(list_zones(g, own, other, &g->zones[side]));
    zones.of[side] = (const double *)g->zones[side].of;
    zones.count[side] = g->zones[side].count;
  }
  if (!(zones.count[0] + zones.count[1])) {
    return ABUT_SUCCESS;
  }
  size_t offset = p->layout.contacts;
  TRY(find_pair(g, p->bodies, &p->smoothing, &zones, 0, &s->parts[i].pair));
  for (int side = 0; side < 2; ++side) {
    TRY(add_bridges(g, i, p, side, &offset));
  }
  return ABUT_SUCCESS;
}

static abut_status give_all(loaded_scene *s, abut_context c, const flush_body *bodies)
{
  giving g = {.s = s, .context = c, .bodies = bodies};
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY(allocate(&memory, s->seams->count, s->body_count));
  g.usable = memory;
  count_usable(&g);
  for (size_t i = 0; status == ABUT_SUCCESS && i < s->def.pair_count; ++i) {
    status = give_zones(&g, i);
  }
  free(g.usable);
  free(g.bridge.of);
  free(g.zones[0].of);
  free(g.zones[1].of);
  return status == ABUT_SUCCESS ? tiles_number_slots(s) : status;
}

abut_status seams_make(loaded_scene *s, abut_context c)
{
  finding f = {.s = s};
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  if (s->given) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, s->body_count + 1, sizeof *f.bodies));
  f.bodies = memory;
  note_pairs(s, f.bodies);
  for (size_t i = 0; i < s->body_count; ++i) {
    TRY_DONE(f.bodies[i].asked ? fill_body(s, i, &f.bodies[i]) : ABUT_SUCCESS);
  }
  TRY_DONE(find_all(&f));
  if (f.count) {
    TRY_DONE(allocate(&memory, 1, sizeof *s->seams));
    s->seams = memory;
    TRY_DONE(keep_seams(s, c, &f));
    TRY_DONE(give_all(s, c, f.bodies));
  }
done:
  free(f.all);
  free(f.bodies);
  return status;
}

/* ---- destroyed ---- */

void seams_destroy(loaded_scene *s)
{
  for (size_t i = 0; s->seams && i < s->seams->pair_count; ++i) {
    pair *p = pair_get(s->seams->pairs[i].pair);
    if (p) {
      context_discard(p->context, &p->base);
    }
  }
  for (size_t i = 0; s->seams && i < s->seams->count; ++i) {
    const abut_body own = s->seams->all[i].bridge;
    body *b = own.generation ? body_get(own) : NULL;
    for (size_t k = i; k < s->seams->count; ++k) { /* Others share it. */
      if (same_body(s->seams->all[k].bridge, own)) {
        s->seams->all[k].bridge = (abut_body){0, 0};
      }
    }
    if (b) {
      context_discard(b->context, &b->base);
    }
  }
}

void seams_free(loaded_scene *s)
{
  if (s->seams) {
    free(s->seams->all);
    free(s->seams->pairs);
    free(s->seams);
  }
}
