#include "body/ccd_mesh.h"

#include "base/call_lock.h"
#include "base/error.h"
#include "base/limits.h"
#include "body/body.h"
#include "body/diagnostics.h"
#include "mesh/surface/polygon.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BALL_SLACK 1e-6 /* of a radius */
#define FAR_OFF 8.0     /* in sizes of the mesh: a mesh farther from 0 gets its own origin */
#define COOKIE 0xab071702u

abut_ccd_mesh_def abut_default_ccd_mesh_def(void)
{
  abut_ccd_mesh_def def;
  memset(&def, 0, sizeof def);
  def.cookie = COOKIE;
  return def;
}

ccd_mesh *ccd_mesh_get(abut_ccd_mesh m)
{
  return pool_get(&ccd_mesh_pool, (handle){m.index, m.generation});
}

static void ccd_mesh_free(void *object)
{
  ccd_mesh *m = object;
  if (!m) {
    return;
  }
  for (size_t i = 0; i < MEMBERS; ++i) {
    buffer_destroy(m->ints_on[i]);
    buffer_destroy(m->numbers_on[i]);
  }
  free(m->vertices);
  free(m->triangles);
  free(m->edges);
  free(m->ints);
  free(m->numbers.data);
  free(m);
}

/* ---- input checks ---- */

static abut_status check_counts(const abut_ccd_mesh_def *def)
{
  if (!def->vertices || !def->vertex_count) {
    return fail(ABUT_ERROR_ARGUMENT, "a mesh needs vertices: the count is %zu, and the array is %s",
                def->vertex_count, def->vertices ? "given" : "NULL");
  }
  if (def->face_count && !def->face_indices) {
    return fail(ABUT_ERROR_ARGUMENT, "the mesh has %zu faces, but their array is NULL",
                def->face_count);
  }
  if (def->edge_count && !def->edges) {
    return fail(ABUT_ERROR_ARGUMENT, "the mesh has %zu edges, but their array is NULL",
                def->edge_count);
  }
  if (def->vertex_count > INT_MAX || def->face_count > INT_MAX || def->edge_count > INT_MAX) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "the mesh has %zu vertices, %zu faces and %zu edges; at most %d of each are possible",
      def->vertex_count, def->face_count, def->edge_count, INT_MAX);
  }
  return ABUT_SUCCESS;
}

static uint32_t size_of(const abut_ccd_mesh_def *def, size_t face)
{
  return def->face_sizes ? def->face_sizes[face] : 3;
}

static abut_status check_faces(const abut_ccd_mesh_def *def)
{
  size_t at = 0;
  for (size_t i = 0; i < def->face_count; ++i) {
    if (size_of(def, i) < 3) {
      return fail(ABUT_ERROR_ARGUMENT, "face %zu of the mesh has %u corners; at least 3 are needed",
                  i, size_of(def, i));
    }
    for (uint32_t k = 0; k < size_of(def, i); ++k, ++at) {
      if (def->face_indices[at] >= def->vertex_count) {
        return fail(ABUT_ERROR_ARGUMENT,
                    "face %zu of the mesh uses vertex %u, but there are only %zu vertices", i,
                    def->face_indices[at], def->vertex_count);
      }
    }
  }
  return ABUT_SUCCESS;
}

static abut_status check_ccd_mesh_def(const abut_ccd_mesh_def *def)
{
  TRY(check_counts(def));
  for (size_t i = 0; i < def->vertex_count; ++i) {
    if (!all_within(def->vertices + 3 * i, 3, COORDINATE_MOST)) {
      return fail(ABUT_ERROR_ARGUMENT, "vertex %zu of the mesh is not within +-%g", i,
                  COORDINATE_MOST);
    }
  }
  for (size_t i = 0; i < 2 * def->edge_count; ++i) {
    if (def->edges[i] >= def->vertex_count) {
      return fail(ABUT_ERROR_ARGUMENT,
                  "edge %zu of the mesh uses vertex %u, but there are only %zu vertices", i / 2,
                  def->edges[i], def->vertex_count);
    }
  }
  return check_faces(def);
}

/* ---- features ---- */

