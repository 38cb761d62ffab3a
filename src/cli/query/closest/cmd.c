#include "query/closest/closest.h"
#include "core/folder/run.h"

#include <stdlib.h>

static exit_code check_shapes_usage(const closest *c)
{
  const options *o = c->o;
  const bool file = o->value[OPTION_SHAPES] != NULL;
  CLI_TRY(need_operands(o, file ? 0 : 2, "two bodies, A and B, or --shapes S.json"));
  return file && o->value[OPTION_AS]
           ? usage_error(o->command, "--as works only with bodies, not with --shapes")
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
  return folder_check_output(o);
}

#define WHAT "closest points, poses"

static exit_code take_poses(closest *c, const abut_poses *poses)
{
  abut_batch batch = abut_default_batch(); /* used only for its poses */
  pose_arrays_close(&c->arrays);
  CLI_TRY(pose_arrays_open(&c->arrays, &batch, &c->session, poses));
  c->width = pose_width(poses->kind);
  c->batch.count = poses->count;
  c->batch.poses = poses->kind;
  c->batch.pose1 = c->arrays.pose1;
  c->batch.pose2 = c->arrays.pose2;
  c->batch.status = c->arrays.status;
  return EXIT_GOOD;
}

/* ---- a folder of results ---- */

static exit_code compute_block(void *user, const abut_poses *poses, size_t first, progress *p,
                               outputs *l)
{
  closest *c = user;
  closest_free_answers(c);
  /* the block's poses are owned by the caller */
  c->poses = (abut_poses){.count = poses->count, .kind = poses->kind};
  c->smoothing.first = first;
  CLI_TRY(take_poses(c, poses));
  CLI_TRY(closest_take_memory(c));
  CLI_TRY(closest_find_rows(c, first));
  if (poses->count) {
    CLI_TRY(closest_compute(c, p));
  }
  closest_add(c, l);
  return EXIT_GOOD;
}

static exit_code run_in_folder(closest *c, abut_precision precision, folder_run *r)
{
  CLI_TRY(folder_run_open(r, c->o, OPTION_POSES));
  CLI_TRY(session_open(&c->session, c->o, precision));
  CLI_TRY(closest_load_shapes(c));
  c->file = r->file;
  r->session = &c->session;
  r->compute = compute_block;
  r->user = c;
  r->what = WHAT;
  r->notes = closest_notes;
  return folder_run_blocks(r);
}

/* ---- one file ---- */

static exit_code compute(closest *c)
{
  progress p = progress_begin(c->o, WHAT);
  const exit_code code = closest_compute(c, &p);
  progress_end(&p);
  return code;
}

static exit_code run(closest *c, folder_run *r)
{
  const options *o = c->o;
  abut_precision precision = ABUT_FLOAT32;
  outputs l = {0};
  CLI_TRY(check_usage(c, &precision));
  if (folder_is_named(o)) {
    return run_in_folder(c, precision, r);
  }
  CLI_TRY(report_status(abut_load_poses(o->value[OPTION_POSES], &c->poses)));
  warn_empty(o->value[OPTION_POSES], c->poses.count);
  CLI_TRY(session_open(&c->session, o, precision));
  CLI_TRY(closest_load_shapes(c));
  CLI_TRY(take_poses(c, &c->poses));
  CLI_TRY(closest_take_memory(c));
  CLI_TRY(timeline_start(&c->session, o));
  CLI_TRY(closest_find_rows(c, 0));
  CLI_TRY(compute(c));
  warn_noted(closest_notes, c->batch.status, c->poses.count, "");
  closest_add(c, &l);
  CLI_TRY(outputs_write(&l, &c->session, o));
  if (sums_up(o)) {
    closest_summarise(c);
  }
  return EXIT_GOOD;
}

exit_code cmd_closest(const options *o)
{
  closest c = {.o = o,
               .batch = abut_default_closest_batch(),
               .smoothing = abut_default_closest_smoothing()};
  folder_run r = {0};
  const exit_code code = run(&c, &r);
  folder_run_close(&r);
  closest_free_answers(&c);
  closest_free_rows(&c);
  closest_free_shapes(&c);
  pose_arrays_close(&c.arrays);
  abut_free_poses(&c.poses);
  session_close(&c.session);
  return code;
}
