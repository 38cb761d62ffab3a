/* A call over a batch of poses as an operation of the engine: its steps for a chunk, and for a
 * device before and after. */
#include "base/error.h"
#include "base/memory.h"
#include "body/features.h"
#include "geometry/layout.h"
#include "contact/active.h"
#include "contact/call.h"
#include "engine/self_test/runner.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Bounds the contacts of a chunk, whose number is an int. */
#define CHUNK_CONTACTS ((size_t)1 << 30)
/* every driver supports this number of work-groups in the second dimension */
#define CHUNK_POSES 65535

/* ---- a chunk ---- */

static abut_status make_room(call_on *on, size_t poses)
{
  if (poses <= on->room) {
    return ABUT_SUCCESS;
  }
  free(on->status);
  free(on->values);
  on->status = NULL;
  on->values = NULL;
  on->room = 0;
  void *memory = NULL;
  TRY(allocate(&memory, poses, sizeof(int)));
  on->status = memory;
  TRY(allocate(&memory, poses, REDUCED_REALS * sizeof(double)));
  on->values = memory;
  on->room = poses;
  return ABUT_SUCCESS;
}

static abut_status upload_chunk(batch_on *b, size_t slot, chunk c)
{
  (void)slot;
  return make_room(b->user, c.count);
}

/* Copies reductions from rows to columns that stay on the device, if their arrays belong to a
 * state. */
static abut_status part_reductions(const call_on *on, const run *r, size_t count)
{
  void *to[REDUCED_REALS];
  list_reductions(&on->call->batch->reductions, to);
  for (size_t k = 0; on->call->base.state && k < REDUCED_REALS; ++k) {
    if (to[k]) {
      TRY(LAUNCH_RUN(r, KERNEL_STATE_COLUMN, count, 1, BUFFER(r, SCRATCH_REDUCED),
                     ARG_INT(REDUCED_REALS), ARG_INT(k), ARG_INT(count),
                     BUFFER(r, (scratch_id)(SCRATCH_COLUMNS + k))));
    }
  }
  return ABUT_SUCCESS;
}

/* Computes everything that can be active, with its sums and counts, unless only the caller's list
 * is wanted. */
static abut_status launch_active(const call_on *on, const run *r, size_t poses)
{
  TRY(r->wanted.listed ? ABUT_SUCCESS : run_active(r, poses));
  if (r->wanted.reduced) {
    TRY(run_active_sums(r, poses));
    TRY(part_reductions(on, r, poses));
  }
  return r->wanted.compact ? run_active_counts(r, poses, on->call->batch->compact->threshold)
                           : ABUT_SUCCESS;
}

/* Launches the forward pass with its reductions and compact list. */
static abut_status launch_values(const call_on *on, const run *r, size_t poses)
{
  const abut_compact *list = on->call->batch->compact;
  if (!r->wanted.motions) { /* the call's own operation launches runs along motions */
    TRY(run_forward(r, poses));
  }
  if (r->wanted.reduced) {
    TRY(run_reductions(r, poses));
    if (r->wanted.distances) {
      TRY(run_distances(r, poses, soft_temperature(r, &on->call->batch->reductions)));
    }
    TRY(part_reductions(on, r, poses));
  }
  if (!r->wanted.compact) {
    return ABUT_SUCCESS;
  }
  const size_t most = poses * r->pair->layout.contacts;
  const bool fits = !list->grows && list->capacity < most;
  return run_compact(r, poses, list->threshold, fits ? list->capacity : most);
}

static abut_status launch_chunk(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const run *values = values_on(on, slot);
  return values->wanted.cutoff > 0.0 ? launch_active(on, values, c.count)
                                     : launch_values(on, values, c.count);
}

/* Whether statuses of poses are read. A loop on a state skips this, and the wait, if the caller
 * does not want them. */
static bool wants_status(const call_on *on)
{
  return !on->call->base.state || on->call->batch->status;
}

static bool wants_reductions(const call_on *on, const run *r)
{
  return r->wanted.reduced && !on->call->base.state;
}

