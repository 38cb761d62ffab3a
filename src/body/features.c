#include "body/features.h"

#include "base/error.h"
#include "base/memory.h"
#include "body/cones.h"
#include "body/feature_check.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* [rad] A vertex with a cone of less than 1 degree makes no contact. */
#define FLAT 1.7453292519943295e-2
#define DEGREE 1.7453292519943295e-2
/* of the extent: tolerance for vertices on the border of the ground */
#define RIM_SHARE 1e-9

void body_features_free(body_features *f)
{
  free(f->vertices);
  free(f->names);
  free(f->edges);
  free(f->edge_names);
  free(f->vertex_cones);
  free(f->edge_cones);
  *f = (body_features){0};
}

/* Features during construction, with all indices of the mesh or of the stated vertices. */
typedef struct draft {
  size_t vertex_count, edge_count;
  double *vertices; /* (vertex_count, 4) */
  double *vertex_cones;
  abut_feature_edge *edges; /* (edge_count), from < to */
  uint32_t *edge_names;
  double *edge_cones;
  bool of_surface;
} draft;

static void draft_free(draft *d)
{
  free(d->vertices);
  free(d->vertex_cones);
  free(d->edges);
  free(d->edge_names);
  free(d->edge_cones);
}

static abut_status draft_vertices(size_t count, draft *d)
{
  void *memory = NULL;
  d->vertex_count = count;
  TRY(allocate(&memory, count, 4 * sizeof *d->vertices));
  d->vertices = memory;
  TRY(allocate(&memory, count, 4 * sizeof *d->vertex_cones));
  d->vertex_cones = memory;
  cones_of_every(d->vertex_cones, count);
  return ABUT_SUCCESS;
}

static abut_status draft_edges(size_t count, draft *d)
{
  void *memory = NULL;
  d->edge_count = count;
  TRY(allocate(&memory, count, sizeof *d->edges));
  d->edges = memory;
  TRY(allocate(&memory, count, sizeof *d->edge_names));
  d->edge_names = memory;
  TRY(allocate(&memory, count, 4 * sizeof *d->edge_cones));
  d->edge_cones = memory;
  cones_of_every(d->edge_cones, count);
  return ABUT_SUCCESS;
}

/* ---- stated features ---- */

static abut_status draft_stated(const kept_features *f, draft *d)
{
  TRY(draft_vertices(f->vertex_count, d));
  if (f->vertex_count) {
    memcpy(d->vertices, f->vertices, f->vertex_count * 4 * sizeof *d->vertices);
  }
  TRY(draft_edges(f->edge_count, d));
  for (size_t i = 0; i < f->edge_count; ++i) {
    d->edges[i] = feature_edge_settled(&f->edges[i], f->vertices);
    d->edge_names[i] = (uint32_t)i;
  }
  return ABUT_SUCCESS;
}

static void settle_cone(const double given[4], double out[4])
{
  const double most = fmax(fmax(fabs(given[0]), fabs(given[1])), fabs(given[2]));
  if (most > 0.0) {
    const double scaled[3] = {given[0] / most, given[1] / most, given[2] / most};
    const double length = sqrt(dot(scaled, scaled));
    for (int k = 0; k < 3; ++k) {
      out[k] = scaled[k] / length;
    }
  }
  out[3] = given[3] >= 180.0 ? CONE_EVERY : given[3] * DEGREE;
}

/* Assigns given cones to edges by their ends. */
static abut_status take_edge_cones(const kept_features *f, draft *d)
{
  void *memory = NULL;
  const size_t count = f->edge_cone_count;
  TRY(allocate(&memory, count + d->edge_count, sizeof(coded_edge)));
  coded_edge *given = memory, *wanted = given + count;
  for (size_t i = 0; i < count; ++i) {
    given[i] =
      (coded_edge){edge_code(f->edge_cone_ends[2 * i], f->edge_cone_ends[2 * i + 1]), (uint32_t)i};
  }
  for (size_t i = 0; i < d->edge_count; ++i) {
    wanted[i] = (coded_edge){edge_code(d->edges[i].from, d->edges[i].to), (uint32_t)i};
  }
  sort_coded(given, count);
  sort_coded(wanted, d->edge_count);
  for (size_t i = 0, k = 0; i < d->edge_count; ++i) {
    while (k < count && given[k].code < wanted[i].code) {
      ++k;
    }
    if (k < count && given[k].code == wanted[i].code) {
      settle_cone(f->edge_cones + 4 * (size_t)given[k].index,
                  d->edge_cones + 4 * (size_t)wanted[i].index);
    }
  }
  free(memory);
  return ABUT_SUCCESS;
}

