/* Springs between clouds in worlds: checks of a call, and the wrenches and accelerations of each
 * step on a device (docs/dev/spring-formulas.md). */
#include "world/law/spring.h"

#include "base/error.h"
#include "engine/self_test/runner.h"

_Static_assert(SPRING_NUMBERS == SPRING_PARAMETER_COUNT, "a pair's numbers are those of springs");

#define POSE_OF_SIDE(side) ((side) ? SPRING_POSES_2 : SPRING_POSES_1)
#define TWIST_OF_SIDE(side) ((side) ? SPRING_TWISTS_2 : SPRING_TWISTS_1)

/* ---- calls ---- */

abut_status spring_check(const abut_worlds *w)
{
  return w->contacts ? fail(ABUT_ERROR_ARGUMENT,
                            "worlds with springs cannot use given contacts; contacts must be NULL")
                     : ABUT_SUCCESS;
}

/* Reactions at the centres of planes have no Jacobians (docs/dev/spring-formulas.md,
 * "Derivatives"), which derivatives and implicit steps need. */
static abut_status check_type(const steps_call *c, const world_type *k)
{
  if (!is_differentiated(c) && !is_implicit(c)) {
    return ABUT_SUCCESS;
  }
  for (size_t i = 0; i < k->group_count; ++i) {
    if (k->scene->def.pairs[i].reaction != ABUT_REACTION_POINT) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "pair %zu has reactions at planes (\"plane\"), which have no derivatives and no "
                  "implicit steps",
                  i);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status test(const steps_call *c, size_t place)
{
  for (int adjoint = 0; adjoint < (is_differentiated(c) || is_implicit(c) ? 2 : 1); ++adjoint) {
    TRY(test_member(c->base.context, place, MODULE_SPRING, PROGRAM_PLAIN, adjoint, SELF_TEST_MAIN));
    TRY(
      test_member(c->base.context, place, MODULE_WORLD, PROGRAM_PLAIN, adjoint, SELF_TEST_SPRING));
    if (is_differentiated(c) && is_implicit(c)) {
      TRY(
        test_member(c->base.context, place, MODULE_SPRING, PROGRAM_DUAL, adjoint, SELF_TEST_MAIN));
    }
  }
  return ABUT_SUCCESS;
}

static size_t slots(const steps_call *c)
{
  return c->scene->def.pair_count;
}

buffer *spring_buffer(const stepping *s, size_t id)
{
  return memory_buffer(&s->on->memory[s->slot][0], id);
}

void spring_implicit_bytes(const steps_call *c, const world_sizes *n, size_t real,
                           size_t bytes[POOL_BUFFERS])
{
  const size_t nv = (size_t)n->nv;
  if (is_implicit(c)) {
    tangent_bytes(c, n, real, bytes);
    bytes[SPRING_MATRIX] = nv * nv * real;
    bytes[SPRING_PIVOTS] = nv * sizeof(int);
    bytes[WORLD_IMPLICIT] = nv * real;
    bytes[SPRING_KEPT_STATE] = 2 * nv * real;
    bytes[SPRING_KEPT] = (size_t)PARAMETERS(n->links, n->columns) * real;
  }
}

/* Sets the bytes per world: of a pair in buffer pool 0, which all pairs share, and of the worlds'
 * pool. Implicit steps use Jacobians, so they need the buffers of derivatives. */
static void own_bytes(const steps_call *c, const resident_tables *m, size_t real,
                      size_t bytes[POOL_BUFFERS], size_t worlds[POOL_BUFFERS])
{
  const bool slopes = is_differentiated(c) || is_implicit(c);
  spring_run_bytes(m->springs.room, real, slopes, bytes);
  bytes[SPRING_POSES_1] = bytes[SPRING_POSES_2] = POSE_WIDTH * real;
  bytes[SPRING_TWISTS_1] = bytes[SPRING_TWISTS_2] = TWIST * real;
  bytes[SPRING_WRENCHES_1] = bytes[SPRING_WRENCHES_2] = TWIST * real;
  bytes[SPRING_LAWS] = SPRING_PARAMETER_COUNT * real;
  bytes[SPRING_DISTANCES] = real;
  if (slopes) {
    bytes[SPRING_POSES_1_BAR] = bytes[SPRING_POSES_2_BAR] = POSE_WIDTH * real;
    bytes[SPRING_TWISTS_1_BAR] = bytes[SPRING_TWISTS_2_BAR] = TWIST * real;
    bytes[SPRING_WRENCHES_1_BAR] = bytes[SPRING_WRENCHES_2_BAR] = TWIST * real;
    bytes[SPRING_DISTANCES_BAR] = real;
    bytes[SPRING_LAWS_BAR] = SPRING_PARAMETER_COUNT * real;
    bytes[SPRING_JACOBIANS] = SPRING_SLOPES * real;
  }
  worlds[SPRING_FORCES] = 3 * (size_t)m->sizes.pairs * real;
  spring_implicit_bytes(c, &m->sizes, real, worlds);
  if (is_implicit(c) && is_differentiated(c)) {
    spring_tangent_bytes(m->springs.room, real, bytes);
  }
}

static abut_status bytes(batch_on *on, size_t slot, size_t group)
{
  const steps_on *at = on->user;
  (void)slot;
  own_bytes((const steps_call *)on->call, at->tables[group], device_real_bytes(on->device),
            on->bytes[0], on->bytes[POOL_OF_WORLDS]);
  return ABUT_SUCCESS;
}

/* ---- wrenches ---- */

spring_run run_of_pair(const stepping *s, size_t i)
{
  const scene_pair *p = &s->type->scene->def.pairs[s->type->groups[i].pair];
  const resident_springs *m = &s->tables->springs;
  return (spring_run){.device = s->device,
                      .memory = &s->on->memory[s->slot][0],
                      .count = s->count,
                      .heads = m->heads,
                      .shapes = m->shapes,
                      .pairs = m->pairs,
                      .first_pair = i,
                      .pose_width = POSE_WIDTH,
                      .law = spring_buffer(s, SPRING_LAWS),
                      .law_stride = SPRING_PARAMETER_COUNT,
                      .options = spring_options(p->dissipation, p->reaction),
                      .room = m->room};
}

abut_status put_twist(const stepping *s, size_t i, int side, int from, size_t to)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_TWISTS, world_blocks(s), 1,
                ARG_BUFFER(s->tables->head), OF(s, WORLD_SCRATCH), ARG_INT(from), BODIES(s),
                ARG_INT(POSE_WIDTH * (2 * (int)i + side)), ARG_INT(s->type->groups[i].link[side]),
                ARG_INT(s->count), PAIR_OF(s, to));
}

