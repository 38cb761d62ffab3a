#include "base/error.h"
#include "geometry/layout.h"
#include "contact/active.h"
#include "contact/outputs.h"
#include "contact/shape_rows.h"
#include <limits.h>

/* Raises a size to what another user of the buffer needs. */
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
  s->number[SCRATCH_KEPT_VERTICES_1 + side] = POINT_PLANES * slots;
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
  s->number[SCRATCH_ENDS_1 + side] = ENDS_PLANES * slots;
  s->number[SCRATCH_EDGE_WEIGHTS_1 + side] = slots;
  at_least(&s->number[SCRATCH_SCORES], r->bodies[side]->edge_padded);
}

/* Adds the sizes for the reverse pass of a selection of `kept` among `count` elements. */
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

/* Adds the sizes for contacts of edges in fields. */
static void edge_field_sizes(const run *r, int side, uint32_t lanes, sizes *s)
{
  const size_t kept = r->pair->layout.edges[side];
  if (edges_in_fields(r, side)) {
    s->real[SCRATCH_PLACES_1 + side] = EDGE_PLACES * padded(kept, lanes);
  }
}

static void edge_sizes(const run *r, sizes *s)
{
  const bool reverse = r->wanted.cotangents != 0;
  const size_t slots = pair_slots(r);
  s->number[SCRATCH_WITNESS] = witness_stride(r);
  s->number[SCRATCH_OWN_1] = s->number[SCRATCH_OWN_2] =
    (reverse ? JET_PLANES : FIELD_PLANES) * slots;
  if (edge_activity(r) || edges_weighed(r)) {
    s->number[SCRATCH_OPPOSING_1] = s->number[SCRATCH_OPPOSING_2] =
      (reverse ? FIELD_PLANES : 1) * slots;
  }
  if (edge_activity(r)) {
    s->number[SCRATCH_FACTORS] = FACTORS_PLANES * slots;
  }
  if (edges_weighed(r)) {
    s->number[SCRATCH_WEIGHT_FACTORS] = FACTORS_PLANES * slots;
  }
}

static void reverse_sizes(const run *r, uint32_t lanes, sizes *s)
{
  const int have = r->wanted.cotangents;
  const int shared = (r->wanted.shared_d ? WANT_D : 0) |
                     (r->wanted.shared_activity ? WANT_ACTIVITY : 0);
  const size_t contacts = r->pair->layout.contacts, slots = pair_slots(r);
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    s->number[o->bars] = have & ~shared & o->want ? o->components * contacts : 0;
  }
  s->number[SCRATCH_WRENCHES] = WRENCH_REALS * wrench_blocks(r);
  s->number[SCRATCH_MIDDLES_BAR] = r->wanted.middles_back ? 2 : 0;
  s->number[SCRATCH_GRADIENT_1] = s->number[SCRATCH_GRADIENT_2] = (size_t)r->pose_width;
  for (int side = 0; side < 2; ++side) {
    const size_t kept = r->pair->layout.vertices[side];
    if (r->pair->selected_vertices[side]) {
      at_least(&s->number[SCRATCH_KEPT_BAR], POINT_PLANES * padded(kept, lanes));
      selection_bars(r, kept, r->bodies[side]->vertex_padded, lanes, s);
    }
    if ((edges_run(r) || edges_in_fields(r, side)) && r->pair->selected_edges[side]) {
      const size_t edges = r->pair->layout.edges[side];
      if (!gated(r)) {
        at_least(&s->number[SCRATCH_ENDS_BAR], ENDS_PLANES * padded(edges, lanes));
        s->number[SCRATCH_PAIR_ENDS_BAR] = PAIR_ENDS_PLANES * slots;
      }
      selection_bars(r, edges, r->bodies[side]->edge_padded, lanes, s);
    }
  }
  if (edges_run(r)) {
    s->number[SCRATCH_WITNESS_BAR] = WITNESS_PLANES * slots;
    s->number[SCRATCH_FACTORS_BAR] = have & WANT_ACTIVITY ? FACTORS_BAR_PLANES(gated(r)) * slots
                                                          : 0;
    s->number[SCRATCH_WEIGHT_FACTORS_BAR] =
      have & WANT_WEIGHT ? FACTORS_BAR_PLANES(gated(r)) * slots : 0;
  }
}

/* Adds the sizes for derivatives with respect to a body's shape: sites of its field, cotangents of
 * its vertices and edges, and its row. */
static void shape_sizes(const run *r, int side, sizes *s)
{
  const resident_body *b = r->bodies[side];
  const field_sites sites = run_sites(r);
  const size_t count = (size_t)sites.count[side];
  const shaped_body shaped = shaped_of(r->pair, side);
  if (!r->wanted.shaped[side]) {
    return;
  }
  s->real[SCRATCH_SITES_1 + side] = SITE_PLANES * count;
  at_least(&s->real[SCRATCH_SITE_SHARES], SHARE_PLANES * count);
  at_least(&s->real[SCRATCH_SITE_PARTS], PART_PLANES * count);
  s->real[SCRATCH_SHAPE_1 + side] = shape_row_width(&shaped, count);
  s->real[SCRATCH_VERTEX_BAR_1 + side] = POINT_PLANES * b->vertex_padded;
  if (r->pair->selected_vertices[side]) {
    s->real[SCRATCH_KEPT_SPREAD_1 + side] = POINT_PLANES * b->vertex_padded;
  }
  if (edges_run(r)) {
    s->real[SCRATCH_ENDS_SPREAD_1 + side] = ENDS_PLANES * b->edge_padded;
    at_least(&s->number[SCRATCH_ENDS_BAR],
             ENDS_PLANES * padded(r->pair->layout.edges[side], device_lanes(r->device)));
    s->number[SCRATCH_PAIR_ENDS_BAR] = PAIR_ENDS_PLANES * pair_slots(r);
  }
}

