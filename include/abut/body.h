/* Bodies: a mesh, which makes contacts, and a signed distance field, which the other body's mesh is
 * tested against.
 *
 * All lengths are in metres, in the body's own frame. Body data is double and rounded once to the
 * context's precision. The data is packed and uploaded when the body is made, and stays resident.
 */
#ifndef ABUT_BODY_H
#define ABUT_BODY_H

#include <abut/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_body {
  uint32_t index, generation;
} abut_body;

typedef enum abut_operation { ABUT_ADD = 0, ABUT_SUBTRACT = 1 } abut_operation;

/* Superquadric: (|x/a1|^(2/e2) + |y/a2|^(2/e2))^(e2/e1) + |z/a3|^(2/e1) = 1. */
typedef struct abut_superquadric {
  double axes[3];       /* half lengths [m], in [1e-6, 1e6] */
  double exponents[2];  /* e1 (along z), e2 (around z), in (0, 2] */
  double position[3];   /* centre [m] */
  double quaternion[4]; /* w, x, y, z; normalised when read */
  abut_operation operation;
} abut_superquadric;

/* Convex polyhedron: the soft maximum of its planes. planes: (count, 6), outward normal and a point
 * of the plane. Normals are normalised when read. */
typedef struct abut_polyhedron {
  const double *planes;
  size_t count;
  abut_operation operation;
} abut_polyhedron;

/* Oriented point cloud. points: (count, 7), position, outward normal (normalised when read), and
 * standard deviation of the point's Gaussian weight [m]. */
typedef struct abut_pointcloud {
  const double *points;
  size_t count;
  abut_operation operation;
} abut_pointcloud;

#define ABUT_GRID_BLOCK 8

/* Finer cells over a part of a grid. Level l, from 1, has 2^l nodes per spacing of the grid. Block
 * (i, j, k) has the cells from 8 i to 8 i + 8 of its level along x, and likewise along y and z, and
 * the nodes 8 i to 8 i + 7. */
typedef struct abut_grid_level {
  const int32_t *blocks;      /* (block_count, 3), no block twice; each block is inside a block
                                 of the level before */
  const double *coefficients; /* (block_count, 8, 8, 8) [m]; 0 at nodes less than two cells
                                 inside the blocks, so that the field has no seams at the blocks'
                                 borders */
  size_t block_count;
} abut_grid_level;

/* Cubic B-spline of a signed distance, with nodes at origin + spacing (i, j, k). Corrections on
 * finer grids are added to it (docs/dev/spec.md, section 4). */
typedef struct abut_grid {
  const double *coefficients; /* (size[0], size[1], size[2]) [m], > 0 in the outer four layers */
  size_t size[3];             /* 6 to 1,024 each */
  double origin[3];           /* [m] */
  double spacing;             /* [m], at least 1e-9 */
  const abut_grid_level *levels;
  size_t level_count; /* at most 8 */
  abut_operation operation;
} abut_grid;

/* Ground below z = h(x, y), with a wall at each of its sides and a base below (docs/dev/spec.md,
 * section 4). h is the natural bicubic spline through heights at nodes that are evenly spaced over
 * a rectangle about the origin. */
typedef struct abut_height_field {
  const double *heights; /* (rows, columns) [m]: row r at y = -size[1] + 2 size[1] r / (rows -
                            1), column c at x = -size[0] + 2 size[0] c / (columns - 1). All are
                            above -base, and the slope between neighbours is at most 1e4 */
  size_t rows, columns;  /* 2 to 2,048 each */
  double size[2];        /* half lengths along x and y [m], in [1e-6, 1e6] */
  double base;           /* depth of the base below z = 0 [m], in [1e-6, 1e6] */
  size_t step;           /* spacing of vertices, in nodes, for a body without a mesh of its own
                            (abut_create_body); 0: 1, or more where that would give more than
                            2,048 vertices */
  abut_operation operation;
} abut_height_field;

typedef enum abut_core_kind { ABUT_CORE_BOX = 0, ABUT_CORE_DISC = 1 } abut_core_kind;

/* A core, which is a box or a disc, grown by a radius: boxes and cylinders with rounded edges,
 * capsules, spheres. Outside, its distance is the Euclidean one to 0.9 % of the radius. It is
 * smooth everywhere (docs/dev/spec.md, section 4). */
typedef struct abut_core {
  abut_core_kind kind;
  double half[3];       /* box: half lengths along x, y and z [m], in [0, 1e6]. Disc about z:
                           radius and half length [m], above 0 and at most 1e6; the third number
                           is not read */
  double radius;        /* distance by which the core is grown [m], in [1e-9, 1e6] */
  double position[3];   /* centre [m] */
  double quaternion[4]; /* w, x, y, z; normalised when read */
  abut_operation operation;
} abut_core;

/* A surface: vertices (vertex_count, 3) [m], within +-1e6, and faces in the form of
 * abut_body_def. */
