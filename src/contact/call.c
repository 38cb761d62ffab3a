#include "contact/call.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/limits.h"
#include "geometry/layout.h"
#include "contact/active.h"
#include "contact/outputs.h"
#include <string.h>

/* changes when the struct grows */
#define COOKIE (0xab070106u ^ (uint32_t)sizeof(abut_batch))
/* Chunks begin at multiples of this number of poses, where every device can address a part of the
 * caller's arrays. */
#define ALIGNED_POSES 128

abut_batch abut_default_batch(void)
{
  abut_batch b;
  memset(&b, 0, sizeof b);
  b.cookie = COOKIE;
  return b;
}

#define REDUCTION_OVER(member, id, word, file, over, bars, reads) 1 << over,

/* Returns over which contacts (OVER_*) the wanted reductions are, as bits. */
static int reductions_over(const abut_reductions *r)
{
  static const int over[REDUCED_REALS] = {ALL_REDUCTIONS(REDUCTION_OVER)};
  void *arrays[REDUCED_REALS];
  int bits = 0;
  list_reductions(r, arrays);
  for (size_t i = 0; i < REDUCED_REALS; ++i) {
    bits |= arrays[i] ? over[i] : 0;
  }
  return bits;
}

static wanted wanted_of(const abut_batch *b)
{
  const int over = reductions_over(&b->reductions);
  wanted w = {.reduced = over != 0,
              .distances = (over & 1 << OVER_WEIGHED) != 0,
              .compact = b->compact != NULL};
  w.arrays = outputs_given(OUTPUT_BATCH, b) | outputs_given(OUTPUT_LIST, b->compact);
  w.arrays |= w.compact && b->compact->grows ? WANT_LISTED : 0;
  w.arrays |= w.compact && b->compact->grows && b->compact->weights ? WANT_WHOLE : 0;
  w.arrays |= w.reduced ? WANT_D | WANT_ACTIVITY : 0;
  w.arrays |= w.distances ? WANT_WEIGHT : 0;
  w.middles = w.distances;
  w.arrays |= w.compact ? WANT_ACTIVITY : 0;
  return w;
}

static abut_status check_batch(const abut_batch *b)
{
  if (!b || b->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "the batch was not made by abut_default_batch");
  }
  if (b->poses != ABUT_POSE_TWIST && b->poses != ABUT_POSE_QUATERNION) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown pose kind %d", (int)b->poses);
  }
  if (b->memory < ABUT_MEMORY_HOST || b->memory > ABUT_MEMORY_STATE) {
    return fail(ABUT_ERROR_ARGUMENT, "unknown kind of memory %d", (int)b->memory);
  }
  if (b->count && (!b->pose1 || !b->pose2)) {
    return fail(ABUT_ERROR_ARGUMENT, "the count is %zu poses, but their array is NULL", b->count);
  }
  if (b->derivatives && !b->pairs) {
    return fail(ABUT_ERROR_ARGUMENT,
                "a list of pairs for derivatives also needs a list of pairs for values");
  }
  const double temperature = b->reductions.temperature;
  if (temperature != 0.0 && !(temperature >= TEMPERATURE_LEAST && temperature <= SMOOTHING_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the temperature of a soft distance is %g; it must be 0 or in [%g, %g]",
                temperature, TEMPERATURE_LEAST, SMOOTHING_MOST);
  }
  if (b->count > UINT32_MAX && b->compact) {
    return fail(ABUT_ERROR_ARGUMENT, "a compact list has at most 2^32 - 1 poses; split the batch");
  }
  return compact_list_check(b->compact);
}

/* A cutoff is only used if the batch wants nothing but a list of active contacts and sums weighted
 * by activity. */
double call_cutoff(const run *r, const abut_batch *b)
{
  const bool others = reductions_over(&b->reductions) & ~(1 << OVER_ACTIVE) ||
                      r->wanted.arrays & WANT_WHOLE;
  const bool sums = r->wanted.reduced || r->wanted.sum;
  if (!r->wanted.active || outputs_given(OUTPUT_BATCH, b) || others || !(b->compact || sums)) {
    return 0.0;
  }
  const double threshold = sums ? 0.0 : b->compact->threshold;
  const double cutoff = active_cutoff(r->pair, threshold);
  const bool all = b->compact && !(b->compact->threshold > 0.0); /* including those of activity 0 */
  return !all && can_skip_inactive(r, cutoff) ? cutoff : 0.0;
}

