/* Computes only active contacts, by the kernels of near*.cl and listed*.cl in cl/kernels/manifold.
 * The cutoff is the larger of the smoothing's floor and the list's threshold. Bounds select what
 * can reach the cutoff, and only that is computed. The result equals the full computation except
 * for rounding. */
#include "contact/active.h"

#include "base/error.h"
#include "body/features.h"
#include "geometry/layout.h"
#include "contact/pair_head.h"
#include <math.h>

/* Bounds have rounding errors. This margin below the cutoff keeps them safe. */
#define CUTOFF_SLACK (1.0 - 1e-4)
/* A witness point is beyond an end of its edge by at most this share of the edge, times `compare`:
 * the largest value of x / (1 + exp(x)) is 0.2785. */
#define OVERSHOOT 0.28

double active_cutoff(const pair *p, double threshold)
{
  return CUTOFF_SLACK * fmax(p->smoothing.floor, threshold);
}

/* In some cases everything must be computed: SoftSort reads every score, tracing moves points
 * without a bound, and retained vertices and edges in fields are ranked by exact distances. */
bool pair_can_skip_inactive(const pair *p, double cutoff)
{
  const bool in_fields = is_in_fields(p);
  const bool edges = in_fields ? p->layout.edges[0] || p->layout.edges[1]
                               : p->layout.edges[0] && p->layout.edges[1];
  const bool selects = p->selected_edges[0] || p->selected_edges[1];
  const bool gates = p->smoothing.select == ABUT_SELECT_GATE;
  return cutoff > 0.0 && cutoff < 1.0 && !p->selected_vertices[0] && !p->selected_vertices[1] &&
         !(edges && (in_fields ? selects : p->smoothing.trace || (selects && !gates)));
}

bool can_skip_inactive(const run *r, double cutoff)
{
  return pair_can_skip_inactive(r->pair, cutoff);
}

/* Returns the distance at which [phi <= margin] falls to the cutoff. */
static double reach_of(const abut_smoothing *s, double cutoff)
{
  return s->margin + s->penetration * log(1.0 / cutoff - 1.0);
}

/* Vertices may evaluate the field inside their bodies, which adds this distance. */
static double vertex_reach(const run *r)
{
  return reach_of(&r->pair->smoothing, r->wanted.cutoff) + r->pair->smoothing.cone_inset;
}

/* The same distance, clamped to 0. Bounds give distances of points outside, but not depths. */
double active_reach(const abut_smoothing *s, double cutoff)
{
  return fmax(reach_of(s, cutoff), 0.0);
}

static double bound_reach(const run *r)
{
  return active_reach(&r->pair->smoothing, r->wanted.cutoff);
}

double edge_overshoot(const abut_smoothing *s)
{
  return OVERSHOOT * s->compare;
}

double edge_part(const abut_smoothing *s)
{
  return fmax(0.5, edge_overshoot(s));
}

/* Returns whether a selection ranks the body's edges. */
static bool selects(const run *r, int side)
{
  return edges_run(r) && r->pair->selected_edges[side];
}

/* The reach was measured for 18 edges of a body. Selected edges cover an area, whose width grows
 * with the square root of their number. */
#define SCORED_EDGES 2.0 /* in mean lengths of an edge */
double scored_reach(const resident_body *b, size_t selected)
{
  return SCORED_EDGES * sqrt((double)selected / 18.0) * b->mean_edge;
}

bool lists_vertices(const run *r, int side)
{
  return r->pair->layout.vertices[side] != 0;
}

static bool needs_field(const run *r, int side)
{
  return lists_vertices(r, side) || selects(r, side);
}

/* ---- sizes ---- */

size_t near_plane(const run *r)
{
  return (size_t)r->on->sizes.near_plane;
}

