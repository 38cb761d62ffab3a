#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

bool check(bool holds, const char *format, ...)
{
  if (holds) {
    ++passed;
    return true;
  }
  ++failed;
  va_list arguments;
  va_start(arguments, format);
  fputs("FAILED: ", stdout);
  vprintf(format, arguments);
  fputc('\n', stdout);
  va_end(arguments);
  return false;
}

bool check_ok(abut_status status, const char *call)
{
  return check(status == ABUT_SUCCESS, "%s gives %s: %s", call, abut_status_name(status),
               abut_last_error());
}

bool check_equal(intmax_t got, intmax_t wanted, const char *file, int line, const char *text)
{
  return check(got == wanted, "%s:%d: %s is %jd, not %jd", file, line, text, got, wanted);
}

bool check_text(const char *got, const char *wanted, const char *file, int line, const char *text)
{
  return check(got && !strcmp(got, wanted), "%s:%d: %s is '%s', not '%s'", file, line, text,
               got ? got : "NULL", wanted);
}

void require(bool holds)
{
  if (!holds) {
    exit(check_finish());
  }
}

int check_finish(void)
{
  printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed;
}

static uint32_t number_of(const char *variable)
{
  const char *text = getenv(variable);
  return text ? (uint32_t)atoi(text) : 0;
}

bool test_context(abut_precision precision, abut_context *out)
{
  const char *wanted = getenv("ABUT_TEST_DEVICE");
  abut_context_def def = abut_default_context_def();
  abut_status status = abut_find_device(wanted && *wanted ? wanted : "host", &def.device);
  if (status == ABUT_ERROR_DEVICE) {
    printf("not run: %s\n", abut_last_error());
    return false;
  }
  if (!check_ok(status, "abut_find_device")) {
    exit(check_finish());
  }
  def.precision = precision;
  def.lanes = number_of("ABUT_TEST_LANES");
  def.group = number_of("ABUT_TEST_GROUP");
  def.items = number_of("ABUT_TEST_ITEMS");
  def.fallback = ABUT_FALLBACK_NONE; /* the host path's answers would hide a device's failure */
  status = abut_create_context(&def, out);
  if (status == ABUT_ERROR_PRECISION) {
    printf("not run: %s\n", abut_last_error());
    return false;
  }
  if (!check_ok(status, "abut_create_context")) {
    exit(check_finish()); /* a device that is there and does not work is a failure, not a skip */
  }
  return true;
}

abut_context require_context(abut_precision precision)
{
  abut_context context;
  if (!test_context(precision, &context)) {
    exit(77);
  }
  return context;
}

int finish_context(abut_context context)
{
  CHECK_OK(abut_destroy_context(context));
  return check_finish();
}

bool usual_share(void)
{
  const char *usual = getenv("ABUT_TEST_USUAL"), *all = getenv("ABUT_TEST_ALL");
  return usual && !strcmp(usual, "1") && !(all && !strcmp(all, "1"));
}

double real_at(const void *array, abut_precision precision, size_t i)
{
  return precision == ABUT_FLOAT64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

void real_put(void *array, abut_precision precision, size_t i, double value)
{
  if (precision == ABUT_FLOAT64) {
    ((double *)array)[i] = value;
  } else {
    ((float *)array)[i] = (float)value;
  }
}

size_t real_size(abut_precision precision)
{
  return precision == ABUT_FLOAT64 ? sizeof(double) : sizeof(float);
}

const abut_array *find_array(const abut_npz *npz, const char *name)
{
  for (size_t i = 0; i < npz->count; ++i) {
    if (!strcmp(npz->arrays[i].name, name)) {
      return &npz->arrays[i];
    }
  }
  check(false, "the file has no array %s", name);
  return NULL;
}

void *to_reals(const double *from, size_t count, abut_precision precision)
{
  void *out = calloc(count ? count : 1, real_size(precision));
  for (size_t i = 0; out && i < count; ++i) {
    real_put(out, precision, i, from[i]);
  }
  return out;
}

/* xorshift64* (Marsaglia 2003, Vigna 2016). */
double random_uniform(uint64_t *state)
{
  uint64_t x = *state ? *state : 88172645463325252u;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return (double)((x * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

double random_normal(uint64_t *state)
{
  const double u = 1.0 - random_uniform(state), v = random_uniform(state);
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}
