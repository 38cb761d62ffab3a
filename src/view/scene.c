#include "base/call_lock.h"
#include "base/error.h"
#include "base/reals.h"
#include "contact/pair.h"
#include "view/parts.h"
#include "world/law/law.h"
#include "world/loaded.h"
#include "scene/place.h"
#include <abut/files.h>
#include <math.h>
#include <stdlib.h>

#define FRAMED_MOST 64 /* number of states for which the picture's camera is placed */

/* What a scene's page is made from. */
typedef struct scene_page {
  loaded_scene *scene;
  abut_scene handle;
  size_t count, nq;
  const double *q; /* (count, nq) */
  const abut_page_options *options;
  double *links;    /* (links, PLACE) for one frame */
  float *places;    /* (count, links, PLACE) */
  uint32_t *placed; /* (placed_count) the frames with valid places */
  size_t placed_count;
  reals positions;            /* (placed_count, nq) q of these in the context's precision */
  reals velocities, controls; /* (placed_count, ...) */
  reals pushes;               /* (placed_count, links, 3) */
  reals single;               /* (list.count, 3) of each contact, on the first body of its pair */
  float *forces;              /* (count, links, 3) */
  abut_items items;
  abut_compact list;
  uint32_t *frame, *pair; /* (list.count) */
  uint32_t *number;       /* (candidates) index among the page's pairs, from 1; 0: none */
  abut_pair *kinds;       /* of candidates, owned by the scene */
  uint32_t *candidates;   /* (candidates, 3) two bodies and a kind; (candidates) only the kind */
  float *curve;           /* (count) */
  double *framed;
  uint8_t *rgb;
} scene_page;

static abut_status append(json_t *list, json_t *one)
{
  return one && json_array_append_new(list, one) == 0
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_MEMORY, "not enough memory for a page");
}

/* ---- bodies ---- */

static bool can_move(const scene_def *def, size_t link)
{
  int i = (int)link;
  while (i != WORLD && !joint_moves(def->links[i].joint.type)) {
    i = def->links[i].parent;
  }
  return i != WORLD;
}

static abut_status add_body(page *p, const scene_page *s, page_meshes *meshes, json_t *bodies,
                            size_t link, size_t place, size_t paint)
{
  const scene_link *l = &s->scene->def.links[link];
  const scene_body *def = &l->bodies[place];
  const abut_body handle_ = s->scene->bodies[l->first_body + place];
  const body *b = body_get(handle_);
  const char *name = b ? body_short_name(b) : NULL;
  abut_smoothing fitted;
  size_t which = 0;
  double at[PLACE];
  TRY(b ? ABUT_SUCCESS : ABUT_ERROR_HANDLE);
  TRY(abut_fit_smoothing(handle_, handle_, &fitted));
  TRY(page_meshes_add(p, meshes, handle_, &fitted, &which));
  memcpy(at, def->position, 3 * sizeof *at);
  memcpy(at + 3, def->quaternion, 4 * sizeof *at);
  char nameless[40];
  snprintf(nameless, sizeof nameless, "link %zu", link);
  json_t *one = json_pack("{s:o, s:o, s:I, s:I, s:I, s:b, s:b, s:b, s:o}", "link",
                          page_text(l->name ? l->name : nameless), "name",
                          page_text(name ? name : body_shape_words[def->shape]), "mesh",
                          (json_int_t)which, "mover", (json_int_t)link, "paint", (json_int_t)paint,
                          "floor", (int)(def->shape == SHAPE_PLANE), "still",
                          (int)!can_move(&s->scene->def, link), "stated",
                          (int)b->parts.features.stated, "at", page_numbers(at, PLACE));
  return append(bodies, one);
}

/* Bodies of a link have the same colour, as in pictures; floors have their own. */
static abut_status add_bodies(page *p, const scene_page *s)
{
  const scene_def *def = &s->scene->def;
  json_t *bodies = json_array();
  page_meshes meshes;
  size_t paint = 0;
  TRY(page_set(p->root, "bodies", bodies));
  abut_status status = page_meshes_begin(p, &meshes);
  for (size_t i = 0; i < def->link_count && status == ABUT_SUCCESS; ++i) {
    bool floor = true;
    for (size_t k = 0; k < def->links[i].body_count && status == ABUT_SUCCESS; ++k) {
      status = add_body(p, s, &meshes, bodies, i, k, paint);
      floor = floor && def->links[i].bodies[k].shape == SHAPE_PLANE;
    }
    paint += !floor;
  }
  page_meshes_free(&meshes);
  return status;
}

