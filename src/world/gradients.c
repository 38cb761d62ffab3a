/* Gradients of rollouts of worlds (docs/dev/cone-formulas.md, section 10). A chunk runs forward
 * once and saves the states at the start of each segment. The reverse pass handles the segments
 * from last to first: it recomputes the states within a segment, equal to the bit, with RK4 also
 * the stages of its last steps, and then goes back through its steps. For the last segment the
 * forward run itself saves them. */
#include "base/error.h"
#include "base/memory.h"
#include "world/law/law.h"
#include "world/sweep.h"
#include <stdlib.h>

#define COOKIE 0xab071508u
/* RK4: the stages of so many steps at the end of a segment are kept */
#define STAGED_STEPS ((size_t)16)
/* memory for the states of all worlds [bytes] if a rollout is not computed twice */
#define KEPT_BYTES ((double)(64u << 20))

/* ---- sizes ---- */

/* With one segment the forward run saves all states, and no step is recomputed. With RK4 the stages
 * of few steps are kept, so segments stay short. */
size_t segment_of(const steps_call *c)
{
  const abut_worlds *w = c->worlds;
  const size_t steps = w->steps, asked = c->gradients->segment;
  size_t segment = asked;
  if (!asked) {
    const scene_constants *n = &c->scene->constants;
    const double bytes = (double)sizeof(double) * (double)(n->nq + 2 * n->nv);
    const bool all = !is_rk4(c) && bytes * (double)steps * (double)w->count <= KEPT_BYTES;
    segment = all ? steps : 1;
    while (segment * segment < steps) { /* in the range of int */
      ++segment;
    }
  }
  return segment < steps ? segment : steps;
}

static size_t segments_of(const steps_call *c)
{
  const size_t segment = segment_of(c);
  return (c->worlds->steps + segment - 1) / segment;
}

/* Returns how many steps have stages in WORLD_STAGES_KEPT. Those of the last step are in
 * WORLD_STAGES. */
static size_t kept_steps(const steps_call *c)
{
  const size_t segment = segment_of(c);
  return segment < 2 ? 0 : (segment < STAGED_STEPS ? segment : STAGED_STEPS) - 1;
}

void gradient_bytes(const steps_call *c, const world_sizes *n, size_t real,
                    size_t bytes[POOL_BUFFERS])
{
  const size_t nv = (size_t)n->nv;
  bytes[WORLD_CHECKPOINTS] = segments_of(c) * state_width(n) * real;
  bytes[WORLD_SEGMENT] = (segment_of(c) + 1) * state_width(n) * real;
  bytes[WORLD_ITERATIONS] = sizeof(int);
  back_bytes(c, n, real, bytes);
  bytes[WORLD_U_SUM] = (size_t)n->nu * real;
  bytes[OUT_SPRINGS_BAR] = c->gradients->springs ? SPRING_NUMBERS * (size_t)n->listed * real : 0;
  bytes[WORLD_END] = state_width(n) * real;
  if (c->worlds->contacts) {
    const size_t contacts = c->worlds->contacts->count;
    bytes[OUT_P_BAR] = bytes[OUT_N_BAR] = 3 * contacts * real;
    bytes[OUT_D_BAR] = bytes[OUT_ACTIVITY_BAR] = contacts * real;
  }
  if (is_rk4(c)) {
    bytes[WORLD_STAGE_BARS] = 10 * nv * real;
    bytes[WORLD_STAGES_KEPT] = kept_steps(c) * stages_width(n) * real;
  }
}

/* ---- back through one step ---- */

/* Adds the cotangent of the last step's acceleration, if given. */
static abut_status add_acceleration(const stepping *s, size_t step)
{
  const size_t nv = (size_t)sizes_of(s)->nv;
  return s->call->gradients->acceleration && step + 1 == s->call->worlds->steps
           ? add_columns(s, IN_ACCELERATION_BAR, nv, 0, WORLD_ACCELERATION_BAR, nv, 0, nv)
           : ABUT_SUCCESS;
}

