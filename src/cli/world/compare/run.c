#include "world/compare/compare.h"

#include "world/simulate/simulate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIMED 3 /* rollouts, of which the median is used */
/* Lists have contacts of more than the first activity; a contact with at least the second is
 * touching. */
#define ACTIVE_LEAST 1e-6
#define ACTIVE_TOUCHING 0.5

static size_t bytes_of(const comparison *c, size_t width)
{
  return width * real_bytes(c->worlds.session.precision);
}

static void *row_at(const comparison *c, void *rows, size_t row, size_t width)
{
  return (char *)rows + row * bytes_of(c, width);
}

/* Returns the number of steps from the start to a row. */
static size_t steps_to(const comparison *c, size_t row)
{
  const size_t steps = row * c->record;
  return steps < c->worlds.steps ? steps : c->worlds.steps;
}

static exit_code take_memory(const comparison *c, law_run *r)
{
  const worlds *w = &c->worlds;
  const size_t nq = w->info.nq, nv = w->info.nv;
  CLI_TRY(worlds_reals(w, c->rows, nq, 1, &r->q));
  CLI_TRY(worlds_reals(w, c->rows, nv, 1, &r->v));
  CLI_TRY(worlds_reals(w, c->rows, nv, 1, &r->w));
  CLI_TRY(worlds_reals(w, c->rows, 2, 1, &r->energy));
  r->penetration = calloc(c->rows, sizeof *r->penetration);
  r->force = calloc(c->rows, sizeof *r->force);
  r->sensitivity = calloc(c->rows, sizeof *r->sensitivity);
  r->gradient = calloc(c->rows, 2 * nv * sizeof *r->gradient);
  if (!r->penetration || !r->force || !r->sensitivity || !r->gradient) {
    return report(EXIT_RUN, "no memory for %zu states", c->rows);
  }
  memcpy(r->q, w->q, bytes_of(c, nq));
  memcpy(r->v, w->v, bytes_of(c, nv));
  if (w->w) {
    memcpy(r->w, w->w, bytes_of(c, nv));
  }
  return EXIT_GOOD;
}

/* ---- contacts ---- */

/* Returns the length of a listed contact's normal minus 1. */
static double beyond_one(const comparison *c, const abut_compact *list, size_t i)
{
  double square = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    const double x = real_at(list->n, c->worlds.session.precision, 3 * i + k);
    square += x * x;
  }
  return sqrt(square) - 1.0;
}

/* Finds the first slot of each pair among all slots. */
static exit_code find_slots(const comparison *c, size_t *first)
{
  const size_t pairs = c->worlds.info.pairs;
  for (size_t i = 0, slots = 0; i < pairs; ++i) {
    abut_scene_pair p;
    abut_layout layout;
    CLI_TRY(report_status(abut_get_scene_pair(c->shapes, i, &p)));
    CLI_TRY(report_status(abut_get_layout(p.pair, &layout)));
    first[i] = slots;
    slots += layout.contacts;
  }
  return EXIT_GOOD;
}

static void take_contacts(const comparison *c, law_run *r, size_t row, const void *forces,
                          const abut_compact *list, const size_t *first)
{
  const abut_precision precision = c->worlds.session.precision;
  for (size_t i = 0; i < list->count; ++i) {
    const double d = real_at(list->d, precision, i);
    const size_t slot = first[list->pose[i]] + list->slot[i];
    if (real_at(list->activity, precision, i) >= ACTIVE_TOUCHING) {
      r->penetration[row] = fmax(r->penetration[row], -d);
    }
    if (r->law->whole_normals) {
      r->force[row] += fabs(real_at(forces, precision, 3 * slot)) * beyond_one(c, list, i);
    }
  }
}

