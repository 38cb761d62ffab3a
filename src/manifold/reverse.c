/* From cotangents of the outputs back to gradients of the poses: the adjoint of each kernel of
 * forward.c, in the opposite order. Nothing is scattered: a kernel owns what it writes, each block
 * leaves its share of the pose's wrenches, and the last kernel sums these in order. */
#include "base/error.h"
#include "geometry/layout.h"
#include "manifold/run.h"

/* A pass back: where the next kernel's blocks leave their wrenches, and which bodies' fields have
 * got cotangents from a selection. */
typedef struct reverse_pass {
  const run *run;
  size_t poses, next_block, blocks;
  bool scored[2];
} reverse_pass;

static size_t slots_of(const run *r, size_t count)
{
  return padded(count, device_lanes(r->device));
}

/* Edge contacts and witness points, a tracing step of each body's, vertices in contact and, where a
 * selection reads their field, all vertices. */
size_t wrench_blocks(const run *r)
{
  size_t blocks = 0;
  for (int side = 0; side < 2; ++side) {
    const size_t kept = r->pair->layout.vertices[side];
    const size_t all = lane_blocks(r, r->bodies[side]->vertex_padded);
    if (r->pair->selected_vertices[side]) {
      blocks += lane_blocks(r, slots_of(r, kept)) + all;
    } else if (kept || side_scored(r, side)) {
      blocks += all;
    }
  }
  if (edges_run(r)) {
    blocks += lane_blocks(r, pair_slots(r)) * (2 + 2 * (size_t)r->pair->smoothing.trace);
  }
  return blocks;
}

static size_t wrench_stride(const reverse_pass *pass)
{
  return WRENCH_REALS * pass->blocks;
}

static size_t take_blocks(reverse_pass *pass, size_t count)
{
  const size_t first = pass->next_block;
  pass->next_block += count;
  return first;
}

/* Cotangents of distances and activities: the run's own rows, or one for all poses. */
static launch_argument d_bar(const run *r)
{
  const launch_argument shared = ARG_BUFFER(r->on->mean_bar);
  const launch_argument own = BUFFER(r, SCRATCH_D_BAR);
  return r->wanted.shared_d ? shared : own;
}

static launch_argument activity_bar(const run *r)
{
  const launch_argument shared = ARG_BUFFER(r->on->one_bar);
  const launch_argument own = BUFFER(r, SCRATCH_ACTIVITY_BAR);
  return r->wanted.shared_activity ? shared : own;
}

/* ---- edges ---- */

static abut_status neighbours_back(const reverse_pass *pass)
{
  const run *r = pass->run;
  const abut_layout *l = &r->pair->layout;
  for (int side = 0; side < 2; ++side) {
    const size_t rows = l->edges[side], columns = l->edges[!side];
    TRY(LAUNCH_RUN(r, KERNEL_NEIGHBOURS_ADJOINT, lane_blocks(r, rows), pass->poses,
                   BUFFER(r, SCRATCH_FACTORS), ARG_INT(pair_slots(r)), ARG_INT(1 + side),
                   ARG_INT(rows), ARG_INT(side ? 1 : l->edges[1]), ARG_INT(columns),
                   ARG_INT(side ? l->edges[1] : 1),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)), ARG_INT(slots_of(r, rows)),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, !side)),
                   ARG_INT(slots_of(r, columns)),
                   ARG_INT(gated(r) && r->pair->selected_edges[side]),
                   ARG_INT(gated(r) && r->pair->selected_edges[!side]),
                   ARG_BUFFER(r->on->coefficients), ARG_INT(l->edge_offset[side]),
                   ARG_INT(l->contacts), activity_bar(r), ARG_INT(r->wanted.shared_activity),
                   ARG_INT(side), BUFFER(r, SCRATCH_FACTORS_BAR),
                   ARG_INT(FACTORS_BAR_PLANES(gated(r)))));
  }
  return ABUT_SUCCESS;
}