static size_t reduced_bytes(const call_on *on, chunk c)
{
  return c.count * REDUCED_REALS * on->call->real_bytes;
}

static abut_status read_ahead(batch_on *b, size_t slot, chunk c)
{
  const call_on *on = b->user;
  const run *r = values_on(b->user, slot);
  if (wants_status(on)) {
    TRY(buffer_read_ahead(run_buffer(r, SCRATCH_STATUS), 0, c.count * sizeof(int)));
  }
  if (wants_reductions(on, r)) {
    TRY(buffer_read_ahead(run_buffer(r, SCRATCH_REDUCED), 0, reduced_bytes(on, c)));
  }
  return on->call->list.out
           ? buffer_read_ahead(run_buffer(r, SCRATCH_OFFSETS), c.count * sizeof(int), sizeof(int))
           : ABUT_SUCCESS;
}

static abut_status fetch_status(call_on *on, const run *r, chunk c)
{
  if (!wants_status(on)) {
    return ABUT_SUCCESS;
  }
  TRY(buffer_read(run_buffer(r, SCRATCH_STATUS), 0, c.count * sizeof(int), on->status));
  uint8_t *to = on->call->batch->status;
  on->rejected = 0;
  for (size_t i = 0; i < c.count; ++i) {
    on->rejected += (on->status[i] & ABUT_POSE_REJECTED) != 0;
    if (to) {
      to[batch_row(&on->call->base, c.first + i)] = (uint8_t)on->status[i];
    }
  }
  return ABUT_SUCCESS;
}

static abut_status fetch_reductions(const call_on *on, const run *r, chunk c)
{
  const size_t size = on->call->real_bytes;
  void *to[REDUCED_REALS];
  if (!wants_reductions(on, r)) {
    return ABUT_SUCCESS;
  }
  TRY(buffer_read(run_buffer(r, SCRATCH_REDUCED), 0, reduced_bytes(on, c), on->values));
  list_reductions(&on->call->batch->reductions, to);
  const char *from = (const char *)on->values;
  for (size_t k = 0; k < REDUCED_REALS; ++k) {
    for (size_t i = 0; to[k] && i < c.count; ++i) {
      memcpy(bytes_behind(to[k], batch_row(&on->call->base, c.first + i) * size),
             from + (i * REDUCED_REALS + k) * size, size);
    }
  }
  return ABUT_SUCCESS;
}

/* Makes a chunk's entries once their number is known. Waits if there is a timeline, so that these
 * kernels are counted as computing time. */
static abut_status make_entries(call_on *on, const run *r, chunk c, size_t entries)
{
  TRY(run_entries(r, c.count, on->call->list.out->threshold, entries));
  if (!on->call->base.context->timed) {
    return ABUT_SUCCESS;
  }
  TRY(device_submit(r->device));
  return device_wait(r->device, &on->batch->computed);
}

/* Replaces the features' numbers in a list by those of the bodies' meshes. Kernels number the
 * features of edges in fields separately. */
static void name_features(const pair *p, int *ints, size_t entries)
{
  const abut_layout *l = &p->layout;
  for (size_t i = 0; i < entries && is_in_fields(p); ++i) {
    int *entry = ints + COMPACT_INTS * i;
    const size_t slot = (size_t)entry[1];
    const bool edge = slot >= l->edge_offset[0];
    const int side = slot >= (edge ? l->edge_offset[1] : l->vertex_offset[1]);
    const body_features *f = p->touching[side]->touches;
    int *feature = entry + 2 + side;
    *feature = (int)(edge ? f->edge_names : f->names)[*feature];
  }
}

