#include "base/error.h"
#include "io/body_file.h"
#include "io/mesh.h"
#include "io/smoothing_file.h"
#include "io/text.h"
#include "io/whole_file.h"
#include <abut/files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_mesh(abut_body_def *def, const mesh *m)
{
  def->vertices = m->vertices;
  def->vertex_count = m->vertex_count;
  def->face_sizes = m->face_sizes;
  def->face_indices = m->face_indices;
  def->face_count = m->face_count;
}

/* The body's makers know its numbers, not its file. */
static abut_status create(abut_context context, const char *path, const abut_body_def *def,
                          abut_body *body)
{
  abut_status status = abut_create_body(context, def, body);
  if (status == ABUT_ERROR_BODY || status == ABUT_ERROR_ARGUMENT) {
    char cause[1024];
    snprintf(cause, sizeof cause, "%s", abut_last_error());
    return fail_at(status, path, 0, "%s", cause);
  }
  return status;
}

static abut_status load_mesh(abut_context context, const char *path, abut_body *body)
{
  mesh m;
  abut_body_def def = abut_default_body_def();
  TRY(mesh_read(path, &m));
  set_mesh(&def, &m);
  def.cloud_from_mesh = true;
  abut_status status =
    m.face_count ? create(context, path, &def, body)
                 : fail_at(ABUT_ERROR_FORMAT, path, 0, "holds no faces, from which a body's "
                                                       "point cloud would be made");
  mesh_free(&m);
  return status;
}

/* A mesh that a body file names and nobody can read is that file's fault. */
static abut_status read_named_mesh(const char *path, const char *mesh_path, mesh *m)
{
  abut_status status = mesh_read(mesh_path, m);
  if (status == ABUT_ERROR_READ) {
    char cause[1024];
    snprintf(cause, sizeof cause, "%s", abut_last_error());
    return fail_at(status, path, 0, "its mesh, %s", cause);
  }
  return status;
}

static abut_status load_json(abut_context context, const char *path, abut_body *body)
{
  body_file file = {0};
  mesh m = {0};
  abut_body_def def;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(body_file_read(path, &file));
  TRY_DONE(read_named_mesh(path, file.mesh_path, &m));
  def = file.def;
  def.cookie = abut_default_body_def().cookie;
  set_mesh(&def, &m);
  status = create(context, path, &def, body);
done:
  mesh_free(&m);
  body_file_free(&file);
  return status;
}

abut_status abut_load_body(abut_context context, const char *path, abut_body *body)
{
  if (!path || !body) {
    return fail(ABUT_ERROR_ARGUMENT, "path or body is NULL");
  }
  *body = (abut_body){0};
  return has_extension(path, ".json") ? load_json(context, path, body)
                                      : load_mesh(context, path, body);
}

abut_status abut_find_mesh(const char *path, char **mesh_path)
{
  body_file file = {0};
  if (!path || !mesh_path) {
    return fail(ABUT_ERROR_ARGUMENT, "path or mesh_path is NULL");
  }
  *mesh_path = NULL;
  const bool named = has_extension(path, ".json");
  TRY(named ? body_file_read(path, &file) : ABUT_SUCCESS);
  *mesh_path = strdup(named ? file.mesh_path : path);
  body_file_free(&file);
  return *mesh_path ? ABUT_SUCCESS : fail(ABUT_ERROR_MEMORY, "no memory for a path");
}

abut_status abut_load_smoothing(const char *path, abut_smoothing *smoothing)
{
  char *bytes = NULL;
  size_t count = 0;
  if (!path || !smoothing) {
    return fail(ABUT_ERROR_ARGUMENT, "path or smoothing is NULL");
  }
  *smoothing = abut_default_smoothing();
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_SUCCESS) {
    status = smoothing_parse(path, bytes, count, smoothing);
  }
  free(bytes);
  return status;
}
