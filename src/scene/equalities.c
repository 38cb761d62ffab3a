/* Reads fixed tendons and equality constraints of a scene's file. */
#include "base/error.h"
#include "scene/law.h"
#include <string.h>

#define TENDONS_MOST 4096
#define EQUALITIES_MOST 4096

/* ---- tendons ---- */

/* Finds the link of a joint with one degree of freedom. */
static abut_status read_scalar_joint(reader *r, const json_at *at, int *link)
{
  TRY(scene_link_of(r, at, r->s->link_count, false, link));
  const joint_type type = r->s->links[*link].joint.type;
  return joint_dofs(type) == 1
           ? ABUT_SUCCESS
           : json_fail(r->file, at,
                       "a %s joint has no single position; use a joint with one degree of freedom",
                       joint_words[type]);
}

static abut_status read_part(reader *r, const json_at *element, tendon_part *p)
{
  static const char *const keys[] = {"joint", "coefficient"};
  json_at at;
  *p = (tendon_part){.coefficient = 1.0};
  TRY(CHECK_KEYS(r->file, element, keys));
  TRY(json_need(r->file, element, "joint", &at));
  TRY(read_scalar_joint(r, &at, &p->link));
  return scene_number(r->file, element, "coefficient", bound_any, &p->coefficient);
}

static abut_status read_rest(const json_file *f, const json_at *element, tendon *t)
{
  json_at at;
  t->rests = json_find(element, "rest", &at);
  if (!t->rests) {
    return ABUT_SUCCESS;
  }
  if (json_is_number(at.value)) {
    TRY(json_number(f, &at, t->rest));
    t->rest[1] = t->rest[0];
    return ABUT_SUCCESS;
  }
  TRY(json_numbers(f, &at, 2, t->rest));
  return t->rest[0] <= t->rest[1] ? ABUT_SUCCESS
                                  : json_fail(f, &at, "%.9g is above %.9g", t->rest[0], t->rest[1]);
}

static int tendon_named(const scene_def *s, size_t count, const char *name)
{
  for (size_t i = 0; i < count; ++i) {
    if (s->tendons[i].name && strcmp(s->tendons[i].name, name) == 0) {
      return (int)i;
    }
  }
  return NOTHING;
}

static abut_status read_tendon_name(reader *r, const json_at *element, size_t i)
{
  json_at at;
  const char *name;
  if (!json_find(element, "name", &at)) {
    return ABUT_SUCCESS;
  }
  TRY(json_text(r->file, &at, &name));
  const int same = tendon_named(r->s, i, name);
  return same == NOTHING ? scene_text(r, name, &r->s->tendons[i].name)
                         : json_fail(r->file, &at, "tendon %d has the same name", same);
}

static abut_status read_tendon(reader *r, const json_at *element, size_t i)
{
  static const char *const keys[] = {"name", "joints", "stiffness", "damping", "rest"};
  const json_file *f = r->file;
  tendon *t = &r->s->tendons[i];
  json_at list;
  void *memory;
  TRY(CHECK_KEYS(f, element, keys));
  TRY(read_tendon_name(r, element, i));
  TRY(json_need(f, element, "joints", &list));
  TRY(
    scene_list(r, element, "joints", sizeof *t->parts, LINKS_MOST, &list, &memory, &t->part_count));
  t->parts = memory;
  for (size_t k = 0; k < t->part_count; ++k) {
    const json_at part = json_element(&list, k);
    TRY(read_part(r, &part, &t->parts[k]));
  }
  if (!t->part_count) {
    return json_fail(f, &list, "a tendon needs at least one joint");
  }
  TRY(scene_number(f, element, "stiffness", bound_not_negative, &t->stiffness));
  TRY(scene_number(f, element, "damping", bound_not_negative, &t->damping));
  return read_rest(f, element, t);
}

abut_status scene_tendons(reader *r, const json_at *root)
{
  json_at list;
  void *memory;
  TRY(scene_list(r, root, "tendons", sizeof(tendon), TENDONS_MOST, &list, &memory,
                 &r->s->tendon_count));
  r->s->tendons = memory;
  for (size_t i = 0; i < r->s->tendon_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_tendon(r, &element, i));
  }
  return ABUT_SUCCESS;
}

abut_status scene_tendon_of(reader *r, const json_at *at, int *out)
{
  const json_file *f = r->file;
  json_int_t number;
  const char *name;
  if (json_is_string(at->value)) {
    TRY(json_text(f, at, &name));
    *out = tendon_named(r->s, r->s->tendon_count, name);
    return *out != NOTHING ? ABUT_SUCCESS : json_fail(f, at, "there is no tendon with this name");
  }
  if (!json_is_integer(at->value)) {
    return json_fail(f, at, "must be the number or the name of a tendon");
  }
  TRY(json_whole(f, at, TENDONS_MOST, &number));
  *out = (int)number;
  return (size_t)number < r->s->tendon_count ? ABUT_SUCCESS
                                             : json_fail(f, at, "there is no tendon %d", *out);
}

/* ---- equalities ---- */

