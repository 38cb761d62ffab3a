#include "fields.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BODY_ENDING ".body.json"
#define VERTICES_LEAST 8
#define VERTICES_MOST 65536

static bool ends_with(const char *path, const char *ending)
{
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

/* What is written beside NAME.body.json must not be read. */
static exit_code check_beside(const options *o)
{
  const char *path = o->value[OPTION_OUTPUT];
  const size_t stem = strlen(path) - strlen(BODY_ENDING);
  char *mesh = malloc(stem + sizeof ".contact.obj");
  if (!mesh) {
    return report(EXIT_RUN, "no memory");
  }
  memcpy(mesh, path, stem);
  memcpy(mesh + stem, ".contact.obj", sizeof ".contact.obj");
  exit_code code = check_not_input(o, mesh);
  code = code == EXIT_GOOD ? check_output(mesh) : code;
  free(mesh);
  return code;
}

static exit_code check_usage(const options *o, abut_contact_mesh_options *settings)
{
  size_t vertices = 0;
  CLI_TRY(need_operands(o, 1, "a body"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  const char *path = o->value[OPTION_OUTPUT];
  if (!ends_with(o->operands[0], BODY_ENDING)) {
    return usage_error(o->command, "%s: is no body file; remesh takes .body.json (`abut field` makes contact "
                       "meshes of bare meshes)", o->operands[0]);
  }
  if (!ends_with(path, BODY_ENDING) && !ends_with(path, ".obj")) {
    return usage_error(o->command, "-o %s: remesh writes files that end with .body.json or .obj", path);
  }
  CLI_TRY(option_whole(o, OPTION_VERTICES, VERTICES_LEAST, VERTICES_MOST, &vertices));
  *settings = abut_default_contact_mesh_options();
  settings->vertices = (uint32_t)vertices;
  CLI_TRY(check_readable(o->operands[0]));
  if (o->value[OPTION_SMOOTHING]) {
    CLI_TRY(check_readable(o->value[OPTION_SMOOTHING]));
  }
  CLI_TRY(check_not_input(o, path));
  CLI_TRY(check_output(path));
  return ends_with(path, BODY_ENDING) ? check_beside(o) : EXIT_GOOD;
}

static exit_code print_json(const abut_contact_mesh_report *r)
{
  json_t *root = json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                           "vertices", (json_int_t)r->vertices, "faces", (json_int_t)r->faces, "edges",
                           (json_int_t)r->edges, "genus", (json_int_t)r->genus, "parts_left_out",
                           (json_int_t)r->parts_left_out, "left_out", r->left_out, "diagonal", r->diagonal,
                           "quality_mean", r->quality_mean, "quality_least", r->quality_least,
                           "chamfer_percent", r->chamfer_percent, "hausdorff_percent", r->hausdorff_percent,
                           "volume_kept", r->volume_kept, "off", r->off);
  if (!root) {
    return report(EXIT_RUN, "no memory");
  }
  json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
  puts("");
  json_decref(root);
  return EXIT_GOOD;
}

static void summarise(const char *path, const abut_contact_mesh_report *r)
{
  printf("%s: %zu vertices, %zu faces, %zu edges; genus %lld\n", path, r->vertices, r->faces, r->edges,
         (long long)r->genus);
  printf("triangles: mean quality %.3f, least %.3f\n", r->quality_mean, r->quality_least);
  printf("off the field's surface, %% of the diagonal of %.4g m: %.3f on average, %.2f at most; volume kept "
         "%.3f\n", r->diagonal, r->chamfer_percent, r->hausdorff_percent, r->volume_kept);
}

static exit_code write_mesh(const options *o, const abut_contact_mesh *m, double union_tau)
{
  const char *path = o->value[OPTION_OUTPUT];
  return report_status(ends_with(path, BODY_ENDING)
                         ? abut_write_remeshed(path, o->operands[0], &m->def, union_tau)
                         : abut_write_mesh(path, &m->def));
}

exit_code cmd_remesh(const options *o)
{
  abut_contact_mesh_options settings;
  abut_contact_mesh m = {0};
  abut_body_info info;
  scene s = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(check_usage(o, &settings));
  CLI_TRY_DONE(scene_open(&s, o, ABUT_FLOAT32));
  CLI_TRY_DONE(report_status(load_body(&s, o, o->operands[0], &s.bodies[0])));
  s.bodies[1] = s.bodies[0];
  CLI_TRY_DONE(report_status(abut_get_body_info(s.bodies[0], &info)));
  CLI_TRY_DONE(scene_smoothing(&s, o, false));
  progress p = progress_begin(o, "");
  progress_say(&p, "making a contact mesh");
  const abut_status status = abut_make_contact_mesh(s.bodies[0], s.smoothing.union_, s.smoothing.plane,
                                                    &settings, &m);
  progress_end(&p);
  CLI_TRY_DONE(report_status(status));
  if (m.report.parts_left_out) {
    warn("%s: %zu pieces of the field's surface beside the largest, of %.2g %% of the volume, are left out",
         o->operands[0], m.report.parts_left_out, 100.0 * m.report.left_out);
  }
  /* A body that tells the temperature of its fit goes on telling it. */
  CLI_TRY_DONE(write_mesh(o, &m, info.union_ > 0.0 ? 0.0 : s.smoothing.union_));
  if (o->value[OPTION_JSON]) {
    code = print_json(&m.report);
  } else if (sums_up(o)) {
    summarise(o->value[OPTION_OUTPUT], &m.report);
  }
done:
  abut_free_contact_mesh(&m);
  scene_close(&s);
  return code;
}