abut_status begin_adjoint(const stepping *s, size_t step)
{
  TRY(LAUNCH(s->device, KERNEL_WORLD_EULER_ADJOINT, world_blocks(s), 1, TABLES(s), REALS(s),
             OF(s, WORLD_NEXT_V), OF(s, WORLD_ACCELERATION), OF(s, WORLD_STATE_BAR),
             OF(s, WORLD_SCRATCH), OF(s, WORLD_ADJOINT), OF(s, WORLD_ACCELERATION_BAR),
             ARG_INT(s->count)));
  return add_acceleration(s, step);
}

/* Returns the solve at the start of a step. If it is the last step, the caller may give cotangents
 * of its contact forces. */
static stepping with_pushes(const stepping *s, size_t step)
{
  const abut_worlds_gradients *g = s->call->gradients;
  stepping at = *s;
  at.pulls_pushes = (g->link_forces || g->pair_forces) && sizes_of(s)->groups &&
                    step + 1 == s->call->worlds->steps;
  return at;
}

abut_status explicit_step_adjoint(const stepping *s, size_t step, bool is_there)
{
  const stepping at = with_pushes(s, step);
  TRY(is_there ? ABUT_SUCCESS : step_tree(s, WORLD_Q, WORLD_V));
  TRY(begin_adjoint(s, step));
  return solve_adjoint(&at);
}

/* Saves the stages of an RK4 step, or restores them to WORLD_STAGES. `later` is the number of later
 * steps in the segment; the stages of the last step remain in WORLD_STAGES. */
static abut_status set_stages_aside(const stepping *s, size_t later)
{
  const size_t width = stages_width(sizes_of(s));
  return later ? copy_columns(s, WORLD_STAGES, width, 0, WORLD_STAGES_KEPT,
                              kept_steps(s->call) * width, (later - 1) * width, width)
               : ABUT_SUCCESS;
}

static abut_status find_stages(const stepping *s, size_t later)
{
  const size_t width = stages_width(sizes_of(s)), kept = kept_steps(s->call);
  if (later > kept) {
    return keep_stages(s);
  }
  return later ? copy_columns(s, WORLD_STAGES_KEPT, kept * width, (later - 1) * width, WORLD_STAGES,
                              width, 0, width)
               : ABUT_SUCCESS;
}

/* Reverse pass through an RK4 step, from its last stage to its first, since each stage starts from
 * the previous one. WORLD_STAGE_BARS collects the cotangents that stages pass to each other,
 * WORLD_U_SUM those of the shared controls. */
static abut_status rk4_adjoint(const stepping *s, size_t step, size_t end)
{
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  const size_t one = nq + 3 * nv, width = stages_width(sizes_of(s)), nu = (size_t)sizes_of(s)->nu;
  const stepping first = with_pushes(s, step);
  TRY(find_stages(s, end - 1 - step));
  TRY(LAUNCH(s->device, KERNEL_WORLD_STAGES_START, world_blocks(s), 1, TABLES(s), REALS(s),
             OF(s, WORLD_STAGES), OF(s, WORLD_STATE_BAR), OF(s, WORLD_ADJOINT),
             OF(s, WORLD_STAGE_BARS), ARG_INT(s->count)));
  for (size_t i = 4; i-- > 0;) {
    TRY(read_state(s, WORLD_STAGES, width, i * one, WORLD_Q, WORLD_V, WORLD_ACCELERATION));
    TRY(step_tree(s, WORLD_Q, WORLD_V));
    TRY(LAUNCH(s->device, KERNEL_WORLD_STAGE_START, world_blocks(s), 1, ARG_BUFFER(s->tables->head),
               OF(s, WORLD_STAGE_BARS), ARG_INT(i), OF(s, WORLD_ADJOINT),
               OF(s, WORLD_ACCELERATION_BAR), ARG_INT(s->count)));
    TRY(i == 3 ? add_acceleration(s, step) : ABUT_SUCCESS);
    TRY(solve_adjoint(i ? s : &first));
    TRY(i == 3 ? copy_columns(s, WORLD_U_BAR, nu, 0, WORLD_U_SUM, nu, 0, nu)
               : add_columns(s, WORLD_U_BAR, nu, 0, WORLD_U_SUM, nu, 0, nu));
    TRY(LAUNCH(s->device, KERNEL_WORLD_STAGE_ADJOINT, world_blocks(s), 1, TABLES(s), REALS(s),
               OF(s, WORLD_STAGES), ARG_INT(i), OF(s, WORLD_ADJOINT), OF(s, WORLD_STATE_BAR),
               OF(s, WORLD_STAGE_BARS), ARG_INT(s->count)));
  }
  return copy_columns(s, WORLD_U_SUM, nu, 0, WORLD_U_BAR, nu, 0, nu);
}

