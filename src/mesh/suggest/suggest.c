#include <abut/suggest.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/random.h"
#include "mesh/inspect/field_at.h"
#include "contact/smoothing.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab07000eu
#define POSES 256
#define DEPTH 0.03
#define QUANTILE 0.95
#define BETWEEN 3                     /* points of an edge between its ends */
#define HALVINGS 11                   /* of the way from apart to one in the other */
#define PLACES_MOST ((size_t)1 << 21) /* at which fields are asked for at once */
#define INTERIOR 1e-6                 /* share of an edge that a crossing is away from its ends */

/* A body's mesh, and the edges of each vertex. */
typedef struct side {
  abut_body body;
  abut_body_info info;
  double *vertices; /* (vertices, 3) */
  uint32_t *edges;  /* (edges, 2) */
  size_t places;    /* of the vertices, then BETWEEN of each edge */
} side;

typedef struct pose {
  double turn[2][9]; /* rotations of both bodies, by rows; the first one stays at the
                        origin */
  double along[3];   /* unit: where the second body is, */
  double apart;      /* and how far [m] */
  double depth;      /* wanted [m] */
  bool collides;
} pose;

/* Two edges that are each other's nearest, and cross. */
typedef struct meeting {
  size_t pose; /* of those in collision */
  uint32_t rank[2];
  double at[2][3]; /* nearest points of edge 0, 1 in the frame of the other body */
} meeting;

typedef struct finder {
  side sides[2];
  const abut_smoothing *smoothing;
  abut_suggest_options o;
  pose *poses;
  double *places;
  float *field[2]; /* (poses of a piece, places): of side 0 in body 2, of side 1 in body
                      1 */
  uint32_t *pairs, *deepest[2];
  meeting *meetings; /* of a piece of the poses */
  size_t meeting_count, meeting_room;
  uint32_t *rank; /* (rank_count, 2) of each pair, how many edges must be kept to have
                     either */
  size_t rank_count, rank_room;
  arena memory;
} finder;

abut_suggest_options abut_default_suggest_options(void)
{
  abut_suggest_options options;
  memset(&options, 0, sizeof options);
  options.cookie = COOKIE;
  return options;
}

/* ---- random poses ---- */

/* Gives a random rotation (Shoemake 1992), by rows. */
static void random_turn(uint64_t seed, uint64_t *at, double m[9])
{
  const double pi = 3.14159265358979323846;
  const double u = random_number(seed, (*at)++), v = 2.0 * pi * random_number(seed, (*at)++);
  const double w = 2.0 * pi * random_number(seed, (*at)++);
  const double q[4] = {sqrt(1.0 - u) * sin(v), sqrt(1.0 - u) * cos(v), sqrt(u) * sin(w),
                       sqrt(u) * cos(w)};
  const double x = q[0], y = q[1], z = q[2], s = q[3];
  const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * s),
                          2 * (x * z + y * s),     2 * (x * y + z * s),
                          1 - 2 * (x * x + z * z), 2 * (y * z - x * s),
                          2 * (x * z - y * s),     2 * (y * z + x * s),
                          1 - 2 * (x * x + y * y)};
  memcpy(m, rows, sizeof rows);
}

static void turned(const double m[9], const double x[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = dot(m + 3 * k, x);
  }
}

static void turned_back(const double m[9], const double x[3], double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = m[k] * x[0] + m[3 + k] * x[1] + m[6 + k] * x[2];
  }
}

/* Returns how far a turned mesh reaches along a direction. */
static double reach(const side *s, const double m[9], const double along[3])
{
  double farthest = -HUGE_VAL, own[3];
  turned_back(m, along, own);
  for (size_t i = 0; i < s->info.vertices; ++i) {
    farthest = fmax(farthest, dot(s->vertices + 3 * i, own));
  }
  return farthest;
}

static void draw(const finder *f, size_t i, pose *p)
{
  const double size = fmin(f->sides[0].info.diagonal, f->sides[1].info.diagonal),
               x[3] = {0.0, 0.0, 1.0};
  uint64_t at = 16 * (uint64_t)i;
  double turn[9], back[3];
  random_turn(f->o.seed, &at, p->turn[0]);
  random_turn(f->o.seed, &at, p->turn[1]);
  random_turn(f->o.seed, &at, turn);
  turned(turn, x, p->along);
  p->depth = f->o.depth * size * random_number(f->o.seed, at);
  for (int k = 0; k < 3; ++k) {
    back[k] = -p->along[k];
  }
  p->apart = reach(&f->sides[0], p->turn[0], p->along) + reach(&f->sides[1], p->turn[1], back);
}

/* ---- fields ---- */

