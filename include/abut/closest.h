/* Closest points of convex shapes: signed distance, witness points and normal of batches of pairs,
 * and derivatives that stay informative on flat faces and at sharp corners.
 *
 *   abut_shape_def def = abut_default_shape_def();
 *   def.vertices = ...;  def.vertex_count = 8;
 *   abut_shape shapes[2];
 *   abut_create_shape(context, &def, &shapes[0]); ...
 *   abut_closest_batch b = abut_default_closest_batch();
 *   b.shapes = shapes;  b.shape_count = 2;  b.count = 1000;  b.pose1 = ...;  b.pose2 = ...;
 *   b.d = ...;
 *   abut_closest(context, &b);
 *
 * Poses, units and precision are those of <abut/manifold.h>: metres, reals in the context's
 * precision. g(n) = n . s2(-n) - n . s1(n), with s the shapes' support maps in the world, is a
 * lower bound of the signed distance for every unit n. d is its maximum, for separated and for
 * overlapping shapes. n points from shape 1 to shape 2, and p2 = p1 + d n.
 * docs/dev/closest-formulas.md has the formulas.
 *
 * Source: Montaut et al. 2023, Differentiable collision detection: a randomized smoothing approach.
 */
#ifndef ABUT_CLOSEST_H
#define ABUT_CLOSEST_H

#include <abut/body.h>
#include <abut/derivatives.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shapes ---- */

typedef struct abut_shape {
  uint32_t index, generation;
} abut_shape;

typedef enum abut_shape_kind {
  ABUT_SHAPE_HULL = 0,        /* hull of `vertices`, which may be a point, a segment or a flat
                                 set */
  ABUT_SHAPE_SPHERE = 1,      /* size: r */
  ABUT_SHAPE_BOX = 2,         /* size: half lengths */
  ABUT_SHAPE_ELLIPSOID = 3,   /* size: half axes */
  ABUT_SHAPE_CAPSULE = 4,     /* size: r, h; around the segment from -h to h on z */
  ABUT_SHAPE_CYLINDER = 5,    /* size: r, h; z from -h to h */
  ABUT_SHAPE_CONE = 6,        /* size: r, h; base of radius r at z = -h, apex at z = h */
  ABUT_SHAPE_SUPERQUADRIC = 7 /* size: half axes; exponents e1, e2, as abut_superquadric has them */
} abut_shape_kind;

#define ABUT_SHAPE_KINDS 8

typedef struct abut_shape_def {
  abut_shape_kind kind;
  const double *vertices; /* (vertex_count, 3) of a hull [m]; any number. Only vertices on the
                             hull count */
  size_t vertex_count;
  double size[3];       /* of the other kinds [m], in [0, 1e6]. For ellipsoids and superquadrics,
                           whose forms divide by it, from 1e-9 on */
  double exponents[2];  /* of superquadrics, in [0.1, 1.9] */
  double radius;        /* rounds the shape: adds all points within this distance of it [m], from
                           0 */
  double position[3];   /* the shape's own frame in the frame that poses move [m] ... */
  double quaternion[4]; /* ... w, x, y, z, of any length above 0; 1 0 0 0 */
  size_t trailing;      /* of a hull from a file: bytes after the mesh's end in the file, which
                           abut_shape_info repeats; else 0 */
  uint32_t cookie;      /* set by abut_default_shape_def */
} abut_shape_def;

/* Returns the definition of a hull that has no vertices yet. */
ABUT_API abut_shape_def abut_default_shape_def(void);

/* Makes a shape, and finds the vertices on the hull once. Everything is copied. A list of shapes is
 * uploaded to a device by the first call that names it, and stays there; a context keeps the last
 * eight lists. Errors: ABUT_ERROR_ARGUMENT, whose text names the value that is out of range. */
ABUT_API abut_status abut_create_shape(abut_context context, const abut_shape_def *def,
                                       abut_shape *shape);

/* Destroys a shape and frees its memory. */
ABUT_API abut_status abut_destroy_shape(abut_shape shape);

typedef struct abut_shape_info {
  abut_shape_kind kind;
  size_t vertices;   /* number of vertices on the hull, for hulls and boxes; else 0 */
  size_t dimensions; /* dimensions of the hull: 3, 2 if flat, 1 for a segment, 0 for a point; 3
                        for other shapes */
  double diagonal;   /* L, the norm of the extents along the shape's own axes, without the
                        definition's `radius` [m] */
  double span;       /* the same with `radius` [m] */
  size_t trailing;   /* bytes after the end of the mesh in the file of abut_load_hull */
} abut_shape_info;

