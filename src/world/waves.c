/* Waves: which items a kind of pairs has, and their way through the manifold. */
#include "base/error.h"
#include "contact/active.h"
#include "world/law/law.h"
#include <string.h>

#define ALL_ARRAYS WANT_LISTED
#define WAVE_ROWS 65535 /* the most items of a wave, as of poses in contact/call_chunk.c */
/* Of a chunk's memory all but one part in so many is for waves: on CPUs, for whose drivers a launch
 * costs much, few and long waves count; without lanes, as on GPUs, many worlds do, which solve side
 * by side. */
#define WAVE_SHARE_LANES 4
#define WAVE_SHARE_ITEMS 2
/* A wave with fewer worlds does not bound a chunk: launches would cost more than they save. */
#define WAVE_WORLDS_LEAST 64

/* What is expected of a world of which nothing is known yet: so many items and contacts a link. */
#define LINK_ITEMS 8
#define LINK_CONTACTS 96
/* Where all contacts that a chunk can have take no more, they have room from the start, and none
 * need be counted by the host. */
#define SMALL_POOL (8 * 1024 * 1024)

/* ---- memory ---- */

size_t bytes_of_run(const steps_call *c, const run *r, size_t bytes[SCRATCH_BUFFERS])
{
  const size_t real = device_real_bytes(r->device),
               contacts = r->wanted.cutoff > 0.0 ? 0 : r->pair->layout.contacts;
  size_t sum = 0;
  memset(bytes, 0, SCRATCH_BUFFERS * sizeof *bytes);
  scratch_bytes(r, bytes);
  bytes[SCRATCH_POSE_1] = bytes[SCRATCH_POSE_2] = POSE_WIDTH * real;
  bytes[SCRATCH_P] = bytes[SCRATCH_N] = 3 * contacts * real;
  bytes[SCRATCH_D] = bytes[SCRATCH_ACTIVITY] = contacts * real;
  if (is_differentiated(c)) {
    bytes[SCRATCH_P_BAR] = bytes[SCRATCH_N_BAR] = bytes[SCRATCH_P];
    bytes[SCRATCH_D_BAR] = bytes[SCRATCH_ACTIVITY_BAR] = bytes[SCRATCH_D];
    bytes[SCRATCH_GRADIENT_1] = bytes[SCRATCH_GRADIENT_2] = POSE_WIDTH * real;
  }
  for (size_t i = 0; i < SCRATCH_BUFFERS; ++i) {
    sum += bytes[i];
  }
  return sum;
}

/* What a chunk's worlds and waves may take together. */
static uint64_t budget_of(const batch_on *on)
{
  const uint64_t budget = on->call->context->def.scratch_bytes;
  return budget ? budget : device_scratch_bytes(on->device, MODULE_WORLD);
}

uint64_t wave_bytes(const batch_on *on)
{
  const uint64_t all = budget_of(on);
  return all - all / (device_lanes(on->device) > 1 ? WAVE_SHARE_LANES : WAVE_SHARE_ITEMS);
}

/* How many items of a kind a wave has, of `all` that there are. Where there are several waves they
 * are whole blocks of lanes. */
static size_t rows_of(const batch_on *on, const run *r, size_t all)
{
  size_t bytes[SCRATCH_BUFFERS];
  const size_t lanes = device_lanes(on->device),
               one = bytes_of_run((const steps_call *)on->call, r, bytes);
  const uint64_t fit = wave_bytes(on) / device_slots(on->device) / (one ? one : 1);
  size_t rows = fit < WAVE_ROWS ? (size_t)fit : WAVE_ROWS;
  for (size_t i = 0; i < SCRATCH_BUFFERS; ++i) { /* each in one allocation */
    const uint64_t most = bytes[i] ? device_info(on->device)->allocation_bytes / bytes[i] : rows;
    rows = most < rows ? (size_t)most : rows;
  }
  rows = rows < lanes ? lanes : rows / lanes * lanes;
  return rows < all ? rows : all;
}

static abut_status prepare(const stepping *s, size_t which, size_t id, size_t bytes)
{
  return buffer_pool_prepare(s->on->memory[s->slot][which].pool, s->device, id, bytes);
}

/* What a chunk fails with that has more than can be counted, or than is meant for it: several
 * worlds are done again in smaller chunks, one cannot be helped. */
static abut_status chunk_error(const stepping *s)
{
  return s->count > 1 ? too_many_elements() : ABUT_ERROR_MEMORY;
}

/* ---- the pool ---- */

bool finds_items(const steps_call *c)
{
  return c->worlds->contacts || law_of(c)->find_contacts == find_contacts_of_pairs;
}

