#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "body/diagnostics.h"
#include "format/mesh.h"
#include "format/text.h"
#include "format/whole_file.h"
#include "io/body_file.h"
#include "io/body_load.h"
#include "io/body_mesh.h"
#include "io/field_cache.h"
#include "io/smoothing_file.h"
#include "contact/misfit.h"
#include "mesh/surface/field_surface.h"
#include <abut/ccd.h>
#include <abut/closest.h>
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
  def->edges = m->edges;
  def->edge_count = m->edge_count;
}

/* Adds the file's name to errors, since makers of bodies and fields work without files. */
static abut_status of_file(const char *path, abut_status status)
{
  if (status == ABUT_ERROR_BODY || status == ABUT_ERROR_ARGUMENT) {
    char cause[1024];
    snprintf(cause, sizeof cause, "%s", abut_last_error());
    return fail_at(status, path, 0, "%s", cause);
  }
  return status;
}

static void scale_mesh(mesh *m, double scale)
{
  for (size_t i = 0; i < 3 * m->vertex_count; ++i) {
    m->vertices[i] *= scale;
  }
}

static abut_status make_field(const char *path, const mesh *m, const abut_field_options *options,
                              abut_field *field)
{
  abut_body_def def = abut_default_body_def();
  set_mesh(&def, m);
  if (!m->face_count) {
    return fail_at(ABUT_ERROR_FORMAT, path, 0, "contains no faces, so no field can be made");
  }
  const cache_key key = field_cache_key(&def, options);
  if (!options->no_cache && field_cache_read(&key, field)) {
    const abut_status status = field_hold_surface(field->memory, &def, &field->def);
    if (status != ABUT_SUCCESS) {
      abut_free_field(field);
    }
    return status;
  }
  TRY(of_file(path, abut_make_field(&def, options, field)));
  if (!options->no_cache) {
    field_cache_write(&key, field);
  }
  return ABUT_SUCCESS;
}

static abut_status check_scale(double scale)
{
  return scale == 0.0 || (scale >= SCALE_LEAST && scale <= SCALE_MOST)
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "scale: %g is not in [%g, %g]", scale, SCALE_LEAST,
                  SCALE_MOST);
}

static abut_status check_options(const abut_field_options *options)
{
  if (options->cookie != abut_default_field_options().cookie) {
    return fail(ABUT_ERROR_ARGUMENT, "the options were not made by abut_default_field_options");
  }
  return check_scale(options->scale);
}

static uint32_t trailing_suspicion(size_t trailing)
{
  return trailing ? ABUT_SUSPECT_TRAILING : 0u;
}

abut_status abut_load_field(const char *path, const abut_field_options *options, abut_field *field)
{
  mesh m;
  if (!path || !options || !field) {
    return fail(ABUT_ERROR_ARGUMENT, "path, options or field is NULL");
  }
  *field = (abut_field){0};
  TRY(check_options(options));
  TRY(mesh_read(path, &m));
  scale_mesh(&m, options->scale != 0.0 ? options->scale : 1.0);
  const abut_status status = make_field(path, &m, options, field);
  if (status == ABUT_SUCCESS) { /* it depends on the file, while cached fields depend on the mesh */
    field->report.trailing = m.trailing;
    field->report.suspicions |= trailing_suspicion(m.trailing);
  }
  mesh_free(&m);
  return status;
}

abut_status abut_load_decomposition(abut_context context, const char *path,
                                    const abut_decompose_options *options, abut_decomposition *out)
{
  mesh m;
  if (!path || !options || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "path, options or decomposition is NULL");
  }
  *out = (abut_decomposition){0};
  if (options->cookie != abut_default_decompose_options().cookie) {
    return fail(ABUT_ERROR_ARGUMENT, "the options were not made by abut_default_decompose_options");
  }
  TRY(check_scale(options->scale));
  TRY(mesh_read(path, &m));
  scale_mesh(&m, options->scale != 0.0 ? options->scale : 1.0);
  abut_body_def def = abut_default_body_def();
  set_mesh(&def, &m);
  const abut_status status = of_file(path, abut_decompose(context, &def, options, out));
  if (status == ABUT_SUCCESS) {
    out->report.trailing = m.trailing;
    out->report.suspicions |= trailing_suspicion(m.trailing);
  }
  mesh_free(&m);
  return status;
}

static abut_status load_mesh(abut_context context, const char *path,
                             const abut_field_options *options, abut_body *body)
{
  abut_field field;
  TRY(abut_load_field(path, options, &field));
  const abut_status status = of_file(path, abut_create_body(context, &field.def, body));
  if (status == ABUT_SUCCESS) {
    body_set_report(*body, &field.report);
  }
  abut_free_field(&field);
  return status;
}

/* If a mesh named by a body file cannot be read, the error is attributed to the body file. name:
 * the path in the body file. */
static abut_status read_named_mesh(const char *path, const char *name, const char *mesh_path,
                                   mesh *m)
{
  abut_status status = mesh_read(mesh_path, m);
  if (status == ABUT_ERROR_READ) {
    char cause[1024];
    snprintf(cause, sizeof cause, "%s", abut_last_error());
    return fail_at(status, path, 0, "its %s, %s", name, cause);
  }
  return status;
}

