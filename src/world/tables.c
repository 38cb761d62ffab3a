#include "world/tables.h"

#include "base/error.h"
#include "world/law/law.h"
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Returns the number of contact slots of a group in a world. */
static size_t room_for(size_t contacts, size_t capacity)
{
  return capacity && capacity < contacts ? capacity : contacts;
}

/* Rounds up to whole lanes. The sum cannot overflow: callers have bounded count by
 * TABLES_SLOTS_MOST. */
static size_t whole_blocks(size_t count, size_t lanes)
{
  return (count + lanes - 1) / lanes * lanes;
}

/* ---- degrees of freedom that move two links against each other ---- */

/* Iterates over the links that are ancestors of only one of a group's two links (or equal to it),
 * the last one in the scene first: their joints move the two against each other. at (2) starts at
 * the two links. *sign is 1 for an ancestor of the first link, -1 for one of the second. Returns
 * false after the last one, at the common ancestor. */
static bool next_between(const scene_def *s, int at[2], int *link, int *sign)
{
  if (at[0] == at[1]) {
    return false;
  }
  const int side = at[1] > at[0]; /* parents come before children */
  *link = at[side];
  *sign = side ? -1 : 1;
  at[side] = s->links[at[side]].parent;
  return true;
}

static int count_movers(const scene_def *s, const contact_group *g)
{
  int at[2] = {g->link[0], g->link[1]}, count = 0, link, sign;
  while (next_between(s, at, &link, &sign)) {
    count += joint_dofs(s->links[link].joint.type);
  }
  return count;
}

/* Writes a group's movers, ordered by degree of freedom, before the place `end` of the table. */
static void put_movers(const scene_def *s, const scene_constants *c, const contact_group *g,
                       int *end)
{
  int at[2] = {g->link[0], g->link[1]}, link, sign;
  while (next_between(s, at, &link, &sign)) {
    for (int k = joint_dofs(s->links[link].joint.type); k-- > 0;) {
      end -= MOVER_INTS;
      end[MOVER_DOF] = c->vadr[link] + k;
      end[MOVER_LINK] = link;
      end[MOVER_SIGN] = sign;
    }
  }
}

static int count_rows(const scene_def *s)
{
  int count = 0;
  for (size_t i = 0; i < s->link_count; ++i) {
    const joint *j = &s->links[i].joint;
    count += j->limited ? 2 : 0;
    count += j->friction_loss > 0.0 ? joint_dofs(j->type) : 0;
  }
  return count;
}

/* ---- softness ---- */

/* Writes a softness as SOFT_REALS numbers: K and B of the reference acceleration -B J v - K d(r) r,
 * then the five numbers of solimp, which define the impedance d(r) (docs/dev/cone-formulas.md,
 * section 8). */
static void put_softness(const softness *f, double step, double *out)
{
  const double d1 = f->solimp[1], t = f->solref[0], z = f->solref[1];
  if (t <= 0.0) {
    out[SOFT_K] = -t / (d1 * d1);
    out[SOFT_B] = -z / d1;
  } else {
    const double longer = fmax(t, 2.0 * step);
    out[SOFT_K] = 1.0 / (d1 * longer * z * d1 * longer * z);
    out[SOFT_B] = 2.0 / (d1 * longer);
  }
  for (int i = 0; i < 5; ++i) {
    out[SOFT_D0 + i] = f->solimp[i];
  }
}

/* ---- tables ---- */

