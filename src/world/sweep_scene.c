/* Data of a scene that sweeps: meshes of its bodies, their outward directions, and settings of its
 * pairs. */
#include "base/error.h"
#include "world/extent.h"
#include "world/law/law.h"
#include "scene/file.h"
#include "world/sweep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* share of the smaller body's radius: `half` of a pair if unknown */
#define UNKNOWN_HALF 0.01
#define APART 0.01 /* share of `half`, or of the smaller body's radius if that is less */
/* share of that: the distance at which bodies count as touching, and its certified accuracy */
#define CERTIFIED 0.125

/* ---- meshes ---- */

static bool is_swept(const scene_pair *p)
{
  return p->sweep_half > 0.0;
}

/* Returns the first body with the same handle, which may be the body itself. */
static size_t first_of(const loaded_scene *s, size_t number)
{
  size_t i = 0;
  while (s->bodies[i].index != s->bodies[number].index ||
         s->bodies[i].generation != s->bodies[number].generation) {
    ++i;
  }
  return i;
}

size_t sweep_body(const loaded_scene *s, const scene_pair *p, int side)
{
  return first_of(s, scene_pair_body(&s->def, p, side));
}

ccd_mesh *sweep_mesh(const loaded_scene *s, const scene_pair *p, int side)
{
  return ccd_mesh_get(s->meshes[sweep_body(s, p, side)]);
}

static abut_status make_mesh(loaded_scene *s, const scene_pair *p, int side)
{
  const size_t first = sweep_body(s, p, side);
  return s->meshes[first].generation
           ? ABUT_SUCCESS
           : abut_create_body_ccd_mesh(s->bodies[first], &s->meshes[first]);
}

void sweep_destroy_meshes(loaded_scene *s)
{
  for (size_t i = 0; s->meshes && i < s->body_count; ++i) {
    ccd_mesh *m = s->meshes[i].generation ? ccd_mesh_get(s->meshes[i]) : NULL;
    if (m) {
      context_discard(m->context, &m->base);
    }
    s->meshes[i] = (abut_ccd_mesh){0, 0};
  }
}

/* ---- pairs ---- */

/* Nothing passes through a half-space, since it has no far side. Another plane also stops bodies
 * thinner than its depth: the law would push them back, but from far below. */
static void measure(const scene_def *s, scene_pair *p)
{
  const bool plane = scene_side(s, p, 0)->shape == SHAPE_PLANE ||
                     scene_side(s, p, 1)->shape == SHAPE_PLANE;
  const double smaller = fmin(p->ball[0][3], p->ball[1][3]);
  p->sweep_half = plane && s->law->half_spaces ? 0.0
                  : p->thin > 0.0              ? p->thin
                                               : UNKNOWN_HALF * smaller;
  p->apart = APART * fmin(p->sweep_half, smaller);
}

/* A surface may extend slightly beyond the contact mesh that samples it; the pair's bounding sphere
 * was computed from the mesh. */
static abut_status widen_ball(const loaded_scene *s, scene_pair *p, int side)
{
  const abut_ccd_mesh_info *m = &sweep_mesh(s, p, side)->info;
  extent of;
  double square = 0.0;
  TRY(extent_of(s, p, side, &of));
  for (int k = 0; k < 3; ++k) {
    const double beyond = fmax(of.lower[k] - m->lower[k], m->upper[k] - of.upper[k]);
    square += beyond > 0.0 ? beyond * beyond : 0.0;
  }
  p->ball[side][3] += sqrt(square);
  return ABUT_SUCCESS;
}

/* Makes the mesh of a body of a pair; an error names the body's place in the file. */
static abut_status load_side(loaded_scene *s, const scene_pair *p, int side)
{
  const bool file = scene_side(&s->def, p, side)->shape == SHAPE_FILE;
  const scene_place place = {"links", (size_t)p->link[side], "bodies", true, (size_t)p->body[side]};
  return scene_blame(&s->def, place, file ? "its file, " : "", make_mesh(s, p, side));
}