/* Puts a side's places into the frame of the other body. */
static void put_places(const finder *f, int which, const pose *p, double *out)
{
  const side *s = &f->sides[which];
  const double sign = which ? 1.0 : -1.0;
  for (size_t i = 0; i < s->places; ++i) {
    double own[3], world[3];
    if (i < s->info.vertices) {
      memcpy(own, s->vertices + 3 * i, sizeof own);
    } else {
      const size_t edge = (i - s->info.vertices) / BETWEEN, n = (i - s->info.vertices) % BETWEEN;
      const double *a = s->vertices + 3 * (size_t)s->edges[2 * edge];
      const double *b = s->vertices + 3 * (size_t)s->edges[2 * edge + 1];
      const double share = (double)(n + 1) / (BETWEEN + 1);
      for (int k = 0; k < 3; ++k) {
        own[k] = a[k] + share * (b[k] - a[k]);
      }
    }
    turned(p->turn[which], own, world);
    for (int k = 0; k < 3; ++k) {
      world[k] += sign * p->apart * p->along[k];
    }
    turned_back(p->turn[1 - which], world, out + 3 * i);
  }
}

/* Asks for both sides' fields at `count` poses. */
static abut_status ask(finder *f, const pose *poses, size_t count)
{
  for (int which = 0; which < 2; ++which) {
    const field_of field = {f->sides[1 - which].body, f->smoothing->union_, f->smoothing->plane};
    const size_t places = f->sides[which].places;
    for (size_t i = 0; i < count; ++i) {
      put_places(f, which, &poses[i], f->places + 3 * i * places);
    }
    TRY(field_at_places(&field, f->places, count * places, f->field[which]));
  }
  return ABUT_SUCCESS;
}

/* Returns how deep anything of either body lies in the other [m]; negative where they are apart. */
static double depth_at(const finder *f, size_t i)
{
  double least = HUGE_VAL;
  for (int which = 0; which < 2; ++which) {
    const size_t places = f->sides[which].places;
    for (size_t n = 0; n < places; ++n) {
      least = fmin(least, (double)f->field[which][i * places + n]);
    }
  }
  return -least;
}

/* Moves bodies of a piece of the poses together until they overlap by as much as wanted, nearly,
 * and not by more. lower, upper: (count) [m]. */
