/* Mass properties of closed meshes. */
#ifndef ABUT_SCENE_MASS_H
#define ABUT_SCENE_MASS_H

#include <abut/body.h>

/* Mass [kg], centre of mass [m] and inertia about it [kg m^2], row by row. */
typedef struct mass {
  double mass, com[3], inertia[9];
} mass;

/* Finds the mass of what a mesh's faces enclose, filled evenly with `density` [kg/m^3]:
 * docs/dev/cone-formulas.md, section 3. Faces may run either way round. Several shells are the
 * solid that a field makes of them: each is turned outwards unless it is a cavity, and where they
 * overlap it counts once. Fails with ABUT_ERROR_BODY where an edge has not exactly one face on
 * either side, or nothing is enclosed. */
abut_status mass_of_mesh(const abut_body_def *mesh, double density, mass *out);

/* Returns the mass where the body has moved, so that its point x is at R(quaternion) x + position.
 * The quaternion is w, x, y, z, of length 1; the inertia is turned with it. */
mass mass_moved(const mass *m, const double position[3], const double quaternion[4]);

/* Returns the mass of both together. Where they overlap, both count. */
mass mass_sum(const mass *a, const mass *b);

#endif
