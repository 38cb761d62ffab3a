#include "engine/batch/sharing.h"

#include <math.h>

/* First chunk of a device with unknown throughput; 1 for the host path, which is slow. */
#define PROBE ((size_t)64)
#define LEAST_SECONDS 1e-3 /* smaller chunks cost more in launches than they gain in balance */
#define WARY_SECONDS 1e-2  /* limit on a chunk while another device's throughput is unknown */

static double rate_of(const sharing *s, const hand *h, size_t group)
{
  return s->call->groups[group].rates[h->member];
}

/* Returns the number of working devices with known throughput, and the sum of it. */
static size_t count_known(const sharing *s, size_t group, double *sum)
{
  size_t known = 0;
  *sum = 0.0;
  for (size_t i = 0; i < s->hand_count; ++i) {
    const double rate = s->hands[i].working ? rate_of(s, &s->hands[i], group) : 0.0;
    *sum += rate;
    known += rate > 0.0;
  }
  return known;
}

/* Returns a device's share of all throughput. Unmeasured ones count as the mean of the others. */
static double part_of(const sharing *s, double rate, double sum, size_t known)
{
  return rate <= 0.0 ? 1.0 / (double)s->working : rate / (sum / (double)known * (double)s->working);
}

/* Returns half of the device's share of what is left. A small share is taken whole, up to
 * LEAST_SECONDS of work; a tiny one is rounded up to that. */
static double guided_size(double rate, double fair)
{
  const double least = rate * LEAST_SECONDS;
  return fair > 2.0 * least ? 0.5 * fair : fair > 0.5 * least ? fmin(fair, least) : least;
}

static size_t most_of(const hand *h, size_t group)
{
  const size_t bound = batch_bound(h->sharing->call), most = h->on->mosts[group];
  return bound && bound < most ? bound : most;
}

/* Returns the size of the next chunk from a piece of `left` elements. A single device takes equal
 * chunks as large as memory allows. Several devices share by throughput; `all` is the remaining
 * work, counted in elements of this group. */
static size_t wanted_size(const sharing *s, const hand *h, size_t group, size_t left, double all)
{
  const size_t most = most_of(h, group);
  if (s->working == 1) {
    const size_t chunks = (left + most - 1) / most;
    return (left + chunks - 1) / chunks;
  }
  double sum;
  const size_t known = count_known(s, group, &sum);
  const double rate = rate_of(s, h, group);
  const double guided = guided_size(rate, part_of(s, rate, sum, known) * all);
  size_t size = guided < (double)left ? 1 + (size_t)guided : left;
  const size_t probe = device_info(h->device)->type == ABUT_DEVICE_HOST ? 1 : PROBE;
  size = rate > 0.0 || size < probe ? size : probe;
  if (rate > 0.0 && known < s->working) { /* it may be slow compared with the others */
    size = (size_t)fmin((double)size, 1.0 + rate * WARY_SECONDS);
  }
  return size < most ? size : most;
}

static size_t whole_multiple(const sharing *s, size_t size, size_t left, size_t most)
{
  const size_t m = s->call->multiple;
  if (m > 1 && size < left) {
    const size_t up = (size + m - 1) / m * m, down = size / m * m;
    size = up <= most ? up : down ? down : size;
  }
  return size < left ? size : left;
}

static size_t size_of_next(const sharing *s, const hand *h, size_t group, size_t left, double all)
{
  return whole_multiple(s, wanted_size(s, h, group, left, all), left, most_of(h, group));
}

static bool take_returned(sharing *s, const hand *h, chunk *out)
{
  if (!s->returned_count) {
    return false;
  }
  chunk *last = &s->returned[s->returned_count - 1];
  const size_t size = size_of_next(s, h, last->group, last->count, (double)last->count);
  *out = (chunk){last->first, size, last->group};
  last->first += size;
  last->count -= size;
  s->returned_count -= last->count == 0;
  return true;
}

static bool take_next(sharing *s, const hand *h, chunk *out)
{
  if (s->next == s->call->count) {
    return false;
  }
  s->group += s->next == s->call->groups[s->group].end;
  const batch_group *g = &s->call->groups[s->group];
  const size_t left = g->end - s->next;
  const double all = (double)left + g->behind / g->each;
  *out = (chunk){s->next, size_of_next(s, h, s->group, left, all), s->group};
  s->next += out->count;
  return true;
}

bool sharing_take(hand *h, bool wait, chunk *out)
{
  sharing *s = h->sharing;
  bool found = false;
  pthread_mutex_lock(&s->lock);
  for (;;) {
    if (s->status != ABUT_SUCCESS) {
      break;
    }
    found = take_returned(s, h, out) || take_next(s, h, out);
    if (found || !wait || !s->flying) {
      break;
    }
    pthread_cond_wait(&s->changed, &s->lock);
  }
  s->flying += found ? out->count : 0;
  pthread_mutex_unlock(&s->lock);
  return found;
}

/* Returns the time per element, the inverse of a device's mean throughput; 0 if none is known. */
static double time_of_each(const batch_group *g)
{
  double sum = 0.0, known = 0.0;
  for (size_t i = 0; i < MEMBERS; ++i) {
    sum += g->rates[i];
    known += g->rates[i] > 0.0;
  }
  return known > 0.0 ? known / sum : 0.0;
}

void sharing_weigh_groups(const batch_call *c)
{
  double sum = 0.0, known = 0.0, behind = 0.0;
  for (size_t i = 0; i < c->group_count; ++i) {
    batch_group *g = &c->groups[i];
    g->each = time_of_each(g);
    sum += g->each;
    known += g->each > 0.0;
  }
  for (size_t i = c->group_count; i-- > 0;) {
    batch_group *g = &c->groups[i];
    g->each = g->each > 0.0 ? g->each : known > 0.0 ? sum / known : 1.0;
    g->behind = behind;
    behind += g->each * (double)(g->end - (i ? c->groups[i - 1].end : 0));
  }
}
