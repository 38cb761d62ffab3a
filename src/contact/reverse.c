/* The reverse pass from cotangents of the outputs to gradients of the poses. It launches the
 * adjoint of each kernel of forward.c in reverse order. No scattering is needed: each kernel owns
 * what it writes, each block writes its part of the pose's wrenches, and the last kernel sums these
 * in order. */
#include "base/error.h"
#include "geometry/layout.h"
#include "contact/run.h"
#include "contact/shape_features.h"
#include "contact/shape_rows.h"

/* A reverse pass, with the offset for the next kernel's blocks of wrenches, and flags of the bodies
 * whose fields have cotangents from a selection. */
typedef struct reverse_pass {
  const run *run;
  field_sites sites;
  size_t poses, next_block, blocks;
  bool scored[2];
  size_t rows[2]; /* width of each body's row with derivatives for its features; else 0 */
} reverse_pass;

/* Returns the number of wrench blocks per pose. They are written for edge contacts and witness
 * points; each body's tracing steps; edges' weights; vertices in contact; the bodies' middles; and,
 * if a selection reads their field, all vertices. */
size_t wrench_blocks(const run *r)
{
  size_t blocks = r->wanted.middles_back;
  for (int side = 0; side < 2; ++side) {
    const pair_elements *e = elements(r, VERTICES_OF(side));
    const size_t all = lane_blocks(r, (size_t)e->padded);
    if (e->selected) {
      blocks += lane_blocks(r, (size_t)e->slots) + all;
    } else if (e->kept || side_scored(r, side)) {
      blocks += all;
    }
  }
  for (int side = 0; side < 2; ++side) {
    blocks += edges_in_fields(r, side) ? lane_blocks(r, r->pair->layout.edges[side]) : 0;
  }
  if (edges_run(r)) {
    const size_t sides = (size_t)r->pair->smoothing.trace;
    blocks += lane_blocks(r, pair_slots(r)) * (2 + 2 * sides + weights_back(r));
  }
  return blocks;
}

static size_t wrench_stride(const reverse_pass *pass)
{
  return WRENCH_REALS * pass->blocks;
}

static size_t reserve_blocks(reverse_pass *pass, size_t count)
{
  const size_t first = pass->next_block;
  pass->next_block += count;
  return first;
}

/* The cotangents of an output: the run's own rows, or one row for all poses. */
static buffer *run_bars(const run *r, scratch_id id)
{
  if (id == SCRATCH_D_BAR && r->wanted.shared_d) {
    return r->on->mean_bar;
  }
  const bool ones = id == SCRATCH_ACTIVITY_BAR && r->wanted.shared_activity;
  return ones ? r->on->one_bar : run_buffer(r, id);
}

#define OUTPUT_BAR_BUFFER(member, id, reals) ARG_BUFFER(run_bars(r, SCRATCH_##id##_BAR))
#define OUTPUT_BAR_BUFFERS CONTACT_OUTPUTS(OUTPUT_BAR_BUFFER, AND_COMMA)

/* Arguments for a body's sites: the buffer, their number per pose, and the kernel's first site. */
#define SITES(pass, body, first)                                                           \
  BUFFER((pass)->run, OF_SIDE(SCRATCH_SITES_1, body)), ARG_INT((pass)->sites.count[body]), \
    ARG_INT(first)

/* Arguments for a body's row: its buffer, its width (0 if derivatives for features are not wanted),
 * and the offset of the kernel's numbers. */
#define FEATURES(pass, side, first) \
  BUFFER((pass)->run, OF_SIDE(SCRATCH_SHAPE_1, side)), ARG_INT((pass)->rows[side]), ARG_INT(first)

/* Returns whether the cotangents of edges' ends are needed: for SoftSort, which moves the ends, or
 * for derivatives by shapes. */
static bool ends_back(const run *r)
{
  const bool selected = r->pair->selected_edges[0] || r->pair->selected_edges[1];
  return (!gated(r) && selected) || r->wanted.shaped[0] || r->wanted.shaped[1];
}

