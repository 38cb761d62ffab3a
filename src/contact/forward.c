#include "base/error.h"
#include "geometry/layout.h"
#include "contact/run.h"
#include "contact/shape_features.h"
#include "contact/smoothing.h"

size_t lane_blocks(const run *r, size_t count)
{
  return padded(count, device_lanes(r->device)) / device_lanes(r->device);
}

const pair_elements *elements(const run *r, int of)
{
  return &r->on->sizes.elements[of];
}

bool gated(const run *r)
{
  return r->pair->smoothing.select == ABUT_SELECT_GATE;
}

bool edges_run(const run *r)
{
  return r->pair->layout.edges[0] && r->pair->layout.edges[1] && !r->wanted.vertices_alone &&
         !is_in_fields(r->pair);
}

bool edges_in_fields(const run *r, int side)
{
  return r->pair->layout.edges[side] && !r->wanted.vertices_alone && is_in_fields(r->pair);
}

bool fields_run(const run *r)
{
  return edges_in_fields(r, 0) || edges_in_fields(r, 1);
}

bool radii_vary(const run *r)
{
  const wanted *w = &r->wanted;
  return is_in_fields(r->pair) &&
         (w->shaped[0] || w->shaped[1] || w->mesh_moves[0] || w->mesh_moves[1]);
}

launch_argument vertex_radii(const run *r, int side)
{
  if (r->wanted.mesh_moves[side] && is_in_fields(r->pair)) {
    const launch_argument moved = BUFFER(r, OF_SIDE(SCRATCH_MOVED_RADII_1, side));
    return moved;
  }
  const launch_argument there = ARG_BUFFER(r->bodies[side]->radii),
                        none = ARG_BUFFER(r->bodies[side]->sorted_planes);
  return r->bodies[side]->radii ? there : none;
}

launch_argument edge_rails(const run *r, int side)
{
  if (r->wanted.mesh_moves[side] && is_in_fields(r->pair)) {
    const launch_argument moved = BUFFER(r, OF_SIDE(SCRATCH_MOVED_RAILS_1, side));
    return moved;
  }
  const launch_argument there = ARG_BUFFER(r->bodies[side]->rails),
                        none = ARG_BUFFER(r->bodies[side]->edge_ends);
  return r->bodies[side]->rails ? there : none;
}

bool edge_activity(const run *r)
{
  return ((r->wanted.arrays | r->wanted.cotangents) & WANT_ACTIVITY) != 0;
}

bool edges_weighed(const run *r)
{
  return ((r->wanted.arrays | r->wanted.cotangents) & WANT_WEIGHT) != 0;
}

bool weights_back(const run *r)
{
  return (r->wanted.cotangents & WANT_WEIGHT) != 0;
}

bool side_scored(const run *r, int side)
{
  return r->pair->selected_vertices[side] ||
         ((edges_run(r) || edges_in_fields(r, side)) && r->pair->selected_edges[side]);
}

size_t field_planes(field_kind kind)
{
  static const size_t planes[] = {1, FIELD_PLANES, FIELD_PLANES, JET_PLANES};
  return planes[kind];
}

field_kind contact_field_kind(const run *r)
{
  const int asked = r->wanted.arrays | r->wanted.cotangents;
  /* whose contact points are offset along normals */
  const bool rounds = r->bodies[0]->rounds || r->bodies[1]->rounds || radii_vary(r);
  const int inset = r->pair->smoothing.cone_inset > 0.0 ? WANT_P | WANT_D : 0;
  const bool cones = smoothing_has_cones(&r->pair->smoothing) &&
                     asked & (WANT_ACTIVITY | WANT_WEIGHT | inset);
  const bool normals = asked & WANT_NORMALS || (rounds && asked & WANT_P) || cones;
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
  return r->wanted.cotangents ? FIELD_GRADIENT : FIELD_DISTANCE; /* only scores read it */
}

/* Adds the contribution of the direction of a body's primitives to a field's tangents. */
static abut_status field_along(const run *r, size_t poses, field_kind kind, point_set at, int frame,
                               int of, scratch_id out)
{
  const resident_body *b = r->bodies[of];
  return LAUNCH_RUN(r, KERNEL_FIELD_ALONG_SHAPE, lane_blocks(r, at.padded), poses,
                    ARG_BUFFER(at.memory), ARG_INT(at.base), ARG_INT(at.stride), ARG_INT(at.padded),
                    BUFFER(r, SCRATCH_FRAMES), ARG_INT(frame), ARG_BUFFER(b->head),
                    ARG_BUFFER(b->shape), ARG_BUFFER(r->on->head), ARG_BUFFER(r->moves[of].numbers),
                    ARG_INT(r->moves[of].stride), ARG_INT(kind != FIELD_DISTANCE), BUFFER(r, out));
}

