/* Finds superquadrics that polyhedra can replace: each polyhedron is tried in place of one
 * superquadric. Only its planes are fitted; the other primitives stay as they are. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 12 /* steps of a trial's fit */
#define TOLERANCE 3e-3
/* scale of the box of a superquadric's axes, within which samples are near the superquadric */
#define SCALE 1.25
#define WIDENED 0.03      /* margin that is added to this box, or to a polyhedron */
#define TRIALS_AT_ONCE 32 /* trials whose frozen fields are on the device at once */

typedef struct trial {
  primitive parts[PARTS_MOST];
  size_t count, of; /* number of parts, and index of the superquadric that is replaced */
  uint32_t *blocks;
  size_t block_count;
} trial;

static bool block_near(const sample_set *s, size_t block, const primitive *was,
                       const primitive *parts)
{
  const double *ball = s->balls + DECOMPOSE_BALL * block;
  const double widened = WIDENED + ball[3];
  if (!primitive_near(was, ball, SCALE, widened) && !(polyhedron_beyond(parts, ball) < widened)) {
    return false;
  }
  for (size_t i = 0; i < DECOMPOSE_BLOCK; ++i) {
    const double *x = s->x + 3 * (block * DECOMPOSE_BLOCK + i);
    if (primitive_near(was, x, SCALE, WIDENED) || polyhedron_beyond(parts, x) < WIDENED) {
      return true;
    }
  }
  return false;
}

static abut_status choose_blocks(const sample_set *s, const primitives *p, trial *t)
{
  void *memory;
  TRY(allocate(&memory, s->blocks, sizeof *t->blocks));
  t->blocks = memory;
  for (size_t b = 0; b < s->blocks; ++b) {
    if (block_near(s, b, &p->at[t->of], t->parts)) {
      t->blocks[t->block_count++] = (uint32_t)b;
    }
  }
  return ABUT_SUCCESS;
}

/* Makes a trial from planes, unless they enclose nothing. */
static void add_trial(const primitives *p, size_t l, const double (*planes)[4], size_t count,
                      trial *all, size_t *made)
{
  trial *t = &all[*made];
  double kept[PARTS_MOST * PLANES_EACH][4], lower[3], upper[3];
  *t = (trial){.of = l};
  t->count = polyhedron_create(planes, count, p->at[l].centre, p->at[l].away, t->parts);
  *made += polyhedron_planes(t->parts, HUGE_VAL, kept, lower, upper, NULL) > 0;
}

static void add_trials(const facets *f, const primitives *p, size_t l, trial *all, size_t *made)
{
  double planes[PLANES_MOST][4];
  size_t count = box_planes(&p->at[l], planes);
  add_trial(p, l, (const double(*)[4])planes, count, all, made);
  count = facets_planes(f, p, l, planes);
  add_trial(p, l, (const double(*)[4])planes, count, all, made);
}

/* Fits trials side by side, and keeps the best for each superquadric. The fields of the whole set
 * are on the device. */
static abut_status fit_trials(decomposition *d, const primitives *p, const double *block_loss,
                              trial *all, size_t count, double least, conversion *out)
{
  fitter *f = &d->fit;
  const sample_set *s = &d->search;
  problem problems[TRIALS_AT_ONCE];
  size_t rows = 0;
  for (size_t i = 0; i < count; ++i) {
    TRY(choose_blocks(s, p, &all[i]));
    problems[i] = (problem){.set = all[i].parts,
                            .count = all[i].count,
                            .blocks = all[i].blocks,
                            .block_count = all[i].block_count,
                            .frozen = (int)rows};
    rows += all[i].block_count;
  }
  if (!rows) {
    return ABUT_SUCCESS;
  }
  TRY(fit_look(f, s, p, MOVE_WIDTH)); /* the fits of previous trials have overwritten it */
  TRY(fit_ints(f, 3 * rows));
  int *want = f->ints;
  for (size_t i = 0; i < count; ++i) {
    for (size_t b = 0; b < all[i].block_count; ++b, want += 3) {
      want[0] = (int)all[i].blocks[b];
      want[1] = (int)all[i].of;
      want[2] = -1;
    }
  }
  TRY(fit_freeze(f, f->ints, rows));
  TRY(fit_sets(f, s, problems, count, MOVE_WIDTH, STEPS, TOLERANCE));
  for (size_t i = 0; i < count; ++i) {
    conversion *c = &out[all[i].of];
    double change = problems[i].loss;
    for (size_t b = 0; b < all[i].block_count; ++b) {
      change -= block_loss[all[i].blocks[b]];
    }
    if (change < -least && (!c->count || change < c->change)) {
      memcpy(c->parts, all[i].parts, sizeof c->parts);
      c->count = all[i].count;
      c->change = change;
    }
  }
  return ABUT_SUCCESS;
}

static abut_status find_block_losses(decomposition *d, const primitives *p, double *out)
{
  TRY(fit_look(&d->fit, &d->search, p, MOVE_WIDTH));
  for (size_t i = 0; i < d->search.blocks * DECOMPOSE_BLOCK; ++i) {
    out[i / DECOMPOSE_BLOCK] += reals_get(&d->fit.terms, i);
  }
  return ABUT_SUCCESS;
}

abut_status move_to_planes(decomposition *d, const primitives *p, double least,
                           conversion out[DECOMPOSE_MOST])
{
  abut_status status = ABUT_SUCCESS;
  facets f = {.count = 0};
  void *losses = NULL, *trials = NULL;
  size_t made = 0;
  memset(out, 0, DECOMPOSE_MOST * sizeof *out);
  TRY_DONE(allocate(&losses, d->search.blocks, sizeof(double)));
  TRY_DONE(allocate(&trials, TRIALS_AT_ONCE, sizeof(trial)));
  trial *all = trials;
  TRY_DONE(facets_find(d, p, &f));
  TRY_DONE(find_block_losses(d, p, losses));
  for (size_t l = 0; l < p->count; ++l) {
    if (!p->at[l].parts) {
      add_trials(&f, p, l, all, &made);
    }
    if (made && (l + 1 == p->count || made + 2 > TRIALS_AT_ONCE)) {
      TRY_DONE(fit_trials(d, p, losses, all, made, least, out));
      for (; made; --made) {
        free(all[made - 1].blocks);
        all[made - 1].blocks = NULL;
      }
    }
  }
done:
  for (; made; --made) {
    free(((trial *)trials)[made - 1].blocks);
  }
  free(trials);
  free(losses);
  facets_free(&f);
  return status;
}
