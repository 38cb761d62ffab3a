/* The trees of a scene: the links behind one that moves against the world, with those that
 * equalities join to them. The mass matrix has a square block for each, row by row, one behind the
 * other, and zeros between trees. */
#ifndef ABUT_SCENE_TREES_H
#define ABUT_SCENE_TREES_H

#include "base/memory.h"
#include "scene/definition.h"

/* A tree: its degrees of freedom begin at `first` in scene_trees.dofs, its block at `block` among
 * the numbers of all blocks. */
typedef struct scene_tree {
  int first, count, block;
} scene_tree;

typedef struct scene_trees {
  int count;      /* trees, by their first degrees of freedom */
  int blocks;     /* numbers of all blocks together */
  scene_tree *at; /* (count) */
  int *of;        /* (nv) the tree of each degree of freedom */
  int *place;     /* (nv) which one it is of its tree */
  int *dofs;      /* (nv) tree by tree, each one's degrees of freedom in their order */
} scene_trees;

/* Fills *out from memory of the arena. vadr (links) says where the degrees of freedom of a link's
 * joint begin; nv is their number. */
abut_status trees_make(const scene_def *s, const int *vadr, int nv, arena *memory,
                       scene_trees *out);

/* Returns where entry (a, b) of M lies among the numbers of the blocks, for two degrees of freedom
 * of one tree. */
int trees_place(const scene_trees *t, int a, int b);

#endif