static void put_links(const scene_def *s, const scene_constants *c, const world_sizes *n,
                      scene_tables *m)
{
  int control = n->actuators;
  for (size_t i = 0; i < s->link_count; ++i) {
    const scene_link *l = &s->links[i];
    const joint *j = &l->joint;
    const mass *own = &c->masses[i];
    const double *t = own->inertia;
    const double six[6] = {t[0], t[4], t[8], t[1], t[2], t[5]};
    int *ints = m->ints + n->at_links + LINK_INTS * (int)i;
    double *row = m->reals + n->at_link_reals + LINK_REALS * (int)i;
    ints[LINK_PARENT] = l->parent;
    ints[LINK_TYPE] = (int)j->type;
    ints[LINK_Q] = c->qadr[i];
    ints[LINK_V] = c->vadr[i];
    ints[LINK_U] = JOINT_CONTROLS(j->type) ? control : -1;
    control += JOINT_CONTROLS(j->type);
    memcpy(row + LINK_POSITION, l->position, sizeof l->position);
    memcpy(row + LINK_QUATERNION, l->quaternion, sizeof l->quaternion);
    memcpy(row + LINK_JOINT, j->position, sizeof j->position);
    memcpy(row + LINK_AXIS, j->axis, sizeof j->axis);
    row[LINK_MASS] = own->mass;
    memcpy(row + LINK_COM, own->com, sizeof own->com);
    memcpy(row + LINK_INERTIA, six, sizeof six);
    row[LINK_STIFFNESS] = j->stiffness;
    row[LINK_REST] = j->rest;
    for (int k = 0; k < joint_dofs(j->type); ++k) {
      double *dof = m->reals + n->at_dof_reals + DOF_REALS * (c->vadr[i] + k);
      dof[DOF_DAMPING] = j->damping;
      dof[DOF_ARMATURE] = j->armature;
    }
  }
}

static void put_trees(const scene_def *s, const scene_constants *c, const world_sizes *n,
                      scene_tables *m)
{
  const scene_trees *t = &c->trees;
  for (int i = 0; i < n->nv; ++i) {
    int *dof = m->ints + n->at_dofs + DOF_INTS * i;
    dof[DOF_TREE] = t->of[i];
    dof[DOF_PLACE] = t->place[i];
    m->ints[n->at_tree_dofs + i] = t->dofs[i];
  }
  for (int i = 0; i < n->trees; ++i) {
    int *tree = m->ints + n->at_trees + TREE_INTS * i;
    tree[TREE_DOFS] = t->at[i].count;
    tree[TREE_DOF_AT] = t->at[i].first;
    tree[TREE_BLOCK] = t->at[i].block;
  }
  for (size_t i = 0; i < s->link_count; ++i) {
    const size_t root = scene_root(s, i);
    m->ints[n->at_links + LINK_INTS * (int)i + LINK_TREE] =
      joint_dofs(s->links[root].joint.type) ? t->of[c->vadr[root]] : -1;
  }
}

static void put_actuators(const scene_def *s, const scene_constants *c, const world_sizes *n,
                          scene_tables *m)
{
  for (size_t i = 0; i < s->actuator_count; ++i) {
    const actuator *a = &s->actuators[i];
    int *ints = m->ints + n->at_actuators + ACTUATOR_INTS * (int)i;
    double *row = m->reals + n->at_actuator_reals + ACTUATOR_REALS * (int)i;
    ints[ACTUATOR_FEELS] = a->kp != 0.0 || a->kv != 0.0;
    ints[ACTUATOR_Q] = c->qadr[a->link];
    ints[ACTUATOR_V] = c->vadr[a->link] + a->dof;
    ints[ACTUATOR_TENDON] = a->tendon;
    ints[ACTUATOR_LIMITED] = a->limited;
    ints[ACTUATOR_CLAMPED] = a->clamped;
    row[ACTUATOR_GEAR] = a->gear;
    row[ACTUATOR_KP] = a->kp;
    row[ACTUATOR_KV] = a->kv;
    row[ACTUATOR_LOW] = a->force_limits[0];
    row[ACTUATOR_HIGH] = a->force_limits[1];
    row[ACTUATOR_LEAST] = a->control_limits[0];
    row[ACTUATOR_MOST] = a->control_limits[1];
    row[ACTUATOR_GAIN] = a->gain - a->kp;
    row[ACTUATOR_BIAS] = a->bias;
  }
}

/* ---- coordinates and equalities ---- */

static bool couples(const equality *e)
{
  return e->kind == EQUALITY_OF_JOINTS || e->kind == EQUALITY_OF_TENDONS;
}

/* Counts the coordinates (tendons, then each joint of an equality of joints) and the members of
 * all. */
