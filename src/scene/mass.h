/* Mass properties of closed meshes. */
#ifndef ABUT_SCENE_MASS_H
#define ABUT_SCENE_MASS_H

#include <abut/body.h>

/* Mass [kg], centre of mass [m] and inertia about it [kg m^2], row by row. */
typedef struct mass {
  double mass, com[3], inertia[9];
} mass;

/* Computes the mass of the volume that a mesh's faces enclose, filled uniformly with `density`
 * [kg/m^3]: docs/dev/cone-formulas.md, section 3. Faces may have either orientation. Several shells
 * give the same solid as in a field: each is oriented outwards unless it is a cavity, and overlaps
 * count once. Fails with ABUT_ERROR_BODY if an edge does not have exactly one face on either side,
 * or if nothing is enclosed. */
abut_status mass_of_mesh(const abut_body_def *mesh, double density, mass *out);

/* Returns the mass after the body has moved so that its point x is at R(quaternion) x + position.
 * The quaternion is w, x, y, z, of length 1; the inertia is rotated with the body. */
mass mass_moved(const mass *m, const double position[3], const double quaternion[4]);

/* Returns the combined mass. Overlaps count twice. */
mass mass_sum(const mass *a, const mass *b);

#endif
