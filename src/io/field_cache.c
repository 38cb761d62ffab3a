#include "io/field_cache.h"

#include "base/memory.h"
#include "base/reals.h"
#include "mesh/surface/field_version.h"
#include <stdlib.h>
#include <string.h>

#define LEVELS_MOST 8
#define SIZE_MOST 1024
#define BLOCK_NODES ((size_t)ABUT_GRID_BLOCK * ABUT_GRID_BLOCK * ABUT_GRID_BLOCK)

const cache_kind field_cache_kind = {"fields", ".field", 64, (uint64_t)2 << 30};

/* ---- the key of a field ---- */

cache_key field_cache_key(const abut_body_def *mesh, const abut_field_options *options)
{
  cache_key key = cache_key_begin();
  const uint64_t numbers[] = {FIELD_VERSION, sizeof(abut_field_report), options->cells,
                              options->vertices, options->memory};
  size_t corners = 0;
  for (size_t i = 0; i < mesh->face_count; ++i) {
    corners += mesh->face_sizes[i];
  }
  cache_key_add(&key, ABUT_VERSION);
  cache_key_add_bytes(&key, numbers, sizeof numbers);
  cache_key_add_bytes(&key, &options->tolerance, sizeof options->tolerance);
  cache_key_add_bytes(&key, mesh->vertices, mesh->vertex_count * 3 * sizeof *mesh->vertices);
  cache_key_add_bytes(&key, mesh->face_sizes, mesh->face_count * sizeof *mesh->face_sizes);
  cache_key_add_bytes(&key, mesh->face_indices, corners * sizeof *mesh->face_indices);
  return key;
}

/* ---- an entry: this struct, then the arrays in the order of its counts ---- */

typedef struct stored {
  uint64_t vertices, faces, corners, edges, levels;
  uint64_t size[3], blocks[LEVELS_MOST];
  uint64_t narrow; /* bit l: the coefficients of level l are floats; level 0 is the grid */
  uint64_t operation;
  double origin[3], spacing;
  abut_field_report report;
} stored;

/* Only counts the bytes if `at` is NULL. */
typedef struct writer {
  unsigned char *at;
  size_t bytes;
} writer;

static void put(writer *w, const void *from, size_t count, size_t size)
{
  if (w->at && count) {
    memcpy(w->at, from, count * size);
    w->at += count * size;
  }
  w->bytes += count * size;
}

static void put_reals(writer *w, const double *from, size_t count, bool narrow)
{
  if (!narrow) {
    put(w, from, count, sizeof *from);
    return;
  }
  for (size_t i = 0; w->at && i < count; ++i) {
    const float x = (float)from[i];
    memcpy(w->at + i * sizeof x, &x, sizeof x);
  }
  w->at += w->at ? count * sizeof(float) : 0;
  w->bytes += count * sizeof(float);
}

static size_t nodes_of(const abut_grid *g)
{
  return g->size[0] * g->size[1] * g->size[2];
}

static void describe(const abut_field *f, stored *s)
{
  const abut_body_def *def = &f->def;
  const abut_grid *g = def->grids;
  memset(s, 0, sizeof *s);
  s->vertices = def->vertex_count;
  s->faces = def->face_count;
  s->edges = def->edge_count;
  s->levels = g->level_count;
  s->operation = (uint64_t)g->operation;
  s->spacing = g->spacing;
  memcpy(s->origin, g->origin, sizeof s->origin);
  s->report = f->report;
  for (size_t i = 0; i < def->face_count; ++i) {
    s->corners += def->face_sizes[i];
  }
  for (size_t i = 0; i < 3; ++i) {
    s->size[i] = g->size[i];
  }
  s->narrow = reals_are_floats(g->coefficients, nodes_of(g)) ? 1 : 0;
  for (size_t i = 0; i < g->level_count; ++i) {
    const abut_grid_level *l = &g->levels[i];
    s->blocks[i] = l->block_count;
    s->narrow |= reals_are_floats(l->coefficients, l->block_count * BLOCK_NODES) ? (uint64_t)2 << i
                                                                                 : 0;
  }
}

static void put_field(writer *w, const stored *s, const abut_field *f)
{
  const abut_body_def *def = &f->def;
  const abut_grid *g = def->grids;
  put(w, s, 1, sizeof *s);
  put(w, def->vertices, 3 * def->vertex_count, sizeof *def->vertices);
  put(w, def->face_sizes, def->face_count, sizeof *def->face_sizes);
  put(w, def->face_indices, (size_t)s->corners, sizeof *def->face_indices);
  put(w, def->edges, 2 * def->edge_count, sizeof *def->edges);
  put_reals(w, g->coefficients, nodes_of(g), s->narrow & 1);
  for (size_t i = 0; i < g->level_count; ++i) {
    const abut_grid_level *l = &g->levels[i];
    put(w, l->blocks, 3 * l->block_count, sizeof *l->blocks);
    put_reals(w, l->coefficients, l->block_count * BLOCK_NODES, s->narrow >> (i + 1) & 1);
  }
}

/* ---- reading ---- */

typedef struct reader {
  const unsigned char *at;
  size_t left;
  arena *memory;
  bool good;
} reader;

/* Allocates `count` elements, for each of which the entry has stored_size bytes. */
static void *room_for(reader *r, uint64_t count, size_t stored_size, size_t size)
{
  void *out = NULL;
  r->good = r->good && count <= r->left / stored_size &&
            arena_allocate(r->memory, &out, (size_t)count, size) == ABUT_SUCCESS;
  return r->good ? out : NULL;
}

