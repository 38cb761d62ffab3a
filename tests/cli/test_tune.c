/* Which answers `abut-dev tune` takes for right: the host's own, and none that is off by more than
 * the table of docs/dev/spec.md, in whatever output. */
#include "dev/tune/tune.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not those of tests/support, whose names the command's own files have too. */
static int passed, failed;

__attribute__((format(printf, 2, 3))) static bool check(bool holds, const char *format, ...)
{
  va_list arguments;
  ++*(holds ? &passed : &failed);
  if (!holds) {
    va_start(arguments, format);
    printf("FAILED: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
  }
  return holds;
}

static bool check_ok(abut_status status)
{
  return check(status == ABUT_SUCCESS, "%s", abut_last_error());
}

static void real_put(void *reals, abut_precision precision, size_t i, double value)
{
  if (precision == ABUT_FLOAT64) {
    ((double *)reals)[i] = value;
  } else {
    ((float *)reals)[i] = (float)value;
  }
}

typedef struct fixture {
  options o;
  abut_precision precision;
  abut_poses poses;
  tune_answers answers;
  session s;
  bench_memory memory;
} fixture;

static bool good(exit_code code, const char *what)
{
  return check(code == EXIT_GOOD, "%s: exit code %d", what, (int)code);
}

/* Twice as many poses as there are answers, by the host. */
static bool set_up(fixture *f, abut_precision precision)
{
  abut_context_def def = abut_default_context_def();
  *f = (fixture){.precision = precision};
  f->s.precision = precision;
  if (!good(tune_answers_make(&f->answers, &f->o, precision, &f->poses, 0.05), "answers") ||
      !check_ok(abut_find_device("host", &def.device))) {
    return false;
  }
  def.precision = precision;
  if (!check_ok(abut_create_context(&def, &f->s.context))) {
    return false;
  }
  f->s.open = true;
  const size_t count = 2 * f->answers.poses.count;
  if (!good(tune_load(&f->s, &f->o), "bodies") ||
      !good(bench_memory_open(&f->memory, &f->s, &f->answers.poses, count, false), "memory")) {
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    f->memory.gradient[i] = calloc(count * 7, real_bytes(precision));
  }
  return check_ok(bench_call(&f->s, &f->memory, BENCH_FORWARD)) &&
         check_ok(bench_call(&f->s, &f->memory, BENCH_MEAN_GRADIENT));
}

static void tear_down(fixture *f)
{
  bench_memory_close(&f->memory);
  tune_answers_free(&f->answers);
  abut_free_poses(&f->poses);
  session_close(&f->s);
}

static bool right(const fixture *f, char *trouble, size_t room)
{
  const tune_error e = tune_judge(&f->answers, &f->memory, f->precision);
  return tune_right(&f->answers.allowed, &e, trouble, room);
}

/* Where an output's numbers are, and how many. */
static void *numbers_of(const fixture *f, int output, size_t *count)
{
  static const size_t first[] = {0, 6, 3, 7}, width[] = {3, 1, 3, 1};
  if (output == TUNE_GRADIENT) {
    *count = 7 * f->memory.poses.count;
    return f->memory.gradient[1];
  }
  *count = width[output] * f->memory.numbers;
  return f->memory.contacts + first[output] * f->memory.numbers * real_bytes(f->precision);
}

/* Moves every `stride`-th number by `off`, judges, and puts them back. */
static void disturb(const fixture *f, int output, size_t start, size_t stride, double off,
                    bool want, const char *name)
{
  size_t count = 0;
  char trouble[160] = "";
  void *numbers = numbers_of(f, output, &count);
  const size_t bytes = count * real_bytes(f->precision);
  void *before = malloc(bytes);
  if (!check(before != NULL, "no memory")) {
    return;
  }
  memcpy(before, numbers, bytes);
  for (size_t i = start; i < count; i += stride) {
    real_put(numbers, f->precision, i, real_at(numbers, f->precision, i) + off);
  }
  const bool got = right(f, trouble, sizeof trouble);
  check(got == want, "%s off by %g from %zu on, each %zu: taken for %s", name, off, start, stride,
        got ? "right" : "wrong");
  check(want || strstr(trouble, name), "%s is wrong, but it says: %s", name, trouble);
  memcpy(numbers, before, bytes);
  free(before);
}

static void test_judgement(abut_precision precision)
{
  static const char *const names[] = {" p ", " d ", " n ", " activity ", " the gradient "};
  fixture f;
  char trouble[160] = "";
  if (set_up(&f, precision)) {
    const tune_error e = tune_judge(&f.answers, &f.memory, precision);
    check(right(&f, trouble, sizeof trouble), "the host itself is %s", trouble);
    for (int i = 0; i < TUNE_OUTPUTS; ++i) {
      const double scale = i == TUNE_GRADIENT           ? f.answers.largest
                           : i == TUNE_P || i == TUNE_D ? f.answers.length
                                                        : 1.0;
      const double most = f.answers.allowed.worst[i] * scale;
      size_t count = 0;
      numbers_of(&f, i, &count);
      check(e.worst[i] <= f.answers.allowed.worst[i] / 2 || precision == ABUT_FLOAT64,
            "%s of the host: off by %g", names[i], e.worst[i]);
      disturb(&f, i, 0, count, 2.1 * most, false, names[i]);          /* the first one alone */
      disturb(&f, i, count - 1, count, -2.1 * most, false, names[i]); /* and the last */
      disturb(&f, i, count / 3, count, (double)NAN, false, names[i]);
      /* Within every entry's tolerance, but too many beyond the lower one. */
      disturb(&f, i, 0, 20, precision == ABUT_FLOAT32 ? 0.8 * most : 2.1 * most, false, names[i]);
      disturb(&f, i, 0, count, 0.1 * most, true, names[i]);
    }
  }
  tear_down(&f);
}

int main(void)
{
  test_judgement(ABUT_FLOAT32);
  test_judgement(ABUT_FLOAT64);
  printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed;
}
