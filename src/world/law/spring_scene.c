/* Springs of a scene: settings in its file, clouds, sizes of their bodies, and tables
 * (docs/spring.md, docs/scene-contacts.md). */
#include "world/law/spring.h"

#include "base/error.h"
#include "body/family/family.h"
#include "format/text.h"
#include "io/body_file.h"
#include "io/body_load.h"
#include "scene/file.h"
#include <abut/files.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a scene's file ---- */

/* The defaults of k, mu, v_d, v_s, eps2 and eps3, equal to those of abut_default_spring. */
static const double usual_spring[SPRING_NUMBERS] = {5000.0, 0.5, 0.1, 0.01, 5e-4, 2e-4};

static abut_status read_contact(const json_file *f, const json_at *at, scene_pair *p)
{
  static const char *const keys[] = {"k",    "mu",   "v_d",         "v_s",
                                     "eps2", "eps3", "dissipation", "reaction"};
  static const char *const curves[] = {"c1", "smooth"};
  static const char *const places[] = {"point", "plane"};
  int curve = ABUT_DISSIPATION_C1, place = ABUT_REACTION_POINT;
  TRY(CHECK_KEYS(f, at, keys));
  for (int i = 0; i < SPRING_NUMBERS; ++i) {
    TRY(scene_number(f, at, keys[i], i == SPRING_MU ? bound_not_negative : bound_positive,
                     &p->spring[i]));
  }
  TRY(scene_word(f, at, "dissipation", curves, 2, &curve));
  TRY(scene_word(f, at, "reaction", places, 2, &place));
  p->dissipation = (abut_dissipation)curve;
  p->reaction = (abut_reaction)place;
  return ABUT_SUCCESS;
}

abut_status spring_read(const json_file *f, const json_at *root, scene_def *s)
{
  json_at at;
  bool clouds = false;
  s->clouds = -1;
  if (json_find(root, "clouds", &at)) {
    TRY(json_flag(f, &at, &clouds));
    s->clouds = clouds;
  }
  return ABUT_SUCCESS;
}

/* Only checks that `contact` is an object. A pair may hold it in scenes of other laws; only springs
 * use its contents. */
abut_status spring_read_pair(const json_file *f, const json_at *element, scene_pair *p)
{
  json_at contact;
  memcpy(p->spring, usual_spring, sizeof p->spring);
  return json_find(element, "contact", &contact) && !json_is_object(contact.value)
           ? json_fail(f, &contact, "must be an object")
           : ABUT_SUCCESS;
}

abut_status spring_settle(const reader *r, const json_at *root)
{
  json_at at;
  TRY(law_refuse_capacity(r, root, "springs (\"spring\") have no list of contacts to limit"));
  return r->s->most_contacts && json_find(root, "most_contacts", &at)
           ? json_fail(r->file, &at, "springs (\"spring\") have no list of contacts to limit")
           : ABUT_SUCCESS;
}

abut_status spring_settle_pair(const reader *r, const json_at *element, scene_pair *p)
{
  const json_file *f = r->file;
  json_at contact, friction;
  if (p->link[0] == WORLD) {
    return json_fail(f, element,
                     "springs (\"spring\") act between bodies: \"a\" and \"b\" are "
                     "missing, and contacts cannot be given");
  }
  if (json_find(element, "friction", &friction)) {
    p->spring[SPRING_MU] = p->friction;
  }
  TRY(json_find(element, "contact", &contact) ? read_contact(f, &contact, p) : ABUT_SUCCESS);
  if (p->reaction == ABUT_REACTION_PLANE && r->s->clouds == 0) {
    return json_fail(f, &contact,
                     "reactions at planes (\"plane\") need point clouds, and the scene has none");
  }
  if (p->reaction == ABUT_REACTION_PLANE && r->s->integrator == INTEGRATOR_IMPLICIT) {
    return json_fail(f, &contact,
                     "reactions at planes (\"plane\") need \"integrator\" \"euler\" or \"rk4\": "
                     "\"implicit\", the default for springs, supports only reactions at points");
  }
  p->friction = p->spring[SPRING_MU];
  return ABUT_SUCCESS;
}

