/* The numbers of vertices and edges that the contacts of a pose need. */
#include "mesh/suggest/finder.h"
#include "mesh/inspect/field_at.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* least share of an edge between a crossing and the ends */
#define INTERIOR 1e-6

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
  /* the best edge has the least score */
  return 0.5f * (field[s->edges[2 * edge]] + field[s->edges[2 * edge + 1]]);
}

/* Lists edges that may enter the other body. One of their sampled points is inside, or nearer to
 * the other body than half the distance between samples. Returns the number of edges. */
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

/* Gives an edge's ends in the world frame. */
static void ends_of(const finder *f, int which, const pose *p, uint32_t edge, double out[6])
{
  const side *s = &f->sides[which];
  for (int k = 0; k < 2; ++k) {
    finder_turned(p->turn[which], s->vertices + 3 * (size_t)s->edges[2 * edge + (uint32_t)k],
                  out + 3 * k);
    for (int a = 0; a < 3 && which; ++a) {
      out[3 * k + a] += p->apart * p->along[a];
    }
  }
}

/* Returns the squared distance of two segments, each given by two consecutive points. Gives the
 * nearest point on each as a parameter from 0 to 1 (Ericson 2005, Real-Time Collision
 * Detection, 5.1.9). */
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

/* Returns the number of a side's edges with a score at least as good as that of one edge, including
 * this edge. */
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
  finder_turned_back(p->turn[1 - which], x, out);
}

/* Lists pairs of edges that are mutually nearest and cross. listed, best: count entries for each
 * side. */
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

/* Counts the pairs of edges that cross inside both bodies. */
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

abut_status finder_count(finder *f, const pose *poses, size_t count, size_t *found)
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
