/* Steps of worlds on a device, without derivatives: docs/dev/cone-formulas.md, section 11. */
#include "world/reverse.h"

#include "base/error.h"
#include "geometry/layout.h"
#include "world/law/law.h"
#include "world/sweep.h"

/* launches of a few steps, after which the host waits for the earlier ones */
#define PACE_LAUNCHES 256

stepping stepping_of(batch_on *on, size_t slot, chunk c)
{
  const steps_call *call = (const steps_call *)on->call;
  const steps_on *at = on->user;
  return (stepping){.call = call,
                    .at = at,
                    .type = &call->types[c.group],
                    .tables = at->tables[c.group],
                    .on = on,
                    .slot = slot,
                    .count = c.count,
                    .device = on->device};
}

buffer *world_buffer_of(const stepping *s, world_buffer id)
{
  return memory_buffer(&s->on->memory[s->slot][POOL_OF_WORLDS], (size_t)id);
}

int given_parameters(const abut_worlds *w)
{
  return (w->mass_scale ? 1 : 0) | (w->friction ? 2 : 0) | (w->stiffness ? 4 : 0) |
         (w->gravity ? 8 : 0);
}

bool shares_parameters(const stepping *s)
{
  return !given_parameters(s->call->worlds);
}

const world_sizes *sizes_of(const stepping *s)
{
  return &s->tables->sizes;
}

size_t world_blocks(const stepping *s)
{
  const uint32_t lanes = device_lanes(s->device);
  return padded(s->count, lanes) / lanes;
}

abut_status keep_pace(const stepping *s)
{
  steps_on *at = s->on->user;
  const uint64_t launched = device_counters(s->device)->launches;
  if (launched - at->paced < PACE_LAUNCHES) {
    return ABUT_SUCCESS;
  }
  at->paced = launched;
  return device_pace(s->device);
}

abut_status copy_columns(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                         world_buffer to, size_t to_width, size_t to_at, size_t width)
{
  return LAUNCH(s->device, KERNEL_WORLD_COPY_COLUMNS, s->count, 1, OF(s, from), ARG_INT(from_width),
                ARG_INT(from_at), OF(s, to), ARG_INT(to_width), ARG_INT(to_at), ARG_INT(width),
                ARG_INT(s->count));
}

abut_status add_columns(const stepping *s, world_buffer from, size_t from_width, size_t from_at,
                        world_buffer to, size_t to_width, size_t to_at, size_t width)
{
  return LAUNCH(s->device, KERNEL_WORLD_ADD_COLUMNS, s->count, 1, OF(s, from), ARG_INT(from_width),
                ARG_INT(from_at), OF(s, to), ARG_INT(to_width), ARG_INT(to_at), ARG_INT(width),
                ARG_INT(s->count));
}

abut_status clear_rows(const stepping *s, world_buffer rows, size_t width)
{
  return LAUNCH(s->device, KERNEL_WORLD_CLEAR, s->count, 1, ARG_INT(width), OF(s, rows),
                ARG_INT(s->count));
}

/* Copies `width` numbers of WORLD_SCRATCH, from `at` on, to an output if the caller wants it. */
static abut_status copy_output(const stepping *s, int at, size_t width, world_buffer to,
                               const void *asked)
{
  return asked
           ? LAUNCH(s->device, KERNEL_WORLD_COPY_OUTPUT, s->count, 1, ARG_BUFFER(s->tables->head),
                    OF(s, WORLD_SCRATCH), ARG_INT(at), ARG_INT(width), OF(s, to), ARG_INT(s->count))
           : ABUT_SUCCESS;
}

static abut_status energy(const stepping *s, world_buffer q, world_buffer v)
{
  return LAUNCH(s->device, KERNEL_WORLD_ENERGY, world_blocks(s), 1, TABLES(s), REALS(s), OF(s, q),
                OF(s, v), OF(s, WORLD_U), PARAMETERS_OF(s), ARG_INT(s->count), OF(s, WORLD_SCRATCH),
                OF(s, WORLD_ENERGY));
}

