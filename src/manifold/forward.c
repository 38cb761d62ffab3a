#include "manifold/forward.h"

#include "base/error.h"
#include "geometry/layout.h"

#define BUFFER(r, id) ARG_BUFFER((r)->pair->scratch[id])

/* From body `side`'s frame to the other's, and its own to the world. */
static int frame_across(int side)
{
  return side == 0 ? FRAME_1_TO_2 : FRAME_2_TO_1;
}

static int frame_world(int side)
{
  return side == 0 ? FRAME_WORLD_1 : FRAME_WORLD_2;
}

static size_t blocks(const forward_run *r, size_t count)
{
  return padded(count, device_lanes(r->device)) / device_lanes(r->device);
}

/* Points whose field is asked for: three planes of `padded`, see cl/kernels/field.cl. */
typedef struct point_set {
  buffer *memory;
  size_t base, stride, padded;
} point_set;

/* Evaluates body `of` at points; frame: from the points' frame to that body's, -1 if it is the
 * same. */
static abut_status field_at(const forward_run *r, size_t poses, bool normals, point_set at,
                            int frame, int of, scratch_id out)
{
  const body *b = r->bodies[of];
  const kernel_id kernel = normals ? KERNEL_FIELD : KERNEL_FIELD_DISTANCE;
  return LAUNCH(r->device, kernel, blocks(r, at.padded), poses, ARG_BUFFER(at.memory),
                ARG_INT(at.base), ARG_INT(at.stride), ARG_INT(at.padded),
                BUFFER(r, SCRATCH_FRAMES), ARG_INT(frame), ARG_BUFFER(b->head),
                ARG_BUFFER(b->shape), ARG_BUFFER(r->pair->coefficients), BUFFER(r, out));
}

static bool vertex_normals(const forward_run *r)
{
  return (r->wanted.arrays & WANT_N) != 0;
}

static size_t field_stride(const forward_run *r, size_t points)
{
  return (vertex_normals(r) ? 4 : 1) * points;
}

/* The opposing field at all vertices of one body. */
static abut_status vertex_field(const forward_run *r, size_t poses, int side)
{
  const body *b = r->bodies[side];
  const point_set vertices = {b->sorted_planes, 0, 0, b->vertex_padded};
  return field_at(r, poses, vertex_normals(r), vertices, frame_across(side), !side,
                  (scratch_id)(SCRATCH_FIELD_1 + side));
}

/* Ranks scores and takes rows of `source` by the pair's way of selection. */
typedef struct selection {
  size_t count, padded, kept, columns;
  buffer *source;
  scratch_id index, top, out, weights;
  kernel_id softsort;
} selection;

static abut_status select_top(const forward_run *r, size_t poses, const selection *s)
{
  const size_t out_padded = padded(s->kept, device_lanes(r->device));
  buffer *coefficients = r->pair->coefficients;
  TRY(LAUNCH(r->device, KERNEL_TOP_SCORES, poses, 1, BUFFER(r, SCRATCH_SCORES),
             ARG_INT(s->padded), ARG_INT(s->count), ARG_INT(s->kept), BUFFER(r, s->index),
             BUFFER(r, s->top)));
  if (r->pair->smoothing.select == ABUT_SELECT_SOFTSORT) {
    return LAUNCH(r->device, s->softsort, s->kept, poses, BUFFER(r, SCRATCH_SCORES),
                  BUFFER(r, s->top), ARG_INT(s->kept), ARG_BUFFER(s->source), ARG_INT(s->padded),
                  ARG_BUFFER(coefficients), BUFFER(r, s->out), ARG_INT(out_padded));
  }
  return LAUNCH(r->device, KERNEL_GATE, out_padded, poses, BUFFER(r, s->index), BUFFER(r, s->top),
                ARG_INT(s->kept), ARG_INT(s->count), ARG_BUFFER(s->source), ARG_INT(s->padded),
                ARG_INT(s->columns), ARG_BUFFER(coefficients), BUFFER(r, s->out),
                ARG_INT(out_padded), BUFFER(r, s->weights));
}

