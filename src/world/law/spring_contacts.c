/* Springs at the manifold's contacts, for scenes without clouds (docs/dev/spring-formulas.md, "At
 * contacts"). The contacts of a pair share one spring. Their cotangents go back through the
 * manifold, as for other laws. */
#include "base/error.h"
#include "engine/self_test/runner.h"
#include "world/law/spring.h"

/* Launch arguments: the tables, with parameters and the springs' numbers. */
#define SPRINGS(s)                                          \
  TABLES(s), REALS(s), PARAMETERS_OF(s), OF(s, IN_SPRINGS), \
    ARG_INT(s->call->worlds->springs != NULL)
#define CONTACTS(s) OF(s, WORLD_SCRATCH), OF(s, WORLD_CONTACTS), OF(s, WORLD_PAIRS)

/* ---- tables ---- */

static void inform(const loaded_scene *s, abut_scene_info *info)
{
  info->springs += s->def.listed_count;
  info->by_springs = true;
  scene_inform_of_pairs(s, info);
}

/* GROUP_MARGIN, which shifts distances, is only for soft contacts. */
static void put(const scene_def *s, const scene_constants *c, const contact_group *groups,
                scene_tables *m)
{
  spring_put(s, c, groups, m);
  for (int i = 0; i < m->sizes.groups; ++i) {
    const scene_pair *p = &s->pairs[groups[i].pair];
    double *group = tables_group(m, i);
    group[GROUP_MARGIN] = 0.0;
    group[GROUP_DEPTH] = p->smoothing.penetration;
    group[GROUP_SMOOTH] = p->dissipation == ABUT_DISSIPATION_SMOOTH;
  }
}

static abut_status load(loaded_scene *s, abut_context c, const scene_bodies *bodies)
{
  TRY(scene_load_pairs(s, c, bodies));
  return scene_find_sinking(s);
}

/* ---- calls ---- */

static abut_status test(const steps_call *c, size_t place)
{
  for (int adjoint = 0; adjoint < (is_differentiated(c) || is_implicit(c) ? 2 : 1); ++adjoint) {
    TRY(test_member(c->base.context, place, MODULE_WORLD, PROGRAM_PLAIN, adjoint,
                    SELF_TEST_SPRING_CONTACTS));
  }
  return test_manifolds(c, place);
}

static abut_status bytes(batch_on *on, size_t slot, size_t group)
{
  const steps_on *at = on->user;
  TRY(manifold_bytes(on, slot, group));
  spring_implicit_bytes((const steps_call *)on->call, &at->tables[group]->sizes,
                        device_real_bytes(on->device), on->bytes[POOL_OF_WORLDS]);
  return ABUT_SUCCESS;
}

/* ---- steps ---- */

/* Adds the wrenches of all world pairs to the forces on links, at world_sizes.at_force. */
static abut_status find_wrenches(const stepping *s)
{
  const size_t pairs = slot_pairs_of(s)->count;
  TRY(pairs ? LAUNCH(s->device, KERNEL_WORLD_SPRING_CONTACTS, pairs, 1, SPRINGS(s), CONTACTS(s),
                     OF(s, WORLD_ACTIVE_SUMS), ARG_INT(pairs))
            : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_LINK_FORCES, s->count, 1, TABLES(s),
                OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST), OF(s, WORLD_ACTIVE_PAIRS),
                OF(s, WORLD_ACTIVE_SUMS), OF(s, WORLD_SCRATCH), ARG_INT(s->count));
}

static abut_status solve(const stepping *s, world_buffer q, world_buffer v, world_buffer start)
{
  TRY(sizes_of(s)->groups ? find_wrenches(s) : ABUT_SUCCESS);
  return spring_solve(s, q, v, start);
}

static abut_status put_forces(const stepping *s, size_t width)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_SLOTS, s->count, 1, SPRINGS(s), CONTACTS(s),
                OF(s, WORLD_ACTIVE_LIST), OF(s, WORLD_ACTIVE_PAIRS), OF(s, WORLD_SLOTS),
                OF(s, OUT_STATUS), ARG_INT(width), ARG_INT(s->call->in_world),
                OF(s, OUT_MULTIPLIERS), ARG_INT(s->count));
}

