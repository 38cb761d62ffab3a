/* Moves between counts of primitives: splitting, adding, merging and removing. A fit of the changed
 * primitives, with all others frozen, gives the value of a move. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include "math/vector.h"
#include <math.h>

#define SPLITS 12    /* number of primitives with the largest share of the loss that are split */
#define ADDITIONS 12 /* number of largest components that are added */
#define MERGES 12    /* number of pairs that are merged */
#define CANDIDATES (3 * SPLITS + 2 * ADDITIONS)
#define SPLIT_AXIS 0.012 /* shorter axes are not split */
#define SPLIT_SHARE 0.55 /* share of the axis that each half has */
#define TOUCHING 0.01    /* primitives touch where the second nearest field is below this */
#define TOUCHES 3        /* at more than this number of samples */
#define STEPS 6          /* steps of a candidate's fit */
#define TOLERANCE 3e-3

typedef struct candidate {
  primitive set[2]; /* replaces the entries `gone` */
  size_t count;
  int gone[2]; /* or -1 */
  uint32_t *blocks;
  size_t block_count;
  double change; /* change of the loss, by its fit */
} candidate;

/* Properties of a whole set. */
typedef struct view {
  double *block_loss;           /* (blocks) */
  double cost[DECOMPOSE_MOST];  /* cost of removing each primitive */
  double share[DECOMPOSE_MOST]; /* share of the loss at samples nearest to each primitive */
  uint32_t *touches;            /* (count, count), the lower index first */
} view;

static void view_free(view *v)
{
  free(v->block_loss);
  free(v->touches);
}

/* ---- the view ---- */

/* Reads the results of decompose_removals. If all fields are NaN, no primitive is nearest: -1. */
static void add_nearest(const fitter *f, const sample_set *s, size_t n, view *v)
{
  for (size_t i = 0; i < s->blocks * DECOMPOSE_BLOCK; ++i) {
    const size_t at = i / DECOMPOSE_BLOCK * NEAREST_PLANES * DECOMPOSE_BLOCK + i % DECOMPOSE_BLOCK;
    const double at_first = reals_get(&f->numbers, at + NEAREST_FIRST * DECOMPOSE_BLOCK);
    const double second = reals_get(&f->numbers, at + NEAREST_SECOND * DECOMPOSE_BLOCK);
    const double loss = reals_get(&f->terms, i);
    v->block_loss[i / DECOMPOSE_BLOCK] += loss;
    if (!(at_first >= 0.0)) {
      continue;
    }
    const size_t first = (size_t)at_first;
    v->share[first] += loss;
    if (second >= 0.0 && i < s->count &&
        reals_get(&f->numbers, at + NEAREST_NEXT * DECOMPOSE_BLOCK) < TOUCHING) {
      const size_t other = (size_t)second;
      ++v->touches[first < other ? first * n + other : other * n + first];
    }
  }
}

static abut_status look(decomposition *d, const primitives *p, view *v)
{
  fitter *f = &d->fit;
  const sample_set *s = &d->search;
  const size_t real = device_real_bytes(f->device),
               planes = s->blocks * NEAREST_PLANES * DECOMPOSE_BLOCK;
  void *memory;
  memset(v, 0, sizeof *v);
  TRY(allocate(&memory, s->blocks, sizeof(double)));
  v->block_loss = memory;
  TRY(allocate(&memory, p->count * p->count, sizeof(uint32_t)));
  v->touches = memory;
  TRY(fit_look(f, s, p, MOVE_WIDTH));
  TRY(fit_costs(f, s, MOVE_WIDTH, v->cost));
  TRY(fit_numbers(f, planes));
  TRY(buffer_read(f->room[ROOM_NEAREST], 0, planes * real, f->numbers.data));
  add_nearest(f, s, p->count, v);
  return ABUT_SUCCESS;
}

/* ---- candidates ---- */