static abut_status take_given_cones(const kept_features *f, draft *d)
{
  for (size_t i = 0; i < f->vertex_cone_count; ++i) {
    settle_cone(f->vertex_cones + 4 * i, d->vertex_cones + 4 * i);
  }
  if (f->edge_cone_ends) {
    return take_edge_cones(f, d);
  }
  for (size_t i = 0; i < f->edge_cone_count; ++i) {
    settle_cone(f->edge_cones + 4 * i, d->edge_cones + 4 * i);
  }
  return ABUT_SUCCESS;
}

/* ---- features of the mesh ---- */

static abut_surface mesh_of(const body *b)
{
  return (abut_surface){b->vertices, b->info.vertices, b->face_sizes, b->face_indices,
                        b->info.faces};
}

static abut_surface surface_of(const body *b)
{
  const body_parts *p = &b->parts;
  return (abut_surface){p->surface_vertices, p->surface_vertex_count, p->surface_sizes,
                        p->surface_indices, p->surface_face_count};
}

/* Removes chosen edges of zero length, and all but the first of coinciding chosen edges. */
static abut_status leave_out_repeated(const body *b, const mesh_faces *m, bool *chosen)
{
  void *memory = NULL;
  TRY(allocate(&memory, b->info.edges, sizeof(coded_edge)));
  coded_edge *at = memory;
  size_t count = 0;
  for (size_t i = 0; i < b->info.edges; ++i) {
    const uint32_t from = m->place[b->edges[2 * i]], to = m->place[b->edges[2 * i + 1]];
    chosen[i] = chosen[i] && from != to;
    if (chosen[i]) {
      at[count++] = (coded_edge){edge_code(from, to), (uint32_t)i};
    }
  }
  sort_coded(at, count);
  for (size_t i = 1; i < count; ++i) {
    chosen[at[i].index] = at[i].code != at[i - 1].code;
  }
  free(memory);
  return ABUT_SUCCESS;
}

/* Between the ends of long facets, such as those of a cylinder, no vertex could touch. So their
 * edges are features although they are not sharp, if a body of the same curvature would sink in by
 * more between two vertices than between two normals that are FACET_TURN apart. Of fine curves only
 * so many edges are features that the normals between them turn by about as much.
 *
 * A chord of length L of a curve of radius r is L^2/(8 r) below it. This depth may be
 * FACET_TURN^2/8 of the radius, or of a quarter of the body's diagonal if that is less. */
#define FACET_TURN (10.0 * DEGREE)
#define FACET_LENGTH 2.2           /* least length of such an edge, in widths of its faces */
#define FACET_LEAST (0.1 * DEGREE) /* flatter edges belong to a single flat face */
#define FACET_SHARE 0.25           /* of the diagonal */
#define FACET_LEVELS 6

/* Gives the cell of a direction on a sphere that is divided into cells of about `turn` [rad]. Cells
 * of half the turn divide these. The axes of a mesh are not on the cells' borders. */
static void cell_of(const double direction[3], double turn, int cell[3])
{
  static const double turned[3][3] = {{0.70, 0.61, -0.37},
                                      {-0.48, 0.81, 0.34},
                                      {0.51, -0.06, 0.86}}; /* nearly a rotation */
  double d[3];
  int most = 0;
  for (int k = 0; k < 3; ++k) {
    d[k] = dot(turned[k], direction);
    most = fabs(d[k]) > fabs(d[most]) ? k : most;
  }
  cell[0] = d[most] < 0.0 ? -1 - most : most;
  for (int k = 1; k < 3; ++k) {
    cell[k] = (int)floor(atan(d[(most + k) % 3] / d[most]) / turn);
  }
}