static abut_status add_places(page *p, scene_page *s)
{
  const size_t links = s->scene->def.link_count;
  void *memory = NULL;
  TRY(allocate(&memory, links, PLACE * sizeof *s->links));
  s->links = memory;
  if (links && s->count > SIZE_MAX / links / PLACE) {
    return fail(ABUT_ERROR_MEMORY, "not enough memory for a page");
  }
  TRY(allocate(&memory, s->count * links * PLACE, sizeof *s->places));
  s->places = memory;
  for (size_t i = 0; i < s->count; ++i) {
    const bool placed = abut_place_links(s->handle, s->q + i * s->nq, s->links) == ABUT_SUCCESS;
    for (size_t k = 0; k < links * PLACE; ++k) {
      s->places[i * links * PLACE + k] = placed ? (float)s->links[k] : NAN;
    }
  }
  TRY(page_set(p->root, "movers", page_count(links)));
  return page_add(p, "places", PAGE_F32, s->count, links * PLACE, s->places);
}

/* ---- contacts ---- */

/* Takes the positions of the frames with valid places, in order. */
static abut_status take_positions(scene_page *s)
{
  const size_t links = s->scene->def.link_count;
  void *memory = NULL;
  TRY(reals_create(&s->positions, s->count * s->nq, context_real_bytes(s->scene->context)));
  TRY(allocate(&memory, s->count, sizeof *s->placed));
  s->placed = memory;
  for (size_t i = 0; i < s->count; ++i) {
    if (links && isnan(s->places[i * links * PLACE])) {
      continue;
    }
    for (size_t k = 0; k < s->nq; ++k) {
      reals_set(&s->positions, s->placed_count * s->nq + k, s->q[i * s->nq + k]);
    }
    s->placed[s->placed_count++] = (uint32_t)i;
  }
  return ABUT_SUCCESS;
}

/* Lists the contacts of the frames with valid places; `frame` is the frame of each contact. */
static abut_status list_contacts(scene_page *s)
{
  void *memory = NULL;
  s->list = (abut_compact){.threshold = s->options->threshold, .grows = true};
  TRY(abut_find_contacts(s->handle, s->positions.data, s->placed_count, &s->items, &s->list));
  TRY(allocate(&memory, s->list.count, sizeof *s->frame));
  s->frame = memory;
  for (size_t i = 0; i < s->list.count; ++i) {
    s->frame[i] = s->placed[s->items.items[3 * s->list.pose[i]]];
  }
  return ABUT_SUCCESS;
}

/* Lists the pairs that have contacts, in the order of first occurrence. */
static abut_status add_pairs(scene_page *s, json_t *pairs, size_t *count)
{
  const scene_def *def = &s->scene->def;
  void *memory = NULL;
  TRY(allocate(&memory, s->list.count, sizeof *s->pair));
  s->pair = memory;
  TRY(allocate(&memory, def->pair_count, sizeof *s->number));
  s->number = memory;
  for (size_t i = 0; i < s->list.count; ++i) {
    const size_t candidate = s->items.candidates[s->list.pose[i]];
    const scene_pair *of = &def->pairs[candidate];
    if (!s->number[candidate]) {
      const pair *made = pair_get(s->scene->pairs[of->alike]);
      TRY(made ? ABUT_SUCCESS : ABUT_ERROR_HANDLE);
      s->number[candidate] = (uint32_t)++ * count;
      TRY(append(pairs,
                 json_pack("{s:[I, I], s:o}", "bodies", (json_int_t)scene_pair_body(def, of, 0),
                           (json_int_t)scene_pair_body(def, of, 1), "layout",
                           page_layout(&made->layout))));
    }
    s->pair[i] = s->number[candidate] - 1;
  }
  return ABUT_SUCCESS;
}

/* Adds curves computed from the contacts in the page for each frame. */
static abut_status add_contact_curves(page *p, scene_page *s, json_t *curves)
{
  for (size_t i = 0; i < s->count; ++i) {
    s->curve[i] = NAN;
  }
  for (size_t i = 0; i < s->list.count; ++i) {
    const float d = (float)real_of(s->list.d, s->positions.size, i);
    float *to = &s->curve[s->frame[i]];
    *to = d > *to ? *to : d;
  }
  TRY(page_add_curve(p, curves, "least_distance", "m", s->count, s->curve));
  for (size_t i = 0; i < s->count; ++i) {
    s->curve[i] = 0.0f;
  }
  for (size_t i = 0; i < s->list.count; ++i) {
    s->curve[s->frame[i]] += (float)real_of(s->list.activity, s->positions.size, i);
  }
  return page_add_curve(p, curves, "activity_sum", "", s->count, s->curve);
}