void active_sizes(const run *r, sizes *s)
{
  const size_t plane = near_plane(r);
  s->integer[SCRATCH_PLAN] = PLAN_INTS;
  s->number[SCRATCH_MIDDLES] = r->wanted.middles ? 2 : 0;
  s->real[SCRATCH_REACHES] = 2;
  s->real[SCRATCH_REDUCED] = r->wanted.reduced ? REDUCED_REALS : 0;
  s->integer[SCRATCH_COUNTS] = 1;
  s->integer[SCRATCH_OFFSETS] = 2; /* enough for poses + 1 in every chunk */
  for (int side = 0; side < 2; ++side) {
    const resident_body *b = r->bodies[side];
    s->real[SCRATCH_BALL_BOUNDS_1 + side] = b->ball_padded;
    if (needs_field(r, side)) {
      s->number[SCRATCH_FIELD_1 + side] = b->vertex_padded;
    }
    if (lists_vertices(r, side)) {
      s->integer[SCRATCH_VERTEX_LIST_1 + side] = b->vertex_padded + 1;
      s->integer[SCRATCH_LISTED_AT_1 + side] = b->vertex_padded;
      s->number[SCRATCH_VERTEX_VALUES_1 + side] = VALUE_PLANES * b->vertex_padded;
    }
  }
  if (edges_run(r)) {
    s->integer[SCRATCH_TOUCH] = 1;
    s->number[SCRATCH_NEAR_PAIRS] = near_stride_of(&r->on->sizes, device_lanes(r->device));
    s->integer[SCRATCH_NEAR_LIST] = s->integer[SCRATCH_PAIR_LIST] = plane + 1;
    s->number[SCRATCH_OWN_1] = s->number[SCRATCH_OWN_2] = FIELD_PLANES * plane;
    s->number[SCRATCH_PAIR_VALUES] = 2 * VALUE_PLANES * plane;
  }
  if (fields_run(r)) {
    const pair_sizes *n = &r->on->sizes;
    s->integer[SCRATCH_PAIR_LIST] = (size_t)EDGE_LIST_STRIDE(n);
    s->number[SCRATCH_PAIR_VALUES] = VALUE_PLANES * (size_t)EDGE_ENTRIES_STRIDE(n);
    s->integer[SCRATCH_PAIR_ENTRIES] = r->wanted.listed ? (size_t)EDGE_ENTRIES_STRIDE(n) : 0;
  }
  if (r->wanted.listed) {
    s->integer[SCRATCH_SEGMENTS] = SEGMENT_INTS;
    if (edges_run(r)) {
      s->integer[SCRATCH_PAIR_ENTRIES] = 2 * plane;
    }
  }
  if (r->wanted.cotangents) {
    active_reverse_sizes(r, s);
  }
}

/* ---- vertices ---- */

/* Arguments by which a kernel for both bodies reads their shapes. */
#define SHAPES(r)                                                     \
  ARG_BUFFER((r)->bodies[0]->head), ARG_BUFFER((r)->bodies[1]->head), \
    ARG_BUFFER((r)->bodies[0]->shape), ARG_BUFFER((r)->bodies[1]->shape)
#define BOTH(r, member) ARG_BUFFER((r)->bodies[0]->member), ARG_BUFFER((r)->bodies[1]->member)
#define BUFFERS(r, id) BUFFER(r, id), BUFFER(r, OF_SIDE(id, 1))

/* Returns the number of vertex blocks of a body to process: 0 if its vertices are not needed. */
static size_t vertex_blocks(const run *r, int side, bool counts)
{
  return counts ? lane_blocks(r, r->bodies[side]->vertex_padded) : 0;
}

static abut_status bounds(const run *r, size_t poses)
{
  const size_t blocks1 = lane_blocks(r, r->bodies[0]->ball_padded);
  const size_t blocks2 = lane_blocks(r, r->bodies[1]->ball_padded);
  return LAUNCH_RUN(r, KERNEL_NEAR_BOUNDS, blocks1 + blocks2, poses, BOTH(r, vertex_balls),
                    BUFFER(r, SCRATCH_FRAMES), SHAPES(r), HEAD(r), ARG_INT(blocks1),
                    ARG_INT(blocks2), BUFFERS(r, SCRATCH_BALL_BOUNDS_1));
}

/* Returns the largest distance from the opposing body of a vertex block with a touching edge. */
static double block_reach(const run *r, int side)
{
  return bound_reach(r) + edge_part(&r->pair->smoothing) * r->bodies[side]->longest_edge;
}

static abut_status touch(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_NEAR_TOUCH, poses, 1, BOTH(r, sorted_planes), BOTH(r, longest_edges),
                    BUFFERS(r, SCRATCH_BALL_BOUNDS_1), ARG_REAL(bound_reach(r)),
                    ARG_REAL(block_reach(r, 0)), ARG_REAL(block_reach(r, 1)),
                    BUFFER(r, SCRATCH_FRAMES), SHAPES(r), HEAD(r), BUFFER(r, SCRATCH_TOUCH));
}

/* Decides for each pose whether edges matter, and below which distances the fields must be exact.
 * With `given`, the caller's list, which has been read already, decides whether edges matter. */