/* Whether an edge between long facets is a feature of a body of this diagonal. */
static bool is_of_facets(const fold *f, double diagonal)
{
  if (!(f->angle > FACET_LEAST && f->length > FACET_LENGTH * f->width)) {
    return false;
  }
  const double radius = f->width / f->angle, allowed = fmin(radius, FACET_SHARE * diagonal);
  if (!(f->length > FACET_TURN * sqrt(radius * allowed))) {
    return false;
  }
  double turn = FACET_TURN;
  for (int k = 0; k < FACET_LEVELS && turn * sqrt(radius) > FACET_TURN * sqrt(allowed); ++k) {
    turn *= 0.5;
  }
  int cells[2][3];
  cell_of(f->normals[0], turn, cells[0]);
  cell_of(f->normals[1], turn, cells[1]);
  return memcmp(cells[0], cells[1], sizeof cells[0]) != 0;
}

static bool is_feature(const fold *f, double sharp, double diagonal)
{
  return f->kind == FOLD_BARE || f->kind == FOLD_OPEN ||
         (f->kind == FOLD_CONVEX && (f->angle > sharp || is_of_facets(f, diagonal)));
}

/* Adds the chosen edges of the body, with cones of the mesh unless m is NULL. */
static abut_status draft_chosen(const body *b, const mesh_faces *m, const bool *chosen, draft *d)
{
  size_t count = 0, at = 0;
  for (size_t i = 0; i < b->info.edges; ++i) {
    count += chosen[i];
  }
  TRY(draft_edges(count, d));
  for (size_t i = 0; i < b->info.edges; ++i) {
    const uint32_t from = b->edges[2 * i], to = b->edges[2 * i + 1];
    if (!chosen[i]) {
      continue;
    }
    d->edges[at] = (abut_feature_edge){.from = from, .to = to};
    d->edge_names[at] = (uint32_t)i;
    if (m) {
      const fold f = mesh_fold(m, from, to);
      memcpy(d->edge_cones + 4 * at, f.cone, sizeof f.cone);
    }
    ++at;
  }
  return ABUT_SUCCESS;
}

/* m: NULL without faces. */
static abut_status choose_edges(const body *b, const mesh_faces *m, bool mesh_cones, draft *d)
{
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL;
  TRY(allocate(&memory, b->info.edges, sizeof(bool)));
  bool *chosen = memory;
  for (size_t i = 0; i < b->info.edges; ++i) {
    const fold f = m ? mesh_fold(m, b->edges[2 * i], b->edges[2 * i + 1])
                     : (fold){.kind = FOLD_BARE};
    chosen[i] = is_feature(&f, b->parts.features.sharp * DEGREE, b->info.diagonal);
  }
  if (m && mesh_cones) {
    TRY_DONE(leave_out_repeated(b, m, chosen));
  }
  TRY_DONE(draft_chosen(b, mesh_cones ? m : NULL, chosen, d));
done:
  free(memory);
  return status;
}

/* At the ends of edges without faces, and at all coinciding points, cones contain all normals. */
static void open_bare_ends(const body *b, const mesh_faces *m, double *cones)
{
  for (size_t i = 0; i < b->info.edges; ++i) {
    const uint32_t *ends = b->edges + 2 * i;
    if (mesh_fold(m, ends[0], ends[1]).kind == FOLD_BARE) {
      cones_of_every(cones + 4 * (size_t)m->place[ends[0]], 1);
      cones_of_every(cones + 4 * (size_t)m->place[ends[1]], 1);
    }
  }
  for (size_t i = 0; i < m->point_count; ++i) {
    if (m->place[i] != i) {
      memcpy(cones + 4 * i, cones + 4 * (size_t)m->place[i], 4 * sizeof *cones);
    }
  }
}

/* Gives the cones of the draft's vertices. These are the mesh's vertices with `own`, otherwise the
 * last points of the mesh. */
