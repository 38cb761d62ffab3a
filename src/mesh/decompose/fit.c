/* Levenberg-Marquardt on a device: fields and products of Jacobians there, by blocks of samples;
 * sums over blocks, in their order and in double, and the equations here. */
#include "base/error.h"
#include "mesh/decompose/decompose.h"
#include "geometry/layout.h"
#include "math/vector.h"
#include <math.h>
#include <string.h>

#define DAMPING 1e-2 /* in the beginning */
#define DAMPING_LEAST 1e-4
#define EASED 0.3     /* of it after a step that was taken */
#define STIFFENED 5.0 /* times, after one that was not */
#define TRIES 6
#define AT_BOUND 1e-6
#define ROWS_AT_ONCE ((size_t)1 << 17) /* of the Jacobians of a launch */
#define TILE ((size_t)PARAMETERS * PARAMETERS)

/* ---- the device's memory ---- */

abut_status fit_room(fitter *f, size_t which, size_t bytes, const void *from)
{
  if (!f->room[which] || f->room_bytes[which] < bytes) {
    buffer_destroy(f->room[which]);
    f->room[which] = NULL;
    f->room_bytes[which] = bytes + bytes / 4;
    TRY(buffer_create(f->device, f->room_bytes[which], &f->room[which]));
  }
  return from ? buffer_write(f->room[which], 0, bytes, from) : ABUT_SUCCESS;
}

static abut_status room_for(void **at, size_t *room, size_t bytes)
{
  return grow(at, room, bytes, 1);
}

static abut_status room_for_reals(const fitter *f, reals *r, size_t *room, size_t count)
{
  r->size = device_real_bytes(f->device);
  r->count = count;
  return room_for(&r->data, room, count * r->size);
}

abut_status fit_numbers(fitter *f, size_t count)
{
  return room_for_reals(f, &f->numbers, &f->numbers_room, count);
}

abut_status fit_ints(fitter *f, size_t count)
{
  void *memory = f->ints;
  const abut_status status = room_for(&memory, &f->ints_room, count * sizeof(int));
  f->ints = memory;
  return status;
}

void fitter_free(fitter *f)
{
  for (size_t i = 0; i < ROOMS; ++i) {
    buffer_destroy(f->room[i]);
  }
  free(f->terms.data);
  free(f->numbers.data);
  free(f->lists);
  free(f->ints);
  memset(f, 0, sizeof *f);
}

static abut_status upload_numbers(fitter *f, size_t count, buffer **out)
{
  return buffer_upload(f->device, count * f->numbers.size, f->numbers.data, out);
}

abut_status fitter_upload(fitter *f, sample_set *s)
{
  TRY(fit_numbers(f, s->blocks * SAMPLE_PLANES * DECOMPOSE_BLOCK));
  for (size_t i = 0; i < s->blocks * DECOMPOSE_BLOCK; ++i) {
    const size_t at = i / DECOMPOSE_BLOCK * SAMPLE_PLANES * DECOMPOSE_BLOCK + i % DECOMPOSE_BLOCK;
    for (size_t k = 0; k < 3; ++k) {
      reals_set(&f->numbers, at + k * DECOMPOSE_BLOCK, s->x[3 * i + k]);
    }
    reals_set(&f->numbers, at + SAMPLE_ROOT * DECOMPOSE_BLOCK, sqrt(s->volume[i]));
    reals_set(&f->numbers, at + SAMPLE_DISTANCE * DECOMPOSE_BLOCK, s->distance[i]);
  }
  TRY(upload_numbers(f, s->blocks * SAMPLE_PLANES * DECOMPOSE_BLOCK, &s->on));
  TRY(fit_numbers(f, s->blocks * DECOMPOSE_BALL));
  for (size_t i = 0; i < s->blocks * DECOMPOSE_BALL; ++i) {
    reals_set(&f->numbers, i, s->balls[i] * (i % DECOMPOSE_BALL == 3 ? 1.0 + 1e-5 : 1.0));
  }
  return upload_numbers(f, s->blocks * DECOMPOSE_BALL, &s->balls_on);
}

static void pack_part(reals *to, size_t at, const primitive *p)
{
  for (size_t i = 0; i < PLANES_EACH; ++i) {
    double across[3];
    unit_across(p->planes[i], across);
    for (size_t k = 0; k < 3; ++k) {
      reals_set(to, at + PLANES_STRIDE * i + k, p->planes[i][k]);
      reals_set(to, at + PLANES_STRIDE * i + PLANES_ACROSS + k, across[k]);
    }
    reals_set(to, at + PLANES_STRIDE * i + PLANES_OFFSET, p->planes[i][3]);
    reals_set(to, at + PLANES_CENTRE + i, p->centre[i]);
  }
  for (size_t i = PLANES_CENTRE + 3; i < SUPERQUADRIC_STRIDE; ++i) {
    reals_set(to, at + i, 0.0);
  }
  reals_set(to, at + DECOMPOSE_PART, (double)PART_CODE(p->parts, p->part));
  reals_set(to, at + DECOMPOSE_SIGN, p->away ? -1.0 : 1.0);
}

