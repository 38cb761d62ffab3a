/* Hard contacts of worlds on a device: each step's boxed problem, its answer, and its derivatives.
 * docs/lcp-formulas.md. */
#include "base/error.h"
#include "geometry/lcp.h"
#include "lcp/lcp.h"
#include "world/steps.h"

/* Flat sides in touch have many contacts, of which a few would do: their rows are dependent, and their
 * targets agree to a share of some 1e-8 of a step's speeds. Below that it has no meaning which of them
 * hold and which do not; 1e-6 is a micrometre a second of a metre a second. */
#define TOLERANCE 1e-6

#define HARD(s) OF(s, HARD_NUMBERS), OF(s, HARD_CHOICE), OF(s, HARD_PARENTS)
#define FOUND(s) OF(s, WORLD_SCRATCH), OF(s, WORLD_CONTACTS), OF(s, WORLD_MARKS), OF(s, WORLD_WORK)

void hard_bytes(const steps_call *c, const world_sizes *n, size_t real, size_t bytes[POOL_BUFFERS])
{
  const size_t m = (size_t)n->hard_rows, nv = (size_t)n->nv, most = (size_t)n->hard;
  const size_t slots = (size_t)n->contact_planes / CONTACT_PLANES;
  bytes[HARD_NUMBERS] = HARD_REALS(m, nv) * real;
  bytes[HARD_CHOICE] = HARD_INTS(most, (size_t)n->rows) * sizeof(int);
  bytes[HARD_CANDIDATES] = HARD_CANDIDATE * (slots + 1) * sizeof(int);
  bytes[HARD_NEAREST] = slots * real;
  bytes[HARD_PARENTS] = (m + 1) * sizeof(int);
  bytes[HARD_A] = m * m * real;
  bytes[HARD_B] = bytes[HARD_MU] = bytes[HARD_BOX] = bytes[HARD_F] = bytes[HARD_W] = m * real;
  bytes[HARD_GUESS] = bytes[HARD_CLASSES] = m * sizeof(int);
  bytes[HARD_HOW] = sizeof(int);
  bytes[HARD_RESIDUAL] = real;
  bytes[HARD_ROOM] = LCP_NUMBERS(m) * real;
  bytes[HARD_PLACES] = LCP_PLACES(m) * sizeof(int);
  bytes[HARD_TABLES] = (LCP_TABLE(m) + LCP_SHARED - 1) / LCP_SHARED * sizeof(double);
  bytes[HARD_TABLE_PLACES] = (LCP_TABLE_PLACES(m) + LCP_SHARED - 1) / LCP_SHARED * sizeof(int);
  if (is_differentiated(c)) {
    bytes[HARD_DERIVATIVES] = HARD_BACK(m, nv) * real;
    bytes[HARD_EXTRA] = nv * real;
    bytes[WORLD_W] = nv * real;
  }
  if (is_escaping(c)) {
    bytes[HARD_OTHER] = m * sizeof(int);
    bytes[HARD_KEPT_BACK] = HARD_ESCAPE(nv, (size_t)PARAMETERS(n->links, n->pairs)) * real;
    bytes[OUT_ESCAPED] = sizeof(int);
  }
}

static abut_status make_problem(const stepping *s, world_buffer q, world_buffer v, world_buffer w)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_PROBLEM, s->count, 1, MODEL(s), REALS(s), OF(s, q),
                OF(s, v), OF(s, w), PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), OF(s, WORLD_SINGULARS),
                OF(s, WORLD_CONTACTS), OF(s, WORLD_MARKS), OF(s, WORLD_SLOTS), OF(s, WORLD_WORK),
                OF(s, HARD_NUMBERS), OF(s, HARD_CHOICE), OF(s, HARD_CANDIDATES),
                OF(s, HARD_NEAREST), OF(s, HARD_PARENTS), OF(s, HARD_A), OF(s, HARD_B), OF(s, HARD_MU), OF(s, HARD_BOX),
                OF(s, HARD_GUESS), OF(s, OUT_STATUS), ARG_INT(s->count));
}

static abut_status solve_problem(const stepping *s)
{
  const int m = sizes_of(s)->hard_rows;
  const double loose = lcp_loose(TOLERANCE, s->device);
  TRY(LAUNCH(s->device, KERNEL_LCP_SOLVE, s->count, 1, OF(s, HARD_A), OF(s, HARD_B), OF(s, HARD_MU),
             OF(s, HARD_BOX), OF(s, HARD_PARENTS), ARG_INT(1), OF(s, HARD_GUESS), ARG_INT(1),
             ARG_INT(m), ARG_REAL(loose), OF(s, HARD_ROOM), OF(s, HARD_PLACES), OF(s, HARD_F),
             OF(s, HARD_W), OF(s, HARD_CLASSES), OF(s, HARD_HOW), OF(s, HARD_RESIDUAL),
             ARG_INT(s->count)));
  return LAUNCH(s->device, KERNEL_LCP_REST, (s->count + LCP_SHARED - 1) / LCP_SHARED, 1,
                OF(s, HARD_A), OF(s, HARD_B), OF(s, HARD_MU), OF(s, HARD_BOX), OF(s, HARD_PARENTS),
                ARG_INT(1), ARG_INT(m), ARG_REAL(loose), OF(s, HARD_ROOM), OF(s, HARD_PLACES),
                OF(s, HARD_TABLES), OF(s, HARD_TABLE_PLACES), OF(s, HARD_F), OF(s, HARD_W),
                OF(s, HARD_CLASSES), OF(s, HARD_HOW), OF(s, HARD_RESIDUAL), ARG_INT(s->count));
}