static abut_status take_vertex_cones(const body *b, const mesh_faces *m, bool own, draft *d)
{
  void *memory = NULL;
  TRY(allocate(&memory, m->point_count, 4 * sizeof(double)));
  double *cones = memory;
  const abut_status status = mesh_vertex_cones(m, cones);
  if (status == ABUT_SUCCESS && d->vertex_count) {
    if (b->info.faces) {
      open_bare_ends(b, m, cones);
    }
    memcpy(d->vertex_cones, cones + (own ? 0 : 4 * m->of.vertex_count),
           d->vertex_count * 4 * sizeof *cones);
  }
  free(memory);
  return status;
}

static abut_status draft_mesh(const body *b, bool mesh_cones, draft *d)
{
  const abut_surface faces = mesh_of(b);
  mesh_faces m = {0};
  abut_status status = ABUT_SUCCESS;
  TRY(draft_vertices(b->info.vertices, d));
  for (size_t i = 0; i < b->info.vertices; ++i) {
    memcpy(d->vertices + 4 * i, b->vertices + 3 * i, 3 * sizeof *d->vertices);
  }
  if (!b->info.faces) {
    return choose_edges(b, NULL, false, d);
  }
  TRY(mesh_faces_make(&faces, mesh_cones, NULL, 0, 0, &m));
  TRY_DONE(choose_edges(b, &m, mesh_cones, d));
  if (mesh_cones) {
    TRY_DONE(take_vertex_cones(b, &m, true, d));
  }
done:
  mesh_faces_free(&m);
  return status;
}

/* maximum number of a surface's vertices, without flat ones, that serve as features */
#define SURFACE_FEATURES 4096

static size_t count_held(const draft *d)
{
  size_t count = 0;
  for (size_t i = 0; i < d->vertex_count; ++i) {
    count += d->vertex_cones[4 * i + 3] >= FLAT;
  }
  return count;
}

/* If a body's contact mesh has no faces, takes the vertices and edges of its surface with their
 * cones. If these are too many, or there is no surface, takes those of the contact mesh. */
static abut_status draft_surface(const body *b, draft *d)
{
  const abut_surface s = surface_of(b);
  abut_body_def def = abut_default_body_def();
  body of = {.parts = {.features = {.sharp = b->parts.features.sharp}}};
  if (!s.face_count) {
    return draft_mesh(b, true, d);
  }
  def.vertices = of.vertices = b->parts.surface_vertices;
  def.vertex_count = of.info.vertices = s.vertex_count;
  of.info.diagonal = b->info.diagonal;
  def.face_sizes = of.face_sizes = b->parts.surface_sizes;
  def.face_indices = of.face_indices = b->parts.surface_indices;
  def.face_count = of.info.faces = s.face_count;
  TRY(make_edges(&def, &of.edges, &of.info.edges));
  const abut_status status = draft_mesh(&of, true, d);
  free(of.edges);
  if (status == ABUT_SUCCESS && count_held(d) > SURFACE_FEATURES) {
    draft_free(d);
    *d = (draft){0};
    return draft_mesh(b, true, d);
  }
  d->of_surface = true;
  return status;
}

/* Stated features at the mesh's vertices or on its edges get the cones of these. */
static abut_status take_cones_beside(const body *b, draft *d)
{
  const abut_surface faces = mesh_of(b);
  const size_t first = b->info.vertices;
  mesh_faces m = {0};
  abut_status status = ABUT_SUCCESS;
  TRY(mesh_faces_make(&faces, true, d->vertices, 4, d->vertex_count, &m));
  TRY_DONE(take_vertex_cones(b, &m, false, d));
  for (size_t i = 0; i < d->edge_count; ++i) {
    const abut_feature_edge *e = &d->edges[i];
    if (!e->arc) {
      const fold f = mesh_fold(&m, (uint32_t)(first + e->from), (uint32_t)(first + e->to));
      memcpy(d->edge_cones + 4 * i, f.cone, sizeof f.cone);
    }
  }
done:
  mesh_faces_free(&m);
  return status;
}

/* ---- height fields ---- */

/* Makes cones at the rim of the ground contain every normal. The surface's walls begin there, and
 * their faces are not used. */
