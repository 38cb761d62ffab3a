/* Soft contacts in friction cones, and their derivatives, on a device. Section numbers refer to
 * docs/dev/cone-formulas.md. */
#include "base/error.h"
#include "world/law/law.h"
#include "io/body_load.h"
#include <math.h>
#include <string.h>

/* ---- a scene's file ---- */

/* Smaller frictions are raised to this: a cone without friction has no interior. */
#define FRICTION_LEAST 1e-5

static abut_status settle(const reader *r, const json_at *root)
{
  return law_refuse_integrator(
    r, root, INTEGRATOR_IMPLICIT,
    "only springs (\"spring\") support \"implicit\"; use \"euler\" or \"rk4\" with \"cone\"");
}

static abut_status settle_pair(const reader *r, const json_at *element, scene_pair *p)
{
  (void)r;
  (void)element;
  p->friction = fmax(p->friction, FRICTION_LEAST);
  return ABUT_SUCCESS;
}

/* ---- tables ---- */

static void own_sizes(const scene_def *s, size_t slots, world_sizes *out)
{
  (void)slots;
  out->exact = s->exact_diagonal;
  out->pyramidal = s->pyramidal;
  out->damped = tables_is_damped(s);
  out->active_reals = ACTIVE_REALS;
  out->newton = true;
}

/* Two links are weak if their inverse weights sum to less than this share of 1 / mass. Inverse
 * weights describe centres of mass, but contact points may move much more easily. A wheel that
 * turns about its centre has an inverse weight of 0, so its contacts would be infinitely stiff
 * (section 8, guards). */
#define WEAK_WEIGHT 1e-3

/* Whether two links are weak, relative to the mass of the lighter one. */
static bool is_weak(const scene_constants *c, const int link[2])
{
  double lightest = 0.0;
  for (int k = 0; k < 2; ++k) {
    if (link[k] >= 0 && c->masses[link[k]].mass > 0.0) {
      lightest = fmax(lightest, 1.0 / c->masses[link[k]].mass);
    }
  }
  return tables_weight(c, link) < WEAK_WEIGHT * lightest;
}

/* Exact diagonals use mobilities, and contacts of weak links are compared with them. */
static bool needs_mobility(const scene_def *s, const scene_constants *c,
                           const contact_group *groups, size_t count)
{
  bool any = s->exact_diagonal;
  for (size_t i = 0; i < count; ++i) {
    any = any || is_weak(c, groups[i].link);
  }
  return any;
}

/* Weight of a capsule's transverse axes, which orient its pyramids when it stands on its end. */
#define CAPSULE_ACROSS (1.0 / 512.0)

/* Returns the body of a side of a group; NULL for given contacts, if no body of the pair is on that
 * link. */
static const scene_body *body_of(const scene_def *s, const contact_group *g, int side)
{
  const scene_pair *p = &s->pairs[g->pair];
  for (int k = 0; k < 2 && g->link[side] != WORLD; ++k) {
    if (p->link[k] == g->link[side]) {
      return scene_side(s, p, k);
    }
  }
  return NULL;
}

/* Ranks a body as the frame of friction pyramids. A capsule has a direction of its own, as in
 * MuJoCo; a rolling ball has none. */
static int rank_of(const scene_def *s, const scene_body *b, int link)
{
  const bool still = link == WORLD || !joint_dofs(s->links[scene_root(s, (size_t)link)].joint.type);
  return b && b->shape == SHAPE_CAPSULE ? 3 : still ? 2 : b && b->shape == SHAPE_SPHERE ? 0 : 1;
}

/* Finds the body whose axes a group's pyramids follow (section 7). */
static void put_axes(const scene_def *s, const contact_group *g, int *ints, double *row)
{
  static const double none[4] = {1.0, 0.0, 0.0, 0.0};
  const scene_body *b[2] = {body_of(s, g, 0), body_of(s, g, 1)};
  const int side = rank_of(s, b[1], g->link[1]) > rank_of(s, b[0], g->link[0]);
  const bool capsule = b[side] && b[side]->shape == SHAPE_CAPSULE;
  ints[GROUP_TURNS] = side;
  memcpy(row + GROUP_AXES, b[side] ? b[side]->quaternion : none, sizeof none);
  row[GROUP_ACROSS] = capsule ? CAPSULE_ACROSS : 1.0;
}

