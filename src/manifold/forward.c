#include "base/error.h"
#include "geometry/layout.h"
#include "manifold/run.h"

int frame_across(int side)
{
  return side == 0 ? FRAME_1_TO_2 : FRAME_2_TO_1;
}

int frame_world(int side)
{
  return side == 0 ? FRAME_WORLD_1 : FRAME_WORLD_2;
}

size_t lane_blocks(const run *r, size_t count)
{
  return padded(count, device_lanes(r->device)) / device_lanes(r->device);
}

bool gated(const run *r)
{
  return r->pair->smoothing.select == ABUT_SELECT_GATE;
}

bool edges_run(const run *r)
{
  return r->pair->layout.edges[0] && r->pair->layout.edges[1] && !r->wanted.vertices_alone;
}

bool edge_activity(const run *r)
{
  return ((r->wanted.arrays | r->wanted.cotangents) & WANT_ACTIVITY) != 0;
}

bool side_scored(const run *r, int side)
{
  return r->pair->selected_vertices[side] || (edges_run(r) && r->pair->selected_edges[side]);
}

size_t field_planes(field_kind kind)
{
  static const size_t planes[] = {1, 4, 4, JET_PLANES};
  return planes[kind];
}

field_kind contact_field_kind(const run *r)
{
  const bool normals = ((r->wanted.arrays | r->wanted.cotangents) & WANT_N) != 0;
  if (r->wanted.cotangents) {
    return normals ? FIELD_JET : FIELD_GRADIENT;
  }
  return normals ? FIELD_NORMAL : FIELD_DISTANCE;
}

field_kind vertex_field_kind(const run *r, int side)
{
  if (!r->pair->selected_vertices[side] && r->pair->layout.vertices[side]) {
    return contact_field_kind(r);
  }
  return r->wanted.cotangents ? FIELD_GRADIENT : FIELD_DISTANCE; /* for scores alone */
}

/* Evaluates body `of` at points; frame: from the points' frame to that body's, -1 if it is the
 * same. */
abut_status field_at(const run *r, size_t poses, field_kind kind, point_set at, int frame, int of,
                     scratch_id out)
{
  static const kernel_id kernels[] = {KERNEL_FIELD_DISTANCE, KERNEL_FIELD, KERNEL_FIELD_GRADIENT,
                                      KERNEL_FIELD_JET};
  const resident_body *b = r->bodies[of];
  return LAUNCH_RUN(r, kernels[kind], lane_blocks(r, at.padded), poses, ARG_BUFFER(at.memory),
                    ARG_INT(at.base), ARG_INT(at.stride), ARG_INT(at.padded),
                    BUFFER(r, SCRATCH_FRAMES), ARG_INT(frame), ARG_BUFFER(b->head),
                    ARG_BUFFER(b->shape), ARG_BUFFER(r->on->coefficients), BUFFER(r, out));
}

/* The opposing field at all vertices of one body, where contacts or scores need it. */
static abut_status vertex_field(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side];
  const point_set vertices = {b->sorted_planes, 0, 0, b->vertex_padded};
  if (!r->pair->layout.vertices[side] && !side_scored(r, side)) {
    return ABUT_SUCCESS;
  }
  return field_at(r, poses, vertex_field_kind(r, side), vertices, frame_across(side), !side,
                  OF_SIDE(SCRATCH_FIELD_1, side));
}

/* Ranks scores and takes rows of `source` by the pair's way of selection. */
typedef struct selection {
  size_t count, padded, kept, columns;
  buffer *source;
  scratch_id index, top, out, weights;
  kernel_id softsort;
} selection;

