#include "self_test/self_test.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Before a room's numbers, for a pointer; as much as kernels want to be aligned by. */
#define HEAD_BYTES 128

/* Rooms in which kernels of lost devices may write to the end of the process, each pointing at the
 * one before. */
static _Atomic(void *) left_behind;

static void leave_behind(void *room)
{
  void *before = atomic_load(&left_behind);
  do {
    memcpy(room, &before, sizeof before);
  } while (!atomic_compare_exchange_weak(&left_behind, &before, room));
}

abut_status question_open(question *q, context *one, size_t numbers)
{
  const size_t size = context_real_bytes(one), head = HEAD_BYTES / size;
  *q = (question){.one = one, .used = head};
  return reals_create(&q->room, head + numbers, size);
}

void question_close(question *q)
{
  if (q->room.data && device_lost(q->one->members[0].device)) {
    leave_behind(q->room.data);
  } else {
    free(q->room.data);
  }
  q->room.data = NULL;
}

abut_context question_context(const question *q)
{
  return (abut_context){q->one->self.index, q->one->self.generation};
}

static void *take(question *q, size_t count)
{
  char *at = (char *)q->room.data + q->used * q->room.size;
  q->used += count;
  return at;
}

void *question_put(question *q, const double *from, size_t count, size_t period)
{
  for (size_t i = 0; i < count; ++i) {
    reals_set(&q->room, q->used + i, from[i % period]);
  }
  return take(q, count);
}

void *question_ask(question *q, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    reals_set(&q->room, q->used + i, NAN);
  }
  return take(q, count);
}

double question_number(const question *q, const void *array, size_t i)
{
  return q->room.size == sizeof(double) ? ((const double *)array)[i]
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

abut_status question_compare(const question *q, const answer *a, const void *got, size_t rows,
                             size_t period)
{
  const abut_precision precision = q->one->def.precision;
  const double tolerance = a->tolerances[precision] * (a->relative ? largest(a, period) : 1.0);
  const size_t row = a->slots * a->components;
  for (size_t i = 0; i < rows * row; ++i) {
    const double number = question_number(q, got, i), right = a->expected[i % (period * row)];
    if (!(fabs(number - right) <= tolerance)) { /* nor is it NaN */
      return fail(ABUT_ERROR_SELF_TEST,
                  "device %s answers wrongly: %s, row %zu, slot %zu, number %zu, is %.9g where "
                  "%.9g is right",
                  device_info(q->one->members[0].device)->name, a->name, i / row,
                  i % row / a->components, i % a->components, number, right);
    }
  }
  return ABUT_SUCCESS;
}