slot_items *items_of(const stepping *s)
{
  return &((steps_on *)s->on->user)->items[s->slot];
}

static size_t kinds_in(const steps_call *c, const steps_kind *k)
{
  return c->worlds->contacts ? k->group_count : k->scene->pair_kind_count;
}

size_t kind_count_of(const stepping *s)
{
  return kinds_in(s->call, s->kind);
}

/* Which groups a kind has, in the order of resident_tables.order. */
static pair_kind members_of(const stepping *s, size_t kind)
{
  return s->call->worlds->contacts ? (pair_kind){kind, 1} : s->kind->scene->pair_kinds[kind];
}

/* How many rows of WORLD_BASIS an item has. */
static size_t times_basis(const steps_call *c, const world_sizes *n)
{
  const bool asked = (is_differentiated(c) && !c->gradients) || is_implicit(c);
  return !asked ? 0 : law_of(c)->basis_by_dof ? (size_t)n->nv : 6;
}

/* Whether kernels of derivatives run: steps that are implicit are made of Jacobians. */
static bool goes_back(const steps_call *c)
{
  return is_differentiated(c) || is_implicit(c);
}

/* The bytes that an item, and a contact of the pool, take of each buffer that has a row for
 * each. */
static void bytes_of_item(const steps_call *c, const world_sizes *n, size_t real,
                          size_t bytes[POOL_BUFFERS])
{
  bytes[WORLD_ITEMS] = ITEM_INTS * sizeof(int);
  bytes[WORLD_ENTRY_LIST] = sizeof(int);
  bytes[WORLD_ENTRY_SUMS] = (size_t)n->entry_reals * real;
  bytes[WORLD_PUSHES] = shows_pushes(c->worlds) ? PUSH_REALS * real : 0;
  if (goes_back(c)) {
    bytes[WORLD_GROUP_ADJOINT] = GROUP_ADJOINT * real;
    bytes[WORLD_BASIS] = times_basis(c, n) * GROUP_ADJOINT * real;
  }
}

static void bytes_of_contact(const steps_call *c, size_t real, size_t bytes[POOL_BUFFERS])
{
  bytes[WORLD_CONTACTS] = CONTACT_PLANES * real;
  bytes[WORLD_CONTACT_PLACES] = sizeof(int);
  bytes[WORLD_SLOTS] = c->worlds->multipliers || law_of(c)->keeps_slots ? sizeof(int) : 0;
  bytes[WORLD_BARS] = goes_back(c) ? BAR_PLANES * real : 0;
}

static const world_buffer item_buffers[] = {WORLD_ITEMS,  WORLD_ENTRY_LIST,    WORLD_ENTRY_SUMS,
                                            WORLD_PUSHES, WORLD_GROUP_ADJOINT, WORLD_BASIS};
