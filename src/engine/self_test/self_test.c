#include "engine/self_test/self_test.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Bytes before a room's numbers, for a pointer; also the alignment that kernels need. */
#define HEAD_BYTES 128

/* Rooms that kernels of lost devices may write to until the process ends; each points to the
 * previous one. */
static _Atomic(void *) left_behind;

static void leave_behind(void *room)
{
  void *before = atomic_load(&left_behind);
  do {
    memcpy(room, &before, sizeof before);
  } while (!atomic_compare_exchange_weak(&left_behind, &before, room));
}

abut_status self_test_open(self_test *t, context *one, size_t numbers)
{
  const size_t size = context_real_bytes(one), head = HEAD_BYTES / size;
  *t = (self_test){.one = one, .used = head};
  return reals_create(&t->room, head + numbers, size);
}

void self_test_close(self_test *t)
{
  if (t->room.data && device_lost(t->one->members[0].device)) {
    leave_behind(t->room.data);
  } else {
    free(t->room.data);
  }
  t->room.data = NULL;
}

abut_status self_test_run(context *one, size_t numbers, abut_status (*test)(self_test *))
{
  self_test t;
  TRY(self_test_open(&t, one, numbers));
  const abut_status status = test(&t);
  self_test_close(&t);
  return status;
}

abut_context self_test_context(const self_test *t)
{
  return (abut_context){t->one->self.index, t->one->self.generation};
}

static void *reserve(self_test *t, size_t count)
{
  char *at = (char *)t->room.data + t->used * t->room.size;
  t->used += count;
  return at;
}

void *self_test_put(self_test *t, const double *from, size_t count, size_t period)
{
  for (size_t i = 0; i < count; ++i) {
    reals_set(&t->room, t->used + i, from[i % period]);
  }
  return reserve(t, count);
}

void *self_test_room(self_test *t, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    reals_set(&t->room, t->used + i, NAN);
  }
  return reserve(t, count);
}

double self_test_number(const self_test *t, const void *array, size_t i)
{
  return t->room.size == sizeof(double) ? ((const double *)array)[i]
                                        : (double)((const float *)array)[i];
}

static double largest(const answer *a, size_t rows)
{
  double most = 0.0;
  for (size_t i = 0; i < rows * a->slots * a->components; ++i) {
    most = fmax(most, fabs(a->expected[i]));
  }
  return most;
}

abut_status self_test_compare(const self_test *t, const answer *a, const void *got, size_t rows,
                              size_t period)
{
  const abut_precision precision = t->one->def.precision;
  const double tolerance = a->tolerances[precision] * (a->relative ? largest(a, period) : 1.0);
  const size_t row = a->slots * a->components;
  for (size_t i = 0; i < rows * row; ++i) {
    const double number = self_test_number(t, got, i), right = a->expected[i % (period * row)];
    if (!(fabs(number - right) <= tolerance)) { /* also catches NaN */
      return fail(
        ABUT_ERROR_SELF_TEST,
        "device %s gives wrong results: %s, row %zu, slot %zu, number %zu is %.9g, expected %.9g",
        device_info(t->one->members[0].device)->name, a->name, i / row, i % row / a->components,
        i % a->components, number, right);
    }
  }
  return ABUT_SUCCESS;
}
