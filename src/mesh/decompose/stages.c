/* The sequence in which sets are started, brought to a count, improved and finished. */
#include "mesh/decompose/stages.h"

#include "base/clock.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>

#define ROUNDS 6
#define FAILURES 3 /* consecutive failures that end the rounds */
#define FELL 1e-3  /* least relative decrease of the loss */
/* if an error is given, each count up to this is fitted separately */
#define FEWEST 4
#define TRIES 6 /* counts that are tried if an error is given */
#define FEW 8   /* up to this count, two starts are made */
/* least relative decrease of the objective for subtracted primitives */
#define TAKEN_AWAY 0.05
#define CONVERTED 0.05 /* and for polyhedra */
/* least relative decrease of the moves' objective for a single polyhedron */
#define CONVERTED_ALONE 1e-3
#define PASSES 3 /* passes that convert superquadrics to polyhedra */

/* ---- start ---- */

static size_t at_least(size_t least, size_t x)
{
  return x > least ? x : least;
}

/* Returns the number of primitives, at most `wanted`, that the shape has room for. */
static size_t with_room(const decomposition *d, size_t wanted)
{
  const size_t room = at_least(1, d->cells.samples.count / CLUSTER_CELLS);
  return wanted < room ? wanted : room;
}

/* Starting point of a set: clusters of the inside cells, or clusters of the inside and pockets with
 * a subtracted ellipsoid for each pocket. */
typedef struct beginning {
  size_t clusters;
  bool pockets;
} beginning;

static abut_status first_fits(decomposition *d, beginning from, primitives *p)
{
  static const double widths[] = {0.03, 0.015, MOVE_WIDTH};
  TRY(start_clusters(d, from.pockets ? &d->apart.filled : &d->cells, from.clusters, p));
  if (from.pockets) {
    TRY(add_pockets(d, from.clusters, p));
  }
  for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i) {
    TRY(decompose_tell(d, "start", 0.15 + 0.03 * (double)i));
    TRY(fit_whole(&d->fit, &d->search, p, widths[i], 8, NULL));
  }
  return ABUT_SUCCESS;
}

/* Adds primitives until `count` is reached or adding does not help. */
static abut_status fill_up(decomposition *d, primitives *p, size_t count)
{
  while (p->count < count) {
    size_t added = 0;
    TRY(move_up(d, p, count - p->count, &added));
    if (!added) {
      break;
    }
    TRY(fit_whole(&d->fit, &d->search, p, MOVE_WIDTH, 5, NULL));
  }
  return ABUT_SUCCESS;
}

/* ---- rounds and final samples ---- */

static abut_status improve(decomposition *d, primitives *p)
{
  abut_status status = ABUT_SUCCESS;
  const size_t count = p->count;
  const size_t steps[] = {at_least(1, count / 3), at_least(1, count / 6), at_least(2, count / 2),
                          1};
  double loss = 0.0;
  size_t failed = 0, added = 1;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(primitives)));
  primitives *other = memory;
  TRY_DONE(fit_whole(&d->fit, &d->search, p, MOVE_WIDTH, 15, &loss));
  for (size_t round = 0; round < ROUNDS && failed < FAILURES; ++round) {
    double then = 0.0;
    TRY_DONE(decompose_tell(d, "moves", 0.4 + 0.06 * (double)round));
    *other = *p;
    TRY_DONE(move_up(d, other, steps[round % 4], &added));
    if (!added) {
      break;
    }
    TRY_DONE(fit_whole(&d->fit, &d->search, other, MOVE_WIDTH, 5, NULL));
    TRY_DONE(move_down(d, other, count, NULL, NULL));
    TRY_DONE(fit_whole(&d->fit, &d->search, other, MOVE_WIDTH, 10, &then));
    if (then < loss * (1.0 - FELL)) {
      *p = *other;
      loss = then;
      failed = 0;
      ++d->report->moves_kept;
    } else {
      ++failed;
      ++d->report->moves_undone;
    }
  }
done:
  free(memory);
  return status;
}

