#include "base/error.h"
#include "format/builder.h"
#include "format/text.h"
#include <string.h>

/* [ST][C][N]OFF: texture, colours and normals follow the position and are skipped with the line.
 * The counts may follow the word without a blank. */
static abut_status read_header(scan *t)
{
  word w;
  if (!text_content(t)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the file is empty; expected OFF");
  }
  text_word(t, &w);
  size_t at = w.length >= 2 && memcmp(w.start, "ST", 2) == 0 ? 2 : 0;
  at += at < w.length && w.start[at] == 'C';
  at += at < w.length && w.start[at] == 'N';
  if (w.length < at + 3 || memcmp(w.start + at, "OFF", 3) != 0) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "expected OFF, COFF or NOFF, found '%s'",
                   word_shown(w).text);
  }
  t->at = w.start + at + 3;
  return ABUT_SUCCESS;
}

static abut_status read_counts(scan *t, uint64_t *vertices, uint64_t *faces)
{
  if (!text_content(t)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the counts are missing");
  }
  TRY(text_count(t, "vertex count", UINT32_MAX, vertices));
  TRY(text_count(t, "face count", UINT32_MAX, faces));
  word w;
  uint64_t edges;
  scan before = *t;
  if (text_word(t, &w)) {
    t->at = before.at;
    TRY(text_count(t, "edge count", INT64_MAX, &edges));
  }
  if (text_word(t, &w)) {
    return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "'%s' after the counts",
                   word_shown(w).text);
  }
  return ABUT_SUCCESS;
}

static abut_status read_vertices(scan *t, builder *b, uint64_t count)
{
  for (uint64_t k = 0; k < count; k++) {
    double position[3];
    if (!text_content(t)) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line,
                     "the file ends after %llu of %llu vertices", (unsigned long long)k,
                     (unsigned long long)count);
    }
    for (int i = 0; i < 3; i++) {
      TRY(text_number(t, "vertex", &position[i]));
    }
    TRY(builder_vertex(b, position));
    text_next_line(t);
  }
  return ABUT_SUCCESS;
}

static abut_status read_faces(scan *t, builder *b, uint64_t count)
{
  for (uint64_t k = 0; k < count; k++) {
    uint64_t corners, index;
    if (!text_content(t)) {
      return fail_at(ABUT_ERROR_FORMAT, t->name, t->line, "the file ends after %llu of %llu faces",
                     (unsigned long long)k, (unsigned long long)count);
    }
    TRY(text_count(t, "corner count", UINT32_MAX, &corners));
    for (uint64_t i = 0; i < corners; i++) {
      TRY(text_count(t, "face corner", UINT32_MAX - 1, &index));
      TRY(builder_corner(b, (uint32_t)index, t->line));
    }
    TRY(builder_face(b, t->line));
    text_next_line(t);
  }
  return ABUT_SUCCESS;
}

static abut_status read_file(scan *t, builder *b)
{
  uint64_t vertices, faces;
  TRY(read_header(t));
  TRY(read_counts(t, &vertices, &faces));
  TRY(read_vertices(t, b, vertices));
  TRY(read_faces(t, b, faces));
  b->m.trailing = text_rest(t);
  return ABUT_SUCCESS;
}

abut_status off_parse(builder *b, const char *bytes, size_t count)
{
  scan t;
  abut_status status = text_open(&t, b->name, bytes, count);
  t.comment = '#';
  if (status == ABUT_SUCCESS) {
    status = read_file(&t, b);
  }
  text_close(&t);
  return status;
}
