#include "mesh/surface/skin.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/cover.h"
#include "mesh/surface/outline.h"
#include "mesh/surface/regions.h"
#include "mesh/surface/sides.h"
#include "mesh/surface/thin.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAT_SHARE 1e-4 /* of the diagonal: tolerance for flat regions */
#define THIN_SHARE 5e-4 /* the same after vertices have moved */
/* in spacings: beyond this distance from every vertex, a point gets one */
#define UNCOVERED 1.0
#define ROUNDS 3    /* maximum number of thinning rounds */
#define COVERED 0.7 /* in spacings: no vertex is added within this distance */

typedef struct maker {
  const surface *s;
  outline outline;
  cover cover;
  bool covers;
  size_t wanted;
  cover_points points;
  skin *out;
} maker;

static void free_points(cover_points *p)
{
  free(p->at);
  free(p->normal);
  *p = (cover_points){0};
}

/* Sums the area vectors at each point; 0 where there are none. */
static void find_normals(const surface *s, const uint32_t *name, double *normal)
{
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    const uint32_t at = name[s->triangles[i]];
    double area[3];
    triangle_area(s, i / 3, area);
    for (size_t k = 0; k < 3 && at != UINT32_MAX; ++k) {
      normal[3 * (size_t)at + k] += area[k];
    }
  }
}

static void make_unit(double *normal, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    double *n = normal + 3 * i;
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; ++k) {
      n[k] = length > 0.0 ? n[k] / length : 0.0;
    }
  }
}

/* Takes the named points of a surface, with room for more. */
static abut_status take_points(const surface *s, const uint32_t *name, size_t count, size_t room,
                               cover_points *out)
{
  void *memory;
  *out = (cover_points){.count = count};
  TRY(allocate(&memory, room > count ? room : count, 3 * sizeof(double)));
  out->at = memory;
  TRY(allocate(&memory, room > count ? room : count, 3 * sizeof(double)));
  out->normal = memory;
  for (size_t i = 0; i < s->point_count; ++i) {
    const size_t at = name[i];
    if (at != UINT32_MAX) {
      memcpy(out->at + 3 * at, s->points + 3 * i, 3 * sizeof(double));
    }
  }
  find_normals(s, name, out->normal);
  make_unit(out->normal, count);
  return ABUT_SUCCESS;
}

/* Lists the edges of an outline by the points' names, which are in ascending order. */
static abut_status take_edges(const outline *o, const uint32_t *name, skin *out)
{
  void *memory;
  TRY(allocate(&memory, o->edge_count, 2 * sizeof(uint32_t)));
  out->edges = memory;
  out->edge_count = o->edge_count;
  for (size_t i = 0; i < 2 * o->edge_count; ++i) {
    out->edges[i] = name[o->edges[i]];
  }
  return ABUT_SUCCESS;
}

/* Returns the largest possible number of points, given the candidates. */
static size_t room_for(const maker *m, size_t count, size_t most)
{
  const size_t possible = m->covers ? count + m->cover.count : count;
  return possible < most ? possible : most;
}

/* Takes the surface's own vertices at the ends of edges. */
static abut_status take_own(maker *m)
{
  const outline *o = &m->outline;
  void *memory;
  TRY(allocate(&memory, m->s->point_count, sizeof(uint32_t)));
  uint32_t *name = memory, count = 0;
  for (size_t i = 0; i < m->s->point_count; ++i) {
    name[i] = o->is_end[i] ? count++ : UINT32_MAX;
  }
  abut_status status = take_edges(o, name, m->out);
  if (status == ABUT_SUCCESS) {
    status = take_points(m->s, name, count, room_for(m, count, m->wanted), &m->points);
  }
  free(name);
  return status;
}

/* Names the points of triangles that do not close holes. Returns their number. */
static size_t name_points(const surface *s, uint32_t *name)
{
  uint32_t count = 0;
  memset(name, 0xff, s->point_count * sizeof *name);
  for (size_t i = 0; i < 3 * (s->triangle_count - s->closing_count); ++i) {
    name[s->triangles[i]] = 0;
  }
  for (size_t i = 0; i < s->point_count; ++i) {
    name[i] = name[i] ? UINT32_MAX : count++;
  }
  return count;
}

