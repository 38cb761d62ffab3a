/* The contacts of worlds on a device. They come from the manifold's lists of active contacts, from
 * all of its slots, or from the caller. */
#include "base/error.h"
#include "engine/batch/batch.h"
#include "geometry/layout.h"
#include "contact/active.h"
#include "world/broad.h"
#include "world/law/law.h"
#include <math.h>

#define LEAST_DOUBLE \
  1e-12 /* activities up to this are treated as 0: docs/dev/cone-formulas.md, section 7 */
#define LEAST_FLOAT 1e-9

/* Contacts with an activity up to this are dropped. All given contacts are used, even with activity
 * 0, since they have gradients. */
static double least_activity(const stepping *s)
{
  const bool wide = device_real_bytes(s->device) == sizeof(double);
  return s->call->worlds->contacts ? -1.0 : wide ? LEAST_DOUBLE : LEAST_FLOAT;
}

#define ACTIVITIES(c) ARG_BUFFER((c).activity), ARG_BUFFER((c).list), ARG_STRUCT((c).layout)

/* Counts the contacts of a pair batch's world pairs. */
static abut_status count_contacts(const stepping *s, const pair_batch *w,
                                  const contact_source from[SEGMENTS_MOST])
{
  TRY(keep_pace(s));
  return LAUNCH(s->device, KERNEL_WORLD_CONTACT_COUNTS, w->rows.count, 1,
                ARG_BUFFER(s->tables->head), BATCH_PAIRS(s, w), ACTIVITIES(from[0]),
                ACTIVITIES(from[1]), ACTIVITIES(from[2]), ACTIVITIES(from[3]),
                ARG_REAL(least_activity(s)), OF(s, OUT_STATUS), ARG_INT(w->rows.count));
}

/* Assigns the contacts of a launch set's world pairs their ranges in the pool, after those of
 * earlier launch sets. */
static abut_status place_contacts(const stepping *s, size_t set)
{
  const pair_batch all = launch_set_pairs(s, set), *w = &all;
  const size_t blocks = (w->rows.count + COUNT_BLOCK - 1) / COUNT_BLOCK;
  TRY(keep_pace(s));
  TRY(blocks > 1 ? LAUNCH(s->device, KERNEL_WORLD_CONTACT_SUMS, blocks, 1, BATCH_PAIRS(s, w),
                          OF(s, WORLD_POOL_SUMS), ARG_INT(blocks), ARG_INT(w->rows.count))
                 : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_CONTACT_AT, blocks, 1, BATCH_PAIRS(s, w),
                OF(s, WORLD_POOL_SUMS), ARG_INT(blocks), OF(s, WORLD_POOL_TOTALS),
                ARG_INT(w->index), ARG_INT(w->rows.count));
}

/* Writes the contacts of a pair batch's world pairs to the pool. */
static abut_status put_contacts(const stepping *s, const pair_batch *w,
                                const contact_source from[SEGMENTS_MOST])
{
  return LAUNCH(s->device, KERNEL_WORLD_CONTACTS, w->rows.count, 1, TABLES(s), REALS(s),
                PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), BATCH_PAIRS(s, w), SOURCE(&from[0]),
                SOURCE(&from[1]), SOURCE(&from[2]), SOURCE(&from[3]), ARG_REAL(least_activity(s)),
                OF(s, WORLD_CONTACTS), ARG_INT(slot_pairs_of(s)->pool_room),
                OF(s, WORLD_CONTACT_PLACES), ARG_INT(w->rows.count));
}

