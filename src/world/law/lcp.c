/* Hard contacts of worlds: settings, and the boxed problem of each step and its solution on a
 * device. Section numbers refer to docs/dev/lcp-formulas.md. */
#include "base/error.h"
#include "geometry/lcp.h"
#include "query/lcp/lcp.h"
#include "engine/self_test/runner.h"
#include "world/law/lcp.h"
#include "io/body_load.h"

/* The solver accepts a residual of this share of the largest b: 1 um/s at speeds of 1 m/s. Flat
 * sides in contact have many more contacts than they need, so rows are linearly dependent, and
 * their targets s agree only to about 1e-8 of a step's speeds. With a smaller tolerance rounding
 * would decide which contacts hold. */
#define TOLERANCE 1e-6

/* Shares of the pair's size (section 5): the largest distance of a contact if the scene states no
 * margin, and the distance below which two contacts are merged. */
#define HARD_MARGIN 0.02
#define HARD_MERGED 1e-3

#define HARD_MOST                                                              \
  64 /* the most contacts of a world that may be chosen; each brings a row for \
        its normal, and for each tangent */

/* ---- a scene's file ---- */

static abut_status read(const json_file *f, const json_at *root, scene_def *s)
{
  static const char *const keys[] = {"error_reduction", "slop",    "correction", "margin",
                                     "limit_margin",    "bounce",  "threshold",  "most",
                                     "elastic",         "tangents"};
  static const char *const words[] = {"none", "collision", "paper"};
  json_at at, list;
  hard_settings *h = &s->hard;
  *h = (hard_settings){.error_reduction = 0.2,
                       .correction = 1.0,
                       .margin = -1.0,
                       .limit_margin = 0.02,
                       .bounce = 0.05,
                       .threshold = 0.25,
                       .most = 16,
                       .tangents = 2,
                       .elastic = HARD_COLLISION};
  if (!json_find(root, "lcp", &list)) {
    return ABUT_SUCCESS;
  }
  if (!json_is_object(list.value)) {
    return json_fail(f, &list, "must be an object");
  }
  TRY(CHECK_KEYS(f, &list, keys));
  TRY(scene_number(f, &list, "error_reduction", bound_not_negative, &h->error_reduction));
  TRY(scene_number(f, &list, "slop", bound_not_negative, &h->slop));
  TRY(scene_number(f, &list, "correction", bound_not_negative, &h->correction));
  TRY(json_find(&list, "margin", &at)
        ? scene_number(f, &list, "margin", bound_not_negative, &h->margin)
        : ABUT_SUCCESS);
  TRY(scene_number(f, &list, "limit_margin", bound_not_negative, &h->limit_margin));
  TRY(scene_number(f, &list, "bounce", bound_not_negative, &h->bounce));
  TRY(scene_number(f, &list, "threshold", bound_positive, &h->threshold));
  TRY(scene_count(f, &list, "most", 1, &h->most));
  TRY(scene_word(f, &list, "elastic", words, 3, &h->elastic));
  TRY(scene_count(f, &list, "tangents", 2, &h->tangents));
  if (h->tangents != 2 && h->tangents != 4 && h->tangents != 8) {
    json_find(&list, "tangents", &at);
    return json_fail(f, &at, "tangents is %d; it must be 2, 4 or 8", h->tangents);
  }
  if (h->most > HARD_MOST) {
    json_find(&list, "most", &at);
    return json_fail(f, &at, "%d contacts per world are too many; at most %d are possible", h->most,
                     HARD_MOST);
  }
  return ABUT_SUCCESS;
}

static abut_status settle(const reader *r, const json_at *root)
{
  TRY(law_refuse_integrator(
    r, root, INTEGRATOR_RK4,
    "hard contacts (\"lcp\") act at the end of a step, so they support only \"euler\""));
  TRY(law_refuse_integrator(
    r, root, INTEGRATOR_IMPLICIT,
    "only springs (\"spring\") support \"implicit\"; use \"euler\" with \"lcp\""));
  return law_refuse_capacity(r, root, "for hard contacts (\"lcp\"), use \"most\" of \"lcp\"");
}