static int count_coordinates(const scene_def *s, size_t *members)
{
  size_t count = s->tendon_count;
  *members = 0;
  for (size_t i = 0; i < s->tendon_count; ++i) {
    *members += s->tendons[i].part_count;
  }
  for (size_t i = 0; i < s->equality_count; ++i) {
    const equality *e = &s->equalities[i];
    const size_t joints = e->kind != EQUALITY_OF_JOINTS ? 0 : e->of[1] == NOTHING ? 1 : 2;
    count += joints;
    *members += joints;
  }
  return (int)count;
}

/* The next free coordinate and its next member. */
typedef struct coordinate_end {
  int coordinate, member;
} coordinate_end;

static void put_member(const scene_constants *c, const world_sizes *n, scene_tables *m, int link,
                       double coefficient, coordinate_end *end)
{
  int *ints = m->ints + n->at_members + MEMBER_INTS * end->member;
  ints[MEMBER_Q] = c->qadr[link];
  ints[MEMBER_V] = c->vadr[link];
  m->reals[n->at_member_reals + end->member++] = coefficient;
  ++m->ints[n->at_coordinates + COORDINATE_INTS * end->coordinate + COORDINATE_COUNT];
}

static void start_coordinate(const world_sizes *n, scene_tables *m, const coordinate_end *end)
{
  int *own = m->ints + n->at_coordinates + COORDINATE_INTS * end->coordinate;
  own[COORDINATE_AT] = end->member;
  own[COORDINATE_COUNT] = 0;
}

static void put_tendons(const scene_def *s, const scene_constants *c, const world_sizes *n,
                        scene_tables *m, coordinate_end *end)
{
  for (size_t i = 0; i < s->tendon_count; ++i, ++end->coordinate) {
    const tendon *t = &s->tendons[i];
    double *row = m->reals + n->at_tendon_reals + TENDON_REALS * (int)i;
    start_coordinate(n, m, end);
    for (size_t k = 0; k < t->part_count; ++k) {
      put_member(c, n, m, t->parts[k].link, t->parts[k].coefficient, end);
    }
    row[TENDON_STIFFNESS] = t->stiffness;
    row[TENDON_DAMPING] = t->damping;
    row[TENDON_LOW] = t->rests ? t->rest[0] : c->tendon_start[i];
    row[TENDON_HIGH] = t->rests ? t->rest[1] : c->tendon_start[i];
  }
}

/* Returns the tree of the degree of freedom of a coordinate's first member. */
static int tree_of_coordinate(const world_sizes *n, const scene_tables *m, int coordinate)
{
  const int first = m->ints[n->at_coordinates + COORDINATE_INTS * coordinate + COORDINATE_AT];
  const int dof = m->ints[n->at_members + MEMBER_INTS * first + MEMBER_V];
  return m->ints[n->at_dofs + DOF_INTS * dof + DOF_TREE];
}

static void put_coupling(const scene_constants *c, const world_sizes *n, const equality *e,
                         int *ints, double *row, scene_tables *m, coordinate_end *end)
{
  double weight = 0.0;
  for (int side = 0; side < 2; ++side) {
    const int own = e->of[side], start = side ? EQUALITY_START_B : EQUALITY_START_A;
    int *to = &ints[side ? EQUALITY_B : EQUALITY_A];
    *to = own;
    row[start] = 0.0;
    if (own != NOTHING && e->kind == EQUALITY_OF_TENDONS) {
      row[start] = c->tendon_start[own];
      weight += c->tendon_invweight[own];
    } else if (own != NOTHING) {
      *to = end->coordinate;
      start_coordinate(n, m, end);
      put_member(c, n, m, own, 1.0, end);
      ++end->coordinate;
      row[start] = c->q0[c->qadr[own]];
      weight += c->dof_invweight[c->vadr[own]];
    }
  }
  row[EQUALITY_WEIGHT] = weight;
  memcpy(row + EQUALITY_POLYNOMIAL, e->polynomial, sizeof e->polynomial);
  ints[EQUALITY_TREE] = tree_of_coordinate(n, m, ints[EQUALITY_A]);
}