/* Writes the slots of the contacts that have just been written, if forces or the law need them. */
static abut_status put_slots(const stepping *s, const pair_batch *w, int segment,
                             const contact_source *c)
{
  return s->call->worlds->multipliers || law_of(s->call)->keeps_slots
           ? LAUNCH(s->device, KERNEL_WORLD_SLOTS, w->rows.count, 1, TABLES(s), BATCH_PAIRS(s, w),
                    ARG_INT(segment), OF(s, WORLD_CONTACT_PLACES),
                    ARG_INT(slot_pairs_of(s)->pool_room), ARG_BUFFER(c->list),
                    ARG_INT(c->layout.list_row), ARG_INT(c->layout.list_at),
                    ARG_INT(c->list && c->layout.place_at < 0), ARG_BUFFER(c->order),
                    ARG_INT(c->order != NULL), ARG_INT(c->slot),
                    ARG_INT(s->call->worlds->contacts != NULL), OF(s, WORLD_SLOTS),
                    ARG_INT(w->rows.count))
           : ABUT_SUCCESS;
}

#define DISTANCES(c) \
  ARG_BUFFER((c).d), ARG_BUFFER((c).activity), ARG_BUFFER((c).list), ARG_STRUCT((c).layout)

/* Finds world pairs of a pair batch whose bodies overlap deeply. */
static abut_status find_deep(const stepping *s, const pair_batch *w,
                             const contact_source from[SEGMENTS_MOST])
{
  const abut_smoothing *own = &w->run.pair->smoothing;
  /* reciprocal of the largest factor that the field's slope applies to the depth of an edge */
  const double most = own->slope < 0.0 ? 1.0 : sqrt(own->slope / (1.0 + own->slope));
  double shares[2];
  for (int k = 0; k < 2; ++k) { /* the ends of capsules around edges may stick out of the body */
    const body *of = body_get(w->run.pair->bodies[k]);
    shares[k] = of && of->info.feature_radius <= 0.0 ? most : 0.0;
  }
  return LAUNCH(s->device, KERNEL_WORLD_DEEP, w->rows.count, 1, BATCH_PAIRS(s, w),
                BUFFER(&w->run, SCRATCH_MIDDLES), DISTANCES(from[0]), DISTANCES(from[1]),
                DISTANCES(from[2]), DISTANCES(from[3]),
                ARG_REAL(DEEP_PENETRATIONS * own->penetration), ARG_REAL(shares[0]),
                ARG_REAL(shares[1]), OF(s, OUT_STATUS), ARG_INT(w->rows.count));
}

size_t slots_before(const world_type *k, size_t i)
{
  size_t slots = 0;
  for (size_t n = 0; n < i; ++n) {
    slots += k->groups[n].contacts;
  }
  return slots;
}

/* The contacts in `count` slots, from slot `first` on, if the manifold computes all slots. */
static contact_source dense_source(const run *r, size_t first, size_t count)
{
  const int contacts = (int)r->pair->layout.contacts, slot = (int)first;
  return (contact_source){.p = run_buffer(r, SCRATCH_P),
                          .d = run_buffer(r, SCRATCH_D),
                          .n = run_buffer(r, SCRATCH_N),
                          .activity = run_buffer(r, SCRATCH_ACTIVITY),
                          .layout = {.row = 3 * contacts,
                                     .rows3 = 1,
                                     .at_p = 3 * slot,
                                     .at_d = slot,
                                     .at_n = 3 * slot,
                                     .at_activity = slot,
                                     .step3 = 3,
                                     .plane = 1,
                                     .count = (int)count,
                                     .place_at = -1},
                          .slot = first};
}

/* The contacts of a list of active ones, whose values are in planes of `plane` numbers from `at`
 * on. */
static contact_source listed_source(buffer *values, int row, int at, int plane, buffer *list,
                                    int list_row)
{
  return (contact_source){.p = values,
                          .d = values,
                          .n = values,
                          .activity = values,
                          .list = list,
                          .layout = {.row = row,
                                     .at_p = at + VALUE_P * plane,
                                     .at_d = at + VALUE_D * plane,
                                     .at_n = at + VALUE_N * plane,
                                     .at_activity = at + VALUE_ACTIVITY * plane,
                                     .step3 = 1,
                                     .plane = plane,
                                     .count = -1,
                                     .place_at = -1,
                                     .list_row = list_row}};
}

