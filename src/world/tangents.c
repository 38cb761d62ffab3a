/* Tangents of rollouts, and transition matrices of steps. Reverse passes compute the Jacobian of
 * each solve's accelerations, one row per degree of freedom. The tangent or the matrix of the whole
 * step then follows by the chain rule. */
#include "base/error.h"
#include "world/law/law.h"
#include "world/sweep.h"

#define COOKIE_TANGENTS 0xab071503u
#define COOKIE_TRANSITION 0xab071504u

size_t seed_width(const world_sizes *n)
{
  return 2 * (size_t)n->nv + (size_t)n->nu + (size_t)PARAMETERS(n->links, n->columns);
}

static int stages_of(const steps_call *c)
{
  return is_rk4(c) ? 4 : 1;
}

void tangent_bytes(const steps_call *c, const world_sizes *n, size_t real,
                   size_t bytes[POOL_BUFFERS])
{
  const size_t nv = (size_t)n->nv, width = seed_width(n);
  back_bytes(c, n, real, bytes);
  /* for springs; see pool_bytes */
  bytes[WORLD_BASIS] = 6 * GROUP_ADJOINT * (size_t)n->groups * real;
  bytes[WORLD_JACOBIAN] = (size_t)stages_of(c) * nv * width * real;
  bytes[WORLD_TANGENT_WORK] = (2 * width + 8 * nv) * real;
  bytes[WORLD_TANGENT] = width * real;
  bytes[WORLD_MATRIX] = c->transition ? 2 * nv * width * real : 0;
}

/* Computes the Jacobians of the step just made from WORLD_Q and WORLD_V or, with RK4, of its four
 * stages in WORLD_STAGES. */
static abut_status step_jacobian(const stepping *s, size_t step)
{
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv, one = nq + 3 * nv;
  if (!is_rk4(s->call)) {
    TRY(keeps_tree(s, step) ? ABUT_SUCCESS : step_tree(s, WORLD_Q, WORLD_V));
    return acceleration_jacobian(s, 0, 1);
  }
  for (size_t i = 0; i < 4; ++i) {
    TRY(read_state(s, WORLD_STAGES, 4 * one, i * one, WORLD_Q, WORLD_V, WORLD_ACCELERATION));
    TRY(step_tree(s, WORLD_Q, WORLD_V));
    TRY(acceleration_jacobian(s, (int)i, 4));
  }
  return ABUT_SUCCESS;
}

/* Makes one step and its Jacobians. */
static abut_status differentiate_step(const stepping *s, size_t step)
{
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  stepping keeps = *s;
  keeps.keeps_stages = is_rk4(s->call);
  TRY(copy_columns(s, OUT_Q, nq, 0, WORLD_Q, nq, 0, nq));
  TRY(copy_columns(s, OUT_V, nv, 0, WORLD_V, nv, 0, nv));
  TRY(one_step(&keeps, step));
  TRY(keep_record(s, step));
  TRY(is_rk4(s->call) ? ABUT_SUCCESS
                      : copy_columns(s, OUT_W, nv, 0, WORLD_ACCELERATION, nv, 0, nv));
  return step_jacobian(s, step);
}

/* ---- tangents ---- */

/* Copies a part of the caller's tangent, `some` numbers, to `at` in WORLD_TANGENT. Parts that are
 * not given stay 0. */
static abut_status put_seed(const stepping *s, world_buffer from, size_t width, size_t from_at,
                            size_t at, size_t some, const void *given)
{
  return given && some
           ? copy_columns(s, from, width, from_at, WORLD_TANGENT, seed_width(sizes_of(s)), at, some)
           : ABUT_SUCCESS;
}

static abut_status start_tangent(const stepping *s)
{
  const abut_worlds_tangents *t = s->call->tangents;
  const world_sizes *n = sizes_of(s);
  const size_t nv = (size_t)n->nv, links = (size_t)n->links, columns = (size_t)n->columns;
  const size_t at = 2 * nv + (size_t)n->nu;
  TRY(clear_rows(s, WORLD_TANGENT, seed_width(n)));
  TRY(put_seed(s, IN_STATE_BAR, nv, 0, 0, nv, t->q));
  TRY(put_seed(s, IN_ACCELERATION_BAR, nv, 0, nv, nv, t->v));
  TRY(put_seed(s, OUT_MASS_BAR, links, 0, at, links, t->mass_scale));
  TRY(put_seed(s, OUT_FRICTION_BAR, columns, 0, at + links, columns, t->friction));
  TRY(put_seed(s, OUT_STIFFNESS_BAR, columns, 0, at + links + columns, columns, t->stiffness));
  return put_seed(s, OUT_GRAVITY_BAR, 3, 0, at + links + 2 * columns, 3, t->gravity);
}

