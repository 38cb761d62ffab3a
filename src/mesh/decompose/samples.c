/* Samples of the space around a mesh: one in each leaf of an octree, and the inside cells of a
 * grid. */
#include "base/error.h"
#include "base/parallel.h"
#include "math/random.h"
#include "mesh/decompose/decompose.h"
#include "math/vector.h"
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define ROOT (1.0 / 16.0)  /* edge of the octree's largest cells */
#define MARGIN 0.06        /* margin around the mesh's box */
#define HALF_DIAGONAL 0.87 /* of a unit cell, rounded up */
#define AXIS_BITS 10       /* bits of a cell's index along an axis, at the finest level */

/* ---- counter-based random numbers ---- */

double uniform_at(uint64_t seed, uint64_t at, uint64_t which)
{
  return random_share(random_mix(random_mix(random_mix(seed) ^ at) ^ which));
}

/* ---- sets ---- */

void samples_free(sample_set *s)
{
  free(s->x);
  free(s->volume);
  free(s->distance);
  free(s->balls);
  buffer_destroy(s->on);
  buffer_destroy(s->balls_on);
  memset(s, 0, sizeof *s);
}

void cells_free(cell_set *c)
{
  samples_free(&c->samples);
  free(c->number);
  free(c->cell);
  memset(c, 0, sizeof *c);
}

static abut_status make_room(sample_set *s, size_t count)
{
  void *memory;
  s->count = count;
  s->blocks = (count + DECOMPOSE_BLOCK - 1) / DECOMPOSE_BLOCK;
  const size_t room = s->blocks * DECOMPOSE_BLOCK;
  TRY(allocate(&memory, room, 3 * sizeof(double)));
  s->x = memory;
  TRY(allocate(&memory, room, sizeof(double)));
  s->volume = memory;
  TRY(allocate(&memory, room, sizeof(double)));
  s->distance = memory;
  TRY(allocate(&memory, s->blocks, DECOMPOSE_BALL * sizeof(double)));
  s->balls = memory;
  return ABUT_SUCCESS;
}

/* Fills the last block, and finds the bounding balls of all blocks. */
static void finish(sample_set *s)
{
  for (size_t i = s->count; i < s->blocks * DECOMPOSE_BLOCK; ++i) {
    memcpy(s->x + 3 * i, s->x + 3 * (s->count - 1), 3 * sizeof *s->x);
    s->distance[i] = s->distance[s->count - 1];
  }
  for (size_t b = 0; b < s->blocks; ++b) {
    const double *x = s->x + 3 * DECOMPOSE_BLOCK * b;
    double *ball = s->balls + DECOMPOSE_BALL * b, radius2 = 0.0;
    for (int k = 0; k < 3; ++k) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (size_t i = 0; i < DECOMPOSE_BLOCK; ++i) {
        low = fmin(low, x[3 * i + (size_t)k]);
        high = fmax(high, x[3 * i + (size_t)k]);
      }
      ball[k] = 0.5 * (low + high);
    }
    for (size_t i = 0; i < DECOMPOSE_BLOCK; ++i) {
      double d[3];
      difference(x + 3 * i, ball, d);
      radius2 = fmax(radius2, dot(d, d));
    }
    ball[3] = sqrt(radius2) * (1.0 + 1e-6);
  }
}

/* ---- the octree ---- */

typedef struct leaf {
  uint64_t order; /* Morton code */
  double x[3], volume, distance;
} leaf;

/* The octree below a cell of the coarsest grid. */
typedef struct branch {
  leaf *leaves;
  size_t count, room;
  abut_status status;
} branch;

typedef struct octree {
  solid *inside;
  double lower[3], band;
  size_t size[3];
  unsigned levels; /* below the coarsest grid */
  uint64_t seed;
  branch *branches;
} octree;

static uint64_t morton(const uint32_t at[3])
{
  uint64_t out = 0;
  for (unsigned bit = 0; bit < AXIS_BITS; ++bit) {
    for (unsigned k = 0; k < 3; ++k) {
      out |= (uint64_t)(at[k] >> bit & 1) << (3 * bit + k);
    }
  }
  return out;
}

