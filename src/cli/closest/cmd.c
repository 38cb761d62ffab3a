#include "closest/closest.h"

#include <stdlib.h>

static exit_code check_shapes_usage(const closest *c)
{
  const options *o = c->o;
  const bool file = o->value[OPTION_SHAPES] != NULL;
  CLI_TRY(need_operands(o, file ? 0 : 2, "two bodies, A and B, or --shapes S.json"));
  return file && o->value[OPTION_AS] ? usage_error(o->command, "--as is of bodies, not of --shapes")
                                     : EXIT_GOOD;
}

static exit_code check_usage(closest *c, abut_precision *precision)
{
  const options *o = c->o;
  CLI_TRY(check_shapes_usage(c));
  CLI_TRY(need_option(o, OPTION_POSES));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(option_precision(o, precision));
  CLI_TRY(closest_read_part(c));
  CLI_TRY(closest_read_settings(c, *precision));
  CLI_TRY(option_real(o, OPTION_CUTOFF, -1e9, 1e9, &c->batch.cutoff));
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(timeline_check(o));
  return check_own_output(o);
}

static exit_code load_poses(closest *c)
{
  abut_batch batch = abut_default_batch(); /* of which the poses alone are of use */
  CLI_TRY(pose_arrays_open(&c->arrays, &batch, &c->scene, &c->poses));
  c->width = pose_width(c->poses.kind);
  c->batch.count = c->poses.count;
  c->batch.poses = c->poses.kind;
  c->batch.pose1 = c->arrays.pose1;
  c->batch.pose2 = c->arrays.pose2;
  c->batch.status = c->arrays.status;
  return EXIT_GOOD;
}

static exit_code run(closest *c)
{
  const options *o = c->o;
  abut_precision precision = ABUT_FLOAT32;
  CLI_TRY(check_usage(c, &precision));
  CLI_TRY(report_status(abut_load_poses(o->value[OPTION_POSES], &c->poses)));
  warn_empty(o, &c->poses);
  CLI_TRY(scene_open(&c->scene, o, precision));
  CLI_TRY(closest_load_shapes(c));
  CLI_TRY(load_poses(c));
  CLI_TRY(closest_take_memory(c));
  CLI_TRY(timeline_start(&c->scene, o));
  CLI_TRY(closest_find_rows(c));
  CLI_TRY(closest_compute(c));
  closest_warn(c);
  CLI_TRY(closest_write(c));
  if (sums_up(o)) {
    closest_summarise(c);
  }
  return EXIT_GOOD;
}

exit_code cmd_closest(const options *o)
{
  closest c = {.o = o, .batch = abut_default_closest_batch(),
               .smoothing = abut_default_closest_smoothing()};
  const exit_code code = run(&c);
  closest_free_answers(&c);
  closest_free_shapes(&c);
  pose_arrays_close(&c.arrays);
  abut_free_poses(&c.poses);
  scene_close(&c.scene);
  return code;
}