/* Adds the sizes for a moving mesh. */
static void moving_sizes(const run *r, int side, sizes *s)
{
  const resident_body *b = r->bodies[side];
  if (!r->wanted.mesh_moves[side]) {
    return;
  }
  s->number[SCRATCH_MOVED_SORTED_1 + side] = POINT_PLANES * b->vertex_padded;
  if (r->pair->selected_vertices[side]) {
    s->number[SCRATCH_MOVED_MESH_1 + side] = POINT_PLANES * b->vertex_padded;
  }
  if (edges_run(r) || edges_in_fields(r, side)) {
    s->number[SCRATCH_MOVED_ENDS_1 + side] = ENDS_PLANES * b->edge_padded;
  }
  if (is_in_fields(r->pair)) {
    s->number[SCRATCH_MOVED_RADII_1 + side] = RADII_PLANES * b->vertex_padded;
    s->number[SCRATCH_MOVED_RAILS_1 + side] = EDGE_PLANES * b->edge_padded;
  }
}

static void output_sizes(const run *r, sizes *s)
{
  const size_t contacts = r->pair->layout.contacts;
  for (size_t i = 0; i < OUTPUTS; ++i) {
    const contact_output *o = &contact_outputs[i];
    s->number[o->values] = r->wanted.arrays & o->want ? o->components * contacts : 0;
  }
  s->number[SCRATCH_MIDDLES] = r->wanted.middles ? 2 : 0;
  if (r->wanted.reduced) {
    s->real[SCRATCH_REDUCED] = REDUCED_REALS;
  }
  if (r->wanted.compact) {
    s->integer[SCRATCH_COUNTS] = 1;
    s->integer[SCRATCH_OFFSETS] = 2; /* enough for poses + 1 in every chunk */
    s->integer[SCRATCH_LIST] = contacts * COMPACT_INTS;
    s->real[SCRATCH_VALUES] = contacts * COMPACT_REALS;
  }
}

size_t block_entries(const run *r)
{
  const size_t contacts = r->pair->layout.contacts;
  return contacts < BLOCK_ENTRIES ? contacts : BLOCK_ENTRIES;
}

/* Adds the sizes for Jacobian blocks: the blocks, their inputs, and the steps of the poses'
 * parameters. */
static void block_sizes(const run *r, sizes *s)
{
  s->number[SCRATCH_ROWS] = block_entries(r) * COMPACT_REALS;
  s->real[SCRATCH_JACOBIAN] = block_entries(r) * BLOCK_ROWS * 2 * (size_t)r->pose_width;
  s->real[SCRATCH_STEPS] = STEPS_REALS;
}

static void sizes_of(const run *r, sizes *s)
{
  const uint32_t lanes = device_lanes(r->device);
  *s = (sizes){{0}, {0}, {0}};
  s->real[SCRATCH_POSE_1] = s->real[SCRATCH_POSE_2] = (size_t)r->pose_width;
  s->real[SCRATCH_TANGENT_1] = s->real[SCRATCH_TANGENT_2] =
    r->wanted.motions ? 0 : (number_parts(r->program) - 1) * (size_t)r->pose_width;
  if (r->wanted.blocks) {
    block_sizes(r, s);
  }
  if (r->wanted.motions && r->wanted.cotangents) {
    s->real[SCRATCH_SLOPES] = SLOPES_REALS;
  }
  s->number[SCRATCH_FRAMES] = FRAME_STRIDE;
  s->integer[SCRATCH_STATUS] = 1;
  for (int side = 0; side < 2; ++side) {
    if (edges_run(r) || edges_in_fields(r, side)) {
      selected_edge_sizes(r, side, lanes, s);
    }
    edge_field_sizes(r, side, lanes, s);
  }
  if (r->wanted.cutoff > 0.0) {
    active_sizes(r, s);
    return;
  }
  vertex_sizes(r, 0, lanes, s);
  vertex_sizes(r, 1, lanes, s);
  moving_sizes(r, 0, s);
  moving_sizes(r, 1, s);
  if (edges_run(r)) {
    edge_sizes(r, s);
  }
  output_sizes(r, s);
  if (r->wanted.cotangents) {
    reverse_sizes(r, lanes, s);
    shape_sizes(r, 0, s);
    shape_sizes(r, 1, s);
  }
}

abut_status check_scratch(const run *r)
{
  /* The plain program uses the limits of duals, so that a pair it accepts also works on duals. */
  const program_id numbers = r->program == PROGRAM_PLAIN ? PROGRAM_DUAL : r->program;
  const size_t most = (size_t)INT_MAX / number_parts(numbers);
  sizes s;
  sizes_of(r, &s);
  for (int i = 0; i < SCRATCH_BUFFERS; ++i) {
    const size_t count = s.number[i] > s.integer[i] ? s.number[i] : s.integer[i];
    if (count > most || s.real[i] > most) {
      return fail(
        ABUT_ERROR_TOO_LARGE,
        "one pose needs %zu contiguous numbers, but at most %zu are possible: keep fewer elements",
        count > most ? count : s.real[i], most);
    }
  }
  return ABUT_SUCCESS;
}

void scratch_bytes(const run *r, size_t bytes[SCRATCH_BUFFERS])
{
  const size_t real = device_real_bytes(r->device);
  const size_t number = number_parts(r->program) * real;
  sizes s;
  sizes_of(r, &s);
  for (int i = 0; i < SCRATCH_BUFFERS; ++i) {
    bytes[i] = s.number[i] * number + s.real[i] * real + s.integer[i] * sizeof(int);
  }
}
