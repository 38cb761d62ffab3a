#include "body/family/parts.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/grid_box.h"
#include "body/family/grid_file.h"
#include "body/family/grid_measures.h"
#include "body/family/grid_tree.h"
#include "geometry/layout.h"
#include <float.h>
#include <math.h>

#define SIDE ABUT_GRID_BLOCK
#define NODES (SIDE * SIDE * SIDE)
#define OUTER 4 /* layers of coefficients that must be positive */

/* ---- definitions ---- */

static abut_status check_sizes(const abut_grid *g, size_t i)
{
  size_t nodes = 1;
  for (int k = 0; k < 3; ++k) {
    if (g->size[k] < GRID_SIDE_LEAST || g->size[k] > GRID_SIDE_MOST) {
      return fail(ABUT_ERROR_BODY, "grid %zu has %zu nodes along axis %d, expected %d to %d", i,
                  g->size[k], k, GRID_SIDE_LEAST, GRID_SIDE_MOST);
    }
    nodes *= g->size[k];
  }
  if (nodes > GRID_NODES_MOST) {
    return fail(ABUT_ERROR_BODY, "grid %zu has %zu nodes; at most %zu are possible", i, nodes,
                GRID_NODES_MOST);
  }
  if (!(g->spacing >= SPACING_LEAST && g->spacing <= COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "grid %zu: spacing is %g, not in [%g, %g]", i, g->spacing,
                SPACING_LEAST, COORDINATE_MOST);
  }
  if (!all_within(g->origin, 3, COORDINATE_MOST)) {
    return fail(ABUT_ERROR_BODY, "grid %zu: origin is not within +-%g", i, COORDINATE_MOST);
  }
  return g->coefficients ? ABUT_SUCCESS : fail(ABUT_ERROR_BODY, "grid %zu has no coefficients", i);
}

static bool is_outer(const abut_grid *g, const size_t at[3])
{
  for (int k = 0; k < 3; ++k) {
    if (at[k] < OUTER || at[k] + OUTER >= g->size[k]) {
      return true;
    }
  }
  return false;
}

static abut_status check_coefficients(const abut_grid *g, size_t i)
{
  const double *c = g->coefficients;
  size_t at[3];
  for (at[0] = 0; at[0] < g->size[0]; ++at[0]) {
    for (at[1] = 0; at[1] < g->size[1]; ++at[1]) {
      for (at[2] = 0; at[2] < g->size[2]; ++at[2], ++c) {
        if (!(fabs(*c) <= GRID_DISTANCE_MOST)) {
          return fail(ABUT_ERROR_BODY, "grid %zu: coefficient %zu %zu %zu is not within +-%g", i,
                      at[0], at[1], at[2], GRID_DISTANCE_MOST);
        }
        if (!(*c > 0.0) && is_outer(g, at)) {
          return fail(ABUT_ERROR_BODY,
                      "grid %zu: coefficient %zu %zu %zu is %g; coefficients in the outer four "
                      "layers must be above 0",
                      i, at[0], at[1], at[2], *c);
        }
      }
    }
  }
  return ABUT_SUCCESS;
}

/* ---- corrections ---- */

static abut_status check_levels(const abut_grid *g, size_t i)
{
  size_t blocks = 0;
  if (g->level_count > GRID_LEVELS_MOST || (g->level_count && !g->levels)) {
    return fail(ABUT_ERROR_BODY, "grid %zu has %zu levels; at most %d are possible", i,
                g->level_count, GRID_LEVELS_MOST);
  }
  for (size_t l = 0; l < g->level_count; ++l) {
    const abut_grid_level *level = &g->levels[l];
    if (!level->block_count || level->block_count > ELEMENT_LIMIT || !level->blocks ||
        !level->coefficients) {
      return fail(ABUT_ERROR_BODY, "grid %zu, level %zu has %zu blocks", i, l + 1,
                  level->block_count);
    }
    blocks += level->block_count;
  }
  return blocks <= ELEMENT_LIMIT
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_BODY, "grid %zu has %zu blocks; at most %zu are possible", i, blocks,
                  ELEMENT_LIMIT);
}

