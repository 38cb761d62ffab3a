/* Derivatives of steps with hard contacts, from the problem and the solution that `solve` has left
 * for the state in WORLD_Q and WORLD_V. Section numbers refer to docs/dev/lcp-formulas.md. */
#include "base/error.h"
#include "geometry/lcp.h"
#include "world/law/lcp.h"

/* Returns the classes that derivatives use: the classes of the solution, or the classes that
 * descent would choose (section 9). */
static world_buffer classes_of(const stepping *s)
{
  return (world_buffer)(s->other ? HARD_OTHER : HARD_CLASSES);
}

/* Computes S - 1 and D of collisions in time (section 8) and Q^+ (section 4) in WORLD_KEPT. If
 * `other` classes are tried, the first two are already there. */
static abut_status factor(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_FACTOR, s->count, 1, TABLES(s), REALS(s),
                OF(s, WORLD_V), OF(s, WORLD_U), FOUND(s), HARD(s), OF(s, HARD_A), OF(s, HARD_B),
                OF(s, HARD_MU), OF(s, HARD_BOX), OF(s, HARD_F), OF(s, classes_of(s)),
                OF(s, HARD_HOW), ARG_INT(!s->other), OF(s, HARD_PLACES), OF(s, WORLD_KEPT),
                OF(s, OUT_STATUS), OF(s, WORLD_GOOD), ARG_INT(s->count));
}

/* Computes HARD_EXTRA, the contribution of collisions in time to the cotangent of q, from the
 * cotangents of q' and v'. */
static abut_status elastic_adjoint(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_ELASTIC_ADJOINT, s->count, 1, TABLES(s), REALS(s),
                OF(s, WORLD_NEXT_V), OF(s, WORLD_STATE_BAR), OF(s, WORLD_KEPT),
                OF(s, WORLD_ACCELERATION_BAR), OF(s, HARD_EXTRA), ARG_INT(s->count));
}

/* Adds the contribution of collisions in time to the cotangents of moved links' controls. */
static abut_status add_moved(const stepping *s)
{
  const world_sizes *n = sizes_of(s);
  const size_t nv = (size_t)n->nv, nu = (size_t)n->nu, actuators = (size_t)n->actuators;
  const size_t moved = nu - actuators;
  return moved ? add_columns(s, HARD_EXTRA, nv + moved, nv, WORLD_U_BAR, nu, actuators, moved)
               : ABUT_SUCCESS;
}

/* Computes y = M^-1 P' b, x = Q^+' J~ M^-1 b / dt and WORLD_ROW_ADJOINT from b,
 * WORLD_ACCELERATION_BAR (section 6). */
static abut_status multipliers(const stepping *s, bool with_extra)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_MULTIPLIERS, s->count, 1, TABLES(s), REALS(s),
                FOUND(s), HARD(s), OF(s, HARD_MU), OF(s, HARD_F), OF(s, classes_of(s)),
                OF(s, HARD_HOW), OF(s, HARD_PLACES), OF(s, WORLD_KEPT), OF(s, WORLD_GOOD),
                OF(s, WORLD_ACCELERATION_BAR), OF(s, HARD_EXTRA), ARG_INT(with_extra),
                OF(s, WORLD_MULTIPLIERS), OF(s, WORLD_ROW_ADJOINT), ARG_INT(s->count));
}

/* Computes the cotangents of a pair batch's contacts and of their groups. */
static abut_status pull(const stepping *s, const pair_batch *w, size_t number, const group_rows *to)
{
  (void)number;
  return LAUNCH(s->device, KERNEL_WORLD_HARD_CONTACTS_ADJOINT, w->rows.count, 1, TABLES(s),
                REALS(s), OF(s, WORLD_V), OF(s, WORLD_ACCELERATION), FOUND(s), HARD(s),
                OF(s, HARD_F), OF(s, classes_of(s)), OF(s, HARD_PLACES), OF(s, WORLD_KEPT),
                OF(s, WORLD_GOOD), OF(s, WORLD_MULTIPLIERS), ARG_INT(w->rows.first),
                OF(s, WORLD_BARS), ARG_BUFFER(to->groups), ARG_INT(to->at), ARG_INT(w->rows.count));
}

abut_status lcp_tree_adjoint(const stepping *s)
{
  TRY(LAUNCH(s->device, KERNEL_WORLD_HARD_SHARES_START, world_blocks(s), 1, TABLES(s), REALS(s),
             PARAMETERS_OF(s), OF(s, WORLD_KEPT), OF(s, WORLD_SCRATCH), OF(s, WORLD_ADJOINT),
             ARG_INT(s->count)));
  TRY(LAUNCH(s->device, KERNEL_WORLD_HARD_SHARES_CONTACTS, s->count, 1, TABLES(s), REALS(s),
             FOUND(s), HARD(s), OF(s, HARD_PLACES), OF(s, WORLD_KEPT), OF(s, WORLD_GOOD),
             OF(s, WORLD_ADJOINT), ARG_INT(s->count)));
  return LAUNCH(s->device, KERNEL_WORLD_HARD_SHARES, world_blocks(s), 1, TABLES(s), OF(s, WORLD_V),
                OF(s, WORLD_SCRATCH), OF(s, WORLD_ADJOINT), ARG_INT(s->count));
}

/* ---- classes that descent would choose ---- */

/* Saves the cotangents at the start of a step's adjoint, or restores them for another try. */
static abut_status keep(const stepping *s, bool again)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_KEEP, world_blocks(s), 1, ARG_BUFFER(s->tables->head),
                ARG_INT(again), OF(s, WORLD_STATE_BAR), OF(s, WORLD_ADJOINT),
                OF(s, HARD_KEPT_ADJOINT), ARG_INT(s->count));
}

