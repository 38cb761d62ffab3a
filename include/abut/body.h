/* Bodies: a mesh that makes contacts and a signed distance field that it is tested against.
 *
 * All lengths are in metres, in the body's own frame. Body data is given in double and rounded once
 * to the context's precision; it is packed and uploaded when the body is made and stays resident.
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

/* Superquadric: |x/a1|^(2/e2) + |y/a2|^(2/e2), to the power e2/e1, + |z/a3|^(2/e1) = 1. */
typedef struct abut_superquadric {
  double axes[3];       /* half lengths [m], in [1e-6, 1e6] */
  double exponents[2];  /* e1 (along z), e2 (around z), in (0, 2] */
  double position[3];   /* of the centre [m] */
  double quaternion[4]; /* w, x, y, z; normalised on reading */
  abut_operation operation;
} abut_superquadric;

/* Convex polyhedron, the soft maximum of its planes. planes: (count, 6), outward normal and a point
 * of the plane. Normals are normalised on reading. */
typedef struct abut_polyhedron {
  const double *planes;
  size_t count;
  abut_operation operation;
} abut_polyhedron;

/* Oriented point cloud. points: (count, 7), position, outward normal (normalised on reading) and
 * the standard deviation of the point's Gaussian weight [m]. */
typedef struct abut_pointcloud {
  const double *points;
  size_t count;
  abut_operation operation;
} abut_pointcloud;

#define ABUT_GRID_BLOCK 8

/* Finer cells over a part of a grid. Level l, from 1, has 2^l nodes for each of the grid's spacing;
 * block (i, j, k) has the cells from 8 i to 8 i + 8 of that level along x, and so on, and the nodes
 * 8 i to 8 i + 7. */
typedef struct abut_grid_level {
  const int32_t *blocks;      /* (block_count, 3), none twice; each lies in a block of the level
                                 before */
  const double *coefficients; /* (block_count, 8, 8, 8) [m]; 0 at nodes less than two cells inside
                                 the blocks, so that the field has no seams at their borders */
  size_t block_count;
} abut_grid_level;

/* Cubic B-spline of a signed distance, with nodes at origin + spacing (i, j, k), and corrections on
 * finer grids that are added to it (docs/dev/spec.md, section 4). */
typedef struct abut_grid {
  const double *coefficients; /* (size[0], size[1], size[2]) [m], > 0 in the outer four layers */
  size_t size[3];             /* 6 to 1,024 each */
  double origin[3];           /* [m] */
  double spacing;             /* [m], at least 1e-9 */
  const abut_grid_level *levels;
  size_t level_count; /* at most 8 */
  abut_operation operation;
} abut_grid;

/* Ground below z = h(x, y), where h is the natural bicubic spline through heights at nodes that are
 * evenly spaced over a rectangle about the origin, with a wall at each of its sides and a base
 * below (docs/dev/spec.md, section 4). */
typedef struct abut_height_field {
  const double *heights; /* (rows, columns) [m]: row r at y = -size[1] + 2 size[1] r / (rows -
                            1), column c at x = -size[0] + 2 size[0] c / (columns - 1); all above
                            -base, and neighbours by a slope of 1e4 at most */
  size_t rows, columns;  /* 2 to 2,048 each */
  double size[2];        /* half lengths along x and y [m], in [1e-6, 1e6] */
  double base;           /* how far below z = 0 it ends [m], in [1e-6, 1e6] */
  size_t step;           /* of a body without a mesh of its own (abut_create_body): every how
                            many nodes it has a vertex; 0: every node, or fewer, so that they are
                            2,048 at most */
  abut_operation operation;
} abut_height_field;

typedef enum abut_core_kind { ABUT_CORE_BOX = 0, ABUT_CORE_DISC = 1 } abut_core_kind;

/* A box or a disc, the core, grown by a radius: boxes and cylinders with rounded edges, capsules,
 * spheres. Outside its distance is the Euclidean one to 0.9 % of the radius; it is smooth
 * everywhere (docs/dev/spec.md, section 4). */
