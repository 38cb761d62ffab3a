#include "scene/constants.h"

#include "base/error.h"
#include "math/rigid.h"
#include "math/vector.h"
#include "scene/place.h"
#include "scene/file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* An inertia below this share of the summed terms is a rounding error. */
#define INERTIA_LEAST 1e-13

/* ---- small vectors ---- */

/* ---- masses ---- */

/* Returns the faces that a density fills: the mesh or, if that has no faces, the surface. */
static abut_body_def filled_of(const abut_body_def *d)
{
  const abut_surface *s = &d->surface;
  return d->face_count || !s->face_count ? *d
                                         : (abut_body_def){.vertices = s->vertices,
                                                           .vertex_count = s->vertex_count,
                                                           .face_sizes = s->face_sizes,
                                                           .face_indices = s->face_indices,
                                                           .face_count = s->face_count};
}

/* Adds the mass of body k of link i at the link's density to *out, which body 0 initializes. */
static abut_status mass_of_body(const scene_def *s, size_t i, size_t k, const abut_body_def *mesh,
                                mass *out)
{
  const scene_link *l = &s->links[i];
  const scene_body *b = &l->bodies[k];
  mass own;
  const abut_body_def filled = filled_of(mesh);
  const abut_status status = mass_of_mesh(&filled, l->density, &own);
  if (status == ABUT_ERROR_BODY) {
    char cause[512];
    snprintf(cause, sizeof cause, "%s", abut_last_error());
    return scene_fail(s, (scene_place){"links", i, "bodies", true, k},
                      "no mass follows from its density: %s", cause);
  }
  TRY(status);
  const mass placed = mass_moved(&own, b->position, b->quaternion);
  *out = k ? mass_sum(out, &placed) : placed;
  return ABUT_SUCCESS;
}

static abut_status find_masses(const scene_def *s, const abut_body_def *const *bodies,
                               scene_constants *c)
{
  size_t number = 0;
  for (size_t i = 0; i < s->link_count; ++i) {
    const scene_link *l = &s->links[i];
    c->masses[i].mass = l->mass;
    memcpy(c->masses[i].com, l->com, sizeof l->com);
    memcpy(c->masses[i].inertia, l->inertia, sizeof l->inertia);
    for (size_t k = 0; k < l->body_count; ++k, ++number) {
      if (l->density > 0.0) {
        TRY(mass_of_body(s, i, k, bodies[number], &c->masses[i]));
      }
    }
    const double *inertia = c->masses[i].inertia;
    if (!isfinite(c->masses[i].mass) || !isfinite(inertia[0] + inertia[4] + inertia[8])) {
      return scene_fail(s, (scene_place){"links", i, NULL, false, 0}, "its mass is not finite");
    }
  }
  return ABUT_SUCCESS;
}

/* ---- the tree at q0 ---- */

/* The motion for one degree of freedom at unit speed. A point p that it moves has the velocity axis
 * x (p - anchor) if it is a rotation, else axis. */
typedef struct motion {
  size_t link;
  int of; /* its index among its joint's degrees of freedom */
  bool turns;
  double axis[3], anchor[3];
} motion;

typedef struct tree {
  const scene_def *s;
  scene_constants *c;
  double (*at)[PLACE]; /* (links) */
  double (*centre)[3]; /* (links) centres of mass, in the world */
  mass *turned;        /* (links) the masses with their inertias in world axes */
  motion *dofs;        /* (nv) */
  double *scale, *row; /* (nv) for add_link, and workspace */
} tree;

/* The degrees of freedom that move a link, in ascending order: its own and those of all its
 * ancestors. */
typedef struct movers {
  int count, of[TREE_DOFS_MOST];
} movers;

static void put_link(tree *t, size_t i)
{
  static const double at_world[3] = {0.0, 0.0, 0.0};
  const scene_link *l = &t->s->links[i];
  double *at = t->at[i], offset[3];
  place_link(l, l->parent == WORLD ? NULL : t->at[l->parent], t->c->q0 + t->c->qadr[i], at);
  place_turn(at, t->c->masses[i].com, offset);
  for (int k = 0; k < 3; ++k) {
    t->centre[i][k] = at[k] + offset[k];
  }
  t->turned[i] = mass_moved(&t->c->masses[i], at_world, at + 3);
}