/* For springs: one force per pair. */
static void add_forces(const comparison *c, law_run *r, size_t row, const void *forces)
{
  for (size_t i = 0; i < c->worlds.info.pairs; ++i) {
    double square = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      const double x = real_at(forces, c->worlds.session.precision, 3 * i + k);
      square += x * x;
    }
    r->force[row] += sqrt(square);
  }
}

/* Adds forces along normals. */
static exit_code add_normals(const comparison *c, law_run *r, size_t row, const void *forces)
{
  abut_scene_info info;
  CLI_TRY(report_status(abut_get_scene_info(r->links, &info)));
  for (size_t i = 0; i < info.contacts; ++i) {
    r->force[row] += fabs(real_at(forces, c->worlds.session.precision, 3 * i));
  }
  return EXIT_GOOD;
}

/* forces: of the step from a row, for all slots, (slots, 3). */
static exit_code find_touch(const comparison *c, law_run *r, size_t row, const void *forces)
{
  if (r->whole_forces) {
    add_forces(c, r, row, forces);
  } else {
    CLI_TRY(add_normals(c, r, row, forces));
  }
  if (!c->shaped) {
    r->penetration[row] = (double)NAN;
    return EXIT_GOOD;
  }
  simulation s = {.worlds = c->worlds, .rows = 1};
  kept_contacts contacts = {.list = {.threshold = ACTIVE_LEAST, .grows = true}};
  const size_t pairs = c->worlds.info.pairs;
  size_t *first = calloc(pairs + 1, sizeof *first);
  exit_code code = EXIT_GOOD;
  s.worlds.links = c->shapes;
  s.q = row_at(c, r->q, row, c->worlds.info.nq);
  CLI_TRY_DONE(first ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu pairs", pairs));
  CLI_TRY_DONE(find_slots(c, first));
  CLI_TRY_DONE(find_contacts(&contacts, &s));
  take_contacts(c, r, row, forces, &contacts.list, first);
done:
  free_contacts(&contacts);
  free(first);
  return code;
}

/* ---- forward ---- */

/* Describes the world at a row, for steps after the first `done`. After the last row of controls,
 * that row continues to apply. */
static abut_worlds describe(const comparison *c, const law_run *r, size_t row, size_t done,
                            size_t steps)
{
  const worlds *w = &c->worlds;
  const size_t first = done < w->steps ? done : w->steps - 1;
  abut_worlds a = worlds_describe(w);
  a.steps = steps;
  a.q = row_at(c, r->q, row, w->info.nq);
  a.v = row_at(c, r->v, row, w->info.nv);
  a.w = row_at(c, r->w, row, w->info.nv);
  a.springs = r->law->springs ? w->springs : NULL;
  a.controls = w->each;
  a.u = w->u ? (const char *)w->u + (w->each ? first : 0) * bytes_of(c, w->info.nu) : NULL;
  return a;
}

/* Measures a step from a row, and computes the state after it. */
static exit_code look(const comparison *c, law_run *r, size_t row, void *forces, const state *to)
{
  abut_worlds a = describe(c, r, row, steps_to(c, row), 1);
  uint32_t status = 0;
  a.energy = row_at(c, r->energy, row, 2);
  a.multipliers = forces;
  a.q_next = to->q;
  a.v_next = to->v;
  a.w_next = to->w;
  a.status = &status;
  CLI_TRY(report_status(abut_step_worlds(r->links, &a)));
  r->status |= row + 1 < c->rows ? status : 0; /* the last row's step is not in the rollout */
  return find_touch(c, r, row, forces);
}

/* Continues from a state to the next row, if that is more than one step away. */
static exit_code advance(const comparison *c, law_run *r, size_t row, const state *from)
{
  const worlds *w = &c->worlds;
  const size_t done = steps_to(c, row) + 1, steps = steps_to(c, row + 1) - done;
  state to = {row_at(c, r->q, row + 1, w->info.nq), row_at(c, r->v, row + 1, w->info.nv),
              row_at(c, r->w, row + 1, w->info.nv)};
  uint32_t status = 0;
  if (!steps) {
    memcpy(to.q, from->q, bytes_of(c, w->info.nq));
    memcpy(to.v, from->v, bytes_of(c, w->info.nv));
    memcpy(to.w, from->w, bytes_of(c, w->info.nv));
    return EXIT_GOOD;
  }
  abut_worlds a = describe(c, r, row, done, steps);
  a.q = from->q;
  a.v = from->v;
  a.w = from->w;
  a.q_next = to.q;
  a.v_next = to.v;
  a.w_next = to.w;
  a.status = &status;
  CLI_TRY(report_status(abut_step_worlds(r->links, &a)));
  r->status |= status;
  return EXIT_GOOD;
}

static exit_code go(const comparison *c, law_run *r)
{
  const worlds *w = &c->worlds;
  abut_scene_info info;
  state next = {NULL, NULL, NULL};
  void *forces = NULL;
  exit_code code = EXIT_GOOD;
  progress p = progress_begin(w->o, "states");
  CLI_TRY_DONE(report_status(abut_get_scene_info(r->links, &info)));
  CLI_TRY_DONE(worlds_reals(w, info.nq, 1, 1, &next.q));
  CLI_TRY_DONE(worlds_reals(w, info.nv, 1, 1, &next.v));
  CLI_TRY_DONE(worlds_reals(w, info.nv, 1, 1, &next.w));
  CLI_TRY_DONE(worlds_reals(w, info.contacts, 3, 1, &forces));
  for (size_t row = 0; row < c->rows && !(r->status & ABUT_WORLD_STOPS); ++row) {
    CLI_TRY_DONE(look(c, r, row, forces, &next));
    r->kept = row + 1;
    if (row + 1 < c->rows && !(r->status & ABUT_WORLD_STOPS)) {
      CLI_TRY_DONE(advance(c, r, row, &next));
    }
    progress_step(row + 1, c->rows, &p);
  }
done:
  progress_end(&p);
  free(next.q);
  free(next.v);
  free(next.w);
  free(forces);
  return code;
}

/* ---- backward ---- */

static void take_gradient(const comparison *c, law_run *r, size_t row, const void *reals)
{
  const size_t nv = c->worlds.info.nv;
  double square = 0.0;
  for (size_t i = 0; i < 2 * nv; ++i) {
    const double x = real_at(reals, c->worlds.session.precision, i);
    r->gradient[2 * nv * row + i] = x;
    square += i >= nv && c->turns[i - nv] == c->turns[c->coordinate] ? x * x : 0.0;
  }
  r->sensitivity[row] = sqrt(square);
}

static void leave_gradient(const comparison *c, law_run *r)
{
  for (size_t row = 0; row < c->rows; ++row) {
    r->sensitivity[row] = (double)NAN;
    for (size_t i = 0; i < 2 * c->worlds.info.nv; ++i) {
      r->gradient[2 * c->worlds.info.nv * row + i] = (double)NAN;
    }
  }
}

/* Computes the gradient with respect to the previous row from that by a row. `bar` is updated.
 * *none: the law has no derivatives for this scene. */
static exit_code step_back(const comparison *c, const law_run *r, size_t row, void *bar,
                           void *before, bool *none)
{
  const worlds *w = &c->worlds;
  const size_t done = steps_to(c, row), steps = steps_to(c, row + 1) - done;
  abut_worlds a = describe(c, r, row, done, steps);
  abut_worlds_gradients g = abut_default_worlds_gradients();
  uint32_t status = 0;
  a.status = &status;
  g.state = bar;
  g.q = before;
  g.v = row_at(c, before, 1, w->info.nv);
  const abut_status result = abut_vjp_worlds(r->links, &a, &g);
  *none = status_exit_code(result) == EXIT_INPUT;
  if (*none) {
    warn("%s has no gradient: %s", r->law->name, abut_last_error());
    return EXIT_GOOD;
  }
  CLI_TRY(report_status(result));
  memcpy(bar, before, bytes_of(c, 2 * w->info.nv));
  return EXIT_GOOD;
}

static exit_code come_back(const comparison *c, law_run *r)
{
  const worlds *w = &c->worlds;
  void *bar = NULL, *before = NULL;
  exit_code code = EXIT_GOOD;
  progress p = progress_begin(w->o, "states, backwards");
  CLI_TRY_DONE(worlds_reals(w, 2, w->info.nv, 1, &bar));
  CLI_TRY_DONE(worlds_reals(w, 2, w->info.nv, 1, &before));
  if (w->session.precision == ABUT_FLOAT64) {
    ((double *)bar)[c->coordinate] = 1.0;
  } else {
    ((float *)bar)[c->coordinate] = 1.0F;
  }
  take_gradient(c, r, c->rows - 1, bar);
  for (size_t row = c->rows - 1; row-- > 0;) {
    bool none = false;
    CLI_TRY_DONE(step_back(c, r, row, bar, before, &none));
    if (none) {
      leave_gradient(c, r);
      break;
    }
    take_gradient(c, r, row, bar);
    progress_step(c->rows - 1 - row, c->rows - 1, &p);
  }
done:
  progress_end(&p);
  free(bar);
  free(before);
  return code;
}

/* A world that stopped has no gradient, and no data after that. */
static void cut(const comparison *c, law_run *r)
{
  const abut_precision precision = c->worlds.session.precision;
  leave_gradient(c, r);
  for (size_t row = r->kept; row < c->rows; ++row) {
    r->penetration[row] = r->force[row] = (double)NAN;
    for (size_t i = 2 * row; i < 2 * row + 2; ++i) {
      if (precision == ABUT_FLOAT64) {
        ((double *)r->energy)[i] = (double)NAN;
      } else {
        ((float *)r->energy)[i] = NAN;
      }
    }
    memcpy(row_at(c, r->q, row, c->worlds.info.nq), row_at(c, r->q, r->kept - 1, c->worlds.info.nq),
           bytes_of(c, c->worlds.info.nq));
    memcpy(row_at(c, r->v, row, c->worlds.info.nv), row_at(c, r->v, r->kept - 1, c->worlds.info.nv),
           bytes_of(c, c->worlds.info.nv));
  }
}

/* ---- time ---- */

static int compare_seconds(const void *a_, const void *b_)
{
  const double a = *(const double *)a_, b = *(const double *)b_;
  return (a > b) - (a < b);
}

/* Times all steps in one call that only returns the final state. Programs are already compiled by
 * now. */
static exit_code measure(const comparison *c, law_run *r)
{
  const worlds *w = &c->worlds;
  double seconds[TIMED];
  void *q = NULL, *v = NULL;
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(worlds_reals(w, w->info.nq, 1, 1, &q));
  CLI_TRY_DONE(worlds_reals(w, w->info.nv, 1, 1, &v));
  for (size_t i = 0; i < TIMED; ++i) {
    abut_worlds a = describe(c, r, 0, 0, w->steps);
    a.q_next = q;
    a.v_next = v;
    const double start = now();
    CLI_TRY_DONE(report_status(abut_step_worlds(r->links, &a)));
    seconds[i] = (now() - start) / (double)w->steps;
  }
  qsort(seconds, TIMED, sizeof *seconds, compare_seconds);
  r->seconds = seconds[TIMED / 2];
done:
  free(q);
  free(v);
  return code;
}

exit_code compare_run(const comparison *c, law_run *r)
{
  CLI_TRY(take_memory(c, r));
  CLI_TRY(go(c, r));
  if (r->status & ABUT_WORLD_STOPS) {
    cut(c, r);
    r->seconds = (double)NAN;
    return EXIT_GOOD;
  }
  CLI_TRY(come_back(c, r));
  return measure(c, r);
}
