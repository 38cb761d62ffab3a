/* A closed mesh of a box of 1 x 2 x 3 m. */
#ifndef ABUT_TESTS_BRICK_H
#define ABUT_TESTS_BRICK_H

#include <abut/body.h>

static inline abut_body_def brick_def(void)
{
  static const double corners[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 2, 0,
                                   0, 0, 3, 1, 0, 3, 0, 2, 3, 1, 2, 3};
  static const uint32_t sizes[] = {4, 4, 4, 4, 4, 4};
  static const uint32_t faces[] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                   2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
  abut_body_def def = abut_default_body_def();
  def.vertices = corners;
  def.vertex_count = 8;
  def.face_sizes = sizes;
  def.face_indices = faces;
  def.face_count = 6;
  return def;
}

#endif
