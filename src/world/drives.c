/* Checks whether speeds of a tree of links grow from step to step because damping or stiffness is
 * too high for the time step.
 *
 * Near the start a tree moves by M a = -K x - (X + I) v, with stiffness K, damping X that a step
 * treats explicitly, and damping I that it treats implicitly. Speeds of Euler steps grow with
 * alternating signs unless M - (h / 2) (X - I) - (h^2 / 4) K is positive definite: at the limit, v'
 * = -v, x' = -x is a solution of the step. RK4 multiplies a decay at rate s by 1 - h s + (h s)^2 /
 * 2 - (h s)^3 / 6 + (h s)^4 / 24. With r the h s at which this is 1, the matrix is M - (h / r) X +
 * (h / r)^2 K. It is positive definite again if all rates are faster, so M - (h / (2 r)) X must be
 * positive definite, too: half of the sum of both rates stays below r / h. This does not detect
 * fast oscillations of springs with hardly any damping. Tendons couple joints; their springs and
 * actuators are not included. */
#include "world/drives.h"

#include "base/memory.h"
#include "world/law/law.h"
#include <math.h>

#define RATE_OF_RK4 2.785293563405282 /* h s from which RK4 no longer damps a decay */
#define HALVINGS 50

/* Per degree of freedom; both matrices are diagonal. */
typedef struct drives {
  const scene_def *s;
  const scene_constants *c;
  double *damping, *stiffness; /* (nv) X - I or X; K */
  double *room;                /* (trees.blocks) */
} drives;

static double damping_of(const actuator *a)
{
  return a->gear * a->gear * a->kv;
}

static double stiffness_of(const actuator *a)
{
  return a->gear * a->gear * a->kp;
}

static void add_up(const drives *d)
{
  const bool implicit = d->s->integrator == INTEGRATOR_IMPLICIT;
  const bool within = implicit ||
                      (d->s->integrator == INTEGRATOR_EULER && d->s->law->dampers_within);
  for (size_t i = 0; i < d->s->link_count; ++i) {
    const joint *j = &d->s->links[i].joint;
    for (int k = d->c->vadr[i]; k < d->c->vadr[i] + joint_dofs(j->type); ++k) {
      d->damping[k] = within ? -j->damping : j->damping;
      d->stiffness[k] = j->stiffness;
    }
  }
  for (size_t i = 0; i < d->s->actuator_count; ++i) {
    const actuator *a = &d->s->actuators[i];
    if (a->tendon != NOTHING) {
      continue;
    }
    const int k = d->c->vadr[a->link] + a->dof;
    d->damping[k] += implicit ? -damping_of(a) : damping_of(a);
    d->stiffness[k] += stiffness_of(a);
  }
}

/* Returns what damping and stiffness subtract from M's diagonal at step h. */
static double taken(const drives *d, double damping, double stiffness, double h)
{
  const bool rk4 = d->s->integrator == INTEGRATOR_RK4;
  return rk4 ? h / RATE_OF_RK4 * (damping - h / RATE_OF_RK4 * stiffness)
             : h / 2.0 * (damping + h / 2.0 * stiffness);
}

/* Whether the remaining matrix is positive definite: it has a Cholesky factor. `half`: the matrix
 * of RK4's damping at half the step, without springs. */
static bool has_factor(const drives *d, const scene_tree *tree, double h, bool half)
{
  const double *m = d->c->mass_matrix + tree->block;
  double *l = d->room + tree->block;
  const int n = tree->count;
  for (int a = 0; a < n; ++a) {
    const int dof = d->c->trees.dofs[tree->first + a];
    for (int b = 0; b <= a; ++b) {
      double sum =
        m[a * n + b] -
        (a == b ? taken(d, d->damping[dof], half ? 0.0 : d->stiffness[dof], half ? 0.5 * h : h)
                : 0.0);
      for (int k = 0; k < b; ++k) {
        sum -= l[a * n + k] * l[b * n + k];
      }
      l[a * n + b] = a == b ? sqrt(sum) : sum / l[b * n + b];
      if (a == b && !(sum > 0.0)) {
        return false;
      }
    }
  }
  return true;
}

static bool holds(const drives *d, const scene_tree *tree, double h)
{
  return has_factor(d, tree, h, false) &&
         (d->s->integrator != INTEGRATOR_RK4 || has_factor(d, tree, h, true));
}

/* Returns the longest stable step of a tree that is unstable at the scene's step. */
static double longest(const drives *d, const scene_tree *tree)
{
  double low = 0.0, high = d->s->timestep;
  for (int i = 0; i < HALVINGS; ++i) {
    const double half = low + (high - low) / 2.0;
    *(holds(d, tree, half) ? &low : &high) = half;
  }
  return low;
}

static size_t link_of(const drives *d, int dof)
{
  size_t i = d->s->link_count - 1;
  while (d->c->vadr[i] > dof || !joint_dofs(d->s->links[i].joint.type)) {
    --i;
  }
  return i;
}

/* Finds the strongest drive of a tree, relative to the inertia that its degree of freedom moves. */
static void name_hardest(const drives *d, const scene_tree *tree, drive_limit *out)
{
  const double h = d->s->timestep;
  double most = -1.0;
  int of = 0;
  for (int a = 0; a < tree->count; ++a) {
    const int dof = d->c->trees.dofs[tree->first + a];
    const double share = taken(d, d->damping[dof], d->stiffness[dof], h) * d->c->dof_invweight[dof];
    of = share > most ? dof : of;
    most = fmax(share, most);
  }
  out->link = link_of(d, of);
  out->actuator = -1;
  most = 0.0;
  double left = taken(d, d->damping[of], d->stiffness[of], h);
  for (size_t i = 0; i < d->s->actuator_count; ++i) {
    const actuator *a = &d->s->actuators[i];
    if (a->tendon == NOTHING && d->c->vadr[a->link] + a->dof == of) {
      const double own = taken(d, damping_of(a), stiffness_of(a), h);
      out->actuator = own > most ? (int)i : out->actuator;
      most = fmax(own, most);
      left -= own;
    }
  }
  out->actuator = left > most ? -1 : out->actuator;
}

abut_status drives_limit(const scene_def *s, const scene_constants *c, drive_limit *out)
{
  drives d = {.s = s, .c = c};
  arena memory = {0};
  void *at;
  abut_status status = ABUT_SUCCESS;
  *out = (drive_limit){.step = s->timestep, .actuator = -1};
  TRY_DONE(arena_allocate(&memory, &at, (size_t)c->nv, sizeof *d.damping));
  d.damping = at;
  TRY_DONE(arena_allocate(&memory, &at, (size_t)c->nv, sizeof *d.stiffness));
  d.stiffness = at;
  TRY_DONE(arena_allocate(&memory, &at, (size_t)c->trees.blocks, sizeof *d.room));
  d.room = at;
  add_up(&d);
  for (int i = 0; i < c->trees.count; ++i) {
    const scene_tree *tree = &c->trees.at[i];
    if (!holds(&d, tree, s->timestep)) {
      const double step = longest(&d, tree);
      ++out->trees;
      if (step < out->step) {
        out->step = step;
        name_hardest(&d, tree, out);
      }
    }
  }
done:
  arena_free(&memory);
  return status;
}
