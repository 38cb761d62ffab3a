#include "mesh/inspect/volumes.h"

#include "base/error.h"
#include "mesh/inspect/measure.h"
#include <math.h>
#include <stdlib.h>

#define SIDE ((size_t)MEASURE_SIDE)
#define CELLS (SIDE * SIDE * SIDE)
#define BLOCK_SIDE (SIDE / INNER_BLOCKS)
#define BLOCK_CELLS (BLOCK_SIDE * BLOCK_SIDE * BLOCK_SIDE)
#define NO_CELL UINT32_MAX

/* ---- cell geometry ---- */

/* A cell's lower corner and width, in cells of the inner box from its corner. */
typedef struct cell_place {
  int64_t low[3], width;
} cell_place;

static cell_place place_of(const volumes *v, size_t cell)
{
  if (cell < CELLS) {
    return (cell_place){{(int64_t)(cell / (SIDE * SIDE)), (int64_t)(cell / SIDE % SIDE),
                         (int64_t)(cell % SIDE)},
                        1};
  }
  const size_t block = (cell - CELLS) / BLOCK_CELLS, within = (cell - CELLS) % BLOCK_CELLS;
  const size_t at[3] = {within / (BLOCK_SIDE * BLOCK_SIDE), within / BLOCK_SIDE % BLOCK_SIDE,
                        within % BLOCK_SIDE};
  cell_place p = {.width = (int64_t)1 << v->around.level};
  for (int k = 0; k < 3; ++k) {
    p.low[k] = (v->around.at[block][k] * (int64_t)BLOCK_SIDE + (int64_t)at[k]) * p.width;
  }
  return p;
}

static bool is_inner(const int64_t at[3])
{
  return at[0] >= 0 && at[0] < (int64_t)SIDE && at[1] >= 0 && at[1] < (int64_t)SIDE && at[2] >= 0 &&
         at[2] < (int64_t)SIDE;
}

static int64_t floor_of(int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}

/* Returns the cell at a place, or NO_CELL. */
static uint32_t cell_at(const volumes *v, const int64_t at[3])
{
  if (is_inner(at)) {
    return (uint32_t)(((size_t)at[0] * SIDE + (size_t)at[1]) * SIDE + (size_t)at[2]);
  }
  int64_t block[3];
  size_t cell = 0;
  for (int k = 0; k < 3; ++k) {
    const int64_t wide = floor_of(at[k], (int64_t)1 << v->around.level);
    block[k] = floor_of(wide, (int64_t)BLOCK_SIDE);
    cell = cell * BLOCK_SIDE + (size_t)(wide - block[k] * (int64_t)BLOCK_SIDE);
  }
  const size_t found = outskirts_find(&v->around, block);
  return found < v->around.count ? (uint32_t)(CELLS + found * BLOCK_CELLS + cell) : NO_CELL;
}

/* Returns the cell across face `side` (0 to 5) of a cell. If the cells there are smaller, returns
 * the one at the middle of the face. */
static uint32_t cell_across(const volumes *v, const cell_place *p, int side)
{
  int64_t at[3];
  for (int k = 0; k < 3; ++k) {
    at[k] = p->low[k] + p->width / 2;
  }
  at[side / 2] = side & 1 ? p->low[side / 2] + p->width : p->low[side / 2] - 1;
  return cell_at(v, at);
}

/* ---- marks ---- */

static abut_status mark_block(const field_of *f, volumes *v, size_t block, float *value)
{
  static const size_t size[3] = {BLOCK_SIDE, BLOCK_SIDE, BLOCK_SIDE};
  double first[3], step[3];
  outskirts_place(&v->around, block, first, step);
  for (int k = 0; k < 3; ++k) {
    first[k] += 0.5 * step[k];
  }
  TRY(field_at_nodes(f, first, step, size, value));
  for (size_t i = 0; i < BLOCK_CELLS; ++i) {
    const size_t cell = CELLS + block * BLOCK_CELLS + i;
    const cell_place p = place_of(v, cell);
    const int64_t middle[3] = {p.low[0] + p.width / 2, p.low[1] + p.width / 2,
                               p.low[2] + p.width / 2};
    v->cells[cell] = value[i] <= 0.0f && !is_inner(middle) ? CELL_OF_FIELD : 0;
  }
  return ABUT_SUCCESS;
}

abut_status volumes_create(const field_of *f, const surface *s, const solid *inside,
                           const extent *e, volumes *out)
{
  abut_status status = ABUT_SUCCESS;
  void *cells = NULL, *value = NULL;
  *out = (volumes){0};
  for (int k = 0; k < 3; ++k) {
    out->around.step[k] = (s->upper[k] - s->lower[k]) / MEASURE_CELLS;
    out->around.origin[k] = s->lower[k] - MEASURE_PAD * out->around.step[k];
    out->around.cells[k] = BLOCK_SIDE;
  }
  TRY_DONE(outskirts_create(e, &out->around));
  out->count = CELLS + out->around.count * BLOCK_CELLS;
  TRY_DONE(allocate(&cells, out->count, 1));
  out->cells = cells;
  TRY_DONE(measure_cells(f, s, inside, cells));
  TRY_DONE(allocate(&value, BLOCK_CELLS, sizeof(float)));
  for (size_t block = 0; block < out->around.count; ++block) {
    TRY_DONE(mark_block(f, out, block, value));
  }
done:
  free(value);
  if (status != ABUT_SUCCESS) {
    volumes_free(out);
  }
  return status;
}