static abut_status finish(decomposition *d, primitives *p, double *iou)
{
  static const double widths[] = {0.006, FINAL_WIDTH};
  bool stalled = false;
  for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i) {
    TRY(decompose_tell(d, "final samples", 0.8 + 0.1 * (double)i));
    TRY(fit_whole(&d->fit, &d->fine, p, widths[i], 15, NULL));
    stalled = stalled || d->fit.stalled;
  }
  TRY(fit_look(&d->fit, &d->fine, p, FINAL_WIDTH));
  TRY(fit_unions(&d->fit, &d->fine));
  *iou = fit_iou(&d->fit, &d->fine);
  d->report->end = stalled ? ABUT_DECOMPOSE_STALLED : ABUT_DECOMPOSED;
  return ABUT_SUCCESS;
}

static abut_status improve_and_finish(decomposition *d, primitives *p, double *iou)
{
  const double begun = now();
  TRY(improve(d, p));
  const double improved = now();
  TRY(finish(d, p, iou));
  d->report->seconds_moves += improved - begun;
  d->report->seconds_final += now() - improved;
  return ABUT_SUCCESS;
}

/* ---- by count ---- */

/* Depth of the differences between mesh and union, after fit_unions. A lost limb counts for more
 * than the same volume spread over the surface; IoU does not distinguish the two. */
static double depth_of_errors(const decomposition *d)
{
  double sum = 0.0;
  for (size_t i = 0; i < d->fine.count; ++i) {
    const bool differs = (d->fine.distance[i] <= 0.0) != (reals_get(&d->fit.numbers, i) <= 0.0);
    sum += differs ? d->fine.volume[i] * fabs(d->fine.distance[i]) : 0.0;
  }
  return sum;
}

static abut_status count_from(decomposition *d, beginning from, size_t count, primitives *p,
                              double *iou)
{
  const double begun = now();
  TRY(first_fits(d, from, p));
  TRY(fill_up(d, p, count));
  TRY(decompose_tell(d, "merging", 0.25));
  TRY(move_down(d, p, count, NULL, NULL));
  d->report->seconds_start += now() - begun;
  return improve_and_finish(d, p, iou);
}

/* Small sets are cheap to fit, but their results depend strongly on the start. A second start
 * begins with more clusters. */
abut_status stages_by_count(decomposition *d, primitives *p)
{
  abut_status status = ABUT_SUCCESS;
  const size_t wanted = d->options->primitives, count = with_room(d, wanted);
  const size_t starts = count > 1 && count <= FEW ? 2 : 1;
  double least = HUGE_VAL;
  abut_decompose_end ended = ABUT_DECOMPOSED;
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(primitives)));
  primitives *other = memory;
  for (size_t start = 0; start < starts; ++start) {
    double iou;
    TRY_DONE(count_from(d, (beginning){.clusters = (2 + start) * count}, count, other, &iou));
    const double depth = depth_of_errors(d);
    /* A set with the wanted count is preferred to a smaller one. */
    if (start == 0 || other->count > p->count || (other->count == p->count && depth < least)) {
      *p = *other;
      least = depth;
      ended = d->report->end;
    }
  }
  d->report->end = ended == ABUT_DECOMPOSED && p->count < wanted ? ABUT_DECOMPOSE_FEWER : ended;
done:
  free(memory);
  return status;
}

/* ---- by error ---- */

/* The sets of all counts on the way down, and their IoU on the search samples. */
typedef struct path {
  decomposition *d;
  primitives *sets; /* by count */
  double *iou;
} path;

static abut_status keep(void *user, const primitives *p)
{
  path *w = user;
  TRY(fit_look(&w->d->fit, &w->d->search, p, MOVE_WIDTH));
  TRY(fit_unions(&w->d->fit, &w->d->search));
  w->sets[p->count] = *p;
  w->iou[p->count] = fit_iou(&w->d->fit, &w->d->search);
  return ABUT_SUCCESS;
}

/* Bodies of few primitives are cheap to fit, so each is fitted from its own clusters. This also
 * helps shapes such as plates, which many clusters split into many pieces. If `met`, *out is the
 * smallest that meets the error; otherwise the one with the largest IoU. *iou is its IoU. */
