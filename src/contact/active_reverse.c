/* The reverse pass from cotangents of listed contacts to gradients of the poses. It launches the
 * adjoints of listed.cl, near_pairs.cl and near_edges.cl in the reverse order of active.c. Each
 * work-item of a kernel's work-groups writes a block of wrenches. */
#include "base/error.h"
#include "geometry/layout.h"
#include "contact/active.h"

/* The kernels that write wrenches, in the order of their blocks: for the vertices of both bodies;
 * for edges, for the pairs' fields, their witness points and both selections. */
enum { OF_VERTICES, OF_FIELDS = 2, OF_WITNESSES, OF_SELECTIONS, WITH_PAIRS = 6 };
enum { OF_EDGES = 2, WITH_EDGES = 4 }; /* for edges in fields: both bodies' edges */

static size_t group(const run *r)
{
  return device_group(r->device, MODULE_MANIFOLD);
}

static size_t blocks(const run *r)
{
  const size_t kernels = fields_run(r) ? WITH_EDGES : edges_run(r) ? WITH_PAIRS : OF_FIELDS;
  return group(r) * kernels;
}

void active_reverse_sizes(const run *r, sizes *s)
{
  s->number[SCRATCH_WRENCHES] = WRENCH_REALS * blocks(r);
  s->number[SCRATCH_GRADIENT_1] = s->number[SCRATCH_GRADIENT_2] = (size_t)r->pose_width;
  if (edges_run(r)) {
    const size_t *edges = r->pair->layout.edges;
    s->number[SCRATCH_PAIR_BARS] = PAIR_BAR_PLANES * near_plane(r) + device_lanes(r->device);
    s->number[SCRATCH_WEIGHTS_BAR_1] = (size_t)elements(r, EDGES_OF(0))->slots;
    s->number[SCRATCH_WEIGHTS_BAR_2] = (size_t)elements(r, EDGES_OF(1))->slots;
    s->number[SCRATCH_RANKED_BAR] = (edges[0] > edges[1] ? edges[0] : edges[1]) + 1;
  }
}

/* Arguments that give the start of a kernel's blocks. */
#define WRENCHES(r, kernel) \
  BUFFER(r, SCRATCH_WRENCHES), ARG_INT(WRENCH_REALS *blocks(r)), ARG_INT((kernel)*group(r))

abut_status run_row_bars(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_ENTRIES_SPREAD, poses, 1, BUFFER(r, SCRATCH_ROWS),
                    BUFFER(r, SCRATCH_SEGMENTS), BUFFER(r, SCRATCH_PAIR_LIST),
                    BUFFER(r, SCRATCH_PAIR_ENTRIES), HEAD(r), BUFFER(r, SCRATCH_VERTEX_VALUES_1),
                    BUFFER(r, SCRATCH_VERTEX_VALUES_2), BUFFER(r, SCRATCH_PAIR_VALUES));
}

abut_status run_sum_bars(const run *r, size_t poses, bool energy)
{
  for (int side = 0; side < 2; ++side) {
    if (lists_vertices(r, side)) {
      TRY(LAUNCH_RUN(r, KERNEL_LISTED_SUM_BARS, poses, 1,
                     BUFFER(r, OF_SIDE(SCRATCH_VERTEX_LIST_1, side)), HEAD(r), ARG_INT(side),
                     ARG_INT(energy), BUFFER(r, OF_SIDE(SCRATCH_VERTEX_VALUES_1, side))));
    }
  }
  return edges_run(r) || fields_run(r)
           ? LAUNCH_RUN(r, KERNEL_LISTED_SUM_BARS, poses, 1, BUFFER(r, SCRATCH_PAIR_LIST), HEAD(r),
                        ARG_INT(2), ARG_INT(energy), BUFFER(r, SCRATCH_PAIR_VALUES))
           : ABUT_SUCCESS;
}

static abut_status vertices_back(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side], *other = r->bodies[!side];
  return LAUNCH_RUN(r, KERNEL_LISTED_VERTICES_ADJOINT, poses, 1, ARG_BUFFER(b->sorted_planes),
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_LIST_1, side)), BUFFER(r, SCRATCH_FRAMES),
                    ARG_BUFFER(other->head), ARG_BUFFER(other->shape), vertex_radii(r, side),
                    HEAD(r), ARG_INT(side), ARG_INT(r->wanted.cotangents),
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_VALUES_1, side)),
                    WRENCHES(r, OF_VERTICES + side));
}