/* Reads the surface named by a body file, if any. */
static abut_status read_surface(const char *path, const body_file *file, mesh *m, abut_surface *out)
{
  if (!file->surface_path) {
    return ABUT_SUCCESS;
  }
  TRY(read_named_mesh(path, "surface", file->surface_path, m));
  if (!m->face_count) {
    return fail_at(ABUT_ERROR_FORMAT, file->surface_path, 0,
                   "contains no faces, but %s names it as its surface", path);
  }
  *out =
    (abut_surface){m->vertices, m->vertex_count, m->face_sizes, m->face_indices, m->face_count};
  return ABUT_SUCCESS;
}

/* Sets the diagnostics of a body: meshes or features in another place or unit than the primitives,
 * and mesh files with trailing data. */
static abut_status diagnose(const abut_body_def *def, size_t trailing, abut_body body)
{
  misfit of;
  TRY(find_misfit(def, &of));
  abut_field_report r = {.diagonal = of.diagonal,
                         .misfit = of.median,
                         .feature_misfit = of.features,
                         .trailing = trailing};
  r.suspicions = (of.median > MISFIT_MOST * of.diagonal ? ABUT_SUSPECT_MISFIT : 0u) |
                 (of.features > FEATURE_MISFIT_MOST * of.diagonal ? ABUT_SUSPECT_FEATURES : 0u) |
                 trailing_suspicion(trailing);
  body_set_report(body, &r);
  return ABUT_SUCCESS;
}

static abut_status describe_body(const char *path, const abut_body_def *def, size_t trailing,
                                 abut_body body)
{
  TRY(body_set_name(body, path));
  return diagnose(def, trailing, body);
}

static abut_status load_json(abut_context context, const char *path, abut_body *body)
{
  body_file file = {0};
  mesh m = {0}, surface = {0};
  abut_body_def def;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(body_file_read(path, &file));
  def = file.def;
  def.cookie = abut_default_body_def().cookie;
  if (file.mesh_path) {
    TRY_DONE(read_named_mesh(path, "mesh", file.mesh_path, &m));
    set_mesh(&def, &m);
  }
  TRY_DONE(read_surface(path, &file, &surface, &def.surface));
  TRY_DONE(of_file(path, abut_create_body(context, &def, body)));
  status = describe_body(path, &def, m.trailing + surface.trailing, *body);
  if (status != ABUT_SUCCESS) {
    abut_destroy_body(*body);
    *body = (abut_body){0};
  }
done:
  mesh_free(&m);
  mesh_free(&surface);
  body_file_free(&file);
  return status;
}

abut_status body_load(abut_context context, const char *path, const abut_field_options *options,
                      abut_body *body)
{
  *body = (abut_body){0};
  return has_extension(path, ".json") ? load_json(context, path, body)
                                      : load_mesh(context, path, options, body);
}

abut_status abut_load_body(abut_context context, const char *path, abut_body *body)
{
  const abut_field_options options = abut_default_field_options();
  return path && body ? body_load(context, path, &options, body)
                      : fail(ABUT_ERROR_ARGUMENT, "path or body is NULL");
}

static abut_status copy_into(void **out, const void *from, size_t count, size_t size)
{
  TRY(allocate(out, count, size));
  memcpy(*out, from, count * size);
  return ABUT_SUCCESS;
}

/* Copies a surface. mesh_free frees it, even after a failure. */
static abut_status copy_surface(const abut_surface *s, mesh *m)
{
  void *vertices = NULL, *sizes = NULL, *indices = NULL;
  abut_status status = ABUT_SUCCESS;
  size_t corners = 0;
  for (size_t i = 0; i < s->face_count; ++i) {
    corners += s->face_sizes[i];
  }
  TRY_DONE(copy_into(&vertices, s->vertices, s->vertex_count, 3 * sizeof(double)));
  TRY_DONE(copy_into(&sizes, s->face_sizes, s->face_count, sizeof(uint32_t)));
  TRY_DONE(copy_into(&indices, s->face_indices, corners, sizeof(uint32_t)));
done:
  *m = (mesh){.vertices = vertices,
              .vertex_count = s->vertex_count,
              .face_sizes = sizes,
              .face_count = s->face_count,
              .face_indices = indices,
              .index_count = corners};
  return status;
}

abut_status body_mesh_read(const char *path, bool surface_first, mesh *m)
{
  body_file file;
  if (!has_extension(path, ".json")) {
    return mesh_read(path, m);
  }
  *m = (mesh){0};
  TRY(body_file_read(path, &file));
  abut_status status = file.mesh_path ? read_named_mesh(path, "mesh", file.mesh_path, m)
                                      : copy_surface(&file.def.surface, m);
  if (status == ABUT_SUCCESS && file.surface_path && (surface_first || !m->face_count)) {
    mesh_free(m);
    *m = (mesh){0};
    status = read_named_mesh(path, "surface", file.surface_path, m);
  }
  body_file_free(&file);
  if (status != ABUT_SUCCESS) {
    mesh_free(m);
  }
  return status;
}