static abut_status try_few(decomposition *d, primitives *out, double *iou, bool *met)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  const double wanted = 1.0 - d->options->error;
  *iou = -1.0;
  *met = false;
  TRY(allocate(&memory, 1, sizeof(primitives)));
  primitives *p = memory;
  for (size_t count = 1; count <= FEWEST && count <= d->options->most_primitives && !*met;
       ++count) {
    double reached;
    TRY_DONE(count_from(d, (beginning){.clusters = 2 * count}, count, p, &reached));
    *met = reached >= wanted;
    if (*met || reached > *iou) {
      *out = *p;
      *iou = reached;
    }
  }
done:
  free(memory);
  return status;
}

/* The counts tried so far in a search. */
typedef struct bracket {
  size_t missed; /* the largest count that missed the error; 0: none */
  size_t met;    /* the smallest count that met the error; 0: none */
  size_t fewest, most;
  size_t stride; /* increment to the next count while none has met the error */
} bracket;

/* Returns the count to try next, or 0 if the search is done. Upwards, strides double. The last
 * remaining try uses the maximum count, so the error is only reported as not reached after the
 * maximum has missed. Downwards, the next smaller count is tried. Between a miss and a hit, the
 * middle is tried. */
static size_t next_count(bracket *b, size_t left)
{
  if (!left || (!b->met && b->missed == b->most)) {
    return 0;
  }
  if (!b->met) {
    const size_t next = b->missed + b->stride;
    b->stride *= 2;
    return left == 1 || next > b->most ? b->most : next;
  }
  if (b->missed >= b->met) {
    return 0; /* errors do not always fall with the count: the smallest count that met the error is
                 taken */
  }
  const size_t next = b->missed ? b->missed + (b->met - b->missed) / 2 : b->met - 1;
  return next < b->fewest || next == b->missed ? 0 : next;
}

/* Tries counts around the guess. The path has the counts from `fewest` on. *out is the smallest set
 * that meets the error. Otherwise *out is the one with the largest IoU, if that exceeds `least`. */
static abut_status try_counts(decomposition *d, path *w, size_t guess, size_t fewest, size_t most,
                              double least, primitives *out)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  bracket b = {.fewest = fewest, .most = most, .stride = 1};
  const double wanted = 1.0 - d->options->error;
  abut_decompose_end ended = ABUT_DECOMPOSED;
  TRY(allocate(&memory, 1, sizeof(primitives)));
  primitives *p = memory;
  for (size_t count = guess, left = TRIES; count; count = next_count(&b, --left)) {
    double iou = 0.0;
    *p = w->sets[count];
    TRY_DONE(improve_and_finish(d, p, &iou));
    const bool meets = iou >= wanted;
    if (meets || (!b.met && iou > least)) {
      *out = *p;
      ended = d->report->end;
      least = iou;
    }
    b.met = meets ? count : b.met;
    b.missed = meets || count < b.missed ? b.missed : count;
  }
  d->report->end = b.met ? ended : ABUT_DECOMPOSE_ERROR_NOT_REACHED;
done:
  free(memory);
  return status;
}

abut_status stages_by_error(decomposition *d, primitives *p)
{
  abut_status status = ABUT_SUCCESS;
  void *sets = NULL, *iou = NULL;
  bool met;
  double least;
  TRY(try_few(d, p, &least, &met));
  if (met || d->options->most_primitives <= FEWEST) {
    d->report->end = met ? d->report->end : ABUT_DECOMPOSE_ERROR_NOT_REACHED;
    return ABUT_SUCCESS;
  }
  const double begun = now();
  TRY_DONE(allocate(&sets, DECOMPOSE_MOST, sizeof(primitives)));
  TRY_DONE(allocate(&iou, DECOMPOSE_MOST, sizeof(double)));
  path w = {.d = d, .sets = sets, .iou = iou};
  w.sets[0] = *p; /* a set without primitives does not exist */
  TRY_DONE(first_fits(d, (beginning){.clusters = d->options->most_primitives}, p));
  TRY_DONE(fill_up(d, p, with_room(d, d->options->most_primitives)));
  const size_t most = p->count;
  if (most <= FEWEST) { /* the shape has no room for more, and these were fitted before */
    *p = w.sets[0];
    d->report->end = ABUT_DECOMPOSE_ERROR_NOT_REACHED;
    goto done;
  }
  TRY_DONE(keep(&w, p));
  TRY_DONE(decompose_tell(d, "merging", 0.25));
  TRY_DONE(move_down(d, p, FEWEST + 1, keep, &w));
  d->report->seconds_start += now() - begun;
  size_t guess = most;
  for (size_t count = most; count > FEWEST; --count) {
    guess = w.iou[count] >= 1.0 - d->options->error ? count : guess;
  }
  *p = w.sets[0];
  TRY_DONE(try_counts(d, &w, guess, FEWEST + 1, most, least, p));
done:
  free(sets);
  free(iou);
  return status;
}

