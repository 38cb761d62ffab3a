#include "world/worlds.h"

#include <stdlib.h>
#include <string.h>

/* Converts `rows` rows of doubles to `count` rows of reals, repeating them. */
static exit_code cycle(const double *from, size_t rows, size_t width, size_t count,
                       abut_precision precision, void **out)
{
  size_t numbers = 0;
  *out = multiply(count, width, 1, &numbers) ? calloc(numbers + 1, real_bytes(precision)) : NULL;
  if (!*out) {
    return report(EXIT_RUN, "no memory for %zu worlds", count);
  }
  for (size_t i = 0; i < numbers; ++i) {
    const double x = from[i / width % rows * width + i % width];
    if (precision == ABUT_FLOAT64) {
      ((double *)*out)[i] = x;
    } else {
      ((float *)*out)[i] = (float)x;
    }
  }
  return EXIT_GOOD;
}

/* Takes all rows of an array (worlds, width) or (states, worlds, width), at least one. */
static exit_code all_rows(inputs *f, const char *name, size_t width, size_t *rows,
                          const double **out)
{
  const abut_array *a = inputs_find(f, name);
  const void *numbers = NULL;
  size_t shape[3] = {0, 0, 0};
  CLI_TRY(a ? inputs_check_type(f, a) : EXIT_GOOD);
  if (!a || a->dimensions < 2 || a->dimensions > 3) {
    return report(EXIT_INPUT, "%s: contains no %s of shape (worlds, %zu) or (states, worlds, %zu)",
                  f->path, name, width, width);
  }
  memcpy(shape, a->shape, a->dimensions * sizeof *shape);
  *rows = a->dimensions == 3 ? shape[0] * shape[1] : shape[0];
  shape[a->dimensions - 1] = width;
  CLI_TRY(
    inputs_numbers(f, name, a->dimensions, shape, "as the scene has them", ABUT_FLOAT64, &numbers));
  *out = numbers;
  return *rows ? EXIT_GOOD : report(EXIT_INPUT, "%s: contains no worlds", f->path);
}

static exit_code repeat_file(const session *s, inputs *f, const abut_scene_info *info, size_t count,
                             void **q, void **v)
{
  const double *from_q = NULL, *from_v = NULL;
  size_t rows = 0, others = 0;
  CLI_TRY(all_rows(f, "q", info->nq, &rows, &from_q));
  CLI_TRY(all_rows(f, "v", info->nv, &others, &from_v));
  if (rows != others) {
    return report(EXIT_INPUT, "%s: q has %zu states, but v has %zu", f->path, rows, others);
  }
  CLI_TRY(cycle(from_q, rows, info->nq, count, s->precision, q));
  return cycle(from_v, rows, info->nv, count, s->precision, v);
}

exit_code repeat_states(const session *s, const options *o, abut_scene links,
                        const abut_scene_info *info, size_t count, void **q, void **v)
{
  inputs f = {0};
  double *start = NULL;
  exit_code code = EXIT_GOOD;
  if (o->value[OPTION_STATES]) {
    CLI_TRY_DONE(inputs_open(&f, o->value[OPTION_STATES]));
    CLI_TRY_DONE(repeat_file(s, &f, info, count, q, v));
  } else {
    start = calloc(info->nq + info->nv + 1, sizeof *start);
    CLI_TRY_DONE(start ? EXIT_GOOD : report(EXIT_RUN, "no memory for a state"));
    CLI_TRY_DONE(report_status(abut_get_scene_start(links, start)));
    CLI_TRY_DONE(cycle(start, 1, info->nq, count, s->precision, q));
    CLI_TRY_DONE(cycle(start + info->nq, 1, info->nv, count, s->precision, v));
  }
done:
  free(start);
  inputs_close(&f);
  return code;
}
