/* Contacts of worlds on a device: from the manifold's lists of active ones, from all of its slots, or
 * given by the caller. */
#include "base/error.h"
#include "batch/batch.h"
#include "geometry/layout.h"
#include "manifold/active.h"
#include "world/steps.h"

#define LEAST_DOUBLE 1e-12 /* activities that count as none */
#define LEAST_FLOAT 1e-9

/* Where the numbers of contacts are: see world_contacts. */
typedef struct contact_source {
  buffer *p, *d, *n, *activity;
  size_t row, at[4], step3, plane;
  bool rows3;
  buffer *list;
  size_t list_row;
  int places, count; /* -1: none, as the list says */
} contact_source;

static abut_status append(const stepping *s, size_t group, int segment, int sign,
                          const contact_source *c)
{
  const bool wide = device_real_bytes(s->device) == sizeof(double);
  return LAUNCH(s->device, KERNEL_WORLD_CONTACTS, s->count, 1, MODEL(s), REALS(s), PARAMETERS_OF(s),
                OF(s, WORLD_SCRATCH), ARG_INT(group), ARG_INT(segment), ARG_INT(sign),
                ARG_BUFFER(c->p), ARG_BUFFER(c->d), ARG_BUFFER(c->n), ARG_BUFFER(c->activity),
                ARG_INT(c->row), ARG_INT(c->at[0]), ARG_INT(c->at[1]), ARG_INT(c->at[2]),
                ARG_INT(c->at[3]), ARG_INT(c->step3), ARG_INT(c->plane), ARG_INT(c->rows3),
                ARG_BUFFER(c->list), ARG_INT(c->list_row), ARG_INT(c->places), ARG_INT(c->count),
                ARG_REAL(wide ? LEAST_DOUBLE : LEAST_FLOAT), OF(s, WORLD_CONTACTS),
                OF(s, WORLD_CONTACT_NUMBERS), OF(s, WORLD_MARKS), OF(s, OUT_STATUS),
                ARG_INT(s->count));
}

/* Those of all slots, `count` from the first on. */
static contact_source dense_source(const run *r, size_t first, size_t count)
{
  const size_t contacts = r->pair->layout.contacts;
  return (contact_source){.p = run_buffer(r, SCRATCH_P),
                          .d = run_buffer(r, SCRATCH_D),
                          .n = run_buffer(r, SCRATCH_N),
                          .activity = run_buffer(r, SCRATCH_ACTIVITY),
                          .row = 3 * contacts,
                          .at = {3 * first, first, 3 * first, first},
                          .step3 = 3,
                          .plane = 1,
                          .rows3 = true,
                          .places = -1,
                          .count = (int)count};
}

static abut_status append_all(const stepping *s, size_t group, const run *r)
{
  const abut_layout *l = &r->pair->layout;
  for (int side = 0; side < 2; ++side) {
    const contact_source c = dense_source(r, l->vertex_offset[side], l->vertices[side]);
    TRY(append(s, group, side, side ? -1 : 1, &c));
  }
  for (int side = 0; side < 2; ++side) {
    const contact_source c = dense_source(r, l->edge_offset[side], l->edges[0] * l->edges[1]);
    TRY(append(s, group, 2 + side, side ? -1 : 1, &c));
  }
  return ABUT_SUCCESS;
}

static contact_source listed_source(buffer *values, size_t row, size_t at, size_t plane,
                                    buffer *list, size_t list_row)
{
  return (contact_source){.p = values,
                          .d = values,
                          .n = values,
                          .activity = values,
                          .row = row,
                          .at = {at + VALUE_P * plane, at + VALUE_D * plane, at + VALUE_N * plane,
                                 at + VALUE_ACTIVITY * plane},
                          .step3 = 1,
                          .plane = plane,
                          .list = list,
                          .list_row = list_row,
                          .places = -1,
                          .count = -1};
}