static void put(const scene_def *s, const scene_constants *c, const contact_group *groups,
                scene_tables *m)
{
  for (int i = 0; i < m->sizes.groups; ++i) {
    tables_group_ints(m, i)[GROUP_WEAK] = is_weak(c, groups[i].link);
    put_axes(s, &groups[i], tables_group_ints(m, i), tables_group(m, i));
    tables_group(m, i)[GROUP_MIDDLE] = groups[i].given ? 0.0
                                                       : 0.5 * s->pairs[groups[i].pair].margin;
  }
}

/* ---- steps ---- */

/* Whether J' lambda is needed: by the caller, or by an Euler step with damping, which solves (M + h
 * damping) a = f - c + J' lambda (section 11). */
static bool needs_constraint_force(const stepping *s)
{
  return sizes_of(s)->damped || s->call->worlds->constraint;
}

static abut_status bytes(batch_on *on, size_t slot, size_t group)
{
  const steps_on *at = on->user;
  const size_t trees = (size_t)at->tables[group]->sizes.trees;
  on->bytes[POOL_OF_WORLDS][WORLD_ORDER] = ORDER_INTS(trees) * sizeof(int);
  /* a block has at least one world */
  on->bytes[POOL_OF_WORLDS][WORLD_ORDER_SUMS] = 2 * sizeof(int);
  return manifold_bytes(on, slot, group);
}

/* Allocates the panels of all worlds in the pool, once their orders are known. The read has waited
 * for all kernels that use the pool, so the pool may grow. */
static abut_status grow_panels(const stepping *s)
{
  const size_t blocks = (s->count + COUNT_BLOCK - 1) / COUNT_BLOCK;
  int units;
  TRY(LAUNCH(s->device, KERNEL_WORLD_ORDER_SUMS, blocks, 1, ARG_BUFFER(s->tables->head),
             OF(s, WORLD_ORDER), OF(s, WORLD_ORDER_SUMS), ARG_INT(s->count)));
  TRY(LAUNCH(s->device, KERNEL_WORLD_ORDER_TOTALS, 1, 1, OF(s, WORLD_ORDER_SUMS), ARG_INT(blocks)));
  TRY(
    buffer_read(world_buffer_of(s, WORLD_ORDER_SUMS), blocks * sizeof(int), sizeof units, &units));
  if (units < 0) {
    return fail(ABUT_ERROR_MEMORY,
                "the factors of %zu worlds have too many numbers for the kernels", s->count);
  }
  return buffer_pool_prepare(s->on->memory[s->slot][0].pool, s->device, PANEL_POOL,
                             (size_t)units * PANEL_UNIT * device_real_bytes(s->device));
}

/* Finds islands and orders of elimination for the contacts of the last step_tree. */
static abut_status find_order(const stepping *s)
{
  TRY(LAUNCH(s->device, KERNEL_WORLD_ORDER, s->count, 1, TABLES(s), OF(s, WORLD_PAIRS),
             OF(s, WORLD_ACTIVE_LIST), OF(s, WORLD_ACTIVE_PAIRS), OF(s, WORLD_ORDER),
             ARG_INT(s->count)));
  TRY(counts_work(s) ? count_islands_of(s) : ABUT_SUCCESS);
  return sizes_of(s)->pooled ? grow_panels(s) : ABUT_SUCCESS;
}

/* Arguments of factorizing kernels: the orders, and the pool. Without a pool another buffer takes
 * its place. */
#define ORDER_OF(s)                                                                            \
  OF(s, WORLD_ORDER), OF(s, WORLD_ORDER_SUMS),                                                 \
    ARG_BUFFER(sizes_of(s)->pooled ? memory_buffer(&(s)->on->memory[(s)->slot][0], PANEL_POOL) \
                                   : world_buffer_of(s, WORLD_WORK))