/* Packs an entry of a set: a superquadric as bodies are packed (geometry/layout.h), but for what
 * only they need. */
static void pack(reals *to, size_t at, const primitive *p)
{
  double size2 = 0.0;
  if (p->parts) {
    pack_part(to, at, p);
    return;
  }
  for (size_t i = 0; i < SUPERQUADRIC_STRIDE; ++i) {
    reals_set(to, at + i, i < 9 ? p->turn[i] : 0.0);
  }
  for (size_t i = 0; i < 3; ++i) {
    reals_set(to, at + SUPERQUADRIC_POSITION + i, p->centre[i]);
    reals_set(to, at + SUPERQUADRIC_AXES_INV + i, 1.0 / p->axes[i]);
    size2 += p->axes[i] * p->axes[i];
  }
  reals_set(to, at + SUPERQUADRIC_E1, p->exponents[0]);
  reals_set(to, at + SUPERQUADRIC_E1_INV, 1.0 / p->exponents[0]);
  reals_set(to, at + SUPERQUADRIC_E2, p->exponents[1]);
  reals_set(to, at + SUPERQUADRIC_E2_INV, 1.0 / p->exponents[1]);
  reals_set(to, at + SUPERQUADRIC_FLOOR, 1e-12 * size2);
  reals_set(to, at + DECOMPOSE_SIGN, p->away ? -1.0 : 1.0);
}

/* ---- fields ---- */

/* The unions of what adds and of what is taken away; nothing is written there where all add. */
static buffer *halves_of(const fitter *f)
{
  return f->room[f->mixed ? ROOM_HALVES : ROOM_UNIONS];
}

/* Finds the fields of items; f->ints holds them. most: of primitives of an item. */
static abut_status find_values(fitter *f, const sample_set *s, size_t items, size_t most,
                               double width)
{
  const size_t real = device_real_bytes(f->device), samples = items * DECOMPOSE_BLOCK;
  void *memory = f->lists;
  f->most = most;
  TRY(fit_room(f, ROOM_ITEMS, items * FIT_INTS * sizeof(int), f->ints));
  TRY(fit_room(f, ROOM_FIELDS, samples * most * real, NULL));
  TRY(fit_room(f, ROOM_UNIONS, samples * real, NULL));
  if (f->mixed) {
    TRY(fit_room(f, ROOM_HALVES, 2 * samples * real, NULL));
  }
  TRY(fit_room(f, ROOM_TERMS, samples * real, NULL));
  TRY(fit_room(f, ROOM_LISTS, items * LIST_INTS(most) * sizeof(int), NULL));
  TRY(LAUNCH(f->device, KERNEL_DECOMPOSE_VALUES, items, 1, ARG_BUFFER(s->on),
             ARG_BUFFER(s->balls_on), ARG_BUFFER(f->room[ROOM_PRIMITIVES]),
             ARG_BUFFER(f->room[ROOM_ITEMS]), ARG_BUFFER(f->room[ROOM_FROZEN]), ARG_REAL(width),
             ARG_REAL(f->tau), ARG_REAL(f->plane), ARG_INT(most), ARG_INT(f->mixed),
             ARG_BUFFER(f->room[ROOM_FIELDS]), ARG_BUFFER(f->room[ROOM_UNIONS]),
             ARG_BUFFER(halves_of(f)), ARG_BUFFER(f->room[ROOM_TERMS]),
             ARG_BUFFER(f->room[ROOM_LISTS])));
  TRY(room_for_reals(f, &f->terms, &f->terms_room, samples));
  TRY(buffer_read(f->room[ROOM_TERMS], 0, samples * real, f->terms.data));
  const abut_status status =
    room_for(&memory, &f->lists_room, items * LIST_INTS(most) * sizeof(int));
  f->lists = memory;
  TRY(status);
  TRY(buffer_read(f->room[ROOM_LISTS], 0, items * LIST_INTS(most) * sizeof(int), f->lists));
  return ABUT_SUCCESS;
}

static const int *list_of(const fitter *f, size_t item)
{
  return f->lists + LIST_INTS(f->most) * item;
}

