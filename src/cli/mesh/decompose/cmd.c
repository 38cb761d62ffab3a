#include "mesh/decompose/work.h"

#include "mesh/fields.h"
#include "base/mesh_formats.h"

#include <stdio.h>
#include <string.h>

const char *decompose_source(const options *o)
{
  return o->value[OPTION_IMPORT] ? o->value[OPTION_IMPORT] : o->operands[0];
}

/* ---- usage ---- */

static exit_code read_family(const options *o, abut_decompose_family *out)
{
  const char *text = o->value[OPTION_FAMILY];
  const bool is_auto = text && strcmp(text, "auto") == 0;
  if (text && !is_auto && strcmp(text, "sq") != 0) {
    return usage_error(o->command, "--family: `%s` must be sq or auto", text);
  }
  if (is_auto && o->value[OPTION_EXPORT]) {
    return usage_error(o->command, "--export: tables cannot contain subtracted primitives and "
                                   "polyhedra, which --family auto may make");
  }
  *out = is_auto ? ABUT_DECOMPOSE_AUTO : ABUT_DECOMPOSE_SQ;
  return EXIT_GOOD;
}

static exit_code read_settings(const options *o, abut_decompose_options *out)
{
  size_t primitives = 0, most = 0, seed = 0;
  *out = abut_default_decompose_options();
  if (o->value[OPTION_PRIMITIVES] && (o->value[OPTION_ERROR] || o->value[OPTION_MAX_PRIMITIVES])) {
    return usage_error(
      o->command,
      "--primitives fixes the number of primitives: leave out --error and --max-primitives");
  }
  CLI_TRY(read_family(o, &out->family));
  CLI_TRY(option_whole(o, OPTION_PRIMITIVES, 1, ABUT_DECOMPOSE_MOST, &primitives));
  CLI_TRY(option_whole(o, OPTION_MAX_PRIMITIVES, 1, ABUT_DECOMPOSE_MOST, &most));
  CLI_TRY(option_whole(o, OPTION_SEED, 0, (size_t)-1, &seed));
  CLI_TRY(option_real(o, OPTION_ERROR, 1e-3, 0.9, &out->error));
  CLI_TRY(option_real(o, OPTION_UNION, 0.001, 0.05, &out->union_));
  CLI_TRY(option_real(o, OPTION_SCALE, 1e-9, 1e9, &out->scale));
  out->primitives = (uint32_t)primitives;
  out->most_primitives = (uint32_t)most;
  out->seed = seed;
  return EXIT_GOOD;
}

static exit_code check_mesh_operand(const options *o)
{
  return is_bare_mesh(o->operands[0])
           ? EXIT_GOOD
           : usage_error(o->command,
                         "%s: is not a mesh; decompose takes " MESH_FORMATS_OR
                         ", and with Assimp " ASSIMP_FORMATS_OR,
                         o->operands[0]);
}

/* Checks the outputs: the body with its second file, or only a table. */
static exit_code check_outputs(const options *o)
{
  const char *table = o->value[OPTION_EXPORT];
  if (table && !ends_with(table, ".csv") && !ends_with(table, ".txt") &&
      !ends_with(table, ".npy")) {
    return usage_error(o->command,
                       "--export %s: the name of a table must end with .csv, .txt or .npy", table);
  }
  if (table) {
    CLI_TRY(check_not_input(o, table));
    CLI_TRY(check_output(table));
  }
  if (!o->value[OPTION_OUTPUT]) {
    return EXIT_GOOD;
  }
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(check_own_output(o));
  CLI_TRY(check_beside(o, ".surface.obj"));
  return check_beside(o, ".contact.obj");
}

