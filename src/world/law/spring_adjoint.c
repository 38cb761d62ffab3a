/* Derivatives of steps with springs, and implicit steps, which use them
 * (docs/dev/spring-formulas.md, "Derivatives of worlds"). A pair depends on a multiplier y only
 * through the relative twist of its bodies under y, which is the cotangent of its wrench. */
#include "base/error.h"
#include "world/law/spring.h"

double spring_step(const stepping *s)
{
  return s->type->scene->def.timestep;
}

/* Writes the cotangents of pair i's wrenches: the twist under the multipliers if `basis` is -1,
 * else unit twist `basis`. */
static abut_status find_bars(const stepping *s, size_t i, int basis)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_BARS, world_blocks(s), 1, TABLES(s), BODIES(s),
                ARG_INT(i), OF(s, WORLD_MULTIPLIERS), ARG_INT(basis), OF(s, WORLD_SCRATCH),
                PAIR_OF(s, SPRING_WRENCHES_1_BAR), PAIR_OF(s, SPRING_WRENCHES_2_BAR),
                PAIR_OF(s, SPRING_DISTANCES_BAR), ARG_INT(s->count));
}

/* Adds the gradient of pair i with respect to poses and twists to its group's cotangents, in rows
 * of `width` numbers from `at` on; `adds`: also adds the gradient with respect to its six
 * parameters to OUT_SPRINGS_BAR. `ahead`: the wrench is that of an implicit step, W + h dW/dv x. */
static abut_status collect(const stepping *s, size_t i, world_buffer to, size_t width, size_t at,
                           bool adds, bool ahead)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_COLLECT, world_blocks(s), 1, TABLES(s), BODIES(s),
                PARAMETERS_OF(s), ARG_INT(i), PAIR_OF(s, SPRING_LAWS),
                ARG_INT(s->call->worlds->springs != NULL), PAIR_OF(s, SPRING_WRENCHES_1),
                PAIR_OF(s, SPRING_WRENCHES_1_BAR), PAIR_OF(s, SPRING_POSES_1_BAR),
                PAIR_OF(s, SPRING_POSES_2_BAR), PAIR_OF(s, SPRING_TWISTS_1_BAR),
                PAIR_OF(s, SPRING_TWISTS_2_BAR), PAIR_OF(s, SPRING_LAWS_BAR),
                PAIR_OF(s, SPRING_TANGENT_1), PAIR_OF(s, SPRING_TANGENT_2),
                PAIR_OF(s, SPRING_TANGENT_BARS_1), ARG_REAL(ahead ? spring_step(s) : 0.0),
                OF(s, WORLD_SCRATCH), OF(s, to), ARG_INT(width), ARG_INT(at), ARG_INT(adds),
                OF(s, OUT_STATUS), OF(s, OUT_SPRINGS_BAR), ARG_INT(s->count));
}

/* Computes the Jacobian of pair i. Callers begin with the last pair, whose wrench find_wrench has
 * left in the buffers. */
static abut_status find_slopes(const stepping *s, size_t i, spring_run *r)
{
  *r = run_of_pair(s, i);
  TRY(i + 1 == s->type->group_count ? ABUT_SUCCESS : find_wrench(s, i));
  return spring_run_slopes(r);
}

abut_status spring_multipliers(const stepping *s, bool with_basis, bool ahead)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_MULTIPLIERS, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, WORLD_Q), OF(s, WORLD_V), OF(s, OUT_STATUS), OF(s, WORLD_ACCELERATION_BAR),
                OF(s, WORLD_BASIS), ARG_INT(with_basis), OF(s, WORLD_IMPLICIT),
                ARG_REAL(ahead ? spring_step(s) : 0.0), OF(s, WORLD_SCRATCH),
                OF(s, WORLD_MULTIPLIERS), OF(s, WORLD_GROUP_ADJOINT), OF(s, WORLD_ROW_ADJOINT),
                ARG_INT(s->count));
}

abut_status spring_multipliers_of_basis(const stepping *s)
{
  return spring_multipliers(s, true, false);
}