static abut_status select_top(const run *r, size_t poses, const selection *s)
{
  const size_t out_padded = padded(s->kept, device_lanes(r->device));
  buffer *coefficients = r->on->coefficients;
  TRY(LAUNCH_RUN(r, KERNEL_TOP_SCORES, poses, 1, BUFFER(r, SCRATCH_SCORES), ARG_INT(s->padded),
                 ARG_INT(s->count), ARG_INT(s->kept), BUFFER(r, s->index), BUFFER(r, s->top)));
  if (!gated(r)) {
    return LAUNCH_RUN(r, s->softsort, s->kept, poses, BUFFER(r, SCRATCH_SCORES), BUFFER(r, s->top),
                      ARG_INT(s->kept), ARG_BUFFER(s->source), ARG_INT(s->padded),
                      ARG_BUFFER(coefficients), BUFFER(r, s->out), ARG_INT(out_padded),
                      BUFFER(r, s->weights));
  }
  return LAUNCH_RUN(r, KERNEL_GATE, out_padded, poses, BUFFER(r, s->index), BUFFER(r, s->top),
                    ARG_INT(s->kept), ARG_INT(s->count), ARG_BUFFER(s->source),
                    ARG_INT(s->padded), ARG_INT(s->columns), ARG_BUFFER(coefficients),
                    BUFFER(r, s->out), ARG_INT(out_padded), BUFFER(r, s->weights));
}

static size_t vertex_field_stride(const run *r, int side)
{
  return field_planes(vertex_field_kind(r, side)) * r->bodies[side]->vertex_padded;
}

abut_status vertex_score_kernel(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side];
  return LAUNCH_RUN(r, KERNEL_VERTEX_SCORES, b->vertex_padded, poses,
                    BUFFER(r, OF_SIDE(SCRATCH_FIELD_1, side)),
                    ARG_INT(vertex_field_stride(r, side)), ARG_BUFFER(b->rank),
                    ARG_INT(b->vertex_padded), ARG_INT(b->info->vertices),
                    BUFFER(r, SCRATCH_SCORES));
}

abut_status edge_score_kernel(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side];
  return LAUNCH_RUN(r, KERNEL_EDGE_SCORES, b->edge_padded, poses,
                    BUFFER(r, OF_SIDE(SCRATCH_FIELD_1, side)),
                    ARG_INT(vertex_field_stride(r, side)), ARG_BUFFER(b->edge_index),
                    ARG_INT(b->edge_padded), ARG_INT(b->info->edges), BUFFER(r, SCRATCH_SCORES));
}

/* Kept vertices of one body and the opposing field there. */
static abut_status select_vertices(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side];
  const size_t kept = r->pair->layout.vertices[side];
  const selection s = {b->info->vertices, b->vertex_padded, kept, 3, b->vertex_planes,
                       OF_SIDE(SCRATCH_VERTEX_INDEX_1, side), OF_SIDE(SCRATCH_VERTEX_TOP_1, side),
                       OF_SIDE(SCRATCH_KEPT_VERTICES_1, side),
                       OF_SIDE(SCRATCH_VERTEX_WEIGHTS_1, side), KERNEL_SOFTSORT_VERTICES};
  TRY(vertex_score_kernel(r, poses, side));
  TRY(select_top(r, poses, &s));
  const size_t slots = padded(kept, device_lanes(r->device));
  const point_set points = {r->scratch[s.out], 0, 3 * slots, slots};
  return field_at(r, poses, contact_field_kind(r), points, frame_across(side), !side,
                  OF_SIDE(SCRATCH_KEPT_FIELD_1, side));
}

/* Writes the vertex contacts of one body. */
static abut_status vertex_contacts(const run *r, size_t poses, int side)
{
  const pair *p = r->pair;
  const resident_body *b = r->bodies[side];
  const size_t kept = p->layout.vertices[side];
  if (!kept) {
    return ABUT_SUCCESS;
  }
  point_set points = {b->sorted_planes, 0, 0, b->vertex_padded};
  scratch_id field = OF_SIDE(SCRATCH_FIELD_1, side);
  if (p->selected_vertices[side]) {
    TRY(select_vertices(r, poses, side));
    const size_t slots = padded(kept, device_lanes(r->device));
    points = (point_set){r->scratch[OF_SIDE(SCRATCH_KEPT_VERTICES_1, side)], 0, 3 * slots, slots};
    field = OF_SIDE(SCRATCH_KEPT_FIELD_1, side);
  }
  if (!r->wanted.arrays) {
    return ABUT_SUCCESS;
  }
  const size_t stride = field_planes(contact_field_kind(r)) * points.padded;
  return LAUNCH_RUN(r, KERNEL_VERTEX_CONTACTS, lane_blocks(r, kept), poses,
                    ARG_BUFFER(points.memory), ARG_INT(points.stride), ARG_INT(points.padded),
                    ARG_INT(kept), ARG_BUFFER(b->order), ARG_INT(!p->selected_vertices[side]),
                    BUFFER(r, field), ARG_INT(stride),
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_WEIGHTS_1, side)),
                    ARG_INT(gated(r) && p->selected_vertices[side]), BUFFER(r, SCRATCH_FRAMES),
                    ARG_INT(frame_world(side)), ARG_INT(frame_world(!side)),
                    ARG_BUFFER(r->on->coefficients), ARG_INT(r->wanted.arrays),
                    ARG_INT(p->layout.vertex_offset[side]), ARG_INT(p->layout.contacts),
                    BUFFER(r, SCRATCH_P), BUFFER(r, SCRATCH_D), BUFFER(r, SCRATCH_N),
                    BUFFER(r, SCRATCH_ACTIVITY));
}