static bool block_near(const sample_set *s, size_t block, const primitive *p, double scale,
                       double widened)
{
  const double *ball = s->balls + DECOMPOSE_BALL * block;
  if (!primitive_near(p, ball, scale, widened + ball[3])) {
    return false;
  }
  for (size_t i = 0; i < DECOMPOSE_BLOCK; ++i) {
    if (primitive_near(p, s->x + 3 * (block * DECOMPOSE_BLOCK + i), scale, widened)) {
      return true;
    }
  }
  return false;
}

/* Lists the blocks with samples near the added or removed primitives. */
static abut_status choose_blocks(const sample_set *s, const primitives *p, candidate *c)
{
  void *memory;
  TRY(allocate(&memory, s->blocks, sizeof *c->blocks));
  c->blocks = memory;
  for (size_t b = 0; b < s->blocks; ++b) {
    bool near = false;
    for (size_t k = 0; k < c->count && !near; ++k) {
      near = block_near(s, b, &c->set[k], 1.25, 0.03);
    }
    for (int k = 0; k < 2 && !near; ++k) {
      near = c->gone[k] >= 0 && block_near(s, b, &p->at[c->gone[k]], 1.1, 0.015);
    }
    if (near) {
      c->blocks[c->block_count++] = (uint32_t)b;
    }
  }
  return ABUT_SUCCESS;
}

/* Fits all candidates side by side. The fields of fit_look are still on the device. */
static abut_status fit_candidates(decomposition *d, const primitives *p, const view *v,
                                  candidate *all, size_t count)
{
  fitter *f = &d->fit;
  const sample_set *s = &d->search;
  problem problems[CANDIDATES];
  size_t rows = 0;
  for (size_t i = 0; i < count; ++i) {
    TRY(choose_blocks(s, p, &all[i]));
    problems[i] = (problem){.set = all[i].set,
                            .count = all[i].count,
                            .blocks = all[i].blocks,
                            .block_count = all[i].block_count,
                            .frozen = (int)rows};
    rows += all[i].block_count;
  }
  if (!rows) {
    return ABUT_SUCCESS;
  }
  TRY(fit_ints(f, 3 * rows));
  int *want = f->ints;
  for (size_t i = 0; i < count; ++i) {
    for (size_t b = 0; b < all[i].block_count; ++b, want += 3) {
      want[0] = (int)all[i].blocks[b];
      want[1] = all[i].gone[0];
      want[2] = all[i].gone[1];
    }
  }
  TRY(fit_freeze(f, f->ints, rows));
  TRY(fit_sets(f, s, problems, count, MOVE_WIDTH, STEPS, TOLERANCE));
  for (size_t i = 0; i < count; ++i) {
    all[i].change = problems[i].loss;
    for (size_t b = 0; b < all[i].block_count; ++b) {
      all[i].change -= v->block_loss[all[i].blocks[b]];
    }
  }
  return ABUT_SUCCESS;
}

static void candidates_free(candidate *all, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    free(all[i].blocks);
  }
}

/* Sets `order` to indices by falling or rising value. Equal values stay in their order. */
static void sort_places(const double *value, size_t count, bool falling, uint32_t *order)
{
  for (size_t i = 0; i < count; ++i) {
    size_t at = i;
    for (; at && (falling ? value[order[at - 1]] < value[i] : value[order[at - 1]] > value[i]);
         --at) {
      order[at] = order[at - 1];
    }
    order[at] = (uint32_t)i;
  }
}

/* ---- up ---- */

static size_t add_splits(const primitives *p, const view *v, candidate *all)
{
  uint32_t order[DECOMPOSE_MOST];
  size_t count = 0;
  sort_places(v->share, p->count, true, order);
  for (size_t i = 0; i < p->count && i < SPLITS; ++i) {
    const primitive *whole = &p->at[order[i]];
    for (int k = 0; k < 3; ++k) {
      if (whole->axes[k] < SPLIT_AXIS) {
        continue;
      }
      candidate *c = &all[count++];
      *c = (candidate){.count = 2, .gone = {(int)order[i], -1}};
      for (int half = 0; half < 2; ++half) {
        c->set[half] = *whole;
        c->set[half].axes[k] = fmax(SPLIT_SHARE * whole->axes[k], AXIS_LOW);
        for (int a = 0; a < 3; ++a) {
          c->set[half].centre[a] += (half ? 0.5 : -0.5) * whole->turn[3 * a + k] * whole->axes[k];
        }
      }
    }
  }
  return count;
}