static abut_status edge_contacts_back(reverse_pass *pass)
{
  const run *r = pass->run;
  const abut_layout *l = &r->pair->layout;
  const size_t slots = pair_slots(r), blocks = lane_blocks(r, slots);
  const bool active = (r->wanted.cotangents & WANT_ACTIVITY) != 0;
  const point_set at = witness_set(r, 0, r->pair->smoothing.trace);
  return LAUNCH_RUN(r, KERNEL_EDGE_CONTACTS_ADJOINT, blocks, pass->poses, ARG_BUFFER(at.memory),
                    ARG_INT(at.base), ARG_INT(at.stride), ARG_INT(slots),
                    ARG_INT(l->edges[0] * l->edges[1]), BUFFER(r, SCRATCH_OWN_1),
                    BUFFER(r, SCRATCH_OWN_2), BUFFER(r, SCRATCH_OPPOSING_1),
                    BUFFER(r, SCRATCH_OPPOSING_2), ARG_INT(active), BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(r->on->coefficients), ARG_INT(r->wanted.cotangents),
                    ARG_INT(l->edge_offset[0]), ARG_INT(l->edge_offset[1]), ARG_INT(l->contacts),
                    BUFFER(r, SCRATCH_P_BAR), d_bar(r), ARG_INT(r->wanted.shared_d),
                    BUFFER(r, SCRATCH_N_BAR), BUFFER(r, SCRATCH_FACTORS_BAR),
                    ARG_INT(FACTORS_BAR_PLANES(gated(r))), BUFFER(r, SCRATCH_WITNESS_BAR),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_stride(pass)),
                    ARG_INT(take_blocks(pass, blocks)));
}

