#include "world/simulate/simulate.h"

#include <stdlib.h>
#include <string.h>

/* The recorded states with valid places, one after the other. The other states have no contacts. */
typedef struct placed {
  char *q;
  size_t *of; /* index of each state among all rows and worlds */
  size_t count;
} placed;

static exit_code find_placed(placed *p, const simulation *s)
{
  const worlds *w = &s->worlds;
  const size_t all = s->rows * w->count, nq = w->info.nq,
               row = nq * real_bytes(w->session.precision);
  double *q = calloc(nq + 1, sizeof *q), *links = calloc(7 * w->info.links + 1, sizeof *links);
  p->q = calloc(all * row + 1, 1);
  p->of = calloc(all + 1, sizeof *p->of);
  const bool room = q && links && p->q && p->of;
  for (size_t k = 0; room && k < all; ++k) {
    for (size_t i = 0; i < nq; ++i) {
      q[i] = real_at(s->q, w->session.precision, k * nq + i);
    }
    if (abut_place_links(w->links, q, links) == ABUT_SUCCESS) {
      memcpy(p->q + p->count * row, (const char *)s->q + k * row, row);
      p->of[p->count++] = k;
    }
  }
  free(q);
  free(links);
  return room ? EXIT_GOOD
              : report(EXIT_RUN, "not enough memory for the contacts of %zu states of %zu worlds",
                       s->rows, w->count);
}

/* Counts the contacts of each state: for listed pairs per pair, for automatic pairs with the bodies
 * of each contact. */
static exit_code count_contacts(kept_contacts *c, const placed *p, const simulation *s)
{
  const worlds *w = &s->worlds;
  const size_t wide = w->info.automatic ? 1 : w->info.pairs;
  size_t entries = 0;
  if (!multiply(s->rows, w->count, wide, &entries) || entries == SIZE_MAX) {
    return report(EXIT_RUN, "%zu states of %zu worlds are too many", s->rows, w->count);
  }
  c->counts = calloc(entries + 1, sizeof *c->counts);
  c->bodies = w->info.automatic ? calloc(2 * c->list.count + 1, sizeof *c->bodies) : NULL;
  if (!c->counts || (w->info.automatic && !c->bodies)) {
    return report(EXIT_RUN, "not enough memory for the numbers of the contacts");
  }
  for (size_t i = 0; i < c->list.count; ++i) {
    const size_t item = c->list.pose[i], at = p->of[c->items.items[3 * item]];
    ++c->counts[wide * at + (w->info.automatic ? 0 : c->items.candidates[item])];
    for (size_t side = 0; c->bodies && side < 2; ++side) {
      c->bodies[2 * i + side] = c->items.items[3 * item + 1 + side];
    }
  }
  return EXIT_GOOD;
}

exit_code find_contacts(kept_contacts *c, const simulation *s)
{
  placed p = {0};
  progress shown = progress_begin(s->worlds.o, "");
  progress_say(&shown, "contacts of %zu states of %zu worlds", s->rows, s->worlds.count);
  exit_code code = find_placed(&p, s);
  code = code == EXIT_GOOD
           ? report_status(abut_find_contacts(s->worlds.links, p.q, p.count, &c->items, &c->list))
           : code;
  progress_end(&shown);
  code = code == EXIT_GOOD ? count_contacts(c, &p, s) : code;
  free(p.q);
  free(p.of);
  return code;
}

void free_contacts(kept_contacts *c)
{
  abut_free_items(&c->items);
  abut_free_compact(&c->list);
  free(c->counts);
  free(c->bodies);
  *c = (kept_contacts){0};
}

void add_contacts(outputs *l, const kept_contacts *c, const simulation *s)
{
  const worlds *w = &s->worlds;
  const abut_array_type real = real_type(&w->session);
  const abut_compact *list = &c->list;
  const bool automatic = w->info.automatic;
  outputs_add(l, simulated_names[SIMULATED_CONTACT_COUNT], ABUT_ARRAY_UINT32, c->counts,
              automatic ? 2 : 3, s->rows, w->count, automatic ? 0 : w->info.pairs);
  if (automatic) {
    outputs_add(l, simulated_names[SIMULATED_CONTACT_BODIES], ABUT_ARRAY_UINT32, c->bodies, 2,
                list->count, 2, 0);
  }
  outputs_add(l, simulated_names[SIMULATED_CONTACT_SLOT], ABUT_ARRAY_UINT32, list->slot, 1,
              list->count, 0, 0);
  outputs_add(l, simulated_names[SIMULATED_CONTACT_P], real, list->p, 2, list->count, 3, 0);
  outputs_add(l, simulated_names[SIMULATED_CONTACT_D], real, list->d, 1, list->count, 0, 0);
  outputs_add(l, simulated_names[SIMULATED_CONTACT_N], real, list->n, 2, list->count, 3, 0);
  outputs_add(l, simulated_names[SIMULATED_CONTACT_ACTIVITY], real, list->activity, 1, list->count,
              0, 0);
}