static abut_status name_contact_curves(json_t *curves)
{
  TRY(page_name_curve(curves, "least_distance", "m"));
  return page_name_curve(curves, "activity_sum", "");
}

static abut_status add_curves(page *p, scene_page *s, bool contacts)
{
  const double *energy = s->options->energy;
  json_t *curves = json_array();
  void *memory = NULL;
  TRY(page_set(p->root, "curves", curves));
  TRY(allocate(&memory, s->count, sizeof *s->curve));
  s->curve = memory;
  if (contacts) {
    TRY(s->options->live ? name_contact_curves(curves) : add_contact_curves(p, s, curves));
  }
  if (!energy) {
    return ABUT_SUCCESS;
  }
  for (size_t i = 0; i < s->count; ++i) {
    s->curve[i] = (float)(energy[2 * i] + energy[2 * i + 1]);
  }
  TRY(page_add_curve(p, curves, "energy", "J", s->count, s->curve));
  for (size_t i = 0; i < s->count; ++i) {
    s->curve[i] = (float)energy[2 * i];
  }
  return page_add_curve(p, curves, "kinetic", "J", s->count, s->curve);
}

/* ---- forces ---- */

/* Returns why forces are unknown, or NULL if they are known. */
static const char *why_unforced(const scene_page *s)
{
  const scene_def *def = &s->scene->def;
  return s->scene->given
           ? "the contacts were given with each step, and the states do not contain them"
         : scene_control_count(def) > def->actuator_count
           ? "the scene has moved links, and the page shows them at the poses in the scene"
         : !s->options->v && scene_control_count(def)
           ? "the scene has controls, which are unknown: give --controls (in Python u)"
         : !s->options->v ? "the states have no velocities"
                          : NULL;
}

/* Takes rows of an array (count, width) for the frames with valid places. */
static abut_status take_rows(const scene_page *s, const double *from, size_t width, reals *to)
{
  TRY(reals_create(to, s->placed_count * width, s->positions.size));
  for (size_t i = 0; from && i < s->placed_count; ++i) {
    for (size_t k = 0; k < width; ++k) {
      reals_set(to, i * width + k, from[s->placed[i] * width + k]);
    }
  }
  return ABUT_SUCCESS;
}

/* Makes one step from each frame, to obtain only the forces. */
static abut_status step_frames(scene_page *s, bool contacts)
{
  const size_t count = s->placed_count, size = s->positions.size;
  TRY(take_rows(s, s->options->v, (size_t)s->scene->constants.nv, &s->velocities));
  TRY(take_rows(s, s->options->u, scene_control_count(&s->scene->def), &s->controls));
  TRY(reals_create(&s->pushes, 3 * count * s->scene->def.link_count, size));
  TRY(reals_create(&s->single, 3 * s->list.count, size));
  return abut_find_contact_forces(s->handle, count, s->positions.data, s->velocities.data,
                                  s->controls.data, contacts ? &s->items : NULL,
                                  contacts ? &s->list : NULL, s->single.data, s->pushes.data, NULL);
}

/* Rounds a float to 12 binary digits. Further digits would not be visible and would double the
 * page's size. */
static float short_float(double x)
{
  int exponent;
  const double share = frexp(x, &exponent);
  return isfinite(x) ? (float)ldexp(nearbyint(ldexp(share, 12)), exponent - 12) : (float)x;
}

/* Adds the force of each contact on the first body of its pair, along the world's axes. */
static abut_status add_contact_forces(page *p, const scene_page *s)
{
  void *memory = NULL;
  TRY(allocate(&memory, 3 * s->list.count, sizeof(float)));
  for (size_t i = 0; i < 3 * s->list.count; ++i) {
    ((float *)memory)[i] = short_float(reals_get(&s->single, i));
  }
  const abut_status status = page_add(p, "contact_forces", PAGE_F32, s->list.count, 3, memory);
  free(memory);
  return status;
}

/* Adds the links' centres of mass, in their own axes. The page draws forces there. */
static abut_status add_centres(page *p, const scene_page *s)
{
  json_t *centres = json_array();
  TRY(page_set(p->root, "centres", centres));
  for (size_t i = 0; i < s->scene->def.link_count; ++i) {
    TRY(append(centres, page_numbers(s->scene->constants.masses[i].com, 3)));
  }
  return ABUT_SUCCESS;
}

/* Adds the contact forces on each link with a free joint and its descendants. J' lambda of such a
 * joint would include forces of equality constraints. NaN for other links, and for frames from
 * which no step was possible. */