/* Kept vertices of one body and the opposing field there. */
static abut_status select_vertices(const forward_run *r, size_t poses, int side)
{
  const body *b = r->bodies[side];
  const size_t kept = r->pair->layout.vertices[side];
  const selection s = {b->info.vertices, b->vertex_padded, kept, 3, b->vertex_planes,
                       (scratch_id)(SCRATCH_VERTEX_INDEX_1 + side), SCRATCH_VERTEX_TOP,
                       SCRATCH_KEPT_VERTICES, SCRATCH_VERTEX_WEIGHTS, KERNEL_SOFTSORT_VERTICES};
  TRY(LAUNCH(r->device, KERNEL_VERTEX_SCORES, b->vertex_padded, poses,
             BUFFER(r, SCRATCH_FIELD_1 + side), ARG_INT(field_stride(r, b->vertex_padded)),
             ARG_BUFFER(b->rank), ARG_INT(b->vertex_padded), ARG_INT(b->info.vertices),
             BUFFER(r, SCRATCH_SCORES)));
  TRY(select_top(r, poses, &s));
  const size_t slots = padded(kept, device_lanes(r->device));
  const point_set points = {r->pair->scratch[SCRATCH_KEPT_VERTICES], 0, 3 * slots, slots};
  return field_at(r, poses, vertex_normals(r), points, frame_across(side), !side,
                  SCRATCH_KEPT_FIELD);
}

static bool gated(const forward_run *r)
{
  return r->pair->smoothing.select == ABUT_SELECT_GATE;
}

/* Writes the vertex contacts of one body. */
static abut_status vertex_contacts(const forward_run *r, size_t poses, int side)
{
  const pair *p = r->pair;
  const body *b = r->bodies[side];
  const size_t kept = p->layout.vertices[side];
  if (!kept) {
    return ABUT_SUCCESS;
  }
  point_set points = {b->sorted_planes, 0, 0, b->vertex_padded};
  scratch_id field = (scratch_id)(SCRATCH_FIELD_1 + side);
  if (p->selected_vertices[side]) {
    TRY(select_vertices(r, poses, side));
    const size_t slots = padded(kept, device_lanes(r->device));
    points = (point_set){p->scratch[SCRATCH_KEPT_VERTICES], 0, 3 * slots, slots};
    field = SCRATCH_KEPT_FIELD;
  }
  return LAUNCH(r->device, KERNEL_VERTEX_CONTACTS, blocks(r, kept), poses,
                ARG_BUFFER(points.memory), ARG_INT(points.stride), ARG_INT(points.padded),
                ARG_INT(kept), ARG_BUFFER(b->order), ARG_INT(!p->selected_vertices[side]),
                BUFFER(r, field), ARG_INT(field_stride(r, points.padded)),
                BUFFER(r, SCRATCH_VERTEX_WEIGHTS),
                ARG_INT(gated(r) && p->selected_vertices[side]), BUFFER(r, SCRATCH_FRAMES),
                ARG_INT(frame_world(side)), ARG_INT(frame_world(!side)),
                ARG_BUFFER(p->coefficients), ARG_INT(r->wanted.arrays),
                ARG_INT(p->layout.vertex_offset[side]), ARG_INT(p->layout.contacts),
                BUFFER(r, SCRATCH_P), BUFFER(r, SCRATCH_D), BUFFER(r, SCRATCH_N),
                BUFFER(r, SCRATCH_ACTIVITY));
}

/* Kept edges of one body: their ends, and gate weights. */
static abut_status select_edges(const forward_run *r, size_t poses, int side)
{
  const body *b = r->bodies[side];
  if (!r->pair->selected_edges[side]) {
    return ABUT_SUCCESS;
  }
  const selection s = {b->info.edges, b->edge_padded, r->pair->layout.edges[side], 6, b->edge_ends,
                       (scratch_id)(SCRATCH_EDGE_INDEX_1 + side), SCRATCH_EDGE_TOP,
                       (scratch_id)(SCRATCH_ENDS_1 + side),
                       (scratch_id)(SCRATCH_EDGE_WEIGHTS_1 + side), KERNEL_SOFTSORT_EDGES};
  TRY(LAUNCH(r->device, KERNEL_EDGE_SCORES, b->edge_padded, poses,
             BUFFER(r, SCRATCH_FIELD_1 + side), ARG_INT(field_stride(r, b->vertex_padded)),
             ARG_BUFFER(b->edge_index), ARG_INT(b->edge_padded), ARG_INT(b->info.edges),
             BUFFER(r, SCRATCH_SCORES)));
  return select_top(r, poses, &s);
}

/* Ends of the kept edges: those selected, or the body's own, shared by all poses. */
static point_set edge_ends(const forward_run *r, int side)
{
  const body *b = r->bodies[side];
  if (!r->pair->selected_edges[side]) {
    return (point_set){b->edge_ends, 0, 0, b->edge_padded};
  }
  const size_t slots = padded(r->pair->layout.edges[side], device_lanes(r->device));
  return (point_set){r->pair->scratch[SCRATCH_ENDS_1 + side], 0, 6 * slots, slots};
}