abut_status forces_of_pairs(const stepping *s, abut_status (*put)(const stepping *s, size_t width))
{
  const size_t width = 3 * slots_before(s->type, s->type->group_count);
  TRY(width ? clear_rows(s, OUT_MULTIPLIERS, width) : ABUT_SUCCESS);
  return width ? put(s, width) : ABUT_SUCCESS;
}

/* Sums the contact forces of world pairs, on links and between the bodies of pairs. */
static abut_status sum_pushes(const stepping *s)
{
  const abut_worlds *w = s->call->worlds;
  TRY(slot_pairs_of(s)->count ? law_of(s->call)->pushes(s) : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_PUSHES, s->count, 1, TABLES(s), REALS(s),
                OF(s, WORLD_SCRATCH), OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST),
                OF(s, WORLD_ACTIVE_PAIRS), OF(s, WORLD_PUSHES), OF(s, OUT_STATUS),
                ARG_INT(w->link_forces != NULL), OF(s, OUT_LINK_FORCES),
                ARG_INT(w->pair_forces != NULL), OF(s, OUT_PAIR_FORCES),
                ARG_INT(w->pair_normals != NULL), OF(s, OUT_PAIR_NORMALS), ARG_INT(s->count));
}

/* Writes the outputs that describe the start of the last step, while its tree and solution are
 * available. */
static abut_status copy_outputs(const stepping *s)
{
  const abut_worlds *w = s->call->worlds;
  const world_sizes *n = sizes_of(s);
  const size_t nv = (size_t)n->nv;
  if (w->mass) {
    TRY(LAUNCH(s->device, KERNEL_WORLD_SHOW_MASS, s->count, 1, TABLES(s), OF(s, WORLD_SCRATCH),
               OF(s, OUT_MASS), ARG_INT(s->count)));
  }
  TRY(copy_output(s, n->at_bias, nv, OUT_BIAS, w->bias));
  TRY(copy_output(s, n->at_unheld, nv, OUT_SMOOTH, w->smooth));
  TRY(w->multipliers ? law_of(s->call)->forces(s) : ABUT_SUCCESS);
  TRY(wants_pushes(w) ? sum_pushes(s) : ABUT_SUCCESS);
  if (w->energy || w->momentum) {
    TRY(energy(s, OUT_Q, OUT_V));
  }
  TRY(w->energy ? copy_columns(s, WORLD_ENERGY, ENERGY_REALS, 0, OUT_ENERGY, 2, 0, 2)
                : ABUT_SUCCESS);
  TRY(w->momentum ? copy_columns(s, WORLD_ENERGY, ENERGY_REALS, 2, OUT_MOMENTUM, 6, 0, 6)
                  : ABUT_SUCCESS);
  TRY(w->inverse ? law_of(s->call)->inverse(s, OUT_Q, OUT_V) : ABUT_SUCCESS);
  return w->constraint ? copy_columns(s, WORLD_CONSTRAINT_FORCE, nv, 0, OUT_CONSTRAINT, nv, 0, nv)
                       : ABUT_SUCCESS;
}

abut_status step_controls(const stepping *s, size_t step)
{
  const abut_worlds *w = s->call->worlds;
  const size_t nu = (size_t)sizes_of(s)->nu;
  if (!nu) {
    return ABUT_SUCCESS;
  }
  return copy_columns(s, IN_U, w->controls ? w->steps * nu : nu, w->controls ? step * nu : 0,
                      WORLD_U, nu, 0, nu);
}

abut_status place_worlds(const stepping *s, world_buffer q, world_buffer v)
{
  return LAUNCH(s->device, KERNEL_WORLD_TREE, world_blocks(s), 1, TABLES(s), REALS(s), OF(s, q),
                OF(s, v), OF(s, WORLD_U), PARAMETERS_OF(s), ARG_INT(s->count), OF(s, WORLD_SCRATCH),
                OF(s, WORLD_SINGULARS));
}

