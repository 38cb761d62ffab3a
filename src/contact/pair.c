#include "contact/pair.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "body/touching.h"
#include "geometry/layout.h"
#include "contact/active.h"
#include "contact/pair_head.h"
#include "contact/smoothing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bounds a pair's slots, whose numbers and coordinates devices count in int. */
#define CONTACTS_MOST ((size_t)1 << 28)
#define SEPARATION_MOST 2e12 /* [m] in float32, see cl/geometry/pose.inl */
#define PRODUCT_MOST 1e36

pair *pair_get(abut_pair p)
{
  return pool_get(&pair_pool, (handle){p.index, p.generation});
}

body *pair_body(const pair *p, int side)
{
  body *b = body_get(p->bodies[side]);
  return b && p->touching[side] ? p->touching[side] : b;
}

bool pair_is(const pair *p, const abut_body bodies[2], const abut_smoothing *smoothing,
             const pair_zones *zones)
{
  bool same = smoothing_is_like(&p->smoothing, smoothing);
  for (int k = 0; k < 2; ++k) {
    same = same && same_body(p->bodies[k], bodies[k]) && p->zone_count[k] == zones->count[k];
  }
  for (size_t k = 0, at = 0; same && k < 2; at += ZONE_REALS * zones->count[k++]) {
    same = !zones->count[k] || memcmp(p->zones + at, zones->of[k],
                                      ZONE_REALS * zones->count[k] * sizeof *p->zones) == 0;
  }
  return same;
}

bool pair_is_like(const pair *a, const pair *b)
{
  const pair_zones zones = {{b->zones, b->zones ? b->zones + ZONE_REALS * b->zone_count[0] : NULL},
                            {b->zone_count[0], b->zone_count[1]}};
  return pair_is(a, b->bodies, &b->smoothing, &zones) &&
         memcmp(a->slot, b->slot, sizeof a->slot) == 0;
}

void resident_pair_free(resident_pair *r)
{
  buffer_destroy(r->head);
  buffer_destroy(r->mean_bar);
  buffer_destroy(r->one_bar);
  *r = (resident_pair){.head = NULL};
}

static void resident_free(resident_pair *r)
{
  if (r) {
    resident_pair_free(r);
    free(r);
  }
}

static void pair_free(void *object)
{
  pair *p = object;
  if (!p) {
    return;
  }
  for (size_t i = 0; i < MEMBERS; ++i) {
    resident_free(p->on[i]);
  }
  free(p->zones);
  free(p);
}

static size_t kept(uint32_t asked, size_t there)
{
  return asked && asked < there ? asked : there;
}

/* Rejects a length that is too short. Edges and the separation of bodies are divided by `length`
 * and raised up to the fourth power, which would overflow float. */
static abut_status check_length(const abut_smoothing *s, const body *const bodies[2])
{
  const bool pairs = s->edge_edge && s->edge_contacts == ABUT_EDGES_PAIRS;
  for (int i = 0; pairs && i < 2; ++i) {
    const double edge = bodies[i]->info.diagonal / s->length;
    if (!(edge * edge * edge * fmax(edge, SEPARATION_MOST / s->length) < PRODUCT_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "smoothing: length is %g, which is too short for body %d with a diagonal of %g",
                  s->length, i + 1, bodies[i]->info.diagonal);
    }
  }
  return ABUT_SUCCESS;
}

/* Counts the slots of edges: two per retained edge, or for each pair of edges one per body. */
static abut_status count_edge_slots(const pair *p, size_t slots[2])
{
  const abut_layout *l = &p->layout;
  if (is_in_fields(p)) {
    slots[0] = 2 * l->edges[0];
    slots[1] = 2 * l->edges[1];
    return ABUT_SUCCESS;
  }
  const size_t rows = l->edges[0] ? l->edges[0] : 1;
  if (rows > CONTACTS_MOST || l->edges[1] > CONTACTS_MOST / rows) {
    return fail(ABUT_ERROR_TOO_LARGE,
                "%zu x %zu edge pairs are more than the maximum of %zu: keep fewer edges",
                l->edges[0], l->edges[1], CONTACTS_MOST);
  }
  slots[0] = slots[1] = l->edges[0] * l->edges[1];
  return ABUT_SUCCESS;
}