abut_status spring_contacts_adjoint(const stepping *s)
{
  const size_t width = GROUP_ADJOINT * s->type->group_count;
  TRY(spring_multipliers(s, false, false));
  for (size_t i = s->type->group_count; i-- > 0;) {
    spring_run r;
    TRY(keep_pace(s));
    TRY(find_slopes(s, i, &r));
    TRY(find_bars(s, i, -1));
    TRY(spring_run_adjoint(&r));
    TRY(collect(s, i, WORLD_GROUP_ADJOINT, width, 0, s->call->gradients->springs != NULL, false));
  }
  return ABUT_SUCCESS;
}

abut_status spring_basis(const stepping *s)
{
  const size_t width = GROUP_ADJOINT * s->type->group_count;
  for (size_t i = s->type->group_count; i-- > 0;) {
    spring_run r;
    TRY(find_slopes(s, i, &r));
    for (int basis = 0; basis < 6; ++basis) {
      TRY(keep_pace(s));
      TRY(find_bars(s, i, basis));
      TRY(spring_run_adjoint(&r));
      TRY(collect(s, i, WORLD_BASIS, 6 * width, (size_t)basis * width, false, false));
    }
  }
  return ABUT_SUCCESS;
}

/* ---- implicit steps ---- */

/* Saves the cotangents of the state and of parameters of the current reverse pass, since the
 * Jacobian of an implicit step uses the same buffers. */
static abut_status keep(const stepping *s)
{
  const world_sizes *n = sizes_of(s);
  const size_t width = 2 * (size_t)n->nv;
  TRY(copy_columns(s, WORLD_STATE_BAR, width, 0, SPRING_KEPT_STATE, width, 0, width));
  return LAUNCH(s->device, KERNEL_WORLD_PARAMETERS_ADJOINT, world_blocks(s), 1,
                ARG_BUFFER(s->tables->head), OF(s, WORLD_ADJOINT), ARG_INT(0),
                ARG_INT(PARAMETERS(n->links, n->columns)), OF(s, SPRING_KEPT), ARG_INT(s->count));
}

/* Restores them. */
static abut_status unkeep(const stepping *s)
{
  const size_t width = 2 * (size_t)sizes_of(s)->nv;
  TRY(copy_columns(s, SPRING_KEPT_STATE, width, 0, WORLD_STATE_BAR, width, 0, width));
  return LAUNCH(s->device, KERNEL_WORLD_PARAMETERS_AGAIN, world_blocks(s), 1,
                ARG_BUFFER(s->tables->head), OF(s, SPRING_KEPT), OF(s, WORLD_ADJOINT),
                ARG_INT(s->count));
}

abut_status spring_implicit_by(const stepping *s,
                               abut_status (*jacobian)(const stepping *s, int stage, int stages))
{
  const bool keeps = s->call->gradients && s->again;
  TRY(keeps ? keep(s) : ABUT_SUCCESS);
  TRY(jacobian(s, 0, 1));
  TRY(keeps ? unkeep(s) : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_IMPLICIT, s->count, 1, ARG_BUFFER(s->tables->head),
                REALS(s), OF(s, WORLD_ACCELERATION), OF(s, WORLD_JACOBIAN),
                ARG_INT(seed_width(sizes_of(s))), OF(s, SPRING_MATRIX), OF(s, SPRING_PIVOTS),
                OF(s, WORLD_IMPLICIT), OF(s, OUT_STATUS), ARG_INT(s->count));
}

abut_status spring_implicit(const stepping *s)
{
  return spring_implicit_by(s, jacobian_by_twists);
}

abut_status spring_unsolve(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_UNSOLVE, s->count, 1, ARG_BUFFER(s->tables->head),
                OF(s, SPRING_MATRIX), OF(s, SPRING_PIVOTS), OF(s, OUT_STATUS),
                OF(s, WORLD_ACCELERATION_BAR), ARG_INT(s->count));
}

abut_status spring_bias_adjoint(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_BIAS, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, WORLD_V), OF(s, WORLD_IMPLICIT), OF(s, WORLD_MULTIPLIERS), PARAMETERS_OF(s),
                OF(s, WORLD_STAGE_V), OF(s, WORLD_SCRATCH), OF(s, WORLD_ADJOINT),
                ARG_INT(s->count));
}

/* Computes the sums and the Jacobian of pair i, each with its derivative with respect to velocities
 * along x, the acceleration of the implicit step. */
