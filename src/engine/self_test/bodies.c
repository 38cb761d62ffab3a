#include "engine/self_test/bodies.h"

#include <abut/body.h>

#include "engine/self_test/bodies.inl"

abut_smoothing self_test_smoothing(void)
{
  abut_smoothing smoothing = abut_default_smoothing();
  set_smoothing(&smoothing);
  return smoothing;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The first body's grid, with the arrays that it points to. */
typedef struct made_grid {
  double coefficients[COUNT(grid_coefficients)], corrections[COUNT(grid_corrections)];
  abut_grid_level level;
  abut_grid grid;
} made_grid;

static void make_grid(made_grid *m)
{
  for (size_t i = 0; i < COUNT(grid_coefficients); ++i) {
    m->coefficients[i] = GRID_STEP * grid_coefficients[i];
  }
  for (size_t i = 0; i < COUNT(grid_corrections); ++i) {
    m->corrections[i] = GRID_CORRECTION_STEP * grid_corrections[i];
  }
  m->level = (abut_grid_level){grid_block, m->corrections, 1};
  m->grid = (abut_grid){.coefficients = m->coefficients,
                        .size = {GRID_SIDE, GRID_SIDE, GRID_SIDE},
                        .origin = {grid_origin[0], grid_origin[1], grid_origin[2]},
                        .spacing = GRID_SPACING,
                        .levels = &m->level,
                        .level_count = 1};
}

static abut_height_field ground_of(double heights[COUNT(height_steps)])
{
  for (size_t i = 0; i < COUNT(height_steps); ++i) {
    heights[i] = HEIGHT_STEP * height_steps[i];
  }
  return (abut_height_field){.heights = heights,
                             .rows = HEIGHT_ROWS,
                             .columns = HEIGHT_COLUMNS,
                             .size = {height_size[0], height_size[1]},
                             .base = HEIGHT_BASE};
}

static void state_features(int which, abut_body_def *def)
{
  def->cores = which ? &feature_core_2 : &feature_core_1;
  def->core_count = 1;
  def->states_features = true;
  def->feature_vertices = which ? feature_vertices_2 : feature_vertices_1;
  def->feature_vertex_count = COUNT(feature_vertices_1) / 4;
  def->feature_edges = which ? feature_edges_2 : feature_edges_1;
  def->feature_edge_count = COUNT(feature_edges_1);
}

static abut_status make_body(abut_context c, int which, bool touching, abut_body *out)
{
  const abut_polyhedron polyhedron = {planes, sizeof planes / (6 * sizeof *planes), ABUT_ADD};
  const abut_pointcloud pointcloud = {cloud, sizeof cloud / (7 * sizeof *cloud), ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  made_grid made;
  double heights[COUNT(height_steps)];
  const abut_height_field ground = ground_of(heights);
  def.vertices = which ? vertices_2 : vertices_1;
  def.vertex_count = sizeof vertices_1 / (3 * sizeof *vertices_1);
  def.face_sizes = face_sizes;
  def.face_indices = face_indices;
  def.face_count = sizeof face_sizes / sizeof *face_sizes;
  def.cores = which ? &core_2 : &core_1;
  def.core_count = 1;
  if (which) {
    def.superquadrics = superquadrics_2;
    def.superquadric_count = sizeof superquadrics_2 / sizeof *superquadrics_2;
    def.pointclouds = &pointcloud;
    def.pointcloud_count = 1;
    def.height_fields = &ground;
    def.height_field_count = !touching;
  } else {
    def.superquadrics = superquadrics_1;
    def.superquadric_count = sizeof superquadrics_1 / sizeof *superquadrics_1;
    def.polyhedra = &polyhedron;
    def.polyhedron_count = 1;
    make_grid(&made);
    def.grids = &made.grid;
    def.grid_count = !touching;
  }
  if (touching) {
    state_features(which, &def);
  }
  return abut_create_body(c, &def, out);
}

abut_status self_test_body(abut_context c, int which, abut_body *out)
{
  return make_body(c, which, false, out);
}

abut_status self_test_touching_body(abut_context c, int which, abut_body *out)
{
  return make_body(c, which, true, out);
}
