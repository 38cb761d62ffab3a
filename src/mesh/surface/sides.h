/* Triangles have sides: side 3 t + k runs from corner k of triangle t to the next one. */
#ifndef ABUT_SURFACE_SIDES_H
#define ABUT_SURFACE_SIDES_H

#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

#define SIDE_OPEN UINT32_MAX          /* nothing lies across */
#define SIDE_TANGLED (UINT32_MAX - 1) /* several, or one that runs the same way */

/* across: (3 triangle_count) the one side across each, which runs the other way. */
abut_status sides_pair(const uint32_t *triangles, size_t triangle_count, size_t point_count,
                       uint32_t *across);

static inline uint32_t side_next(uint32_t side)
{
  return side % 3 == 2 ? side - 2 : side + 1;
}

static inline uint32_t side_before(uint32_t side)
{
  return side % 3 == 0 ? side + 2 : side - 1;
}

#endif