static abut_status find_tangent(const stepping *s, size_t i, spring_run *r)
{
  *r = run_of_pair(s, i);
  TRY(keep_pace(s));
  TRY(find_wrench(s, i));
  TRY(LAUNCH(s->device, KERNEL_WORLD_SPRING_TANGENT, world_blocks(s), 1, TABLES(s),
             OF(s, WORLD_IMPLICIT), OF(s, WORLD_SCRATCH), ARG_INT(s->count)));
  for (int side = 0; side < 2; ++side) {
    TRY(put_twist(s, i, side, sizes_of(s)->at_acceleration,
                  side ? SPRING_TANGENT_2 : SPRING_TANGENT_1));
  }
  return spring_run_tangent(r);
}

static abut_status copy_bars(const stepping *s, size_t from, size_t to)
{
  return LAUNCH(s->device, KERNEL_WORLD_COPY_COLUMNS, s->count, 1, PAIR_OF(s, from), ARG_INT(TWIST),
                ARG_INT(0), PAIR_OF(s, to), ARG_INT(TWIST), ARG_INT(0), ARG_INT(TWIST),
                ARG_INT(s->count));
}

/* Computes the gradient of the wrench W + h dW/dv x. The second term is linear in the twists of the
 * bodies under x. The cotangents of these twists are thus h times those of the bodies' own twists
 * for only W, which are computed first and kept for `collect`. */
static abut_status ahead_adjoint(const stepping *s, const spring_run *r)
{
  TRY(spring_run_ahead(r, 0.0));
  TRY(spring_run_adjoint(r));
  TRY(copy_bars(s, SPRING_TWISTS_1_BAR, SPRING_TANGENT_BARS_1));
  TRY(spring_run_ahead(r, spring_step(s)));
  return spring_run_adjoint(r);
}

/* Reverse pass through an implicit step, from the cotangent of x. With y = M^-1 times the result of
 * `unsolve`, it computes the gradient of y . (f + h df/dv x - M x) at fixed x and y. */
static abut_status implicit_contacts_adjoint(const stepping *s)
{
  const size_t width = GROUP_ADJOINT * s->type->group_count;
  TRY(spring_unsolve(s));
  TRY(spring_multipliers(s, false, true));
  TRY(spring_bias_adjoint(s));
  for (size_t i = s->type->group_count; i-- > 0;) {
    spring_run r;
    TRY(find_tangent(s, i, &r));
    TRY(find_bars(s, i, -1));
    TRY(ahead_adjoint(s, &r));
    TRY(collect(s, i, WORLD_GROUP_ADJOINT, width, 0, s->call->gradients->springs != NULL, true));
  }
  return tree_adjoint(s, WORLD_IMPLICIT);
}

/* An implicit step is always solved again, with its Jacobian and its matrix, so is_there does not
 * matter. */
abut_status spring_step_adjoint(const stepping *s, size_t step, bool is_there)
{
  if (!is_implicit(s->call)) {
    return explicit_step_adjoint(s, step, is_there);
  }
  TRY(solve_step(s, WORLD_Q, WORLD_V, WORLD_V));
  TRY(spring_implicit(s));
  TRY(begin_adjoint(s, step));
  return implicit_contacts_adjoint(s);
}

abut_status spring_implicit_jacobian(const stepping *s)
{
  const size_t width = GROUP_ADJOINT * s->type->group_count;
  const int nv = sizes_of(s)->nv;
  for (size_t i = s->type->group_count; i-- > 0;) {
    spring_run r;
    TRY(find_tangent(s, i, &r));
    for (int basis = 0; basis < 6; ++basis) {
      TRY(keep_pace(s));
      TRY(find_bars(s, i, basis));
      TRY(ahead_adjoint(s, &r));
      TRY(collect(s, i, WORLD_BASIS, 6 * width, (size_t)basis * width, false, true));
    }
  }
  for (int dof = 0; dof < nv; ++dof) {
    TRY(keep_pace(s));
    TRY(unit_cotangent(s, dof, 1));
    TRY(spring_unsolve(s));
    TRY(spring_multipliers(s, true, true));
    TRY(spring_bias_adjoint(s));
    TRY(tree_adjoint(s, WORLD_IMPLICIT));
    TRY(put_jacobian_row(s, 0, dof, 1));
  }
  return ABUT_SUCCESS;
}
