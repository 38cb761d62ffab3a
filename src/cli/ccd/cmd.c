#include "ccd/ccd.h"

static exit_code check_usage(ccd *c, abut_precision *precision)
{
  const options *o = c->o;
  CLI_TRY(need_operands(o, 2, "two meshes, A and B"));
  CLI_TRY(need_option(o, OPTION_FROM));
  CLI_TRY(need_option(o, OPTION_TO));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(option_precision(o, precision));
  CLI_TRY(ccd_read_settings(c));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(timeline_check(o));
  return check_own_output(o);
}

static exit_code run(ccd *c)
{
  const options *o = c->o;
  abut_precision precision = ABUT_FLOAT32;
  CLI_TRY(check_usage(c, &precision));
  CLI_TRY(ccd_read_poses(c));
  CLI_TRY(scene_open(&c->scene, o, precision));
  CLI_TRY(ccd_load_meshes(c));
  CLI_TRY(ccd_take_poses(c));
  CLI_TRY(ccd_take_memory(c));
  CLI_TRY(timeline_start(&c->scene, o));
  CLI_TRY(ccd_compute(c));
  ccd_warn(c);
  CLI_TRY(ccd_write(c));
  if (sums_up(o)) {
    ccd_summarise(c);
  }
  return EXIT_GOOD;
}

exit_code cmd_ccd(const options *o)
{
  ccd c = {.o = o, .batch = abut_default_ccd_batch()};
  const exit_code code = run(&c);
  ccd_free_answers(&c);
  ccd_free_inputs(&c);
  scene_close(&c.scene);
  return code;
}