/* Writes the pose and the twist of a side's body for the kernels of springs. */
static abut_status put_motion(const stepping *s, size_t i, int side)
{
  const int link = s->type->groups[i].link[side], at = POSE_WIDTH * (2 * (int)i + side);
  TRY(LAUNCH(s->device, KERNEL_WORLD_POSES, world_blocks(s), 1, ARG_BUFFER(s->tables->head),
             OF(s, WORLD_SCRATCH), BODIES(s), ARG_INT(at), ARG_INT(link), ARG_INT(s->count),
             PAIR_OF(s, POSE_OF_SIDE(side))));
  return put_twist(s, i, side, sizes_of(s)->at_velocity, TWIST_OF_SIDE(side));
}

abut_status find_wrench(const stepping *s, size_t i)
{
  const spring_run r = run_of_pair(s, i);
  TRY(keep_pace(s));
  TRY(put_motion(s, i, 0));
  TRY(put_motion(s, i, 1));
  TRY(LAUNCH(s->device, KERNEL_WORLD_SPRING_LAW, s->count, 1, TABLES(s), REALS(s), PARAMETERS_OF(s),
             OF(s, IN_SPRINGS), ARG_INT(s->call->worlds->springs != NULL), ARG_INT(i),
             PAIR_OF(s, SPRING_LAWS), ARG_INT(s->count)));
  TRY(spring_run_separations(&r));
  return spring_run_forces(&r);
}