/* ---- edges ---- */

static abut_status neighbours_back(const reverse_pass *pass)
{
  const run *r = pass->run;
  for (int side = 0; side < 2; ++side) {
    TRY(LAUNCH_RUN(r, KERNEL_NEIGHBOURS_ADJOINT, lane_blocks(r, r->pair->layout.edges[side]),
                   pass->poses, BUFFER(r, SCRATCH_FACTORS),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, !side)), HEAD(r), ARG_INT(side),
                   ARG_BUFFER(run_bars(r, SCRATCH_ACTIVITY_BAR)),
                   ARG_INT(r->wanted.shared_activity), BUFFER(r, SCRATCH_FACTORS_BAR)));
  }
  return ABUT_SUCCESS;
}

static abut_status edge_contacts_back(reverse_pass *pass)
{
  const run *r = pass->run;
  const size_t blocks = lane_blocks(r, pair_slots(r));
  const point_set at = witness_set(r, 0, r->pair->smoothing.trace);
  return LAUNCH_RUN(r, KERNEL_EDGE_CONTACTS_ADJOINT, blocks, pass->poses, ARG_BUFFER(at.memory),
                    ARG_INT(at.base), ARG_INT(at.stride), BUFFER(r, SCRATCH_OWN_1),
                    BUFFER(r, SCRATCH_OWN_2), BUFFER(r, SCRATCH_OPPOSING_1),
                    BUFFER(r, SCRATCH_OPPOSING_2), BUFFER(r, SCRATCH_FRAMES), HEAD(r),
                    ARG_INT(r->wanted.cotangents), OUTPUT_BAR_BUFFERS, ARG_INT(r->wanted.shared_d),
                    BUFFER(r, SCRATCH_FACTORS_BAR), BUFFER(r, SCRATCH_WITNESS_BAR),
                    ARG_STRUCT(pass->sites), BUFFER(r, SCRATCH_SITES_1), BUFFER(r, SCRATCH_SITES_2),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_stride(pass)),
                    ARG_INT(reserve_blocks(pass, blocks)));
}

/* Adds the contributions of the weights' cotangents to those of contacts. */
static abut_status weights_of_edges_back(reverse_pass *pass)
{
  const run *r = pass->run;
  const size_t blocks = lane_blocks(r, pair_slots(r));
  const point_set at = witness_set(r, 0, r->pair->smoothing.trace);
  for (int side = 0; side < 2; ++side) {
    TRY(LAUNCH_RUN(r, KERNEL_NEIGHBOUR_WEIGHTS_ADJOINT, lane_blocks(r, r->pair->layout.edges[side]),
                   pass->poses, BUFFER(r, SCRATCH_WEIGHT_FACTORS),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)),
                   BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, !side)), HEAD(r), ARG_INT(side),
                   BUFFER(r, SCRATCH_WEIGHT_BAR), BUFFER(r, SCRATCH_WEIGHT_FACTORS_BAR)));
  }
  return LAUNCH_RUN(r, KERNEL_EDGE_WEIGHTS_ADJOINT, blocks, pass->poses, ARG_BUFFER(at.memory),
                    ARG_INT(at.base), ARG_INT(at.stride), BUFFER(r, SCRATCH_OWN_1),
                    BUFFER(r, SCRATCH_OWN_2), BUFFER(r, SCRATCH_OPPOSING_1),
                    BUFFER(r, SCRATCH_OPPOSING_2), BUFFER(r, SCRATCH_FRAMES), HEAD(r),
                    BUFFER(r, SCRATCH_WEIGHT_FACTORS_BAR), BUFFER(r, SCRATCH_WITNESS_BAR),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_stride(pass)),
                    ARG_INT(reserve_blocks(pass, blocks)));
}

