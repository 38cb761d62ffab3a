#include "mesh/surface/spline.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* from the surface: values are corrected up to here, and less for one more cell */
#define BENT_CELLS 2.0
#define MAP_CELLS 4 /* coarse cells along a block of level 1 */

abut_status spline_create(spline *s, const size_t size[3], const double origin[3], double spacing)
{
  size_t nodes = 1, blocks = 1;
  void *memory = NULL;
  memset(s, 0, sizeof *s);
  for (int k = 0; k < 3; ++k) {
    s->size[k] = size[k];
    s->map_size[k] = (size[k] + MAP_CELLS - 1) / MAP_CELLS;
    s->origin[k] = origin[k];
    nodes *= s->size[k];
    blocks *= s->map_size[k];
  }
  s->spacing = spacing;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&memory, nodes, sizeof *s->coarse));
  s->coarse = memory;
  TRY_DONE(allocate(&memory, blocks, sizeof *s->map));
  s->map = memory;
  memset(s->map, 0xff, blocks * sizeof *s->map);
done:
  if (status != ABUT_SUCCESS) {
    spline_free(s);
  }
  return status;
}

void spline_free(spline *s)
{
  free(s->coarse);
  free(s->map);
  for (size_t l = 0; l <= SPLINE_LEVELS; ++l) {
    free(s->levels[l].blocks);
  }
  memset(s, 0, sizeof *s);
}

double spline_spacing(const spline *s, size_t level)
{
  return ldexp(s->spacing, -(int)level);
}

/* ---- the coarse grid ---- */

typedef struct filter {
  spline *s;
  const double *values;
} filter;

/* Returns the second difference of the values at a node along an axis; 0 at the ends. */
static double bend(const filter *f, size_t at, size_t place, size_t axis, size_t stride)
{
  const double *v = f->values + at;
  return place && place + 1 < f->s->size[axis] ? v[-(ptrdiff_t)stride] - 2.0 * v[0] + v[stride]
                                               : 0.0;
}

/* Subtracts a sixth of the second differences from the values (de Boor and Fix 1973, Spline
 * approximation by quasiinterpolants). This is exact for cubics, like the interpolating spline. But
 * it does not overshoot at corners finer than the grid, where the interpolating spline's
 * coefficients and slopes could be up to 27 times as large. Away from the surface, the coefficients
 * are the values themselves, whose spline is a local mean and not steeper than they are. */
static void filter_plane(void *user, size_t i)
{
  const filter *f = user;
  const size_t ny = f->s->size[1], nz = f->s->size[2];
  for (size_t j = 0; j < ny; ++j) {
    for (size_t k = 0; k < nz; ++k) {
      const size_t at = (i * ny + j) * nz + k;
      const double sum = bend(f, at, i, 0, ny * nz) + bend(f, at, j, 1, nz) + bend(f, at, k, 2, 1);
      const double away = fabs(f->values[at]) / f->s->spacing - BENT_CELLS;
      const double share = away > 1.0 ? 0.0 : away > 0.0 ? 1.0 - away : 1.0;
      f->s->coarse[at] = (float)(f->values[at] - share * sum / 6.0);
    }
  }
}

void spline_fit(spline *s, const double *values)
{
  filter f = {s, values};
  parallel_for(s->size[0], filter_plane, &f);
}

/* ---- blocks ---- */

int32_t spline_find(const spline *s, size_t level, const int32_t at[3])
{
  size_t place = 0;
  for (int k = 0; k < 3; ++k) {
    const int32_t top = at[k] >> (level - 1);
    if (at[k] < 0 || (size_t)top >= s->map_size[k]) {
      return -1;
    }
    place = place * s->map_size[k] + (size_t)top;
  }
  int32_t found = s->map[place];
  for (size_t l = 1; l < level && found >= 0; ++l) {
    const size_t shift = level - 1 - l;
    const int32_t octant =
      (at[0] >> shift & 1) * 4 + (at[1] >> shift & 1) * 2 + (at[2] >> shift & 1);
    found = s->levels[l].blocks[found].child[octant];
  }
  return found;
}

