/* What a scene alone tells of its worlds: counts, masses, and how easily links and joints move. */
#ifndef ABUT_WORLD_CONSTANTS_H
#define ABUT_WORLD_CONSTANTS_H

#include "world/mass.h"
#include "world/scene_def.h"

typedef struct scene_constants {
  int nq, nv;
  int *qadr, *vadr;       /* (links) where a joint's positions and dofs begin */
  mass *masses;           /* (links) stated, or of a density; com in the link's axes */
  double *q0;             /* (nq) hinges and slides 0, balls the identity, free links as stated */
  double *mass_matrix;    /* (nv, nv) at q0, armature in it */
  double *link_invweight; /* (links) tr(J M^-1 J')/3 of a link's centre at q0; 0: it cannot move */
  double *dof_invweight;  /* (nv) diagonal of M^-1 at q0, a mean over a ball's and over each half
                             of a free joint's */
  arena memory;
} scene_constants;

/* bodies: by scene_body_number, meshes of the bodies of links with a density; others are not looked
 * at (scene_bodies.def). Fails with the scene's file and line where a mesh is not closed or
 * encloses nothing, and where a dof moves no inertia. *out is empty on failure. */
abut_status scene_constants_make(const scene_def *s, const abut_body_def *const *bodies,
                                 scene_constants *out);
void scene_constants_free(scene_constants *c);

#endif