/* centre: of the leaf. beside: a known nearby place, or NULL. */
static abut_status add_leaf(const octree *o, branch *b, unsigned level, const uint32_t at[3],
                            double edge, const double centre[3], const solid_place *beside)
{
  const uint64_t cell = morton(at) << 4 | level;
  solid_place place;
  void *memory = b->leaves;
  TRY(grow(&memory, &b->room, b->count + 1, sizeof(leaf)));
  b->leaves = memory;
  for (int k = 0; k < 3; ++k) {
    place.x[k] = centre[k] + edge * (uniform_at(o->seed, cell, (uint64_t)k) - 0.5);
  }
  solid_measure(o->inside, beside, &place);
  uint32_t low[3];
  for (int k = 0; k < 3; ++k) {
    low[k] = at[k] << (o->levels - level);
  }
  leaf *l = &b->leaves[b->count++];
  *l = (leaf){.order = morton(low), .volume = edge * edge * edge, .distance = place.distance};
  memcpy(l->x, place.x, sizeof l->x);
  return ABUT_SUCCESS;
}

static abut_status divide(const octree *o, branch *b, unsigned level, const uint32_t at[3],
                          const solid_place *above)
{
  const double edge = ldexp(ROOT, -(int)level);
  solid_place centre;
  for (int k = 0; k < 3; ++k) {
    centre.x[k] = o->lower[k] + edge * ((double)at[k] + 0.5);
  }
  if (level == o->levels) {
    return add_leaf(o, b, level, at, edge, centre.x, above);
  }
  solid_measure(o->inside, above, &centre);
  if (!(fabs(centre.distance) < HALF_DIAGONAL * edge + o->band)) {
    return add_leaf(o, b, level, at, edge, centre.x, &centre);
  }
  for (uint32_t child = 0; child < 8; ++child) {
    const uint32_t below[3] = {2 * at[0] + (child & 1), 2 * at[1] + (child >> 1 & 1),
                               2 * at[2] + (child >> 2)};
    TRY(divide(o, b, level + 1, below, &centre));
  }
  return ABUT_SUCCESS;
}

static void grow_branch(void *user, size_t i)
{
  const octree *o = user;
  const uint32_t at[3] = {(uint32_t)(i / (o->size[1] * o->size[2])),
                          (uint32_t)(i / o->size[2] % o->size[1]), (uint32_t)(i % o->size[2])};
  o->branches[i].status = divide(o, &o->branches[i], 0, at, NULL);
}

static int compare_leaves(const void *a, const void *b)
{
  const leaf *x = a, *y = b;
  return x->order < y->order ? -1 : x->order > y->order;
}

static abut_status gather(const branch *branches, size_t count, sample_set *out)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  size_t total = 0, at = 0;
  for (size_t i = 0; i < count; ++i) {
    TRY(branches[i].status == ABUT_SUCCESS
          ? ABUT_SUCCESS
          : fail(branches[i].status, "not enough memory for samples"));
    total += branches[i].count;
  }
  TRY_DONE(allocate(&memory, total, sizeof(leaf)));
  leaf *all = memory;
  for (size_t i = 0; i < count; ++i) {
    if (branches[i].count) {
      memcpy(all + at, branches[i].leaves, branches[i].count * sizeof *all);
    }
    at += branches[i].count;
  }
  qsort(all, total, sizeof *all, compare_leaves);
  TRY_DONE(make_room(out, total));
  for (size_t i = 0; i < total; ++i) {
    memcpy(out->x + 3 * i, all[i].x, sizeof all[i].x);
    out->volume[i] = all[i].volume;
    out->distance[i] = all[i].distance;
  }
  finish(out);
done:
  free(memory);
  return status;
}

void samples_box(const surface *s, double lower[3], double upper[3])
{
  for (int k = 0; k < 3; ++k) {
    lower[k] = s->lower[k] - MARGIN;
    upper[k] = lower[k] + ROOT * ceil((s->upper[k] + MARGIN - lower[k]) / ROOT);
  }
}

