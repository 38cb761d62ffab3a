// The families of primitives that a field is made of, in the order in which they are walked and
// packed: the one list, of kernels and host. docs/dev/extending.md says what a new line needs.
#ifndef GEOMETRY_FAMILIES_H
#define GEOMETRY_FAMILIES_H

#define FAMILIES(FAMILY) \
  FAMILY(superquadrics)  \
  FAMILY(polyhedra)      \
  FAMILY(pointclouds)    \
  FAMILY(grids)          \
  FAMILY(height_fields)  \
  FAMILY(cores)

#define COUNT_FAMILY(name) +1
#define FAMILY_COUNT (0 FAMILIES(COUNT_FAMILY))

#endif