/* Evaluates the field of body `of` at points. `frame`: index of the transformation from the points'
 * frame to the body's, or -1 if they are the same. */
abut_status field_at(const run *r, size_t poses, field_kind kind, point_set at, int frame, int of,
                     scratch_id out)
{
  static const kernel_id kernels[] = {KERNEL_FIELD_DISTANCE, KERNEL_FIELD, KERNEL_FIELD_GRADIENT,
                                      KERNEL_FIELD_JET};
  const resident_body *b = r->bodies[of];
  TRY(LAUNCH_RUN(r, kernels[kind], lane_blocks(r, at.padded), poses, ARG_BUFFER(at.memory),
                 ARG_INT(at.base), ARG_INT(at.stride), ARG_INT(at.padded),
                 BUFFER(r, SCRATCH_FRAMES), ARG_INT(frame), ARG_BUFFER(b->head),
                 ARG_BUFFER(b->shape), ARG_BUFFER(r->on->head), BUFFER(r, out)));
  return r->wanted.field_moves[of] ? field_along(r, poses, kind, at, frame, of, out) : ABUT_SUCCESS;
}

/* ---- meshes, shared by all poses unless they move ---- */

/* Moves the radii of a body's features, and its edges in fields. */
static abut_status move_features(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side];
  const run_moves *m = &r->moves[side];
  const body *features = r->pair->touching[side];
  TRY(LAUNCH_RUN(r, KERNEL_MOVED_RADII, b->vertex_padded, poses, ARG_BUFFER(b->radii),
                 ARG_BUFFER(b->order), ARG_INT(b->info->vertices), ARG_INT(b->vertex_padded),
                 ARG_BUFFER(m->numbers), ARG_INT(m->stride),
                 ARG_INT(m->mesh + feature_radii_at(features)),
                 BUFFER(r, OF_SIDE(SCRATCH_MOVED_RADII_1, side))));
  return b->info->edges
           ? LAUNCH_RUN(r, KERNEL_MOVED_RAILS, b->edge_padded, poses, ARG_BUFFER(b->rails),
                        ARG_INT(b->info->edges), ARG_INT(b->edge_padded), ARG_BUFFER(m->numbers),
                        ARG_INT(m->stride), ARG_INT(m->mesh + feature_rails_at(features)),
                        BUFFER(r, OF_SIDE(SCRATCH_MOVED_RAILS_1, side)))
           : ABUT_SUCCESS;
}

/* Moves a body's mesh along its direction for every pose. */
static abut_status move_mesh(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side];
  const run_moves *m = &r->moves[side];
  if (!r->wanted.mesh_moves[side]) {
    return ABUT_SUCCESS;
  }
  TRY(LAUNCH_RUN(r, KERNEL_MOVED_VERTICES, b->vertex_padded, poses, ARG_BUFFER(b->sorted_planes),
                 ARG_BUFFER(b->order), ARG_INT(1), ARG_INT(b->info->vertices),
                 ARG_INT(b->vertex_padded), ARG_BUFFER(m->numbers), ARG_INT(m->stride),
                 ARG_INT(m->mesh), BUFFER(r, OF_SIDE(SCRATCH_MOVED_SORTED_1, side))));
  if (r->pair->selected_vertices[side]) {
    TRY(LAUNCH_RUN(r, KERNEL_MOVED_VERTICES, b->vertex_padded, poses, ARG_BUFFER(b->vertex_planes),
                   ARG_BUFFER(b->order), ARG_INT(0), ARG_INT(b->info->vertices),
                   ARG_INT(b->vertex_padded), ARG_BUFFER(m->numbers), ARG_INT(m->stride),
                   ARG_INT(m->mesh), BUFFER(r, OF_SIDE(SCRATCH_MOVED_MESH_1, side))));
  }
  TRY(is_in_fields(r->pair) ? move_features(r, poses, side) : ABUT_SUCCESS);
  if (!edges_run(r) && !edges_in_fields(r, side)) {
    return ABUT_SUCCESS;
  }
  return LAUNCH_RUN(r, KERNEL_MOVED_ENDS, b->edge_padded, poses, ARG_BUFFER(b->edge_ends),
                    ARG_BUFFER(b->edge_index), ARG_BUFFER(b->order), ARG_INT(b->info->edges),
                    ARG_INT(b->edge_padded), ARG_BUFFER(m->numbers), ARG_INT(m->stride),
                    ARG_INT(m->mesh), BUFFER(r, OF_SIDE(SCRATCH_MOVED_ENDS_1, side)));
}

