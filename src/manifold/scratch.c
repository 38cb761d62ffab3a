#include "base/error.h"
#include "geometry/layout.h"
#include "manifold/run.h"
#include <limits.h>

/* numbers, reals and ints a pose, before they become bytes; a number on duals is two reals */
typedef struct sizes {
  size_t number[SCRATCH_BUFFERS];
  size_t real[SCRATCH_BUFFERS];
  size_t integer[SCRATCH_BUFFERS];
} sizes;

/* Room for the largest of what shares a buffer. */
static void at_least(size_t *size, size_t needed)
{
  *size = needed > *size ? needed : *size;
}

static void vertex_sizes(const run *r, int side, uint32_t lanes, sizes *s)
{
  const pair *p = r->pair;
  const resident_body *b = r->bodies[side];
  const size_t kept = p->layout.vertices[side], slots = padded(kept, lanes);
  s->number[SCRATCH_FIELD_1 + side] = field_planes(vertex_field_kind(r, side)) * b->vertex_padded;
  if (r->wanted.cotangents && side_scored(r, side)) {
    s->number[SCRATCH_FIELD_BAR_1 + side] = b->vertex_padded;
  }
  if (!p->selected_vertices[side]) {
    return;
  }
  s->integer[SCRATCH_VERTEX_INDEX_1 + side] = kept + 1;
  s->number[SCRATCH_VERTEX_TOP_1 + side] = kept + 1;
  s->number[SCRATCH_VERTEX_WEIGHTS_1 + side] = slots;
  s->number[SCRATCH_KEPT_VERTICES_1 + side] = 3 * slots;
  s->number[SCRATCH_KEPT_FIELD_1 + side] = field_planes(contact_field_kind(r)) * slots;
  at_least(&s->number[SCRATCH_SCORES], b->vertex_padded);
}

static void selected_edge_sizes(const run *r, int side, uint32_t lanes, sizes *s)
{
  const size_t kept = r->pair->layout.edges[side], slots = padded(kept, lanes);
  if (!r->pair->selected_edges[side]) {
    return;
  }
  s->integer[SCRATCH_EDGE_INDEX_1 + side] = kept + 1;
  s->number[SCRATCH_EDGE_TOP_1 + side] = kept + 1;
  s->number[SCRATCH_ENDS_1 + side] = 6 * slots;
  s->number[SCRATCH_EDGE_WEIGHTS_1 + side] = slots;
  at_least(&s->number[SCRATCH_SCORES], r->bodies[side]->edge_padded);
}

/* What a selection of `kept` among `count` elements needs on the way back. */
static void selection_bars(const run *r, size_t kept, size_t count, uint32_t lanes, sizes *s)
{
  at_least(&s->number[SCRATCH_RANKED_BAR], kept + 1);
  at_least(&s->number[SCRATCH_SCORES_BAR], count);
  if (gated(r)) {
    at_least(&s->number[SCRATCH_WEIGHTS_BAR], padded(kept, lanes));
  } else {
    at_least(&s->number[SCRATCH_RANKED_PARTS], kept * (count / lanes));
  }
}

static void edge_sizes(const run *r, sizes *s)
{
  const bool reverse = r->wanted.cotangents != 0;
  const size_t slots = pair_slots(r);
  s->number[SCRATCH_WITNESS] = witness_stride(r);
  s->number[SCRATCH_OWN_1] = s->number[SCRATCH_OWN_2] = (reverse ? JET_PLANES : 4) * slots;
  if (edge_activity(r)) {
    s->number[SCRATCH_OPPOSING_1] = s->number[SCRATCH_OPPOSING_2] = (reverse ? 4 : 1) * slots;
    s->number[SCRATCH_FACTORS] = 3 * slots;
  }
}

static void reverse_sizes(const run *r, uint32_t lanes, sizes *s)
{
  const int have = r->wanted.cotangents;
  const size_t contacts = r->pair->layout.contacts, slots = pair_slots(r);
  s->number[SCRATCH_P_BAR] = have & WANT_P ? 3 * contacts : 0;
  s->number[SCRATCH_D_BAR] = have & WANT_D && !r->wanted.shared_d ? contacts : 0;
  s->number[SCRATCH_N_BAR] = have & WANT_N ? 3 * contacts : 0;
  s->number[SCRATCH_ACTIVITY_BAR] =
    have & WANT_ACTIVITY && !r->wanted.shared_activity ? contacts : 0;
  s->number[SCRATCH_WRENCHES] = WRENCH_REALS * wrench_blocks(r);
  s->number[SCRATCH_GRADIENT_1] = s->number[SCRATCH_GRADIENT_2] = (size_t)r->pose_width;
  for (int side = 0; side < 2; ++side) {
    const size_t kept = r->pair->layout.vertices[side];
    if (r->pair->selected_vertices[side]) {
      at_least(&s->number[SCRATCH_KEPT_BAR], 3 * padded(kept, lanes));
      selection_bars(r, kept, r->bodies[side]->vertex_padded, lanes, s);
    }
    if (edges_run(r) && r->pair->selected_edges[side]) {
      const size_t edges = r->pair->layout.edges[side];
      if (!gated(r)) {
        at_least(&s->number[SCRATCH_ENDS_BAR], 6 * padded(edges, lanes));
        s->number[SCRATCH_PAIR_ENDS_BAR] = 12 * slots;
      }
      selection_bars(r, edges, r->bodies[side]->edge_padded, lanes, s);
    }
  }
  if (edges_run(r)) {
    s->number[SCRATCH_WITNESS_BAR] = WITNESS_PLANES * slots;
    s->number[SCRATCH_FACTORS_BAR] =
      have & WANT_ACTIVITY ? FACTORS_BAR_PLANES(gated(r)) * slots : 0;
  }
}