static abut_status pairs_back(const run *r, size_t poses)
{
  const resident_body *const *b = r->bodies;
  return LAUNCH_RUN(r, KERNEL_LISTED_PAIRS_ADJOINT, poses, 1, BUFFER(r, SCRATCH_NEAR_PAIRS),
                    BUFFER(r, SCRATCH_PAIR_LIST), BUFFER(r, SCRATCH_FRAMES), ARG_BUFFER(b[0]->head),
                    ARG_BUFFER(b[0]->shape), ARG_BUFFER(b[1]->head), ARG_BUFFER(b[1]->shape),
                    HEAD(r), ARG_INT(r->wanted.cotangents), BUFFER(r, SCRATCH_PAIR_VALUES),
                    BUFFER(r, SCRATCH_PAIR_BARS), WRENCHES(r, OF_FIELDS));
}

static abut_status witnesses_back(const run *r, size_t poses)
{
  return LAUNCH_RUN(r, KERNEL_NEAR_PAIRS_ADJOINT, poses, 1, ARG_BUFFER(edge_ends(r, 0)),
                    BUFFER(r, SCRATCH_EDGE_WEIGHTS_1), BUFFER(r, SCRATCH_EDGE_WEIGHTS_2), HEAD(r),
                    BUFFER(r, SCRATCH_PAIR_LIST), BUFFER(r, SCRATCH_NEAR_PAIRS),
                    BUFFER(r, SCRATCH_PAIR_BARS), BUFFER(r, SCRATCH_WEIGHTS_BAR_1),
                    BUFFER(r, SCRATCH_WEIGHTS_BAR_2), WRENCHES(r, OF_WITNESSES));
}

/* Gate weights get cotangents only from activities; without those, the cotangents are 0. */
static abut_status selection_back(const run *r, size_t poses, int side)
{
  const resident_body *b = r->bodies[side], *other = r->bodies[!side];
  return LAUNCH_RUN(r, KERNEL_NEAR_SELECT_ADJOINT, poses, 1,
                    BUFFER(r, OF_SIDE(SCRATCH_EDGE_INDEX_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_EDGE_TOP_1, side)), ARG_BUFFER(b->edge_ends),
                    BUFFER(r, OF_SIDE(SCRATCH_WEIGHTS_BAR_1, side)), BUFFER(r, SCRATCH_PAIR_LIST),
                    BUFFER(r, SCRATCH_FRAMES), ARG_BUFFER(other->head), ARG_BUFFER(other->shape),
                    HEAD(r), ARG_INT(side), BUFFER(r, SCRATCH_RANKED_BAR),
                    WRENCHES(r, OF_SELECTIONS + side));
}

static abut_status edges_back(const run *r, size_t poses, int side)
{
  const resident_body *other = r->bodies[!side];
  const size_t lanes = device_lanes(r->device), groups = (poses + lanes - 1) / lanes;
  return LAUNCH_RUN(r, KERNEL_LISTED_EDGES_ADJOINT, groups, 1, edge_rails(r, side),
                    BUFFER(r, SCRATCH_PAIR_LIST), BUFFER(r, OF_SIDE(SCRATCH_PLACES_1, side)),
                    BUFFER(r, SCRATCH_FRAMES), ARG_BUFFER(other->head), ARG_BUFFER(other->shape),
                    HEAD(r), ARG_INT(side), ARG_INT(poses), ARG_INT(r->wanted.listed),
                    ARG_INT(r->wanted.cotangents), BUFFER(r, SCRATCH_PAIR_VALUES),
                    WRENCHES(r, OF_EDGES + side));
}

abut_status run_active_reverse(const run *r, size_t poses)
{
  for (int side = 0; side < 2; ++side) {
    TRY(vertices_back(r, poses, side));
  }
  for (int side = 0; side < 2 && fields_run(r); ++side) {
    TRY(edges_back(r, poses, side));
  }
  if (edges_run(r)) {
    TRY(pairs_back(r, poses));
    TRY(witnesses_back(r, poses));
    TRY(selection_back(r, poses, 0));
    TRY(selection_back(r, poses, 1));
  }
  return LAUNCH_RUN(r, KERNEL_POSES_ADJOINT, poses, 1, BUFFER(r, SCRATCH_POSE_1),
                    BUFFER(r, SCRATCH_POSE_2), BUFFER(r, SCRATCH_TANGENT_1),
                    BUFFER(r, SCRATCH_TANGENT_2), ARG_INT(r->pose_width), BUFFER(r, SCRATCH_FRAMES),
                    BUFFER(r, SCRATCH_WRENCHES), ARG_INT(blocks(r)), BUFFER(r, SCRATCH_STATUS),
                    BUFFER(r, SCRATCH_GRADIENT_1), BUFFER(r, SCRATCH_GRADIENT_2));
}
