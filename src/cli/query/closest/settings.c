#include "query/closest/closest.h"

#include <stdint.h>

/* In the order of abut_closest_method. */
static const char *const method_words[] = {"exact", "gumbel", "gaussian", "zeroth", "finite"};
#define METHODS (sizeof method_words / sizeof *method_words)
#define BIT(method) (1u << (method))

/* Options that apply only to some methods. */
static const struct {
  option_id id;
  unsigned methods;
  const char *of;
} settings[] = {
  {OPTION_TEMPERATURE, BIT(ABUT_CLOSEST_GUMBEL), "gumbel"},
  {OPTION_LEVEL, BIT(ABUT_CLOSEST_GUMBEL), "gumbel"},
  {OPTION_EPSILON, BIT(ABUT_CLOSEST_GAUSSIAN) | BIT(ABUT_CLOSEST_ZEROTH) | BIT(ABUT_CLOSEST_FINITE),
   "gaussian, zeroth and finite"},
  {OPTION_SAMPLES, BIT(ABUT_CLOSEST_GAUSSIAN) | BIT(ABUT_CLOSEST_ZEROTH), "gaussian and zeroth"},
  {OPTION_SEED, BIT(ABUT_CLOSEST_GAUSSIAN) | BIT(ABUT_CLOSEST_ZEROTH), "gaussian and zeroth"},
};

const char *closest_method(const closest *c)
{
  return method_words[c->smoothing.method];
}

static exit_code check_settings(const closest *c)
{
  for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i) {
    const bool has = c->derives && settings[i].methods & BIT(c->smoothing.method);
    if (c->o->value[settings[i].id] && !has) {
      return usage_error(c->o->command, "%s works only with --jacobian %s",
                         option_name(settings[i].id), settings[i].of);
    }
  }
  return EXIT_GOOD;
}

exit_code closest_read_settings(closest *c, abut_precision precision)
{
  const options *o = c->o;
  abut_closest_smoothing *s = &c->smoothing;
  size_t method = s->method, level = s->level, samples = s->samples, seed = s->seed;
  CLI_TRY(option_word(o, OPTION_JACOBIAN, method_words, METHODS, &method));
  c->derives = o->value[OPTION_JACOBIAN] != NULL;
  s->method = (abut_closest_method)method;
  CLI_TRY(check_settings(c));
  if (c->derives && s->method == ABUT_CLOSEST_FINITE && precision == ABUT_FLOAT32) {
    return usage_error(
      o->command,
      "--jacobian finite needs --precision f64: in f32 its rounding errors are too large");
  }
  CLI_TRY(option_real(o, OPTION_TEMPERATURE, 1e-6, 1e3, &s->temperature));
  CLI_TRY(option_whole(o, OPTION_LEVEL, 0, 16, &level));
  CLI_TRY(option_real(o, OPTION_EPSILON, 1e-6, 1e3, &s->epsilon));
  CLI_TRY(option_whole(o, OPTION_SAMPLES, 1, 65536, &samples));
  CLI_TRY(option_whole(o, OPTION_SEED, 0, SIZE_MAX, &seed));
  s->level = (uint32_t)level;
  s->samples = (uint32_t)samples;
  s->seed = seed;
  return EXIT_GOOD;
}
