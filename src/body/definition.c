/* Copies the definition out of a body. */
#include "base/call_lock.h"
#include "base/error.h"
#include "body/body.h"
#include "body/family/family.h"
#include "body/family/grid_tree.h"
#include "geometry/layout.h"
#include <stdlib.h>
#include <string.h>

#define SIDE ((size_t)ABUT_GRID_BLOCK)
#define BLOCK_NODES (SIDE * SIDE * SIDE)

static abut_status put(arena *memory, const void *from, size_t count, size_t size, void **out)
{
  TRY(arena_allocate(memory, out, count, size));
  if (count) {
    memcpy(*out, from, count * size);
  }
  return ABUT_SUCCESS;
}

static size_t corners_of(const uint32_t *sizes, size_t count)
{
  size_t corners = 0;
  for (size_t i = 0; i < count; ++i) {
    corners += sizes[i];
  }
  return corners;
}

static abut_status put_mesh(const body *b, arena *memory, abut_body_def *def)
{
  void *at;
  def->vertex_count = b->info.vertices;
  def->face_count = b->info.faces;
  def->edge_count = b->info.edges;
  def->union_ = b->info.union_;
  TRY(put(memory, b->vertices, def->vertex_count, 3 * sizeof *b->vertices, &at));
  def->vertices = at;
  TRY(put(memory, b->face_sizes, def->face_count, sizeof *b->face_sizes, &at));
  def->face_sizes = at;
  TRY(put(memory, b->face_indices, corners_of(b->face_sizes, def->face_count),
          sizeof *b->face_indices, &at));
  def->face_indices = at;
  TRY(put(memory, b->edges, def->edge_count, 2 * sizeof *b->edges, &at));
  def->edges = at;
  return ABUT_SUCCESS;
}

static abut_status put_surface(const body_parts *p, arena *memory, abut_surface *out)
{
  void *at;
  out->vertex_count = p->surface_vertex_count;
  out->face_count = p->surface_face_count;
  TRY(put(memory, p->surface_vertices, out->vertex_count, 3 * sizeof *out->vertices, &at));
  out->vertices = at;
  TRY(put(memory, p->surface_sizes, out->face_count, sizeof *out->face_sizes, &at));
  out->face_sizes = at;
  TRY(put(memory, p->surface_indices, corners_of(p->surface_sizes, out->face_count),
          sizeof *out->face_indices, &at));
  out->face_indices = at;
  return ABUT_SUCCESS;
}

/* A missing array stays NULL, since a pointer may mean that the array is stated. */
static abut_status put_given(const void *from, size_t count, size_t size, arena *memory, void **out)
{
  *out = NULL;
  return from ? put(memory, from, count, size, out) : ABUT_SUCCESS;
}

static abut_status put_features(const kept_features *f, arena *memory, abut_body_def *def)
{
  void *at;
  def->states_features = f->stated;
  def->sharp = f->sharp;
  def->cones = f->cones;
  def->feature_vertex_count = f->vertex_count;
  def->feature_edge_count = f->edge_count;
  def->feature_circle_count = f->circle_count;
  def->vertex_cone_count = f->vertex_cone_count;
  def->edge_cone_count = f->edge_cone_count;
  TRY(put_given(f->vertices, f->vertex_count, 4 * sizeof *f->vertices, memory, &at));
  def->feature_vertices = at;
  TRY(put_given(f->edges, f->edge_count, sizeof *f->edges, memory, &at));
  def->feature_edges = at;
  TRY(put_given(f->circles, f->circle_count, sizeof *f->circles, memory, &at));
  def->feature_circles = at;
  TRY(put_given(f->vertex_cones, f->vertex_cone_count, 4 * sizeof *f->vertex_cones, memory, &at));
  def->vertex_cones = at;
  TRY(put_given(f->edge_cones, f->edge_cone_count, 4 * sizeof *f->edge_cones, memory, &at));
  def->edge_cones = at;
  TRY(put_given(f->edge_cone_ends, f->edge_cone_count, 2 * sizeof *f->edge_cone_ends, memory, &at));
  def->edge_cone_ends = at;
  return ABUT_SUCCESS;
}

static abut_status put_parts(const body_parts *p, arena *memory, abut_body_def *def)
{
  void *at;
  def->superquadric_count = p->superquadric_count;
  TRY(put(memory, p->superquadrics, def->superquadric_count, sizeof *p->superquadrics, &at));
  def->superquadrics = at;
  def->polyhedron_count = p->polyhedron_count;
  TRY(put(memory, p->polyhedra, def->polyhedron_count, sizeof *p->polyhedra, &at));
  def->polyhedra = at;
  for (abut_polyhedron *one = at; one < (const abut_polyhedron *)at + def->polyhedron_count;
       ++one) {
    void *planes;
    TRY(put(memory, one->planes, one->count, 6 * sizeof *one->planes, &planes));
    one->planes = planes;
  }
  def->core_count = p->core_count;
  TRY(put(memory, p->cores, def->core_count, sizeof *p->cores, &at));
  def->cores = at;
  def->pointcloud_count = p->pointcloud_count;
  TRY(put(memory, p->pointclouds, def->pointcloud_count, sizeof *p->pointclouds, &at));
  def->pointclouds = at;
  for (abut_pointcloud *one = at; one < (const abut_pointcloud *)at + def->pointcloud_count;
       ++one) {
    void *points;
    TRY(put(memory, one->points, one->count, 7 * sizeof *one->points, &points));
    one->points = points;
  }
  TRY(put_features(&p->features, memory, def));
  return put_surface(p, memory, &def->surface);
}

