/* The soft-minimum contact model "spring": wrenches between pairs of oriented point clouds, in
 * batches.
 *
 * Each point of a body is a soft spring against the field of the other,
 *   phi(x) = sum w_i n_i . (x - p_i), w = softmax(logw_i - |x - p_i|^2 / eps1_i),
 * and the pair's wrench is the mean over both bodies' points weighted by
 *   beta = softmax(-phi / eps2 + logw).
 * The wrench is smooth in poses and twists, and acts at a distance, too.
 * docs/dev/spring-formulas.md has the formulas.
 *
 *   abut_cloud clouds[2];
 *   abut_load_cloud("t26.obj", 1e-4, false, &clouds[0]);
 *   abut_load_cloud("finger.obj", 0.0, false, &clouds[1]);
 *   abut_spring s = abut_default_spring();
 *   s.clouds = clouds;  s.cloud_count = 2;  s.count = 1000;
 *   s.pose1 = ...;  s.pose2 = ...;  s.wrench1 = ...;  s.wrench2 = ...;
 *   abut_spring_forces(context, &s);
 *
 * Source: Beker et al. 2025, A Smooth Analytical Formulation of Collision Detection and Rigid Body
 * Dynamics With Contact.
 */
#ifndef ABUT_SPRING_H
#define ABUT_SPRING_H

#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABUT_CLOUD_POINTS_MOST (1 << 20) /* of a cloud */

/* An oriented point cloud, in its body's frame. You may fill one yourself. Free clouds that
 * functions of this header made with abut_free_cloud. */
typedef struct abut_cloud {
  size_t count;
  double *points;         /* (count, 3) [m] */
  double *normals;        /* (count, 3) outward, of any length above 0 */
  double *log_weights;    /* (count) logarithms of weights; NULL: 0. A point with -1e30 never
                             counts */
  double *eps1;           /* (count) [m^2], used if `kernels` is NULL */
  double *kernels;        /* (count, 3, 3) E_i [m^2], symmetric and positive: w from
                             logw_i - (x - p_i)' E_i^-1 (x - p_i); or NULL */
  size_t vertex_count;    /* number of vertices of the mesh whose faces are the points, in order,
                             for soft points; else 0 */
  double *vertices;       /* (vertex_count, 3) [m], for soft points; else NULL */
  uint32_t *face_sizes;   /* (count) corners of each face */
  uint32_t *face_indices; /* vertex indices of the faces, one face after the other */
  size_t trailing;        /* bytes after the end of the mesh in the file of abut_load_cloud */
} abut_cloud;

/* Makes a cloud with one point per face of a closed mesh: the mean of the face's corners, with the
 * polygon's unit normal by Newell's method. eps1 0 takes the mean area of a face / 8. With
 * area_weight a point has the weight of its face's area. Errors: ABUT_ERROR_BODY for a face without
 * area, and for a mesh that is open or inside out; ABUT_ERROR_ARGUMENT. Free the cloud with
 * abut_free_cloud. */
ABUT_API abut_status abut_make_cloud(size_t vertex_count, const double *vertices, size_t face_count,
                                     const uint32_t *face_sizes, const uint32_t *face_indices,
                                     double eps1, bool area_weight, abut_cloud *cloud);

/* Makes a cloud with one point per face of a mesh file, as abut_make_cloud does. */
ABUT_API abut_status abut_load_cloud(const char *path, double eps1, bool area_weight,
                                     abut_cloud *cloud);

/* Makes a cloud from given points: (count, 7), position, normal and eps1. */
ABUT_API abut_status abut_make_cloud_of_points(size_t count, const double *points,
                                               abut_cloud *cloud);

ABUT_API void abut_free_cloud(abut_cloud *cloud);

/* Computes phi and its gradient at points of the cloud's frame, on all devices of the context.
 *
 * points   real (count, 3)
 * phi      real (count) [m], negative inside; may be NULL
 * gradient real (count, 3); may be NULL
 */
ABUT_API abut_status abut_evaluate_cloud(abut_context context, const abut_cloud *cloud,
                                         size_t count, const void *points, void *phi,
                                         void *gradient);

typedef enum abut_dissipation {
  ABUT_DISSIPATION_C1 = 0,    /* (x - 2)^2 / 4 up to 2, x = v_n / v_d */
  ABUT_DISSIPATION_SMOOTH = 1 /* softplus(log(e^2 - 1) - 2 x) / 2 */
} abut_dissipation;

typedef enum abut_reaction {
  ABUT_REACTION_POINT = 0, /* at the point: momentum is conserved */
  ABUT_REACTION_PLANE = 1  /* at the plane's centre, as in the source: a moment remains */
} abut_reaction;