static abut_status solve(const stepping *s, world_buffer q, world_buffer v, world_buffer start)
{
  TRY(sizes_of(s)->groups || sizes_of(s)->rows ? find_order(s) : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_SOLVE, s->count, 1, TABLES(s), REALS(s), OF(s, q), OF(s, v),
                OF(s, start), PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), OF(s, WORLD_SINGULARS),
                ACTIVE_PAIRS(s), ORDER_OF(s), OF(s, WORLD_WORK), OF(s, WORLD_ACTIVE_SUMS),
                OF(s, WORLD_ACCELERATION), ARG_INT(needs_constraint_force(s)),
                OF(s, WORLD_CONSTRAINT_FORCE), OF(s, s->again ? WORLD_ITERATIONS : OUT_ITERATIONS),
                OF(s, OUT_STATUS), ARG_INT(s->count));
}

static abut_status put_forces(const stepping *s, size_t width)
{
  return LAUNCH(s->device, KERNEL_WORLD_FORCES, s->count, 1, TABLES(s), REALS(s), PARAMETERS_OF(s),
                OF(s, WORLD_SCRATCH), ACTIVE_PAIRS(s), OF(s, WORLD_SLOTS), OF(s, WORLD_WORK),
                OF(s, WORLD_ACCELERATION), OF(s, OUT_STATUS), ARG_INT(width),
                ARG_INT(s->call->in_world), OF(s, OUT_MULTIPLIERS), ARG_INT(s->count));
}

static abut_status forces(const stepping *s)
{
  return forces_of_pairs(s, put_forces);
}

static abut_status pushes(const stepping *s)
{
  const size_t pairs = slot_pairs_of(s)->count;
  return LAUNCH(s->device, KERNEL_WORLD_PAIR_PUSHES, pairs, 1, TABLES(s), REALS(s),
                PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), ACTIVE_PAIRS(s), OF(s, WORLD_WORK),
                OF(s, WORLD_ACCELERATION), OF(s, WORLD_PUSHES), ARG_INT(pairs));
}

/* ---- derivatives ---- */

/* Computes the factor of the Hessian H at the acceleration in WORLD_WORK (section 10). */
static abut_status factor(const stepping *s)
{
  TRY(find_order(s));
  return LAUNCH(s->device, KERNEL_WORLD_FACTOR, s->count, 1, TABLES(s), REALS(s), OF(s, WORLD_Q),
                OF(s, WORLD_V), OF(s, WORLD_ACCELERATION), PARAMETERS_OF(s), OF(s, WORLD_SCRATCH),
                ACTIVE_PAIRS(s), ORDER_OF(s), OF(s, OUT_STATUS), OF(s, WORLD_WORK),
                OF(s, WORLD_ACTIVE_SUMS), OF(s, WORLD_GOOD), ARG_INT(s->count));
}

/* Computes y = H^-1 b and the contributions of limits and friction losses to it; with_basis: also
 * WORLD_GROUP_ADJOINT, as a combination of WORLD_BASIS. */
static abut_status multipliers(const stepping *s, bool with_basis)
{
  return LAUNCH(s->device, KERNEL_WORLD_MULTIPLIERS, s->count, 1, TABLES(s), REALS(s),
                OF(s, WORLD_Q), PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), ACTIVE_PAIRS(s),
                ORDER_OF(s), OF(s, WORLD_GOOD), OF(s, WORLD_ACCELERATION_BAR), OF(s, WORLD_BASIS),
                ARG_INT(with_basis), ARG_INT(slot_pairs_of(s)->count), OF(s, WORLD_WORK),
                OF(s, WORLD_MULTIPLIERS), OF(s, WORLD_GROUP_ADJOINT), OF(s, WORLD_ROW_ADJOINT),
                ARG_INT(s->count));
}

#define BY_MULTIPLIERS (-1)
#define BY_PUSHES (-2)

/* Computes the cotangents of the contacts of `count` world pairs from `first` on, and of their
 * groups. `basis` selects the groups' relative twists. BY_MULTIPLIERS: the twists under the
 * multipliers, plus the cotangents of contact forces, if any. BY_PUSHES: only these cotangents.
 * Otherwise: the unit twist of this number. */
