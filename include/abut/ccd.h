/* Continuous collision detection with a certificate. It finds the time up to which two features, or
 * two meshes between two poses, stay farther apart than a separation. All rounding is bounded and
 * subtracted, so that no float or double result calls a step free that collides.
 *
 *   abut_ccd_queries q = abut_default_ccd_queries();
 *   q.kind = ABUT_CCD_POINT_TRIANGLE;
 *   q.count = 1000;  q.x0 = ...;  q.x1 = ...;  q.toi = ...;  q.status = ...;
 *   abut_run_ccd_queries(context, &q);
 *
 *   abut_ccd_mesh meshes[2];  abut_load_ccd_mesh(context, "part.obj", &meshes[0]);  ...
 *   abut_ccd_batch b = abut_default_ccd_batch();
 *   b.count = 1000;  b.from1 = ...;  b.to1 = ...;  b.from2 = ...;  b.to2 = ...;  b.toi = ...;
 *   abut_ccd(meshes[0], meshes[1], &b);
 *
 * Time runs from 0 to 1 over the step. Reals are in the context's precision, to which double
 * numbers are rounded, and lengths are in metres. docs/dev/ccd-formulas.md has the method.
 *
 * Source: Li et al. 2021, Codimensional incremental potential contact, for the additive method; the
 * certificate by separating directions is this project's own.
 */
#ifndef ABUT_CCD_H
#define ABUT_CCD_H

#include <abut/body.h>
#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- features ---- */

/* Two features, and the order of a row's vertices: those of the first feature first. */
typedef enum abut_ccd_kind {
  ABUT_CCD_POINT_POINT = 0,    /* p, q */
  ABUT_CCD_POINT_EDGE = 1,     /* p, e0, e1; also in the plane, with z = 0 */
  ABUT_CCD_POINT_TRIANGLE = 2, /* p, f0, f1, f2 */
  ABUT_CCD_EDGE_EDGE = 3       /* a0, a1, b0, b1 */
} abut_ccd_kind;

#define ABUT_CCD_KINDS 4

/* Result status of a row. d(t) is the distance, d0 a certified lower bound of d(0), and r =
 * separation + keep max(d0 - separation, 0): */
typedef enum abut_ccd_status {
  ABUT_CCD_FREE = 0,      /* d > r up to `end`, proved; toi is `end` */
  ABUT_CCD_HIT = 1,       /* d > r up to toi, proved, but not beyond toi: there d decreases to
                             slightly above r (docs/ccd.md has the figure) */
  ABUT_CCD_LIMIT = 2,     /* d > r up to toi, proved; the iterations ran out */
  ABUT_CCD_WITHIN = 3,    /* d(0) > separation could not be proved; toi is 0 */
  ABUT_CCD_BAD_INPUT = 4, /* a number that is not finite, two vertices whose difference overflows, a
                             setting out of its range, a quaternion of 0; toi is 0 */
  ABUT_CCD_ROUGH = 8      /* added to HIT by derivatives that are not reliable, and are 0: the
                             features graze, so that the slope is unbounded; or a vertex or an
                             end touches at distance 0, so that the next pose may miss it; or
                             there is a turn of half a circle between the poses */
} abut_ccd_status;

#define ABUT_CCD_END 7 /* the status of a row without ABUT_CCD_ROUGH */

typedef enum abut_ccd_method {
  ABUT_CCD_CERTIFIED = 0, /* by separating directions, straight and curved */
  ABUT_CCD_ADDITIVE = 1   /* conservative steps of gap over speed (Li et al.), for comparison:
                             slower, and more rows stay undecided */
} abut_ccd_method;