static abut_status keep_vertices(ccd_mesh *m, const abut_ccd_mesh_def *def)
{
  void *memory = NULL;
  TRY(allocate(&memory, def->vertex_count, 3 * sizeof(double)));
  m->vertices = memory;
  m->info.vertices = def->vertex_count;
  m->info.trailing = def->trailing;
  memcpy(m->vertices, def->vertices, def->vertex_count * 3 * sizeof(double));
  for (size_t k = 0; k < 3; ++k) {
    m->info.lower[k] = m->info.upper[k] = m->vertices[k];
    for (size_t i = 1; i < def->vertex_count; ++i) {
      m->info.lower[k] = fmin(m->info.lower[k], m->vertices[3 * i + k]);
      m->info.upper[k] = fmax(m->info.upper[k], m->vertices[3 * i + k]);
    }
  }
  return ABUT_SUCCESS;
}

/* Counts the triangles of all faces, and the corners of the largest face. */
static size_t count_triangles(const abut_ccd_mesh_def *def, size_t *largest)
{
  size_t count = 0;
  *largest = 3;
  for (size_t i = 0; i < def->face_count; ++i) {
    const size_t size = size_of(def, i);
    count += size - 2;
    *largest = size > *largest ? size : *largest;
  }
  return count;
}

/* Cuts all faces into triangles. m->triangles also contains degenerate ones, which have a vertex
 * twice. */
static abut_status cut_faces(ccd_mesh *m, const abut_ccd_mesh_def *def)
{
  size_t largest, used = 0;
  void *memory = NULL;
  m->info.triangles = count_triangles(def, &largest);
  TRY(allocate(&memory, m->info.triangles, 3 * sizeof(uint32_t)));
  m->triangles = memory;
  TRY(allocate(&memory, largest, 4 * sizeof(uint32_t)));
  uint32_t *places = memory;
  const uint32_t *corner = def->face_indices;
  for (size_t i = 0; i < def->face_count; corner += size_of(def, i), ++i) {
    const size_t count = polygon_cut(def->vertices, corner, size_of(def, i), places);
    for (size_t k = 0; k < 3 * count; ++k) {
      m->triangles[used++] = corner[places[k]];
    }
  }
  free(places);
  return ABUT_SUCCESS;
}

static size_t add_code(uint64_t *codes, size_t used, uint32_t a, uint32_t b)
{
  codes[used] = edge_code(a, b);
  return used + (a != b);
}

static abut_status find_edges(ccd_mesh *m, const abut_ccd_mesh_def *def)
{
  size_t used = 0;
  void *memory = NULL;
  TRY(allocate(&memory, 3 * m->info.triangles + def->edge_count + 1, sizeof(uint64_t)));
  uint64_t *codes = memory;
  for (size_t i = 0; i < m->info.triangles; ++i) {
    const uint32_t *t = m->triangles + 3 * i;
    for (size_t k = 0; k < 3; ++k) {
      used = add_code(codes, used, t[k], t[(k + 1) % 3]);
    }
  }
  for (size_t i = 0; i < def->edge_count; ++i) {
    used = add_code(codes, used, def->edges[2 * i], def->edges[2 * i + 1]);
  }
  const abut_status status = unique_edges(codes, used, &m->edges, &m->info.edges);
  free(codes);
  return status;
}

/* Removes triangles that have a vertex twice. Only their edge remains. */
static void drop_degenerate(ccd_mesh *m)
{
  size_t kept = 0;
  for (size_t i = 0; i < m->info.triangles; ++i) {
    const uint32_t t[3] = {m->triangles[3 * i], m->triangles[3 * i + 1], m->triangles[3 * i + 2]};
    if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) {
      memcpy(m->triangles + 3 * kept++, t, sizeof t);
    }
  }
  m->info.triangles = kept;
}

/* ---- packing ---- */