static const world_buffer contact_buffers[] = {WORLD_CONTACTS, WORLD_CONTACT_PLACES, WORLD_SLOTS,
                                               WORLD_BARS};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static size_t at_most(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* How many items and contacts a world is expected to have. */
static void expect(const loaded_scene *s, size_t place, const world_sizes *n, size_t *items,
                   size_t *contacts)
{
  const scene_load *seen = &s->loads[place];
  const size_t links = (size_t)n->links + 1, guess = LINK_CONTACTS * links;
  const size_t slots = seen->slots ? at_most(at_most(seen->slots, guess) * 3 / 2, guess) : guess;
  *items =
    at_most(seen->items ? seen->items + seen->items / 2 : LINK_ITEMS * links, (size_t)n->groups);
  *contacts =
    at_most(seen->contacts ? seen->contacts + seen->contacts / 2 : slots, (size_t)n->slots);
}

void pool_bytes(const steps_call *c, const steps_kind *k, size_t place, const world_sizes *n,
                size_t real, size_t bytes[POOL_BUFFERS])
{
  const size_t kinds = kinds_in(c, k);
  size_t items, contacts, one[POOL_BUFFERS] = {0};
  expect(k->scene, place, n, &items, &contacts);
  bytes_of_item(c, n, real, one);
  bytes_of_contact(c, real, one);
  for (size_t i = 0; i < COUNT_OF(item_buffers); ++i) {
    bytes[item_buffers[i]] = items * one[item_buffers[i]];
  }
  for (size_t i = 0; i < COUNT_OF(contact_buffers); ++i) {
    bytes[contact_buffers[i]] = contacts * one[contact_buffers[i]];
  }
  bytes[WORLD_ITEM_COUNTS] = bytes[WORLD_ITEM_FIRSTS] = (kinds + 1) * sizeof(int);
  bytes[WORLD_ENTRIES] = ENTRIES_INTS * sizeof(int);
}

/* How many bytes of the worlds' pool a chunk takes that has so many items and contacts. */
static uint64_t chunk_bytes(const stepping *s, size_t items, size_t contacts)
{
  const size_t *each = s->on->bytes[POOL_OF_WORLDS], real = device_real_bytes(s->device);
  size_t one[POOL_BUFFERS] = {0};
  uint64_t sum = 0;
  for (size_t i = 0; i < POOL_BUFFERS; ++i) {
    sum += (uint64_t)each[i] * s->count;
  }
  bytes_of_item(s->call, sizes_of(s), real, one);
  bytes_of_contact(s->call, real, one);
  for (size_t i = 0; i < COUNT_OF(item_buffers); ++i) {
    sum += (uint64_t)items * one[item_buffers[i]] - (uint64_t)each[item_buffers[i]] * s->count;
  }
  for (size_t i = 0; i < COUNT_OF(contact_buffers); ++i) {
    sum +=
      (uint64_t)contacts * one[contact_buffers[i]] - (uint64_t)each[contact_buffers[i]] * s->count;
  }
  return sum;
}

abut_status grow_pool(const stepping *s, size_t items, size_t contacts)
{
  const size_t real = device_real_bytes(s->device), lanes = device_lanes(s->device);
  size_t one[POOL_BUFFERS] = {0};
  slot_items *own = items_of(s);
  if (contacts > INT_MAX - lanes || items > INT_MAX / ITEM_INTS) {
    return fail(chunk_error(s),
                "%zu contacts of %zu pairs in %zu worlds, %llu bytes, are more than kernels count",
                contacts, items, s->count, (unsigned long long)chunk_bytes(s, items, contacts));
  }
  bytes_of_item(s->call, sizes_of(s), real, one);
  bytes_of_contact(s->call, real, one);
  for (size_t i = 0; i < COUNT_OF(item_buffers); ++i) {
    TRY(prepare(s, POOL_OF_WORLDS, item_buffers[i], (items + 1) * one[item_buffers[i]]));
  }
  for (size_t i = 0; i < COUNT_OF(contact_buffers); ++i) {
    TRY(
      prepare(s, POOL_OF_WORLDS, contact_buffers[i], (contacts + lanes) * one[contact_buffers[i]]));
  }
  own->item_room = items;
  own->pool_room = contacts;
  return ABUT_SUCCESS;
}

abut_status check_budget(const stepping *s, size_t contacts)
{
  const steps_on *at = s->on->user;
  const uint64_t all = budget_of(s->on) - wave_bytes(s->on);
  const uint64_t budget = s->count < s->call->base.count ? all / device_slots(s->device) : all;
  const uint64_t needed = chunk_bytes(s, items_of(s)->item_room, contacts);
  return s->count < 2 || !at->guessed || needed <= budget
           ? ABUT_SUCCESS
           : fail(chunk_error(s), "%zu contacts in %zu worlds take %llu bytes, of %llu for a chunk",
                  contacts, s->count, (unsigned long long)needed, (unsigned long long)budget);
}

void note_bytes(const stepping *s)
{
  steps_on *at = s->on->user;
  const slot_items *own = items_of(s);
  const bool finds = finds_items(s->call);
  const buffer *panels = finds ? s->on->memory[s->slot][0].pool->buffers[PANEL_POOL] : NULL;
  const uint64_t sum = chunk_bytes(s, finds ? own->item_room : 0, finds ? own->pool_room : 0) +
                       (panels ? buffer_bytes(panels) : 0);
  const double each = (double)sum / (double)s->count;
  at->world_bytes = each > at->world_bytes ? each : at->world_bytes;
}

/* How many contacts a group of a kind has at most, filled up to whole lanes. */
static size_t slots_of_kind(const stepping *s, size_t kind)
{
  const contact_group *g =
    &s->kind
       ->groups[s->call->worlds->contacts ? (int)kind
                                          : s->kind->scene->pair_order[members_of(s, kind).first]];
  const size_t capacity = s->kind->scene->def.capacity;
  return padded(capacity && capacity < g->contacts ? capacity : g->contacts,
                device_lanes(s->device));
}

static size_t most_contacts_of(const stepping *s, const int *totals)
{
  size_t sum = 0;
  for (size_t kind = 0; kind < kind_count_of(s); ++kind) {
    const size_t slots = slots_of_kind(s, kind), count = (size_t)totals[kind];
    sum = count && slots > (SIZE_MAX - sum) / count ? SIZE_MAX : sum + slots * count;
  }
  return sum;
}

bool pool_is_small(const stepping *s, size_t contacts)
{
  return contacts <= SMALL_POOL / (CONTACT_PLANES * device_real_bytes(s->device));
}

/* ---- waves ---- */

static abut_status add_wave(slot_items *own, size_t kind, size_t first, size_t count)
{
  void *memory = own->waves;
  TRY(grow(&memory, &own->wave_room, own->wave_count + 1, sizeof *own->waves));
  own->waves = memory;
  own->waves[own->wave_count++] = (wave_rows){kind, first, count};
  return ABUT_SUCCESS;
}

abut_status list_waves(const stepping *s, const int *totals)
{
  slot_items *own = items_of(s);
  own->wave_count = own->count = 0;
  for (size_t kind = 0; kind < kind_count_of(s); ++kind) {
    const size_t all = (size_t)totals[kind];
    size_t rows = all;
    if (all && !s->call->worlds->contacts) {
      run r;
      TRY(run_sizes(s->call, s->kind, kind, s->on, s->slot, &r));
      rows = rows_of(s->on, &r, all);
    }
    for (size_t i = 0; i < all; i += rows) {
      TRY(add_wave(own, kind, own->count + i, at_most(rows, all - i)));
    }
    own->count += all;
  }
  own->most = most_contacts_of(s, totals);
  return ABUT_SUCCESS;
}

void note_items(const stepping *s)
{
  const slot_items *own = items_of(s);
  scene_load *load = &s->kind->scene->loads[s->on->place];
  const size_t items = (own->count + s->count - 1) / s->count, slots = own->most / s->count + 1;
  load->items = items > load->items ? items : load->items;
  load->slots = slots > load->slots ? slots : load->slots;
}

/* Makes room for the manifold of as many items of each kind as a wave may have. */
static abut_status prepare_manifolds(const stepping *s)
{
  for (size_t kind = 0; !s->call->worlds->contacts && kind < kind_count_of(s); ++kind) {
    size_t bytes[SCRATCH_BUFFERS];
    run r;
    TRY(run_sizes(s->call, s->kind, kind, s->on, s->slot, &r));
    const size_t rows = rows_of(s->on, &r, s->count * members_of(s, kind).count);
    bytes_of_run(s->call, &r, bytes);
    for (size_t i = 0; i < SCRATCH_BUFFERS; ++i) {
      TRY(prepare(s, 0, i, bytes[i] * padded(rows, device_lanes(s->device))));
    }
  }
  return ABUT_SUCCESS;
}

/* Makes room for the sums of all items, and of as many waves as there are where nothing is left
 * out, which are the most. */
static abut_status prepare_sums(const stepping *s, const int *totals)
{
  const slot_items *own = items_of(s);
  TRY(list_waves(s, totals));
  TRY(prepare(s, POOL_OF_WORLDS, WORLD_POOL_SUMS, (own->count / ITEM_BLOCK + 1) * sizeof(int)));
  return prepare(s, POOL_OF_WORLDS, WORLD_POOL_TOTALS, (own->wave_count + 1) * sizeof(int));
}

static abut_status list_all_items(const stepping *s)
{
  const size_t kinds = kind_count_of(s), all = items_of(s)->count / s->count;
  for (size_t kind = 0; kind < kinds; ++kind) {
    const pair_kind k = members_of(s, kind);
    TRY(keep_pace(s));
    TRY(LAUNCH(s->device, KERNEL_WORLD_ITEMS, s->count, 1, ARG_BUFFER(s->tables->order),
               ARG_INT(k.first), ARG_INT(k.count), ARG_INT(kind), ARG_INT(kinds), ARG_INT(all),
               OF(s, WORLD_ITEM_COUNTS), OF(s, WORLD_ITEM_FIRSTS), OF(s, WORLD_ITEMS),
               ARG_INT(s->count)));
  }
  return ABUT_SUCCESS;
}

/* All is made here, with room for every pair in a wave, and of the pool for as many contacts as are
 * expected. */
abut_status waves_start(const stepping *s)
{
  int *totals = ((steps_on *)s->on->user)->totals;
  const size_t kinds = kind_count_of(s);
  size_t items, contacts, all = 0;
  if (!finds_items(s->call)) {
    return ABUT_SUCCESS;
  }
  TRY(prepare_manifolds(s));
  for (size_t kind = 0; kind < kinds; ++kind) {
    const size_t count = s->count * members_of(s, kind).count;
    if (count > INT_MAX - all) {
      return fail(chunk_error(s), "%zu pairs in %zu worlds are more than kernels count", count,
                  s->count);
    }
    totals[kind] = (int)count;
    all += count;
  }
  TRY(prepare_sums(s, totals));
  expect(s->kind->scene, s->on->place, sizes_of(s), &items, &contacts);
  ((steps_on *)s->on->user)->guessed |= !s->kind->scene->loads[s->on->place].contacts;
  items = s->tables->broad ? at_most(items * s->count, all) : all;
  const size_t most = items_of(s)->most;
  contacts = pool_is_small(s, most) ? most : at_most(contacts * s->count, most);
  TRY(grow_pool(s, items, contacts));
  if (s->tables->broad) {
    return ABUT_SUCCESS;
  }
  TRY(list_bundles(s));
  return list_all_items(s);
}

abut_status manifold_bytes(batch_on *on, size_t slot, size_t group)
{
  const steps_call *c = (const steps_call *)on->call;
  const loaded_scene *s = c->kinds[group].scene;
  for (size_t kind = 0; !c->worlds->contacts && kind < s->pair_kind_count; ++kind) {
    run r;
    TRY(run_sizes(c, &c->kinds[group], kind, on, slot, &r));
    TRY(check_scratch(&r));
  }
  on->fixed =
    c->worlds->contacts || !s->pair_kind_count ? 0 : wave_bytes(on) / device_slots(on->device);
  return ABUT_SUCCESS;
}

abut_status bound_by_waves(batch_on *on, size_t slot, size_t group)
{
  const steps_call *c = (const steps_call *)on->call;
  const steps_kind *k = &c->kinds[group];
  size_t items, contacts;
  run r;
  if (!is_differentiated(c) || kinds_in(c, k) != 1 || c->worlds->contacts) {
    return ABUT_SUCCESS;
  }
  TRY(run_sizes(c, k, 0, on, slot, &r));
  expect(k->scene, on->place, &((const steps_on *)on->user)->tables[group]->sizes, &items,
         &contacts);
  const size_t worlds = rows_of(on, &r, SIZE_MAX) / (items ? items : 1);
  on->most = worlds < WAVE_WORLDS_LEAST ? on->most : at_most(on->most, worlds);
  return ABUT_SUCCESS;
}

/* ---- a wave ---- */

abut_status run_sizes(const steps_call *c, const steps_kind *kind, size_t which, batch_on *on,
                      size_t slot, run *r)
{
  const loaded_scene *s = kind->scene;
  *r = (run){.pair = pair_get(s->parts[s->pair_order[s->pair_kinds[which].first]].pair),
             .pose_width = POSE_WIDTH,
             .device = on->device,
             .memory = &on->memory[slot][0],
             .wanted = {.arrays = ALL_ARRAYS, .cotangents = is_differentiated(c) ? ALL_ARRAYS : 0}};
  if (!r->pair) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(pair_sized_on(r->pair, on->place, &r->on));
  for (int k = 0; k < 2; ++k) {
    body *of = pair_body(r->pair, k);
    if (!of) {
      return ABUT_ERROR_HANDLE;
    }
    TRY(body_sized_on(of, on->place, &r->bodies[k]));
  }
  const double cutoff = active_cutoff(r->pair, 0.0);
  /* A capacity counts contacts in the order of slots, which lists do not keep. */
  const bool listed = !s->def.capacity && can_skip_inactive(r, cutoff);
  r->wanted.cutoff = listed ? cutoff : 0.0;
  /* Beside a seam contacts of another pair hold what this one leaves to them. */
  r->wanted.middles = r->pair->smoothing.cone_outer > r->pair->smoothing.cone_inner &&
                      !r->pair->zones;
  return ABUT_SUCCESS;
}

abut_status run_of(const steps_call *c, const steps_kind *kind, size_t which, batch_on *on,
                   size_t slot, run *r)
{
  TRY(run_sizes(c, kind, which, on, slot, r));
  return pair_on(r->pair, on->place, &r->on);
}

static abut_status put_poses(const stepping *s, const item_wave *w)
{
  return LAUNCH(s->device, KERNEL_WORLD_ITEM_POSES, w->rows.count, 1, TABLES(s),
                OF(s, WORLD_SCRATCH), ARG_BUFFER(s->tables->bodies), WAVE_ITEMS(s, w),
                BUFFER(&w->run, SCRATCH_POSE_1), BUFFER(&w->run, SCRATCH_POSE_2),
                ARG_INT(w->rows.count));
}

abut_status run_wave(const stepping *s, const item_wave *w)
{
  TRY(put_poses(s, w));
  return w->run.wanted.cutoff > 0.0 ? run_active(&w->run, w->rows.count)
                                    : run_forward(&w->run, w->rows.count);
}