/* Gets the kind and the sizes of a shape. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_shape_info(abut_shape shape, abut_shape_info *info);

/* Copies a hull's vertices, (vertices, 3), in the order of the indices in `simplex`. This is the
 * order of the definition, without vertices that are not on the hull. The vertices of a box are its
 * corners. */
ABUT_API abut_status abut_get_shape_vertices(abut_shape shape, double *vertices);

/* Part of a body that is taken as shapes. */
typedef enum abut_body_part {
  ABUT_PART_HULL = 0,          /* the hull of its mesh; for a bare mesh's body that of its
                                  contact mesh: one shape */
  ABUT_PART_SUPERQUADRICS = 1, /* each added superquadric; exponents outside [0.1, 1.9] are
                                  replaced by the nearest bound */
  ABUT_PART_POLYHEDRA = 2      /* each added polyhedron */
} abut_body_part;

/* Counts the shapes of a part of a body. */
ABUT_API abut_status abut_count_body_shapes(abut_body body, abut_body_part part, size_t *count);

/* Makes the shapes of a part of a body, in the order of the body's file. `count` must be the result
 * of abut_count_body_shapes, and is the length of `shapes`. Errors: ABUT_ERROR_ARGUMENT for a body
 * without such parts and for another count; ABUT_ERROR_BODY for a polyhedron that is empty or
 * unbounded. On an error no shape is made. */
ABUT_API abut_status abut_create_body_shapes(abut_body body, abut_body_part part, size_t count,
                                             abut_shape *shapes);

/* Makes the convex hull of all vertices of a mesh file, whether or not faces use them. The file is
 * a bare mesh in a format that abut_load_mesh reads, or a NAME.body.json. For a body file it is the
 * mesh that the file names, its surface if that mesh has no faces, or the ground of its height
 * field if the file names no mesh. No field is made. Numbers are taken as metres. Errors:
 * ABUT_ERROR_FORMAT, also if a vertex is not within +-1e6 m, and ABUT_ERROR_READ. */
ABUT_API abut_status abut_load_hull(abut_context context, const char *path, abut_shape *shape);

/* Reads a file of shapes: a JSON array of objects. Each object has "kind" (hull, sphere, ...),
 * "numbers" (groups as in docs/closest.md: a sphere's [r], a hull's [vertices], a cone's [[r, h]])
 * and optionally "radius", "position" and "quaternion". All shapes are made, or none. Free the
 * array of handles with abut_free; that does not destroy the shapes. */
ABUT_API abut_status abut_load_shapes(abut_context context, const char *path, size_t *count,
                                      abut_shape **shapes);

/* Reads the shapes of the rows of a batch from the .npz of their poses, as abut_load_poses reads
 * it: `one` and `two`, whole numbers from 0 to 2^32 - 1 of shape (count,). Both are NULL if the
 * file has neither; a .csv has none. Free them with abut_free. */
ABUT_API abut_status abut_load_shape_rows(const char *path, size_t count, uint32_t **one,
                                          uint32_t **two);

/* ---- queries ---- */

/* Result status of a row. */
typedef enum abut_closest_status {
  ABUT_CLOSEST_CONVERGED = 0,       /* the gap is under the tolerance */
  ABUT_CLOSEST_ITERATION_LIMIT = 1, /* the result is accurate to its gap */
  ABUT_CLOSEST_DEGENERATE = 2,      /* both shapes are flat in one plane, or rounding ends
                                       progress before the tolerance is reached; the result is
                                       accurate to its gap */
  ABUT_CLOSEST_BAD_INPUT = 3,       /* a pose that is not finite, or whose quaternion is 0. Reals
                                       are NaN, `iterations` is 0, `simplex` is -1, and
                                       derivatives are 0 */
  ABUT_CLOSEST_BEYOND = 4,          /* certainly farther apart than `cutoff`. d is a lower bound
                                       of the distance, above `cutoff`, and d + gap an upper
                                       bound. n and p1 are those of the nearest points found so
                                       far: g(n) may differ from d, and p2 = p1 + d n need not be
                                       a point of shape 2. With a cutoff below 0 rows that
                                       overlap may end so, too. Derivatives are 0 */
  ABUT_CLOSEST_FLAT = 8,            /* added to the others if derivatives with ABUT_CLOSEST_EXACT
                                       were asked for and a shape is touched on a face or an
                                       edge, which has no curvature: it counts as 0 */
  ABUT_CLOSEST_STEEP = 16           /* added to the others if an eigenvalue of M was below the
                                       ridge, as between overlapping shapes that are flat there
                                       or whose curvature counts as 0. Derivatives of n, p1 and
                                       p2 may then be as large as the inverse of the ridge, and
                                       are not meaningful. The derivative of d is right */
} abut_closest_status;