static void output_sizes(const run *r, sizes *s)
{
  const size_t contacts = r->pair->layout.contacts;
  s->number[SCRATCH_P] = r->wanted.arrays & WANT_P ? 3 * contacts : 0;
  s->number[SCRATCH_D] = r->wanted.arrays & WANT_D ? contacts : 0;
  s->number[SCRATCH_N] = r->wanted.arrays & WANT_N ? 3 * contacts : 0;
  s->number[SCRATCH_ACTIVITY] = r->wanted.arrays & WANT_ACTIVITY ? contacts : 0;
  if (r->wanted.reduced) {
    s->real[SCRATCH_REDUCED] = REDUCED_REALS;
  }
  if (r->wanted.compact) {
    s->integer[SCRATCH_COUNTS] = 1;
    s->integer[SCRATCH_OFFSETS] = 2; /* one more than poses, for any chunk */
    s->integer[SCRATCH_LIST] = contacts * COMPACT_INTS;
    s->real[SCRATCH_VALUES] = contacts * COMPACT_REALS;
  }
}

/* Jacobian blocks of as many entries as there are contacts. */
static size_t block_reals(const run *r)
{
  return r->wanted.blocks ? r->pair->layout.contacts * COMPACT_REALS * 2 * (size_t)r->pose_width
                          : 0;
}

static void sizes_of(const run *r, sizes *s)
{
  const uint32_t lanes = device_lanes(r->device);
  *s = (sizes){{0}, {0}, {0}};
  s->real[SCRATCH_POSE_1] = s->real[SCRATCH_POSE_2] = (size_t)r->pose_width;
  if (r->program == PROGRAM_DUAL) {
    s->real[SCRATCH_TANGENT_1] = s->real[SCRATCH_TANGENT_2] = (size_t)r->pose_width;
  }
  s->real[SCRATCH_JACOBIAN] = block_reals(r);
  s->number[SCRATCH_FRAMES] = FRAME_STRIDE;
  s->integer[SCRATCH_STATUS] = 1;
  for (int side = 0; side < 2; ++side) {
    vertex_sizes(r, side, lanes, s);
    if (edges_run(r)) {
      selected_edge_sizes(r, side, lanes, s);
    }
  }
  if (edges_run(r)) {
    edge_sizes(r, s);
  }
  output_sizes(r, s);
  if (r->wanted.cotangents) {
    reverse_sizes(r, lanes, s);
  }
}

abut_status check_scratch(const run *r)
{
  const size_t most = (size_t)INT_MAX / DUAL_PARTS;
  sizes s;
  sizes_of(r, &s);
  for (int i = 0; i < SCRATCH_BUFFERS; ++i) {
    const size_t count = s.number[i] > s.integer[i] ? s.number[i] : s.integer[i];
    if (count > most || s.real[i] > most) {
      return fail(ABUT_ERROR_TOO_LARGE, "one pose needs %zu numbers in a row, of at most %zu: keep "
                  "fewer elements", count > most ? count : s.real[i], most);
    }
  }
  return ABUT_SUCCESS;
}

void scratch_bytes(const run *r, size_t bytes[SCRATCH_BUFFERS])
{
  const size_t real = device_real_bytes(r->device);
  const size_t number = r->program == PROGRAM_DUAL ? DUAL_PARTS * real : real;
  sizes s;
  sizes_of(r, &s);
  for (int i = 0; i < SCRATCH_BUFFERS; ++i) {
    bytes[i] = s.number[i] * number + s.real[i] * real + s.integer[i] * sizeof(int);
  }
}

abut_status prepare_scratch(const run *r, size_t poses)
{
  size_t bytes[SCRATCH_BUFFERS];
  scratch_bytes(r, bytes);
  for (int i = 0; i < SCRATCH_BUFFERS; ++i) {
    buffer **b = &r->scratch[i];
    const size_t needed = bytes[i] * poses;
    if (!needed || r->external[i] || (*b && buffer_bytes(*b) >= needed)) {
      continue;
    }
    buffer_destroy(*b);
    *b = NULL;
    const abut_status status = buffer_create(r->device, needed, b);
    if (status != ABUT_SUCCESS) {
      return status;
    }
  }
  return ABUT_SUCCESS;
}

void free_scratch(resident_pair *on, size_t slot)
{
  buffer **scratch = &on->scratch[slot][0][0];
  for (size_t i = 0; i < sizeof on->scratch[slot] / sizeof(buffer *); ++i) {
    buffer_destroy(scratch[i]);
    scratch[i] = NULL;
  }
}
