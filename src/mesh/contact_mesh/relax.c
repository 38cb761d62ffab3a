#include "mesh/contact_mesh/relax.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/inspect/quality.h"
#include "mesh/surface/sides.h"
#include "mesh/surface/tree.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* distance from the surface that costs as much as a triangle of quality 0, as a share of the
 * diagonal; weighted by: */
#define DEVIATION 0.002
/* weight of the faces' distance from the surface, relative to their quality */
#define SHAPE 0.08
#define VOLUME 1.1 /* weight of the volume, relative to the faces' distance from the surface */
#define POOR 0.4   /* quality below which it counts four times more */
/* cosine between a face's normal and the field's normal below which the angle has a cost */
#define UPRIGHT 0.2
/* weight of each side's middle in a face's distance from the surface */
#define SIDE_SHARE (0.55 / 3.0)
#define CENTRE_SHARE 0.45 /* weight of the face's centre */
/* smallest curvature times edge length from which a vertex is held in place */
#define TIP 0.8
#define TURNS_MOST 4  /* passes over all edges in each sweep */
#define STEP 0.3      /* share of the edge length by which vertices try to move */
#define STEP_FALL 0.9 /* factor after each sweep */
#define AROUND 6      /* directions that are tried */
#define TRIALS (AROUND + 1)
/* maximum number of triangles around a vertex that moves or whose edges are turned */
#define DEGREE_MOST 48
#define FALL 1e-9 /* least decrease of the cost */
#define BEND 1e-4 /* share of the diagonal over which curvature is measured */
/* approximate number of points of the fine surface that must stay near a face */
#define SAMPLES 12000
/* limit of a sample's distance to the faces: factor of its initial distance, */
#define LEAVE_SHARE 1.5
#define LEAVE 0.012 /* plus a share of the diagonal */

typedef struct relaxer {
  probe *p;
  surface *mesh;
  double diagonal, scale, origin[3]; /* scale: of a face's area times its distance */
  double *normal;                    /* (points, 3) */
  unsigned char *held;               /* (points) */
  uint32_t *side;                    /* (points) one side that begins at each point */
  double *middle;                    /* (sides) absolute field at the middle */
  double *cost;                      /* (faces) */
  double *sample, *limit;            /* (samples, 3); (samples) squared [m^2] */
  uint32_t *next, *first; /* (samples), (faces): lists of the samples that belong to each face */
  arena memory;
} relaxer;

/* A vertex and its triangles, which have the corners `ring[i]` and `ring[i + 1]`. */
typedef struct fan {
  size_t count;
  uint32_t sides[DEGREE_MOST]; /* that begin at the vertex */
  uint32_t ring[DEGREE_MOST];
} fan;

/* The field and the costs of a fan with its vertex at a trial place. */
typedef struct trial {
  double at[3], normal[3], total;
  double middle[DEGREE_MOST], cost[DEGREE_MOST];
} trial;

static double *point(const relaxer *r, uint32_t vertex)
{
  return r->mesh->points + 3 * (size_t)vertex;
}

/* ---- the cost ---- */

/* middle: absolute field at the middles of the sides. off, upward: the field and its normal at the
 * centre. */
static double face_cost(const relaxer *r, const double *const c[3], const double middle[3],
                        double off, const double upward[3])
{
  double u[3], v[3], n[3], from[3];
  difference(c[1], c[0], u);
  difference(c[2], c[0], v);
  difference(c[0], r->origin, from);
  cross(u, v, n);
  const double size = length(n), quality = triangle_quality(c[0], c[1], c[2]);
  const double deviation =
    SIDE_SHARE * (middle[0] + middle[1] + middle[2]) + CENTRE_SHARE * fabs(off);
  const double cosine = size > 0.0 ? dot(n, upward) / size : -1.0;
  return SHAPE * (0.5 * size * deviation - VOLUME * dot(n, from) / 6.0) / r->scale +
         (1.0 - quality) + 4.0 * fmax(POOR - quality, 0.0) + 20.0 * fmax(UPRIGHT - cosine, 0.0);
}