/* Returns all vertices in sorted order. */
static point_set sorted_vertices(const run *r, int side)
{
  const resident_body *b = r->bodies[side];
  return r->wanted.mesh_moves[side]
           ? (point_set){run_buffer(r, OF_SIDE(SCRATCH_MOVED_SORTED_1, side)), 0,
                         POINT_PLANES * b->vertex_padded, b->vertex_padded}
           : (point_set){b->sorted_planes, 0, 0, b->vertex_padded};
}

static buffer *mesh_vertices(const run *r, int side)
{
  return r->wanted.mesh_moves[side] ? run_buffer(r, OF_SIDE(SCRATCH_MOVED_MESH_1, side))
                                    : r->bodies[side]->vertex_planes;
}

static buffer *mesh_ends(const run *r, int side)
{
  return r->wanted.mesh_moves[side] ? run_buffer(r, OF_SIDE(SCRATCH_MOVED_ENDS_1, side))
                                    : r->bodies[side]->edge_ends;
}

/* Evaluates the opposing field at all vertices of one body, if contacts or scores need it. */
static abut_status vertex_field(const run *r, size_t poses, int side)
{
  if (!r->pair->layout.vertices[side] && !side_scored(r, side)) {
    return ABUT_SUCCESS;
  }
  return field_at(r, poses, vertex_field_kind(r, side), sorted_vertices(r, side),
                  FRAME_ACROSS(side), !side, OF_SIDE(SCRATCH_FIELD_1, side));
}

/* A selection of a body's elements: scores are ranked, and rows of `source` are selected by the
 * pair's method. */
typedef struct selection {
  int of, side; /* of: VERTICES_OF or EDGES_OF the side */
  buffer *source;
  scratch_id index, top, out, weights;
  kernel_id softsort;
} selection;

static abut_status select_top(const run *r, size_t poses, const selection *s)
{
  const pair_elements *e = elements(r, s->of);
  TRY(LAUNCH_RUN(r, KERNEL_TOP_SCORES, poses, 1, BUFFER(r, SCRATCH_SCORES), HEAD(r), ARG_INT(s->of),
                 BUFFER(r, s->index), BUFFER(r, s->top)));
  if (!gated(r)) {
    return LAUNCH_RUN(r, s->softsort, (size_t)e->kept, poses, BUFFER(r, SCRATCH_SCORES),
                      BUFFER(r, s->top), ARG_BUFFER(s->source), HEAD(r), ARG_INT(s->side),
                      BUFFER(r, s->out), BUFFER(r, s->weights));
  }
  return LAUNCH_RUN(r, KERNEL_GATE, (size_t)e->slots, poses, BUFFER(r, s->index), BUFFER(r, s->top),
                    ARG_BUFFER(s->source), HEAD(r), ARG_INT(s->of), BUFFER(r, s->out),
                    BUFFER(r, s->weights));
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
                    vertex_radii(r, side), HEAD(r), ARG_INT(side), BUFFER(r, SCRATCH_SCORES));
}

abut_status edge_score_kernel(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side];
  return LAUNCH_RUN(r, KERNEL_EDGE_SCORES, lane_blocks(r, b->edge_padded), poses,
                    BUFFER(r, OF_SIDE(SCRATCH_FIELD_1, side)),
                    ARG_INT(vertex_field_stride(r, side)), ARG_BUFFER(b->edge_index),
                    edge_rails(r, side), HEAD(r), ARG_INT(side), BUFFER(r, SCRATCH_SCORES));
}

/* Returns the vertices in contact: the selected ones, or all of a body's, which all poses share. */
point_set kept_vertices(const run *r, int side)
{
  const pair_elements *e = elements(r, VERTICES_OF(side));
  const size_t plane = (size_t)e->plane;
  return e->selected ? (point_set){run_buffer(r, OF_SIDE(SCRATCH_KEPT_VERTICES_1, side)), 0,
                                   POINT_PLANES * plane, plane}
                     : sorted_vertices(r, side);
}