static void open_rim(const abut_surface *s, draft *d)
{
  double lower[3], upper[3];
  for (int k = 0; k < 3; ++k) {
    lower[k] = upper[k] = s->vertices[k];
    for (size_t i = 1; i < s->vertex_count; ++i) {
      lower[k] = fmin(lower[k], s->vertices[3 * i + (size_t)k]);
      upper[k] = fmax(upper[k], s->vertices[3 * i + (size_t)k]);
    }
  }
  const double near = RIM_SHARE * fmax(upper[0] - lower[0], upper[1] - lower[1]);
  for (size_t i = 0; i < d->vertex_count; ++i) {
    const double *v = d->vertices + 4 * i;
    bool at_side = false;
    for (int k = 0; k < 2; ++k) {
      at_side = at_side || v[k] <= lower[k] + near || v[k] >= upper[k] - near;
    }
    if (at_side && v[2] > lower[2] + RIM_SHARE * (upper[2] - lower[2])) {
      cones_of_every(d->vertex_cones + 4 * i, 1);
    }
  }
}

/* Takes the cones of a height field's surface for the contact mesh's vertices on it. The cones of
 * others contain every normal. */
static abut_status take_ground_cones(const body *b, draft *d)
{
  const abut_surface ground = surface_of(b);
  mesh_faces m = {0};
  TRY(mesh_faces_make(&ground, true, d->vertices, 4, d->vertex_count, &m));
  const abut_status status = take_vertex_cones(b, &m, false, d);
  if (status == ABUT_SUCCESS) {
    open_rim(&ground, d);
  }
  mesh_faces_free(&m);
  return status;
}

/* ---- all of it ---- */

static abut_status draft_features(const body *b, bool with_cones, draft *d)
{
  const kept_features *f = &b->parts.features;
  const bool mesh_cones = with_cones && f->cones == ABUT_CONES_OF_MESH;
  const bool bare = mesh_cones && !b->info.faces && !b->info.height_fields;
  TRY(f->stated ? draft_stated(f, d) : bare ? draft_surface(b, d) : draft_mesh(b, mesh_cones, d));
  if (with_cones && f->cones == ABUT_CONES_GIVEN) {
    return take_given_cones(f, d);
  }
  if (mesh_cones && f->stated && b->info.faces) {
    return take_cones_beside(b, d);
  }
  if (mesh_cones && !f->stated && !b->info.faces && b->info.height_fields &&
      b->parts.surface_face_count) {
    return take_ground_cones(b, d);
  }
  return ABUT_SUCCESS;
}

static abut_status make_room(size_t vertices, size_t edges, body_features *out)
{
  void *memory = NULL;
  TRY(allocate(&memory, vertices, 4 * sizeof *out->vertices));
  out->vertices = memory;
  TRY(allocate(&memory, vertices, 4 * sizeof *out->vertex_cones));
  out->vertex_cones = memory;
  TRY(allocate(&memory, vertices, sizeof *out->names));
  out->names = memory;
  TRY(allocate(&memory, edges, sizeof *out->edges));
  out->edges = memory;
  TRY(allocate(&memory, edges, sizeof *out->edge_names));
  out->edge_names = memory;
  TRY(allocate(&memory, edges, 4 * sizeof *out->edge_cones));
  out->edge_cones = memory;
  return ABUT_SUCCESS;
}

static void put_vertex(const draft *d, size_t from, body_features *out, uint32_t *place)
{
  const size_t to = out->vertex_count++;
  memcpy(out->vertices + 4 * to, d->vertices + 4 * from, 4 * sizeof *out->vertices);
  memcpy(out->vertex_cones + 4 * to, d->vertex_cones + 4 * from, 4 * sizeof *out->vertex_cones);
  out->names[to] = (uint32_t)from;
  place[from] = (uint32_t)to;
}

/* Writes the vertices that may be in contact, followed by those that only edges need. */
static void put_vertices(const draft *d, body_features *out, uint32_t *place)
{
  for (size_t i = 0; i < d->vertex_count; ++i) {
    place[i] = UINT32_MAX;
    if (d->vertex_cones[4 * i + 3] >= FLAT) {
      put_vertex(d, i, out, place);
    }
  }
  out->held = out->vertex_count;
  for (size_t i = 0; i < 2 * d->edge_count; ++i) {
    const uint32_t end = i % 2 ? d->edges[i / 2].to : d->edges[i / 2].from;
    if (place[end] == UINT32_MAX) {
      put_vertex(d, end, out, place);
    }
  }
}