static abut_status pull(const stepping *s, size_t first, size_t count, int basis,
                        const group_rows *to)
{
  const abut_worlds_gradients *g = s->pulls_pushes ? s->call->gradients : NULL;
  return LAUNCH(s->device, KERNEL_WORLD_CONTACTS_ADJOINT, count, 1, TABLES(s), REALS(s),
                PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), ACTIVE_PAIRS(s), OF(s, WORLD_MULTIPLIERS),
                ARG_INT(basis), ARG_INT(g && g->link_forces), OF(s, IN_LINK_FORCES_BAR),
                ARG_INT(g && g->pair_forces), OF(s, IN_PAIR_FORCES_BAR), OF(s, WORLD_GOOD),
                ARG_INT(first), OF(s, WORLD_WORK), OF(s, WORLD_BARS), ARG_BUFFER(to->groups),
                ARG_INT(to->at), ARG_INT(count));
}

static abut_status pull_multipliers(const stepping *s, const pair_batch *w, size_t number,
                                    const group_rows *to)
{
  (void)number;
  return pull(s, w->rows.first, w->rows.count, BY_MULTIPLIERS, to);
}

/* Adds the contribution of the cotangents of contact forces to the cotangent of the acceleration.
 */
static abut_status pull_pushes(const stepping *s)
{
  const group_rows to = group_rows_of(s);
  const size_t pairs = slot_pairs_of(s)->count;
  TRY(pairs ? pull(s, 0, pairs, BY_PUSHES, &to) : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_PUSHES_ACCELERATION, s->count, 1, TABLES(s), REALS(s),
                PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), ACTIVE_PAIRS(s), OF(s, WORLD_WORK),
                OF(s, WORLD_GOOD), OF(s, WORLD_GROUP_ADJOINT), OF(s, WORLD_ACCELERATION_BAR),
                ARG_INT(s->count));
}

static abut_status contacts_adjoint(const stepping *s)
{
  const group_rows to = group_rows_of(s);
  TRY(factor(s));
  TRY(s->pulls_pushes ? pull_pushes(s) : ABUT_SUCCESS);
  TRY(multipliers(s, false));
  return pair_batches_adjoint(s, &to, 1, pull_multipliers);
}

static abut_status pull_twist(const stepping *s, const pair_batch *w, size_t number,
                              const group_rows *to)
{
  return pull(s, w->rows.first, w->rows.count, (int)number, to);
}

/* Contacts depend on the multipliers only through the relative twist of their group's links, and
 * linearly. The cotangents for any multipliers are thus combinations of those of the six unit
 * twists, which are computed here. */
static abut_status basis(const stepping *s)
{
  const group_rows to = {world_buffer_of(s, WORLD_BASIS), 0};
  TRY(factor(s));
  return pair_batches_adjoint(s, &to, 6, pull_twist);
}

static abut_status multipliers_of_basis(const stepping *s)
{
  return multipliers(s, true);
}

const contact_law cone_law = {
  .word = "cone",
  .integrators = INTEGRATOR_BIT(INTEGRATOR_EULER) | INTEGRATOR_BIT(INTEGRATOR_RK4),
  .usual = INTEGRATOR_EULER,
  .dofs_most = SCENE_DOFS_MOST,
  .dampers_within = true,
  .margins = true,
  .takes_equalities = true,
  .takes_capacity = true,
  .settle = settle,
  .settle_pair = settle_pair,
  .cuts = true,
  .drawable = true,
  .load = scene_load_pairs,
  .load_body = body_load,
  .measure = extent_of_body,
  .inform = scene_inform_of_pairs,
  .sizes = own_sizes,
  .needs_mobility = needs_mobility,
  .put = put,
  .test = test_manifolds,
  .bytes = bytes,
  .slots = slots_of_pairs,
  .find_contacts = find_contacts_of_pairs,
  .solve = solve,
  .forces = forces,
  .pushes = pushes,
  .pulls_pushes = true,
  .step_adjoint = explicit_step_adjoint,
  .contacts_adjoint = contacts_adjoint,
  .jacobian = jacobian_by_twists,
  .basis = basis,
  .multipliers_of_basis = multipliers_of_basis,
};
