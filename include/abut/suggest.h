/* Suggests how many edges and vertices a pair's contacts need, by random poses in collision. */
#ifndef ABUT_SUGGEST_H
#define ABUT_SUGGEST_H

#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABUT_SUGGEST_POSES_MOST 65536 /* largest number of poses */

typedef struct abut_suggest_options {
  uint32_t poses;  /* number of poses, 1 to 65,536; 0: 256 */
  uint64_t seed;   /* of the random poses */
  double depth;    /* largest overlap, as a share of the smaller body's diagonal, 1e-4 to 0.5; 0:
                      0.03 */
  double quantile; /* share of poses, and of pairs, that must be covered, 0.5 to 1; 0: 0.95 */
  uint32_t cookie; /* set by abut_default_suggest_options */
} abut_suggest_options;

ABUT_API abut_suggest_options abut_default_suggest_options(void);

/* Counts for each pose, and the suggestion from them. */
typedef struct abut_suggestion {
  size_t poses;               /* in collision; fewer than requested if bodies could not be
                                 brought together */
  const uint32_t *pairs;      /* (poses) pairs of edges that cross inside both bodies, each edge
                                 the nearest edge of its body to the other */
  const uint32_t *deepest[2]; /* (poses) vertices of body 1, 2 inside the other body and deeper
                                 than their neighbours */
  uint32_t edges[2];          /* edges of each body to retain: the quantile over poses of such
                                 pairs, or more, so that the same share of all pairs is among the
                                 retained edges; at least 1 */
  uint32_t vertices[2];       /* vertices to retain: the quantile over poses of such vertices, at
                                 least 1 */
  double pairs_held;          /* share of pairs whose two edges are both retained; 1 if there are
                                 no pairs */
  void *memory;
} abut_suggestion;

/* Counts the edges and vertices in contact at random poses in collision (Monte Carlo, as Beker et
 * al. choose K and N). A pose has random rotations and a random direction. The second body is moved
 * along that direction until a vertex or an edge of either body is at a random depth below `depth`
 * in the other's field, which has the temperatures of the smoothing. An edge is tested at its ends
 * and at three points between. The same arguments give the same result on devices of one kind.
 * abut_free_suggestion frees it.
 *
 * Errors: ABUT_ERROR_BODY (no pose in collision was found), ABUT_ERROR_ARGUMENT, ABUT_ERROR_HANDLE,
 * ABUT_ERROR_MEMORY, and those of the devices.
 */
ABUT_API abut_status abut_suggest_kept(abut_body body1, abut_body body2,
                                       const abut_smoothing *smoothing,
                                       const abut_suggest_options *options,
                                       abut_suggestion *suggestion);
ABUT_API void abut_free_suggestion(abut_suggestion *suggestion);

#ifdef __cplusplus
}
#endif
#endif