/* For a table nothing is fitted; the mesh is only used for comparison. */
static exit_code check_import(const options *o)
{
  static const option_id of_fits[] = {OPTION_PRIMITIVES, OPTION_ERROR, OPTION_MAX_PRIMITIVES,
                                      OPTION_SEED, OPTION_FAMILY};
  for (size_t i = 0; i < sizeof of_fits / sizeof *of_fits; ++i) {
    if (o->value[of_fits[i]]) {
      return usage_error(
        o->command, "%s works only when a mesh is fitted: --import takes superquadrics as they are",
        option_name(of_fits[i]));
    }
  }
  if (!o->operand_count && !o->value[OPTION_OUTPUT] && !o->value[OPTION_EXPORT]) {
    return usage_error(
      o->command, "with --import, decompose needs -o NAME.body.json, --export TABLE or a mesh");
  }
  CLI_TRY(need_operands(o, o->operand_count ? 1 : 0, "a mesh"));
  return o->operand_count ? check_mesh_operand(o) : EXIT_GOOD;
}

static exit_code check_fit(const options *o)
{
  CLI_TRY(need_operands(o, 1, "a mesh"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  return check_mesh_operand(o);
}

static exit_code check_files(const options *o)
{
  if (o->value[OPTION_IMPORT]) {
    CLI_TRY(check_readable(o->value[OPTION_IMPORT]));
  }
  if (o->operand_count) {
    CLI_TRY(check_readable(o->operands[0]));
  }
  return check_outputs(o);
}

static exit_code check_usage(const options *o, decompose_work *w)
{
  CLI_TRY(o->value[OPTION_IMPORT] ? check_import(o) : check_fit(o));
  CLI_TRY(read_settings(o, &w->settings));
  CLI_TRY(contact_mesh_options(o, &w->mesh_settings));
  CLI_TRY(option_precision(o, &w->precision));
  return check_files(o);
}

/* ---- work ---- */

static abut_status take_table(const options *o, decompose_work *w)
{
  abut_status status =
    abut_load_superquadrics(o->value[OPTION_IMPORT], w->settings.scale, &w->table);
  if (status == ABUT_SUCCESS) {
    status = abut_import_superquadrics(&w->table, w->settings.union_, &w->made);
  }
  if (status == ABUT_SUCCESS && o->operand_count) {
    const double scale = w->settings.scale != 0.0 ? w->settings.scale : 1.0;
    status = abut_load_mesh(o->operands[0], scale, &w->input);
  }
  return status;
}

/* Returns the temperature of planes that a body was fitted with; a table has none. */
static double plane_of(const decompose_work *w)
{
  return w->made.report.plane > 0.0 ? w->made.report.plane : abut_default_smoothing().plane;
}

/* Measures how well the written body represents the mesh. */
static abut_status measure(decompose_work *w)
{
  const abut_surface *of = &w->made.def.surface;
  abut_body_def mesh = abut_default_body_def();
  mesh.vertices = of->vertices;
  mesh.vertex_count = of->vertex_count;
  mesh.face_sizes = of->face_sizes;
  mesh.face_indices = of->face_indices;
  mesh.face_count = of->face_count;
  const double begun = now();
  const abut_status status = abut_measure_fit(w->body, w->made.def.union_, plane_of(w),
                                              w->input.memory ? &w->input.def : &mesh, &w->fit);
  w->measured = status == ABUT_SUCCESS;
  w->seconds_measuring = now() - begun;
  return status;
}

/* Warns which mesh makes the contacts, and why. */
static void warn_other_mesh(const options *o, const char *why)
{
  if (o->value[OPTION_IMPORT]) {
    warn("%s: no contact mesh on the body's surface: %s; instead, each primitive gets its own mesh",
         decompose_source(o), why);
  } else {
    warn(
      "%s: no contact mesh on the body's surface: %s; instead, a mesh with about 1,000 vertices on "
      "the input's surface is written",
      decompose_source(o), why);
  }
}

static abut_status make_mesh(const options *o, decompose_work *w, progress *p)
{
  progress_say(p, "making a contact mesh");
  const double begun = now();
  const abut_status status =
    abut_make_contact_mesh(w->body, w->made.def.union_, plane_of(w), &w->mesh_settings, &w->mesh);
  const abut_contact_mesh_report *r = &w->mesh.report;
  w->seconds_mesh = now() - begun;
  if (status == ABUT_ERROR_BODY) {
    progress_end(p);
    warn_other_mesh(o, abut_last_error());
    return ABUT_SUCCESS;
  }
  if (status == ABUT_SUCCESS && !r->covers) {
    char why[128];
    snprintf(why, sizeof why, "%.2g %% of the volume is in pieces of it beside the largest (%zu)",
             100.0 * r->left_out, r->parts_left_out);
    progress_end(p);
    warn_other_mesh(o, why);
    abut_free_contact_mesh(&w->mesh);
  }
  return status;
}

/* Writes the body. If there is no contact mesh on its surface, the original mesh is written. */
static abut_status write_body(const options *o, const decompose_work *w)
{
  abut_decomposition written = w->made;
  if (w->mesh.def.vertex_count) {
    written.def.vertices = w->mesh.def.vertices;
    written.def.vertex_count = w->mesh.def.vertex_count;
    written.def.face_sizes = w->mesh.def.face_sizes;
    written.def.face_indices = w->mesh.def.face_indices;
    written.def.face_count = w->mesh.def.face_count;
    written.def.edges = NULL;
    written.def.edge_count = 0;
  }
  return abut_write_decomposition(o->value[OPTION_OUTPUT], &written);
}

/* Writes the body last, so that it does not exist if the command fails earlier. A table is complete
 * by itself, and remains. */
static abut_status write_all(const options *o, const decompose_work *w, progress *p)
{
  const char *table = o->value[OPTION_EXPORT], *body = o->value[OPTION_OUTPUT];
  abut_status status = ABUT_SUCCESS;
  if (table) {
    status =
      abut_write_superquadrics(table, w->made.def.superquadrics, w->made.def.superquadric_count);
  }
  if (status == ABUT_SUCCESS && body) {
    progress_say(p, "writing %s", body);
    status = write_body(o, w);
  }
  return status;
}

static exit_code decompose(const options *o, const session *s, decompose_work *w)
{
  const bool tells = o->value[OPTION_JSON] || !o->value[OPTION_QUIET],
             imports = o->value[OPTION_IMPORT] != NULL;
  const char *body = o->value[OPTION_OUTPUT];
  const double begun = now();
  progress p = progress_begin(o, decompose_source(o));
  w->settings.progress = progress_share;
  w->settings.user = &p;
  progress_say(&p, "reading %s", decompose_source(o));
  abut_status status =
    imports ? take_table(o, w)
            : abut_load_decomposition(s->context, o->operands[0], &w->settings, &w->made);
  if (status == ABUT_SUCCESS && (body || o->operand_count)) {
    status = abut_create_body(s->context, &w->made.def, &w->body);
  }
  /* a table is compared even without output, for its warnings */
  if (status == ABUT_SUCCESS && (tells || imports) && o->operand_count) {
    progress_say(&p, "measuring");
    status = measure(w);
  }
  if (status == ABUT_SUCCESS && body) {
    status = make_mesh(o, w, &p);
  }
  if (status == ABUT_SUCCESS) {
    status = write_all(o, w, &p);
  }
  progress_end(&p);
  w->seconds = now() - begun;
  CLI_TRY(report_status(status));
  decompose_warn(o, w);
  return tells ? decompose_print(o, s, w) : EXIT_GOOD;
}

exit_code cmd_decompose(const options *o)
{
  decompose_work w = {0};
  session s = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY(check_usage(o, &w));
  if (o->value[OPTION_OUTPUT] || o->operand_count) {
    CLI_TRY_DONE(session_open(&s, o, w.precision)); /* a table is converted without a device */
  }
  CLI_TRY_DONE(decompose(o, &s, &w));
done:
  abut_free_contact_mesh(&w.mesh);
  abut_destroy_body(w.body);
  abut_free_decomposition(&w.made);
  abut_free_mesh(&w.input);
  abut_free_superquadrics(&w.table);
  session_close(&s);
  return code;
}
