#include <abut/field.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "mesh/surface/diagnostics.h"
#include "mesh/surface/field_surface.h"
#include "mesh/surface/grid.h"
#include "mesh/surface/mesh_check.h"
#include "mesh/surface/skin.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab070006u
#define TOLERANCE 0.0015
#define VERTICES 1000
#define MEMORY ((size_t)256 << 20)
/* share of the area that lost thin parts and filled gaps may have without a warning */
#define LOST_MOST 0.001

abut_field_options abut_default_field_options(void)
{
  abut_field_options options;
  memset(&options, 0, sizeof options);
  options.cookie = COOKIE;
  return options;
}

/* ---- the definition, in the field's own memory ---- */

static abut_status hold(arena *memory, const void *from, size_t count, size_t size, void **out)
{
  TRY(arena_allocate(memory, out, count, size));
  if (count) {
    memcpy(*out, from, count * size);
  }
  return ABUT_SUCCESS;
}

static abut_status hold_level(arena *memory, const spline_level *from, abut_grid_level *out)
{
  void *blocks, *coefficients;
  TRY(arena_allocate(memory, &blocks, from->count, 3 * sizeof(int32_t)));
  TRY(arena_allocate(memory, &coefficients, from->count, BLOCK_NODES * sizeof(double)));
  for (size_t b = 0; b < from->count; ++b) {
    memcpy((int32_t *)blocks + 3 * b, from->blocks[b].at, 3 * sizeof(int32_t));
    double *to = (double *)coefficients + b * BLOCK_NODES;
    for (size_t n = 0; n < BLOCK_NODES; ++n) {
      const size_t i = (n >> 6) + 1, j = (n >> 3 & 7) + 1, k = (n & 7) + 1;
      to[n] = (double)from->blocks[b].node[(i * BLOCK_REACH + j) * BLOCK_REACH + k];
    }
  }
  *out = (abut_grid_level){blocks, coefficients, from->count};
  return ABUT_SUCCESS;
}

static abut_status hold_spline(arena *memory, const spline *s, abut_body_def *def)
{
  const size_t nodes = s->size[0] * s->size[1] * s->size[2];
  void *grid_memory, *levels, *coefficients;
  TRY(arena_allocate(memory, &grid_memory, 1, sizeof(abut_grid)));
  TRY(arena_allocate(memory, &levels, s->level_count, sizeof(abut_grid_level)));
  TRY(arena_allocate(memory, &coefficients, nodes, sizeof(double)));
  for (size_t i = 0; i < nodes; ++i) {
    ((double *)coefficients)[i] = (double)s->coarse[i];
  }
  abut_grid *grid = grid_memory;
  *grid = (abut_grid){.coefficients = coefficients,
                      .spacing = s->spacing,
                      .levels = levels,
                      .level_count = s->level_count,
                      .operation = ABUT_ADD};
  for (int k = 0; k < 3; ++k) {
    grid->size[k] = s->size[k];
    grid->origin[k] = s->origin[k];
  }
  for (size_t l = 1; l <= s->level_count; ++l) {
    TRY(hold_level(memory, &s->levels[l], (abut_grid_level *)levels + l - 1));
  }
  def->grids = grid;
  def->grid_count = 1;
  return ABUT_SUCCESS;
}

static abut_status hold_skin(arena *memory, const skin *s, abut_body_def *def)
{
  void *vertices, *edges;
  TRY(hold(memory, s->vertices, s->vertex_count, 3 * sizeof(double), &vertices));
  TRY(hold(memory, s->edges, s->edge_count, 2 * sizeof(uint32_t), &edges));
  def->vertices = vertices;
  def->vertex_count = s->vertex_count;
  def->edges = edges;
  def->edge_count = s->edge_count;
  return ABUT_SUCCESS;
}

/* ---- the report ---- */

static void report_surface(abut_field_report *r, const surface *s, const surface_report *made)
{
  r->welded = made->welded;
  r->repeated = made->repeated;
  r->turned = made->turned;
  r->shells = made->shells;
  r->shells_turned = made->shells_turned;
  r->holes = made->holes;
  r->open_edges = made->open_edges;
  r->hole_widest = made->hole_widest;
  r->sheets = made->sheets;
  r->sheet_widest = made->sheet_widest;
  r->welded_within = made->welded_within;
  r->closing_doubt = made->doubt;
  r->tangled_edges = made->tangled_edges;
  r->diagonal = s->diagonal;
}

