/* Geoms as bodies of links: words for MuJoCo's own shapes, files for meshes. */
#include "world/import/import.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a plane without end, half an edge: so many times the model's size, and at least [m]. */
#define PLANE_EXTENTS 10.0
#define PLANE_LEAST 10.0
#define MESH_HEAD "# by abut import\n"

/* ---- which ---- */

static bool is_in_explicit_pair(const mjModel *m, int geom)
{
  for (int p = 0; p < m->npair; ++p) {
    if (m->pair_geom1[p] == geom || m->pair_geom2[p] == geom) {
      return true;
    }
  }
  return false;
}

static bool may_touch(const mjModel *m, int geom)
{
  return m->geom_contype[geom] || m->geom_conaffinity[geom] || is_in_explicit_pair(m, geom);
}

/* Scenes' height fields have so many nodes a side. */
#define HEIGHTS_LEAST 2
#define HEIGHTS_MOST 2048

static bool has_heights(import *im, int geom)
{
  const int field = im->m->geom_dataid[geom];
  const int rows = im->m->hfield_nrow[field], columns = im->m->hfield_ncol[field];
  const bool good = rows >= HEIGHTS_LEAST && rows <= HEIGHTS_MOST && columns >= HEIGHTS_LEAST &&
                    columns <= HEIGHTS_MOST;
  if (!good) {
    left_out(im, "geom", mjOBJ_GEOM, geom, "a height field of %d by %d nodes is left out", rows, columns);
  }
  return good;
}

static bool has_word(import *im, int geom)
{
  switch (im->m->geom_type[geom]) {
    case mjGEOM_PLANE:
    case mjGEOM_SPHERE:
    case mjGEOM_CAPSULE:
    case mjGEOM_ELLIPSOID:
    case mjGEOM_CYLINDER:
    case mjGEOM_BOX:
    case mjGEOM_MESH:
      return true;
    case mjGEOM_HFIELD:
      return has_heights(im, geom);
    default:
      left_out(im, "geom", mjOBJ_GEOM, geom, "its shape is left out");
      return false;
  }
}

void place_geoms(import *im)
{
  const mjModel *m = im->m;
  int untouched = 0;
  for (int b = 0; b < m->nbody; ++b) {
    int count = 0;
    for (int k = 0; k < m->body_geomnum[b]; ++k) {
      const int g = m->body_geomadr[b] + k;
      im->place[g] = -1;
      if (!may_touch(m, g)) {
        ++untouched;
      } else if (has_word(im, g)) {
        im->place[g] = count++;
        if (m->geom_type[g] == mjGEOM_MESH) {
          im->mesh_used[m->geom_dataid[g]] = true;
        }
      }
    }
    im->body_count += count;
  }
  if (untouched) {
    left_out_of_all(im, "%d geom%s that touch%s nothing %s left out (contype and conaffinity 0)",
                    untouched, untouched == 1 ? "" : "s", untouched == 1 ? "es" : "",
                    untouched == 1 ? "is" : "are");
  }
}

/* ---- words ---- */

static void put_plane(import *im, int geom)
{
  const double *size = im->m->geom_size + 3 * geom;
  const double far = fmax(PLANE_LEAST, ceil(PLANE_EXTENTS * im->m->stat.extent));
  const double half[2] = {size[0] > 0.0 ? size[0] : far, size[1] > 0.0 ? size[1] : far};
  if (!(size[0] > 0.0) || !(size[1] > 0.0)) {
    left_out(im, "geom", mjOBJ_GEOM, geom, "a plane without end becomes one of %g m by %g m",
             2.0 * half[0], 2.0 * half[1]);
  }
  json_put_reals(&im->json, "plane", half, 2);
}

/* The rows of heights are MuJoCo's: from the lower end of y on. */
static void put_heights(import *im, int field)
{
  const mjModel *m = im->m;
  const double *size = m->hfield_size + 4 * field;
  const int rows = m->hfield_nrow[field], columns = m->hfield_ncol[field];
  const float *heights = m->hfield_data + m->hfield_adr[field];
  double row[HEIGHTS_MOST];
  json_open(&im->json, "height_field", '{');
  json_put_reals(&im->json, "size", size, 2);
  json_put_real(&im->json, "scale", size[2]);
  json_put_real(&im->json, "base", size[3]);
  json_open(&im->json, "heights", '[');
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      row[c] = (double)heights[r * columns + c];
    }
    json_put_reals(&im->json, NULL, row, (size_t)columns);
  }
  json_close(&im->json, ']');
  json_close(&im->json, '}');
}

static void put_mesh(import *im, int mesh);

static void write_shape(import *im, int geom)
{
  const double *size = im->m->geom_size + 3 * geom;
  json_lines *j = &im->json;
  switch (im->m->geom_type[geom]) {
    case mjGEOM_PLANE:
      put_plane(im, geom);
      break;
    case mjGEOM_SPHERE:
      json_put_real(j, "sphere", size[0]);
      break;
    case mjGEOM_CAPSULE:
      json_put_reals(j, "capsule", size, 2);
      break;
    case mjGEOM_ELLIPSOID:
      json_put_reals(j, "ellipsoid", size, 3);
      break;
    case mjGEOM_CYLINDER:
      json_put_reals(j, "cylinder", size, 2);
      break;
    case mjGEOM_BOX:
      json_put_reals(j, "box", size, 3);
      break;
    case mjGEOM_HFIELD:
      put_heights(im, im->m->geom_dataid[geom]);
      break;
    default:
      put_mesh(im, im->m->geom_dataid[geom]);
  }
}