static abut_status bring_together(finder *f, pose *poses, size_t count, double *lower,
                                  double *upper)
{
  for (size_t i = 0; i < count; ++i) {
    lower[i] = 0.0;
    upper[i] = poses[i].apart;
  }
  for (int h = 0; h < HALVINGS; ++h) {
    for (size_t i = 0; i < count; ++i) {
      poses[i].apart = 0.5 * (lower[i] + upper[i]);
    }
    TRY(ask(f, poses, count));
    for (size_t i = 0; i < count; ++i) {
      const bool deep = depth_at(f, i) > poses[i].depth;
      *(deep ? &lower[i] : &upper[i]) = poses[i].apart;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    poses[i].apart = upper[i];
  }
  TRY(ask(f, poses, count));
  for (size_t i = 0; i < count; ++i) {
    poses[i].collides = depth_at(f, i) > 0.0;
  }
  return ABUT_SUCCESS;
}

/* ---- counting ---- */

static uint32_t count_deepest(const side *s, const float *field, unsigned char *beaten)
{
  uint32_t count = 0;
  memset(beaten, 0, s->info.vertices);
  for (size_t e = 0; e < s->info.edges; ++e) {
    const uint32_t a = s->edges[2 * e], b = s->edges[2 * e + 1];
    const bool first = field[a] < field[b] || (field[a] == field[b] && a < b);
    beaten[first ? b : a] = 1;
  }
  for (size_t i = 0; i < s->info.vertices; ++i) {
    count += field[i] < 0.0f && !beaten[i];
  }
  return count;
}

static float score(const side *s, const float *field, uint32_t edge)
{
  /* the best is the least */
  return 0.5f * (field[s->edges[2 * edge]] + field[s->edges[2 * edge + 1]]);
}

/* Lists edges that may reach into the other body: a point of them is inside, or nearer to it than
 * to the next one that was asked about. Returns how many. */
static size_t list_near(const side *s, const float *field, uint32_t *out)
{
  size_t count = 0;
  for (uint32_t e = 0; e < s->info.edges; ++e) {
    const float *between = field + s->info.vertices + (size_t)e * BETWEEN;
    float least = fminf(field[s->edges[2 * e]], field[s->edges[2 * e + 1]]);
    double d[3];
    for (int n = 0; n < BETWEEN; ++n) {
      least = fminf(least, between[n]);
    }
    difference(s->vertices + 3 * (size_t)s->edges[2 * e + 1],
               s->vertices + 3 * (size_t)s->edges[2 * e], d);
    if ((double)least < 0.5 * sqrt(dot(d, d)) / (BETWEEN + 1)) {
      out[count++] = e;
    }
  }
  return count;
}

/* Gives an edge's ends in the world. */
static void ends_of(const finder *f, int which, const pose *p, uint32_t edge, double out[6])
{
  const side *s = &f->sides[which];
  for (int k = 0; k < 2; ++k) {
    turned(p->turn[which], s->vertices + 3 * (size_t)s->edges[2 * edge + (uint32_t)k], out + 3 * k);
    for (int a = 0; a < 3 && which; ++a) {
      out[3 * k + a] += p->apart * p->along[a];
    }
  }
}

/* Returns the squared distance of two segments, each of two points one behind the other, and gives
 * where on each they are nearest, from 0 to 1 (Ericson 2005, Real-Time Collision Detection,
 * 5.1.9). */
static double segments_apart(const double *p, const double *q, double share[2])
{
  double u[3], v[3], w[3], gap[3];
  difference(p + 3, p, u);
  difference(q + 3, q, v);
  difference(p, q, w);
  const double a = dot(u, u), e = dot(v, v), b = dot(u, v), c = dot(u, w), g = dot(v, w);
  const double size = a * e - b * b;
  double s = size > 0.0 ? fmin(fmax((b * g - c * e) / size, 0.0), 1.0) : 0.0;
  double t = e > 0.0 ? (b * s + g) / e : 0.0;
  if (t < 0.0 || t > 1.0) {
    t = fmin(fmax(t, 0.0), 1.0);
    s = a > 0.0 ? fmin(fmax((b * t - c) / a, 0.0), 1.0) : 0.0;
  }
  share[0] = s;
  share[1] = t;
  for (int k = 0; k < 3; ++k) {
    gap[k] = w[k] + s * u[k] - t * v[k];
  }
  return dot(gap, gap);
}

typedef struct buddy {
  uint32_t of;
  double distance2, share[2];
} buddy;

static bool is_between(double share)
{
  return share > INTERIOR && share < 1.0 - INTERIOR;
}

/* Returns how many of a side's edges score at least as well as one, itself among them. */
static uint32_t rank_of(const side *s, const float *field, uint32_t edge)
{
  const float own = score(s, field, edge);
  uint32_t rank = 1;
  for (uint32_t e = 0; e < s->info.edges; ++e) {
    const float other = score(s, field, e);
    rank += other < own || (other == own && e < edge);
  }
  return rank;
}

/* Gives a point of an edge in the frame of the other body. */
static void other_frame(int which, const pose *p, const double ends[6], double share, double out[3])
{
  double x[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = ends[k] + share * (ends[3 + k] - ends[k]) - (which ? 0.0 : p->apart * p->along[k]);
  }
  turned_back(p->turn[1 - which], x, out);
}

/* Lists pairs of edges that are each other's nearest and cross. listed: of each side so many; best:
 * likewise. */
static abut_status meet(finder *f, const pose *p, size_t which_pose, const float *const field[2],
                        uint32_t *const listed[2], const size_t count[2], buddy *const best[2])
{
  double one[6], two[6];
  for (int which = 0; which < 2; ++which) {
    for (size_t i = 0; i < count[which]; ++i) {
      best[which][i] = (buddy){UINT32_MAX, HUGE_VAL, {0.0, 0.0}};
    }
  }
  for (size_t i = 0; i < count[0]; ++i) {
    ends_of(f, 0, p, listed[0][i], one);
    for (size_t j = 0; j < count[1]; ++j) {
      buddy b = {(uint32_t)j, 0.0, {0.0, 0.0}};
      ends_of(f, 1, p, listed[1][j], two);
      b.distance2 = segments_apart(one, two, b.share);
      best[0][i] = b.distance2 < best[0][i].distance2 ? b : best[0][i];
      b.of = (uint32_t)i;
      best[1][j] = b.distance2 < best[1][j].distance2 ? b : best[1][j];
    }
  }
  for (size_t i = 0; i < count[0]; ++i) {
    const buddy *b = &best[0][i];
    if (b->of == UINT32_MAX || best[1][b->of].of != i || !is_between(b->share[0]) ||
        !is_between(b->share[1])) {
      continue;
    }
    TRY(grow((void **)&f->meetings, &f->meeting_room, f->meeting_count + 1, sizeof(meeting)));
    meeting *m = &f->meetings[f->meeting_count++];
    *m = (meeting){.pose = which_pose,
                   .rank = {rank_of(&f->sides[0], field[0], listed[0][i]),
                            rank_of(&f->sides[1], field[1], listed[1][b->of])}};
    ends_of(f, 0, p, listed[0][i], one);
    ends_of(f, 1, p, listed[1][b->of], two);
    other_frame(0, p, one, b->share[0], m->at[0]);
    other_frame(1, p, two, b->share[1], m->at[1]);
  }
  return ABUT_SUCCESS;
}

/* Counts the pairs of edges that cross in both bodies. */
static abut_status count_meetings(finder *f)
{
  const size_t count = f->meeting_count;
  double *places = NULL;
  float *field = NULL;
  void *memory;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&memory, count, 3 * sizeof(double)));
  places = memory;
  TRY_DONE(allocate(&memory, count, 2 * sizeof(float)));
  field = memory;
  for (int which = 0; which < 2; ++which) {
    const field_of of = {f->sides[1 - which].body, f->smoothing->union_, f->smoothing->plane};
    for (size_t i = 0; i < count; ++i) {
      memcpy(places + 3 * i, f->meetings[i].at[which], 3 * sizeof *places);
    }
    TRY_DONE(field_at_places(&of, places, count, field + (size_t)which * count));
  }
  TRY_DONE(grow((void **)&f->rank, &f->rank_room, 2 * (f->rank_count + count), sizeof(uint32_t)));
  for (size_t i = 0; i < count; ++i) {
    if (field[i] < 0.0f && field[count + i] < 0.0f) {
      memcpy(f->rank + 2 * f->rank_count++, f->meetings[i].rank, 2 * sizeof *f->rank);
      ++f->pairs[f->meetings[i].pose];
    }
  }
  f->meeting_count = 0;
