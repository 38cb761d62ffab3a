/* Derivatives of impacts within a step, between the integrator and the end of the step:
 * kernels/world/impact.cl. */
#include "base/error.h"
#include "geometry/spring.h"
#include "world/law/law.h"
#include "world/sweep.h"

/* Returns the number of controls of a world's moved links. */
static size_t moved_controls(const world_sizes *n)
{
  return (size_t)(n->nu - n->actuators);
}

void impact_bytes(const world_sizes *n, size_t real, size_t lanes, size_t bytes[POOL_BUFFERS])
{
  const size_t nq = (size_t)n->nq, nv = (size_t)n->nv, links = (size_t)n->links;
  const size_t columns = (size_t)n->columns, moved = moved_controls(n);
  bytes[SWEEP_V] = nv * real;
  bytes[SWEEP_KEPT] = (SWEEP_EVENTS + 1) * SWEEP_KEPT_REALS(nq, nv) * real;
  bytes[SWEEP_KEPT_ROWS] = SWEEP_KEPT_ROW * sizeof(int);
  bytes[SWEEP_DUALS_OF] =
    lanes *
    SWEEP_DUAL_REALS((size_t)n->numbers, nq, nv, (size_t)n->nu, PARAMETERS(links, columns)) * real;
  bytes[SWEEP_BARS] = (SWEEP_SEED(nv) + SWEEP_SEEDS(nv, links, moved)) * real;
  bytes[SWEEP_SLOPES] = SWEEP_SLOPES_OF(links, columns, moved) * real;
}

/* The inputs of impacts, with the tables that describe them. */
#define IMPACTS(s)                                                                        \
  TABLES(s), REALS(s), ARG_BUFFER((s)->tables->bodies), OF(s, WORLD_U), PARAMETERS_OF(s), \
    OF(s, IN_SPRINGS), ARG_INT((s)->call->worlds->springs != NULL), OF(s, SWEEP_KEPT),    \
    OF(s, SWEEP_KEPT_ROWS), OF(s, OUT_STATUS)

/* A launch handles this many directions of derivative per world, so its time does not grow with
 * their number. */
static abut_status tangents(const stepping *s, world_buffer before, size_t before_width,
                            size_t columns, world_buffer out, size_t out_width)
{
  for (size_t first = 0; first < columns; first += device_lanes(s->device)) {
    TRY(keep_pace(s));
    TRY(LAUNCH_IN(s->device, PROGRAM_DUAL, KERNEL_WORLD_IMPACT_TANGENTS, s->count, 1, IMPACTS(s),
                  OF(s, before), ARG_INT(before_width), ARG_INT(columns > 1), ARG_INT(first),
                  ARG_INT(columns), OF(s, out), ARG_INT(out_width), OF(s, SWEEP_DUALS_OF),
                  ARG_INT(s->count)));
  }
  return ABUT_SUCCESS;
}

abut_status impact_tangent(const stepping *s)
{
  const size_t width = seed_width(sizes_of(s)), nv = (size_t)sizes_of(s)->nv;
  return tangents(s, WORLD_TANGENT_WORK, 2 * width + 8 * nv, 1, WORLD_TANGENT, width);
}

abut_status impact_matrix(const stepping *s)
{
  const size_t width = seed_width(sizes_of(s)), nv = (size_t)sizes_of(s)->nv;
  return tangents(s, WORLD_TANGENT_WORK, 2 * width + 8 * nv, width, WORLD_MATRIX, 2 * nv * width);
}

/* Springs have their own friction, whose cotangent goes to the caller's array. */
static abut_status add_parameters(const stepping *s)
{
  const world_sizes *n = sizes_of(s);
  const size_t links = (size_t)n->links, columns = (size_t)n->columns, listed = (size_t)n->listed;
  const size_t width = SWEEP_SLOPES_OF(links, columns, moved_controls(n));
  TRY(LAUNCH(s->device, KERNEL_WORLD_IMPACT_PARAMETERS, world_blocks(s), 1,
             ARG_BUFFER(s->tables->head), OF(s, SWEEP_SLOPES), OF(s, WORLD_ADJOINT),
             ARG_INT(s->count)));
  for (size_t i = 0; n->pair_springs && s->call->gradients->springs && i < listed; ++i) {
    TRY(add_columns(s, SWEEP_SLOPES, width, links + i, OUT_SPRINGS_BAR, SPRING_NUMBERS * listed,
                    SPRING_NUMBERS * i + SPRING_MU, 1));
  }
  return ABUT_SUCCESS;
}

static abut_status go_back(const stepping *s, int event)
{
  const world_sizes *n = sizes_of(s);
  const int seeds = SWEEP_SEEDS(n->nv, n->links, n->nu - n->actuators);
  for (int first = 0; first < seeds; first += (int)device_lanes(s->device)) {
    TRY(keep_pace(s));
    TRY(LAUNCH_IN(s->device, PROGRAM_DUAL, KERNEL_WORLD_IMPACT_COTANGENTS, s->count, 1, IMPACTS(s),
                  ARG_INT(event), ARG_INT(first), OF(s, SWEEP_BARS), OF(s, SWEEP_DUALS_OF),
                  ARG_INT(s->count)));
  }
  return LAUNCH_IN(s->device, PROGRAM_DUAL, KERNEL_WORLD_IMPACT_BACK, s->count, 1, TABLES(s),
                   PARAMETERS_OF(s), OF(s, SWEEP_KEPT_ROWS), OF(s, OUT_STATUS), ARG_INT(event),
                   OF(s, SWEEP_BARS), OF(s, SWEEP_SLOPES), OF(s, WORLD_STATE_BAR),
                   ARG_INT(s->count));
}

abut_status impact_adjoint(const stepping *s, int impacts)
{
  TRY(LAUNCH_IN(s->device, PROGRAM_DUAL, KERNEL_WORLD_IMPACT_START, s->count, 1,
                ARG_BUFFER(s->tables->head), OF(s, WORLD_STATE_BAR), OF(s, SWEEP_BARS),
                OF(s, SWEEP_SLOPES), ARG_INT(s->count)));
  for (int event = impacts; event-- > 0;) {
    TRY(go_back(s, event));
  }
  return add_parameters(s);
}

abut_status impact_begin_adjoint(const stepping *s)
{
  const world_sizes *n = sizes_of(s);
  const size_t nv = (size_t)n->nv, links = (size_t)n->links, columns = (size_t)n->columns;
  const size_t moved = moved_controls(n), width = SWEEP_SLOPES_OF(links, columns, moved);
  TRY(moved ? add_columns(s, SWEEP_SLOPES, width, links + columns, WORLD_U_BAR, (size_t)n->nu,
                          (size_t)n->actuators, moved)
            : ABUT_SUCCESS);
  return add_columns(s, SWEEP_BARS, SWEEP_SEED(nv) + SWEEP_SEEDS(nv, links, moved), 0,
                     WORLD_STATE_BAR, 2 * nv, 0, nv);
}
