/* Pictures of a scene, with its bodies at given positions of its links. */
#include "base/call_lock.h"
#include "base/error.h"
#include "view/render/parts.h"
#include "world/loaded.h"
#include "world/law/law.h"
#include "scene/place.h"
#include <math.h>
#include <string.h>

/* A body that does not move is framed up to this many times the size of the moving ones. */
#define LARGE 4.0

/* A body of the scene for pictures, indexed by scene_body_number. */
typedef struct piece {
  size_t link;
  const scene_body *def;
  const body *of;
  bool moves, floor;
} piece;

typedef struct scene_picture {
  const loaded_scene *scene;
  piece *pieces; /* (scene->body_count) */
  double (*links)[PLACE], (*bodies)[PLACE];
  part *parts;
  abut_pair *lent; /* (scene->body_count) pairs created for bodies that are in no pair */
  touch *touches;
  size_t touch_count;
  double (*points)[3]; /* points that the camera keeps in view */
  size_t point_count;
  arena memory;
} scene_picture;

static abut_status make_room(scene_picture *p, size_t framed)
{
  const loaded_scene *s = p->scene;
  const size_t bodies = s->body_count;
  void *at;
  if (framed > SIZE_MAX / 8 / (bodies + 1) - 1) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory to frame %zu states", framed);
  }
  TRY(arena_allocate(&p->memory, &at, bodies, sizeof *p->pieces));
  p->pieces = at;
  TRY(arena_allocate(&p->memory, &at, s->def.link_count, sizeof *p->links));
  p->links = at;
  TRY(arena_allocate(&p->memory, &at, bodies, sizeof *p->bodies));
  p->bodies = at;
  TRY(arena_allocate(&p->memory, &at, bodies, sizeof *p->parts));
  p->parts = at;
  TRY(arena_allocate(&p->memory, &at, bodies, sizeof *p->lent));
  p->lent = at;
  TRY(arena_allocate(&p->memory, &at, s->def.pair_count, sizeof *p->touches));
  p->touches = at;
  TRY(arena_allocate(&p->memory, &at, 8 * bodies * (framed + 1), sizeof *p->points));
  p->points = at;
  return ABUT_SUCCESS;
}

static abut_status find_pieces(scene_picture *p)
{
  const loaded_scene *s = p->scene;
  bool *moves;
  void *memory;
  TRY(arena_allocate(&p->memory, &memory, s->def.link_count, sizeof *moves));
  moves = memory;
  size_t at = 0;
  for (size_t i = 0; i < s->def.link_count; ++i) {
    const scene_link *l = &s->def.links[i];
    moves[i] = joint_moves(l->joint.type) || (l->parent != WORLD && moves[l->parent]);
    for (size_t k = 0; k < l->body_count; ++k, ++at) {
      const body *of = body_get(s->bodies[at]);
      if (!of) {
        return ABUT_ERROR_HANDLE;
      }
      p->pieces[at] = (piece){i, &l->bodies[k], of, moves[i], l->bodies[k].shape == SHAPE_PLANE};
    }
  }
  return ABUT_SUCCESS;
}

static abut_status place_bodies(scene_picture *p, const double *q)
{
  TRY(scene_place_links(p->scene, q, p->links[0]));
  for (size_t i = 0; i < p->scene->body_count; ++i) {
    place_body(p->pieces[i].def, p->links[p->pieces[i].link], p->bodies[i]);
  }
  return ABUT_SUCCESS;
}

/* ---- points that the camera keeps in view ---- */

static void add_corners(scene_picture *p, size_t i)
{
  const body *b = p->pieces[i].of;
  for (int c = 0; c < 8; ++c, ++p->point_count) {
    const double corner[3] = {c & 1 ? b->info.upper[0] : b->info.lower[0],
                              c & 2 ? b->info.upper[1] : b->info.lower[1],
                              c & 4 ? b->info.upper[2] : b->info.lower[2]};
    double *to = p->points[p->point_count];
    place_turn(p->bodies[i], corner, to);
    for (int k = 0; k < 3; ++k) {
      to[k] += p->bodies[i][k];
    }
  }
}

/* The diagonal of the box around points. */
static double diagonal_of(double (*points)[3], size_t count)
{
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < count; ++i) {
      low = fmin(low, points[i][k]);
      high = fmax(high, points[i][k]);
    }
    sum += count ? (high - low) * (high - low) : 0.0;
  }
  return sqrt(sum);
}

static bool is_framed(const scene_picture *p, size_t i, double moving)
{
  const piece *of = &p->pieces[i];
  const double *low = of->of->info.lower, *high = of->of->info.upper;
  const double size =
    sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
         (high[2] - low[2]) * (high[2] - low[2]));
  return !of->moves && !of->floor && (moving <= 0.0 || size <= LARGE * moving);
}

/* Collects the points that the camera keeps in view: the corners of moving bodies in all framed
 * states, and of fixed bodies except floors and very large ones. If there are none, all bodies are
 * used. */