/* Numbers a component of cells labelled UINT32_MAX. `number` starts at 1. Returns the number of its
 * cells. */
static size_t fill_component(const cell_set *c, uint32_t *label, uint32_t number, uint32_t from,
                             uint32_t *queue)
{
  size_t count = 0, done = 0;
  const size_t step[3] = {c->size[1] * c->size[2], c->size[2], 1};
  label[from] = number;
  queue[count++] = from;
  while (done < count) {
    const size_t cell = c->cell[queue[done++]];
    for (int k = 0; k < 6; ++k) {
      /* No set contains border cells, so neighbours are on the grid. */
      const size_t beside = k & 1 ? cell + step[k / 2] : cell - step[k / 2];
      const uint32_t other = c->number[beside];
      if (other != UINT32_MAX && label[other] == UINT32_MAX) {
        label[other] = number;
        queue[count++] = other;
      }
    }
  }
  return count;
}

/* Makes the ellipsoid of a component of cubic cells. */
static primitive component_ellipsoid(const cell_set *c, const uint32_t *label, uint32_t number,
                                     double count)
{
  moments m = {.weight = count};
  for (int turn = 0; turn < 2; ++turn) {
    for (size_t i = 0; i < c->samples.count; ++i) {
      const double *x = c->samples.x + 3 * i;
      for (int a = 0; a < 3 && label[i] == number; ++a) {
        m.mean[a] += turn == 0 ? x[a] / count : 0.0;
        for (int b = 0; b < 3 && turn == 1; ++b) {
          m.covariance[3 * a + b] += (x[a] - m.mean[a]) * (x[b] - m.mean[b]) / count;
        }
      }
    }
  }
  for (int a = 0; a < 3; ++a) {
    m.covariance[4 * a] += c->spacing * c->spacing / 12.0;
  }
  return primitive_of_moments(&m);
}

/* Makes ellipsoids of the largest components of cells labelled UINT32_MAX. */
static abut_status component_ellipsoids(const cell_set *cells, uint32_t *label, size_t most,
                                        primitive *out, size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  const size_t n = cells->samples.count;
  void *queue_memory = NULL, *sizes_memory = NULL;
  size_t components = 0;
  *count = 0;
  TRY_DONE(allocate(&queue_memory, n, sizeof(uint32_t)));
  TRY_DONE(allocate(&sizes_memory, n, sizeof(uint32_t)));
  uint32_t *queue = queue_memory, *sizes = sizes_memory;
  for (uint32_t i = 0; i < n; ++i) {
    if (label[i] == UINT32_MAX) {
      sizes[components] =
        (uint32_t)fill_component(cells, label, (uint32_t)components + 1, i, queue);
      ++components;
    }
  }
  for (size_t turn = 0; turn < most && components; ++turn) {
    size_t best = 0;
    for (size_t i = 1; i < components; ++i) {
      best = sizes[i] > sizes[best] ? i : best;
    }
    if (sizes[best] < BARE_LEAST) {
      break;
    }
    out[(*count)++] = component_ellipsoid(cells, label, (uint32_t)best + 1, sizes[best]);
    sizes[best] = 0;
  }
done:
  free(queue_memory);
  free(sizes_memory);
  return status;
}

/* Adds the largest components of cells that the body leaves uncovered. With `away`, takes outside
 * cells that the body covers, and subtracts the ellipsoids. */