static abut_status forces(const stepping *s)
{
  return forces_of_pairs(s, put_forces);
}

static abut_status pushes(const stepping *s)
{
  const size_t pairs = slot_pairs_of(s)->count;
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_PUSHES, pairs, 1, SPRINGS(s), CONTACTS(s),
                OF(s, WORLD_PUSHES), ARG_INT(pairs));
}

/* ---- derivatives ---- */

/* Computes the cotangents of the contacts of `count` world pairs from `first` on, and of their
 * groups. The groups' relative twists are those under the multipliers if `basis` is -1, else unit
 * twist `basis`. `ahead`: differentiates the wrench of an implicit step. */
static abut_status pull(const stepping *s, size_t first, size_t count, int basis, bool ahead,
                        const group_rows *to)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_CONTACTS_ADJOINT, count, 1, SPRINGS(s), CONTACTS(s),
                OF(s, WORLD_MULTIPLIERS), ARG_INT(basis), OF(s, WORLD_IMPLICIT),
                ARG_REAL(ahead ? spring_step(s) : 0.0), ARG_INT(first), OF(s, WORLD_BARS),
                OF(s, WORLD_ACTIVE_SUMS), ARG_BUFFER(to->groups), ARG_INT(to->at), ARG_INT(count));
}

static abut_status pull_multipliers(const stepping *s, const pair_batch *w, size_t number,
                                    const group_rows *to)
{
  (void)number;
  return pull(s, w->rows.first, w->rows.count, -1, false, to);
}

static abut_status pull_multipliers_ahead(const stepping *s, const pair_batch *w, size_t number,
                                          const group_rows *to)
{
  (void)number;
  return pull(s, w->rows.first, w->rows.count, -1, true, to);
}

static abut_status pull_twist(const stepping *s, const pair_batch *w, size_t number,
                              const group_rows *to)
{
  return pull(s, w->rows.first, w->rows.count, (int)number, false, to);
}

static abut_status pull_twist_ahead(const stepping *s, const pair_batch *w, size_t number,
                                    const group_rows *to)
{
  return pull(s, w->rows.first, w->rows.count, (int)number, true, to);
}

/* Adds the cotangents of the springs' numbers, which `pull` has computed for all world pairs, if
 * they are wanted. */
static abut_status add_numbers(const stepping *s)
{
  return s->call->gradients && s->call->gradients->springs
           ? LAUNCH(s->device, KERNEL_WORLD_SPRING_NUMBERS, s->count, 1, TABLES(s),
                    OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST), OF(s, WORLD_ACTIVE_PAIRS),
                    OF(s, WORLD_ACTIVE_SUMS), OF(s, OUT_STATUS), OF(s, OUT_SPRINGS_BAR),
                    ARG_INT(s->count))
           : ABUT_SUCCESS;
}

static abut_status contacts_adjoint(const stepping *s)
{
  const group_rows to = group_rows_of(s);
  TRY(spring_multipliers(s, false, false));
  TRY(pair_batches_adjoint(s, &to, 1, pull_multipliers));
  return add_numbers(s);
}

/* Contacts depend on the multipliers only through the relative twist of their group's links, and
 * linearly, as for the law "cone". */
static abut_status basis(const stepping *s)
{
  const group_rows to = {world_buffer_of(s, WORLD_BASIS), 0};
  return pair_batches_adjoint(s, &to, 6, pull_twist);
}

static abut_status multipliers_and_basis(const stepping *s, bool ahead)
{
  const size_t pairs = slot_pairs_of(s)->count;
  TRY(spring_multipliers(s, false, ahead));
  return pairs ? LAUNCH(s->device, KERNEL_WORLD_SPRING_BASIS, pairs, 1, TABLES(s),
                        OF(s, WORLD_SCRATCH), OF(s, WORLD_PAIRS), OF(s, WORLD_MULTIPLIERS),
                        OF(s, WORLD_BASIS), OF(s, WORLD_GROUP_ADJOINT), ARG_INT(pairs))
               : ABUT_SUCCESS;
}