/* Returns the number of further vertices that a thinned surface needs for covering. */
static abut_status count_needed(maker *m, const surface *s, const uint32_t *name, size_t own,
                                size_t *needed)
{
  cover_points trial = {0};
  const size_t room = room_for(m, own, own + m->wanted);
  const abut_status status = take_points(s, name, own, room, &trial);
  if (status == ABUT_SUCCESS) {
    cover_fill(&m->cover, &trial, UNCOVERED * m->cover.spacing, room);
  }
  *needed = trial.count - own;
  free_points(&trial);
  return status;
}

/* Thins so far that the vertices needed for covering fit too. name: room for the surface's points.
 * *own: the number of remaining vertices. */
static abut_status thin(maker *m, thinner *t, surface *out, uint32_t *name, size_t *own)
{
  size_t target = m->wanted, needed = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    surface_free(out);
    thin_to(t, target);
    TRY(thin_surface(t, out));
    *own = name_points(out, name);
    if (*own >= m->wanted && round) {
      break;
    }
    TRY(count_needed(m, out, name, *own, &needed));
    if (*own + needed <= m->wanted) {
      break;
    }
    target = needed < m->wanted / 2 ? m->wanted - needed : m->wanted / 2;
  }
  return ABUT_SUCCESS;
}

/* All vertices of a thinned surface are retained. Where edges between them are too blunt to be true
 * edges, they are still the best available vertices. */
static abut_status take_thinned(maker *m)
{
  surface s = {0};
  thinner t = {0};
  outline o = {0};
  void *name = NULL;
  size_t own = 0;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(thin_create(m->s, &t));
  TRY_DONE(allocate(&name, t.vertex_count, sizeof(uint32_t)));
  TRY_DONE(thin(m, &t, &s, name, &own));
  TRY_DONE(surface_pair_sides(&s));
  TRY_DONE(outline_create(&s, THIN_SHARE * s.diagonal, &o));
  TRY_DONE(take_edges(&o, name, m->out));
  TRY_DONE(take_points(&s, name, own, room_for(m, own, m->wanted), &m->points));
  m->out->thinned = m->outline.end_count > own ? m->outline.end_count - own : 0;
done:
  thin_free(&t);
  outline_free(&o);
  free(name);
  surface_free(&s);
  return status;
}

static abut_status make(maker *m)
{
  const surface *s = m->s;
  TRY(outline_create(s, FLAT_SHARE * s->diagonal, &m->outline));
  m->out->merged = m->outline.merged;
  if (m->wanted < UINT32_MAX) {
    TRY(cover_create(s, m->outline.region, m->wanted, &m->cover));
    m->covers = true;
  }
  TRY(m->outline.end_count > m->wanted ? take_thinned(m) : take_own(m));
  const size_t own = m->points.count;
  if (m->covers) {
    cover_fill(&m->cover, &m->points, COVERED * m->cover.spacing, m->wanted);
  }
  m->out->added = m->points.count - own;
  if (!m->points.count) {
    return fail(ABUT_ERROR_BODY, "every face of the mesh has area 0");
  }
  m->out->vertices = m->points.at;
  m->out->vertex_count = m->points.count;
  m->points.at = NULL;
  return ABUT_SUCCESS;
}

abut_status skin_create(const surface *s, size_t vertices, skin *out)
{
  maker m = {.s = s, .wanted = vertices ? vertices : SKIN_VERTICES, .out = out};
  *out = (skin){0};
  const abut_status status = make(&m);
  free_points(&m.points);
  outline_free(&m.outline);
  if (m.covers) {
    cover_free(&m.cover);
  }
  if (status != ABUT_SUCCESS) {
    skin_free(out);
  }
  return status;
}

void skin_free(skin *s)
{
  free(s->vertices);
  free(s->edges);
  *s = (skin){0};
}
