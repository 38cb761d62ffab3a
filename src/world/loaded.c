#include "world/loaded.h"

#include "base/call_lock.h"
#include "body/body.h"
#include "format/text.h"
#include "io/body_load.h"
#include "io/body_mesh.h"
#include "contact/pair.h"
#include "scene/bodies.h"
#include "world/candidates.h"
#include "world/extent.h"
#include "world/law/law.h"
#include "scene/file.h"
#include "world/seams.h"
#include "world/sweep.h"
#include "world/tiles.h"
#include <abut/files.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab071505u

/* Sets all handles of a body to null. Bodies from one file, or of equal shape and lengths, share a
 * handle. */
static void forget_body(loaded_scene *s, abut_body b)
{
  for (size_t i = 0; i < s->body_count; ++i) {
    if (same_body(s->bodies[i], b)) {
      s->bodies[i] = (abut_body){0, 0};
    }
  }
}

static void destroy_bodies(loaded_scene *s)
{
  for (size_t i = 0; s->bodies && i < s->body_count; ++i) {
    body *b = s->bodies[i].generation ? body_get(s->bodies[i]) : NULL;
    if (b) {
      forget_body(s, s->bodies[i]);
      context_discard(b->context, &b->base);
    }
  }
}

/* Destroys pairs, which equal pairs share, and bodies. Keeps the current error text, so it may be
 * called after a failure. */
static void destroy_parts(loaded_scene *s)
{
  for (size_t i = 0; s->pairs && i < s->def.pair_count; ++i) {
    const bool own = s->def.pairs[i].alike == i && has_pair(s->pairs[i]);
    pair *p = own ? pair_get(s->pairs[i]) : NULL;
    if (p) {
      context_discard(p->context, &p->base);
    }
  }
  sweep_destroy_meshes(s);
  tiles_destroy(s);
  seams_destroy(s);
  destroy_bodies(s);
}

static void scene_free_memory(void *object)
{
  loaded_scene *s = object;
  for (size_t i = 0; i < MEMBERS; ++i) {
    if (s->on[i]) {
      resident_free_tables(s->on[i]);
      free(s->on[i]);
    }
  }
  free(s->bodies);
  free(s->pairs);
  free(s->pair_types);
  free(s->pair_order);
  free(s->groups);
  free(s->parts);
  tiles_free(s);
  seams_free(s);
  free(s->meshes);
  scene_forget_warnings(s);
  packed_free(&s->packed);
  scene_clouds_free(&s->clouds);
  scene_constants_free(&s->constants);
  scene_def_free(&s->def);
  free(s);
}

/* Marks the bodies of pairs, by scene_bodies.first. */
static void mark_paired(const loaded_scene *s, const scene_bodies *from, unsigned char *paired)
{
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const scene_pair *p = &s->def.pairs[i];
    for (int side = 0; side < 2 && p->link[0] != WORLD; ++side) {
      paired[from->first[scene_pair_body(&s->def, p, side)]] = 1;
    }
  }
}

/* Progress of loading: the current body. */
typedef struct body_progress {
  const abut_scene_options *to; /* NULL: no report wanted */
  char what[128];               /* the body's place in the file, and its link */
  double from, share;           /* the share done before this body; the body's own share */
} body_progress;

/* The progress callback of a body's field options. */
static bool report_step(void *user, const char *what, double share)
{
  const body_progress *t = user;
  char text[sizeof t->what + 64];
  snprintf(text, sizeof text, "%s%s%s", t->what, what ? ": " : "", what ? what : "");
  return !t->to || !t->to->progress ||
         t->to->progress(t->to->user, text, t->from + share * t->share);
}

static abut_status report_body(const loaded_scene *s, size_t link, size_t of_link, size_t at,
                               body_progress *t)
{
  const char *name = s->def.links[link].name;
  *t = (body_progress){.to = s->progress_to,
                       .from = (double)at / (double)s->body_count,
                       .share = 1.0 / (double)s->body_count};
  snprintf(t->what, sizeof t->what, "links[%zu].bodies[%zu]%s%.80s%s", link, of_link,
           name ? " of `" : "", name ? name : "", name ? "`" : "");
  return report_step(t, NULL, 0.0) ? ABUT_SUCCESS
                                   : fail(ABUT_ERROR_CANCELLED, "loading the scene was cancelled");
}

/* Makes a body from its definition or file. If it is not needed yet, only its mesh is read. */
static abut_status make_body(const loaded_scene *s, abut_context c, const scene_body *b,
                             const abut_body_def *def, bool now, body_progress *t, abut_body *out)
{
  if (now) {
    abut_field_options options = abut_default_field_options();
    options.progress = report_step;
    options.user = t;
    return b->shape == SHAPE_FILE ? s->def.law->load_body(c, b->file, &options, out)
                                  : abut_create_body(c, def, out);
  }
  mesh m = {0};
  const abut_status status = b->shape == SHAPE_FILE ? body_mesh_read(b->file, false, &m)
                                                    : ABUT_SUCCESS;
  mesh_free(&m);
  return status;
}