static abut_status lay_out(pair *p, const body *const bodies[2])
{
  const abut_smoothing *s = &p->smoothing;
  abut_layout *l = &p->layout;
  for (int i = 0; i < 2; ++i) {
    const bool vertices = i == 0 || s->two_sided;
    l->vertices[i] = vertices ? kept(s->vertices[i], bodies[i]->held) : 0;
    const bool edges = s->edge_edge && (vertices || !is_in_fields(p));
    l->edges[i] = edges ? kept(s->edges[i], bodies[i]->info.edges) : 0;
    p->selected_vertices[i] = l->vertices[i] && s->vertices[i] > 0;
    p->selected_edges[i] = l->edges[i] && s->edges[i] > 0;
  }
  TRY(count_edge_slots(p, l->edge_slots));
  l->vertex_offset[0] = 0;
  l->vertex_offset[1] = l->vertices[0];
  l->edge_offset[0] = l->vertices[0] + l->vertices[1];
  l->edge_offset[1] = l->edge_offset[0] + l->edge_slots[0];
  l->contacts = l->edge_offset[1] + l->edge_slots[1];
  for (int i = 0; i < 2; ++i) {
    p->slot[i] = l->vertex_offset[i];
    p->slot[2 + i] = l->edge_offset[i];
  }
  if (!l->contacts) {
    return fail(ABUT_ERROR_ARGUMENT, "neither body has vertices or edges that can make contacts");
  }
  if (l->contacts > CONTACTS_MOST) {
    return fail(ABUT_ERROR_TOO_LARGE,
                "%zu contacts per pose are more than the maximum of %zu: keep fewer edges",
                l->contacts, CONTACTS_MOST);
  }
  return ABUT_SUCCESS;
}

/* at right angles, the ratio of the distance from a polyhedron's corner to its field is 1.7 */
#define MIDDLE_STEEP 4.0

/* Sets the data of a body's middle for kernels. Fields such as those of superquadrics exceed the
 * distance to the surface, so a middle inside them counts as being on the surface. Parts of a body
 * have no middle. */
static void put_middle(const pair *p, int side, double to[MIDDLE_REALS])
{
  const body *own = body_get(p->bodies[side]), *other = body_get(p->bodies[!side]);
  memset(to, 0, MIDDLE_REALS * sizeof *to);
  if (!own || !other || own->whole) {
    return;
  }
  memcpy(to + MIDDLE_AT, own->middle, 3 * sizeof *to);
  to[MIDDLE_RADIUS] = own->middle[3];
  to[MIDDLE_SHARP] = own->info.feature_radius > 0.0 ? 0.0 : 1.0;
  to[MIDDLE_RISE] = other->info.polyhedra || other->info.pointclouds || other->info.height_fields
                      ? MIDDLE_STEEP
                      : 1.0;
  to[MIDDLE_LEAST] = other->info.superquadrics || other->info.pointclouds ? 0.0 : -SMOOTHING_MOST;
}

/* moving: NULL except for derivatives with respect to shapes. */
static abut_status measure(const pair *p, size_t place, const bool *moving, resident_pair *r)
{
  const resident_body *bodies[2];
  for (int i = 0; i < 2; ++i) {
    body *of = pair_body(p, i);
    if (!of) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(body_sized_on(of, place, &bodies[i]));
  }
  r->sizes = pair_sizes_of(p, bodies, device_lanes(p->context->members[place].device));
  for (int i = 0; i < 2; ++i) {
    r->sizes.zones[i] = (int)p->zone_count[i];
  }
  for (int i = 0; moving && i < 2; ++i) {
    r->sizes.elements[VERTICES_OF(i)].moving = r->sizes.elements[EDGES_OF(i)].moving = moving[i];
    r->sizes.elements[VERTICES_OF(i)].radii = is_in_fields(p); /* they may also vary from 0 */
  }
  return ABUT_SUCCESS;
}

/* Uploads the measured data and both bodies. */
static abut_status make_head(const pair *p, size_t place, resident_pair *r)
{
  const resident_body *bodies[2];
  double numbers[PAIR_REALS] = {[PAIR_EDGE_PART] = edge_part(&p->smoothing)};
  for (int i = 0; i < 2; ++i) {
    body *of = pair_body(p, i);
    if (!of) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(body_on(of, place, &bodies[i]));
    numbers[PAIR_ROUND + i] = bodies[i]->most_radius;
    put_middle(p, i, numbers + PAIR_MIDDLE(i));
    if (p->selected_edges[i] && !is_in_fields(p)) {
      numbers[PAIR_SCORED + i] = scored_reach(bodies[i], p->layout.edges[i]);
    }
  }
  return upload_head(p->context->members[place].device, &p->smoothing, numbers, &r->sizes, p->zones,
                     &r->head);
}

abut_status pair_sized_on(pair *p, size_t place, resident_pair **out)
{
  abut_status status = ABUT_SUCCESS;
  resident_pair *r = NULL;
  if (!p->on[place]) {
    void *memory = NULL;
    TRY(allocate(&memory, 1, sizeof(resident_pair)));
    r = memory;
    TRY_DONE(measure(p, place, NULL, r));
    p->on[place] = r;
    r = NULL;
  }
  *out = p->on[place];
done:
  resident_free(r);
  return status;
}

abut_status pair_on(pair *p, size_t place, resident_pair **out)
{
  TRY(pair_sized_on(p, place, out));
  return (*out)->head ? ABUT_SUCCESS : make_head(p, place, *out);
}