static double sum_terms(const fitter *f, size_t first, size_t count)
{
  double sum = 0.0;
  for (size_t i = first * DECOMPOSE_BLOCK; i < (first + count) * DECOMPOSE_BLOCK; ++i) {
    sum += reals_get(&f->terms, i);
  }
  return sum;
}

abut_status fit_look(fitter *f, const sample_set *s, const primitives *p, double width)
{
  TRY(fit_numbers(f, p->count * SUPERQUADRIC_STRIDE));
  for (size_t l = 0; l < p->count; ++l) {
    pack(&f->numbers, l * SUPERQUADRIC_STRIDE, &p->at[l]);
  }
  TRY(fit_room(f, ROOM_PRIMITIVES, p->count * SUPERQUADRIC_STRIDE * f->numbers.size,
               f->numbers.data));
  TRY(fit_ints(f, s->blocks * FIT_INTS));
  for (size_t b = 0; b < s->blocks; ++b) {
    const int item[FIT_INTS] = {(int)b, 0, (int)p->count, -1};
    memcpy(f->ints + b * FIT_INTS, item, sizeof item);
  }
  return find_values(f, s, s->blocks, p->count, width);
}

double fit_loss(const fitter *f, const sample_set *s)
{
  return sum_terms(f, 0, s->blocks);
}

abut_status fit_costs(fitter *f, const sample_set *s, double width, double *costs)
{
  const size_t real = device_real_bytes(f->device), count = s->blocks * f->most;
  TRY(fit_room(f, ROOM_NEAREST, s->blocks * NEAREST_PLANES * DECOMPOSE_BLOCK * real, NULL));
  TRY(fit_room(f, ROOM_COSTS, count * real, NULL));
  TRY(LAUNCH(f->device, KERNEL_DECOMPOSE_REMOVALS, s->blocks, 1, ARG_BUFFER(s->on),
             ARG_BUFFER(f->room[ROOM_PRIMITIVES]), ARG_BUFFER(f->room[ROOM_ITEMS]), ARG_REAL(width),
             ARG_REAL(f->tau), ARG_INT(f->most), ARG_INT(f->mixed),
             ARG_BUFFER(f->room[ROOM_FIELDS]), ARG_BUFFER(f->room[ROOM_TERMS]),
             ARG_BUFFER(f->room[ROOM_LISTS]), ARG_BUFFER(f->room[ROOM_NEAREST]),
             ARG_BUFFER(f->room[ROOM_COSTS])));
  TRY(fit_numbers(f, count));
  TRY(buffer_read(f->room[ROOM_COSTS], 0, count * real, f->numbers.data));
  memset(costs, 0, f->most * sizeof *costs);
  for (size_t b = 0; b < s->blocks; ++b) {
    const int *list = list_of(f, b);
    for (int k = 0; k < list[LIST_KEPT]; ++k) {
      costs[list[LIST_AT + k]] += reals_get(&f->numbers, b * f->most + (size_t)k);
    }
  }
  return ABUT_SUCCESS;
}

abut_status fit_freeze(fitter *f, const int *wanted, size_t rows)
{
  TRY(fit_room(f, ROOM_WANTED, 3 * rows * sizeof(int), wanted));
  const size_t kinds = f->mixed ? 2 : 1;
  TRY(
    fit_room(f, ROOM_FROZEN, kinds * rows * DECOMPOSE_BLOCK * device_real_bytes(f->device), NULL));
  return LAUNCH(f->device, KERNEL_DECOMPOSE_FREEZE, rows, 1, ARG_BUFFER(f->room[ROOM_PRIMITIVES]),
                ARG_BUFFER(f->room[ROOM_ITEMS]), ARG_REAL(f->tau), ARG_INT(f->most),
                ARG_INT(f->mixed), ARG_BUFFER(f->room[ROOM_FIELDS]),
                ARG_BUFFER(f->room[ROOM_LISTS]), ARG_BUFFER(f->room[ROOM_WANTED]),
                ARG_BUFFER(f->room[ROOM_FROZEN]));
}

abut_status fit_unions(fitter *f, const sample_set *s)
{
  const size_t samples = s->blocks * DECOMPOSE_BLOCK;
  TRY(fit_numbers(f, samples));
  return buffer_read(f->room[ROOM_UNIONS], 0, samples * f->numbers.size, f->numbers.data);
}

