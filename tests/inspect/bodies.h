/* Bodies that tests of fields make. */
#ifndef ABUT_TESTS_INSPECT_BODIES_H
#define ABUT_TESTS_INSPECT_BODIES_H

#include "support/check.h"

/* A body of superquadrics; its mesh is of no account here. */
static inline abut_body body_of(abut_context context, const abut_superquadric *quadrics,
                                size_t count)
{
  static const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  static const uint32_t sizes[] = {3}, indices[] = {0, 1, 2};
  abut_body_def def = abut_default_body_def();
  abut_body body;
  def.vertices = vertices;
  def.vertex_count = 3;
  def.face_sizes = sizes;
  def.face_indices = indices;
  def.face_count = 1;
  def.superquadrics = quadrics;
  def.superquadric_count = count;
  REQUIRE_OK(abut_create_body(context, &def, &body));
  return body;
}

#endif