done:
  free(places);
  free(field);
  return status;
}

static abut_status count_piece(finder *f, const pose *poses, size_t count, size_t *found)
{
  arena memory = {0};
  abut_status status = ABUT_SUCCESS;
  uint32_t *listed[2];
  buddy *best[2];
  unsigned char *beaten[2];
  for (int which = 0; which < 2; ++which) {
    const abut_body_info *info = &f->sides[which].info;
    void *at;
    TRY_DONE(arena_allocate(&memory, &at, info->edges, sizeof(uint32_t)));
    listed[which] = at;
    TRY_DONE(arena_allocate(&memory, &at, info->edges, sizeof(buddy)));
    best[which] = at;
    TRY_DONE(arena_allocate(&memory, &at, info->vertices, 1));
    beaten[which] = at;
  }
  for (size_t i = 0; i < count; ++i) {
    const float *field[2];
    size_t in[2];
    if (!poses[i].collides) {
      continue;
    }
    for (int which = 0; which < 2; ++which) {
      field[which] = f->field[which] + i * f->sides[which].places;
      f->deepest[which][*found] = count_deepest(&f->sides[which], field[which], beaten[which]);
      in[which] = list_near(&f->sides[which], field[which], listed[which]);
    }
    TRY_DONE(meet(f, &poses[i], (*found)++, field, listed, in, best));
  }
  TRY_DONE(count_meetings(f));
done:
  arena_free(&memory);
  return status;
}

/* ---- what follows ---- */

static int compare_counts(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Finds the least number that a share of some numbers does not exceed. sorted: room for them. */
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
    /* What is left out of either body adds up to no more than may be left out of pairs. */
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
      draw(f, first + i, &f->poses[i]);
    }
    TRY(bring_together(f, f->poses, now, lower, upper));
    TRY(count_piece(f, f->poses, now, found));
  }
  return *found ? ABUT_SUCCESS
                : fail(ABUT_ERROR_BODY,
                       "in none of %u random poses do the bodies overlap: do their meshes lie "
                       "on their fields?",
                       f->o.poses);
}

static abut_status check_options(const abut_suggest_options *given, abut_suggest_options *o)
{
  *o = *given;
  if (o->poses > ABUT_SUGGEST_POSES_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "%u poses; %d are the most", o->poses,
                ABUT_SUGGEST_POSES_MOST);
  }
  if (o->depth != 0.0 && !(o->depth >= 1e-4 && o->depth <= 0.5)) {
    return fail(ABUT_ERROR_ARGUMENT, "a depth of %g of the diagonal, not in [1e-4, 0.5]", o->depth);
  }
  if (o->quantile != 0.0 && !(o->quantile >= 0.5 && o->quantile <= 1.0)) {
    return fail(ABUT_ERROR_ARGUMENT, "a quantile of %g, not in [0.5, 1]", o->quantile);
  }
  o->poses = o->poses ? o->poses : POSES;
  o->depth = o->depth != 0.0 ? o->depth : DEPTH;
  o->quantile = o->quantile != 0.0 ? o->quantile : QUANTILE;
  return ABUT_SUCCESS;
}

/* The counts are of memory of their own, which stays. */
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
    return fail(ABUT_ERROR_ARGUMENT, "abut_suggest_kept needs a smoothing, options of "
                                     "abut_default_suggest_options, and a place for its answer");
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