abut_status spline_add(spline *s, size_t level, const int32_t at[3])
{
  spline_level *to = &s->levels[level];
  void *memory = to->blocks;
  if (to->count == to->room) {
    TRY(grow(&memory, &to->room, to->count + 1, sizeof *to->blocks));
    to->blocks = memory;
  }
  int32_t *link;
  if (level == 1) {
    const size_t i = (size_t)at[0], j = (size_t)at[1], k = (size_t)at[2];
    link = &s->map[(i * s->map_size[1] + j) * s->map_size[2] + k];
  } else {
    const int32_t above[3] = {at[0] >> 1, at[1] >> 1, at[2] >> 1};
    link = &s->levels[level - 1]
              .blocks[spline_find(s, level - 1, above)]
              .child[(at[0] & 1) * 4 + (at[1] & 1) * 2 + (at[2] & 1)];
  }
  *link = (int32_t)to->count;
  spline_block *block = &to->blocks[to->count++];
  memset(block, 0, sizeof *block);
  memcpy(block->at, at, sizeof block->at);
  memset(block->child, 0xff, sizeof block->child);
  s->level_count = level;
  return ABUT_SUCCESS;
}

/* ---- a level's coefficients ---- */

/* The data for a level's coefficients. */
typedef struct fitter {
  spline_block *blocks;
  int32_t (*near)[27];  /* blocks around each one, itself in the middle */
  const double *values; /* (count, 512) */
  double *coefficients; /* (count, 512) */
} fitter;

/* Whether a node's four cells along an axis extend below or above its block. */
static int below(int i)
{
  return i < 2;
}

static int above(int i)
{
  return i == ABUT_GRID_BLOCK - 1;
}

/* Whether all cells in the support of a node's coefficient are in blocks. */
static bool is_whole(const int32_t near[27], int i, int j, int k)
{
  for (int x = -below(i); x <= above(i); ++x) {
    for (int y = -below(j); y <= above(j); ++y) {
      for (int z = -below(k); z <= above(k); ++z) {
        if (near[(x + 1) * 9 + (y + 1) * 3 + z + 1] < 0) {
          return false;
        }
      }
    }
  }
  return true;
}

/* Returns the number at node (i, j, k) of a block, whose indices range from one before it to one
 * after it. */
static double number_at(const fitter *f, size_t b, const double *from, int i, int j, int k)
{
  const int x = (i + 8) >> 3, y = (j + 8) >> 3, z = (k + 8) >> 3;
  const int32_t block = f->near[b][x * 9 + y * 3 + z];
  return block < 0
           ? 0.0
           : from[(size_t)block * BLOCK_NODES + (size_t)((i & 7) * 64 + (j & 7) * 8 + (k & 7))];
}

/* Filters like filter_plane; 0 where a coefficient's support would leave the blocks. The neighbours
 * of all other nodes are in blocks. */
static void fit_block(void *user, size_t b)
{
  fitter *f = user;
  const double *v = f->values;
  double *to = f->coefficients + b * BLOCK_NODES;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      for (int k = 0; k < 8; ++k, ++to) {
        if (is_whole(f->near[b], i, j, k)) {
          const double beside = number_at(f, b, v, i - 1, j, k) + number_at(f, b, v, i + 1, j, k) +
                                number_at(f, b, v, i, j - 1, k) + number_at(f, b, v, i, j + 1, k) +
                                number_at(f, b, v, i, j, k - 1) + number_at(f, b, v, i, j, k + 1);
          *to = 2.0 * number_at(f, b, v, i, j, k) - beside / 6.0;
        }
      }
    }
  }
}

static void write_block(void *user, size_t b)
{
  fitter *f = user;
  float *to = f->blocks[b].node;
  for (int i = -1; i < BLOCK_REACH - 1; ++i) {
    for (int j = -1; j < BLOCK_REACH - 1; ++j) {
      for (int k = -1; k < BLOCK_REACH - 1; ++k) {
        *to++ = (float)number_at(f, b, f->coefficients, i, j, k);
      }
    }
  }
}

