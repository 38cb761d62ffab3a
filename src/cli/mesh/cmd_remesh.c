#include "mesh/contact_meshes.h"
#include "mesh/fields.h"
#include "core/json_text.h"

#define BODY_ENDING ".body.json"

static exit_code check_usage(const options *o, abut_contact_mesh_options *settings)
{
  CLI_TRY(need_operands(o, 1, "a body"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  const char *path = o->value[OPTION_OUTPUT];
  if (!ends_with(o->operands[0], BODY_ENDING)) {
    return usage_error(o->command,
                       "%s: is not a body file; remesh takes .body.json (for bare meshes, `abut "
                       "field` makes contact meshes)",
                       o->operands[0]);
  }
  if (!ends_with(path, BODY_ENDING) && !ends_with(path, ".obj")) {
    return usage_error(o->command, "-o %s: the output of remesh must end with .body.json or .obj",
                       path);
  }
  CLI_TRY(contact_mesh_options(o, settings));
  CLI_TRY(check_readable(o->operands[0]));
  if (o->value[OPTION_SMOOTHING]) {
    CLI_TRY(check_readable(o->value[OPTION_SMOOTHING]));
  }
  CLI_TRY(check_not_input(o, path));
  CLI_TRY(check_output(path));
  if (!ends_with(path, BODY_ENDING)) {
    return EXIT_GOOD;
  }
  CLI_TRY(check_beside(o, ".contact.obj"));
  return check_beside(o, ".surface.obj");
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
  session s = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(check_usage(o, &settings));
  CLI_TRY_DONE(session_open(&s, o, ABUT_FLOAT32));
  CLI_TRY_DONE(report_status(load_body(&s, o, o->operands[0], &s.bodies[0])));
  s.bodies[1] = s.bodies[0];
  CLI_TRY_DONE(report_status(abut_get_body_info(s.bodies[0], &info)));
  CLI_TRY_DONE(session_smoothing(&s, o, false));
  progress p = progress_begin(o, "");
  progress_say(&p, "making a contact mesh");
  const abut_status status =
    abut_make_contact_mesh(s.bodies[0], s.smoothing.union_, s.smoothing.plane, &settings, &m);
  progress_end(&p);
  CLI_TRY_DONE(report_status(status));
  warn_parts(o->operands[0], &m.report);
  /* A body that states the temperature of its fit keeps it. */
  CLI_TRY_DONE(write_mesh(o, &m, info.union_ > 0.0 ? 0.0 : s.smoothing.union_));
  if (o->value[OPTION_JSON]) {
    code = print_object(contact_mesh_json(&m.report), 6);
  } else if (sums_up(o)) {
    tell_contact_mesh(o->value[OPTION_OUTPUT], &m.report);
  }
done:
  abut_free_contact_mesh(&m);
  session_close(&s);
  return code;
}
