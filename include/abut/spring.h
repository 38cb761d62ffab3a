/* The soft-minimum contact model "spring": wrenches between pairs of oriented point clouds, in
 * batches.
 *
 * Each point of a body is a soft spring against the field of the other,
 *   phi(x) = sum w_i n_i . (x - p_i), w = softmax(logw_i - |x - p_i|^2 / eps1_i),
 * and the pair's wrench is the mean over both bodies' points weighted by
 *   beta = softmax(-phi / eps2 + logw).
 * It is smooth in poses and twists, and acts at a distance too. docs/dev/spring-formulas.md has the
 * formulas.
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

/* An oriented point cloud, in its body's frame. Callers may fill one themselves; those that were
 * made here are freed by abut_free_cloud. */
typedef struct abut_cloud {
  size_t count;
  double *points;         /* (count, 3) [m] */
  double *normals;        /* (count, 3) outward, of any length above 0 */
  double *log_weights;    /* (count) logarithms of weights; NULL: 0. -1e30: it never counts */
  double *eps1;           /* (count) [m^2], unless there are `kernels` */
  double *kernels;        /* (count, 3, 3) E_i [m^2], symmetric and positive: w from
                             logw_i - (x - p_i)' E_i^-1 (x - p_i); or NULL */
  size_t vertex_count;    /* of the mesh whose faces the points are, in their order: for soft */
  double *vertices;       /* (vertex_count, 3) [m] points alone; else 0 and NULL */
  uint32_t *face_sizes;   /* (count) corners of each face */
  uint32_t *face_indices; /* theirs, one face behind the other */
  size_t trailing;        /* bytes behind the end of the mesh in the file of abut_load_cloud */
} abut_cloud;

/* A point a face of a closed mesh: the mean of its corners, the unit normal of the polygon by
 * Newell's method. eps1 0 takes the mean area of a face / 8. With area_weight a point counts by
 * its face's area. Errors: ABUT_ERROR_BODY for a face without area, a mesh that is open or inside
 * out; ABUT_ERROR_ARGUMENT. Free it with abut_free_cloud. */
ABUT_API abut_status abut_make_cloud(size_t vertex_count, const double *vertices, size_t face_count,
                                     const uint32_t *face_sizes, const uint32_t *face_indices,
                                     double eps1, bool area_weight, abut_cloud *cloud);

/* The same of a mesh file. */
ABUT_API abut_status abut_load_cloud(const char *path, double eps1, bool area_weight,
                                     abut_cloud *cloud);

/* Points as they are: (count, 7), position, normal and eps1. */
ABUT_API abut_status abut_make_cloud_of_points(size_t count, const double *points,
                                               abut_cloud *cloud);

ABUT_API void abut_free_cloud(abut_cloud *cloud);

/* phi and its gradient at points of the cloud's frame, on all devices of the context.
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
  ABUT_REACTION_POINT = 0, /* at the point: momentum is kept */
  ABUT_REACTION_PLANE = 1  /* at the plane's centre, as the source has it: moments are left */
} abut_reaction;

/* Reals are in the context's precision, in host memory; NULL outputs are not written. Twists are
 * the velocity of the body's origin [m/s], then the spin [rad/s], wrenches the force [N], then the
 * moment about the body's origin [N m], all in the world's axes. Made by abut_default_spring. */
typedef struct abut_spring {
  const abut_cloud *clouds; /* (cloud_count) */
  size_t cloud_count;
  size_t count;          /* pairs of bodies */
  const uint32_t *pairs; /* (count, 2) clouds of bodies 1 and 2; NULL: 0 and 1 of all */
  abut_pose_kind poses;
  const void *pose1, *pose2;   /* (count, 6) or (count, 7) */
  const void *twist1, *twist2; /* (count, 6); NULL: at rest */
  double k;                    /* stiffness of a whole contact [N/m], 5000 */
  double mu;                   /* friction, 0.5 */
  double v_d, v_s;             /* velocities of dissipation, 0.1, and of stiction, 0.01 [m/s] */
  double eps2, eps3;           /* temperatures of the separation, 5e-4, of the spring, 2e-4 [m] */
  const void *parameters;      /* (count, 6) these, in this order, of each pair; or NULL */
  abut_dissipation dissipation;
  abut_reaction reaction;
  void *wrench1, *wrench2;    /* (count, 6) */
  void *distance;             /* (count) soft minimum of the separation [m], negative in touch */
  size_t width;               /* of the next two: at least the points of any pair */
  void *separation, *weights; /* (count, width) phi and beta of body 1's points, then of body
                                 2's; 0 behind them */
  size_t soft_points;         /* K, how many are wanted of each pair, where clouds have
                                 vertices */
  double tau;                 /* their temperature [-], 0.002 */
  void *points;               /* (count, K, 3) soft collision points in the world [m] */
  size_t vertex_width;        /* of the next: at least the vertices of any pair */
  void *vertex_weights;       /* (count, vertex_width) beta of the faces around each vertex of
                                 body 1, then of body 2, shared among a face's corners; 0 behind
                                 them */
  size_t failures;            /* out: devices that failed, whose share others did */
  uint32_t cookie;
} abut_spring;

ABUT_API abut_spring abut_default_spring(void);

/* Computes all pairs, on all devices of the context. A pair with a pose, a twist or a parameter
 * that is out of range or not finite gets NaN and touches no other. Errors: ABUT_ERROR_ARGUMENT;
 * ABUT_ERROR_BODY for clouds. */
ABUT_API abut_status abut_spring_forces(abut_context context, abut_spring *pairs);

/* Cotangents in, gradients out, in the context's precision and in host memory; what is NULL is 0,
 * or not written. Made by abut_default_spring_gradients. */
typedef struct abut_spring_gradients {
  const void *wrench1, *wrench2; /* (count, 6) */
  const void *distance;          /* (count) */
  void *pose1, *pose2;           /* as the poses */
  void *twist1, *twist2;         /* (count, 6) */
  void *parameters;              /* (count, 6) */
  void *jacobian;                /* (count, 7, 18) in body 2's frame: force and moment on body 1
                                    about body 2's origin, distance; by shift and turn of body 1
                                    there, by its relative velocity there and spin, by the
                                    parameters */
  const void *direction;         /* (count, 12) of shift, turn, relative velocity and spin, as the
                                    Jacobian's columns are; for the next */
  void *jacobian_along;          /* (count, 7, 18) the derivative of the Jacobian along it, while
                                    the velocity at body 2's origin stays but for the direction's
                                    own. Of ABUT_DISSIPATION_C1 it jumps where v_n is 0 and 2
                                    v_d */
  uint32_t cookie;
} abut_spring_gradients;

ABUT_API abut_spring_gradients abut_default_spring_gradients(void);

/* Wrenches as abut_spring_forces, and the gradient of the cotangents' sum with them. Reactions are
 * at the points alone: with ABUT_REACTION_PLANE it fails with ABUT_ERROR_ARGUMENT, as there the
 * wrench is no function of the relative motion. */
ABUT_API abut_status abut_spring_vjp(abut_context context, abut_spring *pairs,
                                     abut_spring_gradients *gradients);

#ifdef __cplusplus
}
#endif

#endif