static abut_status fit_pair(const loaded_scene *s, scene_pair *p)
{
  TRY(widen_ball(s, p, 0));
  TRY(widen_ball(s, p, 1));
  const ccd_room room = ccd_room_of(sweep_mesh(s, p, 0), sweep_mesh(s, p, 1));
  return ccd_check_room(&room);
}

static abut_status load_pair(loaded_scene *s, size_t i)
{
  scene_pair *p = &s->def.pairs[i];
  measure(&s->def, p);
  if (!is_swept(p)) {
    return ABUT_SUCCESS;
  }
  TRY(load_side(s, p, 0));
  TRY(load_side(s, p, 1));
  return scene_blame(&s->def, scene_pair_place(&s->def, i), "", fit_pair(s, p));
}

abut_status sweep_load(loaded_scene *s)
{
  void *memory = NULL;
  TRY(scene_need_bodies(s));
  TRY(allocate(&memory, s->body_count + 1, sizeof *s->meshes));
  s->meshes = memory;
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    TRY(load_pair(s, i));
  }
  return ABUT_SUCCESS;
}

/* ---- settings ---- */

/* Finds the point in a body's own frame about which its link rotates: its joint. */
static void find_centre(const scene_def *s, const scene_pair *p, int side, double out[3])
{
  const scene_body *b = scene_side(s, p, side);
  const double *about = s->links[p->link[side]].joint.position, *q = b->quaternion;
  double from[3], across[3], twice[3];
  for (int k = 0; k < 3; ++k) {
    from[k] = about[k] - b->position[k];
  }
  for (int k = 0; k < 3; ++k) { /* inverse rotation */
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    across[k] = -2.0 * (q[1 + i] * from[j] - q[1 + j] * from[i]);
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    twice[k] = -(q[1 + i] * across[j] - q[1 + j] * across[i]);
    out[k] = from[k] + q[0] * across[k] + twice[k];
  }
}

static abut_status upload_settings(const scene_def *s, const scene_pair *p, device *d, buffer **out)
{
  ccd_settings of = {.separation = CERTIFIED * p->apart,
                     .tolerance = CERTIFIED * p->apart,
                     .exact = true};
  find_centre(s, p, 0, of.centre[0]);
  find_centre(s, p, 1, of.centre[1]);
  return ccd_settings_upload(d, &of, out);
}

/* ---- directions ---- */