static abut_status multipliers_of_basis(const stepping *s)
{
  return multipliers_and_basis(s, false);
}

/* ---- implicit steps ---- */

/* The Jacobian only with respect to velocities. These do not move contacts, so the manifold need
 * not go back. */
static abut_status jacobian_by_velocities(const stepping *s, int stage, int stages)
{
  const size_t pairs = slot_pairs_of(s)->count;
  for (size_t twist = 0; twist < 6 && pairs; ++twist) {
    const group_rows to = {world_buffer_of(s, WORLD_BASIS), twist * pairs};
    TRY(keep_pace(s));
    TRY(pull(s, 0, pairs, (int)twist, false, &to));
  }
  return jacobian_of_basis(s, stage, stages);
}

static abut_status implicit(const stepping *s)
{
  return spring_implicit_by(s, jacobian_by_velocities);
}

/* As with clouds, an implicit step is always solved again. */
static abut_status step_adjoint(const stepping *s, size_t step, bool is_there)
{
  const group_rows to = group_rows_of(s);
  if (!is_implicit(s->call)) {
    return explicit_step_adjoint(s, step, is_there);
  }
  TRY(solve_step(s, WORLD_Q, WORLD_V, WORLD_V));
  TRY(implicit(s));
  TRY(begin_adjoint(s, step));
  TRY(spring_unsolve(s));
  TRY(spring_multipliers(s, false, true));
  TRY(spring_bias_adjoint(s));
  TRY(pair_batches_adjoint(s, &to, 1, pull_multipliers_ahead));
  TRY(add_numbers(s));
  return tree_adjoint(s, WORLD_IMPLICIT);
}

static abut_status implicit_jacobian(const stepping *s)
{
  const group_rows to = {world_buffer_of(s, WORLD_BASIS), 0};
  const int nv = sizes_of(s)->nv;
  TRY(pair_batches_adjoint(s, &to, 6, pull_twist_ahead));
  for (int dof = 0; dof < nv; ++dof) {
    TRY(keep_pace(s));
    TRY(unit_cotangent(s, dof, 1));
    TRY(spring_unsolve(s));
    TRY(multipliers_and_basis(s, true));
    TRY(spring_bias_adjoint(s));
    TRY(tree_adjoint(s, WORLD_IMPLICIT));
    TRY(put_jacobian_row(s, 0, dof, 1));
  }
  return ABUT_SUCCESS;
}

const contact_law spring_contacts_law = {
  .word = "spring",
  .integrators = INTEGRATOR_BIT(INTEGRATOR_EULER) | INTEGRATOR_BIT(INTEGRATOR_RK4) |
                 INTEGRATOR_BIT(INTEGRATOR_IMPLICIT),
  .usual = INTEGRATOR_IMPLICIT,
  .dofs_most = DENSE_DOFS_MOST,
  .dampers_within = true,
  .read_pair = spring_read_pair,
  .settle = spring_settle,
  .settle_pair = spring_settle_pair,
  .drawable = true,
  .numbers = SPRING_NUMBERS,
  .load = load,
  .load_body = spring_load_body,
  .measure = extent_of_body,
  .inform = inform,
  .sizes = spring_sizes,
  .put = put,
  .check = spring_check,
  .test = test,
  .bytes = bytes,
  .slots = slots_of_pairs,
  .check_step = spring_check_step,
  .find_contacts = find_contacts_of_pairs,
  .solve = solve,
  .forces = forces,
  .pushes = pushes,
  .inverse = spring_inverse,
  .implicit = implicit,
  .watches_energy = true,
  .step_adjoint = step_adjoint,
  .contacts_adjoint = contacts_adjoint,
  .jacobian = jacobian_by_twists,
  .implicit_jacobian = implicit_jacobian,
  .basis = basis,
  .multipliers_of_basis = multipliers_of_basis,
};
