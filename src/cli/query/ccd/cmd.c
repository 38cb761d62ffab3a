#include "query/ccd/ccd.h"
#include "core/folder/run.h"

#define WHAT "collision in time, poses"

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
  return folder_check_output(o);
}

/* ---- a folder of results ---- */

static exit_code compute_block(void *user, const abut_poses *poses, size_t first, progress *p,
                               outputs *l)
{
  ccd *c = user;
  ccd_free_answers(c);
  abut_free_poses(&c->to);
  if (poses->count) {
    CLI_TRY(report_status(abut_read_poses(c->to_file, first, poses->count, &c->to)));
  }
  CLI_TRY(ccd_take_poses(c, poses, &c->to));
  CLI_TRY(ccd_take_memory(c));
  if (poses->count) {
    CLI_TRY(ccd_compute(c, p));
  }
  l->input_bytes =
    2 * pose_width(poses->kind) * (2 * sizeof(double) + real_bytes(c->session.precision));
  ccd_add(c, l);
  return EXIT_GOOD;
}

static exit_code run_in_folder(ccd *c, abut_precision precision, folder_run *r)
{
  CLI_TRY(folder_run_open(r, c->o, OPTION_FROM));
  CLI_TRY(ccd_open_poses(c, &r->info));
  CLI_TRY(session_open(&c->session, c->o, precision));
  CLI_TRY(ccd_load_meshes(c));
  r->session = &c->session;
  r->compute = compute_block;
  r->user = c;
  r->what = WHAT;
  r->notes = ccd_notes;
  return folder_run_blocks(r);
}

/* ---- one file ---- */

static exit_code compute(ccd *c)
{
  progress p = progress_begin(c->o, WHAT);
  const exit_code code = ccd_compute(c, &p);
  progress_end(&p);
  return code;
}

static exit_code run(ccd *c, folder_run *r)
{
  const options *o = c->o;
  abut_precision precision = ABUT_FLOAT32;
  outputs l = {0};
  CLI_TRY(check_usage(c, &precision));
  if (folder_is_named(o)) {
    return run_in_folder(c, precision, r);
  }
  CLI_TRY(ccd_read_poses(c));
  CLI_TRY(session_open(&c->session, o, precision));
  CLI_TRY(ccd_load_meshes(c));
  CLI_TRY(ccd_take_poses(c, &c->from, &c->to));
  CLI_TRY(ccd_take_memory(c));
  CLI_TRY(timeline_start(&c->session, o));
  CLI_TRY(compute(c));
  warn_noted(ccd_notes, c->batch.status, c->count, "");
  ccd_add(c, &l);
  CLI_TRY(outputs_write(&l, &c->session, o));
  if (sums_up(o)) {
    ccd_summarise(c);
  }
  return EXIT_GOOD;
}

exit_code cmd_ccd(const options *o)
{
  ccd c = {.o = o, .batch = abut_default_ccd_batch()};
  folder_run r = {0};
  const exit_code code = run(&c, &r);
  folder_run_close(&r);
  ccd_free_answers(&c);
  ccd_free_inputs(&c);
  session_close(&c.session);
  return code;
}