abut_status samples_by_octree(solid *inside, const surface *s, double finest, double band,
                              uint64_t seed, sample_set *out)
{
  octree o = {.inside = inside, .band = band, .seed = seed};
  double upper[3];
  size_t count = 1;
  void *memory = NULL;
  samples_box(s, o.lower, upper);
  while (ldexp(ROOT, -(int)o.levels) > 1.01 * finest) {
    ++o.levels;
  }
  for (int k = 0; k < 3; ++k) {
    o.size[k] = (size_t)ceil((s->upper[k] + MARGIN - o.lower[k]) / ROOT);
    count *= o.size[k];
  }
  TRY(allocate(&memory, count, sizeof *o.branches));
  o.branches = memory;
  parallel_for(count, grow_branch, &o);
  const abut_status status = gather(o.branches, count, out);
  for (size_t i = 0; i < count; ++i) {
    free(o.branches[i].leaves);
  }
  free(o.branches);
  return status;
}

/* ---- the grid ---- */

typedef struct lattice {
  solid *inside;
  double origin[3], spacing;
  size_t size[3];
  double *distances;
} lattice;

/* Measures a layer of cells. */
static void measure_layer(void *user, size_t i)
{
  const lattice *l = user;
  const double origin[3] = {l->origin[0] + l->spacing * (double)i, l->origin[1], l->origin[2]};
  const size_t size[3] = {1, l->size[1], l->size[2]};
  solid_lattice(l->inside, origin, l->spacing, size, l->distances + i * size[1] * size[2]);
}

typedef struct ordered {
  uint64_t order;
  uint32_t cell;
} ordered;

static int compare_ordered(const void *a, const void *b)
{
  const ordered *x = a, *y = b;
  return x->order < y->order ? -1 : x->order > y->order;
}

static void cell_place(const size_t size[3], uint32_t cell, uint32_t out[3])
{
  out[0] = (uint32_t)(cell / (size[1] * size[2]));
  out[1] = (uint32_t)(cell / size[2] % size[1]);
  out[2] = (uint32_t)(cell % size[2]);
}

/* Lists the cells with a negative distance. */
static abut_status list_cells(const lattice *l, cell_set *out, ordered *all)
{
  const size_t total = l->size[0] * l->size[1] * l->size[2];
  size_t count = 0;
  void *memory;
  for (uint32_t i = 0; i < total; ++i) {
    if (l->distances[i] < 0.0) {
      uint32_t at[3];
      cell_place(l->size, i, at);
      all[count++] = (ordered){morton(at), i};
    }
  }
  qsort(all, count, sizeof *all, compare_ordered);
  TRY(allocate(&memory, total, sizeof *out->number));
  out->number = memory;
  memset(out->number, 0xff, total * sizeof *out->number);
  TRY(allocate(&memory, count, sizeof *out->cell));
  out->cell = memory;
  if (!count) {
    return ABUT_SUCCESS;
  }
  TRY(make_room(&out->samples, count));
  for (size_t i = 0; i < count; ++i) {
    uint32_t at[3];
    cell_place(l->size, all[i].cell, at);
    for (size_t k = 0; k < 3; ++k) {
      out->samples.x[3 * i + k] = l->origin[k] + l->spacing * (double)at[k];
    }
    out->samples.distance[i] = l->distances[all[i].cell];
    out->number[all[i].cell] = (uint32_t)i;
    out->cell[i] = all[i].cell;
  }
  finish(&out->samples);
  return ABUT_SUCCESS;
}

/* A lattice around the surface, whose border cells are outside. */
static lattice lattice_about(const surface *s)
{
  lattice l = {.inside = NULL};
  for (int k = 0; k < 3; ++k) {
    l.spacing = fmax(l.spacing, (s->upper[k] - s->lower[k]) / CELLS);
  }
  for (int k = 0; k < 3; ++k) {
    l.size[k] = (size_t)ceil((s->upper[k] - s->lower[k]) / l.spacing) + 2;
    l.origin[k] = s->lower[k] - 0.5 * l.spacing;
  }
  return l;
}

static size_t lattice_cells(const lattice *l)
{
  return l->size[0] * l->size[1] * l->size[2];
}