static void centre_of(const double *a, const double *b, const double *c, double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = (a[k] + b[k] + c[k]) / 3.0;
  }
}

static void middle_of(const double *a, const double *b, double out[3])
{
  for (int k = 0; k < 3; ++k) {
    out[k] = 0.5 * (a[k] + b[k]);
  }
}

/* Returns false if a vertex has too many triangles. */
static bool fan_of(const relaxer *r, uint32_t vertex, fan *f)
{
  const uint32_t begin = r->side[vertex];
  uint32_t at = begin;
  f->count = 0;
  do {
    if (f->count == DEGREE_MOST) {
      return false;
    }
    f->sides[f->count] = at;
    f->ring[f->count++] = r->mesh->triangles[side_next(at)];
    at = r->mesh->across[side_before(at)];
  } while (at != begin);
  return true;
}

/* Computes the costs of a vertex's triangles with the vertex at each trial's place. A fan is
 * counterclockwise: triangle i has the corners ring[i] and ring[i + 1]. */
static void cost_trials(relaxer *r, const fan *f, trial *trials, size_t count)
{
  double places[3 * TRIALS * DEGREE_MOST], upward[3 * TRIALS * DEGREE_MOST],
    off[TRIALS * DEGREE_MOST];
  const size_t n = f->count;
  for (size_t t = 0; t < count; ++t) {
    for (size_t i = 0; i < n; ++i) {
      middle_of(trials[t].at, point(r, f->ring[i]), places + 3 * (t * n + i));
    }
  }
  probe_field(r->p, places, count * n, off, NULL);
  for (size_t t = 0; t < count; ++t) {
    for (size_t i = 0; i < n; ++i) {
      trials[t].middle[i] = fabs(off[t * n + i]);
      centre_of(trials[t].at, point(r, f->ring[i]), point(r, f->ring[(i + 1) % n]),
                places + 3 * (t * n + i));
    }
  }
  probe_field(r->p, places, count * n, off, upward);
  for (size_t t = 0; t < count; ++t) {
    trials[t].total = 0.0;
    for (size_t i = 0; i < n; ++i) {
      const double *const corners[3] = {trials[t].at, point(r, f->ring[i]),
                                        point(r, f->ring[(i + 1) % n])};
      const double middle[3] = {trials[t].middle[i], r->middle[side_next(f->sides[i])],
                                trials[t].middle[(i + 1) % n]};
      trials[t].cost[i] = face_cost(r, corners, middle, off[t * n + i], upward + 3 * (t * n + i));
      trials[t].total += trials[t].cost[i];
    }
  }
}

/* ---- samples of the fine surface ---- */

/* Finds the nearest of several triangles (count, 3, 3). Returns its squared distance. */
static double nearest_of(const double *corners, size_t count, const double x[3], size_t *which)
{
  double least = HUGE_VAL, at[3];
  for (size_t i = 0; i < count; ++i) {
    const double distance2 = corners_nearest(corners + 9 * i, x, at);
    if (distance2 < least) {
      least = distance2;
      *which = i;
    }
  }
  return least;
}

static void put_corners(const double *a, const double *b, const double *c, double *corners)
{
  memcpy(corners, a, 3 * sizeof *a);
  memcpy(corners + 3, b, 3 * sizeof *b);
  memcpy(corners + 6, c, 3 * sizeof *c);
}

/* Whether triangles (count, 3, 3) that replace faces stay near enough to all samples of those
 * faces. */
static bool stays_near(const relaxer *r, const uint32_t *faces, const double *corners, size_t count)
{
  size_t which;
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t s = r->first[faces[i]]; s != UINT32_MAX; s = r->next[s]) {
      if (nearest_of(corners, count, r->sample + 3 * (size_t)s, &which) > r->limit[s]) {
        return false;
      }
    }
  }
  return true;
}