static void put_joined(const world_sizes *n, const equality *e, double places[2][7],
                       const double weights[2], int *ints, double *row, const scene_tables *m)
{
  ints[EQUALITY_A] = e->of[0];
  ints[EQUALITY_B] = e->of[1];
  for (int side = 0; side < 2; ++side) {
    const int link = e->of[side];
    const int tree = link == WORLD ? -1 : m->ints[n->at_links + LINK_INTS * link + LINK_TREE];
    ints[EQUALITY_TREE] = tree >= 0 ? tree : ints[EQUALITY_TREE];
    memcpy(row + (side ? EQUALITY_PLACE_B : EQUALITY_PLACE_A), places[side], sizeof places[side]);
  }
  row[EQUALITY_WEIGHT] = weights[0];
  row[EQUALITY_TURN_WEIGHT] = weights[1];
  row[EQUALITY_TORQUE] = e->torque_scale;
}

static void put_equalities(const scene_def *s, const scene_constants *c, const world_sizes *n,
                           scene_tables *m)
{
  coordinate_end end = {0, 0};
  put_tendons(s, c, n, m, &end);
  for (size_t i = 0; i < s->equality_count; ++i) {
    const equality *e = &s->equalities[i];
    int *ints = m->ints + n->at_equalities + EQUALITY_INTS * (int)i;
    double *row = m->reals + n->at_equality_reals + EQUALITY_REALS * (int)i;
    put_softness(&e->soft, s->timestep, row + EQUALITY_SOFT);
    ints[EQUALITY_KIND] = e->kind == EQUALITY_OF_POINTS   ? EQUALITY_CONNECT
                          : e->kind == EQUALITY_OF_PLACES ? EQUALITY_WELD
                                                          : EQUALITY_COORDINATES;
    if (couples(e)) {
      put_coupling(c, n, e, ints, row, m, &end);
    } else {
      put_joined(n, e, c->places[i], c->equality_weights[i], ints, row, m);
    }
  }
}

/* ---- rows on one degree of freedom ---- */

static void put_row(const world_sizes *n, scene_tables *m, int row, int kind, int q, int v,
                    double step, const softness *soft, double end, double weight)
{
  int *ints = m->ints + n->at_rows + ROW_INTS * row;
  double *to = m->reals + n->at_row_reals + ROW_REALS * row;
  ints[ROW_KIND] = kind;
  ints[ROW_Q] = q;
  ints[ROW_V] = v;
  put_softness(soft, step, to + ROW_SOFT);
  to[ROW_END] = end;
  to[ROW_WEIGHT] = weight;
}

static void put_rows(const scene_def *s, const scene_constants *c, const world_sizes *n,
                     scene_tables *m)
{
  int row = 0;
  for (size_t i = 0; i < s->link_count; ++i) {
    const joint *j = &s->links[i].joint;
    const int q = c->qadr[i], v = c->vadr[i];
    for (int end = 0; j->limited && end < 2; ++end) {
      put_row(n, m, row++, end ? ROW_HIGH : ROW_LOW, q, v, s->timestep, &j->limit, j->limits[end],
              c->dof_invweight[v]);
    }
    for (int k = 0; j->friction_loss > 0.0 && k < joint_dofs(j->type); ++k) {
      put_row(n, m, row++, ROW_LOSS, q, v + k, s->timestep, &j->friction, j->friction_loss,
              c->dof_invweight[v + k]);
    }
  }
}

double tables_weight(const scene_constants *c, const int link[2])
{
  double sum = 0.0;
  for (int k = 0; k < 2; ++k) {
    sum += link[k] >= 0 ? c->link_invweight[link[k]] : 0.0;
  }
  return sum;
}

/* Returns the link whose origin is the reference point of a group's contacts: the first moving
 * link. The origin of the other link, such as a floor, may be far away; the squares of such
 * distances would swamp the link's rotation in float32. */
static int centre_of(const scene_tables *m, const contact_group *g)
{
  for (int side = 0; side < 2; ++side) {
    const int link = g->link[side];
    if (link >= 0 && m->ints[m->sizes.at_links + LINK_INTS * link + LINK_TREE] >= 0) {
      return link;
    }
  }
  return g->link[0] >= 0 ? g->link[0] : g->link[1];
}