abut_status abut_load_hull(abut_context context, const char *path, abut_shape *shape)
{
  mesh m = {0};
  abut_shape_def def = abut_default_shape_def();
  if (!path || !shape) {
    return fail(ABUT_ERROR_ARGUMENT, "path or shape is NULL");
  }
  *shape = (abut_shape){0};
  TRY(body_mesh_read(path, false, &m));
  def.vertices = m.vertices;
  def.vertex_count = m.vertex_count;
  def.trailing = m.trailing;
  abut_status status = of_file(path, abut_create_shape(context, &def, shape));
  mesh_free(&m);
  if (status == ABUT_ERROR_ARGUMENT) {
    status = ABUT_ERROR_FORMAT; /* the arguments were only vertices, which come from the file */
  }
  return status;
}

abut_status abut_load_ccd_mesh(abut_context context, const char *path, abut_ccd_mesh *out)
{
  mesh m = {0};
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  if (!path || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "path or mesh is NULL");
  }
  *out = (abut_ccd_mesh){0};
  TRY(body_mesh_read(path, true, &m));
  if (has_extension(path, ".json") && !m.face_count) {
    mesh_free(&m);
    return fail_at(ABUT_ERROR_FORMAT, path, 0, CCD_NO_FACES);
  }
  def.vertices = m.vertices;
  def.vertex_count = m.vertex_count;
  def.face_sizes = m.face_sizes;
  def.face_indices = m.face_indices;
  def.face_count = m.face_count;
  def.edges = m.edges;
  def.edge_count = m.edge_count;
  def.trailing = m.trailing;
  abut_status status = of_file(path, abut_create_ccd_mesh(context, &def, out));
  mesh_free(&m);
  if (status == ABUT_ERROR_ARGUMENT) {
    status = ABUT_ERROR_FORMAT; /* the argument was only a mesh, which comes from the file */
  }
  return status;
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
  if (named && !file.mesh_path) {
    body_file_free(&file);
    return fail_at(ABUT_ERROR_FORMAT, path, 0, "names no mesh: a height field has its own mesh");
  }
  *mesh_path = strdup(named ? file.mesh_path : path);
  body_file_free(&file);
  return *mesh_path ? ABUT_SUCCESS : fail(ABUT_ERROR_MEMORY, "not enough memory for a path");
}

abut_status abut_find_surface(const char *path, char **surface_path)
{
  body_file file = {0};
  if (!path || !surface_path) {
    return fail(ABUT_ERROR_ARGUMENT, "path or surface_path is NULL");
  }
  *surface_path = NULL;
  if (!has_extension(path, ".json")) {
    return ABUT_SUCCESS;
  }
  TRY(body_file_read(path, &file));
  *surface_path = file.surface_path ? strdup(file.surface_path) : NULL;
  const bool memory = file.surface_path && !*surface_path;
  body_file_free(&file);
  return memory ? fail(ABUT_ERROR_MEMORY, "not enough memory for a path") : ABUT_SUCCESS;
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

/* Fits the coefficients that a file omits. Cones need edges on both sides: if the file turns these
 * edges off, cones are off unless stated. */
static abut_status fit_others(const abut_smoothing *own, uint64_t stated, abut_body body1,
                              abut_body body2, abut_smoothing *out)
{
  abut_smoothing s = {.edge_contacts = ABUT_EDGES_FIELD, .edge_edge = true, .two_sided = true};
  smoothing_copy_some(own, stated, &s);
  TRY(s.edge_contacts == ABUT_EDGES_PAIRS ? abut_fit_edge_pairs(body1, body2, out)
                                          : abut_fit_smoothing(body1, body2, out));
  if (!s.edge_edge || !s.two_sided) {
    out->cone_inner = out->cone_outer = out->cone_hold = out->cone_inset = 0.0;
  }
  smoothing_copy_some(own, stated, out);
  return ABUT_SUCCESS;
}

abut_status abut_load_fitted_smoothing(const char *path, abut_body body1, abut_body body2,
                                       abut_smoothing *smoothing)
{
  char *bytes = NULL;
  size_t count = 0;
  uint64_t stated = 0;
  if (!path || !smoothing) {
    return fail(ABUT_ERROR_ARGUMENT, "path or smoothing is NULL");
  }
  abut_smoothing own = abut_default_smoothing();
  abut_status status = whole_file_read(path, &bytes, &count);
  if (status == ABUT_SUCCESS) {
    status = smoothing_parse_some(path, bytes, count, &own, &stated);
  }
  free(bytes);
  TRY(status);
  *smoothing = own;
  return stated == UINT64_MAX ? ABUT_SUCCESS : fit_others(&own, stated, body1, body2, smoothing);
}

abut_status abut_parse_smoothing(const char *name, const char *text, size_t count,
                                 abut_smoothing *smoothing)
{
  if (!name || !text || !smoothing) {
    return fail(ABUT_ERROR_ARGUMENT, "name, text or smoothing is NULL");
  }
  *smoothing = abut_default_smoothing();
  return smoothing_parse(name, text, count, smoothing);
}