static abut_status witness_points(const forward_run *r, size_t poses, size_t slots)
{
  const abut_layout *l = &r->pair->layout;
  const point_set ends1 = edge_ends(r, 0), ends2 = edge_ends(r, 1);
  return LAUNCH(r->device, KERNEL_EDGE_WITNESSES, blocks(r, slots), poses,
                ARG_BUFFER(ends1.memory), ARG_INT(ends1.stride), ARG_INT(ends1.padded),
                ARG_INT(l->edges[0]), ARG_BUFFER(ends2.memory), ARG_INT(ends2.stride),
                ARG_INT(ends2.padded), ARG_INT(l->edges[1]), BUFFER(r, SCRATCH_FRAMES),
                ARG_BUFFER(r->pair->coefficients), BUFFER(r, SCRATCH_WITNESS), ARG_INT(slots));
}

/* Witness points of body `side` in scratch, in body 1's frame. */
static point_set witness_set(const forward_run *r, int side, size_t slots)
{
  return (point_set){r->pair->scratch[SCRATCH_WITNESS], side ? 3 * slots : 0,
                     WITNESS_PLANES * slots, slots};
}

/* Each body's own field at its witness points, after `trace` steps onto its surface. */
static abut_status own_fields(const forward_run *r, size_t poses, size_t slots)
{
  for (uint32_t step = 0; step <= r->pair->smoothing.trace; ++step) {
    for (int side = 0; side < 2; ++side) {
      const point_set at = witness_set(r, side, slots);
      const scratch_id own = (scratch_id)(SCRATCH_OWN_1 + side);
      TRY(field_at(r, poses, true, at, side ? FRAME_1_TO_2 : -1, side, own));
      if (step == r->pair->smoothing.trace) {
        continue;
      }
      TRY(LAUNCH(r->device, KERNEL_TRACE_STEP, blocks(r, slots), poses, ARG_BUFFER(at.memory),
                 ARG_INT(at.base), ARG_INT(at.stride), ARG_INT(at.padded),
                 BUFFER(r, SCRATCH_FRAMES), ARG_INT(side ? FRAME_2_TO_1 : -1), BUFFER(r, own)));
    }
  }
  return ABUT_SUCCESS;
}

/* The other body's distance at each witness point: activity alone needs it. */
static abut_status opposing_fields(const forward_run *r, size_t poses, size_t slots)
{
  for (int side = 0; side < 2; ++side) {
    TRY(field_at(r, poses, false, witness_set(r, side, slots), side ? -1 : FRAME_1_TO_2, !side,
                 (scratch_id)(SCRATCH_OPPOSING_1 + side)));
  }
  return ABUT_SUCCESS;
}

static abut_status edge_activities(const forward_run *r, size_t poses, size_t slots)
{
  const abut_layout *l = &r->pair->layout;
  for (int side = 0; side < 2; ++side) {
    const size_t rows = l->edges[side], columns = l->edges[!side];
    TRY(LAUNCH(r->device, KERNEL_NEIGHBOURS, blocks(r, rows), poses, BUFFER(r, SCRATCH_FACTORS),
               ARG_INT(slots), ARG_INT(1 + side), ARG_INT(rows),
               ARG_INT(side ? 1 : l->edges[1]), ARG_INT(columns),
               ARG_INT(side ? l->edges[1] : 1),
               BUFFER(r, SCRATCH_EDGE_WEIGHTS_1 + side),
               ARG_INT(padded(rows, device_lanes(r->device))),
               BUFFER(r, SCRATCH_EDGE_WEIGHTS_1 + !side),
               ARG_INT(padded(columns, device_lanes(r->device))),
               ARG_INT(gated(r) && r->pair->selected_edges[side]),
               ARG_INT(gated(r) && r->pair->selected_edges[!side]), BUFFER(r, SCRATCH_FRAMES),
               ARG_BUFFER(r->pair->coefficients), ARG_INT(l->edge_offset[side]),
               ARG_INT(l->contacts), BUFFER(r, SCRATCH_ACTIVITY)));
  }
  return ABUT_SUCCESS;
}