static abut_status fetch_compact(call_on *on, const run *r, chunk c)
{
  const compact_list *list = &on->call->list;
  int found = 0;
  if (!list->out) {
    return ABUT_SUCCESS;
  }
  TRY(buffer_read(run_buffer(r, SCRATCH_OFFSETS), c.count * sizeof(int), sizeof found, &found));
  piece_free(on->piece);
  TRY(piece_create(list, c.first, c.count, (size_t)found, &on->piece));
  const size_t entries = on->piece->entries;
  if (!entries) {
    return ABUT_SUCCESS; /* there are no buffers without entries */
  }
  TRY(r->wanted.cutoff > 0.0 ? make_entries(on, r, c, entries) : ABUT_SUCCESS);
  TRY(buffer_read(run_buffer(r, SCRATCH_LIST), 0, entries * COMPACT_INTS * sizeof(int),
                  on->piece->ints));
  name_features(r->pair, on->piece->ints, entries);
  return buffer_read(run_buffer(r, SCRATCH_VALUES), 0, entries * COMPACT_REALS * list->real_bytes,
                     on->piece->reals);
}

static abut_status collect_chunk(batch_on *b, size_t slot, chunk c)
{
  call_on *on = b->user;
  const run *values = values_on(on, slot);
  TRY(fetch_status(on, values, c));
  TRY(fetch_reductions(on, values, c));
  return fetch_compact(on, values, c);
}

static void add_chunk(batch_on *b, chunk c)
{
  call_on *on = b->user;
  call *all = (call *)b->call; /* base is its first member */
  (void)c;
  all->batch->rejected += on->rejected;
  if (all->list.out) {
    compact_list_add(&all->list, on->piece);
    on->piece = NULL;
  }
}

/* ---- a device ---- */

/* Rejects sizes for which kernels' int counts of the blocks of a pose would overflow. */
static abut_status check_parts(const run *r)
{
  const size_t most = (size_t)INT_MAX / 4, lanes = device_lanes(r->device);
  for (int side = 0; side < 2 && r->wanted.cotangents && !gated(r); ++side) {
    const resident_body *b = r->bodies[side];
    const size_t vertices = r->pair->selected_vertices[side] ? r->pair->layout.vertices[side] : 0;
    const size_t edges = r->pair->selected_edges[side] ? r->pair->layout.edges[side] : 0;
    if (vertices * (b->vertex_padded / lanes) > most || edges * (b->edge_padded / lanes) > most) {
      return fail(ABUT_ERROR_TOO_LARGE,
                  "SoftSort has too many derivatives for the %zu vertices and %zu edges that body "
                  "%d keeps: keep fewer",
                  vertices, edges, side + 1);
    }
  }
  return ABUT_SUCCESS;
}

/* Chooses the cutoff of a run of this pair. For Jacobian blocks and derivatives of lists, contacts
 * in no list are skipped. */
static void choose_cutoff(run *r, const call *c)
{
  if (r->wanted.blocks || r->wanted.listed) {
    const bool active = !r->wanted.blocks || c->batch->compact->threshold > 0.0;
    const bool weighed = (r->wanted.arrays | r->wanted.cotangents) & WANT_WHOLE;
    r->wanted.listed = active && !weighed && can_skip_inactive(r, ANY_CUTOFF);
    r->wanted.cutoff = r->wanted.listed ? ANY_CUTOFF : 0.0;
  } else {
    r->wanted.cutoff = call_cutoff(r, c->batch);
  }
}

/* Sets up a run in a slot of a device, for a chunk of a group. */
static abut_status place_run(run *r, const call *c, int which, batch_on *b, size_t slot,
                             size_t group)
{
  *r = c->runs[which];
  r->pair = c->lists[which] ? pair_get(c->lists[which][c->order.kinds[group]]) : r->pair;
  r->device = b->device;
  r->memory = &b->memory[slot][which];
  if (!r->pair) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(pair_on(r->pair, b->place, &r->on));
  for (int i = 0; i < 2; ++i) {
    body *of = pair_body(r->pair, i);
    if (!of) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(body_on(of, b->place, &r->bodies[i]));
  }
  choose_cutoff(r, c);
  TRY(check_parts(r));
  return check_scratch(r);
}

/* Returns which part of the kernels a run uses. */
static self_test_part part_of(const run *r)
{
  if (is_in_fields(r->pair)) {
    return SELF_TEST_FIELDS;
  }
  return r->wanted.cutoff > 0.0 ? SELF_TEST_ACTIVE : SELF_TEST_MAIN;
}