/* Selects vertices of one body, and evaluates the opposing field there. */
static abut_status select_vertices(const run *r, size_t poses, int side)
{
  const selection s = {VERTICES_OF(side),
                       side,
                       mesh_vertices(r, side),
                       OF_SIDE(SCRATCH_VERTEX_INDEX_1, side),
                       OF_SIDE(SCRATCH_VERTEX_TOP_1, side),
                       OF_SIDE(SCRATCH_KEPT_VERTICES_1, side),
                       OF_SIDE(SCRATCH_VERTEX_WEIGHTS_1, side),
                       KERNEL_SOFTSORT_VERTICES};
  TRY(vertex_score_kernel(r, poses, side));
  TRY(select_top(r, poses, &s));
  return field_at(r, poses, contact_field_kind(r), kept_vertices(r, side), FRAME_ACROSS(side),
                  !side, OF_SIDE(SCRATCH_KEPT_FIELD_1, side));
}

/* Writes the vertex contacts of one body. */
static abut_status vertex_contacts(const run *r, size_t poses, int side)
{
  const pair_elements *e = elements(r, VERTICES_OF(side));
  if (!e->kept) {
    return ABUT_SUCCESS;
  }
  if (e->selected) {
    TRY(select_vertices(r, poses, side));
  }
  if (!r->wanted.arrays) {
    return ABUT_SUCCESS;
  }
  const point_set points = kept_vertices(r, side);
  const scratch_id field = e->selected ? SCRATCH_KEPT_FIELD_1 : SCRATCH_FIELD_1;
  return LAUNCH_RUN(r, KERNEL_VERTEX_CONTACTS, lane_blocks(r, (size_t)e->kept), poses,
                    ARG_BUFFER(points.memory), ARG_BUFFER(r->bodies[side]->order),
                    BUFFER(r, OF_SIDE(field, side)),
                    ARG_INT(field_planes(contact_field_kind(r)) * points.padded),
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_WEIGHTS_1, side)), vertex_radii(r, side),
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_INDEX_1, side)), BUFFER(r, SCRATCH_FRAMES),
                    HEAD(r), ARG_INT(side), ARG_INT(r->wanted.arrays), OUTPUT_BUFFERS);
}

/* Selects edges of one body: finds their ends and gate weights. */
static abut_status select_edges(const run *r, size_t poses, int side)
{
  if (!r->pair->selected_edges[side]) {
    return ABUT_SUCCESS;
  }
  const selection s = {EDGES_OF(side),
                       side,
                       mesh_ends(r, side),
                       OF_SIDE(SCRATCH_EDGE_INDEX_1, side),
                       OF_SIDE(SCRATCH_EDGE_TOP_1, side),
                       OF_SIDE(SCRATCH_ENDS_1, side),
                       OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side),
                       KERNEL_SOFTSORT_EDGES};
  TRY(edge_score_kernel(r, poses, side));
  return select_top(r, poses, &s);
}

/* Returns the ends of the selected edges, or of all the body's edges, which all poses share. */
buffer *edge_ends(const run *r, int side)
{
  return r->pair->selected_edges[side] ? run_buffer(r, OF_SIDE(SCRATCH_ENDS_1, side))
                                       : mesh_ends(r, side);
}

size_t pair_slots(const run *r)
{
  return (size_t)r->on->sizes.pair_slots;
}

/* Returns the offset of the witness points after `step` tracing steps. A reverse pass needs the
 * points before each step; otherwise a step overwrites them. The first points precede con's plane,
 * and those after each step follow all others, two points per step. */
static size_t witness_base(const run *r, uint32_t step)
{
  if (!r->wanted.cotangents || !step) {
    return 0;
  }
  return (WITNESS_PLANES + 2 * POINT_PLANES * ((size_t)step - 1)) * pair_slots(r);
}

size_t witness_stride(const run *r)
{
  const size_t steps = r->wanted.cotangents ? r->pair->smoothing.trace : 0;
  return (WITNESS_PLANES + 2 * POINT_PLANES * steps) * pair_slots(r);
}

point_set witness_set(const run *r, int side, uint32_t step)
{
  const size_t slots = pair_slots(r);
  return (point_set){run_buffer(r, SCRATCH_WITNESS),
                     witness_base(r, step) + (side ? WITNESS_E2 * slots : 0), witness_stride(r),
                     slots};
}

