#include "world/loaded.h"

#include "base/call_lock.h"
#include "base/reals.h"
#include "body/body.h"
#include "format/text.h"
#include "io/body_file.h"
#include "io/smoothing_file.h"
#include "contact/pair.h"
#include "scene/bodies.h"
#include "world/candidates.h"
#include "world/extent.h"
#include "world/law/law.h"
#include "scene/file.h"
#include "world/seams.h"
#include "world/broad.h"
#include "world/sweep.h"
#include "world/tiles.h"
#include <abut/files.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BODY_POSE 7 /* position, quaternion */
#define TOLERANCE_DOUBLE 1e-10
#define TOLERANCE_FLOAT 1e-5
#define COOKIE 0xab071505u

/* ---- on a device ---- */

abut_status upload_reals(device *d, const double *from, size_t count, buffer **out)
{
  reals r;
  TRY(reals_create(&r, count + 1, device_real_bytes(d)));
  for (size_t i = 0; i < count; ++i) {
    reals_set(&r, i, from[i]);
  }
  const abut_status status = buffer_upload(d, (count + 1) * r.size, r.data, out);
  free(r.data);
  return status;
}

static abut_status upload_bodies(const loaded_scene *s, device *d, buffer **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, 2 * s->group_count + 1, BODY_POSE * sizeof(double)));
  double *to = memory;
  for (size_t i = 0; i < 2 * s->group_count; ++i, to += BODY_POSE) {
    const scene_pair *p = &s->def.pairs[s->groups[i / 2].pair];
    const int side = (int)(i % 2);
    if (s->seams && s->parts[i / 2].tile == PART_BRIDGE && s->parts[i / 2].side == side) {
      memcpy(to, s->seams->all[s->parts[i / 2].seam].place, BODY_POSE * sizeof *to);
    } else if (p->link[side] != WORLD) {
      const scene_body *b = scene_side(&s->def, p, side);
      memcpy(to, b->position, sizeof b->position);
      memcpy(to + 3, b->quaternion, sizeof b->quaternion);
    }
  }
  const abut_status status = upload_reals(d, memory, 2 * s->group_count * BODY_POSE, out);
  free(memory);
  return status;
}

/* Uploads the groups kind by kind, or as they come where they are not the scene's own, or have no
 * kinds. */
static abut_status upload_order(const loaded_scene *s, device *d, const contact_group *groups,
                                size_t count, buffer **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, count + 1, sizeof(int)));
  int *order = memory;
  for (size_t i = 0; i < count; ++i) {
    order[i] = groups == s->groups && s->pair_kind_count ? s->pair_order[i] : (int)i;
  }
  const abut_status status = buffer_upload(d, (count + 1) * sizeof(int), order, out);
  free(memory);
  return status;
}

void resident_free_model(resident_model *r)
{
  buffer_destroy(r->order);
  broad_free(r->broad);
  buffer_destroy(r->springs.heads);
  buffer_destroy(r->springs.shapes);
  buffer_destroy(r->springs.pairs);
  buffer_destroy(r->head);
  buffer_destroy(r->ints);
  buffer_destroy(r->reals);
  buffer_destroy(r->parameters);
  buffer_destroy(r->bodies);
  sweep_free(r->sweep);
  memset(r, 0, sizeof *r);
}

abut_status resident_make(const loaded_scene *s, device *d, const contact_group *groups,
                          size_t count, resident_model *out)
{
  model m;
  const double usual = device_real_bytes(d) == sizeof(double) ? TOLERANCE_DOUBLE : TOLERANCE_FLOAT;
  const double tolerance = s->def.tolerance > 0.0 ? s->def.tolerance : usual;
  memset(out, 0, sizeof *out);
  TRY(model_make(&s->def, &s->constants, groups, count, device_lanes(d), tolerance, &m));
  abut_status status = ABUT_SUCCESS;
  out->sizes = m.sizes;
  TRY_DONE(buffer_upload(d, sizeof m.sizes, &m.sizes, &out->head));
  TRY_DONE(buffer_upload(d, m.int_count * sizeof(int), m.ints, &out->ints));
  TRY_DONE(upload_reals(d, m.reals, m.real_count, &out->reals));
  TRY_DONE(upload_reals(d, m.parameters, m.parameter_count, &out->parameters));
  TRY_DONE(upload_bodies(s, d, &out->bodies));
  TRY_DONE(upload_order(s, d, groups, count, &out->order));
  TRY_DONE(s->def.law->upload ? s->def.law->upload(s, d, out) : ABUT_SUCCESS);
  TRY_DONE(groups == s->groups ? broad_upload(s, d, &out->broad) : ABUT_SUCCESS);
  TRY_DONE(s->meshes ? sweep_upload(s, d, &out->sweep) : ABUT_SUCCESS);
done:
  model_free(&m);
  if (status != ABUT_SUCCESS) {
    resident_free_model(out);
  }
  return status;
}