/* Sets a bound for all groups: if the slowest possible is not fast, none is
 * (cl/kernels/world/watch.cl). */
static void bound_groups(const world_sizes *n, scene_tables *m)
{
  double *to = m->reals;
  to[WORLD_HALF_LEAST] = HALF_UNKNOWN;
  to[WORLD_REACH_MOST] = 0.0;
  for (int i = 0; i < n->groups; ++i) {
    double *row = m->reals + n->at_group_reals + GROUP_REALS * i, reach = 0.0;
    const double half = row[GROUP_HALF];
    for (int side = 0; side < 2; ++side) {
      const double *ball = row + GROUP_BALLS + BALL_REALS * side;
      reach += hypot(hypot(ball[0], ball[1]), ball[2]) + ball[3];
    }
    row[GROUP_SPAN] = reach;
    if (half > 0.0) {
      to[WORLD_HALF_LEAST] = fmin(to[WORLD_HALF_LEAST], half);
      to[WORLD_REACH_MOST] = fmax(to[WORLD_REACH_MOST], reach);
    }
  }
}

static void put_groups(const scene_def *s, const scene_constants *c, const contact_group *groups,
                       const world_sizes *n, scene_tables *m)
{
  int mover = 0;
  for (int i = 0; i < n->groups; ++i) {
    const contact_group *g = &groups[i];
    int *ints = m->ints + n->at_groups + GROUP_INTS * i;
    double *row = m->reals + n->at_group_reals + GROUP_REALS * i;
    row[GROUP_WEIGHT] = tables_weight(c, g->link);
    put_softness(&s->pairs[g->pair].soft, s->timestep, row + GROUP_SOFT);
    row[GROUP_MARGIN] = s->pairs[g->pair].margin;
    row[GROUP_HALF] = g->is_tile ? 0.0 : s->pairs[g->pair].half; /* the pair is checked once */
    memcpy(row + GROUP_BALLS, s->pairs[g->pair].ball, sizeof s->pairs[g->pair].ball);
    row[GROUP_SWEEP_HALF] = s->pairs[g->pair].sweep_half;
    row[GROUP_APART] = s->pairs[g->pair].apart;
    row[GROUP_FLAT] = s->pairs[g->pair].condim == 1;
    ints[GROUP_A] = g->link[0];
    ints[GROUP_B] = g->link[1];
    ints[GROUP_PAIR] = g->pair;
    ints[GROUP_COLUMN_A] = s->pairs[g->pair].column[0];
    ints[GROUP_COLUMN_B] = s->pairs[g->pair].column[1];
    ints[GROUP_CENTRE] = centre_of(m, g);
    ints[GROUP_DOFS] = count_movers(s, g);
    ints[GROUP_DOF_AT] = mover;
    /* multipliers of so many slots are refused */
    ints[GROUP_SLOT] = g->slot < INT_MAX ? (int)g->slot : INT_MAX;
    mover += ints[GROUP_DOFS];
    put_movers(s, c, g, m->ints + n->at_group_dofs + MOVER_INTS * mover);
  }
  bound_groups(n, m);
}

static void put_settings(const scene_def *s, double tolerance, scene_tables *m)
{
  double *r = m->reals;
  r[WORLD_STEP] = s->timestep;
  r[WORLD_IMPRATIO] = s->impratio;
  r[WORLD_TOLERANCE] = tolerance;
  r[WORLD_LINE_TOLERANCE] = s->line_tolerance;
  r[WORLD_CONE_SMOOTHING] = s->cone_smoothing;
  r[WORLD_LIMIT_SMOOTHING] = s->limit_smoothing;
  r[WORLD_DIVERGENCE] = s->divergence;
  r[WORLD_ERROR_REDUCTION] = s->hard.error_reduction;
  r[WORLD_SLOP] = s->hard.slop;
  r[WORLD_CORRECTION] = s->hard.correction;
  r[WORLD_LIMIT_MARGIN] = s->hard.limit_margin;
  r[WORLD_BOUNCE] = s->hard.bounce;
  r[WORLD_THRESHOLD] = s->hard.threshold;
}