abut_status step_tree(const stepping *s, world_buffer q, world_buffer v)
{
  const world_sizes *n = sizes_of(s);
  TRY(keep_pace(s));
  TRY(place_worlds(s, q, v));
  if (n->at_columns != n->numbers) {
    TRY(LAUNCH(s->device, KERNEL_WORLD_MOBILITY, world_blocks(s), 1, TABLES(s), ARG_INT(s->count),
               OF(s, WORLD_SCRATCH)));
  }
  return find_contacts(s);
}

bool counts_work(const stepping *s)
{
  return s->call->worlds->counts && finds_pairs(s->call) && !is_differentiated(s->call);
}

abut_status count_contacts_of(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_COUNT_CONTACTS, s->count, 1, OF(s, WORLD_PAIR_COUNTS),
                ARG_INT(pair_type_count_of(s)), OF(s, WORLD_PAIRS), OF(s, WORLD_ACTIVE_LIST),
                OF(s, WORLD_ACTIVE_PAIRS), OF(s, OUT_COUNTS), ARG_INT(s->count));
}

abut_status count_islands_of(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_COUNT_ISLANDS, s->count, 1, TABLES(s), OF(s, WORLD_ORDER),
                OF(s, OUT_COUNTS), ARG_INT(s->count));
}

bool is_implicit(const steps_call *c)
{
  return c->scene->def.integrator == INTEGRATOR_IMPLICIT;
}

bool is_rk4(const steps_call *c)
{
  return c->scene->def.integrator == INTEGRATOR_RK4;
}

/* Adds the forces of equalities to WORLD_CONSTRAINT_FORCE, which the law has filled. */
static abut_status equality_forces(const stepping *s, world_buffer q, world_buffer v)
{
  return LAUNCH(s->device, KERNEL_WORLD_EQUALITY_FORCES, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, q), OF(s, v), OF(s, WORLD_ACCELERATION), PARAMETERS_OF(s), OF(s, OUT_STATUS),
                ARG_INT(s->count), OF(s, WORLD_SCRATCH), OF(s, WORLD_CONSTRAINT_FORCE));
}

abut_status solve_step(const stepping *s, world_buffer q, world_buffer v, world_buffer start)
{
  TRY(step_tree(s, q, v));
  TRY(counts_work(s) ? count_contacts_of(s) : ABUT_SUCCESS);
  TRY(law_of(s->call)->solve(s, q, v, start));
  return sizes_of(s)->equalities ? equality_forces(s, q, v) : ABUT_SUCCESS;
}

static abut_status euler(const stepping *s, world_buffer acceleration)
{
  return LAUNCH(s->device, KERNEL_WORLD_EULER, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, OUT_Q), OF(s, OUT_V), OF(s, acceleration), OF(s, WORLD_CONSTRAINT_FORCE),
                ARG_INT(s->count), OF(s, WORLD_SCRATCH), OF(s, WORLD_NEXT_Q), OF(s, WORLD_NEXT_V));
}

abut_status step_stage(const stepping *s, int stage)
{
  /* The classical tableau: the time of the next stage from the start of the step, as a share of the
   * time step (0: last stage), and the weight of a stage, times 6. */
  static const double ahead[4] = {0.5, 0.5, 1.0, 0.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
  const bool last = stage == 3;
  return LAUNCH(s->device, KERNEL_WORLD_STAGE, world_blocks(s), 1, TABLES(s), REALS(s),
                OF(s, OUT_Q), OF(s, OUT_V), OF(s, WORLD_ACCELERATION), OF(s, WORLD_RATES),
                ARG_REAL(weight[stage]), ARG_REAL(ahead[stage]), ARG_INT(stage == 0),
                ARG_INT(s->count), OF(s, WORLD_SUMS), OF(s, WORLD_SCRATCH),
                OF(s, last ? WORLD_NEXT_Q : WORLD_STAGE_Q),
                OF(s, last ? WORLD_NEXT_V : WORLD_STAGE_V));
}

static abut_status implicit(const stepping *s)
{
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  TRY(copy_columns(s, OUT_Q, nq, 0, WORLD_Q, nq, 0, nq));
  TRY(copy_columns(s, OUT_V, nv, 0, WORLD_V, nv, 0, nv));
  TRY(law_of(s->call)->implicit(s));
  return euler(s, WORLD_IMPLICIT);
}

/* Computes the four stages of RK4; one_step has already solved the first. Each later solve starts
 * from the previous acceleration. */
static abut_status rk4(const stepping *s)
{
  for (int i = 0; i < 4; ++i) {
    TRY(i ? solve_step(s, WORLD_STAGE_Q, WORLD_STAGE_V, WORLD_ACCELERATION) : ABUT_SUCCESS);
    TRY(s->keeps_stages ? keep_stage(s, i) : ABUT_SUCCESS);
    TRY(step_stage(s, i));
  }
  return ABUT_SUCCESS;
}

static abut_status check_contacts(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_CHECK_GIVEN, s->count, 1, OF(s, IN_P), OF(s, IN_D),
                OF(s, IN_N), OF(s, IN_ACTIVITY), ARG_INT(s->call->worlds->contacts->count),
                OF(s, OUT_STATUS), ARG_INT(s->count));
}

