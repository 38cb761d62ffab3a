/* The table of contact laws, and the functions that all laws share when a scene's file is read. */
#include "base/error.h"
#include "world/law/law.h"
#include <string.h>

#define COUNT_LAW(name) +1
enum { LAW_COUNT = LAWS(COUNT_LAW) };
#undef COUNT_LAW

#define LIST_LAW(name) &name##_law,
static const contact_law *const laws[LAW_COUNT] = {LAWS(LIST_LAW)};
#undef LIST_LAW

/* Finds the law that replaces the file's law, number `own`. */
static abut_status replace_law(reader *r, int own, int *which)
{
  *which = 0;
  while (*which < LAW_COUNT && strcmp(r->model, laws[*which]->word) != 0) {
    ++*which;
  }
  r->replaced = *which != own;
  return *which < LAW_COUNT
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_ARGUMENT, "there is no contact model \"%s\"", r->model);
}

abut_status law_read_word(reader *r, const json_at *root)
{
  const char *words[LAW_COUNT];
  int which = 0;
  for (int i = 0; i < LAW_COUNT; ++i) {
    words[i] = laws[i]->word;
  }
  TRY(scene_word(r->file, root, "contact_model", words, LAW_COUNT, &which));
  TRY(r->model ? replace_law(r, which, &which) : ABUT_SUCCESS);
  r->s->law = laws[which];
  return ABUT_SUCCESS;
}

abut_status laws_read(const json_file *f, const json_at *root, scene_def *s)
{
  for (int i = 0; i < LAW_COUNT; ++i) {
    TRY(laws[i]->read ? laws[i]->read(f, root, s) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}

abut_status laws_read_pair(const json_file *f, const json_at *element, scene_pair *p)
{
  for (int i = 0; i < LAW_COUNT; ++i) {
    TRY(laws[i]->read_pair ? laws[i]->read_pair(f, element, p) : ABUT_SUCCESS);
  }
  return ABUT_SUCCESS;
}

/* Drops settings of the file's own law that the replacing law does not support. */
static void leave_aside(scene_def *s)
{
  if (!(s->law->integrators & INTEGRATOR_BIT(s->integrator))) {
    s->integrator = INTEGRATOR_EULER;
  }
  s->capacity = s->law->takes_capacity ? s->capacity : 0;
  s->most_contacts = s->law->find_contacts == find_contacts_of_pairs ? s->most_contacts : 0;
}

abut_status law_settle(const reader *r, const json_at *root)
{
  if (r->replaced) {
    leave_aside(r->s);
  }
  TRY(r->s->law->settle ? r->s->law->settle(r, root) : ABUT_SUCCESS);
  if (!(r->s->law->integrators & INTEGRATOR_BIT(r->s->integrator))) {
    return law_refuse_integrator(r, root, r->s->integrator,
                                 "the contact model does not support it");
  }
  return r->s->law->takes_capacity
           ? ABUT_SUCCESS
           : law_refuse_capacity(r, root, "the contact model has no list of contacts to limit");
}

abut_status law_settle_pair(const reader *r, const json_at *element, scene_pair *p)
{
  return r->s->law->settle_pair ? r->s->law->settle_pair(r, element, p) : ABUT_SUCCESS;
}

bool law_takes_equalities(const scene_def *s)
{
  return s->law->takes_equalities;
}

const char *law_word(const scene_def *s)
{
  return s->law->word;
}

integrator law_usual_integrator(const scene_def *s)
{
  return s->law->usual;
}

abut_status law_refuse_integrator(const reader *r, const json_at *root, integrator which,
                                  const char *why)
{
  json_at at;
  if (r->s->integrator != which) {
    return ABUT_SUCCESS;
  }
  json_find(root, "integrator", &at);
  return json_fail(r->file, &at, "%s", why);
}

abut_status law_refuse_capacity(const reader *r, const json_at *root, const char *why)
{
  json_at at;
  if (!r->s->capacity) {
    return ABUT_SUCCESS;
  }
  json_find(root, "capacity", &at);
  return json_fail(r->file, &at, "%s", why);
}
