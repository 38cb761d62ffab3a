#include "pair/contacts_store.h"
#include "core/folder/run.h"

#include <stdio.h>
#include <stdlib.h>

/* Default threshold for active contacts in the summary. A vertex on the surface has activity 0.5,
 * but pairs of edges share one contact's activity: two edges that cross in full contact may have
 * 0.15 each. */
#define ACTIVE 0.1

static exit_code prepare(contacts_store *c, const session *s, const abut_poses *poses)
{
  if (c->pairs.path) {
    CLI_TRY(store_pairs(c, poses));
  }
  CLI_TRY(pose_arrays_open(&c->poses, &c->batch, s, poses));
  CLI_TRY(store_reductions(c, s));
  if (c->is_compact) {
    store_compact(c);
    return EXIT_GOOD;
  }
  return store_dense(c, s);
}

static exit_code compute(contacts_store *c, const session *s, progress *p)
{
  c->batch.progress = progress_step;
  c->batch.user = p;
  const abut_status status = c->columns ? abut_jacobian(s->pair, s->derivatives, &c->batch, NULL)
                                        : abut_contacts(s->pair, &c->batch);
  return report_status(status);
}

static const char *what_of(const contacts_store *c)
{
  return c->columns ? "Jacobians, poses" : "contacts, poses";
}

static exit_code compute_all(contacts_store *c, const session *s, const options *o, double *seconds)
{
  progress p = progress_begin(o, what_of(c));
  p.contacts = s->layout.contacts;
  p.bytes = c->is_compact ? 0.0 : dense_bytes(s, c->batch.count);
  const double start = now();
  const exit_code code = compute(c, s, &p);
  *seconds = now() - start;
  progress_end(&p);
  return code;
}

static void summarise(const contacts_store *c, const session *s, double seconds)
{
  const double threshold = c->is_compact ? c->compact.threshold : ACTIVE;
  double least = 0.0;
  printf("%zu pose%s", c->batch.count, c->batch.count == 1 ? "" : "s");
  if (c->pairs.path) {
    printf(" of %zu pairs, up to", c->batch.pair_count);
  } else {
    printf(",");
  }
  printf(" %zu contacts per pose, %zu active in total (activity >= %g), ", s->layout.contacts,
         count_active(c, s, threshold), threshold);
  if (least_distance(c, s, &least)) {
    printf("least distance %.4g m, ", least);
  }
  printf("%.3g s on %s, %s\n", seconds, session_workers(s).text, precision_name(s->precision));
}

/* Returns the consequence for invalid poses. */
static const char *effect_of(const contacts_store *c)
{
  return c->is_compact ? "They have no contacts in the list." : "Their rows are NaN.";
}

static exit_code load(contacts_store *c, session *s, const options *o)
{
  if (c->pairs.path) {
    return pair_list_open(&c->pairs, s, o);
  }
  CLI_TRY(session_load(s, o));
  return session_soft(s, o);
}

static exit_code run(contacts_store *c, session *s, const options *o, const abut_poses *poses)
{
  double seconds = 0.0;
  abut_precision precision = ABUT_FLOAT32;
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(session_open(s, o, precision));
  CLI_TRY(load(c, s, o));
  warn_large(s, poses->count, c->is_compact ? 0.0 : dense_bytes(s, poses->count));
  CLI_TRY(prepare(c, s, poses));
  CLI_TRY(timeline_start(s, o));
  CLI_TRY(compute_all(c, s, o, &seconds));
  warn_rejected(&c->batch, effect_of(c));
  outputs l = {0};
  CLI_TRY(store_outputs(c, s, &l));
  CLI_TRY(outputs_write(&l, s, o));
  if (sums_up(o)) {
    summarise(c, s, seconds);
  }
  return EXIT_GOOD;
}

static exit_code check_usage(contacts_store *c, const options *o)
{
  abut_precision precision;
  size_t edges;
  const bool list = o->value[OPTION_PAIRS] != NULL;
  CLI_TRY(need_operands(o, list ? 0 : 2, "two bodies, A and B"));
  CLI_TRY(need_option(o, OPTION_POSES));
  CLI_TRY(need_option(o, OPTION_OUTPUT));
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(option_real(o, OPTION_COMPACT, 0.0, 1.0, &c->compact.threshold));
  CLI_TRY(option_real(o, OPTION_THRESHOLD, 0.0, 1.0, &c->compact.threshold));
  CLI_TRY(option_temperature(o, &c->batch));
  CLI_TRY(option_edges(o, &edges));
  if (list && o->value[OPTION_EDGES]) {
    return usage_error(o->command, "--edges works only with one pair, not with --pairs");
  }
  CLI_TRY(check_inputs(o));
  CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
  CLI_TRY(timeline_check(o));
  CLI_TRY(folder_check_output(o));
  return list ? pair_list_read(&c->pairs, o) : EXIT_GOOD;
}

/* ---- a folder of results ---- */

typedef struct blocks {
  contacts_store *store;
  const session *session;
  const options *o;
} blocks;

static exit_code compute_block(void *user, const abut_poses *poses, size_t first, progress *p,
                               outputs *l)
{
  const blocks *b = user;
  contacts_store *c = b->store;
  store_empty(c);
  if (c->pairs.path && poses->count) {
    CLI_TRY(pair_list_check(&c->pairs, b->o, poses, first));
  }
  CLI_TRY(prepare(c, b->session, poses));
  if (poses->count) {
    CLI_TRY(compute(c, b->session, p));
  }
  return store_outputs(c, b->session, l);
}

static exit_code run_in_folder(contacts_store *c, session *s, const options *o, folder_run *r)
{
  abut_precision precision = ABUT_FLOAT32;
  blocks b = {c, s, o};
  CLI_TRY(folder_run_open(r, o, OPTION_POSES));
  c->columns = c->columns ? 2 * pose_width(r->info.kind) : 0;
  CLI_TRY(option_precision(o, &precision));
  CLI_TRY(session_open(s, o, precision));
  CLI_TRY(load(c, s, o));
  r->session = s;
  r->compute = compute_block;
  r->user = &b;
  r->what = what_of(c);
  r->notes = pose_notes;
  r->effect = effect_of(c);
  return folder_run_blocks(r);
}

static exit_code compute_and_write(contacts_store *c, const options *o, bool jacobian)
{
  abut_poses poses = {0};
  session s = {0};
  folder_run r = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(check_usage(c, o));
  if (folder_is_named(o)) {
    c->columns = jacobian;
    code = run_in_folder(c, &s, o, &r);
    goto done;
  }
  CLI_TRY_DONE(report_status(abut_load_poses(o->value[OPTION_POSES], &poses)));
  warn_empty(o->value[OPTION_POSES], poses.count);
  if (c->pairs.path) {
    CLI_TRY_DONE(pair_list_check(&c->pairs, o, &poses, 0));
  }
  c->columns = jacobian ? 2 * pose_width(poses.kind) : 0;
  CLI_TRY_DONE(run(c, &s, o, &poses));
done:
  folder_run_close(&r);
  store_free(c);
  abut_free_poses(&poses);
  session_close(&s);
  return code;
}

exit_code cmd_contacts(const options *o)
{
  contacts_store c = {.batch = abut_default_batch(),
                      .is_compact = o->value[OPTION_COMPACT] != NULL};
  return compute_and_write(&c, o, false);
}

exit_code cmd_jacobian(const options *o)
{
  contacts_store c = {.batch = abut_default_batch(),
                      .is_compact = true,
                      .compact = {.threshold = ACTIVE}};
  return compute_and_write(&c, o, true);
}
