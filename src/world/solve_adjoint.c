/* Reverse pass through one solve (docs/dev/cone-formulas.md, section 10): from the cotangent of the
 * accelerations to contacts, through the manifold to link poses, and through the tree to the state,
 * controls and parameters. */
#include "base/error.h"
#include "contact/active.h"
#include "world/law/law.h"

size_t state_width(const world_sizes *n)
{
  return (size_t)n->nq + 2 * (size_t)n->nv;
}

void back_bytes(const steps_call *c, const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS])
{
  const size_t nq = (size_t)n->nq, nv = (size_t)n->nv;
  bytes[WORLD_Q] = nq * real;
  bytes[WORLD_V] = nv * real;
  bytes[WORLD_STATE_BAR] = 2 * nv * real;
  bytes[WORLD_ROW_ADJOINT] = ROW_ADJOINT * nv * real;
  bytes[WORLD_U_BAR] = (size_t)n->nu * real;
  bytes[WORLD_ACCELERATION_BAR] = bytes[WORLD_MULTIPLIERS] = nv * real;
  /* for springs; see pool_bytes */
  bytes[WORLD_GROUP_ADJOINT] = GROUP_ADJOINT * (size_t)n->groups * real;
  bytes[WORLD_ADJOINT] = (size_t)n->back_numbers * real;
  bytes[WORLD_GOOD] = sizeof(int);
  if (is_rk4(c)) {
    bytes[WORLD_STAGES] = stages_width(n) * real;
  }
}

abut_status read_state(const stepping *s, world_buffer from, size_t width, size_t at,
                       world_buffer q, world_buffer v, world_buffer w)
{
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  TRY(copy_columns(s, from, width, at, q, nq, 0, nq));
  TRY(copy_columns(s, from, width, at + nq, v, nv, 0, nv));
  return copy_columns(s, from, width, at + nq + nv, w, nv, 0, nv);
}

abut_status write_state(const stepping *s, world_buffer q, world_buffer v, world_buffer w,
                        world_buffer to, size_t width, size_t at)
{
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  TRY(copy_columns(s, q, nq, 0, to, width, at, nq));
  TRY(copy_columns(s, v, nv, 0, to, width, at + nq, nv));
  return copy_columns(s, w, nv, 0, to, width, at + nq + nv, nv);
}

size_t stages_width(const world_sizes *n)
{
  return 4 * ((size_t)n->nq + 3 * (size_t)n->nv);
}

abut_status keep_stage(const stepping *s, int stage)
{
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  const size_t width = stages_width(sizes_of(s)), at = (size_t)stage * (nq + 3 * nv);
  TRY(write_state(s, stage ? WORLD_STAGE_Q : OUT_Q, stage ? WORLD_STAGE_V : OUT_V,
                  WORLD_ACCELERATION, WORLD_STAGES, width, at));
  return copy_columns(s, stage ? WORLD_RATES : OUT_V, nv, 0, WORLD_STAGES, width, at + nq + 2 * nv,
                      nv);
}

abut_status keep_stages(const stepping *s)
{
  for (int i = 0; i < 4; ++i) {
    const world_buffer q = i ? WORLD_STAGE_Q : OUT_Q, v = i ? WORLD_STAGE_V : OUT_V;
    TRY(solve_step(s, q, v, i ? WORLD_ACCELERATION : OUT_W));
    TRY(keep_stage(s, i));
    TRY(step_stage(s, i));
  }
  return ABUT_SUCCESS;
}

/* Copies the cotangents of a segment's contacts from WORLD_BARS to the arrays of *c. */
static abut_status put_bars(const stepping *s, const pair_batch *w, int segment,
                            const contact_source *c)
{
  TRY(keep_pace(s));
  return LAUNCH(s->device, KERNEL_WORLD_CONTACT_BARS, w->rows.count, 1, BATCH_PAIRS(s, w),
                ARG_INT(segment), OF(s, WORLD_BARS), OF(s, WORLD_CONTACT_PLACES), SOURCE(c),
                ARG_INT(w->rows.count));
}

/* Turns the manifold's gradient with respect to the poses of a side's bodies into moments and
 * forces on their links. */