typedef struct abut_surface {
  const double *vertices;
  size_t vertex_count;
  const uint32_t *face_sizes;
  const uint32_t *face_indices;
  size_t face_count;
} abut_surface;

/* An edge between two of a body's feature vertices. With `arc` the edge is the arc of a circle
 * about the axis through `centre`, from `from` to `to`, right-handed about `axis`, by at most a
 * quarter turn. */
typedef struct abut_feature_edge {
  uint32_t from, to;
  double radius; /* radius of the capsule around the edge [m], at least 0 */
  bool arc;
  double centre[3], axis[3]; /* of an arc; `axis` need not have length 1 */
} abut_feature_edge;

/* A circle of a body's features, such as the rim of a wheel. It makes a contact at each of its
 * points that is locally deepest. Where it lies flat, it makes contacts at eight points of its
 * own. */
typedef struct abut_feature_circle {
  double centre[3], axis[3]; /* `axis` need not have length 1 */
  double size;               /* radius of the circle [m], above 0 */
  double radius;             /* radius of the tube around the circle [m], at least 0 */
} abut_feature_circle;

/* Source of the normal cones of a body's features. If cones are requested, a feature makes no
 * contact whose normal is far outside its cone (docs/features.md). */
typedef enum abut_cone_source {
  ABUT_CONES_OF_MESH = 0, /* the faces of the mesh, or a height field's ground. Stated features
                             have the cones of the mesh's vertices and edges at the same places.
                             Elsewhere, and without faces, every normal is within the cone */
  ABUT_CONES_GIVEN = 1,   /* vertex_cones and edge_cones */
  ABUT_CONES_NONE = 2     /* every normal is within every cone */
} abut_cone_source;

typedef struct abut_body_def {
  const double *vertices; /* (vertex_count, 3) [m] */
  size_t vertex_count;
  const uint32_t *face_sizes;   /* (face_count), number of corners of each polygon, at least 3 */
  const uint32_t *face_indices; /* vertex indices of all faces, one face after the other, from 0 */
  size_t face_count;
  const abut_superquadric *superquadrics;
  size_t superquadric_count;
  const abut_polyhedron *polyhedra;
  size_t polyhedron_count;
  const abut_pointcloud *pointclouds;
  size_t pointcloud_count;
  const abut_grid *grids;
  size_t grid_count;
  const abut_height_field *height_fields;
  size_t height_field_count;
  const abut_core *cores;
  size_t core_count;
  const uint32_t *edges; /* (edge_count, 2), edges in addition to those of faces */
  size_t edge_count;
  bool cloud_from_mesh;           /* add a point cloud made from the mesh, see abut_create_body */
  double union_;                  /* temperature with which the primitives were fitted, so that
                                     their union lies on the mesh [m]; 0: unknown */
  abut_surface surface;           /* the surface for collision in time, instead of the mesh above
                                     (abut_create_body_ccd_mesh); without faces: that mesh.
                                     Fields of bare meshes have one, since their contact meshes
                                     have no faces; so do decompositions, and body files that
                                     name one */
  bool states_features;           /* The next six members are the body's features. If false, the
                                     features are the mesh's vertices and sharp edges, without
                                     radii. */
  const double *feature_vertices; /* (feature_vertex_count, 4), position and radius [m] */
  size_t feature_vertex_count;
  const abut_feature_edge *feature_edges; /* between these vertices */
  size_t feature_edge_count;
  const abut_feature_circle *feature_circles; /* (feature_circle_count). Every normal is within a
                                                 circle's cones. */
  size_t feature_circle_count;
  double sharp; /* An edge of the mesh is a feature if its two faces meet convexly and their
                   normals differ by more than this angle [degrees], in [0, 180); 20 by default.
                   Edges that do not have exactly two faces are features, too, and so are
                   edges between long narrow faces (docs/features.md). */
  abut_cone_source cones;
  const double *vertex_cones;     /* (vertex_cone_count, 4), axis and half angle [degrees], in [0,
                                     180]; 180: every normal is within the cone */
  size_t vertex_cone_count;       /* the number of feature vertices, which are the mesh's if none
                                     are stated; 0: every normal is within a vertex's cone */
  const double *edge_cones;       /* (edge_cone_count, 4) the same for edges; every normal is
                                     within the cone of an edge that has none here */
  const uint32_t *edge_cone_ends; /* (edge_cone_count, 2) the two feature vertices of each of
                                     these edges; NULL: the edges are feature_edges, in order */
  size_t edge_cone_count;
  uint32_t cookie; /* set by abut_default_body_def */
} abut_body_def;

ABUT_API abut_body_def abut_default_body_def(void);