static abut_status add_components(decomposition *d, const cell_set *cells, const primitives *p,
                                  bool away, candidate *all, size_t *count)
{
  abut_status status = ABUT_SUCCESS;
  const size_t n = cells->samples.count;
  primitive found[ADDITIONS];
  size_t made = 0;
  void *memory;
  if (!n) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, n, sizeof(uint32_t)));
  uint32_t *label = memory;
  TRY_DONE(fit_look(&d->fit, &cells->samples, p, MOVE_WIDTH));
  TRY_DONE(fit_unions(&d->fit, &cells->samples));
  for (size_t i = 0; i < n; ++i) {
    const double field = reals_get(&d->fit.numbers, i);
    label[i] = (away ? field < 0.0 : field > 0.0) ? UINT32_MAX : 0;
  }
  TRY_DONE(component_ellipsoids(cells, label, ADDITIONS, found, &made));
  for (size_t i = 0; i < made; ++i) {
    candidate *c = &all[(*count)++];
    *c = (candidate){.count = 1, .gone = {-1, -1}};
    c->set[0] = found[i];
    c->set[0].away = away;
  }
done:
  free(memory);
  return status;
}

abut_status add_pockets(const decomposition *d, size_t most, primitives *out)
{
  const cell_set *cells = &d->apart.pockets;
  const size_t room = DECOMPOSE_MOST - out->count, n = cells->samples.count;
  size_t made = 0;
  void *memory;
  if (!n) {
    return ABUT_SUCCESS;
  }
  TRY(allocate(&memory, n, sizeof(uint32_t)));
  memset(memory, 0xff, n * sizeof(uint32_t));
  const abut_status status =
    component_ellipsoids(cells, memory, most < room ? most : room, out->at + out->count, &made);
  free(memory);
  for (size_t i = 0; i < made; ++i) {
    out->at[out->count++].away = true;
  }
  return status;
}

static double longest(const primitive *p)
{
  return fmax(fmax(p->axes[0], p->axes[1]), p->axes[2]);
}

/* Whether an added primitive is within the longest axis of one already taken. */
static bool is_beside(const candidate *c, const candidate *const *taken, size_t count)
{
  for (size_t i = 0; i < count && c->count == 1; ++i) {
    double d[3];
    difference(c->set[0].centre, taken[i]->set[0].centre, d);
    if (taken[i]->count == 1 &&
        sqrt(dot(d, d)) < fmax(longest(&c->set[0]), longest(&taken[i]->set[0]))) {
      return true;
    }
  }
  return false;
}

static void take_out(primitives *p, const bool *gone)
{
  size_t count = 0;
  for (size_t l = 0; l < p->count; ++l) {
    if (!gone[l]) {
      p->at[count++] = p->at[l];
    }
  }
  p->count = count;
}

/* Takes the best candidates that do not conflict with each other. */
static size_t take_best(primitives *p, const candidate *all, size_t count, size_t most)
{
  double change[CANDIDATES] = {0.0};
  uint32_t order[CANDIDATES];
  const candidate *taken[CANDIDATES];
  bool gone[DECOMPOSE_MOST] = {false};
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    change[i] = all[i].change;
  }
  sort_places(change, count, false, order);
  for (size_t i = 0; i < count && used < most && change[order[i]] < 0.0; ++i) {
    const candidate *c = &all[order[i]];
    if ((c->gone[0] >= 0 && gone[c->gone[0]]) || is_beside(c, taken, used) ||
        p->count + used + 2 > DECOMPOSE_MOST) {
      continue;
    }
    if (c->gone[0] >= 0) {
      gone[c->gone[0]] = true;
    }
    taken[used++] = c;
  }
  take_out(p, gone);
  for (size_t i = 0; i < used; ++i) {
    for (size_t k = 0; k < taken[i]->count; ++k) {
      p->at[p->count++] = taken[i]->set[k];
    }
  }
  return used;
}