/* Finds which parts of the kernels a run uses. It may compute only active contacts for some pairs
 * of a batch, and all contacts for others. */
static void find_parts(const call *c, int which, bool parts[SELF_TEST_PARTS])
{
  const abut_pair *list = c->lists[which];
  for (size_t i = 0; i < (list ? c->batch->pair_count : 1); ++i) {
    run r = c->runs[which];
    r.pair = list ? pair_get(list[i]) : r.pair;
    if (r.pair) {
      choose_cutoff(&r, c);
      parts[part_of(&r)] = true;
    }
  }
}

static abut_status test_run(const run *r, context *c, size_t place, self_test_part part)
{
  if (r->wanted.shaped[0] || r->wanted.shaped[1]) {
    TRY(test_member(c, place, MODULE_SHAPE, PROGRAM_PLAIN, false, SELF_TEST_MAIN));
  }
  const wanted *w = &r->wanted;
  if (w->mesh_moves[0] || w->mesh_moves[1] || w->field_moves[0] || w->field_moves[1]) {
    TRY(test_member(c, place, MODULE_SHAPE, PROGRAM_DUAL, false, SELF_TEST_MAIN));
  }
  TRY(test_member(c, place, MODULE_MANIFOLD, r->program, false, part));
  return r->wanted.cotangents ? test_member(c, place, MODULE_MANIFOLD, r->program, true, part)
                              : ABUT_SUCCESS;
}

/* Ensures that the device has passed the self-test of each program that the call needs. */
static abut_status test_programs(const batch_call *b, size_t place)
{
  const call *c = (const call *)b;
  for (int i = 0; i < c->run_count; ++i) {
    bool parts[SELF_TEST_PARTS] = {false};
    find_parts(c, i, parts);
    for (int k = 0; k < SELF_TEST_PARTS; ++k) {
      TRY(parts[k] ? test_run(&c->runs[i], b->context, place, (self_test_part)k) : ABUT_SUCCESS);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status place(batch_on *b)
{
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(call_on)));
  call_on *on = memory;
  b->user = on;
  on->call = (const call *)b->call;
  on->batch = b;
  return ABUT_SUCCESS;
}

/* Sets up the runs of a group's pair in the slot. */
static abut_status enter(batch_on *b, size_t slot, size_t group)
{
  call_on *on = b->user;
  for (int i = 0; i < on->call->run_count; ++i) {
    TRY(place_run(&on->runs[slot][i], on->call, i, b, slot, group));
    scratch_bytes(&on->runs[slot][i], b->bytes[i]);
  }
  const size_t contacts = on->runs[slot][0].pair->layout.contacts;
  const size_t most = CHUNK_CONTACTS / (contacts + 1);
  b->most = most < CHUNK_POSES ? most : CHUNK_POSES;
  b->units[slot] = contacts;
  return ABUT_SUCCESS;
}

static void leave(batch_on *b)
{
  call_on *on = b->user;
  if (on) {
    free(on->status);
    free(on->values);
    piece_free(on->piece);
    shape_pieces_free(on->shapes);
    for (size_t i = 0; i < DEVICE_SLOTS; ++i) {
      buffer_destroy(on->moves[i][0]);
      buffer_destroy(on->moves[i][1]);
    }
    resident_pair_free(&on->moving);
    free(on);
  }
}

static void again(batch_call *b)
{
  call *c = (call *)b; /* base is its first member */
  c->batch->rejected = 0;
  compact_list_free(&c->list);
  c->list.poses = 0;
  if (c->list.out) {
    c->list.out->count = 0;
  }
}

const operation poses_operation = {
  .module = MODULE_MANIFOLD,
  .test = test_programs,
  .place = place,
  .enter = enter,
  .upload = upload_chunk,
  .launch = launch_chunk,
  .ahead = read_ahead,
  .collect = collect_chunk,
  .add = add_chunk,
  .leave = leave,
  .again = again,
};