typedef struct abut_ccd_queries {
  size_t count;                /* N, from 0 */
  abut_ccd_kind kind;          /* of all rows; V, the number of vertices of a row, is 2, 3, 4 or
                                  4 */
  abut_memory memory;          /* of all reals; other arrays are in host memory */
  const void *x0, *x1;         /* real (N, V, 3) vertices at time 0 and at time 1 [m] */
  const void *x0_low, *x1_low; /* real (N, V, 3) in a context of float: low parts of finer
                                  coordinates, which are x0 + x0_low, at most half a unit in the
                                  last place; a row with more is BAD_INPUT. NULL: none. With low
                                  parts set `relative_error` to 2^-48, as for double, not to
                                  2^-24 */
  double separation;           /* the distance that counts as a touch, from 0 [m]; 0 */
  double keep;                 /* share of the distance at time 0 above `separation` that must
                                  remain, 0 to below 1; 0 asks whether the features touch, 0.1
                                  suits a line search */
  double tolerance;            /* how far above r a hit may end [m], from 0; 0: as little as
                                  rounding permits */
  double end;                  /* end of the time interval of the query, 0 to 1; 1 */
  double error;                /* each coordinate is accurate to error + relative_error |coordinate|
                                  ... */
  double relative_error;       /* ... both from 0; 0: the numbers are exact. 2^-24 for float
                                  coordinates that were rounded from finer ones */
  const void *separations, *keeps, *tolerances, *ends, *errors,
    *relative_errors; /* real (N) each, instead of the two numbers above, or NULL */
  abut_ccd_method method;
  uint32_t iterations_most; /* of each stage, 1 to 1,000,000; 0: 32 */
  bool plain;               /* leave rows undecided that float64 or float32 cannot decide,
                               instead of repeating them with twice the digits */
  void *toi;                /* real (N) time of impact, or NULL, like all arrays below */
  uint8_t *status;          /* (N) abut_ccd_status */
  void *n;                  /* real (N, 3) unit, along the gap at toi, from the second feature to
                               the first; 0 at BAD_INPUT */
  void *d0;                 /* real (N) certified lower bound of the distance at time 0 [m], from
                               0 */
  uint32_t *iterations;     /* (N, 2) of the stages in plain numbers and in numbers of twice the
                               digits */
  size_t undecided;         /* out: rows at LIMIT; 0 if the batch is in a state and has no
                               `status` */
  size_t rejected;          /* out: rows at BAD_INPUT, likewise */
  size_t failures;          /* out: devices that failed during the call, and whose share other
                               devices did */
  abut_progress progress;   /* or NULL */
  void *user;
  uint32_t cookie; /* set by abut_default_ccd_queries */
} abut_ccd_queries;

ABUT_API abut_ccd_queries abut_default_ccd_queries(void);

/* Computes all rows of queries, on all devices of the context. Arrays that are NULL are neither
 * written nor transferred. Every row ends. Results do not depend, to the bit, on the order of the
 * rows, nor on how the batch is split into chunks, calls or devices of one kind. Errors:
 * ABUT_ERROR_ARGUMENT for settings of all rows that are out of range (a row's own settings make the
 * row BAD_INPUT); ABUT_ERROR_SELF_TEST if a device's arithmetic cannot hold the certificate;
 * ABUT_ERROR_HANDLE. */
ABUT_API abut_status abut_run_ccd_queries(abut_context context, abut_ccd_queries *queries);

/* Computes the batch's outputs, and the derivatives of toi with respect to the vertices at both
 * ends, at fixed r: toi_by_x0, toi_by_x1, real (N, V, 3) [1/m], or NULL. Derivatives are zero
 * except for a HIT that is not ROUGH. Errors: as abut_run_ccd_queries. */
ABUT_API abut_status abut_ccd_queries_gradient(abut_context context, abut_ccd_queries *queries,
                                               void *toi_by_x0, void *toi_by_x1);

/* ---- a line search ---- */

/* Pairs of features among the vertices of one mesh or of many. */
typedef struct abut_ccd_lanes {
  abut_ccd_kind kind;
  size_t count;
  const uint32_t *vertices; /* (count, V) vertex indices; a pair that has one index twice is
                               skipped */
} abut_ccd_lanes;

typedef struct abut_step_filter_def {
  size_t vertex_count;
  const void *x, *step;        /* real (vertex_count, 3): positions, and the whole step [m] */
  const abut_ccd_lanes *lanes; /* (lanes_count) */
  size_t lanes_count;
  double separation; /* as in abut_ccd_queries; 0 */
  double keep;       /* 0.1 */
  double most;       /* largest share of the step, 0 to 1; 1 */
  uint32_t cookie;   /* set by abut_default_step_filter_def */
} abut_step_filter_def;

ABUT_API abut_step_filter_def abut_default_step_filter_def(void);

typedef struct abut_step_filter_result {
  double share;           /* safe share of the step: no pair comes closer than `separation` plus
                             `keep` of its distance above that */
  size_t lanes, row;      /* the pair that bounds the step: its index in def.lanes and its row
                             there; the first of equal ones. SIZE_MAX: none */
  abut_ccd_status status; /* FREE if nothing bounds the step; WITHIN if a pair is closer than
                             `separation` already, and share is 0 */
  size_t asked;           /* pairs that needed more than their boxes to be proved safe */
} abut_step_filter_result;