/* The segments of a pair with lists of active contacts: the vertices of each body, then the edge
 * contacts with points on each body. A segment is empty if the pair has no such contacts. */
static contact_source listed_segment(const run *r, int segment)
{
  const int side = segment % 2;
  if (segment < 2) {
    const int plane = (int)r->bodies[side]->vertex_padded;
    contact_source c =
      listed_source(run_buffer(r, OF_SIDE(SCRATCH_VERTEX_VALUES_1, side)), VALUE_PLANES * plane, 0,
                    plane, run_buffer(r, OF_SIDE(SCRATCH_VERTEX_LIST_1, side)), plane + 1);
    c.layout.count = lists_vertices(r, side) ? -1 : 0;
    c.order = r->bodies[side]->names;
    c.slot = r->pair->slot[segment];
    return c;
  }
  const pair_sizes *n = &r->on->sizes;
  contact_source c =
    listed_source(run_buffer(r, SCRATCH_PAIR_VALUES), VALUE_PLANES * EDGE_ENTRIES_STRIDE(n),
                  VALUE_PLANES * EDGE_ENTRIES_AT(n, side), EDGE_LIST_PLANE(n, side),
                  run_buffer(r, SCRATCH_PAIR_LIST), EDGE_LIST_STRIDE(n));
  c.layout.list_at = EDGE_LIST_AT(n, side);
  c.layout.count = edges_run(r) || edges_in_fields(r, side) ? -1 : 0;
  c.slot = r->pair->slot[segment];
  return c;
}

contact_source segment_source(const run *r, int segment)
{
  const abut_layout *l = &r->pair->layout;
  if (r->wanted.cutoff > 0.0) {
    return listed_segment(r, segment);
  }
  return segment < 2 ? dense_source(r, l->vertex_offset[segment], l->vertices[segment])
                     : dense_source(r, l->edge_offset[segment - 2], l->edge_slots[segment - 2]);
}

/* With lists, the reverse pass reads cotangents from the place of the values; with all slots there
 * are separate arrays. */
contact_source segment_bars(const run *r, int segment)
{
  contact_source c = segment_source(r, segment);
  if (!(r->wanted.cutoff > 0.0)) {
    c.p = run_buffer(r, SCRATCH_P_BAR);
    c.d = run_buffer(r, SCRATCH_D_BAR);
    c.n = run_buffer(r, SCRATCH_N_BAR);
    c.activity = run_buffer(r, SCRATCH_ACTIVITY_BAR);
  }
  return c;
}

contact_source given_source(const stepping *s, size_t i, int at)
{
  return (contact_source){.p = world_buffer_of(s, IN_P),
                          .d = world_buffer_of(s, IN_D),
                          .n = world_buffer_of(s, IN_N),
                          .activity = world_buffer_of(s, IN_ACTIVITY),
                          .list = s->at->places,
                          .layout = {.row = 3 * (int)s->call->worlds->contacts->count,
                                     .rows3 = 1,
                                     .step3 = 3,
                                     .plane = 1,
                                     .count = (int)s->type->groups[i].contacts,
                                     .place_at = at}};
}

/* Where the contacts of a pair batch's segments are. */
static void find_sources(const stepping *s, const pair_batch *w, contact_source from[SEGMENTS_MOST])
{
  for (int segment = 0; segment < SEGMENTS_MOST; ++segment) {
    if (!s->call->worlds->contacts) {
      from[segment] = segment_source(&w->run, segment);
    } else if (segment == 0) {
      from[segment] = given_source(s, w->rows.type, (int)slots_before(s->type, w->rows.type));
    } else {
      from[segment] = (contact_source){.layout = {.count = 0, .place_at = -1}};
    }
  }
}