/* Writes the edges in the order of their new ends. */
static void put_edges(const draft *d, const uint32_t *place, coded_edge *order, body_features *out)
{
  for (size_t i = 0; i < d->edge_count; ++i) {
    order[i] = (coded_edge){edge_code(place[d->edges[i].from], place[d->edges[i].to]), (uint32_t)i};
  }
  sort_coded(order, d->edge_count);
  out->edge_count = d->edge_count;
  for (size_t i = 0; i < d->edge_count; ++i) {
    const size_t from = order[i].index;
    abut_feature_edge e = d->edges[from];
    e.from = place[e.from];
    e.to = place[e.to];
    out->edges[i] = feature_edge_settled(&e, out->vertices);
    out->edge_names[i] = d->edge_names[from];
    memcpy(out->edge_cones + 4 * i, d->edge_cones + 4 * from, 4 * sizeof *out->edge_cones);
  }
}

/* Appends the quarters of the circles after the other edges, and their ends after the other
 * vertices. */
static void put_circles(const kept_features *f, body_features *out)
{
  const uint32_t others = (uint32_t)out->edge_count;
  for (size_t i = 0; i < f->circle_count; ++i) {
    const abut_feature_circle *c = &f->circles[i];
    const uint32_t first = (uint32_t)out->vertex_count;
    const double length = sqrt(dot(c->axis, c->axis));
    const double axis[3] = {c->axis[0] / length, c->axis[1] / length, c->axis[2] / length};
    double e1[3], e2[3];
    unit_across(axis, e1);
    cross(axis, e1, e2);
    for (uint32_t k = 0; k < CIRCLE_PARTS; ++k) {
      const double *along = k % 2 ? e2 : e1;
      const double side = k < 2 ? c->size : -c->size;
      double *v = out->vertices + 4 * out->vertex_count;
      for (int j = 0; j < 3; ++j) {
        v[j] = c->centre[j] + side * along[j];
      }
      v[3] = 0.0;
      cones_of_every(out->vertex_cones + 4 * out->vertex_count, 1);
      out->names[out->vertex_count++] = 0; /* never in contact */
      abut_feature_edge *e = &out->edges[out->edge_count];
      *e = (abut_feature_edge){.from = first + k,
                               .to = first + (k + 1) % CIRCLE_PARTS,
                               .radius = c->radius,
                               .arc = true};
      memcpy(e->centre, c->centre, sizeof e->centre);
      memcpy(e->axis, axis, sizeof e->axis);
      out->edge_names[out->edge_count] = others + (uint32_t)i;
      cones_of_every(out->edge_cones + 4 * out->edge_count++, 1);
    }
  }
  out->quarters = out->edge_count - others;
}

static abut_status finish(const draft *d, const kept_features *f, body_features *out)
{
  abut_status status = ABUT_SUCCESS;
  void *place = NULL, *order = NULL;
  const size_t more = CIRCLE_PARTS * f->circle_count;
  TRY_DONE(make_room(d->vertex_count + more, d->edge_count + more, out));
  TRY_DONE(allocate(&place, d->vertex_count, sizeof(uint32_t)));
  TRY_DONE(allocate(&order, d->edge_count, sizeof(coded_edge)));
  out->of_surface = d->of_surface;
  put_vertices(d, out, place);
  put_edges(d, place, order, out);
  put_circles(f, out);
done:
  free(place);
  free(order);
  return status;
}

abut_status body_features_make(const body *b, bool with_cones, body_features *out)
{
  draft d = {0};
  *out = (body_features){0};
  const body *whole = b->whole ? b->whole : b;
  abut_status status = draft_features(whole, with_cones, &d);
  if (status == ABUT_SUCCESS) {
    status = finish(&d, &whole->parts.features, out);
  }
  draft_free(&d);
  if (status != ABUT_SUCCESS) {
    body_features_free(out);
  }
  return status;
}