void volumes_free(volumes *v)
{
  outskirts_free(&v->around);
  free(v->cells);
  v->cells = NULL;
}

/* ---- parts ---- */

/* Volume of a cell, in cells of the inner box. */
static double volume_of(const volumes *v, size_t cell)
{
  return cell < CELLS ? 1.0 : ldexp(1.0, 3 * (int)v->around.level);
}

/* Cells of a mark whose neighbours have not been visited. */
typedef struct flood {
  unsigned char mark;
  uint32_t *waiting; /* room for all of them */
  size_t count;
} flood;

static void take_cell(volumes *v, flood *f, uint32_t cell)
{
  if (cell != NO_CELL && v->cells[cell] == f->mark) {
    v->cells[cell] = 0;
    f->waiting[f->count++] = cell;
  }
}

/* Takes the cells across face `side` of a cell. Across a wide cell, these are all cells of the
 * inner box whose neighbour is the wide cell. */
static void take_across(volumes *v, flood *f, const cell_place *p, int side)
{
  int64_t low[3], high[3], at[3];
  take_cell(v, f, cell_across(v, p, side));
  if (p->width == 1) {
    return;
  }
  for (int k = 0; k < 3; ++k) {
    const int64_t face = side & 1 ? p->low[k] + p->width : p->low[k] - 1;
    low[k] = k == side / 2 ? face : p->low[k];
    high[k] = k == side / 2 ? face + 1 : p->low[k] + p->width;
    low[k] = low[k] > 0 ? low[k] : 0;
    high[k] = high[k] < (int64_t)SIDE ? high[k] : (int64_t)SIDE;
  }
  for (at[0] = low[0]; at[0] < high[0]; ++at[0]) {
    for (at[1] = low[1]; at[1] < high[1]; ++at[1]) {
      for (at[2] = low[2]; at[2] < high[2]; ++at[2]) {
        take_cell(v, f, cell_at(v, at));
      }
    }
  }
}

/* Returns the volume of the component of cells with exactly this mark that contains cell `at`, and
 * clears the marks. waiting: room for all of them. */
static double take_part(volumes *v, unsigned char mark, size_t at, uint32_t *waiting)
{
  flood f = {.mark = mark, .waiting = waiting};
  double volume = 0.0;
  take_cell(v, &f, (uint32_t)at);
  while (f.count) {
    const size_t one = f.waiting[--f.count];
    const cell_place p = place_of(v, one);
    volume += volume_of(v, one);
    for (int side = 0; side < 6; ++side) {
      take_across(v, &f, &p, side);
    }
  }
  return volume;
}

/* Finds the largest component of cells with exactly this mark. cells: their number. */
static abut_status find_largest(volumes *v, unsigned char mark, size_t cells, double *largest)
{
  void *waiting;
  TRY(allocate(&waiting, cells, sizeof(uint32_t)));
  *largest = 0.0;
  for (size_t i = 0; i < v->count; ++i) {
    if (v->cells[i] == mark) {
      *largest = fmax(*largest, take_part(v, mark, i, waiting));
    }
  }
  free(waiting);
  return ABUT_SUCCESS;
}

abut_status volumes_compare(volumes *v, abut_fit *out)
{
  size_t count[4] = {0, 0, 0, 0};
  double volume[4] = {0.0, 0.0, 0.0, 0.0}, uncovered, surplus;
  for (size_t i = 0; i < v->count; ++i) {
    ++count[v->cells[i]];
    volume[v->cells[i]] += volume_of(v, i);
  }
  const double both = volume[CELL_OF_MESH | CELL_OF_FIELD];
  const double mesh = both + volume[CELL_OF_MESH], field = both + volume[CELL_OF_FIELD];
  if (!(mesh > 0.0)) {
    return fail(ABUT_ERROR_BODY,
                "the mesh is too thin: with %d cells along each side of its box, no cell has its "
                "centre inside the mesh",
                MEASURE_CELLS);
  }
  TRY(find_largest(v, CELL_OF_MESH, count[CELL_OF_MESH], &uncovered));
  TRY(find_largest(v, CELL_OF_FIELD, count[CELL_OF_FIELD], &surplus));
  out->iou = both / (mesh + field - both);
  out->coverage = both / mesh;
  out->precision = field > 0.0 ? both / field : 0.0;
  out->largest_uncovered = uncovered / mesh;
  out->largest_surplus = surplus / mesh;
  return ABUT_SUCCESS;
}