/* Kept edges of one body: their ends, and gate weights. */
static abut_status select_edges(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side];
  if (!r->pair->selected_edges[side]) {
    return ABUT_SUCCESS;
  }
  const selection s = {b->info->edges, b->edge_padded, r->pair->layout.edges[side], 6, b->edge_ends,
                       OF_SIDE(SCRATCH_EDGE_INDEX_1, side), OF_SIDE(SCRATCH_EDGE_TOP_1, side),
                       OF_SIDE(SCRATCH_ENDS_1, side), OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side),
                       KERNEL_SOFTSORT_EDGES};
  TRY(edge_score_kernel(r, poses, side));
  return select_top(r, poses, &s);
}

/* Ends of the kept edges: those selected, or the body's own, shared by all poses. */
point_set edge_ends(const run *r, int side)
{
  const resident_body *b = r->bodies[side];
  if (!r->pair->selected_edges[side]) {
    return (point_set){b->edge_ends, 0, 0, b->edge_padded};
  }
  const size_t slots = padded(r->pair->layout.edges[side], device_lanes(r->device));
  return (point_set){r->scratch[OF_SIDE(SCRATCH_ENDS_1, side)], 0, 6 * slots, slots};
}

size_t pair_slots(const run *r)
{
  return padded(r->pair->layout.edges[0] * r->pair->layout.edges[1], device_lanes(r->device));
}

/* A reverse pass needs the points before each tracing step; otherwise a step replaces them. The
 * first lie before con's plane, those after each step behind it, six planes a step. */
static size_t witness_base(const run *r, uint32_t step)
{
  const size_t plane = r->wanted.cotangents && step ? 6 * (size_t)step + 1 : 0;
  return plane * pair_slots(r);
}

size_t witness_stride(const run *r)
{
  const size_t steps = r->wanted.cotangents ? r->pair->smoothing.trace : 0;
  return (WITNESS_PLANES + 6 * steps) * pair_slots(r);
}

point_set witness_set(const run *r, int side, uint32_t step)
{
  const size_t slots = pair_slots(r);
  return (point_set){r->scratch[SCRATCH_WITNESS],
                     witness_base(r, step) + (side ? 3 * slots : 0), witness_stride(r), slots};
}

static abut_status witness_points(const run *r, size_t poses)
{
  const abut_layout *l = &r->pair->layout;
  const size_t slots = pair_slots(r);
  const point_set ends1 = edge_ends(r, 0), ends2 = edge_ends(r, 1);
  return LAUNCH_RUN(r, KERNEL_EDGE_WITNESSES, lane_blocks(r, slots), poses,
                    ARG_BUFFER(ends1.memory), ARG_INT(ends1.stride), ARG_INT(ends1.padded),
                    ARG_INT(l->edges[0]), ARG_BUFFER(ends2.memory), ARG_INT(ends2.stride),
                    ARG_INT(ends2.padded), ARG_INT(l->edges[1]), BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(r->on->coefficients), BUFFER(r, SCRATCH_WITNESS),
                    ARG_INT(witness_base(r, 0)), ARG_INT(witness_stride(r)), ARG_INT(slots));
}