/* Adds the wrenches of all pairs to the forces on links, at world_sizes.at_force. */
static abut_status find_contacts_of_clouds(const stepping *s)
{
  for (size_t i = 0; i < s->type->group_count; ++i) {
    TRY(find_wrench(s, i));
    TRY(LAUNCH(s->device, KERNEL_WORLD_SPRING_LOAD, world_blocks(s), 1, TABLES(s), BODIES(s),
               ARG_INT(i), ARG_INT(i == 0), PAIR_OF(s, SPRING_WRENCHES_1),
               PAIR_OF(s, SPRING_WRENCHES_2), ARG_INT(s->count), OF(s, WORLD_SCRATCH)));
    if (s->call->worlds->multipliers) {
      TRY(LAUNCH(s->device, KERNEL_WORLD_SPRING_FORCE, s->count, 1, PAIR_OF(s, SPRING_WRENCHES_1),
                 ARG_INT(i), ARG_INT(s->type->group_count), OF(s, OUT_STATUS), OF(s, SPRING_FORCES),
                 ARG_INT(s->count)));
    }
  }
  return ABUT_SUCCESS;
}

/* Forces follow directly from the state: no iterations, and `start` is not used. */
abut_status spring_solve(const stepping *s, world_buffer q, world_buffer v, world_buffer start)
{
  (void)start;
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_SOLVE, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, q), OF(s, v), OF(s, WORLD_SINGULARS), OF(s, WORLD_SCRATCH),
                OF(s, WORLD_ACCELERATION), OF(s, WORLD_CONSTRAINT_FORCE),
                OF(s, s->again ? WORLD_ITERATIONS : OUT_ITERATIONS), OF(s, OUT_STATUS),
                ARG_INT(s->count));
}

abut_status spring_inverse(const stepping *s, world_buffer q, world_buffer v)
{
  return LAUNCH(s->device, KERNEL_WORLD_SPRING_INVERSE, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, q), OF(s, v), OF(s, WORLD_U), OF(s, WORLD_CONSTRAINT_FORCE), OF(s, IN_A),
                OF(s, WORLD_SCRATCH), OF(s, OUT_INVERSE), ARG_INT(s->count));
}

static abut_status forces(const stepping *s)
{
  const size_t pairs = 3 * s->type->group_count;
  return copy_columns(s, SPRING_FORCES, pairs, 0, OUT_MULTIPLIERS, pairs, 0, pairs);
}

abut_status spring_check_step(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_CHECK_SPRINGS, s->count, 1, ARG_BUFFER(s->tables->head),
                OF(s, IN_SPRINGS), ARG_INT(s->call->worlds->springs != NULL), PARAMETERS_OF(s),
                OF(s, OUT_STATUS), ARG_INT(s->count));
}

const contact_law spring_law = {
  .word = "spring",
  .integrators = INTEGRATOR_BIT(INTEGRATOR_EULER) | INTEGRATOR_BIT(INTEGRATOR_RK4) |
                 INTEGRATOR_BIT(INTEGRATOR_IMPLICIT),
  .usual = INTEGRATOR_IMPLICIT,
  .dofs_most = DENSE_DOFS_MOST,
  .dampers_within = true,
  .read = spring_read,
  .read_pair = spring_read_pair,
  .settle = spring_settle,
  .settle_pair = spring_settle_pair,
  .choose = spring_choose,
  .half_spaces = true,
  .numbers = SPRING_NUMBERS,
  .load = spring_load,
  .load_body = spring_load_body,
  .measure = spring_measure,
  .upload = spring_upload,
  .inform = spring_inform,
  .sizes = spring_sizes,
  .put = spring_put,
  .check = spring_check,
  .check_type = check_type,
  .test = test,
  .bytes = bytes,
  .slots = slots,
  .check_step = spring_check_step,
  .find_contacts = find_contacts_of_clouds,
  .solve = spring_solve,
  .forces = forces,
  .inverse = spring_inverse,
  .implicit = spring_implicit,
  .watches_energy = true,
  .step_adjoint = spring_step_adjoint,
  .contacts_adjoint = spring_contacts_adjoint,
  .jacobian = jacobian_by_twists,
  .implicit_jacobian = spring_implicit_jacobian,
  .basis = spring_basis,
  .multipliers_of_basis = spring_multipliers_of_basis,
};
