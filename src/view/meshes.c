#include "view/parts.h"

#include "base/error.h"
#include "mesh/surface/polygon.h"
#include "mesh/surface/surface.h"
#include "mesh/surface/thin.h"
#include <abut/contact_mesh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIANGLES_MOST ((size_t)60000) /* largest surface that is not simplified, */
#define THINNED ((size_t)20000)        /* and the number of vertices after simplification */
#define ZERO_SET_VERTICES 2000         /* for a body without faces */

/* Triangles that a page shows for a body. */
typedef struct shown {
  const double *vertices; /* (vertex_count, 3) */
  size_t vertex_count;
  uint32_t *triangles; /* (triangle_count, 3); owned by this struct */
  size_t triangle_count;
  bool own; /* the vertices are the body's contact mesh */
} shown;

abut_status page_meshes_begin(page *p, page_meshes *m)
{
  *m = (page_meshes){.list = json_array()};
  return page_set(p->root, "meshes", m->list);
}

void page_meshes_free(page_meshes *m)
{
  free(m->bodies);
  *m = (page_meshes){0};
}

const char *body_short_name(const body *b)
{
  const char *slash = b->name ? strrchr(b->name, '/') : NULL;
  return slash ? slash + 1 : b->name;
}

/* Cuts faces into triangles. */
static abut_status cut_faces(const uint32_t *sizes, const uint32_t *indices, size_t faces,
                             shown *out)
{
  size_t corners = 0, largest = 3;
  for (size_t i = 0; i < faces; ++i) {
    corners += sizes[i];
    largest = sizes[i] > largest ? sizes[i] : largest;
  }
  void *memory = NULL, *room = NULL;
  TRY(allocate(&memory, 3 * corners, sizeof *out->triangles));
  out->triangles = memory;
  TRY(allocate(&room, 4 * largest, sizeof(uint32_t)));
  uint32_t *places = room;
  for (size_t i = 0, first = 0; i < faces; first += sizes[i++]) {
    const size_t count = polygon_cut(out->vertices, indices + first, sizes[i], places);
    for (size_t k = 0; k < 3 * count; ++k) {
      out->triangles[3 * out->triangle_count + k] = indices[first + places[k]];
    }
    out->triangle_count += count;
  }
  free(room);
  return ABUT_SUCCESS;
}

static abut_status add_floats(page *p, const char *name, size_t rows, const double *from)
{
  void *memory = NULL;
  TRY(allocate(&memory, 3 * rows, sizeof(float)));
  for (size_t i = 0; i < 3 * rows; ++i) {
    ((float *)memory)[i] = (float)from[i];
  }
  const abut_status status = page_add(p, name, PAGE_F32, rows, 3, memory);
  free(memory);
  return status;
}

/* The arrays of mesh i are called m<i>.vertices and so on. */
typedef struct array_name {
  char text[40];
} array_name;

static array_name named(size_t i, const char *what)
{
  array_name name;
  snprintf(name.text, sizeof name.text, "m%zu.%s", i, what);
  return name;
}

static abut_status add_shown(page *p, size_t i, const shown *s)
{
  if (!s->own) {
    TRY(add_floats(p, named(i, "surface").text, s->vertex_count, s->vertices));
  }
  return page_add_indices(p, named(i, "triangles").text, s->triangle_count, 3, s->vertex_count,
                          s->triangles);
}