abut_status check_step(const stepping *s, size_t step)
{
  const bool first = step == 0 && !s->again;
  TRY(LAUNCH(s->device, KERNEL_WORLD_CHECK, s->count, 1, TABLES(s), OF(s, OUT_Q), OF(s, OUT_V),
             OF(s, WORLD_U), OF(s, OUT_W), PARAMETERS_OF(s), ARG_INT(first), OF(s, OUT_STATUS),
             ARG_INT(s->count)));
  TRY(first && law_of(s->call)->check_step ? law_of(s->call)->check_step(s) : ABUT_SUCCESS);
  return first && s->call->worlds->contacts ? check_contacts(s) : ABUT_SUCCESS;
}

/* Adds WORLD_FAST and WORLD_GAINED to statuses, based on the tree and the constraint force at the
 * start of the step. RK4 leaves those of its last stage instead, so energy gains are not checked
 * then. In a scene that sweeps, sweep_step handles WORLD_FAST. */
static abut_status watch(const stepping *s)
{
  const bool gains = law_of(s->call)->watches_energy && !is_rk4(s->call);
  if (!sizes_of(s)->groups) { /* no contacts: a single tree is neither too fast nor pushed */
    return ABUT_SUCCESS;
  }
  return LAUNCH(s->device, KERNEL_WORLD_WATCH, s->count, 1, TABLES(s), REALS(s), PARAMETERS_OF(s),
                OF(s, OUT_V), OF(s, WORLD_NEXT_V), OF(s, WORLD_CONSTRAINT_FORCE), OF(s, IN_SPRINGS),
                ARG_INT(s->call->worlds->springs != NULL), ARG_INT(gains),
                ARG_INT(s->tables->sweep != NULL), OF(s, WORLD_SCRATCH), OF(s, OUT_STATUS),
                FAST_LINKS(s), ARG_INT(s->count));
}

abut_status one_step(const stepping *s, size_t step)
{
  const abut_worlds *w = s->call->worlds;
  const size_t nv = (size_t)sizes_of(s)->nv;
  const bool last = step + 1 == w->steps;
  /* The inputs of the step, and whether it can be made. */
  TRY(step_controls(s, step));
  TRY(check_step(s, step));
  /* The tree, the contacts and the law's acceleration at the start of the step, and the outputs
   * that describe them. */
  TRY(solve_step(s, OUT_Q, OUT_V, OUT_W));
  TRY(last && !s->again ? copy_outputs(s) : ABUT_SUCCESS);
  /* The integrator computes the state at the end of the step. */
  TRY(is_rk4(s->call) ? rk4(s) : is_implicit(s->call) ? implicit(s) : euler(s, WORLD_ACCELERATION));
  const world_buffer found = is_implicit(s->call) ? WORLD_IMPLICIT : WORLD_ACCELERATION;
  if (last && !s->again && w->acceleration) {
    TRY(copy_columns(s, found, nv, 0, OUT_ACCELERATION, nv, 0, nv));
  }
  /* Statuses, impacts before that end if the scene sweeps, and the new state if the world may
   * continue. */
  TRY(watch(s));
  TRY(s->tables->sweep ? sweep_step(s) : ABUT_SUCCESS);
  return LAUNCH(s->device, KERNEL_WORLD_ACCEPT, s->count, 1, ARG_BUFFER(s->tables->head), REALS(s),
                OF(s, OUT_Q), OF(s, OUT_V), OF(s, OUT_W), OF(s, WORLD_NEXT_Q), OF(s, WORLD_NEXT_V),
                OF(s, found), OF(s, OUT_STATUS), ARG_INT(s->count));
}

