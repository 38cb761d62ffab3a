// Contacts of retained edges with the other body's field (docs/dev/spec.md, section 10), for every
// module that computes them. Edge k has two adjacent slots: 2 k for the point drawn to its first
// end and 2 k + 1 for the other one.
//
// `edges` has the planes EDGE_* of layout.h, whose rows are as long as the mesh's padded edges.
// index (poses, kept + 1) has the ranked edges of a selection. head and shape are those of the
// other body, in whose frame the points are found. places (poses, EDGE_PLACES, slots) are plain
// reals.
#ifndef KERNELS_MANIFOLD_EDGE_FIELD_H
#define KERNELS_MANIFOLD_EDGE_FIELD_H

#include "kernels/manifold/edge_pack.h"

#define NO_MOVES ((GLOBAL const real *)0)
#define NO_PACK ((const edge_pack *)0)

// A block of retained edges of one pose, or a pack of edges of several poses.
typedef struct edge_block {
  GLOBAL const real *edges; // of the pose, or of pose 0
  int stride;               // 0 if all poses share them
  const edge_pack *pack;    // the pack if the edges belong to several poses, or 0
  GLOBAL const int *at;     // indices of the edges, or 0 if all are retained
  int first, count, padded;
} edge_block;

static edge_block edge_block_of(GLOBAL const real *edges, GLOBAL const int *index,
                                GLOBAL const pair_elements *e, int first, int pose)
{
  edge_block b;
  b.stride = mesh_stride(e, EDGE_PLANES);
  b.edges = NUMS(edges, pose, b.stride);
  b.pack = NO_PACK;
  b.at = e->selected ? ROW(index, pose, e->kept + 1) : NO_ORDER;
  b.first = first;
  b.count = e->kept;
  b.padded = e->padded;
  return b;
}

static lane edge_part(const edge_block *b, GLOBAL const real *from)
{
  if (b->pack) {
    return packed_part(from, PARTS * b->stride, b->pack);
  }
  if (!b->at) {
    return lane_load(from + b->first);
  }
#if LANES == 1
  return from[b->at[b->first]];
#else
  real t[LANES];
  for (int i = 0; i < LANES; ++i) {
    t[i] = from[b->at[MIN_INT(b->first + i, b->count - 1)]];
  }
  return lane_load(t);
#endif
}

static num edge_plane(const edge_block *b, int plane)
{
  GLOBAL const real *from = b->edges + plane * b->padded;
  num r = n_of(edge_part(b, from));
  TANGENT_DO(i, {
    if (b->stride) {
      r = n_with_part(r, i, edge_part(b, from + i * b->stride));
    }
  })
  return r;
}

// Returns a value without tangents.
static lane edge_constant(const edge_block *b, int plane)
{
  return edge_part(b, b->edges + plane * b->padded);
}

static vec edge_plane3(const edge_block *b, int plane)
{
  return FN(make)(edge_plane(b, plane), edge_plane(b, plane + 1), edge_plane(b, plane + 2));
}

// Returns a block's edges in their body's own frame.
static FN(rail) own_rail(const edge_block *b, GLOBAL const pair_elements *e,
                         GLOBAL const coefficients *c)
{
  FN(rail) r;
  const num zero = n_lit(R(0.0));
  r.arcs = e->arcs;
  r.p = edge_plane3(b, EDGE_P);
  r.u = edge_plane3(b, EDGE_U);
  r.e1 = r.e2 = FN(make)(zero, zero, zero);
  if (e->arcs) {
    r.e1 = edge_plane3(b, EDGE_E1);
    r.e2 = edge_plane3(b, EDGE_E2);
  }
  r.angle = edge_plane(b, EDGE_ANGLE);
  const num length = edge_plane(b, EDGE_LENGTH);
  const ilane straight = n_value(r.angle) == lane_lit(R(0.0));
  r.length = n_select(straight, n_sqrt(n_shift(n_mul(length, length), c->distance)), length);
  r.radius = edge_plane(b, EDGE_RADIUS);
  r.quarter = e->arcs > 1 ? edge_constant(b, EDGE_QUARTER) : lane_lit(R(0.0));
  r.cone = no_cone();
  if (c->cones > R(0.0)) {
    r.cone.axis = edge_plane3(b, EDGE_CONE);
    r.cone.angle = edge_constant(b, EDGE_CONE + CONE_ANGLE);
    r.cone.cosine = edge_constant(b, EDGE_CONE + CONE_COSINE);
    r.cone.sine = edge_constant(b, EDGE_CONE + CONE_SINE);
    r.cone.inset = edge_constant(b, EDGE_CONE + CONE_INSET);
  }
  return r;
}

// Returns a block's edges in the target frame of `frame`.
static FN(rail) load_rail(const edge_block *b, GLOBAL const pair_elements *e,
                          GLOBAL const coefficients *c, GLOBAL const real *frame)
{
  FN(rail) r = own_rail(b, e, c);
  r.p = place(frame, r.p);
  r.u = turn(frame, r.u);
  if (e->arcs) {
    r.e1 = turn(frame, r.e1);
    r.e2 = turn(frame, r.e2);
  }
  if (c->cones > R(0.0)) {
    r.cone.axis = turn(frame, r.cone.axis);
  }
  return r;
}

// The same for a pack, with each lane's own frame.
static FN(rail) load_packed_rail(const edge_block *b, GLOBAL const pair_elements *e,
                                 GLOBAL const coefficients *c, const lane_frame *frame)
{
  FN(rail) r = own_rail(b, e, c);
  r.p = place_lanes(frame, r.p);
  r.u = turn_lanes(frame, r.u);
  if (e->arcs) {
    r.e1 = turn_lanes(frame, r.e1);
    r.e2 = turn_lanes(frame, r.e2);
  }
  if (c->cones > R(0.0)) {
    r.cone.axis = turn_lanes(frame, r.cone.axis);
  }
  return r;
}

static vec3_r vec_values(vec v)
{
  return make_r(n_value(v.x), n_value(v.y), n_value(v.z));
}

static rail_r rail_values(const FN(rail) *r)
{
  rail_r v;
  v.p = vec_values(r->p);
  v.u = vec_values(r->u);
  v.e1 = vec_values(r->e1);
  v.e2 = vec_values(r->e2);
  v.angle = n_value(r->angle);
  v.length = n_value(r->length);
  v.radius = n_value(r->radius);
  v.quarter = r->quarter;
  v.arcs = r->arcs;
  v.cone.axis = vec_values(r->cone.axis);
  v.cone.angle = r->cone.angle;
  v.cone.cosine = r->cone.cosine;
  v.cone.sine = r->cone.sine;
  v.cone.inset = r->cone.inset;
  return v;
}

static vec in_range(vec x)
{
  return FN(limit3)(x, R(2.0) * SEPARATION_LIMIT);
}

// The field at a point of an edge.
typedef struct edge_value {
  num phi;
  vec normal, gradient;
} edge_value;

// Both contacts of a block of edges, in the field's frame, with activities before the gates'
// weights.
typedef struct edge_slots {
  vec x[2], normal[2];
  num d[2], weight[2];
} edge_slots;

// Returns the point of a contact: on the surface of the edge's own capsule.
static vec edge_point(vec x, vec normal, num radius)
{
  return FN(mad3)(normal, n_neg(radius), x);
}

#endif
