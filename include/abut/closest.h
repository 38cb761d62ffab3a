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
 * lower bound of the signed distance for every unit n; d is its maximum, for shapes apart and
 * overlapping alike. n points from shape 1 to shape 2, and p2 = p1 + d n.
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
  ABUT_SHAPE_HULL = 0,        /* of `vertices`: points, segments and flat sets among them */
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
  const double *vertices; /* (vertex_count, 3) of a hull [m]; any number, of which those on the
                             hull count */
  size_t vertex_count;
  double size[3];       /* of the other kinds [m], in [0, 1e6]; of ellipsoids and
                           superquadrics, whose forms divide by it, from 1e-9 on */
  double exponents[2];  /* of superquadrics, in [0.1, 1.9] */
  double radius;        /* rounds the shape: all points within it of the shape [m], from 0 */
  double position[3];   /* the shape's own frame in the frame that poses move [m] ... */
  double quaternion[4]; /* ... w, x, y, z, of any length above 0; 1 0 0 0 */
  size_t trailing;      /* of a hull that was read from a file: the bytes behind the mesh's end
                           there, which abut_shape_info repeats; else 0 */
  uint32_t cookie;      /* set by abut_default_shape_def */
} abut_shape_def;

/* A hull that has no vertices yet. */
ABUT_API abut_shape_def abut_default_shape_def(void);

/* Makes a shape, and finds the hull's vertices, once. Everything is copied. A list of shapes comes
 * to a device with the first call that names it, and stays there; a context keeps the last eight
 * lists. Errors: ABUT_ERROR_ARGUMENT, whose text names what is out of range. */
ABUT_API abut_status abut_create_shape(abut_context context, const abut_shape_def *def,
                                       abut_shape *shape);
ABUT_API abut_status abut_destroy_shape(abut_shape shape);

typedef struct abut_shape_info {
  abut_shape_kind kind;
  size_t vertices;   /* on the hull: of hulls and boxes; else 0 */
  size_t dimensions; /* of the hull: 3, 2 a flat one, 1 a segment, 0 a point; 3 for what is no
                        hull */
  double diagonal;   /* L, the norm of the extents along the shape's own axes, without the
                        definition's `radius` [m] */
  double span;       /* the same with `radius` [m] */
  size_t trailing;   /* bytes behind the end of the mesh in the file of abut_load_hull */
} abut_shape_info;

/* Says what a shape is. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_shape_info(abut_shape shape, abut_shape_info *info);

/* Copies a hull's vertices out, (vertices, 3), in the order in which `simplex` counts them: that of
 * the definition, without those that are not on the hull. A box's are its corners. */
ABUT_API abut_status abut_get_shape_vertices(abut_shape shape, double *vertices);

/* What of a body is taken as shapes. */
typedef enum abut_body_part {
  ABUT_PART_HULL = 0,          /* the hull of its mesh, of a bare mesh's body that of its contact
                                  mesh: one shape */
  ABUT_PART_SUPERQUADRICS = 1, /* each superquadric that adds; exponents outside [0.1, 1.9] count
                                  as the nearest in it */
  ABUT_PART_POLYHEDRA = 2      /* each polyhedron that adds */
} abut_body_part;

/* Says how many shapes a part of a body is. */
ABUT_API abut_status abut_count_body_shapes(abut_body body, abut_body_part part, size_t *count);

/* Makes the shapes of a part of a body, in the order of the body's file. `count` is what
 * abut_count_body_shapes says, and the length of `shapes`. Errors: ABUT_ERROR_ARGUMENT for a body
 * without such parts and for another count; ABUT_ERROR_BODY for a polyhedron that is empty or
 * without bounds. On an error none is made. */
ABUT_API abut_status abut_create_body_shapes(abut_body body, abut_body_part part, size_t count,
                                             abut_shape *shapes);

/* Makes the convex hull of a mesh file's own vertices, all of them, whether faces name them or not.
 * Reads a bare mesh of a format that abut_load_mesh reads, or the mesh that a NAME.body.json names,
 * its surface where that has no faces, or the ground of the height field of one that names none; no
 * field is made. Its numbers are taken as metres. Errors: ABUT_ERROR_FORMAT, also where a vertex is
 * not within +-1e6 m, and ABUT_ERROR_READ. */
ABUT_API abut_status abut_load_hull(abut_context context, const char *path, abut_shape *shape);

/* Reads a file of shapes: a JSON array of objects with "kind" (hull, sphere, ...), "numbers"
 * (groups as docs/closest.md has them: a sphere's [r], a hull's [vertices], a cone's [[r, h]]) and,
 * if they are not none, "radius", "position" and "quaternion". Makes all of them or none. Free the
 * array of handles with abut_free; that does not destroy the shapes. */