/* Reverses the tracing steps. A body's own field is recomputed at the points before each step. */
static abut_status trace_back(reverse_pass *pass)
{
  const run *r = pass->run;
  const size_t blocks = lane_blocks(r, pair_slots(r));
  for (uint32_t step = r->pair->smoothing.trace; step-- > 0;) {
    for (int side = 0; side < 2; ++side) {
      const point_set at = witness_set(r, side, step);
      const scratch_id own = OF_SIDE(SCRATCH_OWN_1, side);
      TRY(field_at(r, pass->poses, FIELD_JET, at, FRAME_FROM_1(side), side, own));
      TRY(LAUNCH_RUN(r, KERNEL_TRACE_ADJOINT, blocks, pass->poses, ARG_BUFFER(at.memory),
                     ARG_INT(at.base), ARG_INT(at.stride), BUFFER(r, SCRATCH_FRAMES),
                     BUFFER(r, own), BUFFER(r, SCRATCH_WITNESS_BAR), HEAD(r), ARG_INT(side),
                     SITES(pass, side, (size_t)pass->sites.own[side] + (step + 1) * pair_slots(r)),
                     BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_stride(pass)),
                     ARG_INT(reserve_blocks(pass, blocks))));
    }
  }
  return ABUT_SUCCESS;
}

static abut_status witness_points_back(reverse_pass *pass)
{
  const run *r = pass->run;
  const size_t blocks = lane_blocks(r, pair_slots(r));
  return LAUNCH_RUN(r, KERNEL_EDGE_WITNESSES_ADJOINT, blocks, pass->poses,
                    ARG_BUFFER(edge_ends(r, 0)), ARG_BUFFER(edge_ends(r, 1)),
                    BUFFER(r, SCRATCH_FRAMES), HEAD(r), BUFFER(r, SCRATCH_WITNESS_BAR),
                    ARG_INT(ends_back(r)), BUFFER(r, SCRATCH_PAIR_ENDS_BAR),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_stride(pass)),
                    ARG_INT(reserve_blocks(pass, blocks)));
}

/* ---- selections ---- */

/* A selection of VERTICES_OF or EDGES_OF a side, with scores in SCRATCH_SCORES. */
typedef struct ranked {
  int of, side;
  buffer *source;
  scratch_id index, top, mean, weights, bars, spread;
  kernel_id softsort;
} ranked;

/* Returns whether a selection's scores have cotangents. */
static bool weighed(const run *r)
{
  return !gated(r) || (r->wanted.cotangents & (WANT_ACTIVITY | WANT_WEIGHT));
}

/* Propagates the cotangents of the means (bars) or of the gate weights to SCRATCH_SCORES_BAR. */
static abut_status select_back(const reverse_pass *pass, const ranked *s)
{
  const run *r = pass->run;
  const pair_elements *e = elements(r, s->of);
  const size_t blocks = lane_blocks(r, (size_t)e->padded);
  if (r->wanted.shaped[s->side] && (s->of < EDGES_OF(0) || !is_in_fields(r->pair))) {
    TRY(LAUNCH_RUN(r, KERNEL_SPREAD_KEPT, blocks, pass->poses, BUFFER(r, SCRATCH_SCORES),
                   BUFFER(r, s->top), BUFFER(r, s->weights), BUFFER(r, s->index),
                   BUFFER(r, s->bars), HEAD(r), ARG_INT(s->of), BUFFER(r, s->spread)));
  }
  if (!weighed(r)) { /* gates: only activities and weights depend on the scores */
    return ABUT_SUCCESS;
  }
  if (gated(r)) {
    TRY(LAUNCH_RUN(r, KERNEL_GATE_ADJOINT, pass->poses, 1, BUFFER(r, s->top), HEAD(r),
                   ARG_INT(s->of), BUFFER(r, SCRATCH_WEIGHTS_BAR), BUFFER(r, SCRATCH_RANKED_BAR)));
  } else {
    TRY(LAUNCH_RUN(r, s->softsort, blocks, pass->poses, BUFFER(r, SCRATCH_SCORES),
                   BUFFER(r, s->top), ARG_BUFFER(s->source), HEAD(r), ARG_INT(s->side),
                   BUFFER(r, s->mean), BUFFER(r, s->weights), BUFFER(r, s->bars),
                   BUFFER(r, SCRATCH_SCORES_BAR), BUFFER(r, SCRATCH_RANKED_PARTS)));
    TRY(LAUNCH_RUN(r, KERNEL_RANKED_ADJOINT, (size_t)e->kept + 1, pass->poses,
                   BUFFER(r, SCRATCH_RANKED_PARTS), HEAD(r), ARG_INT(s->of),
                   BUFFER(r, SCRATCH_RANKED_BAR)));
  }
  return LAUNCH_RUN(r, KERNEL_SCORES_ADJOINT, blocks, pass->poses, BUFFER(r, s->index),
                    BUFFER(r, SCRATCH_RANKED_BAR), HEAD(r), ARG_INT(s->of),
                    BUFFER(r, SCRATCH_SCORES_BAR));
}