static abut_status witness_points(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_EDGE_WITNESSES, lane_blocks(r, pair_slots(r)), poses,
                    ARG_BUFFER(edge_ends(r, 0)), ARG_BUFFER(edge_ends(r, 1)),
                    BUFFER(r, SCRATCH_FRAMES), HEAD(r), BUFFER(r, SCRATCH_WITNESS),
                    ARG_INT(witness_stride(r)));
}

/* Evaluates each body's own field at its witness points after `trace` steps onto its surface. */
static abut_status own_fields(const run *r, size_t poses)
{
  const uint32_t last = r->pair->smoothing.trace;
  for (uint32_t step = 0; step <= last; ++step) {
    const bool ends = step == last;
    const field_kind kind = ends && r->wanted.cotangents ? FIELD_JET : FIELD_NORMAL;
    for (int side = 0; side < 2; ++side) {
      const point_set at = witness_set(r, side, step);
      const scratch_id own = OF_SIDE(SCRATCH_OWN_1, side);
      TRY(field_at(r, poses, kind, at, FRAME_FROM_1(side), side, own));
      if (ends) {
        continue;
      }
      TRY(LAUNCH_RUN(r, KERNEL_TRACE_STEP, lane_blocks(r, at.padded), poses, ARG_BUFFER(at.memory),
                     ARG_INT(at.base), ARG_INT(witness_set(r, side, step + 1).base),
                     ARG_INT(at.stride), BUFFER(r, SCRATCH_FRAMES), BUFFER(r, own),
                     ARG_INT(field_planes(kind) * at.padded), HEAD(r), ARG_INT(side)));
    }
  }
  return ABUT_SUCCESS;
}

static field_kind opposing_kind(const run *r)
{
  return r->wanted.cotangents ? FIELD_GRADIENT : FIELD_DISTANCE;
}

/* Evaluates the other body's distance at each witness point, for activities and weights. */
static abut_status opposing_fields(const run *r, size_t poses)
{
  for (int side = 0; side < 2; ++side) {
    TRY(field_at(r, poses, opposing_kind(r), witness_set(r, side, r->pair->smoothing.trace),
                 FRAME_FROM_1(!side), !side, OF_SIDE(SCRATCH_OPPOSING_1, side)));
  }
  return ABUT_SUCCESS;
}

/* Computes the weights of edge contacts: their relevance regardless of depth. */
static abut_status edge_weights(const run *r, size_t poses)
{
  const size_t slots = pair_slots(r);
  const point_set at = witness_set(r, 0, r->pair->smoothing.trace);
  const field_kind own = r->wanted.cotangents ? FIELD_JET : FIELD_NORMAL;
  TRY(LAUNCH_RUN(r, KERNEL_EDGE_WEIGHTS, lane_blocks(r, slots), poses, ARG_BUFFER(at.memory),
                 ARG_INT(at.base), ARG_INT(at.stride), BUFFER(r, SCRATCH_OWN_1),
                 BUFFER(r, SCRATCH_OWN_2), ARG_INT(field_planes(own) * slots),
                 BUFFER(r, SCRATCH_OPPOSING_1), BUFFER(r, SCRATCH_OPPOSING_2),
                 ARG_INT(field_planes(opposing_kind(r)) * slots), BUFFER(r, SCRATCH_FRAMES),
                 HEAD(r), BUFFER(r, SCRATCH_WEIGHT_FACTORS)));
  for (int side = 0; side < 2 && r->wanted.arrays & WANT_WEIGHT; ++side) {
    TRY(LAUNCH_RUN(r, KERNEL_NEIGHBOUR_WEIGHTS, lane_blocks(r, r->pair->layout.edges[side]), poses,
                   BUFFER(r, SCRATCH_WEIGHT_FACTORS),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, !side)), BUFFER(r, SCRATCH_FRAMES),
                   HEAD(r), ARG_INT(side), BUFFER(r, SCRATCH_WEIGHT)));
  }
  return ABUT_SUCCESS;
}

static abut_status edge_activities(const run *r, size_t poses)
{
  for (int side = 0; side < 2; ++side) {
    TRY(LAUNCH_RUN(r, KERNEL_NEIGHBOURS, lane_blocks(r, r->pair->layout.edges[side]), poses,
                   BUFFER(r, SCRATCH_FACTORS), BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, !side)), BUFFER(r, SCRATCH_FRAMES),
                   HEAD(r), ARG_INT(side), BUFFER(r, SCRATCH_ACTIVITY)));
  }
  return ABUT_SUCCESS;
}