/* ---- subtraction ---- */

static bool any_away(const primitives *p)
{
  for (size_t l = 0; l < p->count; ++l) {
    if (p->at[l].away) {
      return true;
    }
  }
  return false;
}

static abut_status final_loss(decomposition *d, const primitives *p, double *loss)
{
  TRY(fit_look(&d->fit, &d->fine, p, FINAL_WIDTH));
  *loss = fit_loss(&d->fit, &d->fine);
  return ABUT_SUCCESS;
}

/* The loss of the last fit and the IoU, on the final samples. */
static abut_status final_look(decomposition *d, const primitives *p, double *loss, double *iou)
{
  TRY(final_loss(d, p, loss));
  TRY(fit_unions(&d->fit, &d->fine));
  *iou = fit_iou(&d->fit, &d->fine);
  return ABUT_SUCCESS;
}

abut_status stages_take_away(decomposition *d, primitives *p)
{
  abut_status status = ABUT_SUCCESS;
  const size_t count = p->count;
  abut_decompose_end ended = d->report->end;
  const double wanted = 1.0 - d->options->error;
  double least, least_iou;
  void *memory = NULL;
  if (count < 2) {
    return ABUT_SUCCESS; /* one primitive must be added */
  }
  TRY(final_look(d, p, &least, &least_iou));
  least *= 1.0 - TAKEN_AWAY;
  TRY(allocate(&memory, 1, sizeof(primitives)));
  primitives *other = memory;
  d->fit.mixed = true;
  for (size_t start = 0; start < (count <= FEW ? 2u : 1u); ++start) {
    const beginning from = {.clusters = (1 + start) * count, .pockets = start == 0};
    double iou, loss;
    TRY_DONE(count_from(d, from, count, other, &iou));
    TRY_DONE(reach_out(d, other, HUGE_VAL));
    TRY_DONE(final_look(d, other, &loss, &iou));
    const bool missed = !d->options->primitives && iou < wanted;
    if (other->count == count && loss < least && iou >= least_iou &&
        (!missed || ended == ABUT_DECOMPOSE_ERROR_NOT_REACHED)) {
      *p = *other;
      least = loss;
      /* If fewer primitives than requested were found, the count is the same now. An error may be
       * met only now, and one that was met stays met. */
      ended = ended == ABUT_DECOMPOSE_FEWER || missed ? ended : d->report->end;
    }
  }
  d->report->end = ended;
  d->fit.mixed = any_away(p);
done:
  free(memory);
  return status;
}

/* ---- polyhedra ---- */

/* Lists the entries that polyhedra improve, with the largest improvement first. */
static size_t sort_conversions(const conversion *all, size_t count, size_t order[DECOMPOSE_MOST])
{
  size_t found = 0;
  for (size_t l = 0; l < count; ++l) {
    if (!all[l].count) {
      continue;
    }
    size_t at = found++;
    for (; at && all[order[at - 1]].change > all[l].change; --at) {
      order[at] = order[at - 1];
    }
    order[at] = l;
  }
  return found;
}

/* Makes *out a set in which the first `few` of these replace superquadrics. */
static void replace(const primitives *p, const conversion *all, const size_t *order, size_t few,
                    primitives *out)
{
  out->count = 0;
  for (size_t l = 0; l < p->count; ++l) {
    const conversion *c = NULL;
    for (size_t i = 0; i < few; ++i) {
      c = order[i] == l ? &all[l] : c;
    }
    for (size_t i = 0; i < (c ? c->count : 1); ++i) {
      out->at[out->count++] = c ? c->parts[i] : p->at[l];
    }
  }
}

