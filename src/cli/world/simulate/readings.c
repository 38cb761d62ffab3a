#include "world/simulate/simulate.h"

#include <abut/kinematics.h>
#include <stdlib.h>

bool asks_readings(const options *o)
{
  return o->value[OPTION_DISTANCES] || o->value[OPTION_FORCES] || o->value[OPTION_LINK_POSES];
}

static exit_code find_poses(simulation *s)
{
  const worlds *w = &s->worlds;
  const size_t all = s->rows * w->count;
  CLI_TRY(worlds_reals(w, all, w->info.links, 7, &s->read.poses));
  return report_status(abut_find_poses(w->links, all, s->q, s->read.poses));
}

/* For all candidates, in their order. */
static exit_code find_distances(simulation *s)
{
  const worlds *w = &s->worlds;
  const size_t pairs = w->info.candidates;
  abut_distances d = abut_default_distances();
  uint32_t *candidates = calloc(2 * pairs + 1, sizeof *candidates);
  exit_code code = candidates ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu distances", pairs);
  CLI_TRY_DONE(code);
  CLI_TRY_DONE(worlds_reals(w, s->rows * w->count, pairs, 1, &s->read.distances));
  for (size_t i = 0; i < pairs; ++i) {
    candidates[2 * i] = candidates[2 * i + 1] = (uint32_t)i;
  }
  d.count = s->rows * w->count;
  d.q = s->q;
  d.pairs = d.candidate_count = pairs;
  d.candidates = candidates;
  d.d = s->read.distances;
  CLI_TRY_DONE(report_status(abut_find_distances(w->links, &d)));
done:
  free(candidates);
  return code;
}

/* Returns row `row` of an array with `width` reals per world. */
static void *row_at(const simulation *s, void *of, size_t row, size_t width)
{
  return (char *)of + row * s->worlds.count * width * real_bytes(s->worlds.session.precision);
}

/* Computes the forces in the step that would start at a recorded state. The final state uses the
 * controls of the last step. */
static exit_code find_forces_at(simulation *s, size_t row)
{
  const worlds *w = &s->worlds;
  const size_t step = row * s->record < w->steps ? row * s->record : w->steps ? w->steps - 1 : 0;
  abut_worlds a = worlds_describe(w);
  a.steps = 1;
  a.w = NULL;
  a.q = row_at(s, s->q, row, w->info.nq);
  a.v = row_at(s, s->v, row, w->info.nv);
  a.u = w->u && w->each ? row_at(s, (void *)(uintptr_t)w->u, step, w->info.nu) : w->u;
  a.link_forces = row_at(s, s->read.link_forces, row, 6 * w->info.links);
  a.pair_forces = row_at(s, s->read.pair_forces, row, 3 * w->info.candidates);
  a.pair_normals = row_at(s, s->read.pair_normals, row, w->info.candidates);
  return report_status(abut_step_worlds(w->links, &a));
}

static exit_code find_forces(simulation *s)
{
  const worlds *w = &s->worlds;
  const size_t all = s->rows * w->count, pairs = w->info.candidates;
  CLI_TRY(worlds_reals(w, all, w->info.links, 6, &s->read.link_forces));
  CLI_TRY(worlds_reals(w, all, pairs, 3, &s->read.pair_forces));
  CLI_TRY(worlds_reals(w, all, pairs, 1, &s->read.pair_normals));
  for (size_t row = 0; row < s->rows; ++row) {
    CLI_TRY(find_forces_at(s, row));
  }
  return EXIT_GOOD;
}

exit_code find_readings(simulation *s)
{
  const options *o = s->worlds.o;
  CLI_TRY(o->value[OPTION_LINK_POSES] ? find_poses(s) : EXIT_GOOD);
  CLI_TRY(o->value[OPTION_DISTANCES] ? find_distances(s) : EXIT_GOOD);
  return o->value[OPTION_FORCES] ? find_forces(s) : EXIT_GOOD;
}

void free_readings(readings *r)
{
  free(r->poses);
  free(r->distances);
  free(r->link_forces);
  free(r->pair_forces);
  free(r->pair_normals);
  *r = (readings){0};
}

/* Adds an array (rows, worlds, each), or with `depth` (rows, worlds, each, depth). */
static void add(outputs *l, const simulation *s, simulated which, const void *data, size_t each,
                size_t depth)
{
  const worlds *w = &s->worlds;
  if (data) {
    outputs_add(l, simulated_names[which], real_type(&w->session), data, depth ? 4 : 3, s->rows,
                w->count, each);
    l->arrays[l->count - 1].shape[3] = depth;
  }
}

void add_readings(outputs *l, const simulation *s)
{
  const size_t links = s->worlds.info.links, pairs = s->worlds.info.candidates;
  add(l, s, SIMULATED_LINK_POSE, s->read.poses, links, 7);
  add(l, s, SIMULATED_DISTANCE, s->read.distances, pairs, 0);
  add(l, s, SIMULATED_LINK_FORCE, s->read.link_forces, links, 6);
  add(l, s, SIMULATED_PAIR_FORCE, s->read.pair_forces, pairs, 3);
  add(l, s, SIMULATED_PAIR_NORMAL, s->read.pair_normals, pairs, 0);
}