abut_status scene_on(loaded_scene *s, size_t place, const resident_model **out)
{
  if (!s->on[place]) {
    void *memory = NULL;
    TRY(allocate(&memory, 1, sizeof(resident_model)));
    const abut_status status =
      resident_make(s, s->context->members[place].device, s->groups, s->group_count, memory);
    if (status != ABUT_SUCCESS) {
      free(memory);
      return status;
    }
    s->on[place] = memory;
  }
  *out = s->on[place];
  return ABUT_SUCCESS;
}

/* ---- made and destroyed ---- */

/* Sets all handles of a body to null. Bodies of one file, or of one shape and lengths, share a
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

/* Destroys pairs, which those that are alike share, and bodies. It is also called after a failure,
 * whose error text it leaves as it is. */
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
      resident_free_model(s->on[i]);
      free(s->on[i]);
    }
  }
  free(s->bodies);
  free(s->pairs);
  free(s->pair_kinds);
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

/* Makes each body once, by its definition or from its file, and gives the others like it the same
 * handle. */
static abut_status make_bodies(loaded_scene *s, abut_context c, const scene_bodies *from)
{
  size_t at = 0;
  for (size_t l = 0; l < s->def.link_count; ++l) {
    for (size_t i = 0; i < s->def.links[l].body_count; ++i, ++at) {
      const scene_body *b = &s->def.links[l].bodies[i];
      if (from->first[at] != at) {
        s->bodies[at] = s->bodies[from->first[at]];
        continue;
      }
      const scene_place place = {"links", l, "bodies", true, i};
      const bool file = b->shape == SHAPE_FILE;
      TRY(scene_blame(&s->def, place, file ? "its file, " : "",
                      file ? s->def.law->load_body(c, b->file, &s->bodies[at])
                           : abut_create_body(c, from->def[at], &s->bodies[at])));
    }
  }
  return ABUT_SUCCESS;
}

static abut_body body_of(const loaded_scene *s, const scene_pair *p, int side)
{
  return s->bodies[scene_pair_body(&s->def, p, side)];
}

/* Sets the pair's size, by the bodies that say how large the contact is. */
static abut_status size_pair(const scene_def *s, abut_body a, abut_body b, scene_pair *p)
{
  const int side = scene_pair_fits(s, p);
  abut_body_info first, second;
  TRY(abut_get_body_info(a, &first));
  TRY(abut_get_body_info(b, &second));
  p->size = fmax(side == 1 ? 0.0 : first.diagonal, side == 0 ? 0.0 : second.diagonal);
  return ABUT_SUCCESS;
}

/* Gives pair i what a pair before it has that it is like. */
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

/* Makes pair i and its group. A pair without bodies gets a group alone: its contacts are given. */
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
  TRY(abut_create_pair(a, b, &p->smoothing, &s->pairs[i]));
  TRY(abut_get_layout(s->pairs[i], &layout));
  s->groups[i].contacts = layout.contacts;
  return ABUT_SUCCESS;
}

/* Refuses more slots of contacts than kernels count, as with the lanes that need most, since any
 * device may step the scene's worlds. */
static abut_status check_slots(const loaded_scene *s)
{
  size_t slots;
  const size_t good =
    model_countable(s->groups, s->group_count, s->def.capacity, MODEL_LANES_MOST, &slots);
  return good == s->group_count || !model_bounds_slots(&s->def)
           ? ABUT_SUCCESS
           : scene_fail(&s->def, scene_pair_place(&s->def, (size_t)s->groups[good].pair),
                        "with %s a world has %zu slots of contacts, more than the %zu that kernels "
                        "count",
                        scene_pair_is_automatic(&s->def, (size_t)s->groups[good].pair)
                          ? "its automatic pairs"
                          : "it",
                        slots, MODEL_SLOTS_MOST);
}