/* Finds the largest safe share of a step for a whole batch of pairs of features. Rounding of x +
 * step, and of x + share step afterwards, is covered. Arrays are in host memory. Errors:
 * ABUT_ERROR_ARGUMENT, also for a vertex that does not exist and for numbers that are not
 * finite. */
ABUT_API abut_status abut_step_filter(abut_context context, const abut_step_filter_def *def,
                                      abut_step_filter_result *result);

/* ---- meshes ---- */

typedef struct abut_ccd_mesh {
  uint32_t index, generation;
} abut_ccd_mesh;

typedef struct abut_ccd_mesh_def {
  const double *vertices; /* (vertex_count, 3) [m], within +-1e6 */
  size_t vertex_count;
  const uint32_t *face_sizes;   /* (face_count), number of corners of each polygon, at least 3;
                                   NULL: triangles */
  const uint32_t *face_indices; /* vertex indices of all faces, one face after the other, from 0 */
  size_t face_count;
  const uint32_t *edges; /* (edge_count, 2), edges in addition to those of faces */
  size_t edge_count;
  size_t trailing; /* of a mesh from a file: bytes after the mesh's end in the file, which
                      abut_ccd_mesh_info repeats; else 0 */
  uint32_t cookie; /* set by abut_default_ccd_mesh_def */
} abut_ccd_mesh_def;

ABUT_API abut_ccd_mesh_def abut_default_ccd_mesh_def(void);

/* Makes a mesh whose vertices, edges and triangles collide. Faces need not be closed or
 * consistently oriented; polygons are cut into triangles. Edges are the unique edges of the
 * triangles, and `edges`. All vertices count, also those of no face. Vertices collide with
 * triangles, and edges with edges. A vertex does not collide with a vertex, nor with an edge of no
 * face. Everything is copied. Errors: ABUT_ERROR_ARGUMENT, which names the element. */
ABUT_API abut_status abut_create_ccd_mesh(abut_context context, const abut_ccd_mesh_def *def,
                                          abut_ccd_mesh *mesh);

/* Makes the mesh of a body's surface for collision in time, or of its contact mesh if the body has
 * no surface. Bodies of bare meshes have a surface. Bodies of files that name a surface also have
 * one. Errors: ABUT_ERROR_HANDLE; ABUT_ERROR_BODY, which names the body's file, if the mesh has no
 * faces, since other bodies would pass through it. */
ABUT_API abut_status abut_create_body_ccd_mesh(abut_body body, abut_ccd_mesh *mesh);

/* Makes a mesh for collision in time from a file, as the file is. The file is a bare mesh in a
 * format that abut_load_mesh reads, or a NAME.body.json. For a body file it is the surface that the
 * file names, else its mesh, or the ground of the height field if the file names neither. Numbers
 * are taken as metres. Errors: ABUT_ERROR_FORMAT, also if a vertex is not within +-1e6 m, if there
 * is no vertex, and if the mesh that a body file names has no faces; ABUT_ERROR_READ. */
ABUT_API abut_status abut_load_ccd_mesh(abut_context context, const char *path,
                                        abut_ccd_mesh *mesh);

/* Destroys a mesh for collision in time and frees its memory. */
ABUT_API abut_status abut_destroy_ccd_mesh(abut_ccd_mesh mesh);

typedef struct abut_ccd_mesh_info {
  size_t vertices, triangles, edges;
  double lower[3], upper[3]; /* bounding box of the vertices [m] */
  size_t trailing;           /* bytes after the mesh's end in the file of abut_load_ccd_mesh */
} abut_ccd_mesh_info;

/* Gets the sizes and the bounding box of a mesh for collision in time. Errors: ABUT_ERROR_HANDLE,
 * ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_ccd_mesh_info(abut_ccd_mesh mesh, abut_ccd_mesh_info *info);

/* Copies the vertices, triangles and edges of a mesh, by which features are numbered: vertices
 * (vertices, 3), triangles (triangles, 3), edges (edges, 2). Any may be NULL. */
ABUT_API abut_status abut_get_ccd_mesh_features(abut_ccd_mesh mesh, double *vertices,
                                                uint32_t *triangles, uint32_t *edges);

/* ---- two meshes between two poses ---- */