static void put_parameters(const scene_def *s, scene_tables *m)
{
  double *to = m->parameters;
  for (size_t i = 0; i < s->link_count; ++i) {
    *to++ = 1.0;
  }
  for (size_t i = 0; i < s->column_count; ++i) {
    to[i] = scene_column_friction(s, i);
    to[s->column_count + i] = 1.0;
  }
  memcpy(to + 2 * s->column_count, s->gravity, sizeof s->gravity);
}

/* ---- sizes ---- */

static abut_status refuse_count(size_t count, const char *what)
{
  return count <= INT_MAX
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "a world has %zu %s, which is too many for the kernels",
                  count, what);
}

/* Reserves `count` places after those already taken and returns the first. Beyond INT_MAX it
 * returns 0, which is never used: lay_out refuses such a scene once everything is counted. */
static int place_behind(size_t *taken, size_t count)
{
  const size_t at = *taken;
  *taken += count;
  return at <= INT_MAX ? (int)at : 0;
}

static void lay_out_tables(world_sizes *n, size_t movers, size_t members, size_t *ints,
                           size_t *real_count)
{
  n->at_links = place_behind(ints, LINK_INTS * (size_t)n->links);
  n->at_actuators = place_behind(ints, ACTUATOR_INTS * (size_t)n->actuators);
  n->at_rows = place_behind(ints, ROW_INTS * (size_t)n->rows);
  n->at_groups = place_behind(ints, GROUP_INTS * (size_t)n->groups);
  n->at_group_dofs = place_behind(ints, MOVER_INTS * movers);
  n->at_dofs = place_behind(ints, DOF_INTS * (size_t)n->nv);
  n->at_trees = place_behind(ints, TREE_INTS * (size_t)n->trees);
  n->at_tree_dofs = place_behind(ints, (size_t)n->nv);
  n->at_coordinates = place_behind(ints, COORDINATE_INTS * (size_t)n->coordinates);
  n->at_members = place_behind(ints, MEMBER_INTS * members);
  n->at_equalities = place_behind(ints, EQUALITY_INTS * (size_t)n->equalities);
  place_behind(real_count, WORLD_REALS);
  n->at_link_reals = place_behind(real_count, LINK_REALS * (size_t)n->links);
  n->at_dof_reals = place_behind(real_count, DOF_REALS * (size_t)n->nv);
  n->at_actuator_reals = place_behind(real_count, ACTUATOR_REALS * (size_t)n->actuators);
  n->at_row_reals = place_behind(real_count, ROW_REALS * (size_t)n->rows);
  n->at_group_reals = place_behind(real_count, GROUP_REALS * (size_t)n->groups);
  n->at_member_reals = place_behind(real_count, members);
  n->at_tendon_reals = place_behind(real_count, TENDON_REALS * (size_t)n->tendons);
  n->at_equality_reals = place_behind(real_count, EQUALITY_REALS * (size_t)n->equalities);
  n->at_springs = place_behind(real_count, n->pair_springs ? SPRING_NUMBERS * (size_t)n->pairs : 0);
}

static size_t lay_out_numbers(world_sizes *n, bool mobility)
{
  const size_t links = (size_t)n->links, nv = (size_t)n->nv, blocks = (size_t)n->blocks;
  size_t at = 0;
  n->at_rotation = place_behind(&at, 9 * links);
  n->at_quaternion = place_behind(&at, 4 * links);
  n->at_origin = place_behind(&at, 3 * links);
  n->at_anchor = place_behind(&at, 3 * links);
  n->at_arm = place_behind(&at, 3 * links);
  n->at_axis = place_behind(&at, 3 * nv);
  n->at_velocity = place_behind(&at, 6 * links);
  n->at_acceleration = place_behind(&at, 6 * links);
  n->at_force = place_behind(&at, 6 * links);
  n->at_composite = place_behind(&at, COMPOSITE_NUMBERS * links);
  n->at_mass = place_behind(&at, blocks);
  n->at_factor = place_behind(&at, blocks);
  n->at_smooth = place_behind(&at, nv);
  n->at_bias = place_behind(&at, nv);
  n->at_free = place_behind(&at, nv);
  const bool held = n->equalities > 0;
  n->at_system = held ? place_behind(&at, blocks) : n->at_mass;
  n->at_mass_factor = held ? place_behind(&at, blocks) : n->at_factor;
  n->at_unheld = held ? place_behind(&at, nv) : n->at_free;
  n->at_equality = place_behind(&at, held ? 6 * nv : 0);
  n->at_constraint_force = place_behind(&at, n->pair_springs ? nv : 0);
  n->at_mobility = place_behind(&at, mobility ? 36 * (size_t)n->groups : 0);
  n->at_row_weights = place_behind(&at, mobility ? nv : 0);
  n->at_columns = place_behind(&at, mobility ? 6 * nv : 0);
  return at;
}

