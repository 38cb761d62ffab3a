#include "world/seam_find.h"

#include "base/error.h"
#include "math/vector.h"
#include "scene/body_shapes.h"
#include "world/tiles.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* zones are rounded to 1/GRAIN m, so equal zones compare equal */
#define GRAIN 1073741824.0

/* ---- bridges ---- */

/* Returns the frame of a seam, whose axes are right-handed, as a pose. */
static rigid place_of_seam(const scene_seam *m)
{
  const double(*a)[3] = m->axes;
  rigid r = {{m->centre[0], m->centre[1], m->centre[2]}, {0.0}};
  /* Of the four formulas for the quaternion of a matrix, the one with the largest component is
   * accurate. */
  const double squares[4] = {1.0 + a[0][0] + a[1][1] + a[2][2], 1.0 + a[0][0] - a[1][1] - a[2][2],
                             1.0 - a[0][0] + a[1][1] - a[2][2], 1.0 - a[0][0] - a[1][1] + a[2][2]};
  const double turns[3] = {a[1][2] - a[2][1], a[2][0] - a[0][2], a[0][1] - a[1][0]};
  /* of y z, z x, x y */
  const double mixed[3] = {a[1][2] + a[2][1], a[2][0] + a[0][2], a[0][1] + a[1][0]};
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
  if (status == ABUT_SUCCESS) { /* The other body's features find all contacts with a flat face. */
    def.feature_vertex_count = def.vertex_cone_count = def.feature_edge_count =
      def.edge_cone_count = 0;
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
    seam_go_on(f, &f->all[i], m);
    for (int k = 0; k < 3; ++k) {
      m->half[k] = grained(m->half[k]);
    }
    double at[PLACE];
    seam_place_in_unit(&s->def, scene_body_link(&s->def, m->tiles[0]), at);
    rigid link;
    memcpy(link.t, at, sizeof link.t);
    memcpy(link.q, at + 3, sizeof link.q);
    const rigid back = rigid_inverse(&link), own = place_of_seam(m),
                place = rigid_product(&back, &own);
    memcpy(m->place, place.t, sizeof place.t);
    memcpy(m->place + 3, place.q, sizeof place.q);
    s->seams->count = i + 1;
    TRY(make_bridge(s, c, i));
  }
  return ABUT_SUCCESS;
}

/* ---- zones ---- */

/* A list of zones under construction. */
typedef struct zone_list {
  double (*of)[ZONE_REALS];
  size_t count, room;
} zone_list;

/* Adds the zone of a seam relative to a frame with axes in the rows of `to` and its origin at
 * `origin`. */
static abut_status add_zone(zone_list *l, const scene_seam *m, const double to[3][3],
                            const double origin[3], bool outside)
{
  void *all = l->of;
  TRY(grow(&all, &l->room, l->count + 1, sizeof *l->of));
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

/* Equal bodies with equal neighbourhoods must have equal lists. */
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

/* Whether the bridges of two seams may overlap, extended by their zones. */
static bool may_overlap(const scene_seam *a, const scene_seam *b)
{
  double apart[3];
  difference(a->centre, b->centre, apart);
  const double reach = hypot(hypot(a->half[0], a->half[1]), a->half[2]) +
                       hypot(hypot(b->half[0], b->half[1]), b->half[2]);
  return a->unit == b->unit && dot(apart, apart) <= reach * reach;
}

/* ---- pairs ---- */

typedef struct giving {
  loaded_scene *s;
  abut_context context;
  const flush_body *bodies;
  unsigned char
    *usable; /* (seams, bodies): how many of a seam's tiles the body may touch, at most all */
  zone_list zones[2], bridge;
  size_t group_room;
} giving;

/* A seam applies to bodies that may touch all of its tiles. */
static bool is_usable(const giving *g, size_t seam, size_t number)
{
  return g->usable[seam * g->s->body_count + number] == g->s->seams->all[seam].tile_count;
}

static void count_usable(giving *g)
{
  for (size_t i = 0; i < g->s->def.pair_count; ++i) {
    for (int side = 0; seam_counted(g->s, i) && side < 2; ++side) {
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

/* Lists the zones of a bridge: its own, and the remainders of the zones of earlier bridges. All
 * shares then sum to 1. */
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
static abut_status find_pair(giving *g, const abut_body bodies[2], const abut_smoothing *smoothing,
                             const pair_zones *zones, size_t offset, abut_pair *out)
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
  TRY(grow(&memory, &all->pair_room, all->pair_count + 1, sizeof *all->pairs));
  all->pairs = memory;
  TRY(pair_create_with_zones(bodies[0], bodies[1], smoothing, zones, false, out));
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
  TRY(grow(&groups, &room, s->group_count + 1, sizeof *s->groups));
  s->groups = groups;
  TRY(grow(&parts, &g->group_room, s->group_count + 1, sizeof *s->parts));
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
  const size_t own = scene_pair_body(&s->def, &s->def.pairs[i], side),
               other = scene_pair_body(&s->def, &s->def.pairs[i], !side);
  for (size_t k = 0; k < s->seams->count && p->layout.vertices[!side] + p->layout.edges[!side];
       ++k) {
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
  const pair *p = seam_counted(s, i);
  pair_zones zones;
  if (!p) {
    return ABUT_SUCCESS;
  }
  for (int side = 0; side < 2; ++side) {
    const size_t own = scene_pair_body(&s->def, &s->def.pairs[i], side),
                 other = scene_pair_body(&s->def, &s->def.pairs[i], !side);
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
  TRY_DONE(seams_find(&f));
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

/* ---- destruction ---- */

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
    for (size_t k = i; k < s->seams->count; ++k) { /* Other seams share it. */
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