static abut_status add_forces(page *p, scene_page *s, bool contacts)
{
  const scene_def *def = &s->scene->def;
  const size_t numbers = 3 * def->link_count;
  void *memory = NULL;
  if (why_unforced(s) || !s->placed_count || !s->scene->constants.nv) {
    return ABUT_SUCCESS;
  }
  TRY(step_frames(s, contacts));
  TRY(contacts ? add_contact_forces(p, s) : ABUT_SUCCESS);
  TRY(allocate(&memory, s->count * numbers, sizeof *s->forces));
  s->forces = memory;
  for (size_t i = 0; i < s->count * numbers; ++i) {
    s->forces[i] = NAN;
  }
  for (size_t i = 0; i < s->placed_count; ++i) {
    for (size_t k = 0; k < numbers; ++k) {
      if (JOINT_IS_OF_WORLD(def->links[k / 3].joint.type)) {
        s->forces[s->placed[i] * numbers + k] = (float)reals_get(&s->pushes, i * numbers + k);
      }
    }
  }
  TRY(add_centres(p, s));
  return page_add(p, "forces", PAGE_F32, s->count, numbers, s->forces);
}

/* ---- a page with a server ---- */

/* Adds the two bodies and the kind of each candidate: (candidates, 3). */
static abut_status add_candidates(page *p, scene_page *s, json_t *layouts, json_t *smoothings)
{
  const scene_def *def = &s->scene->def;
  void *memory = NULL;
  size_t kinds = 0;
  TRY(allocate(&memory, s->scene->pair_type_count, sizeof *s->kinds));
  s->kinds = memory;
  TRY(allocate(&memory, def->pair_count, 4 * sizeof *s->candidates));
  s->candidates = memory;
  uint32_t *kind = s->candidates + 3 * def->pair_count;
  TRY(abut_get_kinds(s->handle, kind, s->kinds, &kinds));
  for (size_t i = 0; i < kinds; ++i) {
    const pair *made = pair_get(s->kinds[i]);
    TRY(made ? ABUT_SUCCESS : ABUT_ERROR_HANDLE);
    TRY(append(layouts, page_layout(&made->layout)));
    TRY(page_add_smoothing(smoothings, &made->smoothing));
  }
  for (size_t i = 0; i < def->pair_count; ++i) {
    const scene_pair *of = &def->pairs[i];
    s->candidates[3 * i] = (uint32_t)scene_pair_body(def, of, 0);
    s->candidates[3 * i + 1] = (uint32_t)scene_pair_body(def, of, 1);
    s->candidates[3 * i + 2] = kind[i];
  }
  return page_add(p, "candidates", PAGE_U32, def->pair_count, 3, s->candidates);
}

/* Adds the position of each link's push in an answer, for links with free joints, whose forces are
 * shown; -1 for other links. */
static abut_status add_pushed(page *p, const scene_page *s)
{
  const scene_def *def = &s->scene->def;
  json_t *pushed = json_array();
  TRY(page_set(p->root, "pushed", pushed));
  for (size_t i = 0; i < def->link_count; ++i) {
    const bool is_free = JOINT_IS_OF_WORLD(def->links[i].joint.type);
    TRY(append(pushed, json_integer(is_free ? 3 * (json_int_t)i : -1)));
  }
  return add_centres(p, s);
}

/* Adds a typical force: the largest weight of a link with a free joint. */
static abut_status add_weight(page *p, const scene_page *s)
{
  const scene_def *def = &s->scene->def;
  double most = 0.0;
  for (size_t i = 0; i < def->link_count; ++i) {
    most = JOINT_IS_OF_WORLD(def->links[i].joint.type)
             ? fmax(most, s->scene->constants.masses[i].mass)
             : most;
  }
  const double *g = def->gravity;
  return page_set(p->root, "weight",
                  json_real(most * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])));
}

static abut_status add_live(page *p, scene_page *s, bool contacts)
{
  json_t *layouts = json_array(), *smoothings = NULL;
  TRY(page_set(p->root, "layouts", layouts));
  TRY(page_add_live(p, &smoothings));
  TRY(contacts ? add_candidates(p, s, layouts, smoothings) : ABUT_SUCCESS);
  if (!why_unforced(s) && s->scene->constants.nv) {
    TRY(add_pushed(p, s));
    TRY(add_weight(p, s));
  }
  return add_curves(p, s, contacts);
}

/* ---- the whole page ---- */

/* Adds a picture whose camera keeps some of the frames in view. Frames without valid places have no
 * picture. */