/* Sums the cotangents of a body's selected edges: of their ends if those are needed, and with
 * gates, of their weights. */
static abut_status kept_edges_back(const reverse_pass *pass, int side)
{
  const run *r = pass->run;
  /* The kernel of edges in fields has written the weights' cotangents, and ends do not move. */
  if (is_in_fields(r->pair)) {
    return ABUT_SUCCESS;
  }
  const size_t blocks = lane_blocks(r, r->pair->layout.edges[side]);
  const bool selected = r->pair->selected_edges[side];
  if (r->wanted.shaped[side] || (!gated(r) && selected)) {
    const scratch_id to = selected ? SCRATCH_ENDS_BAR : OF_SIDE(SCRATCH_ENDS_SPREAD_1, side);
    TRY(LAUNCH_RUN(r, KERNEL_ENDS_ADJOINT, blocks, pass->poses, BUFFER(r, SCRATCH_PAIR_ENDS_BAR),
                   HEAD(r), ARG_INT(side), BUFFER(r, to)));
  }
  if (!gated(r) || !selected) {
    return ABUT_SUCCESS;
  }
  const bool active = (r->wanted.cotangents & WANT_ACTIVITY) != 0;
  if (active) {
    TRY(LAUNCH_RUN(r, KERNEL_WEIGHTS_ADJOINT, blocks, pass->poses, BUFFER(r, SCRATCH_FACTORS_BAR),
                   HEAD(r), ARG_INT(side), ARG_INT(0), BUFFER(r, SCRATCH_WEIGHTS_BAR)));
  }
  return weights_back(r) ? LAUNCH_RUN(r, KERNEL_WEIGHTS_ADJOINT, blocks, pass->poses,
                                      BUFFER(r, SCRATCH_WEIGHT_FACTORS_BAR), HEAD(r), ARG_INT(side),
                                      ARG_INT(active), BUFFER(r, SCRATCH_WEIGHTS_BAR))
                         : ABUT_SUCCESS;
}

static abut_status select_edges_back(reverse_pass *pass, int side)
{
  const run *r = pass->run;
  const resident_body *b = r->bodies[side];
  if (!r->pair->selected_edges[side]) {
    return kept_edges_back(pass, side);
  }
  if (!weighed(r) && !r->wanted.shaped[side]) {
    return ABUT_SUCCESS;
  }
  const ranked s = {EDGES_OF(side),
                    side,
                    b->edge_ends,
                    OF_SIDE(SCRATCH_EDGE_INDEX_1, side),
                    OF_SIDE(SCRATCH_EDGE_TOP_1, side),
                    OF_SIDE(SCRATCH_ENDS_1, side),
                    OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side),
                    SCRATCH_ENDS_BAR,
                    OF_SIDE(SCRATCH_ENDS_SPREAD_1, side),
                    KERNEL_SOFTSORT_EDGES_ADJOINT};
  TRY(kept_edges_back(pass, side));
  TRY(edge_score_kernel(r, pass->poses, side));
  TRY(select_back(pass, &s));
  if (!weighed(r)) {
    return ABUT_SUCCESS;
  }
  pass->scored[side] = true;
  return LAUNCH_RUN(r, KERNEL_EDGE_SCORES_ADJOINT, b->vertex_padded, pass->poses,
                    BUFFER(r, SCRATCH_SCORES_BAR), ARG_BUFFER(b->edge_starts),
                    ARG_BUFFER(b->edges_at), HEAD(r), ARG_INT(side),
                    BUFFER(r, OF_SIDE(SCRATCH_FIELD_BAR_1, side)));
}

