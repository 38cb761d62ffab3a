#include "world/import/import.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING ".scene.json"

/* MuJoCo's defaults, and those of scenes. */
static const double default_solref[2] = {0.02, 1.0};
static const double default_solimp[5] = {0.9, 0.95, 0.001, 0.5, 2.0};

bool is_off(const import *im, int bit)
{
  return im->m->opt.disableflags & (bit | mjDSBL_CONSTRAINT);
}

/* ---- what is left out ---- */

/* MuJoCo keeps names behind each other; those of nothing are empty. */
static const char *name_of(const mjModel *m, int type, int id)
{
  const int *at = type == mjOBJ_BODY       ? m->name_bodyadr
                  : type == mjOBJ_JOINT    ? m->name_jntadr
                  : type == mjOBJ_GEOM     ? m->name_geomadr
                  : type == mjOBJ_PAIR     ? m->name_pairadr
                  : type == mjOBJ_EQUALITY ? m->name_eqadr
                  : type == mjOBJ_TENDON   ? m->name_tendonadr
                  : type == mjOBJ_ACTUATOR ? m->name_actuatoradr
                                           : NULL;
  return at && m->names[at[id]] ? m->names + at[id] : NULL;
}

void left_out(import *im, const char *kind, int type, int id, const char *format, ...)
{
  char text[256], number[16];
  const char *name = name_of(im->m, type, id);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(number, sizeof number, "%d", id);
  warn("%s %s%s%s: %s", kind, name ? "`" : "", name ? name : number, name ? "`" : "", text);
  ++im->warnings;
}

void left_out_of_all(import *im, const char *format, ...)
{
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  warn("%s", text);
  ++im->warnings;
}

/* ---- numbers ---- */

/* Beyond it MuJoCo calls positions and accelerations bad (mjMAXVAL), and its square is finite in float. */
#define FAR 1e10

bool finite_range(double range[2])
{
  const bool low = isinf(range[0]) && range[0] < 0.0, high = isinf(range[1]) && range[1] > 0.0;
  range[0] = low ? -FAR : range[0];
  range[1] = high ? FAR : range[1];
  return !low || !high;
}

bool differ(const double *a, const double *b, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    if (!(a[i] >= b[i] && a[i] <= b[i])) {
      return true;
    }
  }
  return false;
}

/* ---- softness ---- */

void check_solref(import *im, const char *kind, int type, int id, double solref[2])
{
  if ((solref[0] > 0.0) != (solref[1] > 0.0)) {
    left_out(im, kind, type, id, "solref %g %g has two signs; MuJoCo takes 0.02 1 then, too",
             solref[0], solref[1]);
    memcpy(solref, default_solref, sizeof default_solref);
  }
}

void write_softness(import *im, const char *solref_key, const char *solimp_key,
                    const double solref[2], const double solimp[5])
{
  if (differ(solref, default_solref, 2)) {
    json_put_reals(&im->json, solref_key, solref, 2);
  }
  if (differ(solimp, default_solimp, 5)) {
    json_put_reals(&im->json, solimp_key, solimp, 5);
  }
}

/* ---- the whole ---- */

static const char *integrator(const import *im)
{
  const int kind = im->m->opt.integrator;
  return kind == mjINT_RK4 ? "rk4" : "euler";
}

/* Models made for MJX ask for a single iteration, which is enough for its speed. */
#define LEAST_ITERATIONS 10

/* Numbers of MuJoCo's solver where the model changes them; else the scene's own defaults. */
static void write_solver(import *im)
{
  const mjOption *opt = &im->m->opt;
  if (opt->iterations > 0 && opt->iterations < LEAST_ITERATIONS) {
    left_out_of_all(im,
                    "iterations: %d is left out, as Newton's method would seldom end by then; the "
                    "scene's own number stays",
                    opt->iterations);
  } else if (opt->iterations != 100 && opt->iterations > 0) {
    json_put_whole(&im->json, "iterations", opt->iterations);
  }
  if (opt->tolerance > 0.0 && (opt->tolerance < 1e-8 || opt->tolerance > 1e-8)) {
    json_put_real(&im->json, "tolerance", opt->tolerance);
  }
}

