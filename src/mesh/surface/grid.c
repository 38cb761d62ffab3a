#include "mesh/surface/grid.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "geometry/layout.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* nodes around the box, so that no block reaches the nodes where points are clipped */
#define MARGIN 8
#define CELLS_FEWEST 32
#define CELLS_MORE 64
/* share of the diagonal: a 95 % error above this needs more cells */
#define COARSE_SHARE 0.003
#define FINEST_CELLS 1024 /* cells of the finest level along the longest side */
#define SAMPLE_SHARE 0.7  /* of a cell: spacing of the samples */
/* cells that are refined around each sample with a large error */
#define BAND 4
#define THIN_TOLERANCES 4.0 /* in tolerances: thinner parts are thin */
/* in tolerances: thinner parts are not refined if their error is small enough */
#define WEDGE_TOLERANCES 0.5
/* of the limit: next to finer cells, samples with this error are refined too */
#define JOINED_SHARE 0.3
#define SLAB 4 /* layers of nodes per piece of work */

abut_status tell(const telling *t, const char *what, double done)
{
  const abut_field_options *o = t->options;
  return !o->progress || o->progress(o->user, what, t->from + t->share * done)
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_CANCELLED, "making a field was cancelled");
}

/* ---- the coarse grid ---- */

typedef struct coarse_run {
  solid *inside;
  const spline *s;
  double *values;
} coarse_run;

static void measure_slab(void *user, size_t i)
{
  const coarse_run *r = user;
  const spline *s = r->s;
  const size_t first = i * SLAB;
  const size_t size[3] = {first + SLAB < s->size[0] ? SLAB : s->size[0] - first, s->size[1],
                          s->size[2]};
  const double origin[3] = {s->origin[0] + s->spacing * (double)first, s->origin[1], s->origin[2]};
  solid_lattice(r->inside, origin, s->spacing, size, r->values + first * size[1] * size[2]);
}

static abut_status make_coarse(const surface *of, solid *inside, uint32_t cells, spline *out)
{
  double longest = 0.0, origin[3];
  size_t size[3], nodes = 1;
  void *values = NULL;
  for (int k = 0; k < 3; ++k) {
    longest = fmax(longest, of->upper[k] - of->lower[k]);
  }
  const double spacing = longest / cells;
  for (int k = 0; k < 3; ++k) {
    const double extent = of->upper[k] - of->lower[k];
    size[k] = (size_t)ceil(extent / spacing - 1e-9) + 1 + 2 * MARGIN;
    origin[k] = 0.5 * (of->lower[k] + of->upper[k]) - 0.5 * spacing * (double)(size[k] - 1);
    nodes *= size[k];
  }
  TRY(spline_create(out, size, origin, spacing));
  TRY(allocate(&values, nodes, sizeof(double)));
  coarse_run r = {inside, out, values};
  parallel_for((size[0] + SLAB - 1) / SLAB, measure_slab, &r);
  spline_fit(out, values);
  free(values);
  return ABUT_SUCCESS;
}

typedef struct weighed {
  double error, area;
} weighed;

static int compare_errors(const void *a, const void *b)
{
  const weighed *x = a, *y = b;
  return x->error != y->error ? (x->error < y->error ? -1 : 1)
                              : (x->area > y->area) - (x->area < y->area);
}

/* Finds the errors that given shares of the surface do not exceed. at_edge: 0 away from sharp
 * edges, 1 at sharp edges, -1 everywhere. */
static abut_status error_at(const sample *samples, size_t count, int at_edge, size_t shares,
                            const double *share, double *out)
{
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof(weighed)));
  weighed *errors = memory;
  double area = 0.0, passed = 0.0;
  size_t used = 0, at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at_edge < 0 || samples[i].at_edge == (at_edge != 0)) {
      errors[used++] = (weighed){samples[i].error, samples[i].area};
      area += samples[i].area;
    }
  }
  qsort(errors, used, sizeof *errors, compare_errors);
  for (size_t i = 0; i < shares; ++i) {
    for (; at + 1 < used && passed + errors[at].area < share[i] * area; ++at) {
      passed += errors[at].area;
    }
    out[i] = used ? errors[at].error : 0.0;
  }
  free(errors);
  return ABUT_SUCCESS;
}

