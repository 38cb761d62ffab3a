/* Fields and products of Jacobians on a device, by blocks of samples. Sums over blocks are in block
 * order and in double. */
#include "base/error.h"
#include "geometry/layout.h"
#include "math/vector.h"
#include "mesh/decompose/fitter.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Packs an entry of a set. A superquadric is packed as in bodies (geometry/layout.h), without the
 * values that only bodies need. */
void fitter_pack(reals *to, size_t at, const primitive *p)
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

/* The unions of added and of subtracted primitives. They are not written if all primitives are
 * added. */
static buffer *halves_of(const fitter *f)
{
  return f->room[f->mixed ? ROOM_HALVES : ROOM_UNIONS];
}

/* Computes the fields of items, which f->ints holds. most: the largest number of primitives of an
 * item. */
abut_status fitter_values(fitter *f, const sample_set *s, size_t items, size_t most, double width)
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

abut_status fitter_products(fitter *f, const sample_set *s, double width, const int *wanted,
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

const int *fitter_list(const fitter *f, size_t item)
{
  return f->lists + LIST_INTS(f->most) * item;
}

double fitter_terms(const fitter *f, size_t first, size_t count)
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
    fitter_pack(&f->numbers, l * SUPERQUADRIC_STRIDE, &p->at[l]);
  }
  TRY(fit_room(f, ROOM_PRIMITIVES, p->count * SUPERQUADRIC_STRIDE * f->numbers.size,
               f->numbers.data));
  TRY(fit_ints(f, s->blocks * FIT_INTS));
  for (size_t b = 0; b < s->blocks; ++b) {
    const int item[FIT_INTS] = {(int)b, 0, (int)p->count, -1};
    memcpy(f->ints + b * FIT_INTS, item, sizeof item);
  }
  return fitter_values(f, s, s->blocks, p->count, width);
}

double fit_loss(const fitter *f, const sample_set *s)
{
  return fitter_terms(f, 0, s->blocks);
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
    const int *list = fitter_list(f, b);
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
