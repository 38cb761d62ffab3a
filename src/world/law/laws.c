/* What each law of contacts has of its own in a scene. */
#include "base/error.h"
#include "geometry/spring.h"
#include "geometry/world.h"
#include "world/scene_parts.h"
#include <string.h>

#define HARD_MOST 64 /* contacts: their boxed problems have three rows each */

#define MODELS 3
static const char *const models[MODELS] = {"cone", "lcp", "spring"};

/* The place of the model that stands in for the file's, `own`. */
static abut_status replace_model(reader *r, int own, int *model)
{
  *model = 0;
  while (*model < MODELS && strcmp(r->model, models[*model]) != 0) {
    ++*model;
  }
  r->replaced = *model != own;
  return *model < MODELS ? ABUT_SUCCESS
                         : fail(ABUT_ERROR_ARGUMENT, "there is no contact model \"%s\"", r->model);
}

abut_status scene_model(reader *r, const json_at *root)
{
  int model = LAW_CONE;
  TRY(scene_word(r->file, root, "contact_model", models, MODELS, &model));
  TRY(r->model ? replace_model(r, model, &model) : ABUT_SUCCESS);
  r->s->law = (contact_law)model;
  return ABUT_SUCCESS;
}

/* ---- hard contacts ---- */

abut_status scene_hard(const json_file *f, const json_at *root, scene_def *s)
{
  static const char *const keys[] = {"error_reduction", "slop",         "correction",
                                     "margin",          "limit_margin", "bounce",
                                     "threshold",       "most",         "elastic"};
  static const char *const words[] = {"none", "collision", "paper"};
  json_at at, list;
  hard_settings *h = &s->hard;
  *h = (hard_settings){.error_reduction = 0.2,
                       .correction = 1.0,
                       .margin = -1.0,
                       .limit_margin = 0.02,
                       .bounce = 0.05,
                       .threshold = 0.25,
                       .most = 16,
                       .elastic = HARD_COLLISION};
  if (!json_find(root, "lcp", &list)) {
    return ABUT_SUCCESS;
  }
  if (!json_is_object(list.value)) {
    return json_fail(f, &list, "not an object");
  }
  TRY(CHECK_KEYS(f, &list, keys));
  TRY(scene_number(f, &list, "error_reduction", bound_not_negative, &h->error_reduction));
  TRY(scene_number(f, &list, "slop", bound_not_negative, &h->slop));
  TRY(scene_number(f, &list, "correction", bound_not_negative, &h->correction));
  TRY(json_find(&list, "margin", &at)
        ? scene_number(f, &list, "margin", bound_not_negative, &h->margin)
        : ABUT_SUCCESS);
  TRY(scene_number(f, &list, "limit_margin", bound_not_negative, &h->limit_margin));
  TRY(scene_number(f, &list, "bounce", bound_not_negative, &h->bounce));
  TRY(scene_number(f, &list, "threshold", bound_positive, &h->threshold));
  TRY(scene_count(f, &list, "most", 1, &h->most));
  TRY(scene_word(f, &list, "elastic", words, 3, &h->elastic));
  if (h->most > HARD_MOST) {
    json_find(&list, "most", &at);
    return json_fail(f, &at, "%d contacts of a world are more than %d", h->most, HARD_MOST);
  }
  return ABUT_SUCCESS;
}

/* ---- what a law has no meaning for ---- */

static abut_status check_integrator(const json_file *f, const json_at *root, const scene_def *s)
{
  json_at at;
  const bool hard_rk4 = s->law == LAW_LCP && s->integrator == INTEGRATOR_RK4;
  if (s->law == LAW_SPRING || (!hard_rk4 && s->integrator != INTEGRATOR_IMPLICIT)) {
    return ABUT_SUCCESS;
  }
  json_find(root, "integrator", &at);
  return hard_rk4
           ? json_fail(f, &at, "hard contacts (\"lcp\") act at the end of a step: \"euler\" alone")
           : json_fail(f, &at, "\"implicit\" is of springs (\"spring\") alone; \"%s\" takes %s",
                       s->law == LAW_LCP ? "lcp" : "cone",
                       s->law == LAW_LCP ? "\"euler\"" : "\"euler\" or \"rk4\"");
}

/* What was asked of another model. */
static void leave_aside(scene_def *s)
{
  const bool rk4 = s->integrator == INTEGRATOR_RK4 && s->law != LAW_LCP;
  if (s->law != LAW_SPRING) {
    s->integrator = rk4 ? INTEGRATOR_RK4 : INTEGRATOR_EULER;
  }
  s->capacity = s->law == LAW_CONE ? s->capacity : 0;
}

abut_status scene_check_law(const reader *r, const json_at *root)
{
  const json_file *f = r->file;
  scene_def *s = r->s;
  json_at at;
  if (r->replaced) {
    leave_aside(s);
  }
  TRY(check_integrator(f, root, s));
  if (s->law == LAW_CONE || !s->capacity) {
    return ABUT_SUCCESS;
  }
  json_find(root, "capacity", &at);
  return s->law == LAW_LCP
           ? json_fail(f, &at, "hard contacts (\"lcp\") are bounded by \"most\" of \"lcp\"")
           : json_fail(f, &at, "springs (\"spring\") have no list of contacts to bound");
}

/* ---- springs ---- */

/* As abut_default_spring has them. */
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

abut_status scene_spring(reader *r, const json_at *element, scene_pair *p)
{
  const json_file *f = r->file;
  json_at contact, friction;
  const bool stated = json_find(element, "contact", &contact);
  memcpy(p->spring, usual_spring, sizeof p->spring);
  if (stated && !json_is_object(contact.value)) {
    return json_fail(f, &contact, "not an object");
  }
  if (r->s->law != LAW_SPRING) { /* a scene may hold it for another time */
    return ABUT_SUCCESS;
  }
  if (p->link[0] == WORLD) {
    return json_fail(f, element,
                     "springs (\"spring\") act between bodies: \"a\" and \"b\" are "
                     "missing, and contacts cannot be given");
  }
  if (json_find(element, "friction", &friction)) {
    p->spring[SPRING_MU] = p->friction;
  }
  TRY(stated ? read_contact(f, &contact, p) : ABUT_SUCCESS);
  if (p->reaction == ABUT_REACTION_PLANE && r->s->integrator == INTEGRATOR_IMPLICIT) {
    return json_fail(f, &contact,
                     "reactions at planes (\"plane\") need \"integrator\" \"euler\" or "
                     "\"rk4\": \"implicit\" steps, which scenes of springs take "
                     "otherwise, are for those at points");
  }
  p->friction = p->spring[SPRING_MU];
  return ABUT_SUCCESS;
}