static abut_status plan(const run *r, size_t poses, bool given)
{
  TRY(bounds(r, poses));
  TRY(edges_run(r) && !given ? touch(r, poses) : ABUT_SUCCESS);
  return LAUNCH_RUN(r, KERNEL_NEAR_PLAN, poses, 1, BUFFER(r, SCRATCH_BALL_BOUNDS_1),
                    BUFFER(r, SCRATCH_BALL_BOUNDS_2), BUFFER(r, SCRATCH_TOUCH),
                    ARG_REAL(given ? 0.0 : bound_reach(r)), ARG_INT(given), ARG_INT(poses), HEAD(r),
                    BUFFER(r, SCRATCH_PLAN), BUFFER(r, SCRATCH_REACHES));
}

static abut_status near_field(const run *r, size_t poses, const bool counts[2])
{
  const size_t blocks1 = vertex_blocks(r, 0, counts[0]), blocks2 = vertex_blocks(r, 1, counts[1]);
  return LAUNCH_RUN(r, KERNEL_NEAR_FIELD, blocks1 + blocks2, poses, BOTH(r, sorted_planes),
                    BUFFERS(r, SCRATCH_BALL_BOUNDS_1), BUFFER(r, SCRATCH_REACHES),
                    BUFFER(r, SCRATCH_FRAMES), SHAPES(r), HEAD(r), ARG_INT(blocks1),
                    ARG_INT(blocks2), BUFFERS(r, SCRATCH_FIELD_1));
}

/* Lists the near vertices of the bodies whose vertices make contacts. */
static abut_status list_vertices(const run *r, size_t poses)
{
  const int first = lists_vertices(r, 0) ? 0 : 1,
            sides = lists_vertices(r, 1) ? 2 - first : 1 - first;
  return LAUNCH_RUN(r, KERNEL_NEAR_VERTICES, (size_t)sides * poses, 1, BUFFERS(r, SCRATCH_FIELD_1),
                    ARG_REAL(vertex_reach(r)), BOTH(r, order), vertex_radii(r, 0),
                    vertex_radii(r, 1), HEAD(r), ARG_INT(first), ARG_INT(sides),
                    BUFFERS(r, SCRATCH_VERTEX_LIST_1), BUFFERS(r, SCRATCH_LISTED_AT_1));
}

static abut_status vertex_values(const run *r, size_t poses, bool given)
{
  const size_t blocks1 = vertex_blocks(r, 0, lists_vertices(r, 0));
  const size_t blocks2 = vertex_blocks(r, 1, lists_vertices(r, 1));
  return LAUNCH_RUN(r, KERNEL_LISTED_VERTICES, blocks1 + blocks2, poses, BOTH(r, sorted_planes),
                    BUFFERS(r, SCRATCH_VERTEX_LIST_1), BUFFERS(r, SCRATCH_FIELD_1),
                    vertex_radii(r, 0), vertex_radii(r, 1), ARG_INT(given),
                    ARG_REAL(given ? HUGE_VAL : vertex_reach(r)), BUFFER(r, SCRATCH_FRAMES),
                    SHAPES(r), HEAD(r), ARG_INT(blocks1), ARG_INT(blocks2),
                    ARG_INT(r->wanted.arrays), BUFFERS(r, SCRATCH_VERTEX_VALUES_1));
}

/* ---- edges ---- */

static abut_status select_near(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side], *other = r->bodies[!side];
  TRY(LAUNCH_RUN(r, KERNEL_NEAR_SELECT, poses, 1, BUFFER(r, SCRATCH_SCORES),
                 BUFFER(r, OF_SIDE(SCRATCH_FIELD_1, side)),
                 BUFFER(r, OF_SIDE(SCRATCH_BALL_BOUNDS_1, side)), BUFFER(r, SCRATCH_REACHES),
                 ARG_BUFFER(b->edge_index), ARG_BUFFER(b->edge_ends), HEAD(r), ARG_INT(side),
                 BUFFER(r, SCRATCH_PLAN), BUFFER(r, OF_SIDE(SCRATCH_EDGE_INDEX_1, side)),
                 BUFFER(r, OF_SIDE(SCRATCH_EDGE_TOP_1, side)),
                 BUFFER(r, OF_SIDE(SCRATCH_ENDS_1, side)),
                 BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side))));
  return LAUNCH_RUN(r, KERNEL_NEAR_AGAIN, poses, 1, ARG_BUFFER(b->sorted_planes),
                    BUFFER(r, SCRATCH_SCORES), BUFFER(r, OF_SIDE(SCRATCH_FIELD_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_BALL_BOUNDS_1, side)), ARG_BUFFER(b->edge_index),
                    ARG_BUFFER(b->edge_ends), BUFFER(r, SCRATCH_PLAN), BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(other->head), ARG_BUFFER(other->shape), HEAD(r), ARG_INT(side),
                    BUFFER(r, OF_SIDE(SCRATCH_EDGE_INDEX_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_EDGE_TOP_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_ENDS_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_EDGE_WEIGHTS_1, side)));
}