static int compare_edges(const void *a_, const void *b_)
{
  const uint32_t *a = a_, *b = b_;
  return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Sets the normal of a triangle by its orientation, and adds its contribution to the enclosed
 * volume. */
static void put_triangle(const ccd_mesh *m, const uint32_t *t, double *normal, double *volume)
{
  const double *a = m->vertices + 3 * (size_t)t[0], *b = m->vertices + 3 * (size_t)t[1],
               *c = m->vertices + 3 * (size_t)t[2];
  double length = 0.0;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    normal[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
    length += normal[k] * normal[k];
    *volume += a[k] * normal[k] / 6.0;
  }
  for (int k = 0; k < 3 && length > 0.0; ++k) {
    normal[k] /= sqrt(length);
  }
}

/* Adds a triangle's normal to those of its edges. balance counts for each edge how many more
 * triangles run in one direction than in the other. */
static void add_to_edges(const ccd_mesh *m, const uint32_t *t, const double *normal, double *edges,
                         int *balance)
{
  for (int k = 0; k < 3; ++k) {
    const uint32_t a = t[k], b = t[(k + 1) % 3], ends[2] = {a < b ? a : b, a < b ? b : a};
    const uint32_t *found = bsearch(ends, m->edges, m->info.edges, sizeof ends, compare_edges);
    if (found) {
      const size_t at = (size_t)(found - m->edges) / 2;
      balance[at] += a < b ? 1 : -1;
      for (int i = 0; i < 3; ++i) {
        edges[3 * at + (size_t)i] += normal[i];
      }
    }
  }
}

/* Fills directions (triangles + edges, 3): the outward direction of a closed mesh at each triangle,
 * then at each edge the sum over its triangles. All are 0 for an open mesh, which has no inside. */
static void find_outward(const ccd_mesh *m, double *out, int *balance)
{
  const size_t triangles = m->info.triangles;
  double volume = 0.0;
  bool closed = true;
  for (size_t i = 0; i < triangles; ++i) {
    put_triangle(m, m->triangles + 3 * i, out + 3 * i, &volume);
    add_to_edges(m, m->triangles + 3 * i, out + 3 * i, out + 3 * triangles, balance);
  }
  for (size_t i = 0; i < m->info.edges; ++i) {
    closed = closed && !balance[i];
  }
  const double sign = !closed ? 0.0 : volume > 0.0 ? 1.0 : -1.0;
  for (size_t i = 0; i < 3 * (triangles + m->info.edges); ++i) {
    out[i] *= sign;
  }
}

static abut_status upload_outward(const ccd_mesh *m, device *d, buffer **out)
{
  const size_t count = m->info.triangles + m->info.edges;
  abut_status status = ABUT_SUCCESS;
  void *directions = NULL, *balance = NULL;
  reals packed = {0};
  TRY_DONE(allocate(&directions, count + 1, 3 * sizeof(double)));
  TRY_DONE(allocate(&balance, m->info.edges + 1, sizeof(int)));
  TRY_DONE(reals_create(&packed, 3 * count + 1, device_real_bytes(d)));
  find_outward(m, directions, balance);
  for (size_t i = 0; i < 3 * count; ++i) {
    reals_set(&packed, i, ((double *)directions)[i]);
  }
  status = buffer_upload(d, packed.count * packed.size, packed.data, out);
done:
  free(directions);
  free(balance);
  free(packed.data);
  return status;
}

/* ---- on a device ---- */

static abut_status upload_pair(const loaded_scene *s, size_t i, device *d, resident_sweep *r)
{
  const scene_pair *p = &s->def.pairs[i];
  if (!is_swept(p)) {
    return ABUT_SUCCESS;
  }
  for (int side = 0; side < 2; ++side) {
    buffer **outward = &r->outward[sweep_body(s, p, side)];
    TRY(*outward ? ABUT_SUCCESS : upload_outward(sweep_mesh(s, p, side), d, outward));
  }
  return upload_settings(&s->def, p, d, &r->settings[i]);
}

static abut_status upload_pairs(const loaded_scene *s, device *d, resident_sweep *r)
{
  void *memory = NULL;
  TRY(allocate(&memory, s->def.pair_count + 1, sizeof *r->settings));
  r->settings = memory;
  r->pairs = s->def.pair_count;
  TRY(allocate(&memory, s->body_count + 1, sizeof *r->outward));
  r->outward = memory;
  r->bodies = s->body_count;
  for (size_t i = 0; i < s->def.pair_count; ++i) {
    TRY(upload_pair(s, i, d, r));
  }
  return ABUT_SUCCESS;
}

void sweep_free(resident_sweep *r)
{
  for (size_t i = 0; r && i < r->pairs; ++i) {
    buffer_destroy(r->settings[i]);
  }
  for (size_t i = 0; r && i < r->bodies; ++i) {
    buffer_destroy(r->outward[i]);
  }
  if (r) {
    free(r->settings);
    free(r->outward);
    free(r);
  }
}

abut_status sweep_upload(const loaded_scene *s, device *d, resident_sweep **out)
{
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(resident_sweep)));
  const abut_status status = upload_pairs(s, d, memory);
  if (status != ABUT_SUCCESS) {
    sweep_free(memory);
    return status;
  }
  *out = memory;
  return ABUT_SUCCESS;
}
