#include "io/obj_text.h"

#include "base/error.h"
#include "base/memory.h"
#include "format/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static abut_status add(obj_text *t, const char *words)
{
  const size_t length = strlen(words);
  TRY(grow(&t->bytes, &t->room, t->count + length, 1));
  memcpy((char *)t->bytes + t->count, words, length);
  t->count += length;
  return ABUT_SUCCESS;
}

static abut_status add_vertex(obj_text *t, const double v[3])
{
  char number[3][32], line[128];
  for (int k = 0; k < 3; ++k) {
    if (!isfinite(v[k])) {
      return fail(ABUT_ERROR_ARGUMENT, "a vertex of the mesh is not finite");
    }
    number_format(v[k], number[k]);
  }
  snprintf(line, sizeof line, "v %s %s %s\n", number[0], number[1], number[2]);
  return add(t, line);
}

/* Adds a face or an edge; OBJ counts from 1. */
static abut_status add_element(obj_text *t, const char *letter, const uint32_t *corners,
                               size_t count)
{
  TRY(add(t, letter));
  for (size_t i = 0; i < count; ++i) {
    char number[32];
    snprintf(number, sizeof number, " %llu", (unsigned long long)corners[i] + 1);
    TRY(add(t, number));
  }
  return add(t, "\n");
}

static abut_status add_mesh(obj_text *t, const abut_body_def *def)
{
  size_t at = 0;
  for (size_t i = 0; i < def->vertex_count; ++i) {
    TRY(add_vertex(t, def->vertices + 3 * i));
  }
  for (size_t i = 0; i < def->face_count; at += def->face_sizes[i], ++i) {
    TRY(add_element(t, "f", def->face_indices + at, def->face_sizes[i]));
  }
  for (size_t i = 0; i < def->edge_count; ++i) {
    TRY(add_element(t, "l", def->edges + 2 * i, 2));
  }
  return ABUT_SUCCESS;
}

abut_status obj_text_make(const abut_body_def *def, obj_text *t)
{
  number_locale locale = {0};
  TRY(number_locale_enter(&locale));
  const abut_status status = add_mesh(t, def);
  number_locale_leave(&locale);
  return status;
}