typedef struct abut_closest_batch {
  size_t count;             /* N, from 0 */
  const abut_shape *shapes; /* (shape_count) of one context */
  size_t shape_count;
  const uint32_t *one, *two; /* (N) index in `shapes` of shapes 1 and 2; NULL: 0 and 1 for all
                                rows */
  abut_memory memory;        /* of poses, d, n, p1, p2, gap and the derivatives' arrays of the
                                same call; other arrays are in host memory */
  abut_pose_kind poses;
  const void *pose1, *pose2; /* real (N, 6) or (N, 7) */
  const int32_t *warm;       /* (N, 4, 2) `simplex` of an earlier call to start from, or NULL.
                                Any content changes only the time, not the result beyond the
                                tolerance */
  double tolerance;          /* of the gap, as a share of the sum of both shapes' spans; 0: 1e-12
                                in double, 1e-6 in float */
  double cutoff;             /* a row ends as soon as its distance is certainly above it [m];
                                INFINITY (abut_default_closest_batch): never */
  uint32_t iterations_most;  /* of a row with separated shapes; 0: 256 */
  uint32_t corners_most;     /* corners of the polytope in overlapping shapes, 8 to 4096, rounded
                                up to a multiple of 16; 0: 256 */
  void *d;                   /* real (N) signed distance [m], or NULL, like all arrays below */
  void *n;                   /* real (N, 3) unit, from shape 1 to shape 2 */
  void *p1, *p2;             /* real (N, 3) witness points, in the world [m] */
  void *gap;                 /* real (N) certified error bound [m], apart from the rounding of d
                                itself. The true distance is within [d - gap, d] if the shapes
                                without their radii are separated, and within [d, d + gap] if
                                they overlap and at BEYOND. A sphere here is a point with a
                                radius, a capsule a segment: two overlapping spheres are
                                separated in this sense, unless their centres coincide */
  uint8_t *status;           /* (N) abut_closest_status */
  uint32_t *iterations;      /* (N) */
  int32_t *simplex;          /* (N, 4, 2) support points of shapes 1 and 2 that define the
                                result: indices of the vertices of hulls and boxes, 0 for a
                                sphere, 0 or 1 for the upper or lower end of a capsule, codes of
                                directions for other shapes; -1 in unused places */
  size_t unsettled;          /* out: rows at ITERATION_LIMIT or DEGENERATE; 0 if the batch is in
                                a state and has no `status` */
  size_t rejected;           /* out: rows at BAD_INPUT, likewise */
  size_t failures;           /* out: devices that failed during the call, and whose share other
                                devices did */
  abut_progress progress;    /* or NULL */
  void *user;
  uint32_t cookie; /* set by abut_default_closest_batch */
} abut_closest_batch;

ABUT_API abut_closest_batch abut_default_closest_batch(void);

/* Computes the closest points of all pairs, on all devices of the context. Arrays that are NULL are
 * neither written nor transferred. Every row ends, and no finite pose gives NaN. Results do not
 * depend, to the bit, on how the batch is split into chunks, calls or devices of one kind. Errors:
 * ABUT_ERROR_ARGUMENT, which names an entry whose shape does not exist; ABUT_ERROR_HANDLE. */
ABUT_API abut_status abut_closest(abut_context context, abut_closest_batch *batch);

/* ---- derivatives ---- */

/* Method of the derivatives (docs/closest.md). The first three methods give the shapes a curvature
 * at the result, their own or a smoothed one. The result itself is not smoothed. */
typedef enum abut_closest_method {
  ABUT_CLOSEST_EXACT = 0,    /* the shapes' own curvature: 0 on faces, edges and corners */
  ABUT_CLOSEST_GUMBEL = 1,   /* hulls and boxes: a soft maximum of the vertices around the
                                witness point, in closed form; other shapes: their own curvature */
  ABUT_CLOSEST_GAUSSIAN = 2, /* curvature of the support map's mean over Gaussian directions,
                                from samples */
  ABUT_CLOSEST_ZEROTH = 3,   /* no curvature: queries at random poses around the given one */
  ABUT_CLOSEST_FINITE = 4    /* no curvature: central differences of queries, only in float64 */
} abut_closest_method;