static abut_status list_near_pairs(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_NEAR_PAIRS, poses, 1, ARG_BUFFER(edge_ends(r, 0)),
                    ARG_BUFFER(edge_ends(r, 1)), BUFFER(r, SCRATCH_EDGE_WEIGHTS_1),
                    BUFFER(r, SCRATCH_EDGE_WEIGHTS_2), BUFFER(r, SCRATCH_FRAMES), HEAD(r),
                    BUFFER(r, SCRATCH_PLAN), ARG_REAL(r->wanted.cutoff),
                    BUFFER(r, SCRATCH_NEAR_PAIRS), BUFFER(r, SCRATCH_NEAR_LIST));
}

/* Finds the opposing body's distance at the points on both bodies of the pairs in `list`. */
static abut_status opposing(const run *r, size_t poses, scratch_id list, double reach)
{
  const size_t blocks = lane_blocks(r, near_plane(r));
  return LAUNCH_RUN(r, KERNEL_NEAR_OPPOSING, 2 * blocks, poses, BUFFER(r, SCRATCH_NEAR_PAIRS),
                    BUFFER(r, list), ARG_REAL(reach), BUFFER(r, SCRATCH_FRAMES), SHAPES(r), HEAD(r),
                    ARG_INT(blocks));
}

static abut_status own(const run *r, size_t poses)
{
  const size_t blocks = lane_blocks(r, near_plane(r));
  return LAUNCH_RUN(r, KERNEL_LISTED_OWN, 2 * blocks, poses, BUFFER(r, SCRATCH_NEAR_PAIRS),
                    BUFFER(r, SCRATCH_PAIR_LIST), BUFFER(r, SCRATCH_FRAMES), SHAPES(r), HEAD(r),
                    ARG_INT(blocks), BUFFERS(r, SCRATCH_OWN_1));
}

/* Selects edges, and computes everything about their pairs that needs no field. */
static abut_status near_pairs(const run *r, size_t poses)
{
  for (int side = 0; side < 2; ++side) {
    TRY(selects(r, side) ? select_near(r, poses, side) : ABUT_SUCCESS);
  }
  return list_near_pairs(r, poses);
}

static abut_status list_active_pairs(const run *r, size_t poses)
{
  TRY(near_pairs(r, poses));
  TRY(opposing(r, poses, SCRATCH_NEAR_LIST, bound_reach(r)));
  return LAUNCH_RUN(r, KERNEL_NEAR_ACTIVE, poses, 1, BUFFER(r, SCRATCH_NEAR_PAIRS),
                    BUFFER(r, SCRATCH_NEAR_LIST), ARG_REAL(r->wanted.cutoff), HEAD(r),
                    BUFFER(r, SCRATCH_PAIR_LIST));
}

static abut_status pair_values(const run *r, size_t poses)
{
  TRY(own(r, poses));
  return LAUNCH_RUN(r, KERNEL_LISTED_PAIRS, lane_blocks(r, near_plane(r)), poses,
                    BUFFER(r, SCRATCH_NEAR_PAIRS), BUFFER(r, SCRATCH_PAIR_LIST),
                    BUFFER(r, SCRATCH_OWN_1), BUFFER(r, SCRATCH_OWN_2), BUFFER(r, SCRATCH_FRAMES),
                    HEAD(r), ARG_INT(r->wanted.arrays), BUFFER(r, SCRATCH_PAIR_VALUES));
}

/* ---- edges in fields ---- */

/* An upper bound on a field's slope relative to the true distance, by which distances of edges are
 * divided: the ray from the centre of a superquadric is longer than the distance. */
#define SLOPE_MOST 3.0

double field_slope(const abut_body_info *field)
{
  return field->superquadrics || field->pointclouds || field->height_fields ? SLOPE_MOST : 1.0;
}