/* Finds the error that 95 % of the surface does not exceed on a coarse spline. */
static abut_status coarse_error(const surface *of, solid *inside, const spline *s, double *out)
{
  const sampler from = {.of = of, .inside = inside, .s = s};
  const double share = 0.95;
  sample *samples = NULL;
  size_t count = 0;
  abut_status status = samples_take(&from, SAMPLE_SHARE * s->spacing, 0, &samples, &count);
  if (status == ABUT_SUCCESS) {
    status = error_at(samples, count, -1, 1, &share, out);
  }
  free(samples);
  return status;
}

/* ---- finer levels ---- */

size_t grid_bytes(const spline *s)
{
  const size_t nodes = s->size[0] * s->size[1] * s->size[2];
  const size_t cells = s->map_size[0] * s->map_size[1] * s->map_size[2];
  size_t numbers = GRID_STRIDE + GRID_PADDED(nodes) + GRID_MAPS * GRID_PADDED(cells);
  for (size_t l = 1; l <= s->level_count; ++l) {
    numbers += s->levels[l].count * GRID_BLOCK_STRIDE;
  }
  return numbers * sizeof(float);
}

/* Adds the blocks around a point whose parents exist. */
static abut_status add_around(spline *s, size_t level, const double x[3])
{
  const double spacing = spline_spacing(s, level);
  int32_t low[3], high[3], at[3];
  for (int k = 0; k < 3; ++k) {
    const double v = (x[k] - s->origin[k]) / spacing;
    low[k] = (int32_t)floor((v - BAND) / ABUT_GRID_BLOCK);
    high[k] = (int32_t)floor((v + BAND) / ABUT_GRID_BLOCK);
  }
  for (at[0] = low[0]; at[0] <= high[0]; ++at[0]) {
    for (at[1] = low[1]; at[1] <= high[1]; ++at[1]) {
      for (at[2] = low[2]; at[2] <= high[2]; ++at[2]) {
        const int32_t above[3] = {at[0] >> 1, at[1] >> 1, at[2] >> 1};
        const bool has_place = level == 1 || spline_find(s, level - 1, above) >= 0;
        if (has_place && spline_find(s, level, at) < 0) {
          TRY(spline_add(s, level, at));
        }
      }
    }
  }
  return ABUT_SUCCESS;
}

/* Removes the last level's blocks. */
static void drop_level(spline *s, size_t level)
{
  if (level > 1) {
    for (size_t i = 0; i < s->levels[level - 1].count; ++i) {
      memset(s->levels[level - 1].blocks[i].child, 0xff,
             sizeof s->levels[level - 1].blocks[i].child);
    }
  } else {
    memset(s->map, 0xff, s->map_size[0] * s->map_size[1] * s->map_size[2] * sizeof *s->map);
  }
  s->levels[level].count = 0;
  s->level_count = level - 1;
}

static bool is_near_block(const spline *s, size_t level, const double x[3])
{
  const double spacing = spline_spacing(s, level);
  int32_t at[3];
  for (int n = 0; n < 8; ++n) {
    for (int k = 0; k < 3; ++k) {
      const double v = (x[k] - s->origin[k]) / spacing + (n >> k & 1 ? BAND : -BAND);
      at[k] = (int32_t)floor(v / ABUT_GRID_BLOCK);
    }
    if (spline_find(s, level, at) >= 0) {
      return true;
    }
  }
  return false;
}

/* Adds blocks around all samples with an error above `limit` and all lost samples. Samples next to
 * blocks are included if their error is a substantial share of the limit: an edge that alternates
 * between fine and coarse cells would have steps. *fits: false if there is not enough memory. */
static abut_status add_blocks(spline *s, size_t level, const sample *samples, size_t count,
                              double limit, size_t memory, bool *fits)
{
  size_t before;
  *fits = true;
  for (size_t i = 0; i < count && *fits; ++i) {
    if (samples[i].error > limit || (samples[i].is_lost && !samples[i].is_wedge)) {
      TRY(add_around(s, level, samples[i].x));
      *fits = grid_bytes(s) <= memory;
    }
  }
  do {
    before = s->levels[level].count;
    for (size_t i = 0; i < count && *fits && before; ++i) {
      if (samples[i].error > JOINED_SHARE * limit && is_near_block(s, level, samples[i].x)) {
        TRY(add_around(s, level, samples[i].x));
        *fits = grid_bytes(s) <= memory;
      }
    }
  } while (*fits && s->levels[level].count > before);
  return ABUT_SUCCESS;
}

