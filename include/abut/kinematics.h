/* Where the links of worlds are, and how far apart their pairs are, for batches of positions: what
 * planners and rewards read of a state without a step (docs/queries.md).
 *
 * Arrays are rows of `count` worlds in host memory, in the precision of the scene's context.
 * Derivatives by positions are in their tangent space, q (+) d of docs/dev/cone-formulas.md,
 * section 2: nv numbers a world, which abut_map_positions turns into those by the nq numbers of q.
 * A world whose positions are not finite, or have a quaternion of length 0, gets NaN and does not
 * affect the others. */
#ifndef ABUT_KINEMATICS_H
#define ABUT_KINEMATICS_H

#include <abut/derivatives.h>
#include <abut/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of a link as the scene's file states it. *name becomes NULL where it states none; the
 * text is the scene's. Errors: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_link_name(abut_scene scene, size_t link, const char **name);

/* Finds the poses of all links in each world: abut_place_links for a batch.
 *
 * - q: real (count, nq); quaternions may have any length but 0
 * - poses: real (count, links, 7) x, y, z, qw, qx, qy, qz of the link's own frame in the world, of
 *   length 1
 * It is computed on the host, in double. Errors: ABUT_ERROR_ARGUMENT for an array that is NULL, and
 * for an output that overlaps an input; ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_find_poses(abut_scene scene, size_t count, const void *q, void *poses);

/* The gradient by q of the sum of all poses times their cotangents.
 *
 * - poses_bar: real (count, links, 7)
 * - gradient: real (count, nv)
 * All else as in abut_find_poses. */
ABUT_API abut_status abut_find_poses_vjp(abut_scene scene, size_t count, const void *q,
                                         const void *poses_bar, void *gradient);

/* How poses change along tangents of q.
 *
 * - along: real (count, nv)
 * - tangents: real (count, links, 7)
 * All else as in abut_find_poses. */
ABUT_API abut_status abut_find_poses_jvp(abut_scene scene, size_t count, const void *q,
                                         const void *along, void *tangents);

/* Signed distances of pairs in each world, and their derivatives by q. What is NULL is neither read
 * nor written. */
typedef struct abut_distances {
  size_t count;               /* worlds */
  const void *q;              /* real (count, nq) */
  size_t pairs;               /* how many distances a world has */
  const uint32_t *candidates; /* (candidate_count, 2) a candidate of the scene (abut_get_candidate),
                                 and which of the `pairs` distances it belongs to. The distance is
                                 the least of its candidates', and has the derivatives of that one.
                                 Each distance has at least one */
  size_t candidate_count;
  abut_reduction reduction; /* ABUT_REDUCE_SOFT_DISTANCE, as by default, or ABUT_REDUCE_DISTANCE:
                               what docs/contacts.md calls soft_distance and distance */
  double temperature;       /* [m] of the soft distance; 0: as abut_reductions has it */
  void *d;                  /* real (count, pairs) [m], negative for bodies in each other */
  void *gradient;           /* real (count, pairs, nv) of each distance by q */
  const void *d_bar;        /* real (count, pairs) cotangents, for the next */
  void *q_gradient;  /* real (count, nv) of the sum of all distances times their cotangents */
  const void *along; /* real (count, nv) tangents of q, for the next */
  void *d_tangent;   /* real (count, pairs) */
  size_t failures;   /* out: devices that failed on the way */
  uint32_t cookie;
} abut_distances;

ABUT_API abut_distances abut_default_distances(void);

/* Finds distances by the fields of the scene's bodies, on the devices of its context. Errors:
 * ABUT_ERROR_ARGUMENT, also for an output that overlaps another array, and for scenes whose
 * contacts are given or springs, which have no such pairs; those of abut_gradient. */
ABUT_API abut_status abut_find_distances(abut_scene scene, abut_distances *distances);

#ifdef __cplusplus
}
#endif
#endif