ABUT_API abut_status abut_load_shapes(abut_context context, const char *path, size_t *count,
                                      abut_shape **shapes);

/* Reads which shapes the rows of a batch are of from the .npz of their poses, as abut_load_poses
 * reads it: `one` and `two`, whole numbers from 0 to 2^32 - 1 of shape (count,). Both are NULL
 * where the file has neither, as no .csv has. Free them with abut_free. */
ABUT_API abut_status abut_load_shape_rows(const char *path, size_t count, uint32_t **one,
                                          uint32_t **two);

/* ---- queries ---- */

/* What became of a row. */
typedef enum abut_closest_status {
  ABUT_CLOSEST_CONVERGED = 0,       /* the gap is under the tolerance */
  ABUT_CLOSEST_ITERATION_LIMIT = 1, /* the answer stands within its gap */
  ABUT_CLOSEST_DEGENERATE = 2,      /* both shapes flat in one plane, or rounding ends progress
                                       before the tolerance is reached: the answer stands within
                                       its gap */
  ABUT_CLOSEST_BAD_INPUT = 3,       /* a pose that is not finite, or whose quaternion is 0:
                                       reals are NaN, `iterations` is 0, `simplex`
                                       is -1, and derivatives are 0 */
  ABUT_CLOSEST_BEYOND = 4,          /* certainly farther apart than `cutoff`: d is a lower bound
                                       of the distance, above `cutoff`, and d + gap an upper one.
                                       n and p1 are those of the nearest points that were found
                                       until then: g(n) need not be d, nor p2 = p1 + d n a point
                                       of shape 2. With a cutoff below 0 rows that overlap end so,
                                       too. Derivatives are 0 */
  ABUT_CLOSEST_FLAT = 8,            /* added to the others where derivatives by ABUT_CLOSEST_EXACT
                                       were asked for and a shape is touched on a face or an edge,
                                       which has no curvature: it counts as 0 */
  ABUT_CLOSEST_STEEP = 16           /* added to the others where an eigenvalue of M was below the
                                       ridge, as between overlapping shapes that are flat there or
                                       whose curvature counts as 0: derivatives of n, p1 and p2
                                       may be as large as the inverse of the ridge makes them, and
                                       no guide. That of d is right */
} abut_closest_status;

typedef struct abut_closest_batch {
  size_t count;             /* N, from 0 */
  const abut_shape *shapes; /* (shape_count) of one context */
  size_t shape_count;
  const uint32_t *one, *two; /* (N) which of `shapes` are shapes 1 and 2; NULL: 0 and 1 of all */
  abut_memory memory;        /* of poses, d, n, p1, p2, gap and the derivatives' arrays of the
                                same call; the others stay in host memory */
  abut_pose_kind poses;
  const void *pose1, *pose2; /* real (N, 6) or (N, 7) */
  const int32_t *warm;       /* (N, 4, 2) `simplex` of an earlier call to begin from: it changes
                                the time, not the answer beyond the tolerance, whatever it says;
                                or NULL */
  double tolerance;          /* of the gap, as a share of both shapes' spans together; 0: 1e-12 in
                                double, 1e-6 in float */
  double cutoff;             /* a row ends as soon as its distance is certainly above it [m];
                                INFINITY (abut_default_closest_batch): never */
  uint32_t iterations_most;  /* of a row, apart; 0: 256 */
  uint32_t corners_most;     /* of the polytope in overlapping shapes, 8 to 4096, rounded up to a
                                multiple of 16; 0: 256 */
  void *d;                   /* real (N) signed distance [m], or NULL, as all that follow */
  void *n;                   /* real (N, 3) unit, from shape 1 to shape 2 */
  void *p1, *p2;             /* real (N, 3) witness points, in the world [m] */
  void *gap;                 /* real (N) what is certain [m]: the true distance is within [d -
                                gap, d] where the shapes without their radii are apart, [d, d +
                                gap] where they overlap and at BEYOND, beside the rounding of d
                                itself. A sphere is a point with a radius here, a capsule a
                                segment: two spheres that are in each other are apart in this
                                sense, unless their centres meet */
  uint8_t *status;           /* (N) abut_closest_status */
  uint32_t *iterations;      /* (N) */
  int32_t *simplex;          /* (N, 4, 2) support points of shapes 1 and 2 that the answer is
                                made of: indices of the vertices of hulls and boxes, 0 of a
                                sphere, 0 or 1 for the upper or lower end of a capsule, codes of
                                directions for other shapes; -1 in places that are not used */
  size_t unsettled;          /* out: rows at ITERATION_LIMIT or DEGENERATE; 0 where the batch
                                lies in a state and has no `status` */
  size_t rejected;           /* out: rows at BAD_INPUT, likewise */
  size_t failures;           /* out: devices that failed during the call, whose share others
                                did */
  abut_progress progress;    /* or NULL */
  void *user;
  uint32_t cookie; /* set by abut_default_closest_batch */
} abut_closest_batch;

