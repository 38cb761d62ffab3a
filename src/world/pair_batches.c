/* Pair batches: splits the world pairs of each pair type and runs them through the manifold. */
#include "base/error.h"
#include "contact/active.h"
#include "world/law/law.h"
#include <string.h>

#define ALL_ARRAYS WANT_LISTED
#define PAIR_BATCH_ROWS 65535 /* the most world pairs of a pair batch; see contact/call_chunk.c */
/* Share of a chunk's memory for pair batches: all but one part in so many. CPU drivers have
 * expensive launches, so few and large pair batches are best. Devices without lanes, such as GPUs,
 * need memory for many worlds, which they solve in parallel. */
#define PAIR_BATCH_SHARE_LANES 4
#define PAIR_BATCH_SHARE_ITEMS 2
/* A pair batch with fewer worlds does not limit a chunk: the additional launches would cost more
 * than they save. */
#define PAIR_BATCH_WORLDS_LEAST 64

/* Initial guess of the world pairs and contacts per link. */
#define LINK_PAIRS 8
#define LINK_CONTACTS 96
/* If all possible contacts of a chunk need no more bytes than this, their memory is allocated at
 * once, and the host need not count them. */
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

/* Returns the memory budget for a chunk's worlds and pair batches together. */
static uint64_t budget_of(const batch_on *on)
{
  const uint64_t budget = on->call->context->def.scratch_bytes;
  return budget ? budget : device_scratch_bytes(on->device, MODULE_WORLD);
}

uint64_t pair_batch_bytes(const batch_on *on)
{
  const uint64_t all = budget_of(on);
  return all -
         all / (device_lanes(on->device) > 1 ? PAIR_BATCH_SHARE_LANES : PAIR_BATCH_SHARE_ITEMS);
}

/* Returns the number of world pairs per pair batch of a type with `all` world pairs. If there are
 * several batches, each has whole blocks of lanes. */