/* Computes HARD_OTHER, the classes that descent would choose. */
static abut_status open_classes(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_OPEN, s->count, 1, TABLES(s), REALS(s), FOUND(s),
                HARD(s), OF(s, WORLD_ACCELERATION_BAR), OF(s, HARD_CLASSES), OF(s, HARD_OTHER),
                ARG_INT(s->count));
}

/* After the pass by the solution's classes, saves the norm of its gradient. After the pass
 * with_other, compares: if the second gradient is larger, OUT_ESCAPED of the world is set;
 * otherwise HARD_OTHER gets the solution's classes. The last step is processed first and clears
 * OUT_ESCAPED. */
static abut_status keep_larger(const stepping *s, size_t step, bool with_other)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_LARGER, s->count, 1, ARG_BUFFER(s->tables->head),
                REALS(s), OF(s, WORLD_STATE_BAR), OF(s, WORLD_U_BAR), ARG_INT(with_other),
                ARG_INT(step + 1 == s->call->worlds->steps), OF(s, HARD_CLASSES), OF(s, HARD_OTHER),
                OF(s, HARD_KEPT_ADJOINT), OF(s, OUT_ESCAPED), ARG_INT(s->count));
}

/* Reverse pass through a step, in three passes. The first uses the solution's classes, and the
 * second the classes that descent would choose. The third uses in each world the classes with the
 * larger gradient, which the second has left in HARD_OTHER. */
static abut_status escape(const stepping *s, size_t step)
{
  stepping other = *s;
  other.other = true;
  TRY(keep(s, false));
  TRY(begin_adjoint(s, step));
  TRY(open_classes(s));
  TRY(solve_adjoint(s));
  TRY(keep_larger(s, step, false));
  for (int pass = 0; pass < 2; ++pass) {
    TRY(keep(s, true));
    TRY(begin_adjoint(s, step));
    TRY(factor(&other));
    TRY(solve_adjoint(&other));
    TRY(pass ? ABUT_SUCCESS : keep_larger(s, step, true));
  }
  return ABUT_SUCCESS;
}

/* Derivatives need the problem and its solution besides the tree. If these are gone, the step is
 * solved again from the same guess WORLD_W, so it finds the same solution even if there are
 * several. */
abut_status lcp_step_adjoint(const stepping *s, size_t step, bool is_there)
{
  TRY(is_there ? ABUT_SUCCESS : solve_step(s, WORLD_Q, WORLD_V, WORLD_W));
  TRY(factor(s));
  TRY(elastic_adjoint(s));
  if (is_escaping(s->call)) {
    TRY(escape(s, step));
  } else {
    TRY(begin_adjoint(s, step));
    TRY(solve_adjoint(s));
  }
  return add_moved(s);
}

/* `factor` has already run: the adjoint of the step's end comes first and needs its S and D of
 * bounces. */
abut_status lcp_contacts_adjoint(const stepping *s)
{
  const group_rows to = group_rows_of(s);
  TRY(multipliers(s, true));
  return pair_batches_adjoint(s, &to, 1, pull);
}

/* ---- Jacobians ---- */

/* Computes the multipliers if degree of freedom `dof` of the acceleration has a cotangent of 1. */
static abut_status unit_multipliers(const stepping *s, size_t dof)
{
  TRY(keep_pace(s));
  TRY(unit_cotangent(s, (int)dof, 1));
  return multipliers(s, false);
}

static abut_status jacobian_row(const stepping *s, size_t dof)
{
  TRY(tree_adjoint(s, WORLD_ACCELERATION));
  return put_jacobian_row(s, 0, (int)dof, 1);
}

static abut_status pull_unit(const stepping *s, const pair_batch *w, size_t number,
                             const group_rows *to)
{
  TRY(unit_multipliers(s, number));
  return pull(s, w, number, to);
}

/* Fills WORLD_BASIS by one reverse pass through the manifold per pair batch and degree of freedom.
 * Unit twists of groups do not suffice, since hard contacts also depend on x, one number per row.
 */
static abut_status basis(const stepping *s)
{
  const group_rows to = {world_buffer_of(s, WORLD_BASIS), 0};
  return pair_batches_adjoint(s, &to, (size_t)sizes_of(s)->nv, pull_unit);
}

/* Pair batches share the manifold's memory, so each goes back for all rows before the next one
 * runs. The rows are then computed from WORLD_BASIS. */
static abut_status jacobian_of_pair_batches(const stepping *s)
{
  const size_t nv = (size_t)sizes_of(s)->nv, row = GROUP_ADJOINT * device_real_bytes(s->device);
  const size_t bytes = slot_pairs_of(s)->count * row;
  TRY(basis(s));
  for (size_t dof = 0; dof < nv; ++dof) {
    TRY(unit_multipliers(s, dof));
    TRY(buffer_copy_rows(world_buffer_of(s, WORLD_BASIS), dof * bytes, bytes, bytes, 1,
                         world_buffer_of(s, WORLD_GROUP_ADJOINT), 0, bytes));
    TRY(jacobian_row(s, dof));
  }
  return ABUT_SUCCESS;
}

abut_status lcp_jacobian(const stepping *s, int stage, int stages)
{
  (void)stage;
  (void)stages;
  const group_rows to = group_rows_of(s);
  const size_t nv = (size_t)sizes_of(s)->nv;
  TRY(factor(s));
  if (!s->call->worlds->contacts && slot_pairs_of(s)->launch_set_count > 1) {
    return jacobian_of_pair_batches(s);
  }
  for (size_t dof = 0; dof < nv; ++dof) {
    TRY(unit_multipliers(s, dof));
    TRY(pair_batches_adjoint(s, &to, 1, pull));
    TRY(jacobian_row(s, dof));
  }
  return ABUT_SUCCESS;
}