static size_t lay_out_adjoint(world_sizes *n, bool mobility)
{
  const size_t links = (size_t)n->links, nv = (size_t)n->nv;
  size_t at = 0;
  n->at_back_links = place_behind(&at, LINK_ADJOINT * links);
  n->at_back_y = place_behind(&at, nv);
  n->at_back_z = place_behind(&at, nv);
  n->at_back_slow = place_behind(&at, nv);
  n->at_back_less = place_behind(&at, nv);
  n->at_back_q = place_behind(&at, nv);
  n->at_back_v = place_behind(&at, nv);
  n->at_back_u = place_behind(&at, (size_t)n->nu);
  n->at_back_parameters = place_behind(&at, (size_t)PARAMETERS(n->links, n->columns));
  n->at_back_mobility = place_behind(&at, mobility ? MOBILITY_PART * (size_t)n->groups : 0);
  return at;
}

static size_t lay_out_work(world_sizes *n, size_t lanes)
{
  const size_t nv = (size_t)n->nv, trees = (size_t)n->trees;
  size_t at = 0;
  n->pooled = n->newton && nv > PANEL_DOFS_MOST;
  n->at_axes_of = place_behind(&at, AXIS_REALS * nv);
  n->at_mass_of = place_behind(&at, (size_t)n->blocks + (lanes - 1) * nv);
  n->at_vectors = place_behind(&at, VECTORS * nv);
  n->at_row_terms = place_behind(&at, ROW_TERMS * (size_t)n->rows);
  n->at_islands = place_behind(&at, n->newton ? ISLAND_NUMBERS * trees : 0);
  n->at_room = place_behind(&at, n->newton ? PANEL_STRIDE(nv, lanes) : 0);
  n->at_passes = place_behind(&at, n->newton ? PASS_REALS * (size_t)n->links : 0);
  n->at_panels =
    place_behind(&at, n->newton && !n->pooled ? PANELS_MOST(nv, (size_t)n->blocks, lanes) : 0);
  return at;
}

size_t tables_countable(const contact_group *groups, size_t count, size_t capacity, size_t lanes,
                        size_t *slots)
{
  *slots = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t left = TABLES_SLOTS_MOST - *slots, room = room_for(groups[i].contacts, capacity);
    if (room > left || whole_blocks(room, lanes) > left) {
      *slots = room > SIZE_MAX - *slots ? SIZE_MAX : *slots + room;
      return i;
    }
    *slots += whole_blocks(room, lanes);
  }
  return count;
}

bool tables_bounds_slots(const scene_def *s)
{
  return !s->automatic || s->law->keeps_slots;
}

bool tables_is_damped(const scene_def *s)
{
  bool damped = false;
  for (size_t i = 0; i < s->link_count; ++i) {
    damped = damped || s->links[i].joint.damping > 0.0;
  }
  return damped;
}

double *tables_group(scene_tables *m, int i)
{
  return m->reals + m->sizes.at_group_reals + GROUP_REALS * i;
}

int *tables_group_ints(scene_tables *m, int i)
{
  return m->ints + m->sizes.at_groups + GROUP_INTS * i;
}