abut_status move_up(decomposition *d, primitives *p, size_t most, size_t *added)
{
  abut_status status = ABUT_SUCCESS;
  candidate all[CANDIDATES];
  view v;
  size_t count = 0, bare = 0;
  *added = 0;
  /* Uncovered cells are searched first, because the fits need the fields of the whole set on the
   * device. */
  TRY(add_components(d, &d->cells, p, false, all, &bare));
  if (d->fit.mixed) {
    TRY(add_components(d, &d->apart.outside, p, true, all, &bare));
  }
  candidate parts[2 * ADDITIONS];
  memcpy(parts, all, bare * sizeof *parts);
  TRY_DONE(look(d, p, &v));
  count = add_splits(p, &v, all);
  memcpy(all + count, parts, bare * sizeof *parts);
  count += bare;
  TRY_DONE(fit_candidates(d, p, &v, all, count));
  *added = take_best(p, all, count, most);
done:
  candidates_free(all, count);
  view_free(&v);
  return status;
}

/* ---- down ---- */

/* Lists the touching pairs in which one primitive is cheap to remove. */
static size_t add_merges(const primitives *p, const view *v, candidate *all)
{
  const size_t n = p->count;
  size_t count = 0;
  double value[MERGES];
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = a + 1; b < n; ++b) {
      const double least = fmin(v->cost[a], v->cost[b]);
      if (v->touches[a * n + b] <= TOUCHES || (count == MERGES && !(least < value[MERGES - 1]))) {
        continue;
      }
      size_t at = count < MERGES ? count++ : MERGES - 1;
      for (; at && value[at - 1] > least; --at) {
        value[at] = value[at - 1];
        all[at] = all[at - 1];
      }
      value[at] = least;
      all[at] = (candidate){.count = 1, .gone = {(int)a, (int)b}};
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const moments a = primitive_moments(&p->at[all[i].gone[0]]),
                  b = primitive_moments(&p->at[all[i].gone[1]]);
    const moments both = moments_joined(&a, &b);
    all[i].set[0] = primitive_of_moments(&both);
    all[i].set[0].away = p->at[all[i].gone[0]].away;
  }
  return count;
}

/* A body needs an added primitive, so a single one is neither removed nor merged. */
static void keep_last(const primitives *p, view *v)
{
  size_t added = 0, last = 0;
  for (size_t l = 0; l < p->count; ++l) {
    if (!p->at[l].away) {
      ++added;
      last = l;
    }
  }
  if (added == 1) {
    v->cost[last] = HUGE_VAL;
  }
}

static abut_status down_once(decomposition *d, primitives *p)
{
  abut_status status = ABUT_SUCCESS;
  candidate all[MERGES];
  bool gone[DECOMPOSE_MOST] = {false};
  size_t count = 0, cheapest = 0;
  view v;
  TRY_DONE(look(d, p, &v));
  keep_last(p, &v);
  for (size_t l = 1; l < p->count; ++l) {
    cheapest = v.cost[l] < v.cost[cheapest] ? l : cheapest;
  }
  const candidate *best = NULL;
  double least = v.cost[cheapest];
  count = add_merges(p, &v, all);
  TRY_DONE(fit_candidates(d, p, &v, all, count));
  for (size_t i = 0; i < count; ++i) {
    if (all[i].change < least) {
      best = &all[i];
      least = best->change;
    }
  }
  if (best) {
    gone[best->gone[0]] = gone[best->gone[1]] = true;
  } else {
    gone[cheapest] = true;
  }
  take_out(p, gone);
  if (best) {
    p->at[p->count++] = best->set[0];
  }
done:
  candidates_free(all, count);
  view_free(&v);
  return status;
}

abut_status move_down(decomposition *d, primitives *p, size_t count, move_visit visit, void *user)
{
  while (p->count > count) {
    TRY(down_once(d, p));
    if (p->count > count) {
      TRY(fit_whole(&d->fit, &d->search, p, MOVE_WIDTH, 3, NULL));
    }
    if (visit) {
      TRY(visit(user, p));
    }
  }
  return ABUT_SUCCESS;
}