/* ---- clouds or contacts ---- */

/* Sets *out if a body specifies a cloud, by a number in the scene or in its file. */
static abut_status states_cloud(const scene_def *s, const scene_body *b, scene_place place,
                                bool *out)
{
  body_file f = {0};
  if (b->eps1 > 0.0) {
    *out = true;
  } else if (b->shape == SHAPE_FILE && has_extension(b->file, ".json")) {
    TRY(scene_blame(s, place, "its file, ", body_file_read(b->file, &f)));
    *out = *out || f.cloud.source != CLOUD_UNSTATED;
    body_file_free(&f);
  }
  return ABUT_SUCCESS;
}

/* A scene uses clouds for all pairs or for none. If the scene does not state which, it uses clouds
 * if any of its bodies specifies a cloud, or a pair has reactions that only clouds support. */
abut_status spring_choose(const scene_def *s, const contact_law **out)
{
  bool clouds = s->clouds == 1;
  for (size_t i = 0; i < s->pair_count && s->clouds < 0; ++i) {
    clouds = clouds || s->pairs[i].reaction == ABUT_REACTION_PLANE;
  }
  clouds = clouds || (s->clouds < 0 && s->automatic && s->usual.reaction == ABUT_REACTION_PLANE);
  for (size_t i = 0; i < s->link_count && s->clouds < 0; ++i) {
    for (size_t k = 0; k < s->links[i].body_count && !clouds; ++k) {
      TRY(states_cloud(s, &s->links[i].bodies[k], (scene_place){"links", i, "bodies", true, k},
                       &clouds));
    }
  }
  *out = clouds ? &spring_law : &spring_contacts_law;
  return ABUT_SUCCESS;
}

/* ---- a scene ---- */

/* A body file may only name a mesh and how to turn it into a cloud. It then has no field of its
 * own, and the body is loaded from the mesh. */
abut_status spring_load_body(abut_context c, const char *path, const abut_field_options *options,
                             abut_body *out)
{
  body_file f = {0};
  if (!has_extension(path, ".json")) {
    return body_load(c, path, options, out);
  }
  TRY(body_file_read(path, &f));
  const abut_status status = body_load(c, family_any(&f.def) ? path : f.mesh_path, options, out);
  body_file_free(&f);
  return status;
}

/* Makes and packs the clouds. Groups have no contact slots, since springs do not list contacts. */
static abut_status make_springs(loaded_scene *s)
{
  TRY(scene_clouds_load(&s->def, &s->clouds));
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const scene_pair *p = &s->def.pairs[i];
    s->groups[i] = (contact_group){.link = {p->link[0], p->link[1]}, .pair = (int)i};
  }
  return s->clouds.count ? pack_clouds(s->clouds.clouds, s->clouds.count,
                                       context_real_bytes(s->context), &s->packed)
                         : ABUT_SUCCESS;
}

abut_status spring_load(loaded_scene *s, abut_context c, const scene_bodies *bodies)
{
  (void)c;
  (void)bodies;
  TRY(make_springs(s));
  TRY(scene_measure_pairs(s));
  return scene_find_sinking(s);
}

static abut_status upload_springs(const loaded_scene *s, device *d, resident_springs *out)
{
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY(allocate(&memory, 2 * s->def.pair_count + 2, sizeof(int32_t)));
  int32_t *clouds = memory;
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    size_t room = 0;
    for (int side = 0; side < 2; ++side) {
      clouds[2 * i + (size_t)side] = s->clouds.of[scene_pair_body(&s->def, &s->def.pairs[i], side)];
      room += cloud_padded(&s->clouds.clouds[clouds[2 * i + (size_t)side]]);
    }
    out->room = room > out->room ? room : out->room;
  }
  TRY_DONE(buffer_upload(d, (2 * s->def.pair_count + 2) * sizeof *clouds, clouds, &out->pairs));
  TRY_DONE(buffer_upload(d, s->packed.head_count * sizeof(int), s->packed.heads, &out->heads));
  TRY_DONE(buffer_upload(d, s->packed.shapes.count * s->packed.shapes.size, s->packed.shapes.data,
                         &out->shapes));