static void write_settings(import *im)
{
  static const double no_gravity[3] = {0.0, 0.0, 0.0};
  json_lines *j = &im->json;
  const mjOption *opt = &im->m->opt;
  json_put_text(j, "contact_model", "cone");
  json_line(j, 0);
  json_put_real(j, "timestep", opt->timestep);
  json_put_text(j, "integrator", integrator(im));
  json_put_reals(j, "gravity", opt->disableflags & mjDSBL_GRAVITY ? no_gravity : opt->gravity, 3);
  json_line(j, 0);
  json_put_text(j, "cone", opt->cone == mjCONE_ELLIPTIC ? "elliptic" : "pyramidal");
  json_put_real(j, "impratio", opt->impratio);
  if (has_exact_diagonal(im->m)) {
    json_put_text(j, "diagonal", "exact");
  }
  write_solver(im);
}

exit_code import_scene(import *im)
{
  json_lines_begin(&im->json);
  json_open(&im->json, NULL, '{');
  write_settings(im);
  plan_pairs(im);
  write_links(im);
  write_actuators(im);
  write_pairs(im);
  tell_rest(im);
  json_close(&im->json, '}');
  if (json_lines_end(&im->json)) {
    return EXIT_GOOD;
  }
  return *im->json.refused
           ? report(EXIT_INPUT, "%s: the scene's %s; scenes hold finite numbers alone", im->o->operands[0],
                    im->json.refused)
           : report(EXIT_RUN, "no memory for the scene");
}

/* Links are numbered as bodies are, with one more for each joint behind a body's first, and the
 * world's before all where it has geoms. */
static void number_links(import *im)
{
  const mjModel *m = im->m;
  for (int g = 0; g < m->body_geomnum[0]; ++g) {
    im->link_count = im->place[m->body_geomadr[0] + g] >= 0 ? 1 : im->link_count;
  }
  im->first_link[0] = im->last_link[0] = im->link_count - 1;
  for (int b = 1; b < m->nbody; ++b) {
    im->first_link[b] = im->link_count;
    im->link_count += m->body_jntnum[b] > 1 ? m->body_jntnum[b] : 1;
    im->last_link[b] = im->link_count - 1;
    im->weld[b] = m->body_jntnum[b] > 0 ? b : im->weld[m->body_parentid[b]];
  }
}

exit_code import_begin(import *im, const options *o, const mjModel *m)
{
  const char *path = o->value[OPTION_OUTPUT];
  const size_t bodies = (size_t)m->nbody, geoms = (size_t)m->ngeom, meshes = (size_t)m->nmesh;
  *im = (import){.o = o, .m = m};
  im->stem = strndup(path, strlen(path) - strlen(ENDING));
  im->first_link = calloc(bodies, sizeof *im->first_link);
  im->last_link = calloc(bodies, sizeof *im->last_link);
  im->weld = calloc(bodies, sizeof *im->weld);
  im->place = calloc(geoms + 1, sizeof *im->place);
  im->mesh_used = calloc(meshes + 1, sizeof *im->mesh_used);
  im->mesh_new = calloc(meshes + 1, sizeof *im->mesh_new);
  if (!im->stem || !im->first_link || !im->last_link || !im->weld || !im->place ||
      !im->mesh_used || !im->mesh_new) {
    return report(EXIT_RUN, "no memory for %d bodies", (int)m->nbody);
  }
  place_geoms(im);
  number_links(im);
  return EXIT_GOOD;
}

void import_end(import *im)
{
  json_lines_free(&im->json);
  free(im->stem);
  free(im->first_link);
  free(im->last_link);
  free(im->weld);
  free(im->place);
  free(im->mesh_used);
  free(im->mesh_new);
}
