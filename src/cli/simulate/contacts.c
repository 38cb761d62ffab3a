#include "simulate/simulate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 7 /* of a pose */

/* A batch of all states, worlds and pairs. */
typedef struct pair_batch {
  abut_batch batch;
  abut_pair *pairs;
  uint32_t *of;     /* which pair an entry is of */
  void *pose[2];
  double *q, *places[2]; /* of one world */
} pair_batch;

static exit_code batch_open(pair_batch *b, const simulation *s)
{
  const worlds *w = &s->worlds;
  const size_t pairs = w->info.pairs;
  size_t entries = 0;
  CLI_TRY(multiply(s->rows, w->count, pairs, &entries)
            ? EXIT_GOOD
            : report(EXIT_RUN, "%zu states of %zu worlds are too many", s->rows, w->count));
  for (int i = 0; i < 2; ++i) {
    CLI_TRY(worlds_reals(w, entries, WIDTH, 1, &b->pose[i]));
    b->places[i] = calloc(pairs + 1, WIDTH * sizeof(double));
  }
  b->q = calloc(w->info.nq + 1, sizeof *b->q);
  b->of = calloc(entries + 1, sizeof *b->of);
  b->pairs = calloc(pairs + 1, sizeof *b->pairs);
  if (!b->q || !b->of || !b->pairs || !b->places[0] || !b->places[1]) {
    return report(EXIT_RUN, "no memory for the contacts of %zu states of %zu worlds", s->rows,
                  w->count);
  }
  for (size_t i = 0; i < pairs; ++i) {
    abut_scene_pair p;
    CLI_TRY(report_status(abut_get_scene_pair(w->links, i, &p)));
    b->pairs[i] = p.pair;
  }
  b->batch = abut_default_batch();
  b->batch.count = entries;
  b->batch.poses = ABUT_POSE_QUATERNION;
  b->batch.pose1 = b->pose[0];
  b->batch.pose2 = b->pose[1];
  b->batch.pairs = b->pairs;
  b->batch.pair_count = pairs;
  b->batch.pair = b->of;
  return EXIT_GOOD;
}

static void batch_close(pair_batch *b)
{
  for (int i = 0; i < 2; ++i) {
    free(b->pose[i]);
    free(b->places[i]);
  }
  free(b->q);
  free(b->of);
  free(b->pairs);
}

/* A number beyond float's range saturates. */
static void put_real(void *to, abut_precision precision, size_t i, double x)
{
  if (precision == ABUT_FLOAT64) {
    ((double *)to)[i] = x;
  } else {
    ((float *)to)[i] = fabs(x) > (double)FLT_MAX ? copysignf(FLT_MAX, (float)copysign(1.0, x))
                                                 : (float)x;
  }
}

/* World k of all rows, or NaN where it has no place: it touches nothing then. */
static void put_places(pair_batch *b, const simulation *s, size_t k)
{
  const worlds *w = &s->worlds;
  const size_t nq = w->info.nq, width = WIDTH * w->info.pairs;
  const abut_precision precision = w->scene.precision;
  for (size_t i = 0; i < nq; ++i) {
    b->q[i] = real_at(s->q, precision, k * nq + i);
  }
  const bool placed = abut_place_pairs(w->links, b->q, b->places[0], b->places[1]) == ABUT_SUCCESS;
  for (size_t i = 0; i < width; ++i) {
    put_real(b->pose[0], precision, k * width + i, placed ? b->places[0][i] : (double)NAN);
    put_real(b->pose[1], precision, k * width + i, placed ? b->places[1][i] : (double)NAN);
  }
  for (size_t i = 0; i < w->info.pairs; ++i) {
    b->of[k * w->info.pairs + i] = (uint32_t)i;
  }
}

static exit_code compute(kept_contacts *c, pair_batch *b, const worlds *w)
{
  progress p = progress_begin(w->o, "contacts, states of pairs");
  b->batch.compact = &c->list;
  b->batch.progress = progress_step;
  b->batch.user = &p;
  const abut_status status = abut_contacts(ABUT_BATCH_PAIRS, &b->batch);
  progress_end(&p);
  return report_status(status);
}

exit_code find_contacts(kept_contacts *c, const simulation *s)
{
  const worlds *w = &s->worlds;
  pair_batch b = {0};
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(batch_open(&b, s));
  for (size_t k = 0; k < s->rows * w->count; ++k) {
    put_places(&b, s, k);
  }
  c->counts = calloc(b.batch.count + 1, sizeof *c->counts);
  CLI_TRY_DONE(c->counts ? EXIT_GOOD : report(EXIT_RUN, "no memory for the contacts' numbers"));
  if (b.batch.count) {
    CLI_TRY_DONE(compute(c, &b, w));
  }
  for (size_t i = 0; i < c->list.count; ++i) {
    ++c->counts[c->list.pose[i]];
  }
done:
  batch_close(&b);
  return code;
}

void free_contacts(kept_contacts *c)
{
  abut_free_compact(&c->list);
  free(c->counts);
  *c = (kept_contacts){0};
}

void add_contacts(outputs *l, const kept_contacts *c, const simulation *s)
{
  const worlds *w = &s->worlds;
  const abut_array_type real = real_type(&w->scene);
  const abut_compact *list = &c->list;
  outputs_add(l, "contact_count", ABUT_ARRAY_UINT32, c->counts, 3, s->rows, w->count,
              w->info.pairs);
  outputs_add(l, "contact_slot", ABUT_ARRAY_UINT32, list->slot, 1, list->count, 0, 0);
  outputs_add(l, "contact_p", real, list->p, 2, list->count, 3, 0);
  outputs_add(l, "contact_d", real, list->d, 1, list->count, 0, 0);
  outputs_add(l, "contact_n", real, list->n, 2, list->count, 3, 0);
  outputs_add(l, "contact_activity", real, list->activity, 1, list->count, 0, 0);
}