/* Assigns the samples of these faces to the face that is now nearest. */
static void share_samples(relaxer *r, const uint32_t *faces, const double *corners, size_t count)
{
  uint32_t all = UINT32_MAX;
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t s = r->first[faces[i]], after; s != UINT32_MAX; s = after) {
      after = r->next[s];
      r->next[s] = all;
      all = s;
    }
    r->first[faces[i]] = UINT32_MAX;
  }
  for (uint32_t s = all, after; s != UINT32_MAX; s = after) {
    size_t which = 0;
    after = r->next[s];
    nearest_of(corners, count, r->sample + 3 * (size_t)s, &which);
    r->next[s] = r->first[faces[which]];
    r->first[faces[which]] = s;
  }
}

static abut_status take_samples(relaxer *r, const surface *fine)
{
  const size_t step = fine->point_count / SAMPLES + 1,
               count = (fine->point_count + step - 1) / step;
  void *memory;
  tree faces;
  TRY(arena_allocate(&r->memory, &memory, count, 3 * sizeof(double)));
  r->sample = memory;
  TRY(arena_allocate(&r->memory, &memory, count, sizeof(double)));
  r->limit = memory;
  TRY(arena_allocate(&r->memory, &memory, count, sizeof(uint32_t)));
  r->next = memory;
  TRY(tree_create(r->mesh, NULL, r->mesh->triangle_count, &faces));
  for (size_t i = 0; i < count; ++i) {
    double *x = r->sample + 3 * i;
    memcpy(x, fine->points + 3 * i * step, 3 * sizeof *x);
    const nearest found = tree_nearest(&faces, x, HUGE_VAL);
    const double limit = LEAVE_SHARE * sqrt(found.distance2) + LEAVE * r->diagonal;
    uint32_t *list = &r->first[faces.triangle[found.at]];
    r->limit[i] = limit * limit;
    r->next[i] = *list;
    *list = (uint32_t)i;
  }
  tree_free(&faces);
  return ABUT_SUCCESS;
}

/* ---- moving vertices ---- */

/* Finds two unit directions perpendicular to a third. */
static void across_of(const double n[3], double u[3], double v[3])
{
  const int least = fabs(n[0]) <= fabs(n[1]) ? (fabs(n[0]) <= fabs(n[2]) ? 0 : 2)
                                             : (fabs(n[1]) <= fabs(n[2]) ? 1 : 2);
  double axis[3] = {0.0, 0.0, 0.0};
  axis[least] = 1.0;
  cross(n, axis, u);
  const double size = length(u);
  for (int k = 0; k < 3; ++k) {
    u[k] /= size;
  }
  cross(n, u, v);
}

static double mean_edge(const relaxer *r, const fan *f, const double x[3])
{
  double sum = 0.0, d[3];
  for (size_t i = 0; i < f->count; ++i) {
    difference(point(r, f->ring[i]), x, d);
    sum += length(d);
  }
  return sum / (double)f->count;
}

/* Gives the trial places of a vertex: half-way to the mean of its neighbours, and around that
 * point. */
static void place_trials(const relaxer *r, uint32_t vertex, const fan *f, double share,
                         double *places)
{
  const double *x = point(r, vertex), *n = r->normal + 3 * (size_t)vertex;
  const double step = share * mean_edge(r, f, x);
  double mean[3] = {0.0, 0.0, 0.0}, u[3], v[3];
  for (size_t i = 0; i < f->count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      mean[k] += (point(r, f->ring[i])[k] - x[k]) / (double)f->count;
    }
  }
  across_of(n, u, v);
  const double upward = dot(mean, n);
  for (size_t k = 0; k < 3; ++k) {
    places[k] = x[k] + 0.5 * (mean[k] - upward * n[k]);
  }
  for (int t = 0; t < AROUND; ++t) {
    static const double cosines[AROUND] = {1.0, 0.5, -0.5, -1.0, -0.5, 0.5};
    static const double half_root3 = 0.86602540378443865;
    const double sine = t % 3 == 0 ? 0.0 : t < 3 ? half_root3 : -half_root3;
    for (int k = 0; k < 3; ++k) {
      places[3 * (t + 1) + k] = x[k] + step * (cosines[t] * u[k] + sine * v[k]);
    }
  }
}