static abut_status edge_contacts(const forward_run *r, size_t poses)
{
  const abut_layout *l = &r->pair->layout;
  const size_t pairs = l->edges[0] * l->edges[1];
  if (!pairs) {
    return ABUT_SUCCESS;
  }
  const size_t slots = padded(pairs, device_lanes(r->device));
  TRY(select_edges(r, poses, 0));
  TRY(select_edges(r, poses, 1));
  TRY(witness_points(r, poses, slots));
  TRY(own_fields(r, poses, slots));
  const bool active = (r->wanted.arrays & WANT_ACTIVITY) != 0;
  if (active) {
    TRY(opposing_fields(r, poses, slots));
  }
  TRY(LAUNCH(r->device, KERNEL_EDGE_CONTACTS, blocks(r, pairs), poses, BUFFER(r, SCRATCH_WITNESS),
             ARG_INT(slots), ARG_INT(pairs), BUFFER(r, SCRATCH_OWN_1), BUFFER(r, SCRATCH_OWN_2),
             BUFFER(r, SCRATCH_OPPOSING_1), BUFFER(r, SCRATCH_OPPOSING_2),
             BUFFER(r, SCRATCH_FRAMES), ARG_BUFFER(r->pair->coefficients),
             ARG_INT(r->wanted.arrays), ARG_INT(l->edge_offset[0]), ARG_INT(l->edge_offset[1]),
             ARG_INT(l->contacts), BUFFER(r, SCRATCH_P), BUFFER(r, SCRATCH_D),
             BUFFER(r, SCRATCH_N), BUFFER(r, SCRATCH_FACTORS)));
  return active ? edge_activities(r, poses, slots) : ABUT_SUCCESS;
}

static abut_status reduce(const forward_run *r, size_t poses)
{
  const abut_layout *l = &r->pair->layout;
  return LAUNCH(r->device, KERNEL_REDUCE, poses, 1, BUFFER(r, SCRATCH_D),
                BUFFER(r, SCRATCH_ACTIVITY), ARG_INT(l->contacts), ARG_INT(l->edge_offset[0]),
                BUFFER(r, SCRATCH_FRAMES), ARG_BUFFER(r->pair->coefficients),
                BUFFER(r, SCRATCH_REDUCED));
}

static abut_status compact(const forward_run *r, size_t poses, double threshold, size_t capacity)
{
  const size_t contacts = r->pair->layout.contacts;
  TRY(LAUNCH(r->device, KERNEL_COUNT_ACTIVE, poses, 1, BUFFER(r, SCRATCH_ACTIVITY),
             ARG_INT(contacts), ARG_REAL(threshold), BUFFER(r, SCRATCH_COUNTS)));
  TRY(LAUNCH(r->device, KERNEL_OFFSETS, 1, 1, BUFFER(r, SCRATCH_COUNTS), ARG_INT(poses),
             BUFFER(r, SCRATCH_OFFSETS)));
  return LAUNCH(r->device, KERNEL_COMPACT, poses, 1, BUFFER(r, SCRATCH_P), BUFFER(r, SCRATCH_D),
                BUFFER(r, SCRATCH_N), BUFFER(r, SCRATCH_ACTIVITY), ARG_INT(contacts),
                ARG_REAL(threshold), ARG_INT(r->wanted.arrays), ARG_BUFFER(r->pair->layout_ints),
                BUFFER(r, SCRATCH_VERTEX_INDEX_1), BUFFER(r, SCRATCH_VERTEX_INDEX_2),
                BUFFER(r, SCRATCH_EDGE_INDEX_1), BUFFER(r, SCRATCH_EDGE_INDEX_2),
                BUFFER(r, SCRATCH_OFFSETS), ARG_INT(capacity), BUFFER(r, SCRATCH_LIST),
                BUFFER(r, SCRATCH_VALUES));
}

abut_status forward_chunk(const forward_run *r, size_t poses, double threshold, size_t capacity)
{
  const abut_smoothing *s = &r->pair->smoothing;
  TRY(LAUNCH(r->device, KERNEL_POSES, poses, 1, BUFFER(r, SCRATCH_POSE_1),
             BUFFER(r, SCRATCH_POSE_2), ARG_INT(r->pose_width), ARG_INT(poses),
             BUFFER(r, SCRATCH_FRAMES), BUFFER(r, SCRATCH_STATUS)));
  TRY(vertex_field(r, poses, 0));
  if (s->two_sided || r->pair->selected_edges[1]) { /* its contacts, or its edges' scores */
    TRY(vertex_field(r, poses, 1));
  }
  TRY(vertex_contacts(r, poses, 0));
  TRY(vertex_contacts(r, poses, 1));
  TRY(edge_contacts(r, poses));
  if (r->wanted.reduced) {
    TRY(reduce(r, poses));
  }
  return r->wanted.compact ? compact(r, poses, threshold, capacity) : ABUT_SUCCESS;
}