/* Copies the tangent of q (from 0) or of v (from nv) to an output if the caller wants it. */
static abut_status put_tangent(const stepping *s, size_t from, world_buffer to, size_t width,
                               size_t at, const void *asked)
{
  const size_t nv = (size_t)sizes_of(s)->nv;
  return asked ? copy_columns(s, WORLD_TANGENT, seed_width(sizes_of(s)), from, to, width, at, nv)
               : ABUT_SUCCESS;
}

/* Returns the velocity after the integrator. */
static world_buffer integrated_v(const stepping *s)
{
  return *s->impacts ? SWEEP_V : OUT_V;
}

static abut_status tangent_step(const stepping *s, size_t step)
{
  const abut_worlds_tangents *t = s->call->tangents;
  const abut_worlds *w = s->call->worlds;
  const size_t nv = (size_t)sizes_of(s)->nv, nu = (size_t)sizes_of(s)->nu;
  TRY(put_seed(s, IN_U_TANGENT, w->controls ? w->steps * nu : nu, w->controls ? step * nu : 0,
               2 * nv, nu, t->u));
  TRY(LAUNCH(s->device, KERNEL_WORLD_TANGENT, s->count, 1, TABLES(s), REALS(s),
             OF(s, integrated_v(s)), OF(s, WORLD_STAGES), OF(s, WORLD_JACOBIAN),
             ARG_INT(stages_of(s->call)), OF(s, WORLD_KEPT), OF(s, OUT_STATUS),
             OF(s, WORLD_TANGENT_WORK), OF(s, WORLD_TANGENT), ARG_INT(s->count)));
  TRY(*s->impacts ? impact_tangent(s) : ABUT_SUCCESS);
  if (w->record && (step + 1) % w->record == 0) {
    const size_t kept = w->steps / w->record, at = ((step + 1) / w->record - 1) * nv;
    TRY(put_tangent(s, 0, OUT_Q_RECORD_TANGENT, kept * nv, at, t->q_record));
    TRY(put_tangent(s, nv, OUT_V_RECORD_TANGENT, kept * nv, at, t->v_record));
  }
  return ABUT_SUCCESS;
}

/* ---- matrices ---- */

/* Copies `some` columns of the step's matrix to an output if the caller wants it. */
static abut_status cut(const stepping *s, size_t from, size_t some, world_buffer to,
                       const void *asked)
{
  return asked && some ? LAUNCH(s->device, KERNEL_WORLD_CUT, s->count, 1, OF(s, WORLD_MATRIX),
                                ARG_INT(2 * sizes_of(s)->nv), ARG_INT(seed_width(sizes_of(s))),
                                ARG_INT(from), ARG_INT(some), OF(s, to), ARG_INT(s->count))
                       : ABUT_SUCCESS;
}

static abut_status put_matrices(const stepping *s)
{
  const abut_worlds_transition *t = s->call->transition;
  const world_sizes *n = sizes_of(s);
  const size_t nv = (size_t)n->nv, nu = (size_t)n->nu, links = (size_t)n->links;
  const size_t columns = (size_t)n->columns, at = 2 * nv + nu;
  TRY(LAUNCH(s->device, KERNEL_WORLD_TRANSITION, s->count, 1, TABLES(s), REALS(s),
             OF(s, integrated_v(s)), OF(s, WORLD_STAGES), OF(s, WORLD_JACOBIAN),
             ARG_INT(stages_of(s->call)), OF(s, WORLD_KEPT), OF(s, OUT_STATUS),
             OF(s, WORLD_TANGENT_WORK), OF(s, WORLD_MATRIX), ARG_INT(s->count)));
  TRY(*s->impacts ? impact_matrix(s) : ABUT_SUCCESS);
  TRY(cut(s, 0, 2 * nv, OUT_A, t->A));
  TRY(cut(s, 2 * nv, nu, OUT_B, t->B));
  TRY(cut(s, at, links, OUT_P_MASS, t->mass_scale));
  TRY(cut(s, at + links, columns, OUT_P_FRICTION, t->friction));
  TRY(cut(s, at + links + columns, columns, OUT_P_STIFFNESS, t->stiffness));
  return cut(s, at + links + 2 * columns, 3, OUT_P_GRAVITY, t->gravity);
}