typedef struct abut_core {
  abut_core_kind kind;
  double half[3];       /* of a box: half lengths along x, y and z [m], in [0, 1e6]; of a disc
                           about z: its radius and its half length [m], above 0 and at most 1e6,
                           and the third is not read */
  double radius;        /* by which the core is grown [m], in [1e-9, 1e6] */
  double position[3];   /* of the centre [m] */
  double quaternion[4]; /* w, x, y, z; normalised on reading */
  abut_operation operation;
} abut_core;

/* A surface: vertices (vertex_count, 3) [m], within +-1e6, and faces as abut_body_def has them. */
typedef struct abut_surface {
  const double *vertices;
  size_t vertex_count;
  const uint32_t *face_sizes;
  const uint32_t *face_indices;
  size_t face_count;
} abut_surface;

/* An edge between two of a body's feature vertices. With `arc` it is the arc of a circle about the
 * axis through `centre`, from `from` to `to`, right-handed about `axis`, by a quarter turn at
 * most. */
typedef struct abut_feature_edge {
  uint32_t from, to;
  double radius; /* of the capsule around it [m], at least 0 */
  bool arc;
  double centre[3], axis[3]; /* of an arc; the axis need not be of length 1 */
} abut_feature_edge;

/* A circle of a body's features, such as the rim of a wheel. It touches at each of its points that
 * lie deepest around them, and where it lies flat at eight points of its own. */
typedef struct abut_feature_circle {
  double centre[3], axis[3]; /* the axis need not be of length 1 */
  double size;               /* radius of the circle [m], above 0 */
  double radius;             /* of the tube around it [m], at least 0 */
} abut_feature_circle;

/* Where the normal cones of a body's features come from. A feature makes no contact whose normal
 * lies far outside its cone, where cones are asked for (docs/features.md). */
typedef enum abut_cone_source {
  ABUT_CONES_OF_MESH = 0, /* the faces of the mesh, or a height field's ground; stated features
                             have the cones of the mesh's vertices and edges at their places.
                             Elsewhere, and without faces, every normal is within a cone */
  ABUT_CONES_GIVEN = 1,   /* vertex_cones and edge_cones */
  ABUT_CONES_NONE = 2     /* every normal is within a cone */
} abut_cone_source;