/* ---- features ---- */

static size_t rails_at(const run *r, int side)
{
  return is_in_fields(r->pair) ? feature_rails_at(r->pair->touching[side]) : 0;
}

static size_t radii_at(const run *r, int side)
{
  return is_in_fields(r->pair) ? feature_radii_at(r->pair->touching[side]) : 0;
}

/* Adds a selection's scores' contributions to a body's features, by their index in its row. */
static abut_status scores_back(const reverse_pass *pass, int of, size_t at, size_t step)
{
  const run *r = pass->run;
  const int side = of % 2;
  return LAUNCH_RUN(r, KERNEL_SCORES_BY_SHAPE, (size_t)elements(r, of)->count, pass->poses,
                    BUFFER(r, SCRATCH_SCORES_BAR), HEAD(r), ARG_INT(of), FEATURES(pass, side, at),
                    ARG_INT(step));
}

/* Clears the rows of features, since kernels only write the selected ones. */
static abut_status clear_rows(reverse_pass *pass)
{
  const run *r = pass->run;
  for (int side = 0; side < 2; ++side) {
    if (r->wanted.shaped[side] && is_in_fields(r->pair)) {
      const shaped_body b = shaped_of(r->pair, side);
      const size_t first = shape_row_first(&b);
      pass->rows[side] = shape_row_width(&b, (size_t)pass->sites.count[side]);
      TRY(LAUNCH_RUN(r, KERNEL_CLEAR_FEATURES, first, pass->poses,
                     BUFFER(r, OF_SIDE(SCRATCH_SHAPE_1, side)), ARG_INT(pass->rows[side]),
                     ARG_INT(first)));
    }
  }
  return ABUT_SUCCESS;
}

/* Reverses the contacts of one body's edges with the other's field. */
static abut_status edge_field_back(reverse_pass *pass, int side)
{
  const run *r = pass->run;
  const resident_body *other = r->bodies[!side];
  const size_t blocks = lane_blocks(r, r->pair->layout.edges[side]);
  TRY(LAUNCH_RUN(r, KERNEL_EDGES_IN_FIELD_ADJOINT, blocks, pass->poses, edge_rails(r, side),
                 BUFFER(r, OF_SIDE(SCRATCH_EDGE_INDEX_1, side)),
                 BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)), BUFFER(r, SCRATCH_FRAMES),
                 ARG_BUFFER(other->head), ARG_BUFFER(other->shape), HEAD(r), ARG_INT(side),
                 BUFFER(r, OF_SIDE(SCRATCH_PLACES_1, side)), ARG_INT(r->wanted.cotangents),
                 OUTPUT_BAR_BUFFERS, ARG_INT(r->wanted.shared_d),
                 ARG_INT(r->wanted.shared_activity), BUFFER(r, SCRATCH_WEIGHTS_BAR),
                 FEATURES(pass, side, rails_at(r, side)),
                 SITES(pass, !side, pass->sites.edges[!side]), BUFFER(r, SCRATCH_WRENCHES),
                 ARG_INT(wrench_stride(pass)), ARG_INT(reserve_blocks(pass, blocks))));
  if (!r->pair->selected_edges[side]) {
    return ABUT_SUCCESS;
  }
  TRY(select_edges_back(pass, side));
  return pass->rows[side] && weighed(r)
           ? scores_back(pass, EDGES_OF(side), rails_at(r, side) + EDGE_SCORE, BY_RAIL)
           : ABUT_SUCCESS;
}