/* Sets the suspicion bits of a report. */
static void diagnose(abut_field_report *r, double tolerance)
{
  const bool coarse = r->face_95 > tolerance * 1.1 || r->edge_95 > 2.0 * tolerance;
  r->suspicions =
    (r->holes || r->open_edges ? ABUT_SUSPECT_OPEN : 0u) |
    (r->shells_turned ? ABUT_SUSPECT_INSIDE_OUT : 0u) | (r->turned ? ABUT_SUSPECT_TURNED : 0u) |
    (r->tangled_edges ? ABUT_SUSPECT_TANGLED : 0u) | diagonal_suspicions(r->diagonal) |
    (coarse ? ABUT_SUSPECT_COARSE : 0u) | (r->thin_lost > LOST_MOST ? ABUT_SUSPECT_THIN : 0u) |
    (r->shells_nested ? ABUT_SUSPECT_NESTED : 0u) | (r->sheets ? ABUT_SUSPECT_SHEET : 0u) |
    (r->welded_within > 0.0 ? ABUT_SUSPECT_WELDED : 0u) |
    (r->closing_doubt > 0.0 ? ABUT_SUSPECT_CLOSING : 0u) |
    (r->gap_filled > LOST_MOST ? ABUT_SUSPECT_NARROW : 0u);
}

static double winding_of(const void *user, const double x[3])
{
  return tree_winding(user, x);
}

/* ---- making ---- */

static abut_status check_options(const abut_field_options *given, abut_field_options *o)
{
  *o = *given;
  if (o->cells && (o->cells < 8 || o->cells > 128)) {
    return fail(ABUT_ERROR_ARGUMENT, "the number of cells is %u; give 8 to 128", o->cells);
  }
  if (o->tolerance != 0.0 && !(o->tolerance >= 1e-5 && o->tolerance <= 0.1)) {
    return fail(ABUT_ERROR_ARGUMENT, "the tolerance of the field is %g, not in [1e-5, 0.1]",
                o->tolerance);
  }
  if (o->vertices && o->vertices != UINT32_MAX &&
      (o->vertices < 8 || o->vertices > ELEMENT_LIMIT)) {
    return fail(ABUT_ERROR_ARGUMENT, "a contact mesh cannot have %u vertices; give 8 to %zu",
                o->vertices, ELEMENT_LIMIT);
  }
  o->tolerance = o->tolerance != 0.0 ? o->tolerance : TOLERANCE;
  o->vertices = o->vertices ? o->vertices : VERTICES;
  o->memory = o->memory ? o->memory : MEMORY;
  return ABUT_SUCCESS;
}

static abut_status make(const abut_body_def *mesh, const abut_field_options *o, arena *memory,
                        abut_field *out)
{
  abut_status status = ABUT_SUCCESS;
  surface s = {0};
  solid inside = {0};
  spline fine = {0};
  skin contact = {0};
  surface_report made;
  abut_field_report *r = &out->report;
  const telling t = {o, 0.0, 1.0};
  TRY_DONE(tell(&t, "surface", 0.0));
  TRY_DONE(surface_create(mesh, &s, &made));
  r->faces = mesh->face_count;
  report_surface(r, &s, &made);
  TRY_DONE(surface_solid_volume(&s, &made, &r->volume));
  TRY_DONE(solid_create(&inside, &s));
  TRY_DONE(surface_nested(&s, winding_of, &inside.all, &r->shells_nested));
  TRY_DONE(grid_make(&s, &inside, o, &fine, r));
  TRY_DONE(tell(&t, "contact mesh", 0.95));
  TRY_DONE(skin_create(&s, o->vertices, &contact));
  diagnose(r, o->tolerance);
  r->vertices = contact.vertex_count;
  r->edges = contact.edge_count;
  r->merged = contact.merged;
  r->thinned = contact.thinned;
  r->added = contact.added;
  out->def = abut_default_body_def();
  TRY_DONE(hold_spline(memory, &fine, &out->def));
  TRY_DONE(hold_skin(memory, &contact, &out->def));
  TRY_DONE(field_hold_surface(memory, mesh, &out->def));
done:
  surface_free(&s);
  solid_free(&inside);
  spline_free(&fine);
  skin_free(&contact);
  return status;
}

abut_status abut_make_field(const abut_body_def *mesh, const abut_field_options *options,
                            abut_field *field)
{
  abut_field_options o;
  if (!mesh || !options || !field || options->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_make_field: the mesh or the output pointer is NULL, or "
                                     "the options were not made by abut_default_field_options");
  }
  memset(field, 0, sizeof *field);
  TRY(check_options(options, &o));
  TRY(check_mesh(mesh));
  void *memory = NULL;
  TRY(allocate(&memory, 1, sizeof(arena)));
  const abut_status status = make(mesh, &o, memory, field);
  if (status != ABUT_SUCCESS) {
    arena_free(memory);
    free(memory);
    memset(field, 0, sizeof *field);
    return status;
  }
  field->memory = memory;
  return ABUT_SUCCESS;
}

void abut_free_field(abut_field *field)
{
  if (field) {
    if (field->memory) {
      arena_free(field->memory);
      free(field->memory);
    }
    memset(field, 0, sizeof *field);
  }
}