static abut_status run_of(run *r, abut_pair handle_, program_id program, const abut_batch *b)
{
  pair *p = pair_get(handle_);
  if (!p || !body_get(p->bodies[0]) || !body_get(p->bodies[1])) {
    return ABUT_ERROR_HANDLE;
  }
  *r = (run){.pair = p, .program = program, .pose_width = b->poses == ABUT_POSE_TWIST ? 6 : 7};
  return ABUT_SUCCESS;
}

/* Takes the batch's own pairs instead of one pair for all entries. */
static abut_status set_pairs(call *c, const abut_batch *b, abut_pair *handle_)
{
  TRY(mixed_check(b, &c->contacts));
  if (has_pair(*handle_)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the batch has its own list of pairs: pass ABUT_BATCH_PAIRS as the pair");
  }
  c->lists[0] = b->pairs;
  *handle_ = b->pairs[0];
  return ABUT_SUCCESS;
}

/* Finds the state that contains a batch's poses; NULL if none does. */
static abut_status find_state(const abut_batch *b, const context *owner, state **out)
{
  *out = NULL;
  if (b->memory != ABUT_MEMORY_STATE) {
    return ABUT_SUCCESS;
  }
  if (!b->pose1 || !b->pose2) {
    return fail(ABUT_ERROR_ARGUMENT, "a batch on a state needs both poses");
  }
  return state_for(b->pose1, owner, b->count, "poses", out);
}

abut_status call_start(call *c, abut_pair handle_, abut_batch *batch)
{
  memset(c, 0, sizeof *c);
  TRY(check_batch(batch));
  if (is_mixed(batch)) {
    TRY(set_pairs(c, batch, &handle_));
  }
  TRY(run_of(&c->runs[0], handle_, PROGRAM_PLAIN, batch));
  c->runs[0].wanted = wanted_of(batch);
  c->runs[0].wanted.active = true;
  c->run_count = 1;
  c->batch = batch;
  context *owner = c->runs[0].pair->context;
  if (batch->memory == ABUT_MEMORY_OPENCL && !owner->def.opencl_queue) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "arrays in OpenCL memory need a context that was made from the caller's command queue");
  }
  state *at = NULL;
  TRY(find_state(batch, owner, &at));
  if (at && c->lists[0]) {
    return fail(ABUT_ERROR_ARGUMENT, "a batch on a state can have only one pair");
  }
  c->contacts = c->lists[0] ? c->contacts : c->runs[0].pair->layout.contacts;
  c->real_bytes = context_real_bytes(owner);
  c->base = (batch_call){.operation = &poses_operation,
                         .context = owner,
                         .count = batch->count,
                         .state = at,
                         .progress = batch->progress,
                         .progress_user = batch->user};
  if (batch->memory != ABUT_MEMORY_HOST && !c->lists[0]) {
    c->base.multiple = ALIGNED_POSES;
  }
  return ABUT_SUCCESS;
}

/* Returns whether the slots of two pairs have the same meaning: their numbers are equal, and each
 * side orders elements either in mesh order or by rank in both pairs. */
static bool same_slots(const pair *a, const pair *b)
{
  const abut_layout *k = &a->layout, *l = &b->layout;
  return !memcmp(k->vertices, l->vertices, sizeof k->vertices) &&
         !memcmp(k->edges, l->edges, sizeof k->edges) &&
         !memcmp(a->selected_vertices, b->selected_vertices, sizeof a->selected_vertices) &&
         !memcmp(a->selected_edges, b->selected_edges, sizeof a->selected_edges);
}

static abut_status check_second(const pair *r, const pair *values)
{
  if (!same_body(r->bodies[0], values->bodies[0]) || !same_body(r->bodies[1], values->bodies[1])) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the pair for derivatives has other bodies than the pair for values");
  }
  return same_slots(r, values)
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT,
                  "the pair for derivatives has %zu contacts per pose and another layout than the "
                  "pair for values, which has %zu: give both the same numbers of vertices and "
                  "edges, either 0 (all, in mesh order) or the same numbers by rank",
                  r->layout.contacts, values->layout.contacts);
}