/* ---- a rollout ---- */

/* Computes the steps of a segment from the state in OUT_Q, OUT_V and OUT_W. `inside`: the reverse
 * pass is next, so it saves their states in WORLD_SEGMENT, and the impacts of the last step that
 * has any. */
static abut_status run_segment(const stepping *s, size_t first, size_t end, bool inside)
{
  const size_t one = state_width(sizes_of(s));
  const size_t width = (segment_of(s->call) + 1) * one;
  stepping at = *s;
  for (size_t step = first; step < end; ++step) {
    TRY(inside ? write_state(s, OUT_Q, OUT_V, OUT_W, WORLD_SEGMENT, width, (step - first) * one)
               : ABUT_SUCCESS);
    at.impacts = inside ? &s->segment_impacts[step - first] : NULL;
    at.keeps_impacts = inside;
    at.keeps_stages = inside && is_rk4(s->call) && end - 1 - step <= kept_steps(s->call);
    TRY(one_step(&at, step));
    TRY(at.keeps_stages ? set_stages_aside(s, end - 1 - step) : ABUT_SUCCESS);
    TRY(keep_record(s, step));
  }
  return inside ? write_state(s, OUT_Q, OUT_V, OUT_W, WORLD_SEGMENT, width, (end - first) * one)
                : ABUT_SUCCESS;
}

/* Adds the cotangents of the record after a step, if there is one. */
static abut_status add_records(const stepping *s, size_t step)
{
  const abut_worlds *w = s->call->worlds;
  const size_t nv = (size_t)sizes_of(s)->nv;
  if (!s->call->gradients->record || !w->record || (step + 1) % w->record) {
    return ABUT_SUCCESS;
  }
  const size_t kept = w->steps / w->record, at = (step + 1) / w->record - 1;
  return add_columns(s, IN_RECORD_BAR, kept * 2 * nv, at * 2 * nv, WORLD_STATE_BAR, 2 * nv, 0,
                     2 * nv);
}

/* Writes the gradient with respect to a step's controls. If all steps share one row of controls it
 * is the sum, which starts with the last step, since that is processed first. */
static abut_status put_controls(const stepping *s, size_t step)
{
  const abut_worlds *w = s->call->worlds;
  const size_t nu = (size_t)sizes_of(s)->nu;
  if (!s->call->gradients->u || !nu) {
    return ABUT_SUCCESS;
  }
  if (w->controls) {
    return copy_columns(s, WORLD_U_BAR, nu, 0, OUT_U_BAR, w->steps * nu, step * nu, nu);
  }
  return step + 1 == w->steps ? copy_columns(s, WORLD_U_BAR, nu, 0, OUT_U_BAR, nu, 0, nu)
                              : add_columns(s, WORLD_U_BAR, nu, 0, OUT_U_BAR, nu, 0, nu);
}

/* Recomputes a step of the current segment to keep its impacts; only those of one step are kept at
 * a time. */
static abut_status run_again(const stepping *s, size_t step, size_t width, size_t at)
{
  stepping keeps = *s;
  keeps.keeps_impacts = true;
  TRY(read_state(s, WORLD_SEGMENT, width, at, OUT_Q, OUT_V, OUT_W));
  return one_step(&keeps, step);
}

/* Reverse pass through the steps of a segment, whose states are in WORLD_SEGMENT. The device has
 * computed the segment's last step last, so its results may still be there. */