static void accept(relaxer *r, uint32_t vertex, const fan *f, const trial *t, const uint32_t *faces,
                   const double *corners)
{
  memcpy(point(r, vertex), t->at, sizeof t->at);
  memcpy(r->normal + 3 * (size_t)vertex, t->normal, sizeof t->normal);
  for (size_t i = 0; i < f->count; ++i) {
    r->middle[f->sides[i]] = r->middle[r->mesh->across[f->sides[i]]] = t->middle[i];
    r->cost[faces[i]] = t->cost[i];
  }
  share_samples(r, faces, corners, f->count);
}

/* Moves a vertex to the best place that stays near all samples. */
static void move_vertex(relaxer *r, uint32_t vertex, double share)
{
  fan f;
  trial trials[TRIALS];
  double places[3 * TRIALS], normals[3 * TRIALS], corners[9 * DEGREE_MOST], before = 0.0;
  uint32_t faces[DEGREE_MOST];
  bool done[TRIALS];
  size_t count = 0;
  if (r->held[vertex] || !fan_of(r, vertex, &f)) {
    return;
  }
  place_trials(r, vertex, &f, share, places);
  probe_project(r->p, places, TRIALS, normals, done);
  for (size_t t = 0; t < TRIALS; ++t) {
    if (done[t]) {
      memcpy(trials[count].at, places + 3 * t, sizeof trials->at);
      memcpy(trials[count++].normal, normals + 3 * t, sizeof trials->normal);
    }
  }
  cost_trials(r, &f, trials, count);
  for (size_t i = 0; i < f.count; ++i) {
    faces[i] = f.sides[i] / 3;
    before += r->cost[faces[i]];
  }
  while (true) {
    const trial *best = NULL;
    for (size_t t = 0; t < count; ++t) {
      best = trials[t].total < (best ? best->total : before - FALL) ? &trials[t] : best;
    }
    if (!best) {
      return;
    }
    for (size_t i = 0; i < f.count; ++i) {
      put_corners(best->at, point(r, f.ring[i]), point(r, f.ring[(i + 1) % f.count]),
                  corners + 9 * i);
    }
    if (stays_near(r, faces, corners, f.count)) {
      accept(r, vertex, &f, best, faces, corners);
      return;
    }
    trials[best - trials].total = HUGE_VAL;
  }
}

/* ---- turning edges ---- */

/* Whether the edge of a side may be turned: its ends retain three triangles, and the opposite
 * corners do not share an edge yet. */
static bool may_turn(const relaxer *r, uint32_t side)
{
  const uint32_t *corner = r->mesh->triangles, other = r->mesh->across[side];
  const uint32_t c = corner[side_before(side)], d = corner[side_before(other)];
  fan f;
  if (!fan_of(r, corner[side], &f) || f.count < 4 || !fan_of(r, corner[other], &f) || f.count < 4 ||
      !fan_of(r, c, &f) || f.count == DEGREE_MOST) {
    return false;
  }
  for (size_t i = 0; i < f.count; ++i) {
    if (f.ring[i] == d) {
      return false;
    }
  }
  return fan_of(r, d, &f) && f.count < DEGREE_MOST;
}

static void join(relaxer *r, uint32_t side, uint32_t other, double middle)
{
  r->mesh->across[side] = other;
  r->mesh->across[other] = side;
  r->middle[side] = r->middle[other] = middle;
}