/* Finds a link; -1 is the world. */
static abut_status read_side(reader *r, const json_at *at, int *link)
{
  if (json_is_integer(at->value) && json_integer_value(at->value) == WORLD) {
    *link = WORLD;
    return ABUT_SUCCESS;
  }
  return scene_link_of(r, at, r->s->link_count, false, link);
}

static bool moves(const scene_def *s, int link)
{
  return link != WORLD && joint_dofs(s->links[scene_root(s, (size_t)link)].joint.type);
}

static abut_status read_places(reader *r, const json_at *element, equality *e)
{
  static const char *const positions[] = {"position_a", "position_b"}, *const quaternions[] = {
                                                                         "quaternion_a",
                                                                         "quaternion_b"};
  const bool turns = e->kind == EQUALITY_OF_PLACES;
  const json_file *f = r->file;
  json_at at;
  e->meets = json_find(element, "position_b", &at);
  e->turned = json_find(element, "quaternion_b", &at);
  for (int k = 0; k < 2; ++k) {
    e->quaternion[k][0] = 1.0;
    TRY(scene_vector(f, element, positions[k], 3, e->position[k]));
    TRY(scene_refuse(f, element, quaternions[k], turns,
                     "connect constraints do not use it; only welds do"));
    TRY(scene_unit(f, element, quaternions[k], 4, e->quaternion[k]));
  }
  TRY(scene_refuse(f, element, "torque_scale", turns,
                   "connect constraints do not use it; only welds do"));
  return scene_number(f, element, "torque_scale", bound_positive, &e->torque_scale);
}

static abut_status read_linked(reader *r, const json_at *element, equality *e)
{
  json_at at;
  e->of[0] = e->of[1] = WORLD;
  TRY(json_need(r->file, element, "a", &at));
  TRY(read_side(r, &at, &e->of[0]));
  TRY(json_find(element, "b", &at) ? read_side(r, &at, &e->of[1]) : ABUT_SUCCESS);
  if (e->of[0] == e->of[1]) {
    return json_fail(r->file, element, "connects a link to itself");
  }
  if (!moves(r->s, e->of[0]) && !moves(r->s, e->of[1])) {
    return json_fail(r->file, element, "connects two links that cannot move");
  }
  TRY(scene_refuse(r->file, element, "polynomial", false,
                   "constraints between links do not use it; only joints and tendons do"));
  return read_places(r, element, e);
}

static abut_status read_coupled(reader *r, const json_at *element, equality *e)
{
  static const char *const others[] = {"position_a", "position_b", "quaternion_a", "quaternion_b",
                                       "torque_scale"};
  const bool joints = e->kind == EQUALITY_OF_JOINTS;
  json_at at;
  for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
    TRY(scene_refuse(r->file, element, others[k], false, "only constraints between links use it"));
  }
  e->of[1] = NOTHING;
  e->polynomial[1] = 1.0;
  TRY(json_need(r->file, element, "a", &at));
  TRY(joints ? read_scalar_joint(r, &at, &e->of[0]) : scene_tendon_of(r, &at, &e->of[0]));
  if (json_find(element, "b", &at)) {
    TRY(joints ? read_scalar_joint(r, &at, &e->of[1]) : scene_tendon_of(r, &at, &e->of[1]));
  }
  if (e->of[0] == e->of[1]) {
    return json_fail(r->file, &at, "%s is coupled to itself", joints ? "the joint" : "the tendon");
  }
  return scene_vector(r->file, element, "polynomial", 5, e->polynomial);
}

static abut_status read_equality(reader *r, const json_at *element, equality *e)
{
  static const char *const keys[] = {"kind",         "a",          "b",
                                     "position_a",   "position_b", "quaternion_a",
                                     "quaternion_b", "polynomial", "torque_scale",
                                     "solref",       "solimp"};
  static const char *const words[EQUALITY_KINDS] = {"connect", "weld", "joint", "tendon"};
  const json_file *f = r->file;
  json_at at;
  int kind = 0;
  *e = (equality){.torque_scale = 1.0};
  TRY(CHECK_KEYS(f, element, keys));
  TRY(json_need(f, element, "kind", &at));
  TRY(scene_word(f, element, "kind", words, EQUALITY_KINDS, &kind));
  e->kind = (equality_kind)kind;
  TRY(kind <= EQUALITY_OF_PLACES ? read_linked(r, element, e) : read_coupled(r, element, e));
  return scene_softness(f, element, "solref", "solimp", &e->soft);
}

abut_status scene_equalities(reader *r, const json_at *root)
{
  json_at list;
  void *memory;
  TRY(scene_list(r, root, "equalities", sizeof(equality), EQUALITIES_MOST, &list, &memory,
                 &r->s->equality_count));
  r->s->equalities = memory;
  if (r->s->equality_count && !law_takes_equalities(r->s)) {
    return json_fail(r->file, &list,
                     "the contact model \"%s\" does not support equality constraints",
                     law_word(r->s));
  }
  for (size_t i = 0; i < r->s->equality_count; ++i) {
    const json_at element = json_element(&list, i);
    TRY(read_equality(r, &element, &r->s->equalities[i]));
  }
  return ABUT_SUCCESS;
}