/* Each body's own field at its witness points, after `trace` steps onto its surface. */
static abut_status own_fields(const run *r, size_t poses)
{
  const uint32_t last = r->pair->smoothing.trace;
  for (uint32_t step = 0; step <= last; ++step) {
    const bool ends = step == last;
    const field_kind kind = ends && r->wanted.cotangents ? FIELD_JET : FIELD_NORMAL;
    for (int side = 0; side < 2; ++side) {
      const point_set at = witness_set(r, side, step);
      const scratch_id own = OF_SIDE(SCRATCH_OWN_1, side);
      TRY(field_at(r, poses, kind, at, side ? FRAME_1_TO_2 : -1, side, own));
      if (ends) {
        continue;
      }
      TRY(LAUNCH_RUN(r, KERNEL_TRACE_STEP, lane_blocks(r, at.padded), poses, ARG_BUFFER(at.memory),
                     ARG_INT(at.base), ARG_INT(witness_set(r, side, step + 1).base),
                     ARG_INT(at.stride), ARG_INT(at.padded), BUFFER(r, SCRATCH_FRAMES),
                     ARG_INT(side ? FRAME_2_TO_1 : -1), BUFFER(r, own),
                     ARG_INT(field_planes(kind) * at.padded)));
    }
  }
  return ABUT_SUCCESS;
}

static field_kind opposing_kind(const run *r)
{
  return r->wanted.cotangents ? FIELD_GRADIENT : FIELD_DISTANCE;
}

/* The other body's distance at each witness point: activity alone needs it. */
static abut_status opposing_fields(const run *r, size_t poses)
{
  for (int side = 0; side < 2; ++side) {
    TRY(field_at(r, poses, opposing_kind(r), witness_set(r, side, r->pair->smoothing.trace),
                 side ? -1 : FRAME_1_TO_2, !side, OF_SIDE(SCRATCH_OPPOSING_1, side)));
  }
  return ABUT_SUCCESS;
}

static abut_status edge_activities(const run *r, size_t poses)
{
  const abut_layout *l = &r->pair->layout;
  for (int side = 0; side < 2; ++side) {
    const size_t rows = l->edges[side], columns = l->edges[!side];
    TRY(LAUNCH_RUN(r, KERNEL_NEIGHBOURS, lane_blocks(r, rows), poses, BUFFER(r, SCRATCH_FACTORS),
                   ARG_INT(pair_slots(r)), ARG_INT(1 + side), ARG_INT(rows),
                   ARG_INT(side ? 1 : l->edges[1]), ARG_INT(columns),
                   ARG_INT(side ? l->edges[1] : 1),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)),
                   ARG_INT(padded(rows, device_lanes(r->device))),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, !side)),
                   ARG_INT(padded(columns, device_lanes(r->device))),
                   ARG_INT(gated(r) && r->pair->selected_edges[side]),
                   ARG_INT(gated(r) && r->pair->selected_edges[!side]), BUFFER(r, SCRATCH_FRAMES),
                   ARG_BUFFER(r->on->coefficients), ARG_INT(l->edge_offset[side]),
                   ARG_INT(l->contacts), BUFFER(r, SCRATCH_ACTIVITY)));
  }
  return ABUT_SUCCESS;
}

