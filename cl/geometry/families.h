// The families of primitives of a field, in their order of evaluation and packing. The kernels and
// the host share this list. docs/dev/extending.md describes the requirements of a new line.
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