/* Motion of a body from one pose to the other. */
typedef enum abut_ccd_motion {
  ABUT_CCD_LINEAR = 0, /* each vertex moves on a straight line */
  ABUT_CCD_ARC = 1     /* turns uniformly about its `center`, which moves on a straight line: (0,
                          0, 0) gives slerp with a straight origin, a point of the screw's axis
                          gives the screw motion */
} abut_ccd_motion;

/* Kind of a pair of features. */
typedef enum abut_ccd_feature {
  ABUT_CCD_VERTEX_TRIANGLE = 0, /* feature1 is a vertex, feature2 a triangle */
  ABUT_CCD_TRIANGLE_VERTEX = 1,
  ABUT_CCD_EDGES = 2,
  ABUT_CCD_EDGE_TRIANGLE = 3, /* an edge of mesh 1 goes through a triangle of mesh 2 at time 0:
                                 WITHIN */
  ABUT_CCD_TRIANGLE_EDGE = 4
} abut_ccd_feature;

typedef struct abut_ccd_batch {
  size_t count;       /* N, from 0 */
  abut_memory memory; /* of all reals; other arrays are in host memory */
  abut_pose_kind poses;
  const void *from1, *to1; /* real (N, 6) or (N, 7), the poses of mesh 1 at times 0 and 1 */
  const void *from2, *to2;
  abut_ccd_motion motion;
  double center1[3], center2[3]; /* of ABUT_CCD_ARC, in the meshes' own frames [m] */
  double separation;             /* as in abut_ccd_queries */
  double keep;                   /* share of the meshes' distance at time 0 above `separation` that
                                    must remain. Pairs of features that come near each other
                                    keep this share of their own distance */
  double tolerance;         /* [m]; 0: 1e-9 in double, 1e-6 in float, times both meshes' size */
  uint32_t iterations_most; /* of a window's query, 1 to 1,000,000; 0: 32 */
  void *toi;                /* real (N) the largest safe time, or NULL, like all arrays below */
  uint8_t *status;          /* (N) abut_ccd_status; LIMIT only if an arc used up its windows */
  int32_t *kind;            /* (N) abut_ccd_feature of the first pair to touch, -1 if all are
                               free */
  uint32_t *feature1, *feature2; /* (N) index of the vertex, triangle or edge of each mesh (in
                                    the lists of abut_get_ccd_mesh_features); 0 if all are free */
  void *p1, *p2;              /* real (N, 3) nearest points of these features at toi, in the world
                                 [m] */
  void *n;                    /* real (N, 3) unit vector p1 - p2 over its length: out of mesh 2.
                                 If the points coincide, the direction in which the certificate
                                 ended. 0 if all are free, and if an edge is through a triangle */
  uint32_t *candidates;       /* (N) pairs of features whose boxes overlapped */
  size_t undecided, rejected; /* out: rows at LIMIT, at BAD_INPUT */
  size_t failures;            /* out: devices that failed during the call, and whose share other
                                 devices did */
  abut_progress progress;     /* or NULL */
  void *user;
  uint32_t cookie; /* set by abut_default_ccd_batch */
} abut_ccd_batch;

ABUT_API abut_ccd_batch abut_default_ccd_batch(void);

/* Finds the largest safe time of two meshes between two poses, for each row. Both may be the same
 * mesh. Results do not depend, to the bit, on how the batch is split. Errors: as
 * abut_run_ccd_queries. */
ABUT_API abut_status abut_ccd(abut_ccd_mesh one, abut_ccd_mesh two, abut_ccd_batch *batch);

/* Derivatives of toi at fixed r. They are zero except for a HIT that is not ROUGH. */
typedef struct abut_ccd_gradients {
  void *by1, *by2;     /* real (N, 12), or NULL: by tau0, phi0, tau1, phi1 of the mesh, which are
                          twists of its pose at times 0 and 1: t becomes t + tau, R becomes
                          exp(hat phi) R */
  const void *toi_bar; /* real (N) cotangents of toi, by which all of these derivatives are
                          multiplied; NULL: 1 */
  void *from1, *to1, *from2, *to2; /* real (N, 6 or 7), or NULL: by the poses' own numbers; a
                                      quaternion's part is orthogonal to the quaternion */
} abut_ccd_gradients;

/* Computes the batch's outputs, and the gradients of toi with respect to the meshes' poses. Errors:
 * as abut_ccd. */
ABUT_API abut_status abut_ccd_gradient(abut_ccd_mesh one, abut_ccd_mesh two, abut_ccd_batch *batch,
                                       const abut_ccd_gradients *gradients);

#ifdef __cplusplus
}
#endif

#endif