/* Turns the edge of a side if that lowers the cost. Returns whether it did. */
static bool turn_edge(relaxer *r, uint32_t side)
{
  uint32_t *corner = r->mesh->triangles, *across = r->mesh->across;
  const uint32_t other = across[side];
  const uint32_t faces[2] = {side / 3, other / 3};
  if (side > other || !may_turn(r, side)) {
    return false;
  }
  const uint32_t a = corner[side], b = corner[other];
  const uint32_t c = corner[side_before(side)], d = corner[side_before(other)];
  const uint32_t outer[4] = {side_next(side), side_before(side), side_next(other),
                             side_before(other)};
  const double *const one[3] = {point(r, a), point(r, d), point(r, c)};
  const double *const two[3] = {point(r, d), point(r, b), point(r, c)};
  double places[9], off[3], upward[9], middle[4], corners[18];
  for (int i = 0; i < 4; ++i) {
    middle[i] = r->middle[outer[i]]; /* of bc, ca, ad, db */
  }
  centre_of(one[0], one[1], one[2], places);
  centre_of(two[0], two[1], two[2], places + 3);
  middle_of(one[1], one[2], places + 6);
  probe_field(r->p, places, 3, off, upward);
  const double across_middle = fabs(off[2]);
  const double middles[2][3] = {{middle[2], across_middle, middle[1]},
                                {middle[3], middle[0], across_middle}};
  const double cost[2] = {face_cost(r, one, middles[0], off[0], upward),
                          face_cost(r, two, middles[1], off[1], upward + 3)};
  put_corners(one[0], one[1], one[2], corners);
  put_corners(two[0], two[1], two[2], corners + 9);
  if (!(cost[0] + cost[1] < r->cost[faces[0]] + r->cost[faces[1]] - FALL) ||
      !stays_near(r, faces, corners, 2)) {
    return false;
  }
  const uint32_t beyond[4] = {across[outer[0]], across[outer[1]], across[outer[2]],
                              across[outer[3]]};
  const uint32_t first = 3 * faces[0], second = 3 * faces[1];
  const uint32_t named[6] = {a, d, c, d, b, c};
  for (uint32_t k = 0; k < 3; ++k) {
    corner[first + k] = named[k];
    corner[second + k] = named[3 + k];
    r->side[named[k]] = first + k;
  }
  r->side[b] = second + 1;
  join(r, first, beyond[2], middle[2]);
  join(r, first + 1, second + 2, across_middle);
  join(r, first + 2, beyond[1], middle[1]);
  join(r, second, beyond[3], middle[3]);
  join(r, second + 1, beyond[0], middle[0]);
  r->cost[faces[0]] = cost[0];
  r->cost[faces[1]] = cost[1];
  share_samples(r, faces, corners, 2);
  return true;
}

static void turn_edges(relaxer *r)
{
  const uint32_t sides = (uint32_t)(3 * r->mesh->triangle_count);
  size_t turned = 1;
  for (int pass = 0; pass < TURNS_MOST && turned; ++pass) {
    turned = 0;
    for (uint32_t i = 0; i < sides; ++i) {
      turned += turn_edge(r, i);
    }
  }
}

/* ---- initial state ---- */

/* Moves all points onto the surface. Points that do not reach it stay where they are. */
static void put_on_surface(relaxer *r)
{
  surface *s = r->mesh;
  for (size_t first = 0; first < s->point_count; first += PROBE_POINTS) {
    const size_t count = s->point_count - first < PROBE_POINTS ? s->point_count - first
                                                               : PROBE_POINTS;
    double places[3 * PROBE_POINTS];
    bool done[PROBE_POINTS];
    memcpy(places, s->points + 3 * first, 3 * count * sizeof *places);
    probe_project(r->p, places, count, r->normal + 3 * first, done);
    for (size_t i = 0; i < count; ++i) {
      if (done[i]) {
        memcpy(s->points + 3 * (first + i), places + 3 * i, 3 * sizeof *places);
      }
    }
  }
}