static abut_status edges_back(reverse_pass *pass)
{
  if (pass->run->wanted.cotangents & WANT_ACTIVITY) {
    TRY(neighbours_back(pass));
  }
  TRY(edge_contacts_back(pass));
  TRY(weights_back(pass->run) ? weights_of_edges_back(pass) : ABUT_SUCCESS);
  TRY(trace_back(pass));
  TRY(witness_points_back(pass));
  TRY(select_edges_back(pass, 0));
  return select_edges_back(pass, 1);
}

/* ---- vertices ---- */

/* Vertices with a field: all of a body's, or the selected ones. */
typedef struct vertex_set {
  point_set points;
  scratch_id field;
  field_kind kind;
  bool kept;
} vertex_set;

static abut_status vertices_back(reverse_pass *pass, int side, const vertex_set *v, int have,
                                 bool scored)
{
  const run *r = pass->run;
  const bool contacts = v->kept ||
                        (r->pair->layout.vertices[side] && !r->pair->selected_vertices[side]);
  const size_t row = contacts ? pass->rows[side] : 0;
  const size_t slots = v->points.padded, blocks = lane_blocks(r, slots);
  const bool shaped = r->wanted.shaped[side];
  const scratch_id bar = v->kept ? SCRATCH_KEPT_BAR : OF_SIDE(SCRATCH_VERTEX_BAR_1, side);
  const int *first = v->kept ? pass->sites.kept : pass->sites.vertices;
  return LAUNCH_RUN(r, KERNEL_VERTEX_ADJOINT, blocks, pass->poses, ARG_BUFFER(v->points.memory),
                    ARG_BUFFER(r->bodies[side]->order), BUFFER(r, v->field),
                    ARG_INT(field_planes(v->kind) * slots),
                    ARG_INT(v->kind == FIELD_JET ? JET_PLANE_GRADIENT : 1),
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_WEIGHTS_1, side)), vertex_radii(r, side),
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_INDEX_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_FIELD_BAR_1, side)), ARG_INT(scored),
                    BUFFER(r, SCRATCH_FRAMES), HEAD(r), ARG_INT(side), ARG_INT(v->kept),
                    ARG_INT(v->kept || shaped), ARG_INT(have), OUTPUT_BAR_BUFFERS,
                    ARG_INT(r->wanted.shared_d), ARG_INT(r->wanted.shared_activity), BUFFER(r, bar),
                    BUFFER(r, SCRATCH_WEIGHTS_BAR), BUFFER(r, OF_SIDE(SCRATCH_SHAPE_1, side)),
                    ARG_INT(row), ARG_INT(radii_at(r, side)), SITES(pass, !side, first[!side]),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_stride(pass)),
                    ARG_INT(reserve_blocks(pass, blocks)));
}