/* A body's own field is computed again at the points before each step. */
static abut_status trace_back(reverse_pass *pass)
{
  const run *r = pass->run;
  const size_t slots = pair_slots(r), blocks = lane_blocks(r, slots);
  for (uint32_t step = r->pair->smoothing.trace; step-- > 0;) {
    for (int side = 0; side < 2; ++side) {
      const point_set at = witness_set(r, side, step);
      const scratch_id own = OF_SIDE(SCRATCH_OWN_1, side);
      const int frame = side ? FRAME_1_TO_2 : -1;
      TRY(field_at(r, pass->poses, FIELD_JET, at, frame, side, own));
      TRY(LAUNCH_RUN(r, KERNEL_TRACE_ADJOINT, blocks, pass->poses, ARG_BUFFER(at.memory),
                     ARG_INT(at.base), ARG_INT(at.stride), ARG_INT(slots),
                     BUFFER(r, SCRATCH_FRAMES), ARG_INT(frame), BUFFER(r, own),
                     BUFFER(r, SCRATCH_WITNESS_BAR), ARG_INT(side ? 3 * slots : 0),
                     ARG_INT(WITNESS_PLANES * slots), BUFFER(r, SCRATCH_WRENCHES),
                     ARG_INT(wrench_stride(pass)), ARG_INT(take_blocks(pass, blocks))));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status witness_points_back(reverse_pass *pass)
{
  const run *r = pass->run;
  const abut_layout *l = &r->pair->layout;
  const size_t slots = pair_slots(r), blocks = lane_blocks(r, slots);
  const bool selected = r->pair->selected_edges[0] || r->pair->selected_edges[1];
  const point_set ends1 = edge_ends(r, 0), ends2 = edge_ends(r, 1);
  return LAUNCH_RUN(r, KERNEL_EDGE_WITNESSES_ADJOINT, blocks, pass->poses,
                    ARG_BUFFER(ends1.memory), ARG_INT(ends1.stride), ARG_INT(ends1.padded),
                    ARG_INT(l->edges[0]), ARG_BUFFER(ends2.memory), ARG_INT(ends2.stride),
                    ARG_INT(ends2.padded), ARG_INT(l->edges[1]), BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(r->on->coefficients), BUFFER(r, SCRATCH_WITNESS_BAR),
                    ARG_INT(slots), ARG_INT(selected && !gated(r)),
                    BUFFER(r, SCRATCH_PAIR_ENDS_BAR), BUFFER(r, SCRATCH_WRENCHES),
                    ARG_INT(wrench_stride(pass)), ARG_INT(take_blocks(pass, blocks)));
}

/* ---- selections ---- */

/* A selection of `kept` of `count` elements, whose scores are in SCRATCH_SCORES. */
typedef struct ranked {
  size_t count, padded, kept;
  buffer *source;
  scratch_id index, top, mean, weights, bars;
  kernel_id softsort;
} ranked;

/* Cotangents of the means (bars) or of the gate weights -> SCRATCH_SCORES_BAR. */
static abut_status select_back(const reverse_pass *pass, const ranked *s)
{
  const run *r = pass->run;
  const size_t out_padded = slots_of(r, s->kept), blocks = lane_blocks(r, s->padded);
  buffer *coefficients = r->on->coefficients;
  if (gated(r)) {
    TRY(LAUNCH_RUN(r, KERNEL_GATE_ADJOINT, pass->poses, 1, BUFFER(r, s->top), ARG_INT(s->kept),
                   ARG_INT(s->count), ARG_BUFFER(coefficients), BUFFER(r, SCRATCH_WEIGHTS_BAR),
                   ARG_INT(out_padded), ARG_INT(pass->poses), BUFFER(r, SCRATCH_RANKED_BAR)));
  } else {
    TRY(LAUNCH_RUN(r, s->softsort, blocks, pass->poses, BUFFER(r, SCRATCH_SCORES),
                   BUFFER(r, s->top), ARG_INT(s->kept), ARG_BUFFER(s->source), ARG_INT(s->padded),
                   ARG_BUFFER(coefficients), BUFFER(r, s->mean), ARG_INT(out_padded),
                   BUFFER(r, s->weights), BUFFER(r, s->bars), BUFFER(r, SCRATCH_SCORES_BAR),
                   BUFFER(r, SCRATCH_RANKED_PARTS)));
    TRY(LAUNCH_RUN(r, KERNEL_RANKED_ADJOINT, s->kept + 1, pass->poses,
                   BUFFER(r, SCRATCH_RANKED_PARTS), ARG_INT(s->kept), ARG_INT(blocks),
                   BUFFER(r, SCRATCH_RANKED_BAR)));
  }
  return LAUNCH_RUN(r, KERNEL_SCORES_ADJOINT, blocks, pass->poses, BUFFER(r, s->index),
                    BUFFER(r, SCRATCH_RANKED_BAR), ARG_INT(s->kept), ARG_INT(s->count),
                    ARG_INT(s->padded), ARG_INT(!gated(r)), BUFFER(r, SCRATCH_SCORES_BAR));
}

/* What moves a body's kept edges: their ends, or with gates their weights alone. */
static abut_status kept_edges_back(const reverse_pass *pass, int side)
{
  const run *r = pass->run;
  const abut_layout *l = &r->pair->layout;
  const size_t rows = l->edges[side], columns = l->edges[!side], blocks = lane_blocks(r, rows);
  const size_t row_step = side ? 1 : l->edges[1], column_step = side ? l->edges[1] : 1;
  if (!gated(r)) {
    return LAUNCH_RUN(r, KERNEL_ENDS_ADJOINT, blocks, pass->poses,
                      BUFFER(r, SCRATCH_PAIR_ENDS_BAR), ARG_INT(pair_slots(r)),
                      ARG_INT(side ? 6 : 0), ARG_INT(rows), ARG_INT(row_step), ARG_INT(columns),
                      ARG_INT(column_step), BUFFER(r, SCRATCH_ENDS_BAR),
                      ARG_INT(slots_of(r, rows)));
  }
  return LAUNCH_RUN(r, KERNEL_WEIGHTS_ADJOINT, blocks, pass->poses,
                    BUFFER(r, SCRATCH_FACTORS_BAR), ARG_INT(pair_slots(r)), ARG_INT(rows),
                    ARG_INT(row_step), ARG_INT(columns), ARG_INT(column_step),
                    BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, !side)),
                    ARG_INT(slots_of(r, columns)), ARG_INT(r->pair->selected_edges[!side]),
                    BUFFER(r, SCRATCH_WEIGHTS_BAR), ARG_INT(slots_of(r, rows)));
}

static abut_status select_edges_back(reverse_pass *pass, int side)
{
  const run *r = pass->run;
  const resident_body *b = r->bodies[side];
  /* Gated edges are true ones: without cotangents of activities nothing depends on the scores. */
  if (!r->pair->selected_edges[side] || (gated(r) && !(r->wanted.cotangents & WANT_ACTIVITY))) {
    return ABUT_SUCCESS;
  }
  const ranked s = {b->info->edges, b->edge_padded, r->pair->layout.edges[side], b->edge_ends,
                      OF_SIDE(SCRATCH_EDGE_INDEX_1, side), OF_SIDE(SCRATCH_EDGE_TOP_1, side),
                      OF_SIDE(SCRATCH_ENDS_1, side), OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side),
                      SCRATCH_ENDS_BAR, KERNEL_SOFTSORT_EDGES_ADJOINT};
  TRY(kept_edges_back(pass, side));
  TRY(edge_score_kernel(r, pass->poses, side));
  TRY(select_back(pass, &s));
  pass->scored[side] = true;
  return LAUNCH_RUN(r, KERNEL_EDGE_SCORES_ADJOINT, b->vertex_padded, pass->poses,
                    BUFFER(r, SCRATCH_SCORES_BAR), ARG_INT(b->edge_padded),
                    ARG_BUFFER(b->edge_starts), ARG_BUFFER(b->edges_at),
                    ARG_INT(b->vertex_padded), ARG_INT(b->info->vertices), ARG_INT(0),
                    BUFFER(r, OF_SIDE(SCRATCH_FIELD_BAR_1, side)));
}

