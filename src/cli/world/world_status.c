/* Warnings about the status of worlds. */
#include "world/world_names.h"
#include "world/worlds.h"

#include <stdio.h>

void name_world(named_worlds *n, size_t world)
{
  if (++n->found <= NAMED) {
    n->used += (size_t)snprintf(n->text + n->used, sizeof n->text - n->used, "%s%zu",
                                n->used ? ", " : "", world);
  }
}

worlds_text print_worlds(const named_worlds *n, size_t count)
{
  worlds_text t;
  snprintf(t.text, sizeof t.text, "%zu of %zu world%s (%s%s)", n->found, count,
           count == 1 ? "" : "s", n->text, n->found > NAMED ? ", ..." : "");
  return t;
}

static const struct {
  uint32_t bit;
  const char *one, *many;
} meanings[] = {
  {ABUT_WORLD_BAD_INPUT,
   "has numbers that are not finite, or a quaternion of length 0, and keeps its previous state",
   "have numbers that are not finite, or a quaternion of length 0, and keep their previous state"},
  {ABUT_WORLD_NOT_FINITE, "reached numbers that are not finite, and keeps its last valid state",
   "reached numbers that are not finite, and keep their last valid state"},
  {ABUT_WORLD_DIVERGED,
   "became faster than the scene's `divergence`, and keeps its last valid state",
   "became faster than the scene's `divergence`, and keep their last valid state"},
  {ABUT_WORLD_SINGULAR,
   "has a mass matrix or a solver matrix that is not positive definite, and keeps its last valid "
   "state",
   "have a mass matrix or a solver matrix that is not positive definite, and keep their last valid "
   "state"},
  {ABUT_WORLD_OVERFLOW,
   "had more contacts than the scene allows (`most` of \"lcp\", by default 16, or `capacity` or "
   "`most_contacts` of a soft scene): some contacts were left out",
   "had more contacts than the scene allows (`most` of \"lcp\", by default 16, or `capacity` or "
   "`most_contacts` of a soft scene): some contacts were left out"},
  {ABUT_WORLD_NOT_CONVERGED,
   "had steps whose solver did not converge within the scene's `iterations`; its last iterate was "
   "used",
   "had steps whose solver did not converge within the scene's `iterations`; its last iterate was "
   "used"},
  {ABUT_WORLD_SQUEEZED,
   "had hard contacts that push against each other and have no solution; they were softened a "
   "little",
   "had hard contacts that push against each other and have no solution; they were softened a "
   "little"},
  {ABUT_WORLD_FAST,
   "had bodies that moved in one step by more than half of the thinner body, and may have passed "
   "through each other",
   "had bodies that moved in one step by more than half of the thinner body, and may have passed "
   "through each other"},
  {ABUT_WORLD_GAINED, "had springs that added energy: the time step is too long for these springs",
   "had springs that added energy: the time step is too long for these springs"},
  {ABUT_WORLD_SWEEP_LIMIT,
   "had more impacts in a step than the limit, and lost the rest of the step",
   "had more impacts in a step than the limit, and lost the rest of the step"},
  {ABUT_WORLD_DEEP,
   "had bodies that overlap so deeply that their contacts show less than half of the depth and may "
   "not push them apart",
   "had bodies that overlap so deeply that their contacts show less than half of the depth and may "
   "not push them apart"},
};

/* Returns the index of a bit in a status. */
static size_t place_of_bit(uint32_t bit)
{
  size_t place = 0;
  while (bit >> (place + 1)) {
    ++place;
  }
  return place;
}

#define MEANINGS (sizeof meanings / sizeof *meanings)

const status_note *world_notes(void)
{
  static status_note notes[MEANINGS + 1];
  static char words[MEANINGS][256];
  for (size_t k = 0; k < MEANINGS; ++k) {
    snprintf(words[k], sizeof words[k], "worlds that %s", meanings[k].many);
    notes[k] = (status_note){meanings[k].bit, meanings[k].bit, words[k], NULL};
  }
  return notes;
}

static void print_link(char *text, size_t room, uint32_t link)
{
  if (link) {
    snprintf(text, room, "link %u", link - 1);
  } else {
    snprintf(text, room, "the world");
  }
}

/* Prints ", of link 1 and link 0": the links in the first world that has any. */
static void print_fast(const uint32_t *fast_links, size_t world, char *text, size_t room)
{
  char of[2][24];
  if (fast_links && (fast_links[2 * world] || fast_links[2 * world + 1])) {
    print_link(of[0], sizeof of[0], fast_links[2 * world]);
    print_link(of[1], sizeof of[1], fast_links[2 * world + 1]);
    snprintf(text, room, ", between %s and %s", of[0], of[1]);
  }
}

void warn_worlds(const uint32_t *status, const uint32_t *status_step, const uint32_t *fast_links,
                 size_t count)
{
  for (size_t k = 0; k < MEANINGS; ++k) {
    const size_t place = place_of_bit(meanings[k].bit);
    named_worlds n = {0};
    uint32_t first = ABUT_WORLD_NEVER;
    size_t whose = 0;
    char when[48] = "", of[64] = "";
    for (size_t i = 0; i < count; ++i) {
      if (status[i] & meanings[k].bit) {
        name_world(&n, i);
        if (status_step && status_step[ABUT_WORLD_STATUSES * i + place] < first) {
          first = status_step[ABUT_WORLD_STATUSES * i + place];
          whose = i;
        }
      }
    }
    if (meanings[k].bit == ABUT_WORLD_FAST && n.found) {
      print_fast(fast_links, whose, of, sizeof of);
    }
    if (first != ABUT_WORLD_NEVER) {
      snprintf(when, sizeof when, ", first in step %u", first);
    }
    if (n.found) {
      warn("%s %s%s%s", print_worlds(&n, count).text,
           n.found == 1 ? meanings[k].one : meanings[k].many, when, of);
    }
  }
}