ABUT_API abut_closest_batch abut_default_closest_batch(void);

/* Computes all pairs, on all devices of the context. What is NULL is neither written nor
 * transferred. Every row ends, and no finite pose gives NaN. Results do not depend, to the bit, on
 * how the batch is split into chunks, calls or devices of one kind. Errors: ABUT_ERROR_ARGUMENT,
 * which names an entry whose shape is not there; ABUT_ERROR_HANDLE. */
ABUT_API abut_status abut_closest(abut_context context, abut_closest_batch *batch);

/* ---- derivatives ---- */

/* Where derivatives come from (docs/closest.md). The first three give the shapes a curvature, their
 * own or a smoothed one, at the answer, which is not smoothed. */
typedef enum abut_closest_method {
  ABUT_CLOSEST_EXACT = 0,    /* the shapes' own curvature: 0 on faces, edges and corners */
  ABUT_CLOSEST_GUMBEL = 1,   /* hulls and boxes by a soft maximum of the vertices around the witness
                                point, in closed form; other shapes by their own */
  ABUT_CLOSEST_GAUSSIAN = 2, /* that of the support map's mean over Gaussian directions, from
                                samples */
  ABUT_CLOSEST_ZEROTH = 3,   /* no curvature: queries at random poses around the given one */
  ABUT_CLOSEST_FINITE = 4    /* no curvature: central differences of queries, in float64 alone */
} abut_closest_method;

typedef struct abut_closest_smoothing {
  abut_closest_method method;
  double temperature; /* of GUMBEL, as a share of each shape's L, 1e-6 to 1e3; 0.05 */
  uint32_t level;     /* of GUMBEL: how often neighbours on the hull are added, 0 to 16; 1 */
  double epsilon;     /* of GAUSSIAN, the width of directions beside the unit vector, 0.3; of
                         ZEROTH, the width of steps, 0.02, and of FINITE, the steps, 1e-6: both
                         in rad, and as shares of both spans together. 1e-6 to 1e3; 0: these
                         numbers */
  uint32_t samples;   /* of GAUSSIAN, 1 to 65536, and ZEROTH, to 4096; 20 */
  uint64_t seed;      /* of the same: a row's numbers follow from it and from `first` + the row
                         alone */
  uint64_t first;     /* what the first row counts as */
  double ridge;       /* least eigenvalue of M that is divided by, as a share of both spans
                         together, 1e-15 to 1; 1e-6 */
  bool solved;        /* d, n, p1, p2 and status of the batch are the answers of abut_closest to
                         these poses, and are read instead of computed; FLAT and STEEP in
                         `status` are set anew; gap, iterations and simplex are left as they are.
                         Derivatives of a row whose answers are not finite are 0. Not by ZEROTH
                         and FINITE */
  uint32_t cookie;    /* set by abut_default_closest_smoothing */
} abut_closest_smoothing;

ABUT_API abut_closest_smoothing abut_default_closest_smoothing(void);

/* Jacobians by world twists (tau, phi) of each body about the origin that its pose places: t
 * becomes t + tau and R becomes exp(hat phi) R. Columns: tau1, phi1, tau2, phi2. NULL: not
 * wanted. */
typedef struct abut_closest_jacobians {
  void *p1, *p2, *n; /* real (N, 3, 12) */
  void *d;           /* real (N, 12) */
} abut_closest_jacobians;

/* Computes Jacobians; like abut_closest_vjp and abut_closest_jvp also what the batch wants, unless
 * that is `solved`. Derivatives of a row at BAD_INPUT or BEYOND are 0. Errors: as abut_closest;
 * ABUT_ERROR_ARGUMENT for settings out of range, and for FINITE in float32. */
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
 * pose, 6 or 7; a quaternion's part is orthogonal to the quaternion. */
typedef struct abut_closest_gradients {
  void *twists;        /* real (N, 12), or NULL */
  void *pose1, *pose2; /* real (N, P), or NULL */
} abut_closest_gradients;

/* Computes gradients, without Jacobians in memory: as abut_closest_jacobian. */
ABUT_API abut_status abut_closest_vjp(abut_context context, abut_closest_batch *batch,
                                      const abut_closest_smoothing *smoothing,
                                      const abut_closest_cotangents *cotangents,
                                      const abut_closest_gradients *gradients);

/* Computes derivatives of the outputs along `twists`, real (N, 12), one of both bodies for each
 * row: as abut_closest_jacobian. */
ABUT_API abut_status abut_closest_jvp(abut_context context, abut_closest_batch *batch,
                                      const abut_closest_smoothing *smoothing, const void *twists,
                                      const abut_closest_tangents *tangents);

#ifdef __cplusplus
}
#endif

#endif