static abut_status edge_contacts(const run *r, size_t poses)
{
  const size_t slots = pair_slots(r);
  const bool active = edge_activity(r);
  /* The selected edges, and the nearest points of each pair of them. */
  TRY(select_edges(r, poses, 0));
  TRY(select_edges(r, poses, 1));
  TRY(witness_points(r, poses));
  /* Fields at these points, which determine what is inside and the weight of a pair. */
  TRY(own_fields(r, poses));
  if (active || edges_weighed(r)) {
    TRY(opposing_fields(r, poses));
  }
  TRY(edges_weighed(r) ? edge_weights(r, poses) : ABUT_SUCCESS);
  if (!active && !r->wanted.arrays) {
    return ABUT_SUCCESS;
  }
  const point_set at = witness_set(r, 0, r->pair->smoothing.trace);
  const field_kind own = r->wanted.cotangents ? FIELD_JET : FIELD_NORMAL;
  TRY(LAUNCH_RUN(r, KERNEL_EDGE_CONTACTS, lane_blocks(r, slots), poses, ARG_BUFFER(at.memory),
                 ARG_INT(at.base), ARG_INT(at.stride), BUFFER(r, SCRATCH_OWN_1),
                 BUFFER(r, SCRATCH_OWN_2), ARG_INT(field_planes(own) * slots),
                 BUFFER(r, SCRATCH_OPPOSING_1), BUFFER(r, SCRATCH_OPPOSING_2),
                 ARG_INT(field_planes(opposing_kind(r)) * slots), ARG_INT(active),
                 BUFFER(r, SCRATCH_FRAMES), HEAD(r), ARG_INT(r->wanted.arrays), OUTPUT_BUFFERS,
                 BUFFER(r, SCRATCH_FACTORS)));
  return r->wanted.arrays & WANT_ACTIVITY ? edge_activities(r, poses) : ABUT_SUCCESS;
}

/* Writes the contacts of one body's edges with the other body's field. */
static abut_status edge_field_contacts(const run *r, size_t poses, int side)
{
  const resident_body *other = r->bodies[!side];
  TRY(select_edges(r, poses, side));
  if (r->wanted.field_moves[!side]) {
    return LAUNCH_RUN(r, KERNEL_EDGES_ALONG_SHAPE, lane_blocks(r, r->pair->layout.edges[side]),
                      poses, edge_rails(r, side), BUFFER(r, OF_SIDE(SCRATCH_EDGE_INDEX_1, side)),
                      BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)), BUFFER(r, SCRATCH_FRAMES),
                      ARG_BUFFER(other->head), ARG_BUFFER(other->shape), HEAD(r), ARG_INT(side),
                      ARG_INT(r->wanted.arrays), ARG_BUFFER(r->moves[!side].numbers),
                      ARG_INT(r->moves[!side].stride), BUFFER(r, OF_SIDE(SCRATCH_PLACES_1, side)),
                      OUTPUT_BUFFERS);
  }
  return LAUNCH_RUN(r, KERNEL_EDGES_IN_FIELD, lane_blocks(r, r->pair->layout.edges[side]), poses,
                    edge_rails(r, side), BUFFER(r, OF_SIDE(SCRATCH_EDGE_INDEX_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)), BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(other->head), ARG_BUFFER(other->shape), HEAD(r), ARG_INT(side),
                    ARG_INT(r->wanted.arrays), BUFFER(r, OF_SIDE(SCRATCH_PLACES_1, side)),
                    OUTPUT_BUFFERS);
}

abut_status run_middles(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_MIDDLES, 1, poses, BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(r->bodies[0]->head), ARG_BUFFER(r->bodies[1]->head),
                    ARG_BUFFER(r->bodies[0]->shape), ARG_BUFFER(r->bodies[1]->shape), HEAD(r),
                    BUFFER(r, SCRATCH_MIDDLES));
}

abut_status run_reductions(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_REDUCE, poses, 1, BUFFER(r, SCRATCH_D), BUFFER(r, SCRATCH_ACTIVITY),
                    HEAD(r), BUFFER(r, SCRATCH_FRAMES), BUFFER(r, SCRATCH_REDUCED));
}

