/* The steps from a body's definition to packed numbers, and retained parts of the definition. */
#ifndef ABUT_BODY_PARTS_H
#define ABUT_BODY_PARTS_H

#include "base/reals.h"
#include <abut/body.h>

/* Rejects invalid values, and names the element. The second function only checks primitives. */
abut_status check_body_def(const abut_body_def *def);
abut_status check_primitives(const abut_body_def *def);

/* Makes the unique boundary pairs i < j of the faces and of the definition's edges, in
 * lexicographic order. The caller frees *edges. */
abut_status make_edges(const abut_body_def *def, uint32_t **edges, size_t *count);

/* Combines an edge's vertices into one number, the lower one first. */
uint64_t edge_code(uint64_t a, uint64_t b);

/* Gives the unique edges among `count` codes in lexicographic order, and sorts the codes. The
 * caller frees *edges. */
abut_status unique_edges(uint64_t *codes, size_t count, uint32_t **edges, size_t *edge_count);

/* Makes an oriented point cloud (count, 7) of a mesh, see abut_create_body. The caller frees
 * *points. */
abut_status make_mesh_cloud(const abut_body_def *def, double diagonal, const uint32_t *edges,
                            size_t edge_count, double **points, size_t *count);

/* Orders vertices so that each block of `block` consecutive ones is compact: halves along the
 * longest side of their box. order: (count) mesh indices. */
void sort_in_space(const double *vertices, size_t count, size_t block, uint32_t *order);

/* Packs the primitives in the layout of cl/geometry/layout.h, without cloud_from_mesh. The caller
 * frees *head and shape->data. */
abut_status pack_primitives(const abut_body_def *def, size_t real_size, int **head,
                            size_t *head_count, reals *shape);

/* Features and cones of a definition. */
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

/* Copies them. free_features also frees a partial copy after failure. */
abut_status keep_features(const abut_body_def *def, kept_features *out);
void free_features(kept_features *f);
double largest_radius(const kept_features *f);

/* Parts of the definition that a body retains: the surface, and the primitives of both operations,
 * which derivatives with respect to its shape need. */
typedef struct body_parts {
  abut_superquadric *superquadrics;
  size_t superquadric_count;
  abut_polyhedron *polyhedra; /* their planes are: */
  size_t polyhedron_count;
  double *planes;               /* (number of all planes, 6) */
  abut_pointcloud *pointclouds; /* including the mesh's cloud */
  size_t pointcloud_count;
  abut_grid *grids; /* without coefficients */
  size_t grid_count;
  abut_core *cores;
  size_t core_count;
  double *surface_vertices; /* the definition's surface, or NULL */
  uint32_t *surface_sizes, *surface_indices;
  size_t surface_vertex_count, surface_face_count;
  kept_features features;
} body_parts;

/* Copies them. keep_outlines copies the clouds and grids; its definition has all packed ones.
 * free_parts also frees a partial copy after failure. */
abut_status keep_parts(const abut_body_def *def, body_parts *out);
abut_status keep_outlines(const abut_body_def *def, body_parts *out);
void free_parts(body_parts *p);

#endif