static abut_status edges_back(reverse_pass *pass)
{
  if (pass->run->wanted.cotangents & WANT_ACTIVITY) {
    TRY(neighbours_back(pass));
  }
  TRY(edge_contacts_back(pass));
  TRY(trace_back(pass));
  TRY(witness_points_back(pass));
  TRY(select_edges_back(pass, 0));
  return select_edges_back(pass, 1);
}

/* ---- vertices ---- */

/* Vertices with a field: all of a body, or those kept by a selection. */
typedef struct vertex_set {
  point_set points;
  size_t count;
  scratch_id field;
  field_kind kind;
  bool kept;
} vertex_set;

static abut_status vertices_back(reverse_pass *pass, int side, const vertex_set *v, int have,
                                 bool scored)
{
  const run *r = pass->run;
  const pair *p = r->pair;
  const size_t slots = v->points.padded, blocks = lane_blocks(r, slots);
  return LAUNCH_RUN(r, KERNEL_VERTEX_ADJOINT, blocks, pass->poses, ARG_BUFFER(v->points.memory),
                    ARG_INT(v->points.stride), ARG_INT(slots), ARG_INT(v->count),
                    ARG_BUFFER(r->bodies[side]->order), ARG_INT(!v->kept), BUFFER(r, v->field),
                    ARG_INT(field_planes(v->kind) * slots),
                    ARG_INT(v->kind == FIELD_JET ? JET_PLANE_GRADIENT : 1),
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_WEIGHTS_1, side)),
                    ARG_INT(gated(r) && v->kept), BUFFER(r, OF_SIDE(SCRATCH_FIELD_BAR_1, side)),
                    ARG_INT(scored), BUFFER(r, SCRATCH_FRAMES), ARG_INT(side),
                    ARG_BUFFER(r->on->coefficients), ARG_INT(have),
                    ARG_INT(p->layout.vertex_offset[side]), ARG_INT(p->layout.contacts),
                    BUFFER(r, SCRATCH_P_BAR), d_bar(r), ARG_INT(r->wanted.shared_d),
                    BUFFER(r, SCRATCH_N_BAR), activity_bar(r),
                    ARG_INT(r->wanted.shared_activity), ARG_INT(v->kept),
                    BUFFER(r, SCRATCH_KEPT_BAR), BUFFER(r, SCRATCH_WEIGHTS_BAR),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_stride(pass)),
                    ARG_INT(take_blocks(pass, blocks)));
}