/* Whether all polyhedra are bounded, and the added ones are within the samples. */
static bool are_bounded(const decomposition *d, const primitives *p)
{
  double lower[3], upper[3], low[3], high[3], planes[PARTS_MOST * PLANES_EACH][4];
  samples_box(d->of, lower, upper);
  for (size_t l = 0; l < p->count; ++l) {
    const primitive *q = &p->at[l];
    if (!q->parts || q->part) {
      continue;
    }
    if (!polyhedron_planes(q, HUGE_VAL, planes, low, high, NULL)) {
      return false;
    }
    for (int k = 0; k < 3 && !q->away; ++k) {
      if (low[k] < lower[k] || high[k] > upper[k]) {
        return false;
      }
    }
  }
  return true;
}

/* If polyhedra improve several superquadrics separately but not together, the better half is tried,
 * and so on. IoU must not decrease. The objective is insensitive to thin layers over a whole
 * surface, such as a disc approximated by eight sides. */
static abut_status convert(decomposition *d, primitives *p, double *least, double *most_iou,
                           bool *fell)
{
  abut_status status = ABUT_SUCCESS;
  void *found = NULL, *memory = NULL;
  size_t order[DECOMPOSE_MOST];
  const double wanted = 1.0 - d->options->error;
  *fell = false;
  TRY_DONE(allocate(&found, DECOMPOSE_MOST, sizeof(conversion)));
  TRY_DONE(allocate(&memory, 1, sizeof(primitives)));
  conversion *all = found;
  primitives *other = memory;
  TRY_DONE(fit_look(&d->fit, &d->search, p, MOVE_WIDTH));
  TRY_DONE(move_to_planes(d, p, CONVERTED_ALONE * fit_loss(&d->fit, &d->search), all));
  for (size_t few = sort_conversions(all, p->count, order); few && !*fell; few /= 2) {
    const abut_decompose_end ended = d->report->end;
    double iou, loss;
    replace(p, all, order, few, other);
    TRY_DONE(fit_whole(&d->fit, &d->search, other, MOVE_WIDTH, 15, NULL));
    TRY_DONE(finish(d, other, &iou));
    TRY_DONE(final_loss(d, other, &loss));
    *fell = loss < *least * (1.0 - CONVERTED) && iou >= *most_iou && are_bounded(d, other);
    if (*fell) {
      *p = *other;
      *least = loss;
      *most_iou = iou;
    }
    if (!*fell || (ended == ABUT_DECOMPOSE_ERROR_NOT_REACHED && iou < wanted) ||
        ended == ABUT_DECOMPOSE_FEWER) {
      d->report->end = ended;
    }
  }
done:
  free(found);
  free(memory);
  return status;
}

/* *before: the loss before any conversion. */
static abut_status convert_all(decomposition *d, primitives *p, double *before)
{
  double least, iou;
  bool fell = true;
  const double begun = now();
  TRY(final_look(d, p, &least, &iou));
  *before = least;
  for (int pass = 0; pass < PASSES && fell; ++pass) {
    TRY(decompose_tell(d, "polyhedra", 0.9 + 0.03 * (double)pass));
    TRY(convert(d, p, &least, &iou, &fell));
  }
  d->report->seconds_planes = now() - begun;
  return ABUT_SUCCESS;
}

static bool any_planes(const primitives *p)
{
  for (size_t l = 0; l < p->count; ++l) {
    if (p->at[l].parts) {
      return true;
    }
  }
  return false;
}

/* Fits of polyhedra move the other primitives too, and ignore where subtracted primitives end. The
 * objective must remain lower than `before` by the required share, and an error that was met stays
 * met. */
static abut_status reach_out_again(decomposition *d, primitives *p, double before)
{
  abut_status status = ABUT_SUCCESS;
  const double wanted = 1.0 - d->options->error;
  double loss, iou;
  void *memory;
  TRY(allocate(&memory, 1, sizeof(primitives)));
  primitives *kept = memory;
  *kept = *p;
  TRY_DONE(reach_out(d, p, before * (1.0 - CONVERTED)));
  TRY_DONE(final_look(d, p, &loss, &iou));
  if (!d->options->primitives && d->report->end == ABUT_DECOMPOSED && iou < wanted) {
    *p = *kept;
  }
done:
  free(memory);
  return status;
}

abut_status stages_convert(decomposition *d, primitives *p)
{
  double before;
  TRY(convert_all(d, p, &before));
  return any_planes(p) && any_away(p) ? reach_out_again(d, p, before) : ABUT_SUCCESS;
}