abut_status scene_load_pairs(loaded_scene *s, abut_context c, const scene_bodies *bodies)
{
  TRY(make_bodies(s, c, bodies));
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    TRY(scene_blame(&s->def, scene_pair_place(&s->def, i), "", make_pair(s, i)));
  }
  TRY(scene_measure_pairs(s));
  TRY(tiles_make(s));
  TRY(seams_make(s, c));
  TRY(check_slots(s));
  return s->given ? ABUT_SUCCESS : kinds_of_pairs(s);
}

/* Refuses more degrees of freedom than the scene's law takes. */
static abut_status check_dofs(const loaded_scene *s)
{
  const int most = s->def.law->dofs_most;
  for (size_t i = 0; i < s->def.link_count; ++i) {
    const int dofs = s->constants.vadr[i] + joint_dofs(s->def.links[i].joint.type);
    if (dofs > most) {
      return scene_fail(&s->def, (scene_place){.list = "links", .index = i},
                        "up to here the links have %d degrees of freedom; with the contact model "
                        "\"%s\" %d are the most",
                        dofs, s->def.law->word, most);
    }
  }
  return ABUT_SUCCESS;
}

/* Makes everything that follows from the definition. */
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
  if (!s->body_count || s->bodies[0].generation) {
    return ABUT_SUCCESS;
  }
  TRY(scene_bodies_load(&s->def, &bodies));
  const handle of = s->context->self;
  const abut_status status = make_bodies(s, (abut_context){of.index, of.generation}, &bodies);
  scene_bodies_free(&bodies);
  if (status != ABUT_SUCCESS) {
    destroy_bodies(s);
  }
  return status;
}

loaded_scene *scene_get(abut_scene s)
{
  return pool_get(&scene_pool, (handle){s.index, s.generation});
}

/* Loads a scene from the file at `path` or, where that is NULL, from `text`. `law` is the contact
 * model that takes the place of a file's own, or NULL. */
static abut_status load(abut_context handle_, const char *path, const char *text, const char *law,
                        abut_scene *out)
{
  context *c = context_get(handle_);
  void *memory = NULL;
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(allocate(&memory, 1, sizeof(loaded_scene)));
  loaded_scene *s = memory;
  s->context = c;
  abut_status status = path ? scene_file_read_as(path, law, &s->def)
                            : scene_file_parse("scene", text, strlen(text), &s->def);
  status = status == ABUT_SUCCESS ? fill(s, handle_) : status;
  status = status == ABUT_SUCCESS ? context_adopt(c, &scene_pool, &s->base, scene_free_memory)
                                  : status;
  if (status != ABUT_SUCCESS) {
    destroy_parts(s);
    scene_free_memory(s);
    return status;
  }
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
    return fail(ABUT_ERROR_ARGUMENT, "abut_load_scene needs a path and a handle");
  }
  *out = (abut_scene){0, 0};
  return load(handle_, path, NULL, NULL, out);
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
    return fail(ABUT_ERROR_ARGUMENT, "abut_load_scene_with needs a path and a handle");
  }
  *out = (abut_scene){0, 0};
  if (!options || options->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "make options of scenes by abut_default_scene_options");
  }
  return load(handle_, path, NULL, options->contact_model, out);
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

/* Whether a body before this one in the scene has the same handle. */
static bool is_earlier(const loaded_scene *s, size_t number)
{
  size_t i = 0;
  while (s->bodies[i].index != s->bodies[number].index ||
         s->bodies[i].generation != s->bodies[number].generation) {
    ++i;
  }
  return i < number;
}

/* Counts the bodies of files that have diagnostics, each handle once, and tells those of the
 * first. */
static void find_diagnostics(const loaded_scene *s, abut_scene_info *info)
{
  size_t at = 0;
  for (size_t l = 0; l < s->def.link_count; ++l) {
    for (size_t i = 0; i < s->def.links[l].body_count; ++i, ++at) {
      abut_body_info of;
      if (s->def.links[l].bodies[i].shape != SHAPE_FILE || is_earlier(s, at) ||
          abut_get_body_info(s->bodies[at], &of) != ABUT_SUCCESS || !of.suspicions) {
        continue;
      }
      if (!info->suspicious_bodies++) {
        info->suspicious_link = l;
        info->suspicious_body = i;
        info->suspicions = of.suspicions;
        info->misfit = of.misfit;
        info->feature_misfit = of.feature_misfit;
        info->diagonal = of.diagonal;
      }
    }
  }
}

