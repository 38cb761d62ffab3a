/* Mass properties of closed meshes. */
#ifndef ABUT_WORLD_MASS_H
#define ABUT_WORLD_MASS_H

#include <abut/body.h>

/* Mass [kg], centre of mass [m] and inertia about it [kg m^2], row by row. */
typedef struct mass {
  double mass, com[3], inertia[9];
} mass;

/* Of what a mesh's faces enclose, evenly filled; they may run either way round, all of them alike.
 * Fails with ABUT_ERROR_BODY where an edge has not exactly one face on either side, or nothing is
 * enclosed. */
abut_status mass_of_mesh(const abut_body_def *mesh, double density, mass *out);

/* The same at another place: x goes to R(quaternion) x + position; w, x, y, z, of length 1. */
mass mass_moved(const mass *m, const double position[3], const double quaternion[4]);

/* Both together; what overlaps counts twice. */
mass mass_sum(const mass *a, const mass *b);

#endif