static abut_status add_picture(page *p, scene_page *s)
{
  const abut_page_options *o = s->options;
  const size_t links = s->scene->def.link_count;
  abut_view view = abut_default_view();
  view.width = o->picture_width;
  view.height = o->picture_height;
  view.threshold = o->threshold;
  view.contacts = s->scene->def.law->drawable && !s->scene->given;
  if (!view.width || !view.height || !s->scene->body_count ||
      (links && isnan(s->places[o->first * links * PLACE]))) {
    return ABUT_SUCCESS;
  }
  void *memory = NULL;
  TRY(allocate(&memory, (FRAMED_MOST + 1) * s->nq, sizeof *s->framed));
  s->framed = memory;
  size_t framed = 0;
  const size_t step = 1 + (s->count - 1) / FRAMED_MOST;
  for (size_t i = 0; i < s->count; i += step) {
    if (!links || !isnan(s->places[i * links * PLACE])) {
      memcpy(s->framed + framed++ * s->nq, s->q + i * s->nq, s->nq * sizeof *s->framed);
    }
  }
  TRY(allocate(&memory, (size_t)view.width * view.height, 3));
  s->rgb = memory;
  TRY(abut_render_scene(s->handle, s->q + o->first * s->nq, s->framed, framed, &view, s->rgb));
  return abut_format_png(view.width, view.height, s->rgb, &p->picture, &p->picture_bytes);
}

static abut_status make(page *p, scene_page *s)
{
  const bool contacts = s->scene->def.law->drawable && !s->scene->given && s->scene->def.pair_count;
  size_t pair_count = 0;
  TRY(page_begin(p));
  json_t *pairs = json_array();
  TRY(page_set(p->root, "pairs", pairs));
  TRY(page_set(p->root, "scene", json_true()));
  TRY(page_set(p->root, "springs", json_boolean(!s->scene->def.law->drawable)));
  TRY(why_unforced(s) && s->scene->constants.nv
        ? page_set(p->root, "unforced", json_string(why_unforced(s)))
        : ABUT_SUCCESS);
  TRY(page_add_options(p, s->options, s->count));
  TRY(scene_need_bodies(s->scene));
  TRY(add_bodies(p, s));
  TRY(add_places(p, s));
  if (s->options->live) { /* frames are requested when they are viewed */
    return add_live(p, s, contacts);
  }
  TRY(take_positions(s));
  TRY(contacts ? list_contacts(s) : ABUT_SUCCESS);
  TRY(contacts ? add_pairs(s, pairs, &pair_count) : ABUT_SUCCESS);
  TRY(page_add_contacts(p, s->count, &s->list, s->frame, s->pair, pair_count,
                        context_real_bytes(s->scene->context)));
  TRY(add_curves(p, s, contacts));
  TRY(add_forces(p, s, contacts));
  return add_picture(p, s);
}

abut_status abut_format_scene_page(abut_scene handle_, size_t count, const double *q,
                                   const abut_page_options *options, char **html, size_t *bytes)
{
  if (html) {
    *html = NULL;
  }
  ENTER(scene_pool, handle_);
  page p = {0};
  scene_page s = {.scene = scene_get(handle_),
                  .handle = handle_,
                  .count = count,
                  .q = q,
                  .options = options};
  if (!s.scene) {
    return ABUT_ERROR_HANDLE;
  }
  s.nq = (size_t)s.scene->constants.nq;
  if ((!q && s.nq) || !options || !html || !bytes) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_format_scene_page: the positions, the options or the output pointer is NULL");
  }
  TRY(check_page_options(options, count));
  if (options->v && (s.scene->given || (scene_control_count(&s.scene->def) && !options->u))) {
    return fail(ABUT_ERROR_ARGUMENT, "a page cannot show the forces of a scene %s",
                s.scene->given ? "whose contacts are given"
                               : "with controls if the controls are not given");
  }
  abut_status status = make(&p, &s);
  status = status == ABUT_SUCCESS ? page_format(&p, html, bytes) : status;
  abut_free_items(&s.items);
  abut_free_compact(&s.list);
  free(s.links);
  free(s.places);
  free(s.placed);
  free(s.positions.data);
  free(s.velocities.data);
  free(s.controls.data);
  free(s.pushes.data);
  free(s.single.data);
  free(s.forces);
  free(s.frame);
  free(s.pair);
  free(s.number);
  free(s.kinds);
  free(s.candidates);
  free(s.curve);
  free(s.framed);
  free(s.rgb);
  page_free(&p);
  return status;
}
