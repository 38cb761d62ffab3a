/* Writes a mesh file, and a body file with another mesh. */
#include "base/error.h"
#include "format/json.h"
#include "format/whole_file.h"
#include "io/written_body.h"
#include <abut/files.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DIGITS 17 /* reproduces a double exactly */

abut_status abut_write_mesh(const char *path, const abut_body_def *def)
{
  obj_text text = {0};
  if (!path || !def) {
    return fail(ABUT_ERROR_ARGUMENT, "path or mesh is NULL");
  }
  abut_status status = obj_text_make(def, &text);
  if (status == ABUT_SUCCESS) {
    status = whole_file_write(path, text.bytes, text.count);
  }
  free(text.bytes);
  return status;
}

/* Returns the length of a path's folder, including its last slash. */
static size_t folder_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Whether two files are in the same folder. */
static bool same_folder(const char *a, const char *b)
{
  const char *const paths[2] = {a, b};
  struct stat of[2];
  for (int i = 0; i < 2; ++i) {
    char folder[PATH_MAX];
    const size_t length = folder_of(paths[i]);
    if (length >= sizeof folder) {
      return false;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)length, paths[i]);
    if (stat(length ? folder : ".", &of[i]) != 0) {
      return false;
    }
  }
  return of[0].st_dev == of[1].st_dev && of[0].st_ino == of[1].st_ino;
}

/* Whether a body file names files other than its mesh. */
static bool names_files(json_t *root)
{
  static const char *const lists[] = {"grids", "height_fields"};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; ++l) {
    json_t *list = json_object_get(root, lists[l]);
    for (size_t i = 0; i < json_array_size(list); ++i) {
      if (json_object_get(json_array_get(list, i), "file")) {
        return true;
      }
    }
  }
  return false;
}

static abut_status set_values(json_t *root, const char *mesh_name, double union_)
{
  if (json_object_set_new(root, "mesh", json_string(mesh_name)) != 0 ||
      (union_ > 0.0 && json_object_set_new(root, "union", json_real(union_)) != 0)) {
    return fail(ABUT_ERROR_ARGUMENT, "not enough memory for '%s', or its name is not UTF-8",
                mesh_name);
  }
  return ABUT_SUCCESS;
}

/* If a body file names a surface, writes it next to the new file, too. */
static abut_status take_surface(const char *from, const body_names *n, json_t *root, body_texts *t)
{
  char *path = NULL;
  abut_mesh_file surface = {0};
  abut_status status = ABUT_SUCCESS;
  if (!json_object_get(root, "surface")) {
    return ABUT_SUCCESS;
  }
  TRY_DONE(abut_find_surface(from, &path));
  TRY_DONE(abut_load_mesh(path, 1.0, &surface));
  TRY_DONE(obj_text_make(&surface.def, &t->surface));
  if (json_object_set_new(root, "surface", json_string(n->surface_beside)) != 0) {
    status = fail(ABUT_ERROR_ARGUMENT, "not enough memory for '%s', or its name is not UTF-8",
                  n->surface_beside);
  }
done:
  abut_free_mesh(&surface);
  abut_free(path);
  return status;
}

static abut_status write_remeshed(const char *path, const char *from, const json_file *f,
                                  const abut_body_def *def, double union_)
{
  body_names n = {0};
  body_texts t = {0};
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(body_names_make(path, &n));
  if (names_files(f->root) && !same_folder(path, from)) {
    status = fail_at(ABUT_ERROR_ARGUMENT, path, 0,
                     "%s names files in its own folder: write into that folder", from);
    goto done;
  }
  TRY_DONE(set_values(f->root, n.contact_beside, union_));
  TRY_DONE(obj_text_make(def, &t.contact));
  TRY_DONE(take_surface(from, &n, f->root, &t));
  t.body = json_dumps(f->root, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DIGITS));
  if (!t.body) {
    status = fail(ABUT_ERROR_MEMORY, "not enough memory for '%s'", path);
    goto done;
  }
  status = write_body_files(&n, &t);
done:
  body_texts_free(&t);
  arena_free(&n.memory);
  return status;
}

abut_status abut_write_remeshed(const char *path, const char *from, const abut_body_def *def,
                                double union_)
{
  char *bytes = NULL;
  size_t count = 0;
  json_file f = {0};
  json_at root;
  if (!path || !from || !def || !(union_ >= 0.0)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_write_remeshed: a path or the mesh is NULL, or the temperature is below 0");
  }
  TRY(whole_file_read(from, &bytes, &count));
  abut_status status = json_file_open(&f, from, bytes, count, &root);
  if (status == ABUT_SUCCESS) {
    status = write_remeshed(path, from, &f, def, union_);
  }
  json_file_close(&f);
  free(bytes);
  return status;
}
