/* A tree of boxes over triangles finds the nearest point, and the generalized winding number. */
#ifndef ABUT_SURFACE_TREE_H
#define ABUT_SURFACE_TREE_H

#include "mesh/surface/surface.h"

#define TREE_WIDE 4             /* children of a node, triangles of a leaf, at most */
#define TREE_LEAF 0x80000000u   /* of a child: it is a leaf, the rest its number */
#define TREE_STACK 384          /* what a walk over the tree puts off, at most */
#define TREE_NOTHING UINT32_MAX /* there is no such child */

/* Lengths of nodes and leaves are float, in shares of the tree's size about its middle: they only
 * say what is worth being looked at in double. */
typedef struct tree_node {
  float centre[3][TREE_WIDE], half[3][TREE_WIDE]; /* boxes of the children, rounded outwards */
  uint32_t child[TREE_WIDE];
} tree_node;

/* This has of each triangle its plane, and through each side the plane that stands on it, positive
 * outside: (x, y, z, offset). All 0 for a triangle without area. */
typedef struct tree_leaf {
  float plane[4][TREE_WIDE], side[3][4][TREE_WIDE];
  uint32_t first, count; /* its triangles */
} tree_leaf;

/* This has of the triangles of a node's child, for winding numbers from afar, the sum of their area
 * vectors, the mean of their centres by area, and the farthest corner from there. */
typedef struct tree_sum {
  double area[3], centre[3], radius2;
} tree_sum;

typedef struct tree {
  tree_node *nodes; /* the first is the root */
  tree_leaf *leaves;
  tree_sum *sums; /* (node_count, TREE_WIDE) */
  size_t node_count, leaf_count;
  double middle[3], scale; /* [m], [1/m] */
  double *corners;         /* (count, 3, 3) in the leaves' order */
  uint32_t *triangle;      /* (count) which of the surface's each is */
  size_t count;
} tree;

typedef struct nearest {
  double distance2; /* [m^2]; what was asked for where nothing is nearer */
  double point[3];
  uint32_t at; /* of the tree's corners; UINT32_MAX: nothing */
} nearest;

/* Makes a tree of some triangles; those without area are left out. which: NULL for all of them,
 * else (count) of the surface's triangles. */
abut_status tree_create(const surface *s, const uint32_t *which, size_t count, tree *out);

/* Makes a tree of triangles given by their corners (count, 3, 3). */
abut_status tree_of_corners(const double *corners, size_t count, tree *out);
void tree_free(tree *t);

/* Finds the nearest point of a triangle. Returns its squared distance. */
double corners_nearest(const double *corners, const double x[3], double point[3]);

/* Finds the nearest point of the surface within sqrt(limit2) of x. */
nearest tree_nearest(const tree *t, const double x[3], double limit2);

/* Finds the nearest point, sooner where `guess` is the nearest triangle of a place close by;
 * UINT32_MAX: there is no guess. */
nearest tree_nearest_from(const tree *t, const double x[3], uint32_t guess);

/* Calls visit(user, at) for each triangle within `reach` of x, by its place among the tree's
 * corners; ends with the first status that is no success. */
abut_status tree_visit(const tree *t, const double x[3], double reach,
                       abut_status (*visit)(void *user, uint32_t at), void *user);

/* Returns how often the surface winds around x (Barill et al. 2018, Fast Winding Numbers for Soups
 * and Clouds): 1 inside a closed surface, 0 outside, between near a hole. */
double tree_winding(const tree *t, const double x[3]);

/* Returns the length along direction d (unit) from x to the first triangle that is crossed beyond
 * `least`, at most `most`; HUGE_VAL for none. */
double tree_cast(const tree *t, const double x[3], const double d[3], double least, double most);

#endif
