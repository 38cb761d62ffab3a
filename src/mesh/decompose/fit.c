/* Levenberg-Marquardt on a device. fitter.c computes fields and products of Jacobians; the
 * equations are here. */
#include "mesh/decompose/fitter.h"

#include "base/error.h"
#include "geometry/layout.h"
#include <math.h>
#include <string.h>

#define DAMPING 1e-2 /* initial value */
#define DAMPING_LEAST 1e-4
#define EASED 0.3     /* factor after an accepted step */
#define STIFFENED 5.0 /* factor after a rejected step */
#define TRIES 6
#define AT_BOUND 1e-6
#define ROWS_AT_ONCE ((size_t)1 << 17) /* rows of the Jacobians per launch */
#define TILE ((size_t)PARAMETERS * PARAMETERS)

/* ---- steps ---- */

/* The state of a set during its fit. */
typedef struct fit {
  problem *p;
  equations e;
  primitive *trial;
  double *step; /* (count, PARAMETERS) */
  double damping;
  size_t steps, tries, first; /* first: index of its first item */
  bool begun, done, hungry;   /* hungry: needs new equations */
  bool unsolvable;            /* its first equations were unsolvable with any damping */
} fit;

static size_t blocks_of(const fit *t, const sample_set *s)
{
  return t->p->blocks ? t->p->block_count : s->blocks;
}

static void end(fit *t)
{
  t->done = true;
  t->hungry = false;
}

/* Solves for a step. The damping increases until the matrix is positive definite. */
static void propose(fit *t)
{
  size_t unsolved = 0;
  while (!equations_solve(&t->e, t->damping, t->step)) {
    t->damping *= STIFFENED;
    ++unsolved;
    if (++t->tries >= TRIES) {
      t->unsolvable = !t->steps && unsolved == TRIES;
      end(t);
      return;
    }
  }
  for (size_t l = 0; l < t->p->count; ++l) {
    t->trial[l] = primitive_moved(&t->p->set[l], t->step + PARAMETERS * l);
  }
}

/* Accepts or rejects a trial by its loss. */
static void judge(fit *t, double loss, size_t steps, double tolerance)
{
  if (!t->begun) {
    t->begun = true;
    t->p->loss = loss;
    t->hungry = steps > 0 && isfinite(loss);
    t->done = !t->hungry;
  } else if (loss < t->p->loss) {
    const double fell = t->p->loss - loss;
    memcpy(t->p->set, t->trial, t->p->count * sizeof *t->trial);
    t->p->loss = loss;
    t->damping = fmax(EASED * t->damping, DAMPING_LEAST);
    t->tries = 0;
    t->hungry = true;
    if (fell < tolerance * (loss + fell) || ++t->steps == steps) {
      end(t);
    }
  } else {
    t->damping *= STIFFENED;
    if (++t->tries >= TRIES) {
      end(t);
    } else {
      propose(t);
    }
  }
}

/* Distance of a parameter from its bounds. */
static void find_room(const primitive *p, size_t k, double *low, double *high)
{
  *low = *high = HUGE_VAL;
  if (p->parts) {
    if (k < 3 * PLANES_EACH && k % 3 == 0) {
      *low = p->planes[k / 3][3] - AXIS_LOW;
      *high = OFFSET_HIGH - p->planes[k / 3][3];
    }
  } else if (k < 3) {
    *low = log(p->axes[k] / AXIS_LOW);
    *high = log(AXIS_HIGH / p->axes[k]);
  } else if (k < 5) {
    *low = p->exponents[k - 3] - EXPONENT_LOW;
    *high = EXPONENT_HIGH - p->exponents[k - 3];
  }
}

/* Marks the free parameters. A parameter at a bound is fixed if the gradient pushes against the
 * bound. */
static bool free_parameters(fit *t)
{
  bool any = false;
  for (size_t i = 0; i < t->p->count * PARAMETERS; ++i) {
    const size_t l = i / PARAMETERS, k = i % PARAMETERS;
    const double slope = t->e.right[i];
    double low, high;
    find_room(&t->p->set[l], k, &low, &high);
    t->e.free[i] = t->e.blocks[TILE * (l * t->p->count + l) + PARAMETERS * k + k] > 0.0 &&
                   !(low <= AT_BOUND && slope > 0.0) && !(high <= AT_BOUND && slope < 0.0);
    any = any || t->e.free[i];
  }
  return any;
}