/* Adds a level in the same way. The limit increases until the memory suffices. */
static abut_status add_level(spline *s, size_t level, const sample *samples, size_t count,
                             double limit, size_t memory)
{
  for (;; limit *= 1.5) {
    bool fits = false, any = false;
    TRY(add_blocks(s, level, samples, count, limit, memory, &fits));
    if (fits) {
      return ABUT_SUCCESS;
    }
    drop_level(s, level);
    for (size_t i = 0; i < count && !any; ++i) {
      any = samples[i].error > 1.5 * limit;
    }
    if (!any) {
      return ABUT_SUCCESS;
    }
  }
}

typedef struct level_run {
  solid *inside;
  const spline *s;
  size_t level;
  double *values;
} level_run;

/* Finds the remaining error at a block's nodes. */
static void measure_block(void *user, size_t i)
{
  const level_run *r = user;
  const spline_block *b = &r->s->levels[r->level].blocks[i];
  const double spacing = spline_spacing(r->s, r->level);
  static const size_t size[3] = {ABUT_GRID_BLOCK, ABUT_GRID_BLOCK, ABUT_GRID_BLOCK};
  double origin[3], x[3], *at = r->values + i * BLOCK_NODES;
  for (int k = 0; k < 3; ++k) {
    origin[k] = r->s->origin[k] + spacing * (double)(b->at[k] * ABUT_GRID_BLOCK);
  }
  solid_lattice(r->inside, origin, spacing, size, at);
  for (size_t n = 0; n < BLOCK_NODES; ++n) {
    x[0] = origin[0] + spacing * (double)(n >> 6);
    x[1] = origin[1] + spacing * (double)(n >> 3 & 7);
    x[2] = origin[2] + spacing * (double)(n & 7);
    at[n] -= spline_value(r->s, x, r->level - 1);
  }
}

static abut_status fit_level(solid *inside, spline *s)
{
  const size_t level = s->level_count, count = s->levels[level].count;
  void *values = NULL;
  TRY(allocate(&values, count, BLOCK_NODES * sizeof(double)));
  level_run r = {inside, s, level, values};
  parallel_for(count, measure_block, &r);
  const abut_status status = spline_fit_level(s, values);
  free(values);
  return status;
}

typedef struct refiner {
  const abut_field_options *options;
  sampler from;
  double tolerance; /* [m] */
  size_t memory;
} refiner;

static abut_status refine(const refiner *q, solid *inside, spline *s)
{
  abut_status status = ABUT_SUCCESS;
  sample *samples = NULL;
  double longest = 0.0;
  for (int k = 0; k < 3; ++k) {
    longest = fmax(longest, q->from.of->upper[k] - q->from.of->lower[k]);
  }
  for (size_t level = 1; level <= SPLINE_LEVELS; ++level) {
    const telling t = {q->options, 0.3 + 0.07 * (double)level, 0.07};
    const double spacing = spline_spacing(s, level);
    size_t count = 0;
    if (longest > FINEST_CELLS * 1.001 * spacing) {
      break;
    }
    TRY_DONE(tell(&t, "finer cells", 0.0));
    TRY_DONE(samples_take(&q->from, SAMPLE_SHARE * spacing, level - 1, &samples, &count));
    TRY_DONE(add_level(s, level, samples, count, q->tolerance, q->memory));
    free(samples);
    samples = NULL;
    if (s->level_count < level) {
      break;
    }
    TRY_DONE(fit_level(inside, s));
  }
done:
  free(samples);
  return status;
}

/* ---- evaluation ---- */

/* Returns the median by area. */
static double median_of(weighed *all, size_t count, double area)
{
  double passed = 0.0;
  size_t at = 0;
  qsort(all, count, sizeof *all, compare_errors);
  for (; at + 1 < count && passed + all[at].area < 0.5 * area; ++at) {
    passed += all[at].area;
  }
  return count ? all[at].error : 0.0;
}

/* Reports thin parts, the lost ones among them, and their thickness. */
static abut_status judge_thin(const sample *samples, size_t count, abut_field_report *report)
{
  void *memory = NULL;
  TRY(allocate(&memory, 2 * count, sizeof(weighed)));
  weighed *ways = memory, *errors = ways + count;
  double area = 0.0, thin = 0.0, lost = 0.0, known = 0.0;
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    const sample *s = &samples[i];
    const bool is_lost = s->is_lost && !s->is_rim;
    area += s->area;
    thin += s->is_thin ? s->area : 0.0;
    lost += is_lost ? s->area : 0.0;
    if (is_lost && s->is_thin) {
      known += s->area;
      ways[used] = (weighed){s->through, s->area};
      errors[used++] = (weighed){s->error, s->area};
    }
  }
  report->thin_share = area > 0.0 ? thin / area : 0.0;
  report->thin_lost = area > 0.0 ? lost / area : 0.0;
  report->lost_thickness = median_of(ways, used, known);
  report->lost_error = median_of(errors, used, known);
  free(memory);
  return ABUT_SUCCESS;
}