static size_t rows_of(const batch_on *on, const run *r, size_t all)
{
  size_t bytes[SCRATCH_BUFFERS];
  const size_t lanes = device_lanes(on->device),
               one = bytes_of_run((const steps_call *)on->call, r, bytes);
  const uint64_t fit = pair_batch_bytes(on) / device_slots(on->device) / (one ? one : 1);
  size_t rows = fit < PAIR_BATCH_ROWS ? (size_t)fit : PAIR_BATCH_ROWS;
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

/* The error of a chunk that exceeds its budget or the range of int. A chunk of several worlds is
 * retried in smaller chunks; a single world fails. */
static abut_status chunk_error(const stepping *s)
{
  return s->count > 1 ? too_many_elements() : ABUT_ERROR_MEMORY;
}

/* ---- the pool ---- */

bool finds_pairs(const steps_call *c)
{
  return c->worlds->contacts || law_of(c)->find_contacts == find_contacts_of_pairs;
}

slot_pairs *slot_pairs_of(const stepping *s)
{
  return &((steps_on *)s->on->user)->pairs[s->slot];
}

static size_t pair_types_in(const steps_call *c, const world_type *k)
{
  return c->worlds->contacts ? k->group_count : k->scene->pair_type_count;
}

size_t pair_type_count_of(const stepping *s)
{
  return pair_types_in(s->call, s->type);
}

/* Returns the groups of a type, as a range of resident_tables.order. */
static pair_type members_of(const stepping *s, size_t type)
{
  return s->call->worlds->contacts ? (pair_type){type, 1} : s->type->scene->pair_types[type];
}

/* Returns the number of rows of WORLD_BASIS per world pair. */
static size_t times_basis(const steps_call *c, const world_sizes *n)
{
  const bool asked = (is_differentiated(c) && !c->gradients) || is_implicit(c);
  return !asked ? 0 : law_of(c)->basis_by_dof ? (size_t)n->nv : 6;
}

/* Whether kernels of derivatives run: implicit steps use Jacobians. */
static bool runs_adjoint(const steps_call *c)
{
  return is_differentiated(c) || is_implicit(c);
}

/* Set the bytes per world pair, and per contact of the pool, of each buffer with such rows. */
static void bytes_of_pair(const steps_call *c, const world_sizes *n, size_t real,
                          size_t bytes[POOL_BUFFERS])
{
  bytes[WORLD_PAIRS] = WORLD_PAIR_INTS * sizeof(int);
  bytes[WORLD_ACTIVE_LIST] = sizeof(int);
  bytes[WORLD_ACTIVE_SUMS] = (size_t)n->active_reals * real;
  bytes[WORLD_PUSHES] = wants_pushes(c->worlds) ? PUSH_REALS * real : 0;
  if (runs_adjoint(c)) {
    bytes[WORLD_GROUP_ADJOINT] = GROUP_ADJOINT * real;
    bytes[WORLD_BASIS] = times_basis(c, n) * GROUP_ADJOINT * real;
  }
}

static void bytes_of_contact(const steps_call *c, size_t real, size_t bytes[POOL_BUFFERS])
{
  bytes[WORLD_CONTACTS] = CONTACT_PLANES * real;
  bytes[WORLD_CONTACT_PLACES] = sizeof(int);
  bytes[WORLD_SLOTS] = c->worlds->multipliers || law_of(c)->keeps_slots ? sizeof(int) : 0;
  bytes[WORLD_BARS] = runs_adjoint(c) ? BAR_PLANES * real : 0;
}

static const world_buffer pair_buffers[] = {WORLD_PAIRS,  WORLD_ACTIVE_LIST,   WORLD_ACTIVE_SUMS,
                                            WORLD_PUSHES, WORLD_GROUP_ADJOINT, WORLD_BASIS};
static const world_buffer contact_buffers[] = {WORLD_CONTACTS, WORLD_CONTACT_PLACES, WORLD_SLOTS,
                                               WORLD_BARS};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static size_t at_most(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Estimates the number of world pairs and contacts of a world. */
static void expect(const loaded_scene *s, size_t place, const world_sizes *n, size_t *pairs,
                   size_t *contacts)
{
  const scene_load *seen = &s->loads[place];
  const size_t links = (size_t)n->links + 1, guess = LINK_CONTACTS * links;
  const size_t slots = seen->slots ? at_most(at_most(seen->slots, guess) * 3 / 2, guess) : guess;
  *pairs =
    at_most(seen->pairs ? seen->pairs + seen->pairs / 2 : LINK_PAIRS * links, (size_t)n->groups);
  *contacts =
    at_most(seen->contacts ? seen->contacts + seen->contacts / 2 : slots, (size_t)n->slots);
}

void pool_bytes(const steps_call *c, const world_type *k, size_t place, const world_sizes *n,
                size_t real, size_t bytes[POOL_BUFFERS])
{
  const size_t types = pair_types_in(c, k);
  size_t pairs, contacts, one[POOL_BUFFERS] = {0};
  expect(k->scene, place, n, &pairs, &contacts);
  bytes_of_pair(c, n, real, one);
  bytes_of_contact(c, real, one);
  for (size_t i = 0; i < COUNT_OF(pair_buffers); ++i) {
    bytes[pair_buffers[i]] = pairs * one[pair_buffers[i]];
  }
  for (size_t i = 0; i < COUNT_OF(contact_buffers); ++i) {
    bytes[contact_buffers[i]] = contacts * one[contact_buffers[i]];
  }
  bytes[WORLD_PAIR_COUNTS] = bytes[WORLD_PAIR_FIRSTS] = (types + 1) * sizeof(int);
  bytes[WORLD_ACTIVE_PAIRS] = ACTIVE_PAIRS_INTS * sizeof(int);
}

/* Returns the bytes of the worlds' pool for a chunk with so many world pairs and contacts. */
static uint64_t chunk_bytes(const stepping *s, size_t pairs, size_t contacts)
{
  const size_t *each = s->on->bytes[POOL_OF_WORLDS], real = device_real_bytes(s->device);
  size_t one[POOL_BUFFERS] = {0};
  uint64_t sum = 0;
  for (size_t i = 0; i < POOL_BUFFERS; ++i) {
    sum += (uint64_t)each[i] * s->count;
  }
  bytes_of_pair(s->call, sizes_of(s), real, one);
  bytes_of_contact(s->call, real, one);
  for (size_t i = 0; i < COUNT_OF(pair_buffers); ++i) {
    sum += (uint64_t)pairs * one[pair_buffers[i]] - (uint64_t)each[pair_buffers[i]] * s->count;
  }
  for (size_t i = 0; i < COUNT_OF(contact_buffers); ++i) {
    sum +=
      (uint64_t)contacts * one[contact_buffers[i]] - (uint64_t)each[contact_buffers[i]] * s->count;
  }
  return sum;
}

abut_status grow_pool(const stepping *s, size_t pairs, size_t contacts)
{
  const size_t real = device_real_bytes(s->device), lanes = device_lanes(s->device);
  size_t one[POOL_BUFFERS] = {0};
  slot_pairs *own = slot_pairs_of(s);
  if (contacts > INT_MAX - lanes || pairs > INT_MAX / WORLD_PAIR_INTS) {
    return fail(chunk_error(s),
                "%zu contacts of %zu pairs in %zu worlds (%llu bytes) are too many for the kernels",
                contacts, pairs, s->count, (unsigned long long)chunk_bytes(s, pairs, contacts));
  }
  bytes_of_pair(s->call, sizes_of(s), real, one);
  bytes_of_contact(s->call, real, one);
  for (size_t i = 0; i < COUNT_OF(pair_buffers); ++i) {
    TRY(prepare(s, POOL_OF_WORLDS, pair_buffers[i], (pairs + 1) * one[pair_buffers[i]]));
  }
  for (size_t i = 0; i < COUNT_OF(contact_buffers); ++i) {
    TRY(
      prepare(s, POOL_OF_WORLDS, contact_buffers[i], (contacts + lanes) * one[contact_buffers[i]]));
  }
  own->pair_room = pairs;
  own->pool_room = contacts;
  return ABUT_SUCCESS;
}

abut_status check_budget(const stepping *s, size_t contacts)
{
  const steps_on *at = s->on->user;
  const uint64_t all = budget_of(s->on) - pair_batch_bytes(s->on);
  const uint64_t budget = s->count < s->call->base.count ? all / device_slots(s->device) : all;
  const uint64_t needed = chunk_bytes(s, slot_pairs_of(s)->pair_room, contacts);
  return s->count < 2 || !at->guessed || needed <= budget
           ? ABUT_SUCCESS
           : fail(chunk_error(s),
                  "%zu contacts in %zu worlds need %llu bytes, but a chunk has only %llu", contacts,
                  s->count, (unsigned long long)needed, (unsigned long long)budget);
}

void note_bytes(const stepping *s)
{
  steps_on *at = s->on->user;
  const slot_pairs *own = slot_pairs_of(s);
  const bool finds = finds_pairs(s->call);
  const buffer *panels = finds ? s->on->memory[s->slot][0].pool->buffers[PANEL_POOL] : NULL;
  const uint64_t sum = chunk_bytes(s, finds ? own->pair_room : 0, finds ? own->pool_room : 0) +
                       (panels ? buffer_bytes(panels) : 0);
  const double each = (double)sum / (double)s->count;
  at->world_bytes = each > at->world_bytes ? each : at->world_bytes;
}

/* Returns the most contacts of a group of a type, rounded up to whole lanes. */
static size_t slots_of_type(const stepping *s, size_t type)
{
  const contact_group *g =
    &s->type
       ->groups[s->call->worlds->contacts ? (int)type
                                          : s->type->scene->pair_order[members_of(s, type).first]];
  const size_t capacity = s->type->scene->def.capacity;
  return padded(capacity && capacity < g->contacts ? capacity : g->contacts,
                device_lanes(s->device));
}

static size_t most_contacts_of(const stepping *s, const int *totals)
{
  size_t sum = 0;
  for (size_t type = 0; type < pair_type_count_of(s); ++type) {
    const size_t slots = slots_of_type(s, type), count = (size_t)totals[type];
    sum = count && slots > (SIZE_MAX - sum) / count ? SIZE_MAX : sum + slots * count;
  }
  return sum;
}

bool pool_is_small(const stepping *s, size_t contacts)
{
  return contacts <= SMALL_POOL / (CONTACT_PLANES * device_real_bytes(s->device));
}

/* ---- pair batches ---- */

static abut_status add_pair_batch(slot_pairs *own, size_t type, size_t first, size_t count)
{
  void *memory = own->pair_batches;
  TRY(grow(&memory, &own->pair_batch_room, own->pair_batch_count + 1, sizeof *own->pair_batches));
  own->pair_batches = memory;
  own->pair_batches[own->pair_batch_count++] = (batch_rows){type, first, count};
  return ABUT_SUCCESS;
}

abut_status list_pair_batches(const stepping *s, const int *totals)
{
  slot_pairs *own = slot_pairs_of(s);
  own->pair_batch_count = own->count = 0;
  for (size_t type = 0; type < pair_type_count_of(s); ++type) {
    const size_t all = (size_t)totals[type];
    size_t rows = all;
    if (all && !s->call->worlds->contacts) {
      run r;
      TRY(run_sizes(s->call, s->type, type, s->on, s->slot, &r));
      rows = rows_of(s->on, &r, all);
    }
    for (size_t i = 0; i < all; i += rows) {
      TRY(add_pair_batch(own, type, own->count + i, at_most(rows, all - i)));
    }
    own->count += all;
  }
  own->most = most_contacts_of(s, totals);
  return ABUT_SUCCESS;
}

void note_pairs(const stepping *s)
{
  const slot_pairs *own = slot_pairs_of(s);
  scene_load *load = &s->type->scene->loads[s->on->place];
  const size_t pairs = (own->count + s->count - 1) / s->count, slots = own->most / s->count + 1;
  load->pairs = pairs > load->pairs ? pairs : load->pairs;
  load->slots = slots > load->slots ? slots : load->slots;
}

/* Allocates the manifold's memory for the largest pair batch of each type. */
static abut_status prepare_manifolds(const stepping *s)
{
  for (size_t type = 0; !s->call->worlds->contacts && type < pair_type_count_of(s); ++type) {
    size_t bytes[SCRATCH_BUFFERS];
    run r;
    TRY(run_sizes(s->call, s->type, type, s->on, s->slot, &r));
    const size_t rows = rows_of(s->on, &r, s->count * members_of(s, type).count);
    bytes_of_run(s->call, &r, bytes);
    for (size_t i = 0; i < SCRATCH_BUFFERS; ++i) {
      TRY(prepare(s, 0, i, bytes[i] * padded(rows, device_lanes(s->device))));
    }
  }
  return ABUT_SUCCESS;
}

/* Allocates memory for the sums of all world pairs, and for the largest number of pair batches:
 * their number without a broad phase. */
static abut_status prepare_sums(const stepping *s, const int *totals)
{
  const slot_pairs *own = slot_pairs_of(s);
  TRY(list_pair_batches(s, totals));
  TRY(prepare(s, POOL_OF_WORLDS, WORLD_POOL_SUMS, (own->count / COUNT_BLOCK + 1) * sizeof(int)));
  return prepare(s, POOL_OF_WORLDS, WORLD_POOL_TOTALS, (own->pair_batch_count + 1) * sizeof(int));
}

static abut_status list_all_pairs(const stepping *s)
{
  const size_t types = pair_type_count_of(s), all = slot_pairs_of(s)->count / s->count;
  for (size_t type = 0; type < types; ++type) {
    const pair_type k = members_of(s, type);
    TRY(keep_pace(s));
    TRY(LAUNCH(s->device, KERNEL_WORLD_ALL_PAIRS, s->count, 1, ARG_BUFFER(s->tables->order),
               ARG_INT(k.first), ARG_INT(k.count), ARG_INT(type), ARG_INT(types), ARG_INT(all),
               OF(s, WORLD_PAIR_COUNTS), OF(s, WORLD_PAIR_FIRSTS), OF(s, WORLD_PAIRS),
               ARG_INT(s->count)));
  }
  return ABUT_SUCCESS;
}

/* Allocates memory for all world pairs in pair batches, and for the expected number of contacts. */
abut_status pair_batches_start(const stepping *s)
{
  int *totals = ((steps_on *)s->on->user)->totals;
  const size_t types = pair_type_count_of(s);
  size_t pairs, contacts, all = 0;
  if (!finds_pairs(s->call)) {
    return ABUT_SUCCESS;
  }
  TRY(prepare_manifolds(s));
  for (size_t type = 0; type < types; ++type) {
    const size_t count = s->count * members_of(s, type).count;
    if (count > INT_MAX - all) {
      return fail(chunk_error(s), "%zu pairs in %zu worlds are too many for the kernels", count,
                  s->count);
    }
    totals[type] = (int)count;
    all += count;
  }
  TRY(prepare_sums(s, totals));
  expect(s->type->scene, s->on->place, sizes_of(s), &pairs, &contacts);
  ((steps_on *)s->on->user)->guessed |= !s->type->scene->loads[s->on->place].contacts;
  pairs = s->tables->broad ? at_most(pairs * s->count, all) : all;
  const size_t most = slot_pairs_of(s)->most;
  contacts = pool_is_small(s, most) ? most : at_most(contacts * s->count, most);
  TRY(grow_pool(s, pairs, contacts));
  if (s->tables->broad) {
    return ABUT_SUCCESS;
  }
  TRY(list_launch_sets(s));
  return list_all_pairs(s);
}

abut_status manifold_bytes(batch_on *on, size_t slot, size_t group)
{
  const steps_call *c = (const steps_call *)on->call;
  const loaded_scene *s = c->types[group].scene;
  for (size_t type = 0; !c->worlds->contacts && type < s->pair_type_count; ++type) {
    run r;
    TRY(run_sizes(c, &c->types[group], type, on, slot, &r));
    TRY(check_scratch(&r));
  }
  on->fixed = c->worlds->contacts || !s->pair_type_count
                ? 0
                : pair_batch_bytes(on) / device_slots(on->device);
  return ABUT_SUCCESS;
}

abut_status bound_by_pair_batch(batch_on *on, size_t slot, size_t group)
{
  const steps_call *c = (const steps_call *)on->call;
  const world_type *k = &c->types[group];
  size_t pairs, contacts;
  run r;
  if (!is_differentiated(c) || pair_types_in(c, k) != 1 || c->worlds->contacts) {
    return ABUT_SUCCESS;
  }
  TRY(run_sizes(c, k, 0, on, slot, &r));
  expect(k->scene, on->place, &((const steps_on *)on->user)->tables[group]->sizes, &pairs,
         &contacts);
  const size_t worlds = rows_of(on, &r, SIZE_MAX) / (pairs ? pairs : 1);
  on->most = worlds < PAIR_BATCH_WORLDS_LEAST ? on->most : at_most(on->most, worlds);
  return ABUT_SUCCESS;
}

/* ---- a pair batch ---- */

abut_status run_sizes(const steps_call *c, const world_type *type, size_t which, batch_on *on,
                      size_t slot, run *r)
{
  const loaded_scene *s = type->scene;
  *r = (run){.pair = pair_get(s->parts[s->pair_order[s->pair_types[which].first]].pair),
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
  /* A capacity counts contacts in the order of slots; lists have another order. */
  const bool listed = !s->def.capacity && can_skip_inactive(r, cutoff);
  r->wanted.cutoff = listed ? cutoff : 0.0;
  /* Beside a seam, contacts of another pair may hold a body that this pair leaves to them. */
  r->wanted.middles = r->pair->smoothing.cone_outer > r->pair->smoothing.cone_inner &&
                      !r->pair->zones;
  return ABUT_SUCCESS;
}

abut_status run_of(const steps_call *c, const world_type *type, size_t which, batch_on *on,
                   size_t slot, run *r)
{
  TRY(run_sizes(c, type, which, on, slot, r));
  return pair_on(r->pair, on->place, &r->on);
}

static abut_status put_poses(const stepping *s, const pair_batch *w)
{
  return LAUNCH(s->device, KERNEL_WORLD_PAIR_POSES, w->rows.count, 1, TABLES(s),
                OF(s, WORLD_SCRATCH), ARG_BUFFER(s->tables->bodies), BATCH_PAIRS(s, w),
                BUFFER(&w->run, SCRATCH_POSE_1), BUFFER(&w->run, SCRATCH_POSE_2),
                ARG_INT(w->rows.count));
}

abut_status run_pair_batch(const stepping *s, const pair_batch *w)
{
  TRY(put_poses(s, w));
  return w->run.wanted.cutoff > 0.0 ? run_active(&w->run, w->rows.count)
                                    : run_forward(&w->run, w->rows.count);
}
