#include "multipliers.h"

#include <jansson.h>
#include <string.h>

/* The scene's pair of a slot. */
static size_t pair_of(const abut_given_contacts *g, abut_scene scene, size_t slot)
{
  size_t pair = 0, end = 0;
  if (g) {
    return (size_t)g->pair[slot];
  }
  for (;; ++pair) {
    abut_scene_pair of;
    abut_layout layout;
    REQUIRE_OK(abut_get_scene_pair(scene, pair, &of));
    REQUIRE_OK(abut_get_layout(of.pair, &layout));
    end += layout.contacts;
    if (slot < end) {
      return pair;
    }
  }
}

/* Contacts without friction have no place among the reference's multipliers: 0 there. */
static void drop_flat(const golden_case *c, abut_scene scene, const abut_given_contacts *g,
                      void *multipliers, size_t slots)
{
  json_t *text = json_load_file(c->scene, 0, NULL);
  const json_t *pairs = json_object_get(text, "pairs");
  REQUIRE(text);
  for (size_t i = 0; i < slots; ++i) {
    const json_t *pair = json_array_get(pairs, pair_of(g, scene, i));
    const bool flat = json_integer_value(json_object_get(pair, "condim")) == 1;
    for (size_t w = 0; flat && w < c->worlds; ++w) {
      for (size_t k = 0; k < 3; ++k) {
        const size_t at = 3 * (w * slots + i) + k;
        check(k == 0 || real_at(multipliers, c->precision, at) == 0.0,
              "%s: contact %zu without friction pushes along its tangents", c->name, i);
        real_put(multipliers, c->precision, at, 0.0);
      }
    }
  }
  json_decref(text);
}

void keep_multipliers(const golden_case *c, abut_scene scene, const abut_given_contacts *g,
                      void *all, size_t slots, answers *out)
{
  void *every = answers_put(out, "multipliers", NULL);
  void *first = answers_put(out, "multipliers_world0", NULL);
  drop_flat(c, scene, g, all, slots);
  if (every) {
    memcpy(every, all, c->worlds * slots * 3 * real_size(c->precision));
  }
  if (first) {
    memcpy(first, all, slots * 3 * real_size(c->precision));
  }
}