/* Vertices and edges that are listed; what a pair has none of leaves an empty segment. */
static abut_status append_listed(const stepping *s, size_t group, const run *r)
{
  for (int side = 0; side < 2; ++side) {
    const size_t plane = r->bodies[side]->vertex_padded;
    contact_source c =
      listed_source(run_buffer(r, OF_SIDE(SCRATCH_VERTEX_VALUES_1, side)), VALUE_PLANES * plane, 0,
                    plane, run_buffer(r, OF_SIDE(SCRATCH_VERTEX_LIST_1, side)), plane + 1);
    c.count = lists_vertices(r, side) ? -1 : 0;
    TRY(append(s, group, side, side ? -1 : 1, &c));
  }
  for (int side = 0; side < 2; ++side) {
    const size_t plane = near_plane(r);
    contact_source c = listed_source(run_buffer(r, SCRATCH_PAIR_VALUES), 2 * VALUE_PLANES * plane,
                                     (size_t)side * VALUE_PLANES * plane, plane,
                                     run_buffer(r, SCRATCH_PAIR_LIST), plane + 1);
    c.count = edges_run(r) ? -1 : 0;
    TRY(append(s, group, 2 + side, side ? -1 : 1, &c));
  }
  return ABUT_SUCCESS;
}

abut_status run_of(const steps_call *c, size_t i, batch_on *on, size_t slot, run *r)
{
  *r = (run){.pair = pair_get(c->scene->pairs[i]),
             .pose_width = POSE_WIDTH,
             .device = on->device,
             .memory = &on->memory[slot][0],
             .wanted = {.arrays = WANT_P | WANT_D | WANT_N | WANT_ACTIVITY}};
  if (!r->pair) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(pair_on(r->pair, on->place, &r->on));
  for (int k = 0; k < 2; ++k) {
    body *of = body_get(r->pair->bodies[k]);
    if (!of) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(body_on(of, on->place, &r->bodies[k]));
  }
  const double cutoff = active_cutoff(r->pair, 0.0);
  /* A capacity counts contacts in the order of slots, which lists do not keep. */
  const bool listed = !c->scene->def.capacity && can_skip_inactive(r, cutoff);
  r->wanted.cutoff = listed ? cutoff : 0.0;
  return ABUT_SUCCESS;
}

static abut_status put_pose(const stepping *s, const run *r, size_t i, int side)
{
  const int link = s->call->scene->groups[i].link[side];
  return LAUNCH(s->device, KERNEL_WORLD_POSES, world_blocks(s), 1, ARG_BUFFER(s->at->model->head),
                OF(s, WORLD_SCRATCH), ARG_BUFFER(s->at->model->bodies),
                ARG_INT(POSE_WIDTH * (2 * (int)i + side)), ARG_INT(link), ARG_INT(s->count),
                BUFFER(r, OF_SIDE(SCRATCH_POSE_1, side)));
}

static abut_status pair_contacts(const stepping *s, size_t i)
{
  run r;
  TRY(run_of(s->call, i, s->on, s->slot, &r));
  TRY(put_pose(s, &r, i, 0));
  TRY(put_pose(s, &r, i, 1));
  if (r.wanted.cutoff > 0.0) {
    TRY(run_active(&r, s->count));
    return append_listed(s, i, &r);
  }
  TRY(run_forward(&r, s->count));
  return append_all(s, i, &r);
}

static abut_status given_contacts(const stepping *s)
{
  const size_t contacts = s->call->worlds->contacts->count;
  int at = 0;
  for (size_t i = 0; i < s->call->group_count; ++i) {
    const size_t count = s->call->groups[i].contacts;
    const contact_source c = {.p = world_buffer_of(s, IN_P),
                              .d = world_buffer_of(s, IN_D),
                              .n = world_buffer_of(s, IN_N),
                              .activity = world_buffer_of(s, IN_ACTIVITY),
                              .row = 3 * contacts,
                              .step3 = 3,
                              .plane = 1,
                              .rows3 = true,
                              .list = s->at->places,
                              .places = at,
                              .count = (int)count};
    TRY(append(s, i, 0, 1, &c));
    at += (int)count;
  }
  return ABUT_SUCCESS;
}

abut_status find_contacts(const stepping *s)
{
  if (s->call->worlds->contacts) {
    return given_contacts(s);
  }
  for (size_t i = 0; i < s->call->group_count; ++i) {
    TRY(pair_contacts(s, i));
  }
  return ABUT_SUCCESS;
}