/* ---- equations ---- */

/* Adds the products of an item to the equations. */
static void add_products(fit *t, const int *list, size_t most, const reals *from, size_t at)
{
  const size_t n = (size_t)list[LIST_ACTIVE], count = t->p->count;
  for (size_t a = 0; a < n; ++a) {
    const size_t l = (size_t)list[LIST_AT + most + a];
    for (size_t b = 0; b <= a; ++b) {
      const size_t m = (size_t)list[LIST_AT + most + b];
      const bool turned = l < m;
      const size_t block = turned ? m * count + l : l * count + m;
      double *to = t->e.blocks + TILE * block;
      t->e.there[block] = 1;
      for (size_t r = 0; r < PARAMETERS; ++r) {
        const size_t row = PARAMETERS * a + r, columns = a == b ? r + 1 : PARAMETERS;
        for (size_t c = 0; c < columns; ++c) {
          to[turned ? PARAMETERS * c + r : PARAMETERS * r + c] +=
            reals_get(from, at + DECOMPOSE_PRODUCTS(row) + PARAMETERS * b + c);
        }
      }
    }
    for (size_t r = 0; r < PARAMETERS; ++r) {
      t->e.right[PARAMETERS * l + r] +=
        reals_get(from, at + DECOMPOSE_PRODUCTS(PARAMETERS * n) + PARAMETERS * a + r);
    }
  }
}

/* Products that share a launch. */
typedef struct bunch {
  int *wanted, *owner; /* (total, PRODUCT_INTS), (total): the fit of each item */
  size_t used, rows, products;
} bunch;

static abut_status flush(fitter *f, const sample_set *s, fit *fits, double width, bunch *b)
{
  if (b->used) {
    TRY(fitter_products(f, s, width, b->wanted, b->used, b->rows, b->products));
  }
  for (size_t k = 0; k < b->used; ++k) {
    const int *want = b->wanted + PRODUCT_INTS * k;
    add_products(&fits[b->owner[k]], fitter_list(f, (size_t)want[PRODUCT_ITEM]), f->most,
                 &f->numbers, (size_t)want[PRODUCT_AT]);
  }
  b->used = b->rows = b->products = 0;
  return ABUT_SUCCESS;
}

/* Makes the equations of all fits that need them, in groups of items. */
static abut_status make_equations(fitter *f, const sample_set *s, fit *fits, size_t count,
                                  double width)
{
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    if (fits[i].hungry) {
      equations_clear(&fits[i].e);
      total += blocks_of(&fits[i], s);
    }
  }
  TRY(fit_ints(f, total * (PRODUCT_INTS + 1)));
  bunch b = {.wanted = f->ints, .owner = f->ints + total * PRODUCT_INTS};
  for (size_t i = 0; i < count; ++i) {
    const size_t blocks = fits[i].hungry ? blocks_of(&fits[i], s) : 0;
    for (size_t k = 0; k < blocks; ++k) {
      const size_t item = fits[i].first + k, active = (size_t)fitter_list(f, item)[LIST_ACTIVE];
      const size_t rows = PARAMETERS * active + 1;
      if (!active) {
        continue;
      }
      if (b.rows + rows > ROWS_AT_ONCE) {
        TRY(flush(f, s, fits, width, &b));
      }
      const int want[PRODUCT_INTS] = {(int)item, (int)b.rows, (int)b.products};
      memcpy(b.wanted + PRODUCT_INTS * b.used, want, sizeof want);
      b.owner[b.used++] = (int)i;
      b.rows += rows;
      b.products += DECOMPOSE_PRODUCTS(rows);
    }
  }
  return flush(f, s, fits, width, &b);
}

/* ---- all of it ---- */