abut_status call_add_run(call *c, const abut_pair *pairs, program_id program)
{
  const size_t count = c->lists[0] ? c->batch->pair_count : 1;
  for (size_t i = count; i-- > 0;) { /* what is set last, and stays, is the first pair's */
    if (c->lists[0] && !pair_get(pairs[i])) {
      return fail(ABUT_ERROR_HANDLE,
                  "pair %zu of the batch's list for derivatives is null or destroyed", i);
    }
    call_lock *its = pool_call_lock(&pair_pool, (handle){pairs[i].index, pairs[i].generation});
    if (its && its != c->runs[0].pair->context->call_lock) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "the pair for derivatives has other bodies than the pair for values");
    }
    TRY(run_of(&c->runs[1], pairs[i], program, c->batch));
    TRY(check_second(c->runs[1].pair, c->lists[0] ? pair_get(c->lists[0][i]) : c->runs[0].pair));
  }
  c->lists[1] = c->lists[0] ? pairs : NULL;
  c->run_count = 2;
  return ABUT_SUCCESS;
}

/* Returns the kind of rate of a call: its last run's program, Jacobians or Hessians. */
static int rate_kind(const run *last)
{
  if (last->wanted.motions) {
    return last->wanted.blocks ? RATE_JACOBIAN : RATE_HESSIAN;
  }
  return PROGRAM_KIND(last->program, last->wanted.cotangents);
}

/* Groups the entries by their pairs. */
static abut_status group_entries(call *c)
{
  const abut_pair *list = c->lists[c->run_count - 1];
  TRY(batch_order_create(c->batch->count, c->batch->pair_count, c->batch->pair, &c->order));
  for (size_t i = 0; i < c->order.group_count; ++i) {
    c->order.groups[i].rates =
      pair_get(list[c->order.kinds[i]])->rates[rate_kind(derivatives_run(c))];
  }
  c->base.groups = c->order.groups;
  c->base.group_count = c->order.group_count;
  c->base.rows = c->list.rows = c->order.rows;
  return ABUT_SUCCESS;
}

static void count_contacts(const call *c)
{
  const abut_batch *b = c->batch;
  if (c->lists[0]) {
    mixed_count(b);
    return;
  }
  for (size_t i = 0; b->contacts && i < b->count; ++i) {
    b->contacts[i] = (uint32_t)c->contacts;
  }
}

static abut_status run_call(call *c)
{
  abut_batch *batch = c->batch;
  abut_compact *out = batch->compact;
  TRY(batch_run(&c->base));
  count_contacts(c);
  if (!out) {
    return ABUT_SUCCESS;
  }
  TRY(compact_list_finish(&c->list, batch->count));
  return out->count <= out->capacity
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_OVERFLOW,
                  "%zu contacts are active, but the compact list has room for only %zu", out->count,
                  out->capacity);
}

abut_status call_finish(call *c)
{
  abut_batch *batch = c->batch;
  const run *last = derivatives_run(c);
  call_add_arrays(c);
  call_add_ranges(c);
  c->base.rates = last->pair->rates[rate_kind(last)];
  c->list.out = batch->compact;
  c->list.real_bytes = c->real_bytes;
  if (batch->compact && batch->compact->grows) {
    abut_free_compact(batch->compact);
  }
  batch_again(&c->base);
  abut_status status = c->lists[0] ? group_entries(c) : ABUT_SUCCESS;
  status = status == ABUT_SUCCESS ? run_call(c) : status;
  batch->failures = c->base.failures;
  if (status != ABUT_SUCCESS && batch->compact && batch->compact->grows) {
    abut_free_compact(batch->compact);
    batch->compact->count = 0;
  }
  compact_list_free(&c->list);
  batch_order_free(&c->order);
  return status;
}

const abut_pair *call_owner(const abut_pair *handle_, const abut_batch *b)
{
  const bool lists = b && b->cookie == COOKIE && b->pairs && b->pair_count && !has_pair(*handle_);
  return lists ? &b->pairs[0] : handle_;
}

abut_status abut_contacts(abut_pair handle_, abut_batch *batch)
{
  ENTER(pair_pool, *call_owner(&handle_, batch));
  call c;
  TRY(call_start(&c, handle_, batch));
  return call_finish(&c);
}
