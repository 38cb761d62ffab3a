#include "core/fits.h"
#include "core/json_text.h"
#include "mesh/fields.h"
#include "mesh/inspect/page.h"
#include "mesh/query_time.h"
#include "base/mesh_formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIANS (3.14159265358979323846 / 180.0)
#define OTHER_UNION 0.01 /* relative difference between a stated union and the default of fits */

static exit_code check_usage(const options *o, findings *f)
{
  double azimuth = f->view.azimuth / RADIANS, elevation = f->view.elevation / RADIANS;
  if (o->operand_count < 1 || o->operand_count > 2) {
    return usage_error(o->command,
                       "inspect needs a body, and optionally a mesh to compare it with");
  }
  if (o->operand_count == 2 && !is_bare_mesh(o->operands[1])) {
    return usage_error(o->command,
                       "%s: is not a mesh; inspect compares with " MESH_FORMATS_OR
                       ", and with Assimp " ASSIMP_FORMATS_OR,
                       o->operands[1]);
  }
  if (!o->value[OPTION_JSON]) {
    CLI_TRY(need_option(o, OPTION_OUTPUT));
  }
  CLI_TRY(option_real(o, OPTION_AZIMUTH, -360.0, 360.0, &azimuth));
  CLI_TRY(option_real(o, OPTION_ELEVATION, -90.0, 90.0, &elevation));
  f->view.azimuth = azimuth * RADIANS;
  f->view.elevation = elevation * RADIANS;
  f->scale = 1.0;
  CLI_TRY(option_real(o, OPTION_SCALE, 1e-9, 1e9, &f->scale));
  CLI_TRY(check_inputs(o));
  if (!o->value[OPTION_OUTPUT]) {
    return EXIT_GOOD;
  }
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  return check_own_output(o);
}

/* Loads the body, and makes a pair of the body with itself. */
static exit_code load(session *s, const options *o, findings *f)
{
  CLI_TRY(report_status(load_body(s, o, o->operands[0], &s->bodies[0])));
  s->bodies[1] = s->bodies[0];
  CLI_TRY(report_status(abut_get_body_info(s->bodies[0], &f->info)));
  CLI_TRY(session_smoothing(s, o, false));
  CLI_TRY(report_status(abut_create_pair(s->bodies[0], s->bodies[1], &s->smoothing, &s->pair)));
  CLI_TRY(report_status(abut_get_layout(s->pair, &s->layout)));
  f->union_tau = s->smoothing.union_;
  f->other_union = f->info.union_ > 0.0 && f->info.primitives > 1 &&
                   fabs(f->union_tau - f->info.union_) > OTHER_UNION * f->info.union_;
  if (f->other_union) {
    warn("%s: was fitted with a union of %.3g m, but is measured with a union of %.3g m",
         o->operands[0], f->info.union_, f->union_tau);
  }
  return EXIT_GOOD;
}

/* Loads the mesh to compare with: the second operand, or the body's surface, or its own mesh. Its
 * unit is that of the file; --scale applies only to bare meshes. */
static exit_code load_mesh(const options *o, findings *f, char **own, abut_mesh_file *mesh)
{
  const bool given = o->operand_count == 2;
  if (!given) {
    CLI_TRY(report_status(abut_find_surface(o->operands[0], own)));
    CLI_TRY(*own ? EXIT_GOOD : report_status(abut_find_mesh(o->operands[0], own)));
    if (!*own) {
      return report(EXIT_INPUT, "%s: names no mesh for the comparison: give a mesh after the body",
                    o->operands[0]);
    }
  }
  f->mesh = given ? o->operands[1] : *own;
  const double scale = given || is_bare_mesh(o->operands[0]) ? f->scale : 1.0;
  CLI_TRY(report_status(abut_load_mesh(f->mesh, scale, mesh)));
  if (given) { /* the body's own mesh has been reported */
    warn_trailing(o, f->mesh, mesh->trailing);
  }
  return mesh->def.face_count
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: has no faces to compare with: give a mesh after the body",
                    f->mesh);
}

static exit_code measure_cost(const session *s, query_cost *c)
{
  CLI_TRY(time_query(s, &c->seconds));
  c->poses = QUERY_POSES;
  c->contacts = s->layout.contacts;
  snprintf(c->devices, sizeof c->devices, "%s", session_workers(s).text);
  return EXIT_GOOD;
}

static exit_code draw(const session *s, const abut_body_def *mesh, findings *f)
{
  const size_t bytes = (size_t)ABUT_FIT_PICTURES * f->view.width * f->view.height * 3;
  for (int dark = 0; dark < 2; ++dark) {
    f->pictures[dark] = malloc(bytes);
    if (!f->pictures[dark]) {
      return report(EXIT_RUN, "not enough memory for pictures");
    }
    f->view.dark = dark;
    CLI_TRY(report_status(abut_draw_fit(s->bodies[0], s->smoothing.union_, s->smoothing.plane, mesh,
                                        &f->view, f->pictures[dark])));
  }
  return EXIT_GOOD;
}