static abut_status select_vertices_back(reverse_pass *pass, int side)
{
  const run *r = pass->run;
  const resident_body *b = r->bodies[side];
  const size_t kept = r->pair->layout.vertices[side], slots = slots_of(r, kept);
  const scratch_id mean = OF_SIDE(SCRATCH_KEPT_VERTICES_1, side);
  const vertex_set v = {{r->scratch[mean], 0, 3 * slots, slots}, kept,
                        OF_SIDE(SCRATCH_KEPT_FIELD_1, side), contact_field_kind(r), true};
  TRY(vertices_back(pass, side, &v, r->wanted.cotangents, false));
  const ranked s = {b->info->vertices, b->vertex_padded, kept, b->vertex_planes,
                      OF_SIDE(SCRATCH_VERTEX_INDEX_1, side), OF_SIDE(SCRATCH_VERTEX_TOP_1, side),
                      mean, OF_SIDE(SCRATCH_VERTEX_WEIGHTS_1, side), SCRATCH_KEPT_BAR,
                      KERNEL_SOFTSORT_VERTICES_ADJOINT};
  if (gated(r) && !(r->wanted.cotangents & WANT_ACTIVITY)) {
    return ABUT_SUCCESS;
  }
  TRY(vertex_score_kernel(r, pass->poses, side));
  TRY(select_back(pass, &s));
  TRY(LAUNCH_RUN(r, KERNEL_VERTEX_SCORES_ADJOINT, b->vertex_padded, pass->poses,
                 BUFFER(r, SCRATCH_SCORES_BAR), ARG_BUFFER(b->order), ARG_INT(b->vertex_padded),
                 ARG_INT(b->info->vertices), ARG_INT(pass->scored[side]),
                 BUFFER(r, OF_SIDE(SCRATCH_FIELD_BAR_1, side))));
  pass->scored[side] = true;
  return ABUT_SUCCESS;
}

static abut_status side_back(reverse_pass *pass, int side)
{
  const run *r = pass->run;
  const resident_body *b = r->bodies[side];
  const bool chosen = r->pair->selected_vertices[side];
  const bool contacts = r->pair->layout.vertices[side] && !chosen;
  if (chosen) {
    TRY(select_vertices_back(pass, side));
  }
  if (!contacts && !side_scored(r, side)) {
    return ABUT_SUCCESS;
  }
  const vertex_set all = {{b->sorted_planes, 0, 0, b->vertex_padded}, b->info->vertices,
                          OF_SIDE(SCRATCH_FIELD_1, side), vertex_field_kind(r, side), false};
  return vertices_back(pass, side, &all, contacts ? r->wanted.cotangents : 0, pass->scored[side]);
}

abut_status run_reverse(const run *r, size_t poses)
{
  reverse_pass pass = {r, poses, 0, wrench_blocks(r), {false, false}};
  if (edges_run(r)) {
    TRY(edges_back(&pass));
  }
  TRY(side_back(&pass, 0));
  TRY(side_back(&pass, 1));
  return LAUNCH_RUN(r, KERNEL_POSES_ADJOINT, poses, 1, BUFFER(r, SCRATCH_POSE_1),
                    BUFFER(r, SCRATCH_POSE_2), BUFFER(r, SCRATCH_TANGENT_1),
                    BUFFER(r, SCRATCH_TANGENT_2), ARG_INT(r->pose_width), ARG_INT(poses),
                    BUFFER(r, SCRATCH_FRAMES), BUFFER(r, SCRATCH_WRENCHES), ARG_INT(pass.blocks),
                    BUFFER(r, SCRATCH_STATUS), BUFFER(r, SCRATCH_GRADIENT_1),
                    BUFFER(r, SCRATCH_GRADIENT_2));
}