/* Makes a body and uploads it.
 *
 * Edges are the unique boundary pairs i < j of the faces as written and of `edges`, in
 * lexicographic order.
 *
 * Features are the vertices and edges that are tested against another body's field
 * (docs/features.md). If an edge has `from` above `to`, the edge is reversed, and so is an arc's
 * axis. Refused are edges of one vertex, two edges with the same ends, and radii below 0. Arcs are
 * refused if their ends are not on one circle about the axis or are more than a quarter turn apart.
 *
 * With cloud_from_mesh an oriented point cloud is added. Its points are the vertices, their normals
 * the area-weighted normals of the faces around them, and their widths the mean length of a
 * vertex's edges. Long faces at sharp edges are sampled inside, because vertices describe such
 * edges too coarsely: a face with a side longer than 1/32 of the bounding diagonal, and with a
 * corner whose normal is more than 20 degrees off the face's. Such a face gives points inside it
 * instead of its vertices. These points have the face's own normal, and half of their spacing as
 * width. The field rounds such edges by about that spacing. Faces must run counterclockwise seen
 * from outside.
 *
 * A body with vertices but without faces, edges and stated features, whose field is one polyhedron,
 * gets the faces that its vertices form on the planes, if these faces form a closed surface.
 * Without edges the body would pass through others between its corners.
 *
 * A body without vertices and faces, whose field has an added height field, gets its contact mesh
 * from the first height field. The mesh has vertices on the ground, by the height field's `step`,
 * and at the base's corners, without faces or edges. If the body has no `surface`, it gets the
 * ground with its walls and base as `surface`, with at most 65,536 nodes.
 *
 * Everything is copied; the caller may free its arrays. Limits: coordinates within +-1e6 m. Errors:
 * ABUT_ERROR_BODY (out of range, not finite, no added primitive), ABUT_ERROR_ARGUMENT.
 */
ABUT_API abut_status abut_create_body(abut_context context, const abut_body_def *def,
                                      abut_body *body);

/* Destroys a body and frees its memory on the host and on the devices. */
ABUT_API abut_status abut_destroy_body(abut_body body);

typedef struct abut_body_info {
  size_t vertices, edges, faces;
  size_t superquadrics, polyhedra, planes, pointclouds, points;
  size_t grids, blocks;          /* blocks: all levels of all grids */
  size_t height_fields, heights; /* heights: of all height fields */
  size_t cores;
  size_t primitives;         /* of all kinds */
  double lower[3], upper[3]; /* bounding box of the vertices [m] */
  double diagonal;           /* of that box [m] */
  uint32_t suspicions;       /* bits of abut_suspicion (field.h) for a body that was loaded: of a
                                bare mesh, or ABUT_SUSPECT_MISFIT and ABUT_SUSPECT_FEATURES of a
                                body file */
  double thickness;          /* twice the greatest depth inside, by the field without blending,
                                to about a fifth [m]; 0: the mesh revealed no inside */
  double union_;             /* as in the definition [m] */
  double misfit;             /* of a body file: median of the field's absolute value at the
                                mesh's vertices; suspicious above 0.15 of the diagonal [m] */
  double feature_misfit;     /* of a body file: largest distance from the field's surface to the
                                balls of stated vertices and to the middles of the capsules of
                                stated edges; suspicious above 0.02 of the diagonal [m] */
  double feature_radius;     /* largest radius of a stated vertex or edge [m] */
} abut_body_info;

/* Gets the counts and sizes of a body. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_body_info(abut_body body, abut_body_info *info);

/* Copies a body's mesh into the caller's arrays: vertices (vertices, 3), edges (edges, 2). Either
 * may be NULL. */
ABUT_API abut_status abut_get_body_mesh(abut_body body, double *vertices, uint32_t *edges);

/* The definition of a body; `def` points into `memory`. */
typedef struct abut_body_copy {
  abut_body_def def;
  void *memory;
} abut_body_copy;

/* Copies the definition of a body. abut_create_body makes the same body from it, to the bit in a
 * context of the same precision. The copy has the mesh with all its edges, the primitives in the
 * order and with the values of the body's own definition, and the surface. The cloud of a mesh
 * (cloud_from_mesh) is the last of the clouds, and coefficients of grids are those of the context's
 * precision. Free the copy with abut_free_body_copy. Errors: ABUT_ERROR_ARGUMENT, also for a body
 * with a height field; ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_copy_body(abut_body body, abut_body_copy *copy);
ABUT_API void abut_free_body_copy(abut_body_copy *copy);

/* Computes the distance and normal of a body's field at points of the body's frame (Beker et al.,
 * eq. 3 to 8).
 *
 * union_tau, plane_tau   temperatures [m]
 * points    real (count, 3)
 * distance  real (count) [m], negative inside; may be NULL
 * normal    real (count, 3), unit; may be NULL
 * All devices of the context share the points.
 */
ABUT_API abut_status abut_evaluate_body(abut_body body, double union_tau, double plane_tau,
                                        size_t count, const void *points, void *distance,
                                        void *normal);

#ifdef __cplusplus
}
#endif
#endif