void scene_inform_of_pairs(const loaded_scene *s, abut_scene_info *info)
{
  for (size_t i = 0; i < s->group_count; ++i) {
    info->contacts += (size_t)s->groups[i].pair < s->def.listed_count ? s->groups[i].contacts : 0;
  }
  find_diagnostics(s, info);
}

static size_t count_trees(const scene_def *s)
{
  size_t count = 0;
  for (size_t i = 0; i < s->link_count; ++i) {
    count += joint_dofs(s->links[i].joint.type) && scene_root(s, i) == i;
  }
  return count;
}

abut_status abut_get_scene_info(abut_scene handle_, abut_scene_info *info)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!info) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_scene_info needs a place for its answer");
  }
  *info = (abut_scene_info){.links = s->def.link_count,
                            .pairs = s->def.listed_count,
                            .nq = (size_t)s->constants.nq,
                            .nv = (size_t)s->constants.nv,
                            .nu = s->def.actuator_count,
                            .cloud_gap = s->clouds.gap,
                            .cloud_link = s->clouds.gap_link,
                            .cloud_body = s->clouds.gap_body,
                            .sinking = s->sinking.depth,
                            .sinking_share = s->sinking.share,
                            .sinking_k = s->sinking.k,
                            .sinking_pair = s->sinking.pair,
                            .sinking_pairs = s->sinking.pairs,
                            .timestep = s->def.timestep,
                            .automatic = s->def.automatic,
                            .bodies = s->body_count,
                            .candidates = s->def.pair_count,
                            .kinds = s->pair_kind_count,
                            .parameters = s->def.column_count,
                            .trees = count_trees(&s->def)};
  s->def.law->inform(s, info);
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_body(abut_scene handle_, size_t index, size_t *link, size_t *place)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (index >= s->body_count) {
    return fail(ABUT_ERROR_ARGUMENT, "there is no body %zu of %zu", index, s->body_count);
  }
  const size_t of = scene_body_link(&s->def, index);
  if (link) {
    *link = of;
  }
  if (place) {
    *place = index - s->def.links[of].first_body;
  }
  return ABUT_SUCCESS;
}

abut_status abut_get_candidate(abut_scene handle_, size_t index, size_t *a, size_t *b)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (index >= s->def.pair_count || !a || !b) {
    return fail(ABUT_ERROR_ARGUMENT,
                a && b ? "there is no candidate %zu of %zu"
                       : "abut_get_candidate needs places for candidate %zu of %zu",
                index, s->def.pair_count);
  }
  const scene_pair *p = &s->def.pairs[index];
  if (p->link[0] == WORLD) {
    return fail(ABUT_ERROR_ARGUMENT, "pair %zu has no bodies", index);
  }
  *a = scene_pair_body(&s->def, p, 0);
  *b = scene_pair_body(&s->def, p, 1);
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_start(abut_scene handle_, double *q)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!q) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_scene_start needs a place for its answer");
  }
  memcpy(q, s->constants.q0, (size_t)s->constants.nq * sizeof *q);
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_parameters(abut_scene handle_, double *friction, double *gravity)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  for (size_t i = 0; friction && i < s->def.column_count; ++i) {
    friction[i] = scene_column_friction(&s->def, i);
  }
  if (gravity) {
    memcpy(gravity, s->def.gravity, sizeof s->def.gravity);
  }
  return ABUT_SUCCESS;
}

abut_status abut_get_scene_springs(abut_scene handle_, double *springs)
{
  ENTER(scene_pool, handle_);
  const loaded_scene *s = scene_get(handle_);
  if (!s) {
    return ABUT_ERROR_HANDLE;
  }
  if (!springs || !s->def.law->numbers) {
    return fail(ABUT_ERROR_ARGUMENT, springs
                                       ? "the scene's contacts are no springs"
                                       : "abut_get_scene_springs needs a place for its answer");
  }
  for (size_t i = 0; i < s->def.listed_count; ++i) {
    memcpy(springs + SPRING_NUMBERS * i, s->def.pairs[i].spring, sizeof s->def.pairs[i].spring);
  }
  return ABUT_SUCCESS;
}