static abut_status try_all(fitter *f, const sample_set *s, fit *fits, size_t count, double width,
                           size_t *live)
{
  size_t sets = 0, items = 0, most = 0, at = 0;
  *live = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!fits[i].done) {
      fits[i].first = items;
      sets += fits[i].p->count;
      items += blocks_of(&fits[i], s);
      most = fits[i].p->count > most ? fits[i].p->count : most;
      ++*live;
    }
  }
  if (!items) {
    return ABUT_SUCCESS;
  }
  TRY(fit_numbers(f, sets * SUPERQUADRIC_STRIDE));
  TRY(fit_ints(f, items * FIT_INTS));
  for (size_t i = 0; i < count; ++i) {
    const fit *t = &fits[i];
    for (size_t b = 0; !t->done && b < blocks_of(t, s); ++b) {
      const int item[FIT_INTS] = {(int)(t->p->blocks ? t->p->blocks[b] : b), (int)at,
                                  (int)t->p->count, t->p->frozen < 0 ? -1 : t->p->frozen + (int)b};
      memcpy(f->ints + FIT_INTS * (t->first + b), item, sizeof item);
    }
    for (size_t l = 0; !t->done && l < t->p->count; ++l) {
      fitter_pack(&f->numbers, at++ * SUPERQUADRIC_STRIDE, &t->trial[l]);
    }
  }
  TRY(fit_room(f, ROOM_PRIMITIVES, sets * SUPERQUADRIC_STRIDE * f->numbers.size, f->numbers.data));
  TRY(fitter_values(f, s, items, most, width));
  for (size_t i = 0; i < items; ++i) {
    f->evaluations += (uint64_t)fitter_list(f, i)[LIST_KEPT] * DECOMPOSE_BLOCK;
  }
  return ABUT_SUCCESS;
}

static abut_status begin(fit *t, problem *p)
{
  void *memory;
  t->p = p;
  t->damping = DAMPING;
  p->loss = 0.0;
  t->done = !p->count || (p->blocks && !p->block_count);
  TRY(equations_create(&t->e, p->count));
  TRY(allocate(&memory, p->count, sizeof *t->trial));
  t->trial = memory;
  TRY(allocate(&memory, p->count, PARAMETERS * sizeof(double)));
  t->step = memory;
  memcpy(t->trial, p->set, p->count * sizeof *t->trial);
  return ABUT_SUCCESS;
}

static void fit_end(fit *t)
{
  equations_free(&t->e);
  free(t->trial);
  free(t->step);
}

abut_status fit_sets(fitter *f, const sample_set *s, problem *problems, size_t count, double width,
                     size_t steps, double tolerance)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  size_t live = count;
  TRY(allocate(&memory, count, sizeof(fit)));
  fit *fits = memory;
  for (size_t i = 0; i < count; ++i) {
    TRY_DONE(begin(&fits[i], &problems[i]));
  }
  while (true) {
    TRY_DONE(try_all(f, s, fits, count, width, &live));
    if (!live) {
      break;
    }
    for (size_t i = 0; i < count; ++i) {
      if (!fits[i].done) {
        judge(&fits[i], fitter_terms(f, fits[i].first, blocks_of(&fits[i], s)), steps, tolerance);
      }
    }
    TRY_DONE(make_equations(f, s, fits, count, width));
    for (size_t i = 0; i < count; ++i) {
      if (fits[i].hungry) {
        fits[i].hungry = false;
        if (free_parameters(&fits[i])) {
          equations_order(&fits[i].e);
          propose(&fits[i]);
        } else {
          end(&fits[i]);
        }
      }
    }
  }
  f->stalled = count == 1 && !problems[0].blocks && fits[0].unsolvable;
done:
  for (size_t i = 0; i < count; ++i) {
    fit_end(&fits[i]);
  }
  free(fits);
  return status;
}

abut_status fit_whole(fitter *f, const sample_set *s, primitives *p, double width, size_t steps,
                      double *loss)
{
  problem whole = {.set = p->at, .count = p->count, .frozen = -1};
  TRY(fit_sets(f, s, &whole, 1, width, steps, 1e-3));
  if (loss) {
    *loss = whole.loss;
  }
  return ABUT_SUCCESS;
}

abut_status fit_equations(fitter *f, const sample_set *s, primitive *set, size_t count,
                          double width, double *loss, equations *e)
{
  abut_status status = ABUT_SUCCESS;
  problem whole = {.set = set, .count = count, .frozen = -1};
  fit one = {0};
  size_t live;
  memset(e, 0, sizeof *e);
  TRY_DONE(begin(&one, &whole));
  TRY_DONE(try_all(f, s, &one, 1, width, &live));
  *loss = fitter_terms(f, 0, s->blocks);
  one.hungry = true;
  TRY_DONE(make_equations(f, s, &one, 1, width));
  *e = one.e;
  memset(&one.e, 0, sizeof one.e);
done:
  fit_end(&one);
  return status;
}