/* Assigns offsets after the head, all below INT_MAX. */
static abut_status lay_out(ccd_mesh *m)
{
  const size_t vertices = m->info.vertices, triangles = m->info.triangles, edges = m->info.edges;
  const size_t counts[] = {3 * triangles, 2 * edges, vertices, triangles, edges};
  size_t places[sizeof counts / sizeof *counts];
  void *memory = NULL;
  m->ints_count = CCD_MESH_INTS;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    places[i] = m->ints_count;
    m->ints_count += counts[i];
  }
  size_t balls[] = {CCD_MESH_POINTS + 3 * vertices, 0, 0, 0};
  const size_t features[] = {vertices, triangles, edges};
  for (size_t i = 0; i < 3; ++i) {
    balls[i + 1] = balls[i] + CCD_BALL_REALS * CCD_GROUPS(features[i]);
  }
  if (m->ints_count > INT_MAX || balls[3] > INT_MAX) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the mesh has %zu vertices, %zu triangles and %zu edges, which is too many: their "
                "indices exceed %d",
                vertices, triangles, edges, INT_MAX);
  }
  TRY(allocate(&memory, m->ints_count, sizeof *m->ints));
  m->ints = memory;
  m->ints[CCD_MESH_VERTICES] = (int)vertices;
  m->ints[CCD_MESH_TRIANGLES] = (int)triangles;
  m->ints[CCD_MESH_EDGES] = (int)edges;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    m->ints[CCD_MESH_TRIANGLE_ENDS + i] = (int)places[i];
  }
  for (size_t i = 0; i < 3; ++i) {
    m->ints[CCD_MESH_VERTEX_BALLS + i] = (int)balls[i];
  }
  return reals_create(&m->numbers, balls[3], context_real_bytes(m->context));
}

/* Returns the part of the integers whose offset the given entry of the head holds. */
static int *part(const ccd_mesh *m, size_t which)
{
  return m->ints + m->ints[which];
}

/* Finds the origin of a mesh's coordinates, exact in the precision: 0, or the middle of a mesh so
 * far from 0 that rounding would be large compared with its size. */
static void find_origin(ccd_mesh *m)
{
  double far = 0.0, size = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    const double middle = 0.5 * m->info.lower[k] + 0.5 * m->info.upper[k];
    m->origin[k] = m->numbers.size == sizeof(float) ? (double)(float)middle : middle;
    far = fmax(far, fabs(middle));
    size = fmax(size, m->info.upper[k] - m->info.lower[k]);
  }
  for (size_t k = 0; k < 3; ++k) {
    m->origin[k] = far > FAR_OFF * size ? m->origin[k] : 0.0;
    reals_set(&m->numbers, CCD_MESH_ORIGIN + k, m->origin[k]);
  }
}

/* Returns the largest |x| + |y| + |z| of the vertices relative to the origin, both as given and as
 * packed, rounded up to the precision. */
static double find_size(const ccd_mesh *m)
{
  const bool narrow = m->numbers.size == sizeof(float);
  double size = 0.0;
  for (size_t i = 0; i < m->info.vertices; ++i) {
    double given = 0.0, packed = 0.0;
    for (size_t k = 0; k < 3; ++k) {
      const double x = fabs(m->vertices[3 * i + k] - m->origin[k]);
      given += x;
      packed += narrow ? (double)(float)x : x;
    }
    size = fmax(size, fmax(given, packed));
  }
  size *= 1.0 + 4.0 * DBL_EPSILON; /* rounding of the sums */
  return narrow && (double)(float)size < size ? (double)nextafterf((float)size, HUGE_VALF) : size;
}

/* Packs vertices in spatial order. rank: (vertices) the index of each in this order. */
static void pack_vertices(ccd_mesh *m, uint32_t *order, uint32_t *rank)
{
  const size_t count = m->info.vertices;
  int *ids = part(m, CCD_MESH_VERTEX_IDS);
  find_origin(m);
  sort_in_space(m->vertices, count, CCD_GROUP, order);
  for (size_t i = 0; i < count; ++i) {
    rank[order[i]] = (uint32_t)i;
    ids[i] = (int)order[i];
    for (size_t k = 0; k < 3; ++k) {
      reals_set(&m->numbers, CCD_MESH_POINTS + 3 * i + k,
                m->vertices[3 * (size_t)order[i] + k] - m->origin[k]);
    }
  }
  reals_set(&m->numbers, CCD_MESH_SIZE, find_size(m));
}

/* Reads a packed vertex. */
static void read_vertex(const ccd_mesh *m, int place, double x[3])
{
  for (size_t k = 0; k < 3; ++k) {
    x[k] = reals_get(&m->numbers, CCD_MESH_POINTS + 3 * (size_t)place + k);
  }
}

/* Sets a ball around the vertices of features `first` to `end`. ends: their corners, or NULL if the
 * features are vertices. */