static void write_body(import *im, int geom)
{
  static const double upright[4] = {1.0, 0.0, 0.0, 0.0};
  const mjModel *m = im->m;
  json_open(&im->json, NULL, '{');
  write_shape(im, geom);
  if (any_of(m->geom_pos + 3 * geom, 3)) {
    json_put_reals(&im->json, "position", m->geom_pos + 3 * geom, 3);
  }
  if (differ(m->geom_quat + 4 * geom, upright, 4)) {
    json_put_reals(&im->json, "quaternion", m->geom_quat + 4 * geom, 4);
  }
  write_own_contact(im, geom);
  json_close(&im->json, '}');
  if (has_active_surface(m, geom)) {
    left_out(im, "geom", mjOBJ_GEOM, geom, "its surface neither moves by itself nor sticks in the "
             "scene");
  }
}

void write_bodies(import *im, int body)
{
  const mjModel *m = im->m;
  bool any = false;
  for (int k = 0; k < m->body_geomnum[body]; ++k) {
    const int geom = m->body_geomadr[body] + k;
    if (im->place[geom] < 0) {
      continue;
    }
    if (!any) {
      json_open(&im->json, "bodies", '[');
      any = true;
    }
    write_body(im, geom);
  }
  if (any) {
    json_close(&im->json, ']');
  }
}

/* ---- meshes ---- */

/* STEM.MESH.obj, with the mesh's number where its name is none for files; free it. */
static char *mesh_file(const import *im, int mesh)
{
  const char *name = im->m->names + im->m->name_meshadr[mesh];
  const size_t room = strlen(im->stem) + strlen(name) + 32;
  char *path = malloc(room);
  bool plain = *name != '\0';
  for (const char *c = name; *c; ++c) {
    plain = plain && (isalnum((unsigned char)*c) || strchr("._-", *c));
  }
  if (path && plain) {
    snprintf(path, room, "%s.%s.obj", im->stem, name);
  } else if (path) {
    snprintf(path, room, "%s.mesh+%d.obj", im->stem, mesh); /* no plain name has a plus */
  }
  return path;
}

static void put_mesh(import *im, int mesh)
{
  char *path = mesh_file(im, mesh);
  im->json.bad = im->json.bad || !path;
  if (path) {
    json_put_text(&im->json, "file", base_name(path));
  }
  free(path);
}

/* A file of this name that is not an earlier import's may be the model's own mesh, and stays. */
static exit_code check_origin(const char *path)
{
  char line[sizeof MESH_HEAD] = "";
  FILE *file = fopen(path, "r");
  if (!file) {
    return EXIT_GOOD; /* check_output has seen whether it can be written */
  }
  const size_t count = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  return count == sizeof line - 1 && strcmp(line, MESH_HEAD) == 0
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: is there, and not of an import; it is not written over", path);
}

static exit_code check_mesh(const import *im, int mesh)
{
  char *path = mesh_file(im, mesh);
  exit_code code = path ? check_not_input(im->o, path) : report(EXIT_RUN, "no memory");
  code = code == EXIT_GOOD ? check_output(path) : code;
  code = code == EXIT_GOOD ? check_origin(path) : code;
  free(path);
  return code;
}

exit_code check_meshes(import *im)
{
  for (int k = 0; k < im->m->nmesh; ++k) {
    if (im->mesh_used[k]) {
      CLI_TRY(check_mesh(im, k));
    }
  }
  return EXIT_GOOD;
}

static void print_mesh(const mjModel *m, int mesh, FILE *to)
{
  const float *vertices = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  const int *faces = m->mesh_face + 3 * (size_t)m->mesh_faceadr[mesh];
  fputs(MESH_HEAD, to);
  for (int i = 0; i < m->mesh_vertnum[mesh]; ++i) {
    fprintf(to, "v %.9g %.9g %.9g\n", (double)vertices[3 * i], (double)vertices[3 * i + 1],
            (double)vertices[3 * i + 2]);
  }
  for (int i = 0; i < m->mesh_facenum[mesh]; ++i) {
    fprintf(to, "f %d %d %d\n", faces[3 * i] + 1, faces[3 * i + 1] + 1, faces[3 * i + 2] + 1);
  }
}

static exit_code write_mesh(import *im, int mesh)
{
  char *text = NULL, *path = mesh_file(im, mesh);
  size_t length = 0;
  FILE *to = path ? open_memstream(&text, &length) : NULL;
  bool good = to;
  if (to) {
    print_mesh(im->m, mesh, to);
    good = !ferror(to);
    good = fclose(to) == 0 && good;
  }
  const bool new_ = path && access(path, F_OK) != 0;
  const exit_code code = good ? report_status(abut_write_file(path, text, length))
                              : report(EXIT_RUN, "no memory for the mesh %d", mesh);
  im->mesh_new[mesh] = code == EXIT_GOOD && new_;
  free(text);
  free(path);
  return code;
}

exit_code write_meshes(import *im)
{
  for (int k = 0; k < im->m->nmesh; ++k) {
    if (im->mesh_used[k]) {
      CLI_TRY(write_mesh(im, k));
    }
  }
  return EXIT_GOOD;
}

void remove_meshes(import *im)
{
  for (int k = 0; k < im->m->nmesh; ++k) {
    char *path = im->mesh_new[k] ? mesh_file(im, k) : NULL;
    if (path) {
      unlink(path);
    }
    free(path);
  }
}