static void pass(reader *r, size_t bytes)
{
  r->at += bytes;
  r->left -= bytes;
}

static void *take(reader *r, uint64_t count, size_t size)
{
  void *out = room_for(r, count, size, size);
  if (out) {
    memcpy(out, r->at, (size_t)count * size);
    pass(r, (size_t)count * size);
  }
  return out;
}

static double *take_reals(reader *r, uint64_t count, bool narrow)
{
  if (!narrow) {
    return take(r, count, sizeof(double));
  }
  double *out = room_for(r, count, sizeof(float), sizeof(double));
  for (size_t i = 0; out && i < count; ++i) {
    float x;
    memcpy(&x, r->at + i * sizeof x, sizeof x);
    out[i] = (double)x;
  }
  if (out) {
    pass(r, (size_t)count * sizeof(float));
  }
  return out;
}

/* Allocates data assembled from the entry. */
static void *make(reader *r, size_t count, size_t size)
{
  void *out = NULL;
  r->good = r->good && arena_allocate(r->memory, &out, count, size) == ABUT_SUCCESS;
  return r->good ? out : NULL;
}

static void take_levels(reader *r, const stored *s, abut_grid *g)
{
  abut_grid_level *levels = make(r, (size_t)s->levels, sizeof *levels);
  for (size_t i = 0; levels && i < s->levels; ++i) {
    levels[i].block_count = (size_t)s->blocks[i];
    levels[i].blocks = take(r, 3 * s->blocks[i], sizeof *levels[i].blocks);
    levels[i].coefficients = take_reals(r, BLOCK_NODES * s->blocks[i], s->narrow >> (i + 1) & 1);
  }
  g->levels = s->levels ? levels : NULL;
  g->level_count = (size_t)s->levels;
}

static void take_grid(reader *r, const stored *s, abut_body_def *def)
{
  abut_grid *g = make(r, 1, sizeof *g);
  if (!g) {
    return;
  }
  for (size_t i = 0; i < 3; ++i) {
    g->size[i] = (size_t)s->size[i];
  }
  memcpy(g->origin, s->origin, sizeof g->origin);
  g->spacing = s->spacing;
  g->operation = (abut_operation)s->operation;
  g->coefficients = take_reals(r, s->size[0] * s->size[1] * s->size[2], s->narrow & 1);
  take_levels(r, s, g);
  def->grids = g;
  def->grid_count = 1;
}

static bool is_sane(const stored *s, size_t bytes)
{
  const uint64_t most = bytes; /* each counted element takes at least a byte */
  bool sane = s->levels <= LEVELS_MOST && s->vertices && s->size[0] && s->size[1] && s->size[2];
  for (size_t i = 0; sane && i < s->levels; ++i) {
    sane = s->blocks[i] <= most;
  }
  return sane && s->vertices <= most && s->faces <= most && s->corners <= most &&
         s->edges <= most && s->size[0] <= SIZE_MOST && s->size[1] <= SIZE_MOST &&
         s->size[2] <= SIZE_MOST;
}

static bool take_field(reader *r, abut_field *out)
{
  stored s;
  abut_body_def def = abut_default_body_def();
  if (r->left < sizeof s) {
    return false;
  }
  memcpy(&s, r->at, sizeof s);
  pass(r, sizeof s);
  if (!is_sane(&s, r->left)) {
    return false;
  }
  def.vertex_count = (size_t)s.vertices;
  def.face_count = (size_t)s.faces;
  def.edge_count = (size_t)s.edges;
  def.vertices = take(r, 3 * s.vertices, sizeof *def.vertices);
  const uint32_t *sizes = take(r, s.faces, sizeof *sizes);
  const uint32_t *indices = take(r, s.corners, sizeof *indices);
  const uint32_t *edges = take(r, 2 * s.edges, sizeof *edges);
  def.face_sizes = s.faces ? sizes : NULL;
  def.face_indices = s.faces ? indices : NULL;
  def.edges = s.edges ? edges : NULL;
  take_grid(r, &s, &def);
  for (size_t i = 0; r->good && i < def.face_count; ++i) {
    s.corners -= def.face_sizes[i];
  }
  *out = (abut_field){.def = def, .report = s.report};
  out->report.kept = true;
  return r->good && r->left == 0 && s.corners == 0;
}

bool field_cache_read(const cache_key *key, abut_field *field)
{
  unsigned char *content = NULL;
  size_t bytes = 0;
  void *memory = NULL;
  bool good = false;
  char *folder = cache_folder_path(&field_cache_kind);
  if (folder && cache_folder_read(folder, &field_cache_kind, key, &content, &bytes) &&
      allocate(&memory, 1, sizeof(arena)) == ABUT_SUCCESS) {
    abut_field found;
    reader r = {content, bytes, memory, true};
    good = take_field(&r, &found);
    if (good) {
      *field = found;
      field->memory = memory;
    } else {
      arena_free(memory);
      free(memory);
    }
  }
  free(content);
  free(folder);
  return good;
}

void field_cache_write(const cache_key *key, const abut_field *field)
{
  stored s;
  writer w = {NULL, 0};
  char *folder = cache_folder_path(&field_cache_kind);
  if (folder && field->def.grid_count == 1 && field->def.grids->level_count <= LEVELS_MOST) {
    describe(field, &s);
    put_field(&w, &s, field);
    unsigned char *content = malloc(w.bytes);
    if (content) {
      w = (writer){content, 0};
      put_field(&w, &s, field);
      cache_folder_write(folder, &field_cache_kind, key, content, w.bytes);
    }
    free(content);
  }
  free(folder);
}
