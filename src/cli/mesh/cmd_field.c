#include "mesh/fields.h"

#include "base/mesh_formats.h"

static exit_code check_usage(const options *o, abut_field_options *settings)
{
  CLI_TRY(need_operands(o, 1, "a mesh"));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  if (!is_bare_mesh(o->operands[0])) {
    return usage_error(o->command,
                       "%s: is not a mesh; field takes " MESH_FORMATS_OR
                       ", and with Assimp " ASSIMP_FORMATS_OR,
                       o->operands[0]);
  }
  CLI_TRY(field_options(o, settings));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(check_own_output(o));
  CLI_TRY(check_beside(o, ".grid.npz"));
  CLI_TRY(check_beside(o, ".surface.obj"));
  return check_beside(o, ".contact.obj");
}

const char *reader_of_meshes(void)
{
  return *ABUT_ASSIMP ? ABUT_ASSIMP : "none in this build (docs/install.md)";
}

static void print_errors(const abut_field_report *r)
{
  const double percent = 100.0;
  printf("error, %% of the diagonal    median      95 %%   largest\n"
         "away from sharp edges    %9.3g %9.3g %9.3g\n",
         percent * r->face_median, percent * r->face_95, percent * r->face_most);
  if (r->edge_most > 0.0) {
    printf("at sharp edges                   - %9.3g %9.3g\n", percent * r->edge_95,
           percent * r->edge_most);
  }
}

static void summarise(const options *o, const abut_field_report *r)
{
  tell_field(stdout, o->operands[0], r);
  printf("cells of %.3g m, the finest %.3g m; %zu blocks; diagonal %.4g m, volume %.4g m^3\n",
         r->spacing, r->finest, r->blocks, r->diagonal, r->volume);
  print_errors(r);
}

exit_code cmd_field(const options *o)
{
  abut_field_options settings;
  abut_field field;
  CLI_TRY(check_usage(o, &settings));
  CLI_TRY(report_status(load_field(o, o->operands[0], &settings, &field)));
  warn_field(o, o->operands[0], &field.report);
  progress p = progress_begin(o, "");
  progress_say(&p, "writing %s", o->value[OPTION_OUTPUT]);
  const abut_status status = abut_write_field(o->value[OPTION_OUTPUT], &field);
  progress_end(&p);
  const exit_code code = report_status(status);
  if (code == EXIT_GOOD && !o->value[OPTION_QUIET]) {
    summarise(o, &field.report);
  }
  abut_free_field(&field);
  return code;
}