static abut_status check_block(const abut_grid *g, size_t i, size_t level, size_t block,
                               const grid_tree *t)
{
  const abut_grid_level *l = &g->levels[level - 1];
  const double *c = l->coefficients + block * NODES;
  const grid_around a = grid_blocks_around(t, level, l->blocks + 3 * block);
  for (int n = 0; n < NODES; ++n) {
    const int node[3] = {n / (SIDE * SIDE), n / SIDE % SIDE, n % SIDE};
    if (!(fabs(c[n]) <= GRID_DISTANCE_MOST)) {
      return fail(ABUT_ERROR_BODY,
                  "grid %zu, level %zu, block %zu: coefficient %d %d %d is not "
                  "within +-%g",
                  i, level, block, node[0], node[1], node[2], GRID_DISTANCE_MOST);
    }
    if (c[n] != 0.0 && !grid_node_is_inner(&a, node)) {
      return fail(ABUT_ERROR_BODY,
                  "grid %zu, level %zu, block %zu: coefficient %d %d %d is %g; it must be 0 within "
                  "two cells of the border of the level's blocks",
                  i, level, block, node[0], node[1], node[2], c[n]);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_corrections(const abut_grid *g, size_t i)
{
  abut_status status = ABUT_SUCCESS;
  grid_tree tree;
  TRY(check_levels(g, i));
  TRY(grid_tree_create(g, i, &tree));
  for (size_t level = 1; level <= g->level_count; ++level) {
    for (size_t b = 0; b < g->levels[level - 1].block_count; ++b) {
      TRY_DONE(check_block(g, i, level, b, &tree));
    }
  }
  if (g->level_count && !(grid_rim_least(g) > 0.0)) {
    status = fail(ABUT_ERROR_BODY,
                  "grid %zu: with the corrections of its levels, a coefficient in the outer four "
                  "layers may be 0 or below; it must be above 0",
                  i);
  }
done:
  grid_tree_free(&tree);
  return status;
}

static abut_status check(const void *one, size_t i)
{
  TRY(check_sizes(one, i));
  TRY(check_coefficients(one, i));
  return check_corrections(one, i);
}

static void inform(const void *one, abut_body_info *info)
{
  const abut_grid *g = one;
  ++info->grids;
  for (size_t l = 0; l < g->level_count; ++l) {
    info->blocks += g->levels[l].block_count;
  }
}

static abut_status read(const json_file *f, const json_at *at, arena *memory, void *one)
{
  static const char *const keys[] = {"file", "operation"};
  json_at file;
  TRY(CHECK_KEYS(f, at, keys));
  TRY(json_need(f, at, "file", &file));
  return grid_file_read(f, &file, memory, one);
}

/* ---- packing ---- */

static size_t count_blocks(const abut_grid *g)
{
  size_t blocks = 0;
  for (size_t l = 0; l < g->level_count; ++l) {
    blocks += g->levels[l].block_count;
  }
  return blocks;
}

static size_t room_of(const abut_grid *g)
{
  size_t sides[3];
  grid_map_sides(g, sides);
  return GRID_STRIDE + GRID_PADDED(g->size[0] * g->size[1] * g->size[2]) +
         GRID_MAPS * GRID_PADDED(sides[0] * sides[1] * sides[2]) +
         count_blocks(g) * GRID_BLOCK_STRIDE;
}

static size_t room(const void *const *ones, size_t count)
{
  size_t numbers = 0;
  for (size_t i = 0; i < count; ++i) {
    numbers += room_of(ones[i]);
  }
  return numbers;
}

static void pack_record(packer *p, const abut_grid *g, const grid_tree *t, const grid_measures *m)
{
  const grid_bounds *b = &m->bounds;
  reals *out = p->shape;
  for (size_t k = 0; k < 3; ++k) {
    reals_set(out, p->at + k, g->origin[k]);
    reals_set(out, p->at + GRID_SIZES + k, (double)g->size[k]);
    reals_set(out, p->at + GRID_MAP + k, (double)t->sides[k]);
  }
  reals_set(out, p->at + GRID_SPACING, g->spacing);
  reals_set(out, p->at + GRID_SPACING_INV, 1.0 / g->spacing);
  reals_set(out, p->at + GRID_SLOPE, b->slope);
  reals_set(out, p->at + GRID_FINE_SLOPE, b->fine_slope);
  reals_set(out, p->at + GRID_CORRECTION, b->correction);
  reals_set(out, p->at + GRID_OUTWARD, b->outward);
  reals_set(out, p->at + GRID_RIM_LEAST, b->rim_least);
  reals_set(out, p->at + GRID_RIM_MOST, b->rim_most);
  reals_set(out, p->at + GRID_NEAR, m->near.reach / GRID_SLACK);
  p->at += GRID_STRIDE;
}

/* The bounds include the rounding on devices. */
static void pack_coarse(packer *p, const abut_grid *g, const grid_tree *t, const grid_measures *m)
{
  const grid_bounds *b = &m->bounds;
  const grid_near *n = &m->near;
  const size_t nodes = g->size[0] * g->size[1] * g->size[2];
  const size_t cells = t->sides[0] * t->sides[1] * t->sides[2];
  reals_put(p->shape, p->at, g->coefficients, nodes);
  p->at += GRID_PADDED(nodes);
  for (size_t i = 0; i < cells; ++i) {
    const double slope = GRID_SLACK * n->slope[i] + b->rounding / g->spacing;
    const double correction = GRID_SLACK * n->correction[i] + b->rounding;
    reals_set(p->shape, p->at + i, t->map[i]);
    reals_set(p->shape, p->at + GRID_PADDED(cells) + i, fmin(slope, b->slope));
    reals_set(p->shape, p->at + 2 * GRID_PADDED(cells) + i, fmin(correction, b->correction));
  }
  p->at += GRID_MAPS * GRID_PADDED(cells);
}

/* Packs the nodes -1 to 9 from the block and its neighbours. */
static void pack_nodes(packer *p, const abut_grid *g, const grid_around *a)
{
  const double *c[27];
  for (int n = 0; n < 27; ++n) {
    c[n] = a->number[n] >= 0 ? grid_block(g, (size_t)a->number[n]) : NULL;
  }
  for (size_t i = 0; i < GRID_NODES; ++i) {
    for (size_t j = 0; j < GRID_NODES; ++j) {
      const size_t x = i + SIDE - 1, y = j + SIDE - 1; /* counted from the previous block */
      const double *const *of = c + x / SIDE * 9 + y / SIDE * 3;
      const size_t row = (x % SIDE * SIDE + y % SIDE) * SIDE;
      const size_t to = p->at + GRID_CHILDREN + (i * GRID_NODES + j) * GRID_NODES;
      reals_put(p->shape, to, of[0] ? of[0] + row + SIDE - 1 : NULL, 1);
      reals_put(p->shape, to + 1, of[1] ? of[1] + row : NULL, SIDE);
      reals_put(p->shape, to + 1 + SIDE, of[2] ? of[2] + row : NULL, GRID_NODES - 1 - SIDE);
    }
  }
}

static void pack_blocks(packer *p, const abut_grid *g, const grid_tree *t)
{
  size_t number = 0;
  for (size_t level = 1; level <= g->level_count; ++level) {
    const abut_grid_level *l = &g->levels[level - 1];
    for (size_t b = 0; b < l->block_count; ++b, ++number, p->at += GRID_BLOCK_STRIDE) {
      const grid_around a = grid_blocks_around(t, level, l->blocks + 3 * b);
      for (size_t k = 0; k < GRID_CHILDREN; ++k) {
        reals_set(p->shape, p->at + k, t->children[GRID_CHILDREN * number + k]);
      }
      pack_nodes(p, g, &a);
    }
  }
}

static abut_status pack_grid(packer *p, const abut_grid *g, size_t i)
{
  abut_status status = ABUT_SUCCESS;
  grid_tree tree;
  grid_measures measures = {0};
  const double epsilon = p->shape->size == sizeof(double) ? DBL_EPSILON : (double)FLT_EPSILON;
  TRY(grid_tree_create(g, i, &tree));
  TRY_DONE(grid_measure(g, &tree, epsilon, &measures));
  packer_range(p, g->level_count);
  pack_record(p, g, &tree, &measures);
  pack_coarse(p, g, &tree, &measures);
  pack_blocks(p, g, &tree);
done:
  grid_tree_free(&tree);
  grid_measures_free(&measures);
  return status;
}

static abut_status pack(packer *p, const void *const *ones, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    TRY(pack_grid(p, ones[i], i));
  }
  return ABUT_SUCCESS;
}

/* ---- pictures ---- */

/* The box of all cells in which points are not clipped, so that errors of the field anywhere in the
 * grid are visible. */
static void cover(const packed *p, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    const size_t at = (size_t)p->ranges[i * RANGE_INTS];
    const double spacing = packed_number(p, at + GRID_SPACING);
    double low[3], high[3];
    for (size_t k = 0; k < 3; ++k) {
      low[k] = packed_number(p, at + k) + spacing;
      high[k] = packed_number(p, at + k) + spacing * (packed_number(p, at + GRID_SIZES + k) - 2.0);
    }
    box_cover(b, low);
    box_cover(b, high);
  }
}

/* ---- bounds ---- */

static void enclose(const packed *p, double reach, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    grid_box(p, (size_t)p->ranges[i * RANGE_INTS], reach, b);
  }
}

extern const family grids_family;
const family grids_family = {
  .key = "grids",
  .one = "grid",
  .size = sizeof(abut_grid),
  .operation = offsetof(abut_grid, operation),
  .array = offsetof(abut_body_def, grids),
  .count = offsetof(abut_body_def, grid_count),
  .ranged = true,
  .ends = true,
  .read = read,
  .check = check,
  .room = room,
  .pack = pack,
  .inform = inform,
  .cover = cover,
  .enclose = enclose,
};
