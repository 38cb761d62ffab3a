/* A tree of bounding boxes over triangles, for nearest points and generalized winding numbers. */
#ifndef ABUT_SURFACE_TREE_H
#define ABUT_SURFACE_TREE_H

#include "mesh/surface/surface.h"

/* maximum number of children of a node and triangles of a leaf */
#define TREE_WIDE 4
/* flag of a child that is a leaf; the other bits are its index */
#define TREE_LEAF 0x80000000u
#define TREE_STACK 384          /* maximum number of pending entries in a traversal */
#define TREE_NOTHING UINT32_MAX /* no child */

/* Coordinates of nodes and leaves are float, relative to the tree's centre and scale. They only
 * select what is computed in double. */
typedef struct tree_node {
  float centre[3][TREE_WIDE], half[3][TREE_WIDE]; /* boxes of the children, rounded outwards */
  uint32_t child[TREE_WIDE];
} tree_node;

/* The planes of each triangle and, through each side, a perpendicular plane that is positive
 * outside: (x, y, z, offset). All 0 for a triangle without area. */
typedef struct tree_leaf {
  float plane[4][TREE_WIDE], side[3][4][TREE_WIDE];
  uint32_t first, count; /* range of its triangles */
} tree_leaf;

/* Data of a child's triangles for far-field winding numbers: the sum of their area vectors, their
 * area-weighted centre, and the squared distance of the farthest corner from it. */
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
  uint32_t *triangle;      /* (count) index of each in the surface */
  size_t count;
} tree;

typedef struct nearest {
  double distance2; /* [m^2]; the limit if nothing is nearer */
  double point[3];
  uint32_t at; /* index among the tree's corners; UINT32_MAX: nothing */
} nearest;

/* Makes a tree of `count` triangles of a surface. Triangles without area are left out. which: their
 * indices, or NULL for all. */
abut_status tree_create(const surface *s, const uint32_t *which, size_t count, tree *out);

/* Makes a tree of triangles given by their corners (count, 3, 3). */
abut_status tree_of_corners(const double *corners, size_t count, tree *out);
void tree_free(tree *t);

/* Finds the nearest point of a triangle. Returns its squared distance. */
double corners_nearest(const double *corners, const double x[3], double point[3]);

/* Finds the nearest point of the surface within sqrt(limit2) of x. */
nearest tree_nearest(const tree *t, const double x[3], double limit2);

/* Finds the nearest point. A guess, such as the nearest triangle of a close point, makes this
 * faster; UINT32_MAX: no guess. */
nearest tree_nearest_from(const tree *t, const double x[3], uint32_t guess);

/* Calls visit(user, at) for each triangle within `reach` of x, where `at` is its index among the
 * tree's corners. Ends with the first status other than success. */
abut_status tree_visit(const tree *t, const double x[3], double reach,
                       abut_status (*visit)(void *user, uint32_t at), void *user);

/* Returns the winding number of the surface at x (Barill et al. 2018, Fast Winding Numbers for
 * Soups and Clouds): 1 inside a closed surface, 0 outside, and in between near a hole. */
double tree_winding(const tree *t, const double x[3]);

/* Returns the distance from x along the unit direction d to the first triangle beyond `least`, up
 * to `most`. HUGE_VAL: none. */
double tree_cast(const tree *t, const double x[3], const double d[3], double least, double most);

#endif
