#include "world/tiles.h"

#include "base/error.h"
#include "body/cut.h"
#include "contact/active.h"
#include "world/law/law.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUT_PAYS 2.0 /* Tiles must reduce the expected work by at least this factor. */

/* ---- choice of bodies ---- */

/* Whether cutting a body pays off: each pair type has its own launches. The work is measured in
 * vertices. Tiles are adjacent on a surface, so a body meets one tile plus those within its reach
 * in two directions. */
static bool pays(const body *large, const body *small)
{
  const double tiles = (double)body_tile_count(large), all = (double)large->info.vertices;
  const double reaches = 1.0 + small->info.diagonal * sqrt(tiles) / large->info.diagonal;
  return CUT_PAYS * fmin(reaches * reaches, tiles) * all / tiles <=
         all + (double)small->info.vertices;
}

/* Finds the side of the body of a pair that is cut, the one with more vertices; -1 if none is. An
 * unbounded pair stays whole, since all its tiles would be computed in each step. So does a pair
 * with contacts of edges: among pairs of edges, the nearest edge of a tile would count at any
 * distance. */
static abut_status side_that_is_cut(const loaded_scene *s, const pair *p, int *side)
{
  const body *of[2] = {body_get(p->bodies[0]), body_get(p->bodies[1])};
  *side = -1;
  if (!of[0] || !of[1]) {
    return ABUT_ERROR_HANDLE;
  }
  const int larger = of[1]->info.vertices > of[0]->info.vertices;
  const bool cuts = s->def.law->cuts && s->def.tiles && !s->def.capacity && !s->given &&
                    p->smoothing.two_sided;
  if (cuts && !is_in_fields(p) && !p->smoothing.edge_edge &&
      of[larger]->info.vertices > WHOLE_VERTICES && pays(of[larger], of[!larger]) &&
      pair_can_skip_inactive(p, active_cutoff(p, 0.0))) {
    *side = larger;
  }
  return ABUT_SUCCESS;
}

/* ---- parts of bodies ---- */

/* Returns the index of a body among the cut bodies; their number if it is not among them. */
static size_t place_of_cut(const loaded_scene *s, abut_body whole)
{
  size_t i = 0;
  while (i < s->body_cut_count && !same_body(s->body_cuts[i].whole, whole)) {
    ++i;
  }
  return i;
}

/* Returns the entry of a body among the cut bodies; adds it if it is missing. */
static body_cut *find_body_cut(loaded_scene *s, abut_body whole)
{
  const size_t i = place_of_cut(s, whole);
  if (i == s->body_cut_count) {
    s->body_cuts[s->body_cut_count++] = (body_cut){.whole = whole};
  }
  return &s->body_cuts[i];
}

static abut_status cut_tiles(body_cut *c)
{
  body *whole = body_get(c->whole);
  body_tiles tiles = {0};
  void *memory = NULL;
  abut_status status = ABUT_SUCCESS;
  if (c->tiles) {
    return ABUT_SUCCESS;
  }
  if (!whole) {
    return ABUT_ERROR_HANDLE;
  }
  TRY(body_tiles_make(whole, &tiles));
  TRY_DONE(allocate(&memory, tiles.count, sizeof *c->tiles));
  c->tiles = memory;
  for (; c->tile_count < tiles.count; ++c->tile_count) {
    TRY_DONE(body_cut_tile(whole, &tiles, c->tile_count, &c->tiles[c->tile_count]));
  }
done:
  body_tiles_free(&tiles);
  return status;
}

static abut_status cut_field(body_cut *c)
{
  body *whole = body_get(c->whole);
  return c->field.generation ? ABUT_SUCCESS
         : !whole            ? ABUT_ERROR_HANDLE
                             : body_cut_field(whole, &c->field);
}

/* ---- pairs of parts ---- */

static abut_status pair_parts(int side, abut_body large, abut_body small,
                              const abut_smoothing *smoothing, abut_pair *out)
{
  return pair_create_with_zones(side ? small : large, side ? large : small, smoothing, &no_zones,
                                false, out);
}

/* Assigns the slots of the parts: vertices as in the whole pair. */
static abut_status name_slots(const pair_cut *c)
{
  const pair *whole = pair_get(c->whole);
  for (size_t i = 0; whole && i <= c->tile_count; ++i) {
    memcpy(pair_get(c->parts[i])->slot, whole->slot, sizeof whole->slot);
  }
  return whole ? ABUT_SUCCESS : ABUT_ERROR_HANDLE;
}

static abut_status make_parts(const body_cut *large, const body_cut *small,
                              const abut_smoothing *smoothing, pair_cut *c)
{
  void *memory = NULL;
  TRY(allocate(&memory, large->tile_count + 1, sizeof *c->parts));
  c->parts = memory;
  c->tile_count = large->tile_count;
  TRY(pair_parts(c->side, large->field, small->whole, smoothing, &c->parts[0]));
  for (size_t i = 0; i < c->tile_count; ++i) {
    TRY(pair_parts(c->side, large->tiles[i], small->field, smoothing, &c->parts[1 + i]));
  }
  return name_slots(c);
}

/* Sets *out to the index of a pair among the cut pairs; an equal pair may already be there. */
static abut_status find_pair_cut(loaded_scene *s, abut_pair whole, int side, size_t *out)
{
  const pair *p = pair_get(whole);
  for (size_t i = 0; i < s->pair_cut_count; ++i) {
    const pair *other = pair_get(s->pair_cuts[i].whole);
    if (other && pair_is_like(p, other)) {
      *out = i;
      return ABUT_SUCCESS;
    }
  }
  body_cut *large = find_body_cut(s, p->bodies[side]), *small = find_body_cut(s, p->bodies[!side]);
  TRY(cut_tiles(large));
  TRY(cut_field(large));
  TRY(cut_field(small));
  *out = s->pair_cut_count++;
  s->pair_cuts[*out] = (pair_cut){.whole = whole, .side = side};
  return make_parts(large, small, &p->smoothing, &s->pair_cuts[*out]);
}