static abut_status link_poses_adjoint(const stepping *s, const pair_batch *w, int side,
                                      const group_rows *to)
{
  return LAUNCH(s->device, KERNEL_WORLD_POSES_ADJOINT, w->rows.count, 1, TABLES(s),
                OF(s, WORLD_SCRATCH), ARG_BUFFER(s->tables->bodies), BATCH_PAIRS(s, w),
                ARG_INT(side), BUFFER(&w->run, OF_SIDE(SCRATCH_GRADIENT_1, side)),
                ARG_BUFFER(to->groups), ARG_INT(to->at), ARG_INT(w->rows.count));
}

static abut_status manifold_adjoint(const stepping *s, const pair_batch *w, const void *user)
{
  const group_rows *to = user;
  for (int segment = 0; segment < SEGMENTS_MOST; ++segment) {
    const contact_source c = segment_bars(&w->run, segment);
    TRY(c.layout.count ? put_bars(s, w, segment, &c) : ABUT_SUCCESS);
  }
  TRY(w->run.wanted.cutoff > 0.0 ? run_active_reverse(&w->run, w->rows.count)
                                 : run_reverse(&w->run, w->rows.count));
  TRY(link_poses_adjoint(s, w, 0, to));
  return link_poses_adjoint(s, w, 1, to);
}

/* Copies the cotangents of a group's given contacts to the caller's arrays. check_gradients allows
 * this only for a single step, so nothing is summed. */
static abut_status given_adjoint(const stepping *s, const pair_batch *w, const void *user)
{
  (void)user;
  const abut_worlds_gradients *g = s->call->gradients;
  if (!g || (!g->p && !g->d && !g->n && !g->activity)) {
    return ABUT_SUCCESS;
  }
  contact_source c = given_source(s, w->rows.type, (int)slots_before(s->type, w->rows.type));
  c.p = world_buffer_of(s, OUT_P_BAR);
  c.d = world_buffer_of(s, OUT_D_BAR);
  c.n = world_buffer_of(s, OUT_N_BAR);
  c.activity = world_buffer_of(s, OUT_ACTIVITY_BAR);
  return put_bars(s, w, 0, &c);
}

/* Runs a pair batch's manifold again, without the search for deep overlaps, which is done on the
 * way forward. */
static abut_status manifold_again(const stepping *s, const pair_batch *w, const void *user)
{
  pair_batch again = *w;
  (void)user;
  again.run.wanted.middles = false;
  return run_pair_batch(s, &again);
}

/* find_contacts has run the launch sets in order, so the manifolds of the last one are still there.
 * It comes first here and need not run again. */
abut_status pair_batches_adjoint(const stepping *s, const group_rows *to, size_t times,
                                 pair_batch_pull pull)
{
  const bool given = s->call->worlds->contacts != NULL;
  const size_t count = slot_pairs_of(s)->launch_set_count;
  for (size_t i = count; i-- > 0;) {
    const pair_batch all = launch_set_pairs(s, i);
    TRY(given || i + 1 == count ? ABUT_SUCCESS : each_pair_batch(s, i, manifold_again, NULL));
    for (size_t number = 0; number < times; ++number) {
      const group_rows rows = {to->groups, to->at + number * slot_pairs_of(s)->count};
      TRY(pull(s, &all, number, &rows));
      TRY(each_pair_batch(s, i, given ? given_adjoint : manifold_adjoint, &rows));
    }
  }
  return ABUT_SUCCESS;
}