fit_volumes fit_volumes_of(const fitter *f, const sample_set *s)
{
  fit_volumes v = {0};
  for (size_t i = 0; i < s->count; ++i) {
    const bool of_mesh = s->distance[i] <= 0.0, of_union = reals_get(&f->numbers, i) <= 0.0;
    v.mesh += of_mesh ? s->volume[i] : 0.0;
    v.of_union += of_union ? s->volume[i] : 0.0;
    v.both += of_mesh && of_union ? s->volume[i] : 0.0;
    v.either += of_mesh || of_union ? s->volume[i] : 0.0;
  }
  return v;
}

double fit_iou(const fitter *f, const sample_set *s)
{
  const fit_volumes v = fit_volumes_of(f, s);
  return v.either > 0.0 ? v.both / v.either : 0.0;
}

/* ---- steps ---- */

/* A set while it is fitted. */
typedef struct fit {
  problem *p;
  equations e;
  primitive *trial;
  double *step; /* (count, PARAMETERS) */
  double damping;
  size_t steps, tries, first; /* of its items */
  bool begun, done, hungry;   /* hungry: for new equations */
  bool unsolvable;            /* no damping gave its very first equations an answer */
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

/* Solves for a step; where the matrix is not positive, with more and more damping. */
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

/* What has been seen of a trial. */
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

/* How far a parameter is from its bounds. */
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

/* Tells which parameters take part: none at a bound that it is pushed against. */
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

static abut_status launch_products(fitter *f, const sample_set *s, double width, const int *wanted,
                                   size_t count, size_t rows, size_t products)
{
  const size_t real = device_real_bytes(f->device);
  TRY(fit_room(f, ROOM_WANTED, count * PRODUCT_INTS * sizeof(int), wanted));
  TRY(fit_room(f, ROOM_ROWS, rows * DECOMPOSE_BLOCK * real, NULL));
  TRY(fit_room(f, ROOM_PRODUCTS, products * real, NULL));
  TRY(LAUNCH(f->device, KERNEL_DECOMPOSE_PRODUCTS, count, 1, ARG_BUFFER(s->on),
             ARG_BUFFER(f->room[ROOM_PRIMITIVES]), ARG_BUFFER(f->room[ROOM_ITEMS]), ARG_REAL(width),
             ARG_REAL(f->tau), ARG_REAL(f->plane), ARG_INT(f->most), ARG_INT(f->mixed),
             ARG_BUFFER(f->room[ROOM_UNIONS]), ARG_BUFFER(halves_of(f)),
             ARG_BUFFER(f->room[ROOM_LISTS]), ARG_BUFFER(f->room[ROOM_WANTED]),
             ARG_BUFFER(f->room[ROOM_ROWS]), ARG_BUFFER(f->room[ROOM_PRODUCTS])));
  TRY(fit_numbers(f, products));
  return buffer_read(f->room[ROOM_PRODUCTS], 0, products * real, f->numbers.data);
}

/* Products that are launched together. */
typedef struct bunch {
  int *wanted, *owner; /* (total, PRODUCT_INTS), (total): whose fit an item is */
  size_t used, rows, products;
} bunch;

static abut_status flush(fitter *f, const sample_set *s, fit *fits, double width, bunch *b)
{
  if (b->used) {
    TRY(launch_products(f, s, width, b->wanted, b->used, b->rows, b->products));
  }
  for (size_t k = 0; k < b->used; ++k) {
    const int *want = b->wanted + PRODUCT_INTS * k;
    add_products(&fits[b->owner[k]], list_of(f, (size_t)want[PRODUCT_ITEM]), f->most, &f->numbers,
                 (size_t)want[PRODUCT_AT]);
  }
  b->used = b->rows = b->products = 0;
  return ABUT_SUCCESS;
}

/* Makes the equations of all fits that want them, some items at a time. */
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
      const size_t item = fits[i].first + k, active = (size_t)list_of(f, item)[LIST_ACTIVE];
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
      pack(&f->numbers, at++ * SUPERQUADRIC_STRIDE, &t->trial[l]);
    }
  }
  TRY(fit_room(f, ROOM_PRIMITIVES, sets * SUPERQUADRIC_STRIDE * f->numbers.size, f->numbers.data));
  TRY(find_values(f, s, items, most, width));
  for (size_t i = 0; i < items; ++i) {
    f->evaluations += (uint64_t)list_of(f, i)[LIST_KEPT] * DECOMPOSE_BLOCK;
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
        judge(&fits[i], sum_terms(f, fits[i].first, blocks_of(&fits[i], s)), steps, tolerance);
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
  *loss = sum_terms(f, 0, s->blocks);
  one.hungry = true;
  TRY_DONE(make_equations(f, s, &one, 1, width));
  *e = one.e;
  memset(&one.e, 0, sizeof one.e);
done:
  fit_end(&one);
  return status;
}