typedef struct abut_body_def {
  const double *vertices; /* (vertex_count, 3) [m] */
  size_t vertex_count;
  const uint32_t *face_sizes;   /* (face_count), corners of each polygon, at least 3 */
  const uint32_t *face_indices; /* all faces' vertex indices, one face after the other, from 0 */
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
  const uint32_t *edges; /* (edge_count, 2), edges beside those of faces */
  size_t edge_count;
  bool cloud_from_mesh;           /* add a point cloud made of the mesh, see abut_create_body */
  double union_;                  /* temperature that the primitives were fitted with, so that their
                                     union lies on the mesh [m]; 0: none is known */
  abut_surface surface;           /* what collides in time in place of the mesh above
                                     (abut_create_body_ccd_mesh); without faces: that mesh. Fields
                                     of bare meshes have it, since their contact meshes have no
                                     faces, and so have decompositions, and body files that name
                                     one */
  bool states_features;           /* The next six members are the body's features. Else these are
                                     its mesh's vertices and sharp edges, without radii. */
  const double *feature_vertices; /* (feature_vertex_count, 4), place and radius [m] */
  size_t feature_vertex_count;
  const abut_feature_edge *feature_edges; /* between these vertices */
  size_t feature_edge_count;
  const abut_feature_circle *feature_circles; /* Every normal is within their cones. */
  size_t feature_circle_count;
  double sharp; /* An edge of the mesh is a feature where its two faces meet
                   convexly and their normals differ by more than this [degrees],
                   in [0, 180); 20 by default. Edges that have not two faces are
                   features, too. */
  abut_cone_source cones;
  const double *vertex_cones;     /* (vertex_cone_count, 4), axis and half angle [degrees], in [0,
                                     180]; 180: every normal is within the cone */
  size_t vertex_cone_count;       /* that of the feature vertices, which are the mesh's where none
                                     are stated; 0: every normal is within a vertex's cone */
  const double *edge_cones;       /* (edge_cone_count, 4) the same of edges; those that have none
                                     hold every normal */
  const uint32_t *edge_cone_ends; /* (edge_cone_count, 2) the feature vertices that these edges
                                     join; NULL: they are feature_edges in their order */
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
 * (docs/features.md). An edge with `from` above `to` is turned, and an arc's axis with it. Refused
 * are edges of one vertex, two edges with the same ends, radii below 0, and arcs whose ends do not
 * lie on one circle about the axis or are more than a quarter turn apart.
 *
 * With cloud_from_mesh an oriented point cloud is added: the vertices, area-weighted normals of the
 * faces around them, and as width the mean length of a vertex's edges. A face with a side longer
 * than 1/32 of the bounding diagonal and a corner whose normal is more than 20 degrees off its own
 * gives points inside it instead of its vertices, with its own normal and half the points' spacing
 * as width: at sharp edges vertices say too little. The field rounds such edges by about that
 * spacing. Faces must run counterclockwise seen from outside.
 *
 * A body with vertices but without faces, edges and stated features, whose field is one polyhedron,
 * gets the faces that its vertices have on the planes, where these close. Without edges it would
 * pass through others between its corners.
 *
 * A body without vertices and faces whose field has an added height field gets its contact mesh of
 * the first of these: vertices on the ground, by its step, and at the base's corners, without faces
 * or edges; and, without a `surface`, the ground with its walls and base as that, of 65,536 nodes
 * at most.
 *
 * Everything is copied; the caller's arrays may go. Limits: coordinates within +-1e6 m.
 * Errors: ABUT_ERROR_BODY (out of range, not finite, no added primitive), ABUT_ERROR_ARGUMENT.
 */
ABUT_API abut_status abut_create_body(abut_context context, const abut_body_def *def,
                                      abut_body *body);

ABUT_API abut_status abut_destroy_body(abut_body body);

typedef struct abut_body_info {
  size_t vertices, edges, faces;
  size_t superquadrics, polyhedra, planes, pointclouds, points;
  size_t grids, blocks;          /* blocks: of all levels of all grids */
  size_t height_fields, heights; /* heights: of all height fields */
  size_t cores;
  size_t primitives;         /* of all families */
  double lower[3], upper[3]; /* bounding box of the vertices [m] */
  double diagonal;           /* of that box [m] */
  uint32_t suspicions;       /* bits of abut_suspicion (field.h) of a body that was loaded: of a
                                bare mesh, or ABUT_SUSPECT_MISFIT and ABUT_SUSPECT_FEATURES of a
                                body file */
  double thickness;          /* twice the greatest depth inside, by the field without blending,
                                to about a fifth [m]; 0: no inside was found by the mesh */
  double union_;             /* as in the definition [m] */
  double misfit;             /* of a body file: median of the field's size at the mesh's
                                vertices, above 0.15 of the diagonal suspicious [m] */
  double feature_misfit;     /* of a body file: how far the balls of stated vertices and the
                                capsules of stated edges, at their middles, are off the
                                field's surface at most; above 0.02 of the diagonal suspicious
                                [m] */
  double feature_radius;     /* largest radius of a stated vertex or edge [m] */
} abut_body_info;

/* Says what a body holds. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_body_info(abut_body body, abut_body_info *info);

/* Copies the mesh out: vertices (vertices, 3), edges (edges, 2). Either may be NULL. */
ABUT_API abut_status abut_get_body_mesh(abut_body body, double *vertices, uint32_t *edges);

/* What a body is made of; def points into `memory`. */
typedef struct abut_body_copy {
  abut_body_def def;
  void *memory;
} abut_body_copy;

/* Copies the definition of a body out, of which abut_create_body makes the same body, to the bit in
 * a context of the same precision: the mesh with all its edges, primitives in the order of the
 * body's own definition and as it gave them, and the surface. The cloud of a mesh (cloud_from_mesh)
 * is the last of the clouds, and coefficients of grids are those of the context's precision. Free
 * it with abut_free_body_copy. Errors: ABUT_ERROR_ARGUMENT, also for a body with a height field;
 * ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_copy_body(abut_body body, abut_body_copy *copy);
ABUT_API void abut_free_body_copy(abut_body_copy *copy);

/* Distance and normal of a body's field at points of its frame (Beker et al., eq. 3 to 8).
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
