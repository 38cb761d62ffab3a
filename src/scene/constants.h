/* Constants that follow from a scene and are common to all its worlds: counts, masses, and inverse
 * weights, which state how easily links and joints move (docs/dev/cone-formulas.md, sections 3 and
 * 5). */
#ifndef ABUT_SCENE_CONSTANTS_H
#define ABUT_SCENE_CONSTANTS_H

#include "scene/mass.h"
#include "scene/trees.h"

typedef struct scene_constants {
  int nq, nv;
  int *qadr, *vadr; /* (links) start of a joint's positions in q and velocities in v */
  mass *masses; /* (links) as stated in the file or computed from a density; in the link's axes */
  double *q0;   /* (nq) hinges, slides at `start`, balls at identity, free links as stated */
  scene_trees trees;
  double *mass_matrix;    /* (trees.blocks) M at q0, with armature, by trees */
  double *link_invweight; /* (links) tr(J M^-1 J') / 3 at q0, J (3, nv) of the link's centre of
                             mass; 0 if the link cannot move */
  double *dof_invweight; /* (nv) the diagonal of M^-1 at q0; the three values of a ball are replaced
                            by their mean, likewise each three of a free joint, because their axes
                            are arbitrary */
  double *tendon_invweight; /* (tendons) j M^-1 j' of its coefficients j */
  double *tendon_start;     /* (tendons) its length at q0 */
  double (*places)[2][7];   /* (equalities) for those between links: the frame of either side on its
                               link, as a position and a quaternion */
  double (*equality_weights)[2]; /* (equalities) for those between links: of the rows for points and
                                    of those for rotation */
  arena memory;
} scene_constants;

/* Fills *out. bodies, by scene_body_number, are the meshes of the bodies of links with a density
 * (scene_bodies.def); those of other links are not read. Fails with the scene's file and line if a
 * mesh is not closed or encloses nothing, or if a degree of freedom moves no inertia. *out is empty
 * on failure. */
abut_status scene_constants_make(const scene_def *s, const abut_body_def *const *bodies,
                                 scene_constants *out);
void scene_constants_free(scene_constants *c);

#endif
