// The edges of listed pairs, what they claim, and where they are looked at for `agree` (probes.cl).
#ifndef KERNELS_MANIFOLD_PROBES_H
#define KERNELS_MANIFOLD_PROBES_H

#include "kernels/manifold/pair.h"

// Where the numbers of a pose's pairs lie: planes of `plane` numbers, of which e1, e2 and the
// parameters begin so far behind `row`.
typedef struct pair_planes {
  GLOBAL const real *row;
  int stride, plane, e1, e2, a;
} pair_planes;

static pair_planes witness_planes(GLOBAL const real *witness, int base, int stride,
                                  GLOBAL const pair_sizes *n, int pose)
{
  const int plane = n->pair_slots;
  const pair_planes r = {NUMS(witness, pose, stride), stride, plane, base,
                         base + WITNESS_E2 * plane, WITNESS_A * plane};
  return r;
}

// The edges of body `side` of a block of listed pairs, in body 1's frame: one end, and the way from
// it to the other one.
typedef struct listed_edge {
  vec end, along;
} listed_edge;

static listed_edge listed_edge_of(GLOBAL const real *ends, GLOBAL const pair_sizes *n, int side,
                                  GLOBAL const int *at, int first, int count,
                                  GLOBAL const real *frame, int pose)
{
  GLOBAL const pair_elements *edges = &n->elements[EDGES_OF(side)];
  const int stride = kept_stride(edges, ENDS_PLANES), padded = edges->plane;
  const int kept2 = n->elements[EDGES_OF(1)].kept;
  GLOBAL const real *row = kept_row(ends, n, side, pose);
  const num zero = n_lit(R(0.0));
  vec end0 = FN(make)(zero, zero, zero), end1 = end0;
  num *const to[ENDS_PLANES] = {&end0.x, &end0.y, &end0.z, &end1.x, &end1.y, &end1.z};
  int index[LANES];
  for (int i = 0; i < LANES; ++i) {
    const int pair = at[MIN_INT(first + i, count - 1)];
    index[i] = side ? pair % kept2 : pair / kept2;
  }
  EACH_PART(part) {
    for (int j = 0; j < ENDS_PLANES; ++j) {
      real t[LANES];
      for (int i = 0; i < LANES; ++i) {
        t[i] = part && !stride ? R(0.0) : row[part * stride + j * padded + index[i]];
      }
      *to[j] = n_with_part(*to[j], part, lane_load(t));
    }
  }
  listed_edge r;
  if (side) {
    end0 = place(frame + FRAME_2_TO_1, end0);
    end1 = place(frame + FRAME_2_TO_1, end1);
  }
  r.end = end0;
  r.along = FN(sub3)(end1, end0);
  return r;
}

// The unsigned distance dbar that a block of listed pairs claims, and what it is made of.
typedef struct pair_claim {
  vec gap;
  num length_inv, dbar;
} pair_claim;

static pair_claim claim_of(const pair_planes *p, GLOBAL const int *at, int first, int count,
                           GLOBAL const coefficients *c)
{
  pair_claim r;
  r.gap = FN(sub3)(gather3_at(p->row + p->e1, p->stride, p->plane, at, first, count),
                   gather3_at(p->row + p->e2, p->stride, p->plane, at, first, count));
  const num gap2 = FN(dot3)(r.gap, r.gap);
  r.length_inv = n_rcp(n_sqrt(n_shift(gap2, c->distance)));
  r.dbar = n_mul(gap2, r.length_inv);
  return r;
}

static num witness_parameters(const pair_planes *p, int side, GLOBAL const int *at, int first,
                         int count)
{
  return gather_at(p->row + p->a + side * p->plane, p->stride, at, first, count);
}

// Returns the place of a probe of an edge of body `side` in the frame of the other body, whose
// field is asked for there.
static vec probe_point(const listed_edge *edge, num at, int side, GLOBAL const real *frame)
{
  const vec q = FN(mad3)(edge->along, at, edge->end);
  return FN(limit3)(side ? q : place(frame + FRAME_1_TO_2, q), R(2.0) * SEPARATION_LIMIT);
}

#endif