/* ---- groups ---- */

static abut_status put_group(loaded_scene *s, size_t i, const pair_cut *c, int tile)
{
  abut_layout layout;
  s->parts[i] = (group_part){.pair = c->parts[tile + 1], .tile = tile, .side = c->side};
  TRY(abut_get_layout(s->parts[i].pair, &layout));
  s->groups[i].contacts = layout.contacts;
  return ABUT_SUCCESS;
}

/* Appends the groups of the tiles of pair i. */
static abut_status add_tiles(loaded_scene *s, size_t i, const pair_cut *c)
{
  TRY(put_group(s, i, c, PART_FIELD));
  for (size_t tile = 0; tile < c->tile_count; ++tile) {
    const size_t at = s->group_count++;
    s->groups[at] = s->groups[i];
    s->groups[at].is_tile = true;
    TRY(put_group(s, at, c, (int)tile));
  }
  return ABUT_SUCCESS;
}

/* Allocates more groups than pairs. */
static abut_status make_groups(loaded_scene *s, size_t count)
{
  void *memory = NULL;
  TRY(allocate(&memory, count + 1, sizeof *s->groups));
  memcpy(memory, s->groups, s->def.pair_count * sizeof *s->groups);
  free(s->groups);
  s->groups = memory;
  TRY(allocate(&memory, count + 1, sizeof *s->parts));
  s->parts = memory;
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    s->parts[i] = (group_part){.pair = s->pairs[i], .tile = PART_WHOLE};
  }
  return ABUT_SUCCESS;
}

abut_status tiles_number_slots(loaded_scene *s)
{
  void *memory = NULL;
  size_t slot = 0;
  TRY(allocate(&memory, s->def.pair_count + 1, sizeof(size_t)));
  size_t *of = memory;
  for (size_t i = 0; i < s->group_count; ++i) {
    of[s->groups[i].pair] += s->groups[i].contacts;
  }
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const size_t own = of[i];
    of[i] = slot;
    slot += own;
  }
  for (size_t i = 0; i < s->group_count; ++i) {
    s->groups[i].slot = of[s->groups[i].pair];
  }
  free(memory);
  return ABUT_SUCCESS;
}

/* Fills cuts (pairs) with the index of each pair among the cut pairs plus 1, or 0, and counts
 * groups. */
static abut_status cut_pairs(loaded_scene *s, size_t *cuts, size_t *count)
{
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    const size_t like = s->def.pairs[i].alike;
    int side = -1;
    if (like == i && has_pair(s->pairs[i])) {
      const pair *p = pair_get(s->pairs[i]);
      TRY(p ? side_that_is_cut(s, p, &side) : ABUT_ERROR_HANDLE);
    }
    if (side >= 0) {
      TRY(find_pair_cut(s, s->pairs[i], side, &cuts[i]));
      ++cuts[i];
    }
    cuts[i] = cuts[like];
    *count += cuts[i] ? 1 + s->pair_cuts[cuts[i] - 1].tile_count : 1;
  }
  return ABUT_SUCCESS;
}

abut_status tiles_make(loaded_scene *s)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *room = NULL;
  size_t count = 0;
  TRY(allocate(&memory, s->body_count + 1, sizeof *s->body_cuts));
  s->body_cuts = memory;
  TRY(allocate(&memory, s->def.pair_count + 1, sizeof *s->pair_cuts));
  s->pair_cuts = memory;
  TRY_DONE(allocate(&room, s->def.pair_count + 1, sizeof(size_t)));
  size_t *cuts = room;
  TRY_DONE(cut_pairs(s, cuts, &count));
  TRY_DONE(make_groups(s, count));
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    TRY_DONE(cuts[i] ? add_tiles(s, i, &s->pair_cuts[cuts[i] - 1]) : ABUT_SUCCESS);
  }
  status = tiles_number_slots(s);
done:
  free(room);
  return status;
}

size_t tiles_of(const loaded_scene *s, size_t number)
{
  const size_t i = place_of_cut(s, s->bodies[number]);
  return i < s->body_cut_count ? s->body_cuts[i].tile_count : 0;
}

/* ---- destruction ---- */

static void destroy_pair(abut_pair handle_)
{
  pair *p = has_pair(handle_) ? pair_get(handle_) : NULL;
  if (p) {
    context_discard(p->context, &p->base);
  }
}

static void destroy_body(abut_body handle_)
{
  body *b = handle_.generation ? body_get(handle_) : NULL;
  if (b) {
    context_discard(b->context, &b->base);
  }
}

void tiles_destroy(loaded_scene *s)
{
  for (size_t i = 0; i < s->pair_cut_count; ++i) {
    for (size_t k = 0; s->pair_cuts[i].parts && k <= s->pair_cuts[i].tile_count; ++k) {
      destroy_pair(s->pair_cuts[i].parts[k]);
    }
  }
  for (size_t i = 0; i < s->body_cut_count; ++i) {
    const body_cut *c = &s->body_cuts[i];
    destroy_body(c->field);
    for (size_t k = 0; k < c->tile_count; ++k) {
      destroy_body(c->tiles[k]);
    }
  }
}

void tiles_free(loaded_scene *s)
{
  for (size_t i = 0; i < s->pair_cut_count; ++i) {
    free(s->pair_cuts[i].parts);
  }
  for (size_t i = 0; i < s->body_cut_count; ++i) {
    free(s->body_cuts[i].tiles);
  }
  free(s->pair_cuts);
  free(s->body_cuts);
}
