/* The operations on a state's arrays that loops use between their steps, as operations of the
 * engine. */
#include "base/call_lock.h"
#include "base/error.h"
#include "engine/batch/batch.h"
#include <limits.h>
#include <math.h>

enum { OPERANDS = 4 };

/* A step. Operands are in buffer pool 0 in the order of the call: y, then its inputs. */
typedef struct step_call {
  batch_call base;
  kernel_id kernel;
  abut_state_array operands[OPERANDS];
  size_t width;   /* numbers per row of y */
  size_t factors; /* numbers per row of z, which multiplies x: `width`, or one for all */
  double a, b;
} step_call;

/* No self-test is needed: these kernels belong to the first program, which is tested when the
 * context is created. */
static abut_status test(const batch_call *c, size_t place)
{
  (void)c;
  (void)place;
  return ABUT_SUCCESS;
}

/* Bounds a chunk, because kernels count its numbers in int. */
static abut_status place(batch_on *on)
{
  const step_call *s = (const step_call *)on->call;
  on->most = (size_t)INT_MAX / 2 / s->width;
  return on->most ? ABUT_SUCCESS
                  : fail(ABUT_ERROR_TOO_LARGE, "there are too many numbers per row: %zu", s->width);
}

#define OPERAND(i) ARG_BUFFER(memory_buffer(&on->memory[slot][0], (i)))

static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  const step_call *s = (const step_call *)on->call;
  const size_t numbers = c.count * s->width;
  device *d = on->device;
  switch ((int)s->kernel) {
  case KERNEL_STATE_COMBINE:
    return LAUNCH(d, s->kernel, numbers, 1, OPERAND(0), ARG_REAL(s->b), OPERAND(1), ARG_REAL(s->a),
                  ARG_INT(numbers));
  case KERNEL_STATE_MULTIPLY:
    return LAUNCH(d, s->kernel, c.count, 1, OPERAND(0), OPERAND(1), OPERAND(2), ARG_INT(s->factors),
                  ARG_INT(s->width), ARG_INT(c.count));
  case KERNEL_STATE_CHOOSE:
    return LAUNCH(d, s->kernel, c.count, 1, OPERAND(0), OPERAND(1), OPERAND(2), OPERAND(3),
                  ARG_INT(s->width), ARG_INT(c.count));
  default:
    return LAUNCH(d, s->kernel, c.count, 1, OPERAND(0), OPERAND(1), OPERAND(2), ARG_INT(s->width),
                  ARG_INT(c.count));
  }
}

static const operation step_operation = {.test = test, .place = place, .launch = launch};

/* Sets up a step that writes y. All other operands must be of the same state. */
static abut_status start(step_call *s, kernel_id kernel, abut_state_array y)
{
  state *of = NULL;
  TRY(state_of(&y, &of));
  *s = (step_call){.kernel = kernel, .operands = {y}, .width = of->widths[y.array]};
  s->base = (batch_call){.operation = &step_operation,
                         .context = of->context,
                         .count = of->count,
                         .state = of,
                         .replaces = true,
                         .multiple = 128};
  return ABUT_SUCCESS;
}

static void add(step_call *s, size_t place_, const char *name, abut_state_array array, size_t width)
{
  abut_state_array *operand = &s->operands[place_];
  *operand = array;
  batch_add(&s->base, (batch_array){.name = name,
                                    .in = operand,
                                    .out = place_ ? NULL : operand,
                                    .memory = ABUT_MEMORY_STATE,
                                    .width = width,
                                    .size = context_real_bytes(s->base.context),
                                    .buffer = place_,
                                    .in_place = true});
}

abut_status abut_combine_state(abut_state_array y, double b, abut_state_array x, double a)
{
  ENTER(state_pool, y.state);
  step_call s;
  if (!isfinite(a) || !isfinite(b)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "arrays of a state cannot be combined with the factors %g and %g", b, a);
  }
  TRY(start(&s, KERNEL_STATE_COMBINE, y));
  s.a = a;
  s.b = b;
  add(&s, 0, "y", y, s.width);
  add(&s, 1, "x", x, s.width);
  return batch_run(&s.base);
}

abut_status abut_multiply_state(abut_state_array y, abut_state_array x, abut_state_array z)
{
  ENTER(state_pool, y.state);
  step_call s;
  state *factors = NULL;
  TRY(start(&s, KERNEL_STATE_MULTIPLY, y));
  TRY(state_of(&z, &factors));
  s.factors = factors->widths[z.array] == 1 ? 1 : s.width;
  add(&s, 0, "y", y, s.width);
  add(&s, 1, "x", x, s.width);
  add(&s, 2, "z", z, s.factors);
  return batch_run(&s.base);
}

abut_status abut_choose_state(abut_state_array y, abut_state_array x, abut_state_array left,
                              abut_state_array right)
{
  ENTER(state_pool, y.state);
  step_call s;
  TRY(start(&s, KERNEL_STATE_CHOOSE, y));
  add(&s, 0, "y", y, s.width);
  add(&s, 1, "x", x, s.width);
  add(&s, 2, "left", left, 1);
  add(&s, 3, "right", right, 1);
  return batch_run(&s.base);
}

abut_status abut_steepest_state(abut_state_array y, abut_state_array x, abut_state_array w)
{
  ENTER(state_pool, y.state);
  step_call s;
  TRY(start(&s, KERNEL_STATE_STEEPEST, y));
  add(&s, 0, "y", y, s.width);
  add(&s, 1, "x", x, s.width);
  add(&s, 2, "w", w, s.width);
  return batch_run(&s.base);
}