/* Reports gaps that the field fills. */
static abut_status judge_gaps(const sample *samples, size_t count, abut_field_report *report)
{
  void *memory = NULL;
  TRY(allocate(&memory, count, sizeof(weighed)));
  weighed *widths = memory;
  double area = 0.0, filled = 0.0;
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    area += samples[i].area;
    if (samples[i].is_filled) {
      filled += samples[i].area;
      widths[used++] = (weighed){samples[i].across, samples[i].area};
    }
  }
  report->gap_filled = area > 0.0 ? filled / area : 0.0;
  report->gap_width = median_of(widths, used, filled);
  free(memory);
  return ABUT_SUCCESS;
}

static abut_status judge_all(const refiner *q, const spline *s, abut_field_report *report)
{
  static const double shares[2] = {0.5, 0.95};
  abut_status status = ABUT_SUCCESS;
  sampler from = q->from;
  sample *samples = NULL;
  double *sides = NULL, errors[2], most[2];
  size_t count = 0, side_count = 0;
  tree edges = {0};
  TRY_DONE(sharp_sides(from.of, &sides, &side_count));
  TRY_DONE(tree_of_corners(sides, side_count, &edges));
  from.edges = &edges;
  from.edge_reach = s->spacing;
  from.gaps = true;
  TRY_DONE(samples_take(&from, SAMPLE_SHARE * s->spacing, 0, &samples, &count));
  const double diagonal = from.of->diagonal;
  TRY_DONE(error_at(samples, count, 0, 2, shares, errors));
  report->face_median = errors[0] / diagonal;
  report->face_95 = errors[1] / diagonal;
  TRY_DONE(error_at(samples, count, 1, 2, shares, errors));
  report->edge_95 = errors[1] / diagonal;
  samples_climb(&from, SAMPLE_SHARE * s->spacing, samples, count, most);
  report->face_most = most[0] / diagonal;
  report->edge_most = most[1] / diagonal;
  TRY_DONE(judge_thin(samples, count, report));
  TRY_DONE(judge_gaps(samples, count, report));
  for (size_t l = 1; l <= s->level_count; ++l) {
    report->blocks += s->levels[l].count;
  }
  report->levels = (uint32_t)s->level_count;
  report->bytes = grid_bytes(s);
  report->spacing = s->spacing;
  report->finest = spline_spacing(s, s->level_count);
done:
  free(samples);
  free(sides);
  tree_free(&edges);
  return status;
}

abut_status grid_make(const surface *s, solid *inside, const abut_field_options *options,
                      spline *out, abut_field_report *report)
{
  abut_status status = ABUT_SUCCESS;
  const telling t = {options, 0.0, 0.4};
  uint32_t cells = options->cells ? options->cells : CELLS_FEWEST;
  memset(out, 0, sizeof *out);
  TRY_DONE(tell(&t, "distances", 0.1));
  TRY_DONE(make_coarse(s, inside, cells, out));
  if (atomic_load(&inside->overlaps)) {
    TRY_DONE(tell(&t, "overlapping shells", 0.3));
    TRY_DONE(solid_find_border(inside, 0.125 * out->spacing));
    spline_free(out);
    TRY_DONE(make_coarse(s, inside, cells, out));
  }
  if (!options->cells) {
    double error = 0.0;
    TRY_DONE(coarse_error(s, inside, out, &error));
    if (error > COARSE_SHARE * s->diagonal) {
      spline_free(out);
      TRY_DONE(tell(&t, "distances", 0.5));
      cells = CELLS_MORE;
      TRY_DONE(make_coarse(s, inside, cells, out));
    }
  }
  refiner q = {.options = options, .memory = options->memory};
  q.tolerance = options->tolerance * s->diagonal;
  q.from = (sampler){.of = s,
                     .inside = inside,
                     .s = out,
                     .thin = THIN_TOLERANCES * q.tolerance,
                     .wedge = WEDGE_TOLERANCES * q.tolerance};
  TRY_DONE(refine(&q, inside, out));
  TRY_DONE(tell(&(telling){options, 0.9, 0.1}, "check", 0.0));
  report->cells = cells;
  TRY_DONE(judge_all(&q, out, report));
done:
  if (status != ABUT_SUCCESS) {
    spline_free(out);
  }
  return status;
}