abut_status tangent_launch(batch_on *on, size_t slot, chunk c)
{
  const steps_call *call = (const steps_call *)on->call;
  stepping s = stepping_of(on, slot, c);
  const size_t nv = (size_t)sizes_of(&s)->nv;
  int impacts = 0;
  s.keeps_impacts = true;
  s.impacts = &impacts;
  TRY(steps_start(&s));
  TRY(call->tangents ? start_tangent(&s) : ABUT_SUCCESS);
  for (size_t step = 0; step < call->worlds->steps; ++step) {
    TRY(differentiate_step(&s, step));
    TRY(call->tangents ? tangent_step(&s, step) : put_matrices(&s));
  }
  if (call->tangents) {
    TRY(put_tangent(&s, 0, OUT_Q_TANGENT, nv, 0, call->tangents->q_next));
    TRY(put_tangent(&s, nv, OUT_V_TANGENT, nv, 0, call->tangents->v_next));
  }
  return ABUT_SUCCESS;
}

/* ---- the calls ---- */

abut_worlds_tangents abut_default_worlds_tangents(void)
{
  return (abut_worlds_tangents){.cookie = COOKIE_TANGENTS};
}

abut_worlds_transition abut_default_worlds_transition(void)
{
  return (abut_worlds_transition){.cookie = COOKIE_TRANSITION};
}

abut_status check_tangents(const steps_call *c)
{
  if (c->tangents && c->tangents->cookie != COOKIE_TANGENTS) {
    return fail(ABUT_ERROR_ARGUMENT, "the tangents were not made by abut_default_worlds_tangents");
  }
  if (c->transition && c->transition->cookie != COOKIE_TRANSITION) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the transition was not made by abut_default_worlds_transition");
  }
  if (!c->tangents && !c->transition) {
    return fail(ABUT_ERROR_ARGUMENT, "derivatives need tangents or a transition; both are NULL");
  }
  if (c->transition && c->worlds->steps != 1) {
    return fail(ABUT_ERROR_ARGUMENT, "a transition needs exactly one step, not %zu",
                c->worlds->steps);
  }
  return ABUT_SUCCESS;
}

void add_tangents(steps_call *c)
{
  const abut_worlds_tangents *t = c->tangents;
  const abut_worlds_transition *m = c->transition;
  const abut_worlds *w = c->worlds;
  const size_t nv = (size_t)c->scene->constants.nv, nu = scene_control_count(&c->scene->def);
  const size_t kept = w->record ? w->steps / w->record : 0, columns = c->scene->def.column_count;
  const size_t links = c->scene->def.link_count;
  if (t) {
    const named_array all[] = {
      {"q tangent", IN_STATE_BAR, nv, t->q, NULL},
      {"v tangent", IN_ACCELERATION_BAR, nv, t->v, NULL},
      {"u tangent", IN_U_TANGENT, w->controls ? w->steps * nu : nu, t->u, NULL},
      {"mass_scale tangent", OUT_MASS_BAR, links, t->mass_scale, NULL},
      {"friction tangent", OUT_FRICTION_BAR, columns, t->friction, NULL},
      {"stiffness tangent", OUT_STIFFNESS_BAR, columns, t->stiffness, NULL},
      {"gravity tangent", OUT_GRAVITY_BAR, 3, t->gravity, NULL},
      {"q_next tangent", OUT_Q_TANGENT, nv, NULL, t->q_next},
      {"v_next tangent", OUT_V_TANGENT, nv, NULL, t->v_next},
      {"q_record tangent", OUT_Q_RECORD_TANGENT, kept * nv, NULL, t->q_record},
      {"v_record tangent", OUT_V_RECORD_TANGENT, kept * nv, NULL, t->v_record}};
    add_named(c, all, sizeof all / sizeof *all);
  } else {
    const named_array all[] = {
      {"A", OUT_A, 4 * nv * nv, NULL, m->A},
      {"B", OUT_B, 2 * nv * nu, NULL, m->B},
      {"matrix by mass_scale", OUT_P_MASS, 2 * nv * links, NULL, m->mass_scale},
      {"matrix by friction", OUT_P_FRICTION, 2 * nv * columns, NULL, m->friction},
      {"matrix by stiffness", OUT_P_STIFFNESS, 2 * nv * columns, NULL, m->stiffness},
      {"matrix by gravity", OUT_P_GRAVITY, 6 * nv, NULL, m->gravity}};
    add_named(c, all, sizeof all / sizeof *all);
  }
}
