/* Waves: which items a kind of pairs has, and their way through the manifold. */
#include "base/error.h"
#include "manifold/active.h"
#include "world/law/law.h"
#include <string.h>

#define ALL_ARRAYS (WANT_P | WANT_D | WANT_N | WANT_ACTIVITY)
#define WAVE_ROWS 65535 /* the most items of a wave, as of poses in manifold/call_chunk.c */
#define WAVE_SHARE 2    /* of a chunk's memory one part in so many is for waves */

/* ---- kinds ---- */

static bool is_alike(const loaded_scene *s, size_t i, size_t k)
{
  const pair *a = pair_get(s->pairs[i]), *b = pair_get(s->pairs[k]);
  return a && b && pair_is_like(a, b);
}

/* Finds the first pair that is like pair i, which may be itself. */
static size_t first_alike(const loaded_scene *s, size_t i)
{
  for (size_t k = 0; k < s->pair_kind_count; ++k) {
    const size_t first = (size_t)s->pair_order[s->pair_kinds[k].first];
    if (is_alike(s, first, i)) {
      return k;
    }
  }
  return s->pair_kind_count;
}

abut_status kinds_of_pairs(loaded_scene *s)
{
  const size_t count = s->def.pair_count;
  void *memory = NULL, *of = NULL;
  TRY(allocate(&memory, count + 1, sizeof *s->pair_kinds));
  s->pair_kinds = memory;
  TRY(allocate(&memory, count + 1, sizeof *s->pair_order));
  s->pair_order = memory;
  TRY(allocate(&of, count + 1, sizeof(size_t)));
  for (size_t i = 0; i < count; ++i) { /* a kind keeps its first pair until all are counted */
    const size_t kind = first_alike(s, i);
    ((size_t *)of)[i] = kind;
    if (kind == s->pair_kind_count) {
      s->pair_order[kind] = (int)i;
      s->pair_kinds[kind].first = kind;
      ++s->pair_kind_count;
    }
    ++s->pair_kinds[kind].count;
  }
  for (size_t kind = 0, at = 0; kind < s->pair_kind_count; ++kind) {
    s->pair_kinds[kind].first = at;
    for (size_t i = 0; i < count; ++i) {
      if (((size_t *)of)[i] == kind) {
        s->pair_order[at++] = (int)i;
      }
    }
  }
  free(of);
  return ABUT_SUCCESS;
}

/* ---- memory ---- */

