/* The trees of a scene: a link that moves relative to the world with all its descendants, and trees
 * that equalities join to it. The mass matrix has a square block for each tree, stored row by row,
 * one after the other. It is zero between trees. */
#ifndef ABUT_SCENE_TREES_H
#define ABUT_SCENE_TREES_H

#include "base/memory.h"
#include "scene/definition.h"

/* A tree: its degrees of freedom start at `first` in scene_trees.dofs, its block at `block` among
 * the numbers of all blocks. */
typedef struct scene_tree {
  int first, count, block;
} scene_tree;

typedef struct scene_trees {
  int count;      /* trees, ordered by their first degree of freedom */
  int blocks;     /* numbers of all blocks together */
  scene_tree *at; /* (count) */
  int *of;        /* (nv) the tree of each degree of freedom */
  int *place;     /* (nv) its index within the tree */
  int *dofs;      /* (nv) the degrees of freedom, tree by tree, in order */
} scene_trees;

/* Fills *out from memory of the arena. vadr (links) has the start of the degrees of freedom of each
 * link's joint; nv is their number. */
abut_status trees_make(const scene_def *s, const int *vadr, int nv, arena *memory,
                       scene_trees *out);

/* Returns the index of entry (a, b) of M in the numbers of the blocks, for two degrees of freedom
 * of the same tree. */
int trees_place(const scene_trees *t, int a, int b);

#endif
