/* What tests measure of contact meshes. */
#ifndef ABUT_TESTS_MEASURE_H
#define ABUT_TESTS_MEASURE_H

#include "mesh/surface/skin.h"

/* Checks what every contact mesh keeps to: edges in order, none twice, none of vertices that were
 * put on faces. */
void check_sound(const skin *k, const char *name);

/* How far a point of the surface is from the nearest vertex, at most, of many points; holes that
 * were closed are left out. */
double covering_radius(const surface *s, const skin *k);

/* How far a vertex is from the surface, at most. */
double off_surface(const surface *s, const skin *k);

/* Between neighbours of a lattice of so many points on the surface. */
double spacing_of(const surface *s, size_t vertices);

#endif