static abut_status edge_contacts(const run *r, size_t poses)
{
  const abut_layout *l = &r->pair->layout;
  const size_t pairs = l->edges[0] * l->edges[1], slots = pair_slots(r);
  const bool active = edge_activity(r);
  TRY(select_edges(r, poses, 0));
  TRY(select_edges(r, poses, 1));
  TRY(witness_points(r, poses));
  TRY(own_fields(r, poses));
  if (active) {
    TRY(opposing_fields(r, poses));
  }
  if (!active && !r->wanted.arrays) {
    return ABUT_SUCCESS;
  }
  const point_set at = witness_set(r, 0, r->pair->smoothing.trace);
  const field_kind own = r->wanted.cotangents ? FIELD_JET : FIELD_NORMAL;
  TRY(LAUNCH_RUN(r, KERNEL_EDGE_CONTACTS, lane_blocks(r, pairs), poses, ARG_BUFFER(at.memory),
                 ARG_INT(at.base), ARG_INT(at.stride), ARG_INT(slots), ARG_INT(pairs),
                 BUFFER(r, SCRATCH_OWN_1), BUFFER(r, SCRATCH_OWN_2),
                 ARG_INT(field_planes(own) * slots), BUFFER(r, SCRATCH_OPPOSING_1),
                 BUFFER(r, SCRATCH_OPPOSING_2), ARG_INT(field_planes(opposing_kind(r)) * slots),
                 ARG_INT(active), BUFFER(r, SCRATCH_FRAMES), ARG_BUFFER(r->on->coefficients),
                 ARG_INT(r->wanted.arrays), ARG_INT(l->edge_offset[0]),
                 ARG_INT(l->edge_offset[1]), ARG_INT(l->contacts), BUFFER(r, SCRATCH_P),
                 BUFFER(r, SCRATCH_D), BUFFER(r, SCRATCH_N), BUFFER(r, SCRATCH_FACTORS)));
  return r->wanted.arrays & WANT_ACTIVITY ? edge_activities(r, poses) : ABUT_SUCCESS;
}

abut_status run_reductions(const run *r, size_t poses)
{
  const abut_layout *l = &r->pair->layout;
  return LAUNCH_RUN(r, KERNEL_REDUCE, poses, 1, BUFFER(r, SCRATCH_D), BUFFER(r, SCRATCH_ACTIVITY),
                    ARG_INT(l->contacts), ARG_INT(l->edge_offset[0]), BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(r->on->coefficients), BUFFER(r, SCRATCH_REDUCED));
}

abut_status run_compact(const run *r, size_t poses, double threshold, size_t capacity)
{
  const size_t contacts = r->pair->layout.contacts;
  TRY(LAUNCH_RUN(r, KERNEL_COUNT_ACTIVE, poses, 1, BUFFER(r, SCRATCH_ACTIVITY), ARG_INT(contacts),
                 ARG_REAL(threshold), BUFFER(r, SCRATCH_COUNTS)));
  TRY(LAUNCH_RUN(r, KERNEL_OFFSETS, 1, 1, BUFFER(r, SCRATCH_COUNTS), ARG_INT(poses),
                 BUFFER(r, SCRATCH_OFFSETS)));
  return LAUNCH_RUN(r, KERNEL_COMPACT, poses, 1, BUFFER(r, SCRATCH_P), BUFFER(r, SCRATCH_D),
                    BUFFER(r, SCRATCH_N), BUFFER(r, SCRATCH_ACTIVITY), ARG_INT(contacts),
                    ARG_REAL(threshold), ARG_INT(r->wanted.arrays),
                    ARG_BUFFER(r->on->layout_ints), BUFFER(r, SCRATCH_VERTEX_INDEX_1),
                    BUFFER(r, SCRATCH_VERTEX_INDEX_2), BUFFER(r, SCRATCH_EDGE_INDEX_1),
                    BUFFER(r, SCRATCH_EDGE_INDEX_2), BUFFER(r, SCRATCH_OFFSETS),
                    ARG_INT(capacity), BUFFER(r, SCRATCH_LIST), BUFFER(r, SCRATCH_VALUES));
}

abut_status run_forward(const run *r, size_t poses)
{
  TRY(LAUNCH_RUN(r, KERNEL_POSES, poses, 1, BUFFER(r, SCRATCH_POSE_1), BUFFER(r, SCRATCH_POSE_2),
                 BUFFER(r, SCRATCH_TANGENT_1), BUFFER(r, SCRATCH_TANGENT_2),
                 ARG_INT(r->pose_width), ARG_INT(poses), BUFFER(r, SCRATCH_FRAMES),
                 BUFFER(r, SCRATCH_STATUS)));
  if (!r->wanted.arrays && !r->wanted.cotangents) {
    return ABUT_SUCCESS; /* the poses' statuses are all that is asked for */
  }
  for (int side = 0; side < 2; ++side) {
    TRY(vertex_field(r, poses, side));
  }
  for (int side = 0; side < 2; ++side) {
    TRY(vertex_contacts(r, poses, side));
  }
  return edges_run(r) ? edge_contacts(r, poses) : ABUT_SUCCESS;
}
