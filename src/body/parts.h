/* These are the steps from a body's definition to packed numbers, and what is kept beside them. */
#ifndef ABUT_BODY_PARTS_H
#define ABUT_BODY_PARTS_H

#include "base/reals.h"
#include <abut/body.h>

/* Refuses what is out of range, naming the element; the second of them of primitives alone. */
abut_status check_body_def(const abut_body_def *def);
abut_status check_primitives(const abut_body_def *def);

/* The unique boundary pairs i < j of the faces and the definition's own, in lexicographic order.
 * *edges is the caller's. */
abut_status make_edges(const abut_body_def *def, uint32_t **edges, size_t *count);

/* Makes one number of an edge's vertices, the lower one first. */
uint64_t edge_code(uint64_t a, uint64_t b);

/* Gives the unique ones of `count` edges in lexicographic order; their codes are sorted. *edges is
 * the caller's to free. */
abut_status unique_edges(uint64_t *codes, size_t count, uint32_t **edges, size_t *edge_count);

/* Makes an oriented point cloud (count, 7) of a mesh, see abut_create_body. *points is the caller's
 * to free. */
abut_status make_mesh_cloud(const abut_body_def *def, double diagonal, const uint32_t *edges,
                            size_t edge_count, double **points, size_t *count);

/* Orders vertices so that each block of `block` consecutive ones lies close together: halves
 * along the longest side of their box. order: (count) mesh indices. */
void sort_in_space(const double *vertices, size_t count, size_t block, uint32_t *order);

/* Packs the primitives as cl/geometry/layout.h says, cloud_from_mesh left aside. *head and
 * shape->data are the caller's to free. */
abut_status pack_primitives(const abut_body_def *def, size_t real_size, int **head,
                            size_t *head_count, reals *shape);

/* Features and cones as a definition has them. */
typedef struct kept_features {
  bool stated;
  double *vertices; /* (vertex_count, 4) */
  size_t vertex_count;
  abut_feature_edge *edges;
  size_t edge_count;
  double sharp; /* degrees */
  abut_cone_source cones;
  double *vertex_cones; /* (vertex_cone_count, 4) */
  size_t vertex_cone_count;
  double *edge_cones;       /* (edge_cone_count, 4) */
  uint32_t *edge_cone_ends; /* (edge_cone_count, 2) or NULL */
  size_t edge_cone_count;
  abut_feature_circle *circles; /* (circle_count) */
  size_t circle_count;
} kept_features;

/* Copies them. free_features frees what there is, on failure, too. */
abut_status keep_features(const abut_body_def *def, kept_features *out);
void free_features(kept_features *f);
double largest_radius(const kept_features *f);

/* What a body keeps as it was given, since more is made of a body than its field: primitives of
 * both operations, by which derivatives by its shape are told, too, and the surface. */
typedef struct body_parts {
  abut_superquadric *superquadrics;
  size_t superquadric_count;
  abut_polyhedron *polyhedra; /* whose planes are these: */
  size_t polyhedron_count;
  double *planes;               /* (all of them, 6) */
  abut_pointcloud *pointclouds; /* with the one of the mesh */
  size_t pointcloud_count;
  abut_grid *grids; /* without their coefficients */
  size_t grid_count;
  abut_core *cores;
  size_t core_count;
  double *surface_vertices; /* of the definition's surface, or NULL */
  uint32_t *surface_sizes, *surface_indices;
  size_t surface_vertex_count, surface_face_count;
  kept_features features;
} body_parts;

/* Copies them; keep_outlines the clouds and grids, of which a definition has all that are packed.
 * free_parts frees what there is, on failure, too. */
abut_status keep_parts(const abut_body_def *def, body_parts *out);
abut_status keep_outlines(const abut_body_def *def, body_parts *out);
void free_parts(body_parts *p);

#endif