static abut_status note_status(const stepping *s, size_t step)
{
  return LAUNCH(s->device, KERNEL_WORLD_NOTE, s->count, 1, OF(s, OUT_STATUS), ARG_INT(step),
                OF(s, OUT_STATUS_STEP), ARG_INT(s->count));
}

abut_status keep_record(const stepping *s, size_t step)
{
  if (!s->again && s->call->worlds->status_step) {
    TRY(note_status(s, step));
  }
  const abut_worlds *w = s->call->worlds;
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  if (s->again || !w->record || (step + 1) % w->record) {
    return ABUT_SUCCESS;
  }
  const size_t kept = w->steps / w->record, at = (step + 1) / w->record - 1;
  TRY(w->q_record ? copy_columns(s, OUT_Q, nq, 0, OUT_Q_RECORD, kept * nq, at * nq, nq)
                  : ABUT_SUCCESS);
  if (w->energy_record) {
    TRY(energy(s, OUT_Q, OUT_V));
    TRY(copy_columns(s, WORLD_ENERGY, ENERGY_REALS, 0, OUT_ENERGY_RECORD, 2 * kept, 2 * at, 2));
  }
  return w->v_record ? copy_columns(s, OUT_V, nv, 0, OUT_V_RECORD, kept * nv, at * nv, nv)
                     : ABUT_SUCCESS;
}

bool keeps_tree(const stepping *s, size_t step)
{
  const abut_worlds *w = s->call->worlds;
  const bool kept = w->record && (step + 1) % w->record == 0;
  return !is_rk4(s->call) && !(kept && w->energy_record);
}

abut_status steps_start(const stepping *s)
{
  const size_t nq = (size_t)sizes_of(s)->nq, nv = (size_t)sizes_of(s)->nv;
  const int given = given_parameters(s->call->worlds);
  ((steps_on *)s->on->user)->paced = device_counters(s->device)->launches;
  TRY(pair_batches_start(s));
  note_bytes(s);
  if (s->call->worlds->counts) { /* zero ints equal zero reals */
    TRY(clear_rows(s, OUT_COUNTS, WORLD_COUNTS * sizeof(int) / device_real_bytes(s->device)));
  }
  if (s->call->worlds->fast_links) {
    TRY(clear_rows(s, OUT_FAST_LINKS, 2 * sizeof(int) / device_real_bytes(s->device)));
  }
  TRY(copy_columns(s, IN_Q, nq, 0, OUT_Q, nq, 0, nq));
  TRY(copy_columns(s, IN_V, nv, 0, OUT_V, nv, 0, nv));
  TRY(copy_columns(s, IN_W, nv, 0, OUT_W, nv, 0, nv));
  return given
           ? LAUNCH(s->device, KERNEL_WORLD_PARAMETERS, s->count, 1, ARG_BUFFER(s->tables->head),
                    ARG_BUFFER(s->tables->parameters), OF(s, IN_MASS_SCALE), OF(s, IN_FRICTION),
                    OF(s, IN_STIFFNESS), OF(s, IN_GRAVITY), ARG_INT(given),
                    OF(s, WORLD_PARAMETERS_OF), ARG_INT(s->count))
           : ABUT_SUCCESS;
}

abut_status steps_launch(batch_on *on, size_t slot, chunk c)
{
  const steps_call *call = (const steps_call *)on->call;
  const stepping s = stepping_of(on, slot, c);
  TRY(steps_start(&s));
  for (size_t step = 0; step < call->worlds->steps; ++step) {
    TRY(one_step(&s, step));
    TRY(keep_record(&s, step));
  }
  return ABUT_SUCCESS;
}