static abut_status segment_adjoint(const stepping *s, size_t first, size_t end)
{
  const size_t one = state_width(sizes_of(s)), nq = (size_t)sizes_of(s)->nq;
  const size_t nv = (size_t)sizes_of(s)->nv, width = (segment_of(s->call) + 1) * one;
  const contact_law *law = law_of(s->call);
  bool kept = true;
  for (size_t step = end; step-- > first;) {
    const size_t at = (step - first) * one;
    const int impacts = s->segment_impacts[step - first];
    /* The inputs of the step's impacts, if a later step has overwritten them. */
    TRY(impacts && !kept ? run_again(s, step, width, at) : ABUT_SUCCESS);
    kept = kept && !impacts;
    /* Its controls again, and the cotangents of the record after it. */
    TRY(step_controls(s, step));
    TRY(add_records(s, step));
    /* Back through impacts to the result of the integrator, then through the step to its start. */
    TRY(impacts ? impact_adjoint(s, impacts) : ABUT_SUCCESS);
    if (is_rk4(s->call)) {
      TRY(read_state(s, WORLD_SEGMENT, width, at, OUT_Q, OUT_V, OUT_W));
      TRY(rk4_adjoint(s, step, end));
    } else {
      TRY(copy_columns(s, WORLD_SEGMENT, width, at, WORLD_Q, nq, 0, nq));
      TRY(copy_columns(s, WORLD_SEGMENT, width, at + nq, WORLD_V, nv, 0, nv));
      TRY(law->keeps_guess ? copy_columns(s, WORLD_SEGMENT, width, at + nq + nv, WORLD_W, nv, 0, nv)
                           : ABUT_SUCCESS);
      TRY(impacts ? copy_columns(s, SWEEP_V, nv, 0, WORLD_NEXT_V, nv, 0, nv)
                  : copy_columns(s, WORLD_SEGMENT, width, at + one + nq, WORLD_NEXT_V, nv, 0, nv));
      TRY(copy_columns(s, WORLD_SEGMENT, width, at + one + nq + nv, WORLD_ACCELERATION, nv, 0, nv));
      TRY(law->step_adjoint(s, step, step + 1 == end && keeps_tree(s, step)));
    }
    /* Impacts also depend on the start of the step. Then the gradient with respect to this step's
     * controls. */
    TRY(impacts ? impact_begin_adjoint(s) : ABUT_SUCCESS);
    TRY(put_controls(s, step));
  }
  return ABUT_SUCCESS;
}

/* Zeroes the rows of stopped worlds, which have no derivatives. */
static abut_status silence(const stepping *s, world_buffer rows, size_t width, const void *asked)
{
  return asked && width ? LAUNCH(s->device, KERNEL_WORLD_SILENCE, s->count, 1, OF(s, OUT_STATUS),
                                 ARG_INT(width), OF(s, rows), ARG_INT(s->count))
                        : ABUT_SUCCESS;
}

static abut_status put_parameters(const stepping *s, world_buffer to, size_t from, size_t width,
                                  const void *asked)
{
  TRY(asked && width ? LAUNCH(s->device, KERNEL_WORLD_PARAMETERS_ADJOINT, world_blocks(s), 1,
                              ARG_BUFFER(s->tables->head), OF(s, WORLD_ADJOINT), ARG_INT(from),
                              ARG_INT(width), OF(s, to), ARG_INT(s->count))
                     : ABUT_SUCCESS);
  return silence(s, to, width, asked);
}

