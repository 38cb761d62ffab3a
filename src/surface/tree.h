/* A tree of boxes over triangles: the nearest point, and the generalized winding number. */
#ifndef ABUT_SURFACE_TREE_H
#define ABUT_SURFACE_TREE_H

#include "surface/surface.h"

typedef struct tree_node {
  float lower[3], upper[3];   /* rounded outwards */
  uint32_t first, count;      /* a leaf's triangles; count 0: `first` and the one behind it are its
                                 children */
} tree_node;

/* Of the triangles below a node, for winding numbers from afar: the sum of their area vectors, the
 * mean of their centres by area, and the farthest corner from there. */
typedef struct tree_sum {
  double area[3], centre[3], radius2;
} tree_sum;

typedef struct tree {
  tree_node *nodes;
  tree_sum *sums;             /* of each node */
  size_t node_count;
  double *corners;            /* (count, 3, 3) in the leaves' order */
  uint32_t *triangle;         /* (count) which of the surface's each is */
  size_t count;
} tree;

typedef struct nearest {
  double distance2;           /* [m^2]; what was asked for where nothing is nearer */
  double point[3];
  uint32_t at;                /* of the tree's corners; UINT32_MAX: nothing */
} nearest;

/* A tree of some triangles; those without area are left out. which: NULL for all of them, else
 * (count) of the surface's triangles. */
abut_status tree_create(const surface *s, const uint32_t *which, size_t count, tree *out);

/* A tree of triangles given by their corners (count, 3, 3). */
abut_status tree_of_corners(const double *corners, size_t count, tree *out);
void tree_free(tree *t);

/* The nearest point of the surface within sqrt(limit2) of x. */
nearest tree_nearest(const tree *t, const double x[3], double limit2);

/* The nearest point, sooner where `guess` is the nearest triangle of a place close by; UINT32_MAX:
 * there is no guess. */
nearest tree_nearest_from(const tree *t, const double x[3], uint32_t guess);

/* Calls visit(user, at) for each triangle within `reach` of x, by its place among the tree's
 * corners; ends with the first status that is no success. */
abut_status tree_visit(const tree *t, const double x[3], double reach,
                       abut_status (*visit)(void *user, uint32_t at), void *user);

/* How often the surface winds around x (Barill et al. 2018, Fast Winding Numbers for Soups and
 * Clouds): 1 inside a closed surface, 0 outside, between near a hole. */
double tree_winding(const tree *t, const double x[3]);

/* The length along direction d (unit) from x to the first triangle that is crossed beyond
 * `least`, at most `most`; HUGE_VAL for none. */
double tree_cast(const tree *t, const double x[3], const double d[3], double least, double most);

#endif