static abut_status pair_batch_counts(const stepping *s, const pair_batch *w, const void *user)
{
  contact_source from[SEGMENTS_MOST];
  (void)user;
  TRY(s->call->worlds->contacts ? ABUT_SUCCESS : run_pair_batch(s, w));
  find_sources(s, w, from);
  TRY(w->run.wanted.middles ? find_deep(s, w, from) : ABUT_SUCCESS);
  return count_contacts(s, w, from);
}

static abut_status pair_batch_contacts(const stepping *s, const pair_batch *w, const void *user)
{
  contact_source from[SEGMENTS_MOST];
  (void)user;
  find_sources(s, w, from);
  TRY(put_contacts(s, w, from));
  for (int segment = 0; segment < SEGMENTS_MOST; ++segment) {
    TRY(from[segment].layout.count ? put_slots(s, w, segment, &from[segment]) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}

static abut_status launch_set_contacts(const stepping *s, size_t set)
{
  TRY(each_pair_batch(s, set, pair_batch_counts, NULL));
  TRY(place_contacts(s, set));
  return each_pair_batch(s, set, pair_batch_contacts, NULL);
}

/* Reads the number of contacts of all launch sets, if the pool may be too short for them. */
static abut_status read_total(const stepping *s, size_t *out)
{
  int total = 0;
  const size_t at = slot_pairs_of(s)->launch_set_count * sizeof total;
  TRY(buffer_read(world_buffer_of(s, WORLD_POOL_TOTALS), at, sizeof total, &total));
  *out = (size_t)total;
  return ABUT_SUCCESS;
}

/* Records the needs of a world, as the mean of the chunk. */
static void note_load(const stepping *s, size_t contacts)
{
  scene_load *load = &s->type->scene->loads[s->on->place];
  const size_t pairs = (slot_pairs_of(s)->count + s->count - 1) / s->count,
               mean = (contacts + s->count - 1) / s->count;
  load->pairs = pairs > load->pairs ? pairs : load->pairs;
  load->contacts = mean > load->contacts ? mean : load->contacts;
}

static abut_status list_active_pairs(const stepping *s)
{
  note_bytes(s);
  return LAUNCH(s->device, KERNEL_WORLD_ACTIVE_PAIRS, s->count, 1, OF(s, WORLD_PAIR_COUNTS),
                OF(s, WORLD_PAIR_FIRSTS), ARG_INT(pair_type_count_of(s)),
                ARG_INT(s->call->worlds->contacts ? 0 : s->type->scene->def.most_contacts),
                OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST), OF(s, WORLD_ACTIVE_PAIRS),
                OF(s, OUT_STATUS), ARG_INT(s->count));
}

/* Runs all launch sets. If the pool is too short for their contacts, it grows and they run again.
 */
static abut_status fill_pool(const stepping *s)
{
  const slot_pairs *own = slot_pairs_of(s);
  for (;;) {
    size_t total;
    for (size_t i = 0; i < own->launch_set_count; ++i) {
      TRY(launch_set_contacts(s, i));
    }
    if (!own->launch_set_count || own->most <= own->pool_room) {
      return list_active_pairs(s);
    }
    TRY(read_total(s, &total));
    note_load(s, total);
    if (total <= own->pool_room) {
      return list_active_pairs(s);
    }
    TRY(check_budget(s, total));
    TRY(grow_pool(s, own->pair_room, total + total / 4));
  }
}

abut_status find_contacts_of_pairs(const stepping *s)
{
  TRY(s->tables->broad && !s->call->worlds->contacts ? find_world_pairs(s, true) : ABUT_SUCCESS);
  return fill_pool(s);
}

abut_status find_contacts(const stepping *s)
{
  const contact_law *law = law_of(s->call);
  return s->call->worlds->contacts ? find_contacts_of_pairs(s)
         : law->find_contacts      ? law->find_contacts(s)
                                   : ABUT_SUCCESS;
}