static void put_ball(ccd_mesh *m, size_t at, const int *ends, size_t corners, size_t first,
                     size_t end)
{
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, x[3],
         radius = 0.0;
  for (size_t i = corners * first; i < corners * end; ++i) {
    read_vertex(m, ends ? ends[i] : (int)i, x);
    for (size_t k = 0; k < 3; ++k) {
      low[k] = fmin(low[k], x[k]);
      high[k] = fmax(high[k], x[k]);
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    reals_set(&m->numbers, at + k, 0.5 * (low[k] + high[k]));
  }
  for (size_t i = corners * first; i < corners * end; ++i) {
    double square = 0.0;
    read_vertex(m, ends ? ends[i] : (int)i, x);
    for (size_t k = 0; k < 3; ++k) {
      const double d = x[k] - reals_get(&m->numbers, at + k);
      square += d * d;
    }
    radius = fmax(radius, sqrt(square));
  }
  reals_set(&m->numbers, at + 3, radius * (1.0 + BALL_SLACK)); /* more than the rounding error */
}

static void put_balls(ccd_mesh *m, size_t which, const int *ends, size_t corners, size_t count)
{
  for (size_t g = 0; g < CCD_GROUPS(count); ++g) {
    const size_t first = g * CCD_GROUP, end = first + CCD_GROUP;
    put_ball(m, (size_t)m->ints[which] + CCD_BALL_REALS * g, ends, corners, first,
             end < count ? end : count);
  }
}

/* Packs features with `corners` vertices each, in spatial order of their middles, at two offsets of
 * the integers. */
static void pack_features(ccd_mesh *m, const uint32_t *features, size_t count, size_t corners,
                          const uint32_t *rank, double *middles, uint32_t *order, int *ends,
                          int *ids)
{
  for (size_t i = 0; i < 3 * count; ++i) {
    middles[i] = 0.0;
    for (size_t k = 0; k < corners; ++k) {
      const size_t vertex = features[corners * (i / 3) + k];
      middles[i] += m->vertices[3 * vertex + i % 3] / (double)corners;
    }
  }
  sort_in_space(middles, count, CCD_GROUP, order);
  for (size_t i = 0; i < count; ++i) {
    ids[i] = (int)order[i];
    for (size_t k = 0; k < corners; ++k) {
      ends[corners * i + k] = (int)rank[features[corners * (size_t)order[i] + k]];
    }
  }
}

static size_t most_of(const abut_ccd_mesh_info *info)
{
  const size_t most = info->triangles > info->edges ? info->triangles : info->edges;
  return most > info->vertices ? most : info->vertices;
}

static abut_status pack(ccd_mesh *m)
{
  abut_status status = ABUT_SUCCESS;
  void *order = NULL, *rank = NULL, *middles = NULL;
  TRY(lay_out(m));
  TRY_DONE(allocate(&order, most_of(&m->info), sizeof(uint32_t)));
  TRY_DONE(allocate(&rank, m->info.vertices, sizeof(uint32_t)));
  TRY_DONE(allocate(&middles, most_of(&m->info), 3 * sizeof(double)));
  pack_vertices(m, order, rank);
  pack_features(m, m->triangles, m->info.triangles, 3, rank, middles, order,
                part(m, CCD_MESH_TRIANGLE_ENDS), part(m, CCD_MESH_TRIANGLE_IDS));
  pack_features(m, m->edges, m->info.edges, 2, rank, middles, order, part(m, CCD_MESH_EDGE_ENDS),
                part(m, CCD_MESH_EDGE_IDS));
  put_balls(m, CCD_MESH_VERTEX_BALLS, NULL, 1, m->info.vertices);
  put_balls(m, CCD_MESH_TRIANGLE_BALLS, part(m, CCD_MESH_TRIANGLE_ENDS), 3, m->info.triangles);
  put_balls(m, CCD_MESH_EDGE_BALLS, part(m, CCD_MESH_EDGE_ENDS), 2, m->info.edges);
done:
  free(order);
  free(rank);
  free(middles);
  return status;
}

/* ---- handles ---- */

/* Makes a mesh in a context whose lock the caller holds. */
static abut_status make(context *c, const abut_ccd_mesh_def *def, abut_ccd_mesh *out)
{
  TRY(check_ccd_mesh_def(def));
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(ccd_mesh)));
  ccd_mesh *m = memory;
  abut_status status = ABUT_SUCCESS;
  m->context = c;
  TRY_DONE(keep_vertices(m, def));
  TRY_DONE(cut_faces(m, def));
  TRY_DONE(find_edges(m, def));
  drop_degenerate(m);
  TRY_DONE(pack(m));
  TRY_DONE(context_adopt(c, &ccd_mesh_pool, &m->base, ccd_mesh_free));
  *out = (abut_ccd_mesh){m->base.self.index, m->base.self.generation};
  m = NULL;