static void find_near(const spline *s, size_t level, size_t b, int32_t near[27])
{
  const int32_t *at = s->levels[level].blocks[b].at;
  for (int32_t n = 0; n < 27; ++n) {
    const int32_t beside[3] = {at[0] + n / 9 - 1, at[1] + n / 3 % 3 - 1, at[2] + n % 3 - 1};
    near[n] = spline_find(s, level, beside);
  }
}

abut_status spline_fit_level(spline *s, const double *values)
{
  abut_status status = ABUT_SUCCESS;
  spline_level *level = &s->levels[s->level_count];
  fitter f = {.blocks = level->blocks, .values = values};
  void *near = NULL, *coefficients = NULL;
  TRY_DONE(allocate(&near, level->count, sizeof *f.near));
  TRY_DONE(allocate(&coefficients, level->count, BLOCK_NODES * sizeof(double)));
  f.near = near;
  f.coefficients = coefficients;
  for (size_t b = 0; b < level->count; ++b) {
    find_near(s, s->level_count, b, f.near[b]);
  }
  parallel_for(level->count, fit_block, &f);
  parallel_for(level->count, write_block, &f);
done:
  free(near);
  free(coefficients);
  return status;
}

/* ---- values ---- */

static void weights(double t, double w[4])
{
  const double r = 1.0 - t;
  w[0] = r * r * r / 6.0;
  w[1] = (t * t * (3.0 * t - 6.0) + 4.0) / 6.0;
  w[2] = (r * r * (3.0 * r - 6.0) + 4.0) / 6.0;
  w[3] = t * t * t / 6.0;
}

/* Sums 64 weighted coefficients that start at `at` and are contiguous along z. */
static double contract(const float *at, size_t step_x, size_t step_y, const double t[3])
{
  double w[3][4], along[4] = {0.0, 0.0, 0.0, 0.0};
  for (int k = 0; k < 3; ++k) {
    weights(t[k], w[k]);
  }
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      const float *c = at + i * step_x + j * step_y;
      const double of_row = w[0][i] * w[1][j];
      for (size_t k = 0; k < 4; ++k) {
        along[k] += of_row * (double)c[k];
      }
    }
  }
  return along[0] * w[2][0] + along[1] * w[2][1] + along[2] * w[2][2] + along[3] * w[2][3];
}

double spline_value(const spline *s, const double x[3], size_t levels)
{
  double u[3], t[3];
  size_t cell[3], place = 0;
  for (int k = 0; k < 3; ++k) {
    const double last = (double)s->size[k] - 3.0;
    u[k] = (x[k] - s->origin[k]) / s->spacing;
    const double low = fmin(fmax(floor(u[k]), 1.0), last);
    cell[k] = (size_t)low;
    t[k] = u[k] - low;
    place = place * s->map_size[k] + cell[k] / MAP_CELLS;
  }
  const size_t step_y = s->size[2], step_x = s->size[1] * step_y;
  double sum = contract(s->coarse + (cell[0] - 1) * step_x + (cell[1] - 1) * step_y + cell[2] - 1,
                        step_x, step_y, t);
  int32_t block = s->level_count ? s->map[place] : -1;
  for (size_t l = 1; l <= levels && block >= 0; ++l) {
    const spline_block *b = &s->levels[l].blocks[block];
    const double scale = ldexp(1.0, (int)l);
    size_t at = 0, octant = 0;
    for (int k = 0; k < 3; ++k) {
      const double v = scale * u[k];
      const double first = (double)(b->at[k] * ABUT_GRID_BLOCK);
      const double low = fmin(fmax(floor(v - first), 0.0), ABUT_GRID_BLOCK - 1.0);
      t[k] = v - first - low;
      at = at * BLOCK_REACH + (size_t)low;
      octant = 2 * octant + (v - first >= 0.5 * ABUT_GRID_BLOCK);
    }
    sum += contract(b->node + at, (size_t)BLOCK_REACH * BLOCK_REACH, BLOCK_REACH, t);
    block = b->child[octant];
  }
  return sum;
}
