#include "mesh/suggest/finder.h"

#include "contact/smoothing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab07000eu
#define POSES 256
#define DEPTH 0.03
#define QUANTILE 0.95
#define PLACES_MOST ((size_t)1 << 21) /* points at which fields are evaluated together */

abut_suggest_options abut_default_suggest_options(void)
{
  abut_suggest_options options;
  memset(&options, 0, sizeof options);
  options.cookie = COOKIE;
  return options;
}

static int compare_counts(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Finds the least number that a given share of the numbers does not exceed. sorted: scratch. */
static uint32_t quantile_of(const uint32_t *numbers, size_t count, size_t step, double share,
                            uint32_t *sorted)
{
  if (!count) {
    return 0;
  }
  for (size_t i = 0; i < count; ++i) {
    sorted[i] = numbers[i * step];
  }
  qsort(sorted, count, sizeof *sorted, compare_counts);
  const size_t place = (size_t)ceil(share * (double)count - 1e-9);
  return sorted[place ? place - 1 : 0];
}

static uint32_t larger(uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

static abut_status conclude(finder *f, size_t found, abut_suggestion *out)
{
  void *memory;
  size_t held = 0;
  TRY(allocate(&memory, found > f->rank_count ? found : f->rank_count, sizeof(uint32_t)));
  const uint32_t pairs = quantile_of(f->pairs, found, 1, f->o.quantile, memory);
  for (int which = 0; which < 2; ++which) {
    /* Each body gets half of the share of pairs that may be missed. */
    const uint32_t ranks =
      quantile_of(f->rank + which, f->rank_count, 2, 0.5 + 0.5 * f->o.quantile, memory);
    out->edges[which] = larger(larger(pairs, ranks), 1);
    out->vertices[which] =
      larger(quantile_of(f->deepest[which], found, 1, f->o.quantile, memory), 1);
    out->deepest[which] = f->deepest[which];
  }
  free(memory);
  for (size_t i = 0; i < f->rank_count; ++i) {
    held += f->rank[2 * i] <= out->edges[0] && f->rank[2 * i + 1] <= out->edges[1];
  }
  out->poses = found;
  out->pairs = f->pairs;
  out->pairs_held = f->rank_count ? (double)held / (double)f->rank_count : 1.0;
  return ABUT_SUCCESS;
}

static abut_status open_side(finder *f, side *s, abut_body body)
{
  void *memory;
  s->body = body;
  TRY(abut_get_body_info(body, &s->info));
  TRY(arena_allocate(&f->memory, &memory, s->info.vertices, 3 * sizeof(double)));
  s->vertices = memory;
  TRY(arena_allocate(&f->memory, &memory, s->info.edges, 2 * sizeof(uint32_t)));
  s->edges = memory;
  s->places = s->info.vertices + BETWEEN * s->info.edges;
  return abut_get_body_mesh(body, s->vertices, s->edges);
}

static abut_status look(finder *f, size_t *found)
{
  const size_t places = f->sides[0].places > f->sides[1].places ? f->sides[0].places
                                                                : f->sides[1].places;
  const size_t fit = PLACES_MOST / places + 1, piece = fit < f->o.poses ? fit : f->o.poses;
  void *memory, *lower, *upper;
  TRY(arena_allocate(&f->memory, &memory, piece, sizeof(pose)));
  f->poses = memory;
  TRY(arena_allocate(&f->memory, &lower, piece, sizeof(double)));
  TRY(arena_allocate(&f->memory, &upper, piece, sizeof(double)));
  TRY(arena_allocate(&f->memory, &memory, piece * places, 3 * sizeof(double)));
  f->places = memory;
  for (int which = 0; which < 2; ++which) {
    TRY(arena_allocate(&f->memory, &memory, piece * f->sides[which].places, sizeof(float)));
    f->field[which] = memory;
  }
  for (size_t first = 0; first < f->o.poses; first += piece) {
    const size_t now = f->o.poses - first < piece ? f->o.poses - first : piece;
    for (size_t i = 0; i < now; ++i) {
      finder_draw(f, first + i, &f->poses[i]);
    }
    TRY(finder_bring_together(f, f->poses, now, lower, upper));
    TRY(finder_count(f, f->poses, now, found));
  }
  return *found ? ABUT_SUCCESS
                : fail(ABUT_ERROR_BODY,
                       "the bodies do not overlap in any of %u random poses: is each mesh on the "
                       "surface of its field?",
                       f->o.poses);
}

static abut_status check_options(const abut_suggest_options *given, abut_suggest_options *o)
{
  *o = *given;
  if (o->poses > ABUT_SUGGEST_POSES_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "%u poses are too many; at most %d are possible", o->poses,
                ABUT_SUGGEST_POSES_MOST);
  }
  if (o->depth != 0.0 && !(o->depth >= 1e-4 && o->depth <= 0.5)) {
    return fail(ABUT_ERROR_ARGUMENT, "the depth is %g of the diagonal, not in [1e-4, 0.5]",
                o->depth);
  }
  if (o->quantile != 0.0 && !(o->quantile >= 0.5 && o->quantile <= 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "the quantile is %g, not in [0.5, 1]", o->quantile);
  }
  o->poses = o->poses ? o->poses : POSES;
  o->depth = o->depth != 0.0 ? o->depth : DEPTH;
  o->quantile = o->quantile != 0.0 ? o->quantile : QUANTILE;
  return ABUT_SUCCESS;
}

/* The counts are in memory of their own, which remains valid. */
static abut_status suggest(finder *f, abut_body body1, abut_body body2, arena *kept,
                           abut_suggestion *out)
{
  size_t found = 0;
  void *memory;
  TRY(open_side(f, &f->sides[0], body1));
  TRY(open_side(f, &f->sides[1], body2));
  TRY(arena_allocate(kept, &memory, f->o.poses, sizeof(uint32_t)));
  f->pairs = memory;
  for (int which = 0; which < 2; ++which) {
    TRY(arena_allocate(kept, &memory, f->o.poses, sizeof(uint32_t)));
    f->deepest[which] = memory;
  }
  TRY(look(f, &found));
  return conclude(f, found, out);
}

abut_status abut_suggest_kept(abut_body body1, abut_body body2, const abut_smoothing *smoothing,
                              const abut_suggest_options *options, abut_suggestion *suggestion)
{
  finder f = {.smoothing = smoothing};
  void *memory;
  if (!smoothing || !options || !suggestion || options->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_suggest_kept: the smoothing or the output pointer is NULL, or the options "
                "were not made by abut_default_suggest_options");
  }
  memset(suggestion, 0, sizeof *suggestion);
  TRY(check_options(options, &f.o));
  TRY(check_smoothing(smoothing));
  TRY(allocate(&memory, 1, sizeof(arena)));
  const abut_status status = suggest(&f, body1, body2, memory, suggestion);
  arena_free(&f.memory);
  free(f.rank);
  free(f.meetings);
  if (status != ABUT_SUCCESS) {
    arena_free(memory);
    free(memory);
    memset(suggestion, 0, sizeof *suggestion);
    return status;
  }
  suggestion->memory = memory;
  return ABUT_SUCCESS;
}

void abut_free_suggestion(abut_suggestion *suggestion)
{
  if (suggestion) {
    if (suggestion->memory) {
      arena_free(suggestion->memory);
      free(suggestion->memory);
    }
    memset(suggestion, 0, sizeof *suggestion);
  }
}
