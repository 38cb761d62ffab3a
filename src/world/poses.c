/* Poses of the links of a batch of worlds, and their derivatives with respect to positions. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/ranges.h"
#include "base/reals.h"
#include "scene/motion.h"
#include "world/loaded.h"

#include <abut/kinematics.h>
#include <math.h>
#include <stdlib.h>

/* What is computed per world: (in) from its row, (out) to its row. */
typedef struct pose_call {
  const loaded_scene *s;
  size_t count, in_width, out_width;
  const void *q, *in;
  reals out;
  double *own_q, (*places)[PLACE], (*moves)[6], *from, *to; /* per world */
  arena memory;
} pose_call;

static abut_status allocate_arrays(pose_call *c)
{
  const size_t links = c->s->def.link_count, nq = (size_t)c->s->constants.nq;
  void *at;
  TRY(arena_allocate(&c->memory, &at, nq, sizeof *c->own_q));
  c->own_q = at;
  TRY(arena_allocate(&c->memory, &at, links, sizeof *c->places));
  c->places = at;
  TRY(arena_allocate(&c->memory, &at, links, sizeof *c->moves));
  c->moves = at;
  TRY(arena_allocate(&c->memory, &at, c->in_width, sizeof *c->from));
  c->from = at;
  TRY(arena_allocate(&c->memory, &at, c->out_width, sizeof *c->to));
  c->to = at;
  return ABUT_SUCCESS;
}

static void read_row(const pose_call *c, const void *from, size_t width, size_t world, double *to)
{
  for (size_t k = 0; k < width; ++k) {
    to[k] = real_of(from, c->out.size, world * width + k);
  }
}

static void find_poses(const pose_call *c)
{
  for (size_t i = 0; i < c->out_width; ++i) {
    c->to[i] = c->places[i / PLACE][i % PLACE];
  }
}

static void find_gradient(const pose_call *c)
{
  const double(*places)[PLACE] = (const double(*)[PLACE])c->places;
  const scene_def *s = &c->s->def;
  for (size_t i = 0; i < c->out_width; ++i) {
    c->to[i] = 0.0;
  }
  for (size_t i = 0; i < s->link_count; ++i) {
    motion_wrench(places[i], c->from + PLACE * i, c->moves[i]);
  }
  for (int i = (int)s->link_count - 1; i >= 0; --i) {
    const int parent = motion_pull(s, &c->s->constants, places, i, c->moves[i], c->to);
    for (int k = 0; parent != WORLD && k < 6; ++k) {
      c->moves[parent][k] += c->moves[i][k];
    }
  }
}

static void find_tangents(const pose_call *c)
{
  const double(*places)[PLACE] = (const double(*)[PLACE])c->places;
  const scene_def *s = &c->s->def;
  for (size_t i = 0; i < s->link_count; ++i) {
    motion_twist(s, &c->s->constants, places, c->from, (int)i, c->moves);
    motion_rates(places[i], c->moves[i], c->to + PLACE * i);
  }
}

/* names: of the call, then of its arrays */
static abut_status run(abut_scene handle_, const char *const names[4],
                       void (*find)(const pose_call *c), bool in_links, bool out_links,
                       size_t count, const void *q, const void *in, void *out)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  const size_t nv = (size_t)s->constants.nv, numbers = PLACE * s->def.link_count;
  pose_call c = {.s = s,
                 .count = count,
                 .in_width = in_links ? numbers : nv,
                 .out_width = out_links ? numbers : nv,
                 .q = q,
                 .in = in,
                 .out = {out, 0, context_real_bytes(s->context)}};
  if (count && ((!q && s->constants.nq) || (!in && c.in_width && find != find_poses) ||
                (!out && c.out_width))) {
    return fail(ABUT_ERROR_ARGUMENT, "%s: an array is NULL", names[0]);
  }
  const size_t real = context_real_bytes(s->context);
  const memory_range all[] = {{names[1], q, rows_bytes(count, (size_t)s->constants.nq * real),
                               MEMORY_READ},
                              {names[2], in, rows_bytes(count, c.in_width * real), MEMORY_READ},
                              {names[3], out, rows_bytes(count, c.out_width * real),
                               MEMORY_WRITTEN}};
  TRY(check_ranges(all, 3));
  const abut_status status = allocate_arrays(&c);
  for (size_t i = 0; status == ABUT_SUCCESS && i < count; ++i) {
    read_row(&c, q, (size_t)s->constants.nq, i, c.own_q);
    const bool good = scene_has_places(s, c.own_q);
    if (good) {
      scene_put_links(s, c.own_q, c.places);
      if (find != find_poses) {
        read_row(&c, in, c.in_width, i, c.from);
      }
      find(&c);
    }
    for (size_t k = 0; k < c.out_width; ++k) {
      reals_set(&c.out, i * c.out_width + k, good ? c.to[k] : (double)NAN);
    }
  }
  arena_free(&c.memory);
  return status;
}

abut_status abut_find_poses(abut_scene scene, size_t count, const void *q, void *poses)
{
  static const char *const names[] = {"abut_find_poses", "q", "", "poses"};
  return run(scene, names, find_poses, true, true, count, q, NULL, poses);
}

abut_status abut_find_poses_vjp(abut_scene scene, size_t count, const void *q,
                                const void *poses_bar, void *gradient)
{
  static const char *const names[] = {"abut_find_poses_vjp", "q", "poses_bar", "gradient"};
  return run(scene, names, find_gradient, true, false, count, q, poses_bar, gradient);
}

abut_status abut_find_poses_jvp(abut_scene scene, size_t count, const void *q, const void *along,
                                void *tangents)
{
  static const char *const names[] = {"abut_find_poses_jvp", "q", "along", "tangents"};
  return run(scene, names, find_tangents, false, true, count, q, along, tangents);
}

abut_status abut_get_link_name(abut_scene handle_, size_t link, const char **name)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!name || link >= s->def.link_count) {
    return fail(ABUT_ERROR_ARGUMENT,
                name ? "there is no link %zu (0-based); there are %zu"
                     : "the output pointer for the name of link %zu of %zu is NULL",
                link, s->def.link_count);
  }
  *name = s->def.links[link].name;
  return ABUT_SUCCESS;
}