abut_status run_distances(const run *r, size_t poses, double temperature)
{
  return LAUNCH_RUN(r, KERNEL_REDUCE_DISTANCES, poses, 1, BUFFER(r, SCRATCH_D),
                    BUFFER(r, SCRATCH_WEIGHT), BUFFER(r, SCRATCH_MIDDLES), HEAD(r),
                    ARG_REAL(temperature), BUFFER(r, SCRATCH_FRAMES), BUFFER(r, SCRATCH_REDUCED),
                    BUFFER(r, SCRATCH_STATUS));
}

double soft_temperature(const run *r, const abut_reductions *of)
{
  return of->temperature > 0.0 ? of->temperature : r->pair->smoothing.penetration / 16.0;
}

abut_status run_compact(const run *r, size_t poses, double threshold, size_t capacity)
{
  TRY(LAUNCH_RUN(r, KERNEL_COUNT_ACTIVE, poses, 1, BUFFER(r, SCRATCH_ACTIVITY), HEAD(r),
                 ARG_REAL(threshold), BUFFER(r, SCRATCH_COUNTS)));
  TRY(LAUNCH_RUN(r, KERNEL_OFFSETS, 1, 1, BUFFER(r, SCRATCH_COUNTS), ARG_INT(poses),
                 BUFFER(r, SCRATCH_OFFSETS)));
  return LAUNCH_RUN(r, KERNEL_COMPACT, poses, 1, OUTPUT_BUFFERS, HEAD(r), ARG_REAL(threshold),
                    ARG_INT(r->wanted.arrays), BUFFER(r, SCRATCH_VERTEX_INDEX_1),
                    BUFFER(r, SCRATCH_VERTEX_INDEX_2), BUFFER(r, SCRATCH_EDGE_INDEX_1),
                    BUFFER(r, SCRATCH_EDGE_INDEX_2), BUFFER(r, SCRATCH_OFFSETS), ARG_INT(capacity),
                    BUFFER(r, SCRATCH_LIST), BUFFER(r, SCRATCH_VALUES));
}

abut_status run_frames(const run *r, size_t poses)
{
  if (r->wanted.motions) {
    return LAUNCH_RUN(r, KERNEL_MOTIONS, poses, 1, BUFFER(r, SCRATCH_POSE_1),
                      BUFFER(r, SCRATCH_POSE_2), ARG_INT(r->pose_width), ARG_INT(r->motion),
                      ARG_INT(poses), BUFFER(r, SCRATCH_FRAMES), BUFFER(r, SCRATCH_STATUS));
  }
  return LAUNCH_RUN(r, KERNEL_POSES, poses, 1, BUFFER(r, SCRATCH_POSE_1), BUFFER(r, SCRATCH_POSE_2),
                    BUFFER(r, SCRATCH_TANGENT_1), BUFFER(r, SCRATCH_TANGENT_2),
                    ARG_INT(r->pose_width), ARG_INT(poses), BUFFER(r, SCRATCH_FRAMES),
                    BUFFER(r, SCRATCH_STATUS));
}

abut_status run_forward(const run *r, size_t poses)
{
  /* Frames from poses: from each body's frame to the world's and to the other body's. */
  TRY(run_frames(r, poses));
  if (!r->wanted.arrays && !r->wanted.cotangents) {
    return ABUT_SUCCESS; /* only the poses' statuses are wanted */
  }
  for (int side = 0; side < 2; ++side) {
    /* Features that a call moves, by duals or by shapes per pose. */
    TRY(move_mesh(r, poses, side));
  }
  for (int side = 0; side < 2; ++side) {
    /* The other body's field at the vertices, and the selected vertices. */
    TRY(vertex_field(r, poses, side));
  }
  for (int side = 0; side < 2; ++side) {
    /* Their contacts. */
    TRY(vertex_contacts(r, poses, side));
  }
  for (int side = 0; side < 2; ++side) {
    /* Points on edges where the other body's field is least, and their contacts. */
    TRY(edges_in_fields(r, side) ? edge_field_contacts(r, poses, side) : ABUT_SUCCESS);
  }
  /* Depths of whole bodies in each other, for `distance`; then contacts of pairs of edges, as in
   * the paper. */
  TRY(r->wanted.middles ? run_middles(r, poses) : ABUT_SUCCESS);
  return edges_run(r) ? edge_contacts(r, poses) : ABUT_SUCCESS;
}