static exit_code find(const session *s, const options *o, const abut_body_def *mesh, findings *f)
{
  const double tau = s->smoothing.union_, plane = s->smoothing.plane;
  progress p = progress_begin(o, "");
  progress_say(&p, "measuring");
  abut_status status = abut_measure_fit(s->bodies[0], tau, plane, mesh, &f->fit);
  if (status == ABUT_SUCCESS) {
    status = abut_measure_mesh(s->bodies[0], tau, plane, &f->quality);
  }
  exit_code code = EXIT_GOOD;
  if (status == ABUT_SUCCESS) {
    progress_say(&p, "timing");
    code = measure_cost(s, &f->cost);
  }
  if (status == ABUT_SUCCESS && code == EXIT_GOOD && o->value[OPTION_OUTPUT]) {
    progress_say(&p, "drawing");
    code = draw(s, mesh, f);
  }
  progress_end(&p);
  if (f->fit.endless) {
    warn(
      "%s: its field is unbounded: only the part in the mesh's box and 8 %% beyond it is measured",
      f->body);
  }
  if (status == ABUT_SUCCESS) {
    warn_depths(f->body, f->fit.depth_ratio_median, f->fit.depth_ratio_most,
                f->fit.depth_ratio_most_at);
  }
  return status == ABUT_SUCCESS ? code : report_status(status);
}

static exit_code write_html(const char *path, const findings *f)
{
  char *text = NULL;
  size_t count = 0;
  FILE *to = open_memstream(&text, &count);
  if (!to) {
    return report(EXIT_RUN, "not enough memory for a page");
  }
  exit_code code = write_page(to, f);
  if (fclose(to) != 0 && code == EXIT_GOOD) {
    code = report(EXIT_RUN, "not enough memory for a page");
  }
  code = code == EXIT_GOOD ? report_status(abut_write_file(path, text, count)) : code;
  free(text);
  return code;
}

static void summarise(const findings *f)
{
  printf("%s compared with %s:\n", f->body, f->mesh);
  printf("IoU %.4f, coverage %.4f, precision %.4f; largest part uncovered %.2f %%, surplus %.2f %% "
         "of the volume\n",
         f->fit.iou, f->fit.coverage, f->fit.precision, 100.0 * f->fit.largest_uncovered,
         100.0 * f->fit.largest_surplus);
  printf("Chamfer %.3f %%, Hausdorff %.2f %% of the diagonal; %.1f %% of the surface is farther "
         "away than 1 %%\n",
         f->fit.chamfer_percent, f->fit.hausdorff_percent, 100.0 * f->fit.surface_beyond_1_percent);
  tell_depths(&f->fit);
  tell_holes(&f->fit);
  printf("contact mesh: %zu vert%s, %zu edge%s", f->info.vertices,
         f->info.vertices == 1 ? "ex" : "ices", f->info.edges, plural(f->info.edges));
  if (f->info.edges) {
    printf(", %.1f %% of them outside the field", 100.0 * f->quality.edges_leaving);
  }
  if (f->quality.triangles) {
    printf("; mean quality of %zu triangle%s %.3f", f->quality.triangles,
           plural(f->quality.triangles), f->quality.quality_mean);
  }
  printf("\n%zu primitive%s; a contact query %.3g ms, in batches of %zu on %s\n",
         f->info.primitives, plural(f->info.primitives), 1e3 * f->cost.seconds, f->cost.poses,
         f->cost.devices);
}

exit_code cmd_inspect(const options *o)
{
  findings f = {.body = o->operand_count ? o->operands[0] : NULL, .view = abut_default_fit_view()};
  abut_mesh_file mesh = {0};
  session s = {0};
  char *own = NULL;
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(check_usage(o, &f));
  CLI_TRY_DONE(load_mesh(o, &f, &own, &mesh));
  CLI_TRY_DONE(session_open(&s, o, ABUT_FLOAT32));
  CLI_TRY_DONE(load(&s, o, &f));
  CLI_TRY_DONE(find(&s, o, &mesh.def, &f));
  if (o->value[OPTION_OUTPUT]) {
    CLI_TRY_DONE(write_html(o->value[OPTION_OUTPUT], &f));
  }
  if (o->value[OPTION_JSON]) {
    code = print_object(findings_json(&f), 6);
  } else if (sums_up(o)) {
    summarise(&f);
  }
done:
  free(f.pictures[0]);
  free(f.pictures[1]);
  abut_free_mesh(&mesh);
  abut_free(own);
  session_close(&s);
  return code;
}