static abut_status put_gradients(const stepping *s)
{
  const abut_worlds_gradients *g = s->call->gradients;
  const world_sizes *n = sizes_of(s);
  const size_t nv = (size_t)n->nv, links = (size_t)n->links, columns = (size_t)n->columns;
  const size_t nu = (size_t)n->nu * (s->call->worlds->controls ? s->call->worlds->steps : 1);
  const size_t contacts = s->call->worlds->contacts ? s->call->worlds->contacts->count : 0;
  TRY(g->q ? copy_columns(s, WORLD_STATE_BAR, 2 * nv, 0, OUT_Q_BAR, nv, 0, nv) : ABUT_SUCCESS);
  TRY(g->v ? copy_columns(s, WORLD_STATE_BAR, 2 * nv, nv, OUT_V_BAR, nv, 0, nv) : ABUT_SUCCESS);
  TRY(silence(s, OUT_Q_BAR, nv, g->q));
  TRY(silence(s, OUT_V_BAR, nv, g->v));
  TRY(silence(s, OUT_U_BAR, nu, g->u));
  TRY(silence(s, OUT_P_BAR, 3 * contacts, g->p));
  TRY(silence(s, OUT_D_BAR, contacts, g->d));
  TRY(silence(s, OUT_N_BAR, 3 * contacts, g->n));
  TRY(silence(s, OUT_ACTIVITY_BAR, contacts, g->activity));
  TRY(silence(s, OUT_SPRINGS_BAR, SPRING_NUMBERS * (size_t)n->listed, g->springs));
  TRY(put_parameters(s, OUT_MASS_BAR, 0, links, g->mass_scale));
  TRY(put_parameters(s, OUT_FRICTION_BAR, links, columns, g->friction));
  TRY(put_parameters(s, OUT_STIFFNESS_BAR, links + columns, columns, g->stiffness));
  return put_parameters(s, OUT_GRAVITY_BAR, links + 2 * columns, 3, g->gravity);
}

/* Reverse pass through all steps. It overwrites OUT_Q, OUT_V and OUT_W with states of earlier
 * segments. */
static abut_status gradients_adjoint(const stepping *s)
{
  const size_t steps = s->call->worlds->steps, segment = segment_of(s->call);
  const size_t segments = segments_of(s->call), one = state_width(sizes_of(s));
  const size_t nv = (size_t)sizes_of(s)->nv;
  TRY(LAUNCH(s->device, KERNEL_WORLD_PARAMETERS_START, world_blocks(s), 1,
             ARG_BUFFER(s->tables->head), OF(s, WORLD_ADJOINT), ARG_INT(s->count)));
  if (s->call->gradients->springs) {
    TRY(clear_rows(s, OUT_SPRINGS_BAR, SPRING_NUMBERS * (size_t)sizes_of(s)->listed));
  }
  /* The last segment's states are there; those of the others are recomputed. */
  TRY(copy_columns(s, IN_STATE_BAR, 2 * nv, 0, WORLD_STATE_BAR, 2 * nv, 0, 2 * nv));
  for (size_t i = segments; i-- > 0;) {
    const size_t first = i * segment, end = first + segment < steps ? first + segment : steps;
    if (i + 1 < segments) {
      TRY(read_state(s, WORLD_CHECKPOINTS, segments * one, i * one, OUT_Q, OUT_V, OUT_W));
      TRY(run_segment(s, first, end, true));
    }
    TRY(segment_adjoint(s, first, end));
  }
  return put_gradients(s);
}

/* The rollout's last state is an output of the caller, so it is saved during the reverse pass. */
static abut_status run_gradients(stepping *s)
{
  const size_t steps = s->call->worlds->steps, segment = segment_of(s->call);
  const size_t segments = segments_of(s->call), one = state_width(sizes_of(s));
  TRY(steps_start(s));
  for (size_t i = 0; i < segments; ++i) {
    const size_t first = i * segment, end = first + segment < steps ? first + segment : steps;
    TRY(write_state(s, OUT_Q, OUT_V, OUT_W, WORLD_CHECKPOINTS, segments * one, i * one));
    TRY(run_segment(s, first, end, i + 1 == segments));
  }
  TRY(write_state(s, OUT_Q, OUT_V, OUT_W, WORLD_END, one, 0));
  s->again = true;
  TRY(gradients_adjoint(s));
  return read_state(s, WORLD_END, one, 0, OUT_Q, OUT_V, OUT_W);
}

abut_status gradients_launch(batch_on *on, size_t slot, chunk c)
{
  stepping s = stepping_of(on, slot, c);
  void *impacts = NULL;
  TRY(allocate(&impacts, segment_of(s.call), sizeof *s.segment_impacts));
  s.segment_impacts = impacts;
  const abut_status status = run_gradients(&s);
  free(impacts);
  return status;
}