/* Sets the bytes that an item of a kind takes of each buffer, and returns their sum. */
static size_t item_bytes(const steps_call *c, const run *r, size_t bytes[SCRATCH_BUFFERS])
{
  const size_t real = device_real_bytes(r->device), contacts = r->wanted.cutoff > 0.0 ? 0 : r->pair->layout.contacts;
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

uint64_t wave_bytes(const batch_on *on)
{
  const uint64_t budget = on->call->context->def.scratch_bytes;
  return (budget ? budget : device_scratch_bytes(on->device, MODULE_WORLD)) / WAVE_SHARE;
}

/* How many items of a kind a wave has, of `all` that there are. Where there are several waves they are whole
 * blocks of lanes. */
static size_t rows_of(const stepping *s, const run *r, size_t all)
{
  size_t bytes[SCRATCH_BUFFERS];
  const size_t lanes = device_lanes(s->device), one = item_bytes(s->call, r, bytes);
  const uint64_t fit = wave_bytes(s->on) / device_slots(s->device) / (one ? one : 1);
  size_t rows = fit < WAVE_ROWS ? (size_t)fit : WAVE_ROWS;
  for (size_t i = 0; i < SCRATCH_BUFFERS; ++i) { /* each in one allocation */
    const uint64_t most = bytes[i] ? device_info(s->device)->allocation_bytes / bytes[i] : rows;
    rows = most < rows ? (size_t)most : rows;
  }
  rows = rows < lanes ? lanes : rows / lanes * lanes;
  return rows < all ? rows : all;
}

static abut_status prepare(const stepping *s, size_t id, size_t bytes)
{
  return buffer_pool_prepare(s->on->memory[s->slot][0].pool, s->device, id, bytes);
}

static abut_status prepare_items(const stepping *s, size_t rows)
{
  return prepare(s, WAVE_ITEMS, (rows + 1) * ITEM_INTS * sizeof(int));
}

/* All is made here, with room for every pair: a buffer that grew later would wait for kernels, and what waits there
 * tells nobody of a failure. */
abut_status waves_start(const stepping *s)
{
  if (s->call->worlds->contacts) {
    return prepare_items(s, s->count);
  }
  for (size_t kind = 0; kind < s->kind->scene->pair_kind_count; ++kind) {
    size_t bytes[SCRATCH_BUFFERS];
    run r;
    TRY(run_of(s->call, s->kind, kind, s->on, s->slot, &r));
    const size_t rows = rows_of(s, &r, s->count * s->kind->scene->pair_kinds[kind].count);
    item_bytes(s->call, &r, bytes);
    for (size_t i = 0; i < SCRATCH_BUFFERS; ++i) {
      TRY(prepare(s, i, bytes[i] * padded(rows, device_lanes(s->device))));
    }
    TRY(prepare_items(s, rows));
  }
  const size_t most = s->model->broad ? s->count * s->kind->scene->def.pair_count : 0;
  return prepare(s, KEPT_ITEMS, most * ITEM_INTS * sizeof(int));
}

abut_status manifold_bytes(batch_on *on, size_t slot, size_t group)
{
  const steps_call *c = (const steps_call *)on->call;
  const loaded_scene *s = c->kinds[group].scene;
  for (size_t kind = 0; !c->worlds->contacts && kind < s->pair_kind_count; ++kind) {
    run r;
    TRY(run_of(c, &c->kinds[group], kind, on, slot, &r));
    TRY(check_scratch(&r));
  }
  on->fixed = c->worlds->contacts || !s->pair_kind_count ? 0 : wave_bytes(on) / device_slots(on->device);
  return ABUT_SUCCESS;
}

/* ---- waves ---- */

abut_status run_of(const steps_call *c, const steps_kind *kind, size_t which, batch_on *on, size_t slot, run *r)
{
  const loaded_scene *s = kind->scene;
  *r = (run){.pair = pair_get(s->pairs[s->pair_order[s->pair_kinds[which].first]]),
             .pose_width = POSE_WIDTH,
             .device = on->device,
             .memory = &on->memory[slot][0],
             .wanted = {.arrays = ALL_ARRAYS, .cotangents = is_differentiated(c) ? ALL_ARRAYS : 0}};
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
  const bool listed = !s->def.capacity && can_skip_inactive(r, cutoff);
  r->wanted.cutoff = listed ? cutoff : 0.0;
  return ABUT_SUCCESS;
}

/* How many items a kind has. */
static size_t items_of(const stepping *s, size_t kind)
{
  return s->model->broad ? (size_t)s->at->items[s->slot][kind] : s->count * s->kind->scene->pair_kinds[kind].count;
}

/* Copies the items of a wave from those of all kinds. */
static abut_status copy_items(const stepping *s, const item_wave *w)
{
  const chunk_memory *m = &s->on->memory[s->slot][0];
  size_t first = w->first;
  for (size_t i = 0; i < w->kind; ++i) {
    first += items_of(s, i);
  }
  const size_t bytes = ITEM_INTS * sizeof(int);
  return buffer_copy_rows(memory_buffer(m, KEPT_ITEMS), first * bytes, w->count * bytes, w->count * bytes, 1,
                          memory_buffer(m, WAVE_ITEMS), 0, w->count * bytes);
}

static abut_status fill_items(const stepping *s, size_t at, size_t members, const item_wave *w)
{
  return LAUNCH(s->device, KERNEL_WORLD_ITEMS, w->count, 1, ARG_BUFFER(s->model->order), ARG_INT(at),
                ARG_INT(members), ARG_INT(w->first), ITEMS(s), ARG_INT(w->count));
}

/* Sets w->run to a kind's manifold, and tells how many items its waves have but for the last, and how many waves there
 * are. */
static abut_status waves_of_kind(const stepping *s, item_wave *w, size_t *rows, size_t *waves)
{
  const size_t all = items_of(s, w->kind);
  TRY(run_of(s->call, s->kind, w->kind, s->on, s->slot, &w->run));
  *rows = rows_of(s, &w->run, all);
  *waves = all ? (all + *rows - 1) / *rows : 0;
  return ABUT_SUCCESS;
}

static abut_status find_wave(const stepping *s, size_t i, item_wave *w, bool *found)
{
  const loaded_scene *scene = s->kind->scene;
  *w = (item_wave){.index = i};
  *found = false;
  for (; w->kind < scene->pair_kind_count; ++w->kind) {
    size_t rows, waves;
    TRY(waves_of_kind(s, w, &rows, &waves));
    if (i < waves) {
      const size_t left = items_of(s, w->kind) - i * rows;
      w->first = i * rows;
      w->count = left < rows ? left : rows;
      *found = true;
      return ABUT_SUCCESS;
    }
    i -= waves;
  }
  return ABUT_SUCCESS;
}

abut_status wave_count(const stepping *s, size_t *count)
{
  *count = s->kind->group_count;
  if (s->call->worlds->contacts) {
    return ABUT_SUCCESS;
  }
  *count = 0;
  for (item_wave w = {0}; w.kind < s->kind->scene->pair_kind_count; ++w.kind) {
    size_t rows, waves;
    TRY(waves_of_kind(s, &w, &rows, &waves));
    *count += waves;
  }
  return ABUT_SUCCESS;
}

abut_status open_wave(const stepping *s, size_t i, item_wave *w)
{
  bool found = true;
  TRY(keep_pace(s));
  if (s->call->worlds->contacts) {
    *w = (item_wave){.index = i, .count = s->count};
    return fill_items(s, i, 1, w);
  }
  TRY(find_wave(s, i, w, &found));
  if (found && s->model->broad) {
    return copy_items(s, w);
  }
  const pair_kind *k = &s->kind->scene->pair_kinds[w->kind];
  return found ? fill_items(s, k->first, k->count, w) : ABUT_ERROR_HANDLE;
}

static abut_status put_poses(const stepping *s, const item_wave *w, int side)
{
  return LAUNCH(s->device, KERNEL_WORLD_ITEM_POSES, w->count, 1, MODEL(s), OF(s, WORLD_SCRATCH),
                ARG_BUFFER(s->model->bodies), ITEMS(s), ARG_INT(side),
                BUFFER(&w->run, OF_SIDE(SCRATCH_POSE_1, side)), ARG_INT(w->count));
}

abut_status run_wave(const stepping *s, const item_wave *w)
{
  TRY(put_poses(s, w, 0));
  TRY(put_poses(s, w, 1));
  return w->run.wanted.cutoff > 0.0 ? run_active(&w->run, w->count) : run_forward(&w->run, w->count);
}