static abut_status find_points(scene_picture *p, const double *framed, size_t count)
{
  const size_t bodies = p->scene->body_count, nq = (size_t)p->scene->constants.nq;
  for (size_t k = 0; k < count; ++k) {
    TRY(place_bodies(p, framed + k * nq));
    for (size_t i = 0; i < bodies; ++i) {
      if (p->pieces[i].moves) {
        add_corners(p, i);
      }
    }
  }
  const double moving = diagonal_of(p->points, p->point_count);
  for (size_t i = 0; i < bodies; ++i) {
    if (is_framed(p, i, moving)) {
      add_corners(p, i);
    }
  }
  for (size_t i = 0; !p->point_count && i < bodies; ++i) {
    add_corners(p, i);
  }
  return ABUT_SUCCESS;
}

/* ---- parts ---- */

static bool has_bodies(const loaded_scene *s, const scene_pair *p)
{
  return s->def.law->drawable && p->link[0] != WORLD;
}

/* Finds the first pair that has body i, on *side, or NULL. */
static pair *pair_of_piece(const loaded_scene *s, size_t i, int *side)
{
  for (size_t k = 0; k < s->def.pair_count; ++k) {
    const scene_pair *p = &s->def.pairs[k];
    for (*side = 0; has_bodies(s, p) && *side < 2; ++*side) {
      if (scene_pair_body(&s->def, p, *side) == i) {
        return pair_get(s->pairs[k]);
      }
    }
  }
  return NULL;
}

/* Makes a pair of a body with itself, because bodies are drawn with the smoothing of a pair. */
static abut_status lend_pair(scene_picture *p, size_t i, pair **out)
{
  const abut_body of = p->scene->bodies[i];
  abut_smoothing fitted;
  TRY(abut_fit_edge_pairs(of, of, &fitted));
  fitted.edge_edge = false; /* its contacts are not used, and every body can have such a pair */
  TRY(abut_create_pair(of, of, &fitted, &p->lent[i]));
  *out = pair_get(p->lent[i]);
  return *out ? ABUT_SUCCESS : ABUT_ERROR_HANDLE;
}

/* Bodies of a link have the same colour; floors have their own. */
static abut_status find_parts(scene_picture *p)
{
  size_t paint = 0;
  for (size_t i = 0; i < p->scene->body_count; ++i) {
    part *to = &p->parts[i];
    to->pair = pair_of_piece(p->scene, i, &to->side);
    if (!to->pair) {
      to->side = 0;
      TRY(lend_pair(p, i, &to->pair));
    }
    memcpy(to->place, p->bodies[i], sizeof to->place);
    to->floor = p->pieces[i].floor;
    to->paint = paint;
    const bool last = i + 1 == p->scene->body_count || p->pieces[i + 1].link != p->pieces[i].link;
    paint += last && !to->floor;
  }
  return ABUT_SUCCESS;
}

static abut_status find_touches(scene_picture *p)
{
  const loaded_scene *s = p->scene;
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const scene_pair *of = &s->def.pairs[i];
    if (has_bodies(s, of)) {
      touch *to = &p->touches[p->touch_count++];
      *to = (touch){pair_get(s->pairs[i]), ABUT_POSE_QUATERNION,
                    p->bodies[scene_pair_body(&s->def, of, 0)],
                    p->bodies[scene_pair_body(&s->def, of, 1)]};
      TRY(to->pair ? ABUT_SUCCESS : ABUT_ERROR_HANDLE);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status draw(scene_picture *p, const double *q, const double *framed, size_t count,
                        const abut_view *view, uint8_t *rgb)
{
  TRY(make_room(p, count));
  TRY(find_pieces(p));
  TRY(find_points(p, framed, count));
  TRY(place_bodies(p, q));
  TRY(find_parts(p));
  TRY(find_touches(p));
  const parts_picture picture = {.context = p->scene->context,
                                 .parts = p->parts,
                                 .part_count = p->scene->body_count,
                                 .touches = p->touches,
                                 .touch_count = p->touch_count,
                                 .framed = p->points[0],
                                 .framed_count = p->point_count};
  return draw_parts(&picture, view, rgb);
}

abut_status abut_render_scene(abut_scene handle_, const double *q, const double *framed,
                              size_t count, const abut_view *view, uint8_t *rgb)
{
  ENTER(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  scene_picture p = {.scene = s};
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if ((p.scene->constants.nq && (!q || (count && !framed))) || !view || !rgb) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_render_scene: the positions, the view or the picture is NULL");
  }
  if (!p.scene->body_count) {
    return fail(ABUT_ERROR_ARGUMENT, "the scene has no bodies to draw");
  }
  TRY(check_view(view));
  TRY(scene_need_bodies(s));
  const abut_status status = draw(&p, q, count ? framed : q, count ? count : 1, view, rgb);
  for (size_t i = 0; p.lent && i < p.scene->body_count; ++i) {
    pair *lent = has_pair(p.lent[i]) ? pair_get(p.lent[i]) : NULL;
    if (lent) {
      context_discard(lent->context, &lent->base);
    }
  }
  arena_free(&p.memory);
  return status;
}