/* ---- the call ---- */

abut_worlds_gradients abut_default_worlds_gradients(void)
{
  return (abut_worlds_gradients){.cookie = COOKIE};
}

abut_status check_gradients(const steps_call *c)
{
  const abut_worlds_gradients *g = c->gradients;
  const abut_worlds *w = c->worlds;
  if (!g || g->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the gradients were not made by abut_default_worlds_gradients");
  }
  if ((g->p || g->d || g->n || g->activity) && (!w->contacts || w->steps != 1)) {
    return fail(ABUT_ERROR_ARGUMENT,
                "gradients by contacts need a call of one step with given contacts");
  }
  const contact_law *law = law_of(c);
  if (g->escaped && !(g->escape && law->escapes)) {
    return fail(ABUT_ERROR_ARGUMENT, "`escaped` is requested, but `escape` is off, or the contacts "
                                     "are not hard contacts (\"lcp\")");
  }
  if (g->springs && !law->numbers) {
    return fail(ABUT_ERROR_ARGUMENT, "the contacts of the scene are not springs");
  }
  if ((g->link_forces || g->pair_forces) && !law->pulls_pushes) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "forces of contacts have gradients only with soft contacts (\"cone\"), not with \"%s\"",
      law->word);
  }
  if (g->pair_forces && w->scenes) {
    return fail(ABUT_ERROR_ARGUMENT, "forces of pairs need worlds that all have the same scene");
  }
  if (g->record && !w->record) {
    return fail(ABUT_ERROR_ARGUMENT, "cotangents of recorded states need `record`");
  }
  return ABUT_SUCCESS;
}

void add_gradients(steps_call *c)
{
  const abut_worlds_gradients *g = c->gradients;
  const abut_worlds *w = c->worlds;
  const size_t nv = (size_t)c->scene->constants.nv, nu = scene_control_count(&c->scene->def);
  const size_t kept = w->record ? w->steps / w->record : 0, columns = c->scene->def.column_count;
  const size_t contacts = w->contacts ? w->contacts->count : 0;
  add_reals(c, "state", IN_STATE_BAR, 2 * nv, g->state, NULL); /* zeros if not given */
  const named_array arrays[] = {
    {"record", IN_RECORD_BAR, kept * 2 * nv, g->record, NULL},
    {"acceleration", IN_ACCELERATION_BAR, nv, g->acceleration, NULL},
    {"link_forces cotangent", IN_LINK_FORCES_BAR, 6 * c->scene->def.link_count, g->link_forces,
     NULL},
    {"pair_forces cotangent", IN_PAIR_FORCES_BAR, 3 * c->scene->def.pair_count, g->pair_forces,
     NULL},
    {"q gradient", OUT_Q_BAR, nv, NULL, g->q},
    {"v gradient", OUT_V_BAR, nv, NULL, g->v},
    {"u gradient", OUT_U_BAR, w->controls ? w->steps * nu : nu, NULL, g->u},
    {"mass_scale gradient", OUT_MASS_BAR, c->scene->def.link_count, NULL, g->mass_scale},
    {"friction gradient", OUT_FRICTION_BAR, columns, NULL, g->friction},
    {"stiffness gradient", OUT_STIFFNESS_BAR, columns, NULL, g->stiffness},
    {"gravity gradient", OUT_GRAVITY_BAR, 3, NULL, g->gravity},
    {"springs gradient", OUT_SPRINGS_BAR, SPRING_NUMBERS * c->scene->def.listed_count, NULL,
     g->springs},
    {"p gradient", OUT_P_BAR, 3 * contacts, NULL, g->p},
    {"d gradient", OUT_D_BAR, contacts, NULL, g->d},
    {"n gradient", OUT_N_BAR, 3 * contacts, NULL, g->n},
    {"activity gradient", OUT_ACTIVITY_BAR, contacts, NULL, g->activity}};
  add_named(c, arrays, sizeof arrays / sizeof *arrays);
  add_counts(c, "escaped", OUT_ESCAPED, 1, g->escape ? g->escaped : NULL);
}