done:
  ccd_mesh_free(m);
  return status;
}

abut_status ccd_mesh_on(ccd_mesh *m, size_t place)
{
  device *d = m->context->members[place].device;
  if (!m->ints_on[place]) {
    TRY(buffer_upload(d, m->ints_count * sizeof *m->ints, m->ints, &m->ints_on[place]));
  }
  if (!m->numbers_on[place]) {
    TRY(
      buffer_upload(d, m->numbers.count * m->numbers.size, m->numbers.data, &m->numbers_on[place]));
  }
  return ABUT_SUCCESS;
}

abut_status abut_create_ccd_mesh(abut_context handle_, const abut_ccd_mesh_def *def,
                                 abut_ccd_mesh *out)
{
  ENTER(context_pool, handle_);
  context *c = context_get(handle_);
  if (!c) {
    return ABUT_ERROR_HANDLE;
  }
  if (!def || !out || def->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_ccd_mesh: the handle is NULL, or the definition "
                                     "was not made by abut_default_ccd_mesh_def");
  }
  return make(c, def, out);
}

static void set_mesh_of_body(const body *b, abut_ccd_mesh_def *def)
{
  if (b->parts.surface_face_count) {
    def->vertices = b->parts.surface_vertices;
    def->vertex_count = b->parts.surface_vertex_count;
    def->face_sizes = b->parts.surface_sizes;
    def->face_indices = b->parts.surface_indices;
    def->face_count = b->parts.surface_face_count;
    return;
  }
  def->vertices = b->vertices;
  def->vertex_count = b->info.vertices;
  def->face_sizes = b->face_sizes;
  def->face_indices = b->face_indices;
  def->face_count = b->info.faces;
  def->edges = b->edges;
  def->edge_count = b->info.edges;
}

abut_status abut_create_body_ccd_mesh(abut_body handle_, abut_ccd_mesh *out)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  abut_ccd_mesh_def def = abut_default_ccd_mesh_def();
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  if (!out) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_create_body_ccd_mesh: the handle is NULL");
  }
  if (!b->parts.surface_face_count && !b->info.faces) {
    return b->name ? fail_at(ABUT_ERROR_BODY, b->name, 0, CCD_NO_FACES)
                   : fail(ABUT_ERROR_BODY, "the body cannot collide in time: " CCD_NO_FACES);
  }
  set_mesh_of_body(b, &def);
  return make(b->context, &def, out);
}

abut_status abut_destroy_ccd_mesh(abut_ccd_mesh handle_)
{
  ENTER_ALONE(ccd_mesh_pool, handle_);
  ccd_mesh *m = ccd_mesh_get(handle_);
  if (!m) {
    return ABUT_ERROR_HANDLE;
  }
  context_discard(m->context, &m->base);
  return ABUT_SUCCESS;
}

abut_status abut_get_ccd_mesh_info(abut_ccd_mesh handle_, abut_ccd_mesh_info *info)
{
  ENTER(ccd_mesh_pool, handle_);
  const ccd_mesh *m = ccd_mesh_get(handle_);
  if (!m) {
    return ABUT_ERROR_HANDLE;
  }
  if (!info) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_get_ccd_mesh_info needs a place for its answer");
  }
  *info = m->info;
  return ABUT_SUCCESS;
}

abut_status abut_get_ccd_mesh_features(abut_ccd_mesh handle_, double *vertices, uint32_t *triangles,
                                       uint32_t *edges)
{
  ENTER(ccd_mesh_pool, handle_);
  const ccd_mesh *m = ccd_mesh_get(handle_);
  if (!m) {
    return ABUT_ERROR_HANDLE;
  }
  if (vertices) {
    memcpy(vertices, m->vertices, m->info.vertices * 3 * sizeof *vertices);
  }
  if (triangles && m->info.triangles) {
    memcpy(triangles, m->triangles, m->info.triangles * 3 * sizeof *triangles);
  }
  if (edges && m->info.edges) {
    memcpy(edges, m->edges, m->info.edges * 2 * sizeof *edges);
  }
  return ABUT_SUCCESS;
}