double edge_field_reach(const body *const bodies[2], int side, double reach)
{
  const body *of = bodies[side];
  const double slope = field_slope(&bodies[!side]->info);
  double most = 0.0;
  for (size_t i = 0; slope > 1.0 && i < of->touches->edge_count; ++i) {
    most = fmax(most, of->touches->edges[i].radius);
  }
  return slope * (reach + of->inset) + (slope - 1.0) * most;
}

static abut_status list_edges(const run *r, size_t poses)
{
  const body *const bodies[2] = {r->pair->touching[0], r->pair->touching[1]};
  const double reach = bound_reach(r);
  return LAUNCH_RUN(r, KERNEL_EDGES_NEAR, 2 * poses, 1, edge_rails(r, 0), edge_rails(r, 1),
                    BUFFER(r, SCRATCH_FRAMES), SHAPES(r), HEAD(r),
                    ARG_REAL(edge_field_reach(bodies, 0, reach)),
                    ARG_REAL(edge_field_reach(bodies, 1, reach)), BUFFERS(r, SCRATCH_PLACES_1),
                    BUFFER(r, SCRATCH_PAIR_LIST));
}

/* Lanes hold edges of a group of poses, so that few listed edges fill them. A group has as many
 * work-items as SHARED_POSES poses would need if all their edges were listed. */
#define SHARED_POSES 4

static size_t edge_packs(const run *r, int side, size_t poses)
{
  const size_t blocks = edges_in_fields(r, side) ? lane_blocks(r, r->pair->layout.edges[side]) : 0;
  const size_t group = poses < device_lanes(r->device) ? poses : device_lanes(r->device);
  return blocks * (group < SHARED_POSES ? group : SHARED_POSES);
}

static abut_status edge_values(const run *r, size_t poses)
{
  const size_t packs1 = edge_packs(r, 0, poses), packs2 = edge_packs(r, 1, poses);
  const size_t lanes = device_lanes(r->device), groups = (poses + lanes - 1) / lanes;
  return LAUNCH_RUN(r, KERNEL_LISTED_EDGES, packs1 + packs2, groups, edge_rails(r, 0),
                    edge_rails(r, 1), BUFFER(r, SCRATCH_PAIR_LIST), BUFFER(r, SCRATCH_FRAMES),
                    SHAPES(r), HEAD(r), ARG_INT(packs1), ARG_INT(packs2), ARG_INT(poses),
                    ARG_INT(r->wanted.arrays), BUFFERS(r, SCRATCH_PLACES_1),
                    BUFFER(r, SCRATCH_PAIR_VALUES));
}

/* ---- active contacts ---- */

abut_status run_active(const run *r, size_t poses)
{
  TRY(run_frames(r, poses));
  TRY(r->wanted.middles ? run_middles(r, poses) : ABUT_SUCCESS);
  TRY(plan(r, poses, false));
  TRY(near_field(r, poses, (const bool[]){needs_field(r, 0), needs_field(r, 1)}));
  if (edges_run(r)) {
    TRY(list_active_pairs(r, poses));
    TRY(pair_values(r, poses));
  }
  if (fields_run(r)) {
    TRY(list_edges(r, poses));
    TRY(edge_values(r, poses));
  }
  TRY(list_vertices(r, poses));
  return vertex_values(r, poses, false);
}

/* Arguments by which counts and sums read both bodies' listed vertices, the listed pairs, and their
 * values. */
#define LISTED_VALUES(r)                                                  \
  BUFFER(r, SCRATCH_VERTEX_LIST_1), BUFFER(r, SCRATCH_VERTEX_VALUES_1),   \
    BUFFER(r, SCRATCH_VERTEX_LIST_2), BUFFER(r, SCRATCH_VERTEX_VALUES_2), \
    BUFFER(r, SCRATCH_PAIR_LIST), BUFFER(r, SCRATCH_PAIR_VALUES), HEAD(r)

abut_status run_active_sums(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_LISTED_SUMS, poses, 1, LISTED_VALUES(r), BUFFER(r, SCRATCH_FRAMES),
                    BUFFER(r, SCRATCH_REDUCED));
}

abut_status run_active_counts(const run *r, size_t poses, double threshold)
{
  TRY(LAUNCH_RUN(r, KERNEL_LISTED_COUNT, poses, 1, LISTED_VALUES(r), ARG_REAL(threshold),
                 BUFFER(r, SCRATCH_COUNTS)));
  return LAUNCH_RUN(r, KERNEL_OFFSETS, 1, 1, BUFFER(r, SCRATCH_COUNTS), ARG_INT(poses),
                    BUFFER(r, SCRATCH_OFFSETS));
}