abut_status hard_solve_step(const stepping *s, world_buffer q, world_buffer v, world_buffer start)
{
  TRY(make_problem(s, q, v, start));
  TRY(solve_problem(s));
  return LAUNCH(s->device, KERNEL_WORLD_HARD_ACCELERATE, s->count, 1, MODEL(s), REALS(s), OF(s, v),
                FOUND(s), HARD(s), OF(s, WORLD_SLOTS), OF(s, HARD_CANDIDATES), OF(s, HARD_NEAREST),
                OF(s, HARD_F), OF(s, HARD_HOW), OF(s, WORLD_ACCELERATION), OF(s, WORLD_PUSH),
                OF(s, s->again ? WORLD_ITERATIONS : OUT_ITERATIONS), OF(s, OUT_STATUS),
                ARG_INT(s->count));
}

abut_status hard_forces(const stepping *s, size_t width)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_FORCES, s->count, 1, MODEL(s), REALS(s),
                OF(s, WORLD_SLOTS), OF(s, HARD_CHOICE), OF(s, HARD_F), OF(s, OUT_STATUS),
                ARG_INT(width), OF(s, OUT_MULTIPLIERS), ARG_INT(s->count));
}

/* ---- derivatives ---- */

abut_status hard_factor(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_FACTOR, s->count, 1, MODEL(s), REALS(s),
                OF(s, WORLD_V), FOUND(s), HARD(s), OF(s, HARD_A), OF(s, HARD_B), OF(s, HARD_MU),
                OF(s, HARD_BOX), OF(s, HARD_F), OF(s, s->classes), OF(s, HARD_HOW),
                ARG_INT(s->classes == HARD_CLASSES), OF(s, HARD_PLACES), OF(s, HARD_DERIVATIVES),
                OF(s, OUT_STATUS), OF(s, WORLD_GOOD), ARG_INT(s->count));
}

abut_status hard_elastic_back(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_ELASTIC_BACK, s->count, 1, MODEL(s), REALS(s),
                OF(s, WORLD_NEXT_V), OF(s, WORLD_STATE_BAR), OF(s, HARD_DERIVATIVES),
                OF(s, WORLD_ACCELERATION_BAR), OF(s, HARD_EXTRA), ARG_INT(s->count));
}

abut_status hard_multipliers(const stepping *s, bool with_extra)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_MULTIPLIERS, s->count, 1, MODEL(s), REALS(s), FOUND(s),
                HARD(s), OF(s, HARD_MU), OF(s, s->classes), OF(s, HARD_PLACES),
                OF(s, HARD_DERIVATIVES), OF(s, WORLD_GOOD), OF(s, WORLD_ACCELERATION_BAR),
                OF(s, HARD_EXTRA), ARG_INT(with_extra), OF(s, WORLD_MULTIPLIERS),
                OF(s, WORLD_ROW_BACK), ARG_INT(s->count));
}

abut_status hard_pull(const stepping *s, int only, buffer *groups, size_t width, size_t at)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_PULL, s->count, 1, MODEL(s), REALS(s), OF(s, WORLD_V),
                OF(s, WORLD_ACCELERATION), FOUND(s), HARD(s), OF(s, HARD_F), OF(s, s->classes),
                OF(s, HARD_PLACES), OF(s, HARD_DERIVATIVES), OF(s, WORLD_GOOD),
                OF(s, WORLD_MULTIPLIERS), ARG_INT(only), OF(s, WORLD_BARS), ARG_BUFFER(groups),
                ARG_INT(width), ARG_INT(at), ARG_INT(s->count));
}

/* ---- classes that descent would choose ---- */

bool is_escaping(const steps_call *c)
{
  return c->gradients && c->gradients->escape && is_hard(c);
}

static abut_status keep(const stepping *s, bool again)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_KEEP, world_blocks(s), 1, ARG_BUFFER(s->model->head),
                ARG_INT(again), OF(s, WORLD_STATE_BAR), OF(s, WORLD_BACK), OF(s, HARD_KEPT_BACK),
                ARG_INT(s->count));
}

static abut_status open_classes(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_OPEN, s->count, 1, MODEL(s), REALS(s), FOUND(s),
                HARD(s), OF(s, WORLD_ACCELERATION_BAR), OF(s, HARD_CLASSES), OF(s, HARD_OTHER),
                ARG_INT(s->count));
}

static abut_status keep_larger(const stepping *s, size_t step, bool with_other)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_LARGER, s->count, 1, ARG_BUFFER(s->model->head),
                REALS(s), OF(s, WORLD_STATE_BAR), OF(s, WORLD_U_BAR), ARG_INT(with_other),
                ARG_INT(step + 1 == s->call->worlds->steps), OF(s, HARD_CLASSES), OF(s, HARD_OTHER),
                OF(s, HARD_KEPT_BACK), OF(s, OUT_ESCAPED), ARG_INT(s->count));
}

abut_status hard_escape(const stepping *s, size_t step, way_back begin, way_back end)
{
  stepping other = *s;
  other.classes = HARD_OTHER;
  TRY(keep(s, false));
  TRY(begin(s, step));
  TRY(open_classes(s));
  TRY(end(s, step));
  TRY(keep_larger(s, step, false));
  for (int pass = 0; pass < 2; ++pass) { /* with these classes; then with what is larger */
    TRY(keep(s, true));
    TRY(begin(s, step));
    TRY(hard_factor(&other));
    TRY(end(&other, step));
    TRY(pass ? ABUT_SUCCESS : keep_larger(s, step, true));
  }
  return ABUT_SUCCESS;
}