/* Adds a large surface in simplified form. */
static abut_status add_thinned(page *p, size_t i, const body *b)
{
  abut_body_def def = abut_default_body_def();
  surface whole = {0}, less = {0};
  surface_report report;
  thinner t = {0};
  const bool has_surface = b->parts.surface_face_count > 0;
  def.vertices = has_surface ? b->parts.surface_vertices : b->vertices;
  def.vertex_count = has_surface ? b->parts.surface_vertex_count : b->info.vertices;
  def.face_sizes = has_surface ? b->parts.surface_sizes : b->face_sizes;
  def.face_indices = has_surface ? b->parts.surface_indices : b->face_indices;
  def.face_count = has_surface ? b->parts.surface_face_count : b->info.faces;
  abut_status status = surface_create(&def, &whole, &report);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  status = surface_pair_sides(&whole);
  if (status == ABUT_SUCCESS) {
    status = thin_create(&whole, &t);
  }
  if (status == ABUT_SUCCESS) {
    thin_to(&t, THINNED);
    status = thin_surface(&t, &less);
    thin_free(&t);
  }
  if (status == ABUT_SUCCESS) {
    status = add_shown(p, i,
                       &(shown){less.points, less.point_count, less.triangles, less.triangle_count,
                                false});
  }
  surface_free(&less);
  surface_free(&whole);
  return status;
}

/* Adds the zero set of the field of a body without faces. */
static abut_status add_zero_set(page *p, size_t i, abut_body of_body, const abut_smoothing *s)
{
  abut_contact_mesh_options options = abut_default_contact_mesh_options();
  abut_contact_mesh mesh = {0};
  options.vertices = ZERO_SET_VERTICES;
  options.sweeps = 1;
  TRY(abut_make_contact_mesh(of_body, s->union_, s->plane, &options, &mesh));
  shown of = {.vertices = mesh.def.vertices, .vertex_count = mesh.def.vertex_count};
  abut_status status =
    cut_faces(mesh.def.face_sizes, mesh.def.face_indices, mesh.def.face_count, &of);
  status = status == ABUT_SUCCESS ? add_shown(p, i, &of) : status;
  free(of.triangles);
  abut_free_contact_mesh(&mesh);
  return status;
}

static abut_status add_faces(page *p, size_t i, const body *b)
{
  const bool has_surface = b->parts.surface_face_count > 0;
  shown s = {.vertices = has_surface ? b->parts.surface_vertices : b->vertices,
             .vertex_count = has_surface ? b->parts.surface_vertex_count : b->info.vertices,
             .own = !has_surface};
  abut_status status = has_surface ? cut_faces(b->parts.surface_sizes, b->parts.surface_indices,
                                               b->parts.surface_face_count, &s)
                                   : cut_faces(b->face_sizes, b->face_indices, b->info.faces, &s);
  if (status == ABUT_SUCCESS && s.triangle_count > TRIANGLES_MOST) {
    status = add_thinned(p, i, b);
    /* a surface that encloses no volume is shown in full */
    status = status == ABUT_ERROR_BODY ? add_shown(p, i, &s) : status;
  } else if (status == ABUT_SUCCESS) {
    status = add_shown(p, i, &s);
  }
  free(s.triangles);
  return status;
}

static abut_status add_mesh(page *p, json_t *list, size_t i, abut_body handle_,
                            const abut_smoothing *s)
{
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  const bool faces = b->parts.surface_face_count || b->info.faces;
  TRY(add_floats(p, named(i, "vertices").text, b->info.vertices, b->vertices));
  TRY(page_add_indices(p, named(i, "edges").text, b->info.edges, 2, b->info.vertices, b->edges));
  TRY(faces ? add_faces(p, i, b) : add_zero_set(p, i, handle_, s));
  json_t *mesh = json_pack("{s:o, s:o, s:b}", "lower", page_numbers(b->info.lower, 3), "upper",
                           page_numbers(b->info.upper, 3), "zero_set", (int)!faces);
  return mesh && json_array_append_new(list, mesh) == 0
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_MEMORY, "not enough memory for a page");
}

abut_status page_meshes_add(page *p, page_meshes *m, abut_body of, const abut_smoothing *smoothing,
                            size_t *index)
{
  for (*index = 0; *index < m->count; ++*index) {
    if (same_body(m->bodies[*index], of)) {
      return ABUT_SUCCESS;
    }
  }
  void *bodies = m->bodies;
  TRY(grow(&bodies, &m->room, m->count + 1, sizeof *m->bodies));
  m->bodies = bodies;
  TRY(add_mesh(p, m->list, m->count, of, smoothing));
  m->bodies[m->count++] = of;
  return ABUT_SUCCESS;
}