/* Reals are in the context's precision, in host memory. Outputs that are NULL are not written.
 * Twists are the velocity of the body's origin [m/s], then the spin [rad/s]. Wrenches are the force
 * [N], then the moment about the body's origin [N m]. Both are in the world's axes. Initialise it
 * by abut_default_spring. */
typedef struct abut_spring {
  const abut_cloud *clouds; /* (cloud_count) */
  size_t cloud_count;
  size_t count;          /* pairs of bodies */
  const uint32_t *pairs; /* (count, 2) clouds of bodies 1 and 2; NULL: 0 and 1 for all pairs */
  abut_pose_kind poses;
  const void *pose1, *pose2;   /* (count, 6) or (count, 7) */
  const void *twist1, *twist2; /* (count, 6); NULL: at rest */
  double k;                    /* stiffness of a whole contact [N/m], 5000 */
  double mu;                   /* friction, 0.5 */
  double v_d, v_s;             /* velocities of dissipation, 0.1, and of stiction, 0.01 [m/s] */
  double eps2, eps3;           /* temperatures of the separation, 5e-4, of the spring, 2e-4 [m] */
  const void *parameters;      /* (count, 6) the six numbers above, in this order, for each pair;
                                  or NULL */
  abut_dissipation dissipation;
  abut_reaction reaction;
  void *wrench1, *wrench2;    /* (count, 6) */
  void *distance;             /* (count) soft minimum of the separation [m], negative in contact */
  size_t width;               /* of `separation` and `weights`: at least the points of any pair */
  void *separation, *weights; /* (count, width) phi and beta of body 1's points, then of body
                                 2's; 0 in the rest */
  size_t soft_points;         /* K, number of soft points of each pair, if clouds have vertices */
  double tau;                 /* their temperature [-], 0.002 */
  void *points;               /* (count, K, 3) soft collision points in the world [m] */
  size_t vertex_width;        /* of `vertex_weights`: at least the vertices of any pair */
  void *vertex_weights;       /* (count, vertex_width) beta of the faces around each vertex of
                                 body 1, then of body 2, shared among a face's corners; 0 in the
                                 rest */
  size_t failures;            /* out: devices that failed, and whose share other devices did */
  uint32_t cookie;
} abut_spring;

ABUT_API abut_spring abut_default_spring(void);

/* Computes the wrenches of all pairs, on all devices of the context. A pair with a pose, a twist or
 * a parameter that is out of range or not finite gets NaN and does not affect the others. Errors:
 * ABUT_ERROR_ARGUMENT; ABUT_ERROR_BODY for clouds. */
ABUT_API abut_status abut_spring_forces(abut_context context, abut_spring *pairs);

/* Cotangents as inputs and gradients as outputs, in the context's precision and in host memory. An
 * input that is NULL is 0; an output that is NULL is not written. Initialise it by
 * abut_default_spring_gradients. */
typedef struct abut_spring_gradients {
  const void *wrench1, *wrench2; /* (count, 6) */
  const void *distance;          /* (count) */
  void *pose1, *pose2;           /* shapes of the poses */
  void *twist1, *twist2;         /* (count, 6) */
  void *parameters;              /* (count, 6) */
  void *jacobian;                /* (count, 7, 18) in body 2's frame. Rows: force and moment on
                                    body 1 about body 2's origin, distance. Columns: shift and
                                    rotation of body 1 there, its relative velocity there and
                                    spin, and the parameters */
  const void *direction;         /* (count, 12) of shift, rotation, relative velocity and spin,
                                    like the Jacobian's columns; for `jacobian_along` */
  void *jacobian_along;          /* (count, 7, 18) the derivative of the Jacobian along
                                    `direction`, with the velocity at body 2's origin constant
                                    except for the direction's own. With ABUT_DISSIPATION_C1 it
                                    jumps where v_n is 0 and 2 v_d */
  uint32_t cookie;
} abut_spring_gradients;

ABUT_API abut_spring_gradients abut_default_spring_gradients(void);

/* Computes wrenches as abut_spring_forces does, and the gradient of their sum times the cotangents.
 * Reactions are only at the points: with ABUT_REACTION_PLANE the call fails with
 * ABUT_ERROR_ARGUMENT, because the wrench is then no function of the relative motion. */
ABUT_API abut_status abut_spring_vjp(abut_context context, abut_spring *pairs,
                                     abut_spring_gradients *gradients);

#ifdef __cplusplus
}
#endif

#endif
