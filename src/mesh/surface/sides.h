/* Sides of triangles: side 3 t + k runs from corner k of triangle t to the next one. */
#ifndef ABUT_SURFACE_SIDES_H
#define ABUT_SURFACE_SIDES_H

#include <abut/status.h>
#include <stddef.h>
#include <stdint.h>

#define SIDE_OPEN UINT32_MAX          /* no side is across */
#define SIDE_TANGLED (UINT32_MAX - 1) /* several sides, or one with the same direction */

/* across: (3 triangle_count) the single side across each side, which runs in the opposite
 * direction. */
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