static abut_status select_vertices_back(reverse_pass *pass, int side)
{
  const run *r = pass->run;
  const resident_body *b = r->bodies[side];
  const vertex_set v = {kept_vertices(r, side), OF_SIDE(SCRATCH_KEPT_FIELD_1, side),
                        contact_field_kind(r), true};
  TRY(vertices_back(pass, side, &v, r->wanted.cotangents, false));
  const ranked s = {VERTICES_OF(side),
                    side,
                    b->vertex_planes,
                    OF_SIDE(SCRATCH_VERTEX_INDEX_1, side),
                    OF_SIDE(SCRATCH_VERTEX_TOP_1, side),
                    OF_SIDE(SCRATCH_KEPT_VERTICES_1, side),
                    OF_SIDE(SCRATCH_VERTEX_WEIGHTS_1, side),
                    SCRATCH_KEPT_BAR,
                    OF_SIDE(SCRATCH_KEPT_SPREAD_1, side),
                    KERNEL_SOFTSORT_VERTICES_ADJOINT};
  const bool scores = !gated(r) || (r->wanted.cotangents & WANT_ACTIVITY);
  if (!scores && !r->wanted.shaped[side]) {
    return ABUT_SUCCESS;
  }
  TRY(vertex_score_kernel(r, pass->poses, side));
  TRY(select_back(pass, &s));
  if (!scores) {
    return ABUT_SUCCESS;
  }
  TRY(pass->rows[side] ? scores_back(pass, VERTICES_OF(side), radii_at(r, side), 1) : ABUT_SUCCESS);
  TRY(LAUNCH_RUN(r, KERNEL_VERTEX_SCORES_ADJOINT, b->vertex_padded, pass->poses,
                 BUFFER(r, SCRATCH_SCORES_BAR), ARG_BUFFER(b->order), HEAD(r), ARG_INT(side),
                 ARG_INT(pass->scored[side]), BUFFER(r, OF_SIDE(SCRATCH_FIELD_BAR_1, side))));
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
  const vertex_set all = {{b->sorted_planes, 0, 0, b->vertex_padded},
                          OF_SIDE(SCRATCH_FIELD_1, side),
                          vertex_field_kind(r, side),
                          false};
  return vertices_back(pass, side, &all, contacts ? r->wanted.cotangents : 0, pass->scored[side]);
}

static abut_status middles_back(reverse_pass *pass)
{
  const run *r = pass->run;
  return LAUNCH_RUN(r, KERNEL_MIDDLES_ADJOINT, 1, pass->poses, BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(r->bodies[0]->head), ARG_BUFFER(r->bodies[1]->head),
                    ARG_BUFFER(r->bodies[0]->shape), ARG_BUFFER(r->bodies[1]->shape), HEAD(r),
                    BUFFER(r, SCRATCH_MIDDLES_BAR), ARG_STRUCT(pass->sites),
                    BUFFER(r, SCRATCH_SITES_1), BUFFER(r, SCRATCH_SITES_2),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_stride(pass)),
                    ARG_INT(reserve_blocks(pass, 1)));
}

abut_status run_wrenches(const run *r, size_t poses)
{
  reverse_pass pass = {r, run_sites(r), poses, 0, wrench_blocks(r), {false, false}, {0, 0}};
  TRY(clear_rows(&pass));
  /* The stages of run_forward in reverse: pairs of edges, edges in fields, vertices of either body,
   * depths of whole bodies. */
  if (edges_run(r)) {
    TRY(edges_back(&pass));
  }
  for (int side = 0; side < 2; ++side) {
    TRY(edges_in_fields(r, side) ? edge_field_back(&pass, side) : ABUT_SUCCESS);
  }
  TRY(side_back(&pass, 0));
  TRY(side_back(&pass, 1));
  TRY(r->wanted.middles_back ? middles_back(&pass) : ABUT_SUCCESS);
  if (pass.next_block != pass.blocks) { /* blocks that were not written would be summed */
    return fail(ABUT_ERROR_ARGUMENT,
                "the kernels left %zu blocks of wrenches per pose, expected %zu", pass.next_block,
                pass.blocks);
  }
  return ABUT_SUCCESS;
}

abut_status run_reverse(const run *r, size_t poses)
{
  TRY(run_wrenches(r, poses));
  return LAUNCH_RUN(r, KERNEL_POSES_ADJOINT, poses, 1, BUFFER(r, SCRATCH_POSE_1),
                    BUFFER(r, SCRATCH_POSE_2), BUFFER(r, SCRATCH_TANGENT_1),
                    BUFFER(r, SCRATCH_TANGENT_2), ARG_INT(r->pose_width), BUFFER(r, SCRATCH_FRAMES),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(wrench_blocks(r)),
                    BUFFER(r, SCRATCH_STATUS), BUFFER(r, SCRATCH_GRADIENT_1),
                    BUFFER(r, SCRATCH_GRADIENT_2));
}
