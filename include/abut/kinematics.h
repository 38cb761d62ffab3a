/* Poses of the links of worlds, and distances between their pairs, for batches of positions.
 * Planners and rewards compute these from a state without a step (docs/queries.md).
 *
 * Arrays are rows of `count` worlds in host memory, in the precision of the scene's context.
 * Derivatives with respect to positions are in their tangent space, q (+) d of
 * docs/dev/cone-formulas.md, section 2, with nv numbers per world. abut_map_positions converts them
 * to derivatives with respect to the nq numbers of q. A world whose positions are not finite, or
 * have a quaternion of length 0, gets NaN and does not affect the others. */
#ifndef ABUT_KINEMATICS_H
#define ABUT_KINEMATICS_H

#include <abut/derivatives.h>
#include <abut/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gets the name of a link in the scene's file. *name is NULL if the file states none; the text
 * belongs to the scene. Errors: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_link_name(abut_scene scene, size_t link, const char **name);

/* Computes the poses of all links in each world: abut_place_links for a batch.
 *
 * - q: real (count, nq); quaternions may have any length except 0
 * - poses: real (count, links, 7) x, y, z, qw, qx, qy, qz of the link's own frame in the world,
 *   with quaternions of length 1
 * The host computes them in double. Errors: ABUT_ERROR_ARGUMENT for an array that is NULL, and for
 * an output that overlaps an input; ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_find_poses(abut_scene scene, size_t count, const void *q, void *poses);

/* Computes the gradient with respect to q of the sum of all poses times their cotangents.
 *
 * - poses_bar: real (count, links, 7)
 * - gradient: real (count, nv)
 * All else is as in abut_find_poses. */
ABUT_API abut_status abut_find_poses_vjp(abut_scene scene, size_t count, const void *q,
                                         const void *poses_bar, void *gradient);

/* Computes the tangents of poses along tangents of q.
 *
 * - along: real (count, nv)
 * - tangents: real (count, links, 7)
 * All else is as in abut_find_poses. */
ABUT_API abut_status abut_find_poses_jvp(abut_scene scene, size_t count, const void *q,
                                         const void *along, void *tangents);

/* Signed distances of pairs in each world, and their derivatives with respect to q. Arrays that are
 * NULL are neither read nor written. */
typedef struct abut_distances {
  size_t count;               /* number of worlds */
  const void *q;              /* real (count, nq) */
  size_t pairs;               /* number of distances per world */
  const uint32_t *candidates; /* (candidate_count, 2) a candidate of the scene
                                 (abut_get_candidate), and the index of its distance among the
                                 `pairs` distances. A distance is the smallest of its
                                 candidates', and has the derivatives of that candidate. Each
                                 distance needs at least one candidate */
  size_t candidate_count;
  abut_reduction reduction; /* ABUT_REDUCE_SOFT_DISTANCE (the default) or ABUT_REDUCE_DISTANCE:
                               soft_distance and distance of docs/contacts.md */
  double temperature;       /* [m] of the soft distance; 0: as in abut_reductions */
  void *d;                  /* real (count, pairs) [m], negative if bodies overlap */
  void *gradient;           /* real (count, pairs, nv) of each distance by q */
  const void *d_bar;        /* real (count, pairs) cotangents, for `q_gradient` */
  void *q_gradient;  /* real (count, nv) of the sum of all distances times their cotangents */
  const void *along; /* real (count, nv) tangents of q, for `d_tangent` */
  void *d_tangent;   /* real (count, pairs) */
  size_t failures;   /* out: devices that failed during the call */
  uint32_t cookie;
} abut_distances;

ABUT_API abut_distances abut_default_distances(void);

/* Computes distances by the fields of the scene's bodies, on the devices of its context. Errors:
 * ABUT_ERROR_ARGUMENT, also for an output that overlaps another array, and for scenes whose
 * contacts are given or springs, which have no such pairs; those of abut_gradient. */
ABUT_API abut_status abut_find_distances(abut_scene scene, abut_distances *distances);

#ifdef __cplusplus
}
#endif
#endif
