#include "base/error.h"
#include "format/builder.h"
#include "format/text.h"
#include <string.h>

static abut_status bad_corner(const scan *t, const char *of, word w)
{
  return fail_at(ABUT_ERROR_FORMAT, t->name, t->line,
                 "the %s corner '%s' must be v, v/vt, v//vn or v/vt/vn", of, word_shown(w).text);
}

/* Only the vertex is used. Texture and normal indices must be integers or absent. */
static bool split_corner(word w, int64_t *vertex)
{
  size_t part = 0, start = 0;
  for (size_t i = 0; i <= w.length; i++) {
    if (i < w.length && w.start[i] != '/') {
      continue;
    }
    word piece = {w.start + start, i - start};
    int64_t unused;
    bool absent = part > 0 && piece.length == 0;
    if (part > 2 || (!absent && !word_integer(piece, part ? &unused : vertex))) {
      return false;
    }
    part++;
    start = i + 1;
  }
  return true;
}

/* Indices count from 1, or backwards from the latest vertex. */
static abut_status read_corner(const scan *t, const char *of, word w, const builder *b,
                               uint32_t *index)
{
  int64_t number, known = (int64_t)b->m.vertex_count;
  if (!split_corner(w, &number)) {
    return bad_corner(t, of, w);
  }
  if (number == 0 || number < -known || number > (int64_t)UINT32_MAX) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line,
                   "the %s corner '%s' is out of range: the file has %lld vertices up to here", of,
                   word_shown(w).text, (long long)known);
  }
  *index = (uint32_t)(number < 0 ? known + number : number - 1);
  return ABUT_SUCCESS;
}

static abut_status read_face(scan *t, builder *b)
{
  size_t line = t->line;
  word w;
  while (text_word(t, &w)) {
    uint32_t index;
    TRY(read_corner(t, "face", w, b, &index));
    TRY(builder_corner(b, index, t->line));
  }
  return builder_face(b, line);
}

/* A polyline: an edge between consecutive corners. */
static abut_status read_line(scan *t, builder *b)
{
  const size_t line = t->line;
  uint32_t last = 0, index;
  size_t corners = 0;
  for (word w; text_word(t, &w); last = index, corners++) {
    TRY(read_corner(t, "line", w, b, &index));
    TRY(corners ? builder_edge(b, last, index, t->line) : ABUT_SUCCESS);
  }
  return corners < 2 ? fail_at(ABUT_ERROR_FORMAT, t->name, line,
                               "a line has %zu corners; it needs at least 2", corners)
                     : ABUT_SUCCESS;
}

/* Ignores a weight or a colour after the position. */
static abut_status read_vertex(scan *t, builder *b)
{
  double position[3];
  for (int i = 0; i < 3; i++) {
    TRY(text_number(t, "vertex", &position[i]));
  }
  return builder_vertex(b, position);
}

static abut_status read_lines(scan *t, builder *b)
{
  while (text_content(t)) {
    word keyword;
    text_word(t, &keyword);
    if (word_is(keyword, "v")) {
      TRY(read_vertex(t, b));
    } else if (word_is(keyword, "f")) {
      TRY(read_face(t, b));
    } else if (word_is(keyword, "l")) {
      TRY(read_line(t, b));
    }
    text_next_line(t);
  }
  return ABUT_SUCCESS;
}

abut_status obj_parse(builder *b, const char *bytes, size_t count)
{
  scan t;
  b->base = 1;
  abut_status status = text_open(&t, b->name, bytes, count);
  t.comment = '#';
  t.joins = true;
  if (status == ABUT_SUCCESS) {
    status = read_lines(&t, b);
  }
  text_close(&t);
  return status;
}