abut_status pair_moving(const pair *p, size_t place, const bool moving[2], resident_pair *out)
{
  *out = (resident_pair){.head = NULL};
  TRY(measure(p, place, moving, out));
  return make_head(p, place, out);
}

static abut_status bring(context *c, size_t place, void *user)
{
  (void)c;
  resident_pair *there;
  return pair_on(user, place, &there);
}

static abut_status keep_zones(const pair_zones *zones, pair *p)
{
  const size_t count = zones->count[0] + zones->count[1];
  void *memory = NULL;
  if (!count) {
    return ABUT_SUCCESS;
  }
  if (!smoothing_has_cones(&p->smoothing)) {
    return fail(ABUT_ERROR_ARGUMENT, "zones at seams need normal cones");
  }
  TRY(allocate(&memory, count, ZONE_REALS * sizeof(double)));
  p->zones = memory;
  for (size_t i = 0, at = 0; i < 2; at += ZONE_REALS * zones->count[i++]) {
    p->zone_count[i] = zones->count[i];
    if (zones->count[i]) {
      memcpy(p->zones + at, zones->of[i], zones->count[i] * ZONE_REALS * sizeof(double));
    }
  }
  return ABUT_SUCCESS;
}

const pair_zones no_zones = {.count = {0, 0}};

abut_status abut_create_pair(abut_body body1, abut_body body2, const abut_smoothing *smoothing,
                             abut_pair *out)
{
  return pair_create_with_zones(body1, body2, smoothing, &no_zones, true, out);
}

abut_status pair_create_with_zones(abut_body body1, abut_body body2,
                                   const abut_smoothing *smoothing, const pair_zones *zones,
                                   bool now, abut_pair *out)
{
  ENTER(body_pool, body1);
  call_lock *other = pool_call_lock(&body_pool, (handle){body2.index, body2.generation});
  if (other && other != entered) { /* now another thread may destroy the other one's bodies */
    return fail(ABUT_ERROR_HANDLE, "the two bodies belong to different contexts");
  }
  body *bodies[2] = {body_get(body1), NULL};
  bodies[1] = bodies[0] ? body_get(body2) : NULL;
  if (!bodies[0] || !bodies[1]) {
    return ABUT_ERROR_HANDLE;
  }
  if (!smoothing || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_pair: the smoothing or the handle is NULL");
  }
  TRY(check_smoothing(smoothing));
  TRY(check_length(smoothing, (const body *const[]){bodies[0], bodies[1]}));
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(pair)));
  pair *p = memory;
  abut_status status = ABUT_SUCCESS;
  p->context = bodies[0]->context;
  p->bodies[0] = body1;
  p->bodies[1] = body2;
  p->smoothing = *smoothing;
  for (int i = 0; i < 2 && is_in_fields(p); ++i) {
    TRY_DONE(body_touching(bodies[i], smoothing_has_cones(smoothing), smoothing->cone_inset,
                           &p->touching[i]));
    bodies[i] = p->touching[i];
  }
  TRY_DONE(lay_out(p, (const body *const[]){bodies[0], bodies[1]}));
  TRY_DONE(keep_zones(zones, p));
  TRY_DONE(now ? context_on_each(p->context, bring, p) : ABUT_SUCCESS);
  TRY_DONE(context_adopt(p->context, &pair_pool, &p->base, pair_free));
  *out = (abut_pair){p->base.self.index, p->base.self.generation};
  p = NULL;
done:
  pair_free(p);
  return status;
}

abut_status abut_destroy_pair(abut_pair handle_)
{
  ENTER_ALONE(pair_pool, handle_);
  pair *p = pair_get(handle_);
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  context_discard(p->context, &p->base);
  return ABUT_SUCCESS;
}

abut_status abut_get_layout(abut_pair handle_, abut_layout *layout)
{
  ENTER(pair_pool, handle_);
  if (!layout) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_layout: the output pointer is NULL");
  }
  const pair *p = pair_get(handle_);
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  *layout = p->layout;
  return ABUT_SUCCESS;
}

abut_status abut_get_smoothing(abut_pair handle_, abut_smoothing *smoothing)
{
  ENTER(pair_pool, handle_);
  if (!smoothing) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_smoothing: the output pointer is NULL");
  }
  const pair *p = pair_get(handle_);
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  *smoothing = p->smoothing;
  return ABUT_SUCCESS;
}

abut_status abut_get_pair_bodies(abut_pair handle_, abut_body *body1, abut_body *body2)
{
  ENTER(pair_pool, handle_);
  const pair *p = pair_get(handle_);
  if (!p) {
    return ABUT_ERROR_HANDLE;
  }
  if (body1) {
    *body1 = p->bodies[0];
  }
  if (body2) {
    *body2 = p->bodies[1];
  }
  return ABUT_SUCCESS;
}