done:
  free(memory);
  return status;
}

abut_status spring_upload(const loaded_scene *s, device *d, resident_tables *out)
{
  return s->packed.heads ? upload_springs(s, d, &out->springs) : ABUT_SUCCESS;
}

static double least(const double *x, size_t count)
{
  double out = HUGE_VAL;
  for (size_t i = 0; i < count; ++i) {
    out = fmin(out, x[i]);
  }
  return out;
}

/* Finds the box of a cloud's points and the body's thickness. The thickness of a shape follows from
 * its lengths. For a file it is the shortest side of the box, although the body may be thinner. */
static extent extent_of_cloud(const scene_body *b, const abut_cloud *c)
{
  extent e = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 0.0};
  for (size_t i = 0; i < 3 * c->count; ++i) {
    e.lower[i % 3] = fmin(e.lower[i % 3], c->points[i]);
    e.upper[i % 3] = fmax(e.upper[i % 3], c->points[i]);
  }
  const double sides[3] = {e.upper[0] - e.lower[0], e.upper[1] - e.lower[1],
                           e.upper[2] - e.lower[2]};
  e.thickness = b->shape == SHAPE_FILE      ? least(sides, 3)
                : b->shape == SHAPE_CAPSULE ? 2.0 * b->size[0]
                                            : 2.0 * least(b->size, body_shape_sizes[b->shape]);
  return e;
}

abut_status spring_measure(const loaded_scene *s, const scene_pair *p, int side, extent *out)
{
  const int32_t of = s->clouds.of[scene_pair_body(&s->def, p, side)];
  *out = extent_of_cloud(scene_side(&s->def, p, side), &s->clouds.clouds[of]);
  return ABUT_SUCCESS;
}

void spring_inform(const loaded_scene *s, abut_scene_info *info)
{
  info->contacts += s->def.listed_count;
  info->springs += s->def.listed_count;
  info->by_springs = info->clouds = true;
}

/* ---- tables ---- */

/* Only Euler's step handles damping implicitly by itself. An implicit step has it in its Jacobian;
 * in RK4 it is explicit. */
void spring_sizes(const scene_def *s, size_t slots, world_sizes *out)
{
  (void)slots;
  out->pair_springs = out->zero_stiffness = true;
  out->active_reals = SPRING_SUMS;
  out->damped = s->integrator == INTEGRATOR_EULER && tables_is_damped(s);
}

/* Writes the numbers of pairs, and those of joint limits, which are springs, too. Limits are smooth
 * if all pairs are. */
void spring_put(const scene_def *s, const scene_constants *c, const contact_group *groups,
                scene_tables *m)
{
  const world_sizes *n = &m->sizes;
  bool smooth = s->pair_count > 0;
  int row = 0;
  (void)c;
  (void)groups;
  for (size_t i = 0; i < s->pair_count; ++i) {
    smooth = smooth && s->pairs[i].dissipation == ABUT_DISSIPATION_SMOOTH;
    memcpy(m->reals + n->at_springs + SPRING_NUMBERS * i, s->pairs[i].spring,
           sizeof s->pairs[i].spring);
  }
  for (size_t i = 0; i < s->link_count; ++i) {
    const joint *j = &s->links[i].joint;
    for (int end = 0; j->limited && end < 2; ++end) {
      double *to = m->reals + n->at_row_reals + ROW_REALS * row++;
      to[ROW_SPRING_K] = j->limit_spring[0];
      to[ROW_SPRING_E] = j->limit_spring[1];
      to[ROW_SPRING_V] = j->limit_spring[2];
      to[ROW_SPRING_SMOOTH] = smooth;
    }
    row += j->friction_loss > 0.0 ? joint_dofs(j->type) : 0;
  }
}
