/* Launches the kernels that propagate the reverse pass's cotangents at sites of fields and at
 * vertices to rows of derivatives with respect to the bodies' shapes. */
#include "base/error.h"
#include "geometry/layout.h"
#include "contact/run.h"
#include "contact/shape_rows.h"
#include <limits.h>

/* As in kernels/shape/vertices.cl. */
enum { VERTEX_OWN = 1, VERTEX_KEPT = 2, VERTEX_ENDS = 4 };

/* Returns whether the field at all vertices of a body is needed with cotangents. */
static bool all_vertices_back(const run *r, int side)
{
  return (r->pair->layout.vertices[side] && !r->pair->selected_vertices[side]) ||
         side_scored(r, side);
}

/* Takes the next `count` sites of a body's field. Larger counts than kernels support are clamped to
 * INT_MAX, which check_scratch rejects. */
static int reserve_sites(field_sites *s, int side, size_t count)
{
  const int first = s->count[side];
  s->count[side] = count < (size_t)(INT_MAX - first) ? first + (int)count : INT_MAX;
  return first;
}

field_sites run_sites(const run *r)
{
  field_sites s = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
  for (int side = 0; side < 2; ++side) {
    const int other = !side;
    if (!r->wanted.shaped[side]) {
      continue;
    }
    s.vertices[side] =
      reserve_sites(&s, side, all_vertices_back(r, other) ? r->bodies[other]->vertex_padded : 0);
    s.kept[side] =
      reserve_sites(&s, side,
                    r->pair->selected_vertices[other]
                      ? padded(r->pair->layout.vertices[other], device_lanes(r->device))
                      : 0);
    if (edges_run(r)) {
      const size_t slots = pair_slots(r), traced = r->pair->smoothing.trace;
      s.own[side] = reserve_sites(&s, side, slots * (1 + traced));
      s.opposing[side] = reserve_sites(&s, side, r->wanted.cotangents & WANT_ACTIVITY ? slots : 0);
    }
    s.middles[side] = reserve_sites(&s, side, r->wanted.middles_back ? device_lanes(r->device) : 0);
    if (edges_in_fields(r, other)) {
      s.edges[side] = reserve_sites(&s, side,
                                    SITES_OF_EDGE * padded(r->pair->layout.edges[other],
                                                           device_lanes(r->device)));
    }
  }
  return s;
}

static abut_status vertices_of_shape(const run *r, size_t poses, int side, size_t width)
{
  const resident_body *b = r->bodies[side];
  const int given = (all_vertices_back(r, side) ? VERTEX_OWN : 0) |
                    (r->pair->selected_vertices[side] ? VERTEX_KEPT : 0) |
                    (edges_run(r) ? VERTEX_ENDS : 0);
  return LAUNCH_RUN(r, KERNEL_VERTICES_BY_SHAPE, b->info->vertices, poses,
                    BUFFER(r, OF_SIDE(SCRATCH_VERTEX_BAR_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_KEPT_SPREAD_1, side)),
                    BUFFER(r, OF_SIDE(SCRATCH_ENDS_SPREAD_1, side)), ARG_BUFFER(b->order),
                    ARG_BUFFER(b->edge_starts), ARG_BUFFER(b->edges_at), ARG_BUFFER(b->edge_index),
                    HEAD(r), ARG_INT(side), ARG_INT(given),
                    BUFFER(r, OF_SIDE(SCRATCH_SHAPE_1, side)), ARG_INT(width));
}

/* Arguments for one part's kernels to read a body's sites. */
#define PART_OF(r, side, sites, p)                                                           \
  BUFFER(r, OF_SIDE(SCRATCH_SITES_1, side)), BUFFER(r, SCRATCH_SITE_SHARES), ARG_INT(sites), \
    ARG_BUFFER((r)->bodies[side]->shape), ARG_INT((p)->first), ARG_INT((p)->count), HEAD(r)

#define ROW_OF(r, side, width, p) \
  BUFFER(r, OF_SIDE(SCRATCH_SHAPE_1, side)), ARG_INT(width), ARG_INT((p)->row)

/* Arguments for the kernels of a plane or a point to read the parts of sites. */
#define ONE_OF(r, side, sites, p)                                                           \
  BUFFER(r, OF_SIDE(SCRATCH_SITES_1, side)), BUFFER(r, SCRATCH_SITE_PARTS), ARG_INT(sites), \
    ARG_BUFFER((r)->bodies[side]->shape), ARG_INT((p)->first), ARG_INT((p)->count)

static abut_status part_of_shape(const run *r, size_t poses, int side, size_t sites, size_t width,
                                 const shape_part *p)
{
  const size_t blocks = lane_blocks(r, sites);
  const launch_argument of = ARG_INT(p->operation);
  switch (p->family) {
  case SHAPE_SUPERQUADRICS:
    return LAUNCH_RUN(r, KERNEL_SUPERQUADRICS_BY_SHAPE, p->count, poses, PART_OF(r, side, sites, p),
                      of, ROW_OF(r, side, width, p));
  case SHAPE_CORES:
    return LAUNCH_RUN(r, KERNEL_CORES_BY_SHAPE, p->count, poses, PART_OF(r, side, sites, p), of,
                      ROW_OF(r, side, width, p));
  case SHAPE_POLYHEDRON:
    TRY(LAUNCH_RUN(r, KERNEL_POLYHEDRON_PARTS, blocks, poses, PART_OF(r, side, sites, p), of,
                   BUFFER(r, SCRATCH_SITE_PARTS)));
    return LAUNCH_RUN(r, KERNEL_PLANES_BY_SHAPE, p->count, poses, ONE_OF(r, side, sites, p),
                      HEAD(r), ROW_OF(r, side, width, p));
  case SHAPE_CLOUD:
    TRY(LAUNCH_RUN(r, KERNEL_POINTCLOUD_PARTS, blocks, poses, PART_OF(r, side, sites, p), of,
                   BUFFER(r, SCRATCH_SITE_PARTS)));
    return LAUNCH_RUN(r, KERNEL_POINTS_BY_SHAPE, p->count, poses, ONE_OF(r, side, sites, p),
                      ROW_OF(r, side, width, p));
  default:
    return LAUNCH_RUN(r, KERNEL_GRID_SITES, blocks, poses, PART_OF(r, side, sites, p), of,
                      ROW_OF(r, side, width, p));
  }
}

static abut_status shape_of_side(const run *r, size_t poses, int side)
{
  const shaped_body b = shaped_of(r->pair, side);
  const field_sites at = run_sites(r);
  const size_t sites = (size_t)at.count[side];
  const size_t width = shape_row_width(&b, sites), first = shape_row_first(&b);
  const resident_body *on = r->bodies[side];
  TRY(vertices_of_shape(r, poses, side, width));
  TRY(LAUNCH_RUN(r, KERNEL_SITE_SHARES, lane_blocks(r, sites), poses,
                 BUFFER(r, OF_SIDE(SCRATCH_SITES_1, side)), ARG_INT(sites), ARG_BUFFER(on->head),
                 ARG_BUFFER(on->shape), HEAD(r), BUFFER(r, SCRATCH_SITE_SHARES)));
  shape_walk w = shape_walk_begin(b.of, sites, first, first);
  while (shape_walk_next(&w)) {
    TRY(part_of_shape(r, poses, side, sites, width, &w.part));
  }
  return ABUT_SUCCESS;
}

abut_status run_shapes(const run *r, size_t poses)
{
  for (int side = 0; side < 2; ++side) {
    TRY(r->wanted.shaped[side] ? shape_of_side(r, poses, side) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}
