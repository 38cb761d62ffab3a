#include "core/outputs.h"

#include <string.h>

abut_array_type real_type(const session *s)
{
  return s->precision == ABUT_FLOAT64 ? ABUT_ARRAY_FLOAT64 : ABUT_ARRAY_FLOAT32;
}

void outputs_add(outputs *l, const char *name, abut_array_type type, const void *data,
                 uint32_t dimensions, size_t rows, size_t columns, size_t depth)
{
  l->arrays[l->count++] = (abut_array){name, type, dimensions, {rows, columns, depth, 0}, data};
}

void outputs_add_of(outputs *l, output_of of, const char *name, abut_array_type type,
                    const void *data, uint32_t dimensions, size_t rows, size_t columns,
                    size_t depth)
{
  outputs_add(l, name, type, data, dimensions, rows, columns, depth);
  l->of[l->count - 1] = of;
}

size_t outputs_find(const outputs *l, const char *name)
{
  size_t i = 0;
  while (i < l->count && strcmp(l->arrays[i].name, name) != 0) {
    ++i;
  }
  return i;
}

static void add_text(outputs *l, const char *name, const char *text)
{
  outputs_add(l, name, ABUT_ARRAY_TEXT, text, 1, strlen(text), 0, 0);
}

exit_code outputs_write(outputs *l, const session *s, const options *o)
{
  char *smoothing = NULL, *soft = NULL;
  exit_code code = EXIT_GOOD;
  progress p = progress_begin(o, "");
  progress_say(&p, "writing %s", o->value[OPTION_OUTPUT]);
  const bool none = ((int)o->command->bit & UNSMOOTHED_COMMANDS) != 0;
  abut_status status = s->smoothing_text || none ? ABUT_SUCCESS
                                                 : abut_format_smoothing(&s->smoothing, &smoothing);
  if (status == ABUT_SUCCESS && !none) {
    add_text(l, "smoothing", s->smoothing_text ? s->smoothing_text : smoothing);
  }
  if (status == ABUT_SUCCESS && o->value[OPTION_SOFT]) {
    status = abut_format_smoothing(&s->soft_smoothing, &soft);
    add_text(l, "soft", soft ? soft : "");
  }
  if (status == ABUT_SUCCESS) {
    status = abut_write_npz(o->value[OPTION_OUTPUT], l->arrays, l->count);
  }
  progress_end(&p);
  code = report_status(status);
  abut_free(smoothing);
  abut_free(soft);
  return code == EXIT_GOOD ? timeline_write(s, o) : code;
}