/* ---- a scene ---- */

static void inform(const loaded_scene *s, abut_scene_info *info)
{
  info->hard = true;
  scene_inform_of_pairs(s, info);
}

/* `damped` stays false: damping is part of the explicit forces tau of section 1. */
static void own_sizes(const scene_def *s, size_t slots, world_sizes *out)
{
  out->exact = s->exact_diagonal;
  out->hard = (size_t)s->hard.most < slots ? s->hard.most : (int)slots;
  out->tangents = s->hard.tangents;
  out->hard_rows =
    (1 + out->tangents) * out->hard + out->rows + 1; /* one more, so no buffer is empty */
  out->elastic = s->hard.elastic;
}

static bool needs_mobility(const scene_def *s, const scene_constants *c,
                           const contact_group *groups, size_t count)
{
  (void)c;
  (void)groups;
  (void)count;
  return s->exact_diagonal;
}

/* GROUP_MARGIN, which shifts distances, is only for soft contacts. A `size` of 0 denotes a pair
 * without bodies: its contacts are given, and chosen by their activity (section 5). */
static void put(const scene_def *s, const scene_constants *c, const contact_group *groups,
                scene_tables *m)
{
  (void)c;
  for (int i = 0; i < m->sizes.groups; ++i) {
    const scene_pair *p = &s->pairs[groups[i].pair];
    double *group = tables_group(m, i);
    group[GROUP_MARGIN] = 0.0;
    group[GROUP_RESTITUTION] = p->restitution;
    group[GROUP_REACH] = s->hard.margin >= 0.0 ? s->hard.margin : HARD_MARGIN * p->size;
    group[GROUP_MERGED] = HARD_MERGED * p->size;
    group[GROUP_DEPTH] = p->size > 0.0 ? p->smoothing.penetration : 0.0;
  }
}

/* ---- calls ---- */

bool is_escaping(const steps_call *c)
{
  return c->gradients && c->gradients->escape;
}

static abut_status test(const steps_call *c, size_t place)
{
  TRY(test_member(c->base.context, place, MODULE_LCP, PROGRAM_PLAIN, 0, SELF_TEST_MAIN));
  for (int adjoint = 0; adjoint < (is_differentiated(c) ? 2 : 1); ++adjoint) {
    TRY(test_member(c->base.context, place, MODULE_WORLD, PROGRAM_PLAIN, adjoint, SELF_TEST_HARD));
  }
  return test_manifolds(c, place);
}

static void own_bytes(const steps_call *c, const world_sizes *n, size_t real,
                      size_t bytes[POOL_BUFFERS])
{
  const size_t m = (size_t)n->hard_rows, nv = (size_t)n->nv, most = (size_t)n->hard;
  const size_t slots = (size_t)n->slots, moved = (size_t)(n->nu - n->actuators);
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
    bytes[WORLD_KEPT] = HARD_ADJOINT(m, nv, moved) * real;
    bytes[HARD_EXTRA] = (nv + moved) * real;
    bytes[WORLD_W] = nv * real;
  }
  if (is_escaping(c)) {
    bytes[HARD_OTHER] = m * sizeof(int);
    bytes[HARD_KEPT_ADJOINT] = HARD_ESCAPE(nv, (size_t)PARAMETERS(n->links, n->columns)) * real;
    bytes[OUT_ESCAPED] = sizeof(int);
  }
}

static abut_status bytes(batch_on *on, size_t slot, size_t group)
{
  const steps_call *c = (const steps_call *)on->call;
  const steps_on *at = on->user;
  TRY(manifold_bytes(on, slot, group));
  own_bytes(c, &at->tables[group]->sizes, device_real_bytes(on->device), on->bytes[POOL_OF_WORLDS]);
  return ABUT_SUCCESS;
}

/* ---- steps ---- */

/* Chooses the contacts and fills the boxed problem w = A f + b of each world (sections 1 and 5),
 * with classes guessed from the last acceleration w. */
