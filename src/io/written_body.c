#include "io/written_body.h"

#include "base/error.h"
#include "format/whole_file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENDING ".body.json"

static abut_status join(arena *a, const char *stem, size_t length, const char *ending, char **out)
{
  void *memory;
  const size_t room = length + strlen(ending) + 1;
  TRY(arena_allocate(a, &memory, room, 1));
  *out = memory;
  memcpy(*out, stem, length);
  memcpy(*out + length, ending, room - length);
  return ABUT_SUCCESS;
}

abut_status body_names_make(const char *path, body_names *n)
{
  const size_t length = strlen(path), tail = strlen(ENDING);
  const char *slash = strrchr(path, '/');
  const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
  if (length <= folder + tail || strcmp(path + length - tail, ENDING) != 0) {
    return fail_at(ABUT_ERROR_ARGUMENT, path, 0, "the name of a body file must end with %s",
                   ENDING);
  }
  n->body = path;
  TRY(join(&n->memory, path, length - tail, ".grid.npz", &n->grid));
  TRY(join(&n->memory, path, length - tail, ".contact.obj", &n->contact));
  TRY(join(&n->memory, path, length - tail, ".surface.obj", &n->surface));
  TRY(join(&n->memory, path + folder, length - tail - folder, "", &n->name));
  n->grid_beside = n->grid + folder;
  n->contact_beside = n->contact + folder;
  n->surface_beside = n->surface + folder;
  return ABUT_SUCCESS;
}

abut_status body_texts_make(const abut_body_def *def, body_texts *t)
{
  const abut_surface *s = &def->surface;
  abut_body_def surface = abut_default_body_def();
  TRY(obj_text_make(def, &t->contact));
  if (!s->face_count) {
    return ABUT_SUCCESS;
  }
  surface.vertices = s->vertices;
  surface.vertex_count = s->vertex_count;
  surface.face_sizes = s->face_sizes;
  surface.face_indices = s->face_indices;
  surface.face_count = s->face_count;
  return obj_text_make(&surface, &t->surface);
}

void body_texts_free(body_texts *t)
{
  free(t->body);
  free(t->contact.bytes);
  free(t->surface.bytes);
  *t = (body_texts){0};
}

/* The files except the grid, which has its own writer. */
enum { CONTACT, SURFACE, BODY, FILES };

static abut_status put_texts(const body_names *n, const body_texts *t, whole_file files[FILES])
{
  TRY(whole_file_put(&files[CONTACT], t->contact.bytes, t->contact.count));
  if (t->surface.bytes) {
    TRY(whole_file_put(&files[SURFACE], t->surface.bytes, t->surface.count));
  }
  TRY(whole_file_put(&files[BODY], t->body, strlen(t->body)));
  TRY(whole_file_put(&files[BODY], "\n", 1));
  return t->grid_count ? abut_write_npz(n->grid, t->grid, t->grid_count) : ABUT_SUCCESS;
}

static abut_status put_files(const body_names *n, const body_texts *t)
{
  const char *const paths[FILES] = {n->contact, t->surface.bytes ? n->surface : NULL, n->body};
  whole_file files[FILES];
  abut_status status = ABUT_SUCCESS;
  int begun = 0;
  while (begun < FILES && status == ABUT_SUCCESS) {
    status = paths[begun] ? whole_file_begin(paths[begun], &files[begun]) : ABUT_SUCCESS;
    begun += status == ABUT_SUCCESS;
  }
  status = status == ABUT_SUCCESS ? put_texts(n, t, files) : status;
  for (int i = 0; i < begun; ++i) {
    status = paths[i] ? whole_file_end(&files[i], status) : status;
  }
  return status;
}

/* After a failure, files that existed before remain, either old or new. */
abut_status write_body_files(const body_names *n, const body_texts *t)
{
  const char *const beside[] = {t->grid_count ? n->grid : NULL, n->contact,
                                t->surface.bytes ? n->surface : NULL};
  bool had[3];
  for (int i = 0; i < 3; ++i) {
    had[i] = !beside[i] || access(beside[i], F_OK) == 0;
  }
  const abut_status status = put_files(n, t);
  for (int i = 0; i < 3 && status != ABUT_SUCCESS; ++i) {
    if (!had[i]) {
      unlink(beside[i]);
    }
  }
  return status;
}