static abut_status count_sizes(const scene_def *s, const scene_constants *c,
                               const contact_group *groups, size_t group_count, size_t lanes,
                               world_sizes *out)
{
  size_t slots, members;
  TRY(refuse_count(group_count, "groups of contacts"));
  const bool few = tables_countable(groups, group_count, s->capacity, lanes, &slots) == group_count;
  if (!few && !tables_bounds_slots(s)) {
    slots = TABLES_SLOTS_MOST; /* only used to bound the expected needs of a world */
  } else if (!few) {
    return fail(ABUT_ERROR_ARGUMENT, "a world has %zu contact slots; the kernels take at most %zu",
                slots, TABLES_SLOTS_MOST);
  }
  *out = (world_sizes){.links = (int)s->link_count,
                       .nq = c->nq,
                       .nv = c->nv,
                       .nu = (int)scene_control_count(s),
                       .actuators = (int)s->actuator_count,
                       .pairs = (int)s->pair_count,
                       .listed = (int)s->listed_count,
                       .columns = (int)s->column_count,
                       .groups = (int)group_count,
                       .rows = count_rows(s),
                       .coordinates = count_coordinates(s, &members),
                       .tendons = (int)s->tendon_count,
                       .equalities = (int)s->equality_count,
                       .trees = c->trees.count,
                       .blocks = c->trees.blocks,
                       .iterations = s->iterations,
                       .line_iterations = s->line_iterations,
                       .capacity = (int)s->capacity,
                       .slots = (int)slots};
  s->law->sizes(s, slots, out);
  return ABUT_SUCCESS;
}

/* Sets the sizes and the lengths of the tables. */
static abut_status lay_out(const scene_def *s, const scene_constants *c,
                           const contact_group *groups, size_t group_count, size_t lanes,
                           scene_tables *out)
{
  world_sizes *n = &out->sizes;
  size_t movers = 0, members;
  count_coordinates(s, &members);
  TRY(count_sizes(s, c, groups, group_count, lanes, n));
  for (size_t i = 0; i < group_count; ++i) {
    movers += (size_t)count_movers(s, &groups[i]);
  }
  lay_out_tables(n, movers, members, &out->int_count, &out->real_count);
  const bool mobility = s->law->needs_mobility && s->law->needs_mobility(s, c, groups, group_count);
  const size_t numbers = lay_out_numbers(n, mobility);
  const size_t back = lay_out_adjoint(n, mobility), work = lay_out_work(n, lanes);
  TRY(refuse_count(out->int_count, "integers in tables"));
  TRY(refuse_count(out->real_count, "numbers in tables"));
  TRY(refuse_count(numbers, "numbers"));
  TRY(refuse_count(back, "numbers backwards"));
  TRY(refuse_count(work, "numbers of the solver"));
  n->numbers = (int)numbers;
  n->back_numbers = (int)back;
  n->work = (int)work;
  out->parameter_count = (size_t)PARAMETERS(n->links, n->columns);
  return ABUT_SUCCESS;
}

abut_status tables_make(const scene_def *s, const scene_constants *c, const contact_group *groups,
                        size_t group_count, size_t lanes, double tolerance, scene_tables *out)
{
  void *memory[3];
  abut_status status = ABUT_SUCCESS;
  *out = (scene_tables){.ints = NULL};
  world_sizes *n = &out->sizes;
  TRY_DONE(lay_out(s, c, groups, group_count, lanes, out));
  /* There may be no ints, but no buffer may be empty. */
  TRY_DONE(arena_allocate(&out->memory, &memory[0], out->int_count + 1, sizeof(int)));
  TRY_DONE(arena_allocate(&out->memory, &memory[1], out->real_count, sizeof(double)));
  TRY_DONE(arena_allocate(&out->memory, &memory[2], out->parameter_count, sizeof(double)));
  out->ints = memory[0];
  out->reals = memory[1];
  out->parameters = memory[2];
  put_settings(s, tolerance, out);
  put_links(s, c, n, out);
  put_trees(s, c, n, out);
  put_equalities(s, c, n, out);
  put_actuators(s, c, n, out);
  put_rows(s, c, n, out);
  put_groups(s, c, groups, n, out);
  put_parameters(s, out);
  if (s->law->put) {
    s->law->put(s, c, groups, out);
  }
done:
  if (status != ABUT_SUCCESS) {
    tables_free(out);
  }
  return status;
}

void tables_free(scene_tables *m)
{
  arena_free(&m->memory);
  memset(m, 0, sizeof *m);
}