abut_status run_entries(const run *r, size_t poses, double threshold, size_t capacity)
{
  const size_t real = device_real_bytes(r->device);
  buffer_pool *all = r->memory->pool;
  TRY(buffer_pool_prepare(all, r->device, SCRATCH_LIST, capacity * COMPACT_INTS * sizeof(int)));
  TRY(buffer_pool_prepare(all, r->device, SCRATCH_VALUES, capacity * COMPACT_REALS * real));
  return LAUNCH_RUN(r, KERNEL_LISTED_ENTRIES, poses, 1, BUFFER(r, SCRATCH_LISTED_AT_1),
                    BUFFER(r, SCRATCH_VERTEX_VALUES_1), BUFFER(r, SCRATCH_LISTED_AT_2),
                    BUFFER(r, SCRATCH_VERTEX_VALUES_2), BUFFER(r, SCRATCH_PAIR_LIST),
                    BUFFER(r, SCRATCH_PAIR_VALUES), BUFFER(r, SCRATCH_EDGE_INDEX_1),
                    BUFFER(r, SCRATCH_EDGE_INDEX_2), HEAD(r), ARG_REAL(threshold),
                    ARG_INT(r->wanted.arrays), BUFFER(r, SCRATCH_OFFSETS), ARG_INT(capacity),
                    BUFFER(r, SCRATCH_LIST), BUFFER(r, SCRATCH_VALUES));
}

/* ---- the caller's list ---- */

static abut_status read_list(const run *r, size_t poses, const entry_list *list)
{
  const resident_body *const *b = r->bodies;
  return LAUNCH_RUN(r, KERNEL_ENTRIES_LISTED, poses, 1, ENTRY_LIST(list), ARG_BUFFER(b[0]->rank),
                    ARG_BUFFER(b[1]->rank), HEAD(r), ARG_INT(poses),
                    BUFFER(r, SCRATCH_VERTEX_LIST_1), BUFFER(r, SCRATCH_VERTEX_LIST_2),
                    BUFFER(r, SCRATCH_PAIR_LIST), BUFFER(r, SCRATCH_PAIR_ENTRIES),
                    BUFFER(r, SCRATCH_SEGMENTS), BUFFER(r, SCRATCH_PLAN));
}

abut_status run_listed(const run *r, size_t poses, const entry_list *list)
{
  TRY(run_frames(r, poses));
  TRY(read_list(r, poses, list));
  if (!edges_run(r)) {
    return ABUT_SUCCESS;
  }
  TRY(plan(r, poses, true));
  TRY(near_field(r, poses, (const bool[]){selects(r, 0), selects(r, 1)}));
  return near_pairs(r, poses);
}

abut_status run_listed_values(const run *r, size_t poses)
{
  if (edges_run(r)) {
    TRY(opposing(r, poses, SCRATCH_PAIR_LIST, HUGE_VAL));
    TRY(pair_values(r, poses));
  }
  TRY(fields_run(r) ? edge_values(r, poses) : ABUT_SUCCESS);
  return vertex_values(r, poses, true);
}

abut_status run_listed_rows(const run *r, size_t poses, size_t first, size_t room)
{
  return LAUNCH_RUN(r, KERNEL_ENTRIES_GATHERED, poses, 1, BUFFER(r, SCRATCH_SEGMENTS),
                    BUFFER(r, SCRATCH_VERTEX_VALUES_1), BUFFER(r, SCRATCH_VERTEX_VALUES_2),
                    BUFFER(r, SCRATCH_PAIR_LIST), BUFFER(r, SCRATCH_PAIR_ENTRIES),
                    BUFFER(r, SCRATCH_PAIR_VALUES), HEAD(r), ARG_INT(first), ARG_INT(room),
                    BUFFER(r, SCRATCH_FRAMES), BUFFER(r, SCRATCH_ROWS));
}

abut_status run_picked_rows(const run *r, size_t poses, const entry_list *list, size_t first,
                            size_t room)
{
  return LAUNCH_RUN(r, KERNEL_ENTRIES_PICKED, poses, 1, ENTRY_LIST(list), ARG_INT(first),
                    ARG_INT(room), OUTPUT_BUFFERS, HEAD(r), ARG_INT(r->wanted.arrays),
                    BUFFER(r, SCRATCH_ROWS));
}