abut_status cells_inside(solid *inside, const surface *s, cell_set *out)
{
  abut_status status = ABUT_SUCCESS;
  lattice l = lattice_about(s);
  void *distances = NULL, *all = NULL;
  l.inside = inside;
  memcpy(out->size, l.size, sizeof out->size);
  out->spacing = l.spacing;
  const size_t total = lattice_cells(&l);
  TRY_DONE(allocate(&distances, total, sizeof(double)));
  TRY_DONE(allocate(&all, total, sizeof(ordered)));
  l.distances = distances;
  parallel_for(l.size[0], measure_layer, &l);
  TRY_DONE(list_cells(&l, out, all));
done:
  free(distances);
  free(all);
  return status;
}

/* ---- cells outside ---- */

typedef struct pocket_search {
  const cell_set *inside;
  unsigned char *kind; /* (size): 0 border or inside, 1 outside, 2 in a pocket */
} pocket_search;

/* Whether the line from a cell meets the solid. */
static bool meets(const cell_set *c, const size_t from[3], const int step[3])
{
  size_t at[3] = {from[0], from[1], from[2]};
  while (true) {
    for (int k = 0; k < 3; ++k) {
      at[k] += (size_t)step[k]; /* unsigned overflow below 0 exceeds every size */
      if (at[k] >= c->size[k]) {
        return false;
      }
    }
    if (c->number[(at[0] * c->size[1] + at[1]) * c->size[2] + at[2]] != UINT32_MAX) {
      return true;
    }
  }
}

static bool is_pocket(const cell_set *c, const size_t at[3])
{
  int blocked = 0;
  for (int direction = 14; direction < 27; ++direction) { /* half of the 27 neighbours */
    const int step[3] = {direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1};
    const int back[3] = {-step[0], -step[1], -step[2]};
    blocked += meets(c, at, step) && meets(c, at, back);
  }
  return blocked >= 4;
}

static void look_in_layer(void *user, size_t i)
{
  const pocket_search *p = user;
  const cell_set *c = p->inside;
  for (size_t j = 1; i > 0 && i + 1 < c->size[0] && j + 1 < c->size[1]; ++j) {
    for (size_t k = 1; k + 1 < c->size[2]; ++k) {
      const size_t cell = (i * c->size[1] + j) * c->size[2] + k;
      if (c->number[cell] == UINT32_MAX) {
        p->kind[cell] = is_pocket(c, (const size_t[3]){i, j, k}) ? 2 : 1;
      }
    }
  }
}

/* Lists the cells selected by the bits of `kinds`: 1 outside, 2 in pockets, 4 inside. */
static abut_status list_kinds(lattice *l, const pocket_search *p, unsigned kinds, ordered *all,
                              cell_set *out)
{
  const cell_set *c = p->inside;
  for (size_t i = 0; i < lattice_cells(l); ++i) {
    const unsigned is = c->number[i] != UINT32_MAX ? 4u : p->kind[i] == 2 ? 3u : p->kind[i];
    l->distances[i] = is & kinds ? -1.0 : 1.0;
  }
  memcpy(out->size, c->size, sizeof out->size);
  out->spacing = c->spacing;
  return list_cells(l, out, all);
}

abut_status cells_apart_of(const cell_set *inside, const surface *s, cells_apart *out)
{
  abut_status status = ABUT_SUCCESS;
  lattice l = lattice_about(s);
  pocket_search p = {.inside = inside};
  const size_t total = lattice_cells(&l);
  void *kind = NULL, *distances = NULL, *all = NULL;
  TRY_DONE(allocate(&kind, total, 1));
  TRY_DONE(allocate(&distances, total, sizeof(double)));
  TRY_DONE(allocate(&all, total, sizeof(ordered)));
  p.kind = kind;
  l.distances = distances;
  parallel_for(l.size[0], look_in_layer, &p);
  TRY_DONE(list_kinds(&l, &p, 1u, all, &out->outside));
  TRY_DONE(list_kinds(&l, &p, 2u, all, &out->pockets));
  TRY_DONE(list_kinds(&l, &p, 2u | 4u, all, &out->filled));
done:
  free(kind);
  free(distances);
  free(all);
  return status;
}

void cells_apart_free(cells_apart *a)
{
  cells_free(&a->outside);
  cells_free(&a->pockets);
  cells_free(&a->filled);
}