/* Whether a vertex is a tip, where triangles would cut off the curved surface. */
static bool is_tip(relaxer *r, uint32_t vertex, const fan *f)
{
  const double *x = point(r, vertex), *n = r->normal + 3 * (size_t)vertex,
               step = BEND * r->diagonal;
  double t[2][3], places[12], off[4], normal[12], bend[2][2];
  across_of(n, t[0], t[1]);
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) {
      places[3 * i + k] = x[k] + (i & 1 ? -step : step) * t[i / 2][k];
    }
  }
  probe_field(r->p, places, 4, off, normal);
  for (int i = 0; i < 2; ++i) {
    double d[3];
    difference(normal + 6 * i, normal + 6 * i + 3, d);
    bend[i][0] = dot(d, t[0]) / (2.0 * step);
    bend[i][1] = dot(d, t[1]) / (2.0 * step);
  }
  const double mean = 0.5 * (bend[0][0] + bend[1][1]), half = 0.5 * (bend[0][0] - bend[1][1]);
  const double least = mean - hypot(half, 0.5 * (bend[0][1] + bend[1][0]));
  return least * mean_edge(r, f, x) > TIP;
}

static void cost_faces(relaxer *r)
{
  const surface *s = r->mesh;
  for (uint32_t t = 0; t < s->triangle_count; ++t) {
    const double *const c[3] = {point(r, s->triangles[3 * t]), point(r, s->triangles[3 * t + 1]),
                                point(r, s->triangles[3 * t + 2])};
    double places[12], off[4], upward[12];
    for (int k = 0; k < 3; ++k) {
      middle_of(c[k], c[(k + 1) % 3], places + 3 * k);
    }
    centre_of(c[0], c[1], c[2], places + 9);
    probe_field(r->p, places, 4, off, upward);
    for (int k = 0; k < 3; ++k) {
      r->middle[3 * t + (uint32_t)k] = off[k] = fabs(off[k]);
    }
    r->cost[t] = face_cost(r, c, off, off[3], upward + 9);
  }
}

static abut_status allocate_all(relaxer *r)
{
  const surface *s = r->mesh;
  void *memory;
  TRY(arena_allocate(&r->memory, &memory, s->point_count, 3 * sizeof(double)));
  r->normal = memory;
  TRY(arena_allocate(&r->memory, &memory, s->point_count, 1));
  r->held = memory;
  TRY(arena_allocate(&r->memory, &memory, s->point_count, sizeof(uint32_t)));
  r->side = memory;
  TRY(arena_allocate(&r->memory, &memory, s->triangle_count, 3 * sizeof(double)));
  r->middle = memory;
  TRY(arena_allocate(&r->memory, &memory, s->triangle_count, sizeof(double)));
  r->cost = memory;
  TRY(arena_allocate(&r->memory, &memory, s->triangle_count, sizeof(uint32_t)));
  r->first = memory;
  memset(r->first, 0xff, s->triangle_count * sizeof *r->first);
  return ABUT_SUCCESS;
}

static abut_status begin(relaxer *r, const surface *fine)
{
  surface *s = r->mesh;
  TRY(allocate_all(r));
  for (uint32_t i = 0; i < 3 * s->triangle_count; ++i) {
    r->side[s->triangles[i]] = i;
  }
  put_on_surface(r);
  double area = 0.0;
  for (size_t t = 0; t < s->triangle_count; ++t) {
    double n[3];
    triangle_area(s, t, n);
    area += length(n);
  }
  r->scale = area / (double)s->triangle_count * DEVIATION * r->diagonal;
  for (uint32_t i = 0; i < s->point_count; ++i) {
    fan f;
    r->held[i] = !fan_of(r, i, &f) || is_tip(r, i, &f);
  }
  cost_faces(r);
  return take_samples(r, fine);
}

abut_status relax(probe *p, const surface *fine, size_t sweeps, surface *mesh)
{
  relaxer r = {.p = p, .mesh = mesh, .diagonal = fine->diagonal};
  double share = STEP;
  for (int k = 0; k < 3; ++k) {
    r.origin[k] = 0.5 * (fine->lower[k] + fine->upper[k]);
  }
  const abut_status status = begin(&r, fine);
  for (size_t i = 0; i < sweeps && status == ABUT_SUCCESS; ++i, share *= STEP_FALL) {
    turn_edges(&r);
    for (uint32_t v = 0; v < mesh->point_count; ++v) {
      move_vertex(&r, v, share);
    }
  }
  arena_free(&r.memory);
  return status;
}
