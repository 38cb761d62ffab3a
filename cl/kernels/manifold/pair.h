// The head of a pair: all data of its kernels that do not change between calls.
#ifndef KERNELS_MANIFOLD_PAIR_H
#define KERNELS_MANIFOLD_PAIR_H

#include "geometry/pair.h"
#include "geometry/sites.h"

typedef struct pair_head {
  coefficients c; // the first member: some kernels use the head as a pointer to coefficients
  real reals[PAIR_REALS];
  pair_sizes n;
} pair_head;

// Returns the zones of a body's seams, ZONE_REALS each. The zones of both bodies follow the head.
static GLOBAL const real *zones_of(GLOBAL const pair_head *pair, int side)
{
  return (GLOBAL const real *)(pair + 1) + (side ? ZONE_REALS * pair->n.zones[0] : 0);
}

static int has_seams(GLOBAL const pair_head *pair)
{
  return pair->n.zones[0] + pair->n.zones[1] > 0;
}

// Returns how many numbers a pose has in `planes` planes of retained elements. This is 0 if nothing
// is selected and all poses share the mesh's own.
static int kept_stride(GLOBAL const pair_elements *e, int planes)
{
  return e->selected || e->moving ? planes * e->plane : 0;
}

// Returns how many numbers a pose has for all of the mesh's elements: 0 if all poses share them.
static int mesh_stride(GLOBAL const pair_elements *e, int planes)
{
  return e->moving ? planes * e->padded : 0;
}

// Returns a pose's row of the ends of one body's retained edges.
static GLOBAL const real *kept_row(GLOBAL const real *ends, GLOBAL const pair_sizes *n, int side,
                                   int pose)
{
  return NUMS(ends, pose, kept_stride(&n->elements[EDGES_OF(side)], ENDS_PLANES));
}

// Returns the index in the mesh of the i-th retained element. index (poses, kept + 1) has the
// ranked elements of a selection.
static int feature_at(GLOBAL const int *index, GLOBAL const pair_elements *e, int pose, int i)
{
  return e->selected ? ROW(index, pose, e->kept + 1)[i] : i;
}

#endif