static abut_status make_problem(const stepping *s, world_buffer q, world_buffer v, world_buffer w)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_PROBLEM, s->count, 1, TABLES(s), REALS(s), OF(s, q),
                OF(s, v), OF(s, w), PARAMETERS_OF(s), OF(s, WORLD_SCRATCH), OF(s, WORLD_SINGULARS),
                ACTIVE_PAIRS(s), OF(s, WORLD_SLOTS), OF(s, WORLD_WORK), OF(s, HARD_NUMBERS),
                OF(s, HARD_CHOICE), OF(s, HARD_CANDIDATES), OF(s, HARD_NEAREST),
                OF(s, HARD_PARENTS), OF(s, HARD_A), OF(s, HARD_B), OF(s, HARD_MU), OF(s, HARD_BOX),
                OF(s, HARD_GUESS), OF(s, OUT_STATUS), ARG_INT(s->count));
}

/* Solves the boxed problems (section 3). If neither the guess nor pivoting solves a world, a second
 * kernel does. There one work-item handles LCP_SHARED worlds, since its tables are large and rarely
 * needed. */
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

static abut_status solve(const stepping *s, world_buffer q, world_buffer v, world_buffer start)
{
  TRY(make_problem(s, q, v, start));
  TRY(solve_problem(s));
  return LAUNCH(s->device, KERNEL_WORLD_HARD_ACCELERATE, s->count, 1, TABLES(s), REALS(s), OF(s, v),
                FOUND(s), HARD(s), OF(s, WORLD_SLOTS), OF(s, HARD_CANDIDATES), OF(s, HARD_NEAREST),
                OF(s, HARD_F), OF(s, HARD_HOW), OF(s, WORLD_ACCELERATION),
                OF(s, WORLD_CONSTRAINT_FORCE), OF(s, s->again ? WORLD_ITERATIONS : OUT_ITERATIONS),
                OF(s, OUT_STATUS), ARG_INT(s->count));
}

static abut_status put_forces(const stepping *s, size_t width)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_FORCES, s->count, 1, ARG_BUFFER(s->tables->head),
                REALS(s), OF(s, WORLD_CONTACTS), OF(s, WORLD_PAIRS), OF(s, WORLD_SLOTS),
                OF(s, HARD_CHOICE), OF(s, HARD_NUMBERS), OF(s, HARD_F), OF(s, OUT_STATUS),
                ARG_INT(width), ARG_INT(s->call->in_world), OF(s, OUT_MULTIPLIERS),
                ARG_INT(s->count));
}

static abut_status forces(const stepping *s)
{
  return forces_of_pairs(s, put_forces);
}

static abut_status pushes(const stepping *s)
{
  return LAUNCH(s->device, KERNEL_WORLD_HARD_PUSHES, s->count, 1, ARG_BUFFER(s->tables->head),
                REALS(s), ACTIVE_PAIRS(s), OF(s, HARD_CHOICE), OF(s, HARD_NUMBERS), OF(s, HARD_F),
                OF(s, OUT_STATUS), OF(s, WORLD_PUSHES), ARG_INT(s->count));
}

const contact_law lcp_law = {
  .word = "lcp",
  .integrators = INTEGRATOR_BIT(INTEGRATOR_EULER),
  .usual = INTEGRATOR_EULER,
  .dofs_most = DENSE_DOFS_MOST,
  .takes_equalities = true,
  .read = read,
  .settle = settle,
  .drawable = true,
  .load = scene_load_pairs,
  .load_body = body_load,
  .measure = extent_of_body,
  .inform = inform,
  .sizes = own_sizes,
  .needs_mobility = needs_mobility,
  .put = put,
  .test = test,
  .granule = LCP_SHARED,
  .bytes = bytes,
  .slots = slots_of_pairs,
  .find_contacts = find_contacts_of_pairs,
  .keeps_slots = true,
  .solve = solve,
  .forces = forces,
  .pushes = pushes,
  .escapes = true,
  .keeps_guess = true,
  .basis_by_dof = true,
  .step_adjoint = lcp_step_adjoint,
  .contacts_adjoint = lcp_contacts_adjoint,
  .tree_adjoint = lcp_tree_adjoint,
  .jacobian = lcp_jacobian,
};
