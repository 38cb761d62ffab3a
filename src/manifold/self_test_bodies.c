#include "manifold/self_test_bodies.h"

#include <abut/body.h>

#include "manifold/self_test_bodies.inl"

abut_smoothing self_test_smoothing(void)
{
  abut_smoothing smoothing = abut_default_smoothing();
  set_smoothing(&smoothing);
  return smoothing;
}

abut_status self_test_body(abut_context c, int which, abut_body *out)
{
  const abut_polyhedron polyhedron = {planes, sizeof planes / (6 * sizeof *planes), ABUT_ADD};
  const abut_pointcloud pointcloud = {cloud, sizeof cloud / (7 * sizeof *cloud), ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  def.vertices = which ? vertices_2 : vertices_1;
  def.vertex_count = sizeof vertices_1 / (3 * sizeof *vertices_1);
  def.face_sizes = face_sizes;
  def.face_indices = face_indices;
  def.face_count = sizeof face_sizes / sizeof *face_sizes;
  if (which) {
    def.superquadrics = superquadrics_2;
    def.superquadric_count = sizeof superquadrics_2 / sizeof *superquadrics_2;
    def.pointclouds = &pointcloud;
    def.pointcloud_count = 1;
  } else {
    def.superquadrics = superquadrics_1;
    def.superquadric_count = sizeof superquadrics_1 / sizeof *superquadrics_1;
    def.polyhedra = &polyhedron;
    def.polyhedron_count = 1;
  }
  return abut_create_body(c, &def, out);
}