abut_status tree_adjoint(const stepping *s, world_buffer acceleration)
{
  const contact_law *law = law_of(s->call);
  TRY(law->tree_adjoint ? law->tree_adjoint(s) : ABUT_SUCCESS);
  TRY(LAUNCH(s->device, KERNEL_WORLD_TREE_ADJOINT_START, world_blocks(s), 1, TABLES(s), REALS(s),
             OF(s, WORLD_V), OF(s, acceleration), OF(s, WORLD_MULTIPLIERS), PARAMETERS_OF(s),
             OF(s, WORLD_ROW_ADJOINT), OF(s, WORLD_SCRATCH), OF(s, WORLD_ADJOINT),
             ARG_INT(s->count)));
  TRY(LAUNCH(s->device, KERNEL_WORLD_ACTIVE_PAIRS_ADJOINT, s->count, 1, TABLES(s), PARAMETERS_OF(s),
             OF(s, WORLD_SCRATCH), OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST),
             OF(s, WORLD_ACTIVE_PAIRS), ARG_INT(!finds_pairs(s->call)), OF(s, WORLD_GROUP_ADJOINT),
             OF(s, WORLD_ADJOINT), ARG_INT(s->count)));
  if (sizes_of(s)->equalities) {
    TRY(LAUNCH(s->device, KERNEL_WORLD_EQUALITIES_ADJOINT, world_blocks(s), 1, TABLES(s), REALS(s),
               OF(s, WORLD_Q), OF(s, WORLD_V), OF(s, acceleration), PARAMETERS_OF(s),
               OF(s, WORLD_SCRATCH), OF(s, WORLD_ADJOINT), ARG_INT(s->count)));
  }
  TRY(s->pulls_pushes && s->call->gradients->link_forces
        ? LAUNCH(s->device, KERNEL_WORLD_PUSHES_POSES, s->count, 1, TABLES(s), REALS(s),
                 OF(s, WORLD_SCRATCH), OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST),
                 OF(s, WORLD_ACTIVE_PAIRS), OF(s, WORLD_GOOD), OF(s, WORLD_GROUP_ADJOINT),
                 OF(s, IN_LINK_FORCES_BAR), OF(s, WORLD_ADJOINT), ARG_INT(s->count))
        : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_TREE_ADJOINT, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, WORLD_Q), OF(s, WORLD_V), OF(s, WORLD_U), PARAMETERS_OF(s),
                OF(s, WORLD_ROW_ADJOINT), OF(s, WORLD_SCRATCH), OF(s, WORLD_ADJOINT),
                OF(s, WORLD_STATE_BAR), OF(s, WORLD_U_BAR), ARG_INT(s->count));
}

group_rows group_rows_of(const stepping *s)
{
  return (group_rows){world_buffer_of(s, WORLD_GROUP_ADJOINT), 0};
}

abut_status solve_adjoint(const stepping *s)
{
  TRY(law_of(s->call)->contacts_adjoint(s));
  return tree_adjoint(s, WORLD_ACCELERATION);
}

/* ---- Jacobians ---- */

abut_status unit_cotangent(const stepping *s, int dof, int stages)
{
  return LAUNCH(s->device, KERNEL_WORLD_UNIT_ADJOINT, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, WORLD_ACCELERATION), ARG_INT(dof), ARG_INT(stages == 1), OF(s, WORLD_SCRATCH),
                OF(s, WORLD_ADJOINT), OF(s, WORLD_ACCELERATION_BAR), ARG_INT(s->count));
}

abut_status put_jacobian_row(const stepping *s, int stage, int dof, int stages)
{
  return LAUNCH(s->device, KERNEL_WORLD_JACOBIAN_ROW, world_blocks(s), 1,
                ARG_BUFFER(s->tables->head), OF(s, WORLD_STATE_BAR), OF(s, WORLD_U_BAR),
                OF(s, WORLD_ADJOINT), ARG_INT(stage), ARG_INT(dof), ARG_INT(stages),
                OF(s, WORLD_JACOBIAN), ARG_INT(s->count));
}

abut_status jacobian_of_basis(const stepping *s, int stage, int stages)
{
  const contact_law *law = law_of(s->call);
  const int nv = sizes_of(s)->nv;
  for (int dof = 0; dof < nv; ++dof) {
    TRY(keep_pace(s));
    TRY(unit_cotangent(s, dof, stages));
    TRY(law->multipliers_of_basis(s));
    TRY(tree_adjoint(s, WORLD_ACCELERATION));
    TRY(put_jacobian_row(s, stage, dof, stages));
  }
  return ABUT_SUCCESS;
}

abut_status jacobian_by_twists(const stepping *s, int stage, int stages)
{
  TRY(law_of(s->call)->basis(s));
  return jacobian_of_basis(s, stage, stages);
}

abut_status acceleration_jacobian(const stepping *s, int stage, int stages)
{
  const contact_law *law = law_of(s->call);
  return is_implicit(s->call) ? law->implicit_jacobian(s) : law->jacobian(s, stage, stages);
}