typedef struct abut_closest_smoothing {
  abut_closest_method method;
  double temperature; /* of GUMBEL, as a share of each shape's L, 1e-6 to 1e3; 0.05 */
  uint32_t level;     /* of GUMBEL: how often neighbours on the hull are added, 0 to 16; 1 */
  double epsilon;     /* of GAUSSIAN, the width of directions beside the unit vector, 0.3; of
                         ZEROTH, the width of steps, 0.02; of FINITE, the steps, 1e-6. Steps are
                         in rad and as shares of the sum of both spans. 1e-6 to 1e3; 0: these
                         defaults */
  uint32_t samples;   /* of GAUSSIAN, 1 to 65536, and ZEROTH, 1 to 4096; 20 */
  uint64_t seed;      /* of the samples: a row's random numbers depend only on `seed` and on
                         `first` + the row */
  uint64_t first;     /* number of the first row */
  double ridge;       /* smallest eigenvalue of M used as a divisor, as a share of the sum of
                         both spans, 1e-15 to 1; 1e-6 */
  bool solved;        /* d, n, p1, p2 and status of the batch are the results of abut_closest for
                         these poses, and are read instead of computed. FLAT and STEEP in
                         `status` are set anew; gap, iterations and simplex do not change.
                         Derivatives of a row whose results are not finite are 0. Not with ZEROTH
                         and FINITE */
  uint32_t cookie;    /* set by abut_default_closest_smoothing */
} abut_closest_smoothing;

ABUT_API abut_closest_smoothing abut_default_closest_smoothing(void);

/* Jacobians with respect to world twists (tau, phi) of each body about the origin of its pose: t
 * becomes t + tau and R becomes exp(hat phi) R. Columns: tau1, phi1, tau2, phi2. NULL: not wanted.
 */
typedef struct abut_closest_jacobians {
  void *p1, *p2, *n; /* real (N, 3, 12) */
  void *d;           /* real (N, 12) */
} abut_closest_jacobians;

/* Computes the Jacobians of closest points. It also computes the batch's outputs, unless `solved`
 * is set, as abut_closest_vjp and abut_closest_jvp do. Derivatives of a row at BAD_INPUT or BEYOND
 * are 0. Errors: as abut_closest; ABUT_ERROR_ARGUMENT for settings out of range, and for FINITE in
 * float32. */
ABUT_API abut_status abut_closest_jacobian(abut_context context, abut_closest_batch *batch,
                                           const abut_closest_smoothing *smoothing,
                                           const abut_closest_jacobians *jacobians);

/* Cotangents of the outputs. */
typedef struct abut_closest_cotangents {
  const void *p1, *p2, *n; /* real (N, 3), or NULL for zero */
  const void *d;           /* real (N), or NULL for zero */
} abut_closest_cotangents;

/* Derivatives of the outputs along twists. */
typedef struct abut_closest_tangents {
  void *p1, *p2, *n; /* real (N, 3), or NULL where it is not wanted */
  void *d;           /* real (N), or NULL */
} abut_closest_tangents;

/* Gradients of the sum of all outputs times their cotangents: by twists, and by the P numbers of a
 * pose, 6 or 7. A quaternion's part is orthogonal to the quaternion. */
typedef struct abut_closest_gradients {
  void *twists;        /* real (N, 12), or NULL */
  void *pose1, *pose2; /* real (N, P), or NULL */
} abut_closest_gradients;

/* Computes gradients without storing Jacobians. All else is as in abut_closest_jacobian. */
ABUT_API abut_status abut_closest_vjp(abut_context context, abut_closest_batch *batch,
                                      const abut_closest_smoothing *smoothing,
                                      const abut_closest_cotangents *cotangents,
                                      const abut_closest_gradients *gradients);

/* Computes derivatives of the outputs along `twists`, real (N, 12), which has both bodies' twists
 * for each row. All else is as in abut_closest_jacobian. */
ABUT_API abut_status abut_closest_jvp(abut_context context, abut_closest_batch *batch,
                                      const abut_closest_smoothing *smoothing, const void *twists,
                                      const abut_closest_tangents *tangents);

#ifdef __cplusplus
}
#endif

#endif