/* Makes each marked body once (all if `paired` is NULL) and assigns its handle to equal bodies.
 * Existing bodies remain. */
static abut_status make_bodies(loaded_scene *s, abut_context c, const scene_bodies *from,
                               const unsigned char *paired)
{
  size_t at = 0;
  for (size_t l = 0; l < s->def.link_count; ++l) {
    for (size_t i = 0; i < s->def.links[l].body_count; ++i, ++at) {
      const scene_body *b = &s->def.links[l].bodies[i];
      if (from->first[at] != at) {
        s->bodies[at] = s->bodies[from->first[at]];
        continue;
      }
      if (!s->bodies[at].generation) {
        const bool now = !paired || paired[at];
        body_progress t;
        TRY(report_body(s, l, i, at, &t));
        TRY(scene_blame(&s->def, (scene_place){"links", l, "bodies", true, i},
                        b->shape == SHAPE_FILE ? "its file, " : "",
                        make_body(s, c, b, from->def[at], now, &t, &s->bodies[at])));
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_body body_of(const loaded_scene *s, const scene_pair *p, int side)
{
  return s->bodies[scene_pair_body(&s->def, p, side)];
}

/* Sets the pair's size from the bodies that determine the size of the contact. */
static abut_status size_pair(const scene_def *s, abut_body a, abut_body b, scene_pair *p)
{
  const int side = scene_pair_fits(s, p);
  abut_body_info first, second;
  TRY(abut_get_body_info(a, &first));
  TRY(abut_get_body_info(b, &second));
  p->size = fmax(side == 1 ? 0.0 : first.diagonal, side == 0 ? 0.0 : second.diagonal);
  return ABUT_SUCCESS;
}

/* Copies the shared data of an earlier equal pair to pair i. */
static void share_pair(loaded_scene *s, size_t i)
{
  scene_pair *p = &s->def.pairs[i];
  const scene_pair *like = &s->def.pairs[p->alike];
  p->smoothing = like->smoothing;
  p->fitted = like->fitted;
  p->size = like->size;
  s->pairs[i] = s->pairs[p->alike];
  s->groups[i].contacts = s->groups[p->alike].contacts;
}

/* Makes pair i and its group. A pair without bodies only gets a group: its contacts are given. */
static abut_status make_pair(loaded_scene *s, size_t i)
{
  scene_pair *p = &s->def.pairs[i];
  abut_layout layout;
  s->groups[i] = (contact_group){.link = {p->link[0], p->link[1]}, .pair = (int)i};
  if (p->alike != i) {
    share_pair(s, i);
    return ABUT_SUCCESS;
  }
  if (p->link[0] == WORLD && p->link[1] == WORLD) {
    s->given = true;
    return ABUT_SUCCESS;
  }
  const abut_body a = body_of(s, p, 0), b = body_of(s, p, 1);
  if (p->fitted) {
    const int side = scene_pair_fits(&s->def, p);
    abut_smoothing fitted;
    const abut_body first = side == 1 ? b : a, second = side == 0 ? a : b;
    TRY(scene_pair_states_edge_pairs(p) ? abut_fit_edge_pairs(first, second, &fitted)
                                        : abut_fit_smoothing(first, second, &fitted));
    scene_pair_fit(p, &fitted);
  }
  TRY(size_pair(&s->def, a, b, p));
  p->smoothing.margin = s->def.law->margins ? p->margin : 0.0;
  TRY(pair_create_with_zones(a, b, &p->smoothing, &no_zones, false, &s->pairs[i]));
  TRY(abut_get_layout(s->pairs[i], &layout));
  s->groups[i].contacts = layout.contacts;
  return ABUT_SUCCESS;
}

/* Refuses more contact slots than kernels can count with the widest lanes, since any device may
 * step the scene's worlds. */
static abut_status check_slots(const loaded_scene *s)
{
  size_t slots;
  const size_t good =
    tables_countable(s->groups, s->group_count, s->def.capacity, TABLES_LANES_MOST, &slots);
  return good == s->group_count || !tables_bounds_slots(&s->def)
           ? ABUT_SUCCESS
           : scene_fail(&s->def, scene_pair_place(&s->def, (size_t)s->groups[good].pair),
                        "with %s a world has %zu contact slots; the kernels take at most %zu",
                        scene_pair_is_automatic(&s->def, (size_t)s->groups[good].pair)
                          ? "its automatic pairs"
                          : "it",
                        slots, TABLES_SLOTS_MOST);
}

abut_status scene_load_pairs(loaded_scene *s, abut_context c, const scene_bodies *bodies)
{
  void *paired;
  TRY(allocate(&paired, bodies->count + 1, 1));
  mark_paired(s, bodies, paired);
  const abut_status status = make_bodies(s, c, bodies, paired);
  free(paired);
  TRY(status);
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    TRY(scene_blame(&s->def, scene_pair_place(&s->def, i), "", make_pair(s, i)));
  }
  TRY(scene_measure_pairs(s));
  TRY(tiles_make(s));
  TRY(seams_make(s, c));
  TRY(check_slots(s));
  return s->given ? ABUT_SUCCESS : find_pair_types(s);
}

/* Refuses more degrees of freedom than the scene's law supports. */
static abut_status check_dofs(const loaded_scene *s)
{
  const int most = s->def.law->dofs_most;
  for (size_t i = 0; i < s->def.link_count; ++i) {
    const int dofs = s->constants.vadr[i] + joint_dofs(s->def.links[i].joint.type);
    if (dofs > most) {
      return scene_fail(&s->def, (scene_place){.list = "links", .index = i},
                        "up to here the links have %d degrees of freedom; the contact model \"%s\" "
                        "allows at most %d",
                        dofs, s->def.law->word, most);
    }
  }
  return ABUT_SUCCESS;
}

/* Computes everything that follows from the definition. */
static abut_status fill(loaded_scene *s, abut_context c)
{
  scene_bodies bodies = {0};
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY(s->def.law->choose ? s->def.law->choose(&s->def, &s->def.law) : ABUT_SUCCESS);
  TRY(scene_bodies_load(&s->def, &bodies));
  TRY_DONE(scene_constants_make(&s->def, bodies.def, &s->constants));
  TRY_DONE(check_dofs(s));
  TRY_DONE(scene_find_candidates(&s->def, bodies.first));
  s->body_count = bodies.count;
  TRY_DONE(allocate(&memory, bodies.count + 1, sizeof(abut_body)));
  s->bodies = memory;
  TRY_DONE(allocate(&memory, s->def.pair_count + 1, sizeof(abut_pair)));
  s->pairs = memory;
  TRY_DONE(allocate(&memory, s->def.pair_count + 1, sizeof(contact_group)));
  s->groups = memory;
  s->group_count = s->def.pair_count;
  TRY_DONE(s->def.law->load(s, c, &bodies));
  status = s->def.sweep ? sweep_load(s) : ABUT_SUCCESS;
done:
  scene_bodies_free(&bodies);
  return status;
}

abut_status scene_need_bodies(loaded_scene *s)
{
  scene_bodies bodies;
  bool missing = false;
  for (size_t i = 0; i < s->body_count; ++i) {
    missing = missing || !s->bodies[i].generation;
  }
  if (!missing) {
    return ABUT_SUCCESS;
  }
  TRY(scene_bodies_load(&s->def, &bodies));
  const handle of = s->context->self;
  const abut_status status = make_bodies(s, (abut_context){of.index, of.generation}, &bodies, NULL);
  scene_bodies_free(&bodies);
  return status;
}

loaded_scene *scene_get(abut_scene s)
{
  return pool_get(&scene_pool, (handle){s.index, s.generation});
}

/* Loads a scene from the file at `path`, or from `text` if `path` is NULL. */
static abut_status load(abut_context handle_, const char *path, const char *text,
                        const abut_scene_options *options, abut_scene *out)
{
  context *c = context_get(handle_);
  void *memory = NULL;
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(allocate(&memory, 1, sizeof(loaded_scene)));
  loaded_scene *s = memory;
  s->context = c;
  s->progress_to = options;
  abut_status status = path ? scene_file_read_as(path, options->contact_model, &s->def)
                            : scene_file_parse("scene", text, strlen(text), &s->def);
  status = status == ABUT_SUCCESS ? fill(s, handle_) : status;
  status = status == ABUT_SUCCESS ? context_adopt(c, &scene_pool, &s->base, scene_free_memory)
                                  : status;
  if (status != ABUT_SUCCESS) {
    destroy_parts(s);
    scene_free_memory(s);
    return status;
  }
  s->progress_to = NULL;
  *out = (abut_scene){s->base.self.index, s->base.self.generation};
  return ABUT_SUCCESS;
}

abut_status scene_of_text(abut_context handle_, const char *text, abut_scene *out)
{
  ENTER(context_pool, handle_);
  return load(handle_, NULL, text, NULL, out);
}

abut_status abut_load_scene(abut_context handle_, const char *path, abut_scene *out)
{
  ENTER(context_pool, handle_);
  if (!path || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_load_scene: the path or the handle is NULL");
  }
  *out = (abut_scene){0, 0};
  const abut_scene_options options = abut_default_scene_options();
  return load(handle_, path, NULL, &options, out);
}

abut_scene_options abut_default_scene_options(void)
{
  return (abut_scene_options){.cookie = COOKIE};
}

abut_status abut_load_scene_with(abut_context handle_, const char *path,
                                 const abut_scene_options *options, abut_scene *out)
{
  ENTER(context_pool, handle_);
  if (!path || !out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_load_scene_with: the path or the handle is NULL");
  }
  *out = (abut_scene){0, 0};
  if (!options || options->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the scene options were not made by abut_default_scene_options");
  }
  return load(handle_, path, NULL, options, out);
}

abut_status abut_destroy_scene(abut_scene handle_)
{
  ENTER_ALONE(scene_pool, handle_);
  loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  destroy_parts(s);
  context_discard(s->context, &s->base);
  return ABUT_SUCCESS;
}