/* ---- grids, whose coefficients are unpacked ---- */

/* Copies a block's own nodes from the packed nodes -1 to 9. `at` is the first own node. */
static void read_block(const packed *p, size_t at, double *out)
{
  for (size_t i = 0; i < SIDE; ++i) {
    for (size_t j = 0; j < SIDE; ++j) {
      for (size_t k = 0; k < SIDE; ++k) {
        out[(i * SIDE + j) * SIDE + k] =
          packed_number(p, at + ((i + 1) * GRID_NODES + j + 1) * GRID_NODES + k + 1);
      }
    }
  }
}

static abut_status put_levels(const packed *p, size_t blocks, arena *memory, abut_grid *g)
{
  void *at;
  TRY(arena_allocate(memory, &at, g->level_count, sizeof *g->levels));
  abut_grid_level *levels = at;
  for (size_t l = 0; l < g->level_count; ++l) {
    const size_t count = g->levels[l].block_count;
    void *room;
    levels[l].block_count = count;
    TRY(put(memory, g->levels[l].blocks, count, 3 * sizeof *levels->blocks, &room));
    levels[l].blocks = room;
    TRY(arena_allocate(memory, &room, count, BLOCK_NODES * sizeof(double)));
    for (size_t i = 0; i < count; ++i, blocks += GRID_BLOCK_STRIDE) {
      read_block(p, blocks + GRID_CHILDREN, (double *)room + i * BLOCK_NODES);
    }
    levels[l].coefficients = room;
  }
  g->levels = levels;
  return ABUT_SUCCESS;
}

/* Fills in a grid's arrays from the packed numbers that begin at `first`. */
static abut_status put_grid(const packed *p, size_t first, arena *memory, abut_grid *g)
{
  const size_t nodes = g->size[0] * g->size[1] * g->size[2];
  size_t sides[3];
  void *at;
  TRY(arena_allocate(memory, &at, nodes, sizeof *g->coefficients));
  for (size_t i = 0; i < nodes; ++i) {
    ((double *)at)[i] = packed_number(p, first + GRID_STRIDE + i);
  }
  g->coefficients = at;
  grid_map_sides(g, sides);
  const size_t cells = sides[0] * sides[1] * sides[2];
  return put_levels(p, first + GRID_STRIDE + GRID_PADDED(nodes) + GRID_MAPS * GRID_PADDED(cells),
                    memory, g);
}

static size_t place_of_grids(void)
{
  size_t i = 0;
  while (families[i]->array != offsetof(abut_body_def, grids)) {
    ++i;
  }
  return i;
}

static abut_status put_grids(const body *b, arena *memory, abut_body_def *def)
{
  size_t next[OPERATIONS] = {0};
  void *at;
  def->grid_count = b->parts.grid_count;
  TRY(put(memory, b->parts.grids, def->grid_count, sizeof *b->parts.grids, &at));
  abut_grid *grids = at;
  def->grids = grids;
  for (size_t i = 0; i < def->grid_count; ++i) {
    const abut_operation operation = grids[i].operation;
    const packed p = packed_of(b->head, &b->shape, operation, place_of_grids());
    TRY(put_grid(&p, (size_t)p.ranges[RANGE_INTS * next[operation]++], memory, &grids[i]));
  }
  return ABUT_SUCCESS;
}

/* ---- the call ---- */

static abut_status copy_out(const body *b, abut_body_copy *out)
{
  abut_status status = ABUT_SUCCESS;
  void *memory;
  TRY(allocate(&memory, 1, sizeof(arena)));
  *out = (abut_body_copy){.def = abut_default_body_def(), .memory = memory};
  TRY_DONE(put_mesh(b, memory, &out->def));
  TRY_DONE(put_parts(&b->parts, memory, &out->def));
  TRY_DONE(put_grids(b, memory, &out->def));
done:
  if (status != ABUT_SUCCESS) {
    abut_free_body_copy(out);
  }
  return status;
}

abut_status abut_copy_body(abut_body handle_, abut_body_copy *out)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_copy_body needs a place for its answer");
  }
  if (b->info.height_fields) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "abut_copy_body cannot copy a body with a height field: the original heights are not stored");
  }
  return copy_out(b, out);
}

void abut_free_body_copy(abut_body_copy *copy)
{
  if (copy && copy->memory) {
    arena_free(copy->memory);
    free(copy->memory);
    *copy = (abut_body_copy){.memory = NULL};
  }
}