/* Adds degree of freedom `of` of link i. Axes are given in the link's frame, except a free joint's
 * translations, which are along the world's axes (docs/dev/cone-formulas.md, section 2). */
static void add_dof(tree *t, size_t i, int of, bool turns, bool of_world, const double axis[3],
                    const double anchor[3])
{
  const int number = t->c->vadr[i] + of;
  motion *m = &t->dofs[number];
  *m = (motion){.link = i, .of = of, .turns = turns};
  if (of_world) {
    memcpy(m->axis, axis, sizeof m->axis);
  } else {
    place_turn(t->at[i], axis, m->axis);
  }
  memcpy(m->anchor, anchor, sizeof m->anchor);
}

static void add_joint(tree *t, size_t i)
{
  static const double unit[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const joint *j = &t->s->links[i].joint;
  double anchor[3];
  place_turn(t->at[i], j->position, anchor);
  for (int k = 0; k < 3; ++k) {
    anchor[k] += t->at[i][k];
  }
  const int moves = JOINT_MOVES(j->type), of_world = JOINT_IS_OF_WORLD(j->type);
  for (int k = 0; k < joint_dofs(j->type); ++k) {
    const bool turns = k >= moves;
    const bool many = turns ? JOINT_HAS_QUATERNION(j->type) : of_world;
    add_dof(t, i, k, turns, of_world && !turns, many ? unit[turns ? k - moves : k] : j->axis,
            of_world ? t->at[i] : anchor);
  }
}

/* Computes the column of a point's Jacobian for one degree of freedom: the linear velocity, and the
 * angular velocity of the link. */
static void column(const tree *t, const double point[3], int dof, double linear[3],
                   double angular[3])
{
  const motion *m = &t->dofs[dof];
  double arm[3];
  for (int k = 0; k < 3; ++k) {
    arm[k] = point[k] - m->anchor[k];
    angular[k] = m->turns ? m->axis[k] : 0.0;
    linear[k] = m->axis[k];
  }
  if (m->turns) {
    cross(m->axis, arm, linear);
  }
}

/* ---- the mass matrix ---- */

static movers movers_of(const tree *t, size_t link)
{
  movers m = {0};
  for (int i = (int)link; i != WORLD; i = t->s->links[i].parent) {
    m.count += joint_dofs(t->s->links[i].joint.type);
  }
  for (int i = (int)link, at = m.count; i != WORLD; i = t->s->links[i].parent) {
    for (int k = joint_dofs(t->s->links[i].joint.type); k-- > 0;) {
      m.of[--at] = t->c->vadr[i] + k;
    }
  }
  return m;
}

/* Adds a link's J' I J to the mass matrix, with J (6, nv) and I of mass and inertia
 * (docs/dev/cone-formulas.md, section 5). To t->scale[dof] it adds the largest inertia that the
 * link could have about that degree of freedom for any axis. This scale distinguishes a rounding
 * error from a real inertia. */
static void add_link(tree *t, size_t i)
{
  const mass *m = &t->turned[i];
  const movers by = movers_of(t, i);
  double linear[TREE_DOFS_MOST][3], angular[TREE_DOFS_MOST][3], momentum[3];
  for (int a = 0; a < by.count; ++a) {
    double arm2 = 0.0;
    const motion *d = &t->dofs[by.of[a]];
    column(t, t->centre[i], by.of[a], linear[a], angular[a]);
    for (int k = 0; k < 3; ++k) {
      momentum[k] = dot(m->inertia + 3 * k, angular[a]);
    }
    for (int b = 0; b <= a; ++b) {
      t->c->mass_matrix[trees_place(&t->c->trees, by.of[a], by.of[b])] +=
        m->mass * dot(linear[a], linear[b]) + dot(momentum, angular[b]);
    }
    for (int k = 0; k < 3; ++k) {
      arm2 += pow(t->centre[i][k] - d->anchor[k], 2.0);
    }
    t->scale[by.of[a]] += d->turns ? m->mass * arm2 + m->inertia[0] + m->inertia[4] + m->inertia[8]
                                   : m->mass;
  }
}

static abut_status no_inertia(const tree *t, int dof, const char *why)
{
  const motion *m = &t->dofs[dof];
  return scene_fail(t->s, (scene_place){"links", m->link, "joint", false, 0},
                    "its degree of freedom %d %s: give the link a density, or an inertia besides "
                    "its mass, or give the joint an armature",
                    m->of, why);
}

static abut_status make_matrix(tree *t)
{
  const scene_trees *trees = &t->c->trees;
  for (size_t i = 0; i < t->s->link_count; ++i) {
    add_link(t, i);
  }
  for (int a = 0; a < t->c->nv; ++a) {
    const double armature = t->s->links[t->dofs[a].link].joint.armature;
    const scene_tree *of = &trees->at[trees->of[a]];
    double *m = t->c->mass_matrix + of->block;
    const int i = trees->place[a], at = i * (of->count + 1);
    if (!isfinite(m[at])) {
      return scene_fail(t->s, (scene_place){"links", t->dofs[a].link, "joint", false, 0},
                        "the inertia that it moves is not finite");
    }
    if (armature == 0.0 && m[at] <= INERTIA_LEAST * t->scale[a]) {
      return no_inertia(t, a, "moves no inertia");
    }
    m[at] += armature;
    for (int k = 0; k < i; ++k) {
      m[k * of->count + i] = m[i * of->count + k];
    }
  }
  return ABUT_SUCCESS;
}

/* Computes the lower triangles of L (trees.blocks), L L' = M. If a pivot is 0 up to rounding, fails
 * with the degree of freedom that moves no inertia of its own. */
static abut_status factor(const tree *t, double *l)
{
  const scene_trees *trees = &t->c->trees;
  for (int dof = 0; dof < t->c->nv; ++dof) {
    const scene_tree *of = &trees->at[trees->of[dof]];
    const double *m = t->c->mass_matrix + of->block;
    double *own = l + of->block;
    const int n = of->count, a = trees->place[dof];
    for (int b = 0; b <= a; ++b) {
      double sum = m[a * n + b];
      for (int k = 0; k < b; ++k) {
        sum -= own[a * n + k] * own[b * n + k];
      }
      own[a * n + b] = a == b ? sqrt(sum) : sum / own[b * n + b];
      if (a == b && !(sum > INERTIA_LEAST * m[a * n + a] && isfinite(sum))) {
        return no_inertia(t, dof,
                          "moves no inertia independently of the degrees of freedom before it");
      }
    }
  }
  return ABUT_SUCCESS;
}

/* Returns j M^-1 j' of a row j (nv), which it overwrites. j must be 0 except in the degrees of
 * freedom of one tree. */
static double weight(const tree *t, const double *l, int which, double *j)
{
  const scene_tree *of = &t->c->trees.at[which];
  const int *dofs = t->c->trees.dofs + of->first;
  double sum = 0.0;
  for (int a = 0; a < of->count; ++a) {
    const double *row = l + of->block + a * of->count;
    for (int k = 0; k < a; ++k) {
      j[dofs[a]] -= row[k] * j[dofs[k]];
    }
    j[dofs[a]] /= row[a];
    sum += j[dofs[a]] * j[dofs[a]];
  }
  return sum;
}

/* Sets the degrees of freedom of a tree in t->row to zero. */
static void clear_row(const tree *t, int which)
{
  const scene_tree *of = &t->c->trees.at[which];
  for (int a = 0; a < of->count; ++a) {
    t->row[t->c->trees.dofs[of->first + a]] = 0.0;
  }
}

/* Returns tr(J M^-1 J') / 3, with the Jacobian J (3, nv) of the link's centre of mass or, if
 * `turns` is set, of its angular velocity. */
static double weight_of_link(const tree *t, size_t i, const double *l, bool turns)
{
  const movers by = movers_of(t, i);
  double sum = 0.0;
  for (int k = 0; k < 3 && by.count; ++k) {
    const int which = t->c->trees.of[by.of[0]];
    clear_row(t, which);
    for (int a = 0; a < by.count; ++a) {
      double linear[3], angular[3];
      column(t, t->centre[i], by.of[a], linear, angular);
      t->row[by.of[a]] = turns ? angular[k] : linear[k];
    }
    sum += weight(t, l, which, t->row) / 3.0;
  }
  return sum;
}

/* Returns j M^-1 j' of a tendon's coefficients j, tree by tree. */
static double weight_of_tendon(const tree *t, const tendon *own, const double *l)
{
  double sum = 0.0;
  for (int which = 0; which < t->c->trees.count; ++which) {
    bool any = false;
    clear_row(t, which);
    for (size_t k = 0; k < own->part_count; ++k) {
      const int dof = t->c->vadr[own->parts[k].link];
      if (t->c->trees.of[dof] == which) {
        t->row[dof] += own->parts[k].coefficient;
        any = true;
      }
    }
    sum += any ? weight(t, l, which, t->row) : 0.0;
  }
  return sum;
}

/* Replaces the weights of `count` degrees of freedom starting at `first` by their mean. */
static void average(double *weights, int first, int count)
{
  double sum = 0.0;
  for (int a = first; a < first + count; ++a) {
    sum += weights[a] / count;
  }
  for (int a = first; a < first + count; ++a) {
    weights[a] = sum;
  }
}

static void weigh(const tree *t, const double *l)
{
  for (int a = 0; a < t->c->nv; ++a) {
    const int which = t->c->trees.of[a];
    clear_row(t, which);
    t->row[a] = 1.0;
    t->c->dof_invweight[a] = weight(t, l, which, t->row);
  }
  for (size_t i = 0; i < t->s->link_count; ++i) {
    const int dofs = joint_dofs(t->s->links[i].joint.type);
    t->c->link_invweight[i] = weight_of_link(t, i, l, false);
    for (int k = JOINT_MOVES(t->s->links[i].joint.type) % 3; k + 2 < dofs; k += 3) {
      average(t->c->dof_invweight, t->c->vadr[i] + k, 3);
    }
  }
  for (size_t i = 0; i < t->s->tendon_count; ++i) {
    t->c->tendon_invweight[i] = weight_of_tendon(t, &t->s->tendons[i], l);
  }
}

/* ---- initial values of tendons and equalities ---- */

static void find_lengths(const tree *t)
{
  for (size_t i = 0; i < t->s->tendon_count; ++i) {
    const tendon *own = &t->s->tendons[i];
    t->c->tendon_start[i] = 0.0;
    for (size_t k = 0; k < own->part_count; ++k) {
      t->c->tendon_start[i] += own->parts[k].coefficient * t->c->q0[t->c->qadr[own->parts[k].link]];
    }
  }
}

/* Computes the frames of both sides of an equality on their links. If the second frame is not
 * stated, it coincides with the first at q0. */
static void find_places(const tree *t, const equality *e, double out[2][7])
{
  rigid of[2], own[2];
  for (int side = 0; side < 2; ++side) {
    const rigid still = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    of[side] = still;
    if (e->of[side] != WORLD) {
      memcpy(of[side].t, t->at[e->of[side]], sizeof of[side].t);
      memcpy(of[side].q, t->at[e->of[side]] + 3, sizeof of[side].q);
    }
    memcpy(own[side].t, e->position[side], sizeof own[side].t);
    memcpy(own[side].q, e->quaternion[side], sizeof own[side].q);
  }
  const rigid first = rigid_product(&of[0], &own[0]), back = rigid_inverse(&of[1]);
  const rigid met = rigid_product(&back, &first);
  if (!e->meets) {
    memcpy(own[1].t, met.t, sizeof met.t);
  }
  if (!e->turned) {
    memcpy(own[1].q, met.q, sizeof met.q);
  }
  for (int side = 0; side < 2; ++side) {
    memcpy(out[side], own[side].t, sizeof own[side].t);
    memcpy(out[side] + 3, own[side].q, sizeof own[side].q);
  }
}

/* ---- weights of equalities ---- */

/* A weight of links below this share of the rows' own mobility is not meaningful: for example, that
 * of a wheel that turns about its centre of mass is 0 (docs/dev/cone-formulas.md, section 8). */
#define WEAK_SHARE 1e-4

/* Adds to t->row, times `sign`, the effect at q0 of the degrees of freedom that move a link: on the
 * velocity of a point, or on the link's angular velocity, along axis k. */
static void add_rates(const tree *t, int link, const double point[3], bool turns, int k,
                      double sign)
{
  if (link == WORLD) {
    return;
  }
  const movers by = movers_of(t, (size_t)link);
  for (int a = 0; a < by.count; ++a) {
    double linear[3], angular[3];
    column(t, point, by.of[a], linear, angular);
    t->row[by.of[a]] += sign * (turns ? angular[k] : linear[k]);
  }
}

/* Returns tr(J M^-1 J') / 3 of an equality's rows at q0, either those for points or those for
 * rotation. */
static double weight_of_rows(const tree *t, const equality *e, double places[2][7], bool turns,
                             const double *l)
{
  const int link = e->of[0] == WORLD || !movers_of(t, (size_t)e->of[0]).count ? e->of[1] : e->of[0];
  const int which = t->c->trees.of[movers_of(t, (size_t)link).of[0]];
  double points[2][3], sum = 0.0;
  for (int side = 0; side < 2; ++side) {
    memcpy(points[side], places[side], sizeof points[side]);
    if (e->of[side] != WORLD) {
      place_turn(t->at[e->of[side]], places[side], points[side]);
      for (int k = 0; k < 3; ++k) {
        points[side][k] += t->at[e->of[side]][k];
      }
    }
  }
  for (int k = 0; k < 3; ++k) {
    clear_row(t, which);
    add_rates(t, e->of[0], points[0], turns, k, 1.0);
    add_rates(t, e->of[1], points[1], turns, k, -1.0);
    sum += weight(t, l, which, t->row) / 3.0;
  }
  return sum;
}

/* Computes the weights of an equality of links: the sums of the links' weights, or those of the
 * equality's rows if the former are not meaningful. */
static void weigh_equality(const tree *t, size_t i, const double *l)
{
  const equality *e = &t->s->equalities[i];
  for (int turns = 0; turns < 2; ++turns) {
    double *out = &t->c->equality_weights[i][turns];
    *out = 0.0;
    for (int side = 0; side < 2; ++side) {
      *out += e->of[side] == WORLD ? 0.0 : weight_of_link(t, (size_t)e->of[side], l, turns);
    }
    const double rows = weight_of_rows(t, e, t->c->places[i], turns, l);
    *out = *out < WEAK_SHARE * rows ? rows : *out;
  }
}

static void find_starts(const tree *t, const double *l)
{
  find_lengths(t);
  for (size_t i = 0; i < t->s->equality_count; ++i) {
    const equality *e = &t->s->equalities[i];
    if (e->kind <= EQUALITY_OF_PLACES) {
      find_places(t, e, t->c->places[i]);
      weigh_equality(t, i, l);
    }
  }
}

static abut_status make_tree(tree *t, arena *work)
{
  void *at;
  const size_t links = t->s->link_count, nv = (size_t)t->c->nv;
  TRY(arena_allocate(work, &at, links, sizeof *t->at));
  t->at = at;
  TRY(arena_allocate(work, &at, links, sizeof *t->centre));
  t->centre = at;
  TRY(arena_allocate(work, &at, links, sizeof *t->turned));
  t->turned = at;
  TRY(arena_allocate(work, &at, nv, sizeof *t->dofs));
  t->dofs = at;
  TRY(arena_allocate(work, &at, nv, sizeof *t->scale));
  t->scale = at;
  TRY(arena_allocate(work, &at, nv, sizeof *t->row));
  t->row = at;
  for (size_t i = 0; i < links; ++i) {
    put_link(t, i);
    add_joint(t, i);
  }
  return ABUT_SUCCESS;
}

static abut_status find_weights(const scene_def *s, scene_constants *c)
{
  abut_status status = ABUT_SUCCESS;
  arena work = {0};
  void *l;
  tree t = {.s = s, .c = c};
  TRY_DONE(make_tree(&t, &work));
  TRY_DONE(make_matrix(&t));
  TRY_DONE(arena_allocate(&work, &l, (size_t)c->trees.blocks, sizeof(double)));
  TRY_DONE(factor(&t, l));
  weigh(&t, l);
  find_starts(&t, l);
done:
  arena_free(&work);
  return status;
}

/* ---- counts ---- */

static abut_status count(const scene_def *s, scene_constants *c)
{
  void *at;
  TRY(arena_allocate(&c->memory, &at, s->link_count, sizeof *c->qadr));
  c->qadr = at;
  TRY(arena_allocate(&c->memory, &at, s->link_count, sizeof *c->vadr));
  c->vadr = at;
  for (size_t i = 0; i < s->link_count; ++i) {
    c->qadr[i] = c->nq;
    c->vadr[i] = c->nv;
    c->nq += joint_positions(s->links[i].joint.type);
    c->nv += joint_dofs(s->links[i].joint.type);
    if (c->nv > SCENE_DOFS_MOST) {
      return scene_fail(s, (scene_place){"links", i, NULL, false, 0},
                        "up to here the links have %d degrees of freedom; at most %d are possible",
                        c->nv, SCENE_DOFS_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status make_room(const scene_def *s, scene_constants *c)
{
  const size_t links = s->link_count, nv = (size_t)c->nv, nq = (size_t)c->nq;
  void *at;
  TRY(arena_allocate(&c->memory, &at, links, sizeof *c->masses));
  c->masses = at;
  TRY(arena_allocate(&c->memory, &at, nq, sizeof *c->q0));
  c->q0 = at;
  TRY(arena_allocate(&c->memory, &at, (size_t)c->trees.blocks, sizeof *c->mass_matrix));
  c->mass_matrix = at;
  TRY(arena_allocate(&c->memory, &at, links, sizeof *c->link_invweight));
  c->link_invweight = at;
  TRY(arena_allocate(&c->memory, &at, nv, sizeof *c->dof_invweight));
  c->dof_invweight = at;
  TRY(arena_allocate(&c->memory, &at, s->tendon_count + 1, sizeof *c->tendon_invweight));
  c->tendon_invweight = at;
  TRY(arena_allocate(&c->memory, &at, s->tendon_count + 1, sizeof *c->tendon_start));
  c->tendon_start = at;
  TRY(arena_allocate(&c->memory, &at, s->equality_count + 1, sizeof *c->places));
  c->places = at;
  TRY(arena_allocate(&c->memory, &at, s->equality_count + 1, sizeof *c->equality_weights));
  c->equality_weights = at;
  return ABUT_SUCCESS;
}

static void set_q0(const scene_def *s, scene_constants *c)
{
  for (size_t i = 0; i < s->link_count; ++i) {
    const scene_link *l = &s->links[i];
    double *q = c->q0 + c->qadr[i];
    if (JOINT_DOFS(l->joint.type) == 1) {
      q[0] = l->joint.start;
    }
    if (JOINT_HAS_QUATERNION(l->joint.type)) {
      q[JOINT_MOVES(l->joint.type)] = 1.0;
    }
    if (JOINT_IS_OF_WORLD(l->joint.type)) {
      memcpy(q, l->position, sizeof l->position);
      memcpy(q + 3, l->quaternion, sizeof l->quaternion);
    }
  }
}

abut_status scene_constants_make(const scene_def *s, const abut_body_def *const *bodies,
                                 scene_constants *out)
{
  abut_status status = ABUT_SUCCESS;
  *out = (scene_constants){0};
  TRY_DONE(count(s, out));
  TRY_DONE(trees_make(s, out->vadr, out->nv, &out->memory, &out->trees));
  TRY_DONE(make_room(s, out));
  set_q0(s, out);
  TRY_DONE(find_masses(s, bodies, out));
  TRY_DONE(find_weights(s, out));
done:
  if (status != ABUT_SUCCESS) {
    scene_constants_free(out);
  }
  return status;
}

void scene_constants_free(scene_constants *c)
{
  arena_free(&c->memory);
  *c = (scene_constants){0};
}
