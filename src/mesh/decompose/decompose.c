/* abut_decompose prepares and samples the mesh here, then fits primitives on a device. It is an
 * operation of the engine, whose batch is one decomposition: if a device fails, another device does
 * all of it again. */
#include "mesh/decompose/stages.h"

#include "base/call_lock.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/batch/batch.h"
#include "engine/self_test/runner.h"
#include "mesh/surface/diagnostics.h"
#include "mesh/surface/field_surface.h"
#include "mesh/surface/mesh_check.h"
#include "mesh/surface/skin.h"
#include <abut/field.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab072101u
#define ERROR_USUAL 0.05
#define MOST_USUAL 32
#define UNION_USUAL 0.008
#define SEARCH_EDGE (1.0 / 64.0)
#define SEARCH_BAND 0.008
#define FINE_EDGE (1.0 / 128.0)
#define FINE_BAND 0.006
/* temperature of planes: a share of the diagonal, or of THICKNESSES times the thickness if that is
 * less; the thickness is twice the greatest depth */
#define PLANE_SHARE 0.004
#define THICKNESSES 8.0
#define IDLE 12.0 /* in temperatures of planes */
/* share of the samples that may have no clear side; with more, the inside is undefined */
#define UNSURE_MOST 0.02
#define UNSURE_WINDING 0.2 /* a winding number within this of 1/2 leaves the side open */
#define UNSURE_APART 0.01  /* for samples farther from the surface than this */

abut_decompose_options abut_default_decompose_options(void)
{
  abut_decompose_options options;
  memset(&options, 0, sizeof options);
  options.cookie = COOKIE;
  return options;
}

abut_status decompose_tell(const decomposition *d, const char *what, double share)
{
  const abut_decompose_options *o = d->options;
  return !o->progress || o->progress(o->user, what, share)
           ? ABUT_SUCCESS
           : fail(ABUT_ERROR_CANCELLED, "the decomposition was cancelled");
}

/* ---- the mesh ---- */

/* The mesh scaled by its diagonal, relative to the middle of its box. */
typedef struct scaled {
  abut_body_def def;
  double *vertices;
  double middle[3], diagonal;
} scaled;

static abut_status scale_mesh(const abut_body_def *mesh, scaled *out)
{
  double lower[3], upper[3], square = 0.0;
  size_t corners = 0;
  void *memory;
  for (int k = 0; k < 3; ++k) {
    lower[k] = HUGE_VAL;
    upper[k] = -HUGE_VAL;
  }
  for (size_t i = 0; i < mesh->face_count; ++i) {
    corners += mesh->face_sizes[i];
  }
  for (size_t i = 0; i < corners; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const double x = mesh->vertices[3 * (size_t)mesh->face_indices[i] + k];
      lower[k] = fmin(lower[k], x);
      upper[k] = fmax(upper[k], x);
    }
  }
  for (int k = 0; k < 3 && corners; ++k) {
    out->middle[k] = 0.5 * (lower[k] + upper[k]);
    square += (upper[k] - lower[k]) * (upper[k] - lower[k]);
  }
  out->diagonal = sqrt(square);
  if (!(out->diagonal > 0.0)) {
    return fail(ABUT_ERROR_BODY, "every face of the mesh has area 0");
  }
  TRY(allocate(&memory, mesh->vertex_count, 3 * sizeof(double)));
  out->vertices = memory;
  for (size_t i = 0; i < 3 * mesh->vertex_count; ++i) {
    out->vertices[i] = (mesh->vertices[i] - out->middle[i % 3]) / out->diagonal;
  }
  out->def = *mesh;
  out->def.vertices = out->vertices;
  return ABUT_SUCCESS;
}

/* Rejects a mesh whose inside the winding number leaves open. */
static abut_status check_sure(const decomposition *d)
{
  size_t unsure = 0;
  if (d->inside->blur_radius < 0.0) {
    return ABUT_SUCCESS;
  }
  for (size_t i = 0; i < d->fine.count; ++i) {
    unsure += fabs(d->fine.distance[i]) > UNSURE_APART &&
              fabs(tree_winding(&d->inside->all, d->fine.x + 3 * i) - 0.5) < UNSURE_WINDING;
  }
  if ((double)unsure > UNSURE_MOST * (double)d->fine.count) {
    return fail(ABUT_ERROR_BODY,
                "the mesh is open, and for %.1f %% of the space around it inside and outside "
                "cannot be decided: close the mesh, or make a grid with `abut field`",
                100.0 * (double)unsure / (double)d->fine.count);
  }
  return ABUT_SUCCESS;
}

static abut_status check_inside(const decomposition *d)
{
  const cell_set *c = &d->cells;
  double thinnest = HUGE_VAL;
  for (int k = 0; k < 3; ++k) {
    thinnest = fmin(thinnest, d->of->upper[k] - d->of->lower[k]);
  }
  if (c->samples.count >= CELLS_FEWEST) {
    return ABUT_SUCCESS;
  }
  return fail(ABUT_ERROR_BODY,
              "the mesh encloses only %zu of the %zu cells around it, too few for primitives (the "
              "thinnest side of its box is %.3g %% of the diagonal): make a grid with `abut field`",
              c->samples.count, c->size[0] * c->size[1] * c->size[2], 100.0 * thinnest);
}

static abut_status sample(decomposition *d)
{
  TRY(decompose_tell(d, "samples", 0.02));
  TRY(cells_inside(d->inside, d->of, &d->cells));
  if (atomic_load(&d->inside->overlaps)) {
    TRY(solid_find_border(d->inside, 0.5 * FINE_EDGE));
    cells_free(&d->cells);
    TRY(cells_inside(d->inside, d->of, &d->cells));
  }
  TRY(check_inside(d));
  if (d->options->family == ABUT_DECOMPOSE_AUTO) {
    TRY(cells_apart_of(&d->cells, d->of, &d->apart));
  }
  TRY(samples_by_octree(d->inside, d->of, SEARCH_EDGE, SEARCH_BAND, d->options->seed, &d->search));
  TRY(decompose_tell(d, "samples", 0.05));
  TRY(samples_by_octree(d->inside, d->of, FINE_EDGE, FINE_BAND, d->options->seed, &d->fine));
  return check_sure(d);
}

/* ---- the operation ---- */

typedef struct decompose_call {
  batch_call base;
  decomposition *d;
  primitives found;
  abut_decompose_report report;
} decompose_call;

static abut_status test(const batch_call *b, size_t place)
{
  return test_member(b->context, place, MODULE_DECOMPOSE, PROGRAM_PLAIN, 0, SELF_TEST_MAIN);
}

static abut_status place(batch_on *on)
{
  (void)on;
  return ABUT_SUCCESS;
}

/* Every part depends on results of the device, so all work is done where chunks are collected. */
static abut_status launch(batch_on *on, size_t slot, chunk c)
{
  (void)on;
  (void)slot;
  (void)c;
  return ABUT_SUCCESS;
}

/* The temperature that fitted smoothing would give the body (abut_fit_smoothing), from the depth of
 * the mesh. */
static double plane_temperature(const decomposition *d)
{
  double deepest = 0.0;
  for (size_t i = 0; i < d->fine.count; ++i) {
    deepest = fmax(deepest, -d->fine.distance[i]);
  }
  return PLANE_SHARE * fmin(1.0, THICKNESSES * 2.0 * deepest);
}

static abut_status fit_on(decomposition *d, primitives *found)
{
  TRY(fitter_upload(&d->fit, &d->search));
  TRY(fitter_upload(&d->fit, &d->fine));
  TRY(fitter_upload(&d->fit, &d->cells.samples));
  TRY(d->options->primitives ? stages_by_count(d, found) : stages_by_error(d, found));
  if (d->options->family == ABUT_DECOMPOSE_AUTO && d->apart.outside.samples.count) {
    TRY(fitter_upload(&d->fit, &d->apart.outside.samples));
    TRY(stages_take_away(d, found));
  }
  if (d->options->family == ABUT_DECOMPOSE_AUTO) {
    TRY(stages_convert(d, found));
  }
  TRY(fit_look(&d->fit, &d->fine, found, FINAL_WIDTH));
  TRY(fit_unions(&d->fit, &d->fine));
  return report_samples(d, found);
}

static void take_off_device(sample_set *s)
{
  buffer_destroy(s->on);
  buffer_destroy(s->balls_on);
  s->on = s->balls_on = NULL;
}

static abut_status collect(batch_on *on, size_t slot, chunk c)
{
  (void)slot;
  (void)c;
  decompose_call *call = (decompose_call *)on->call;
  decomposition *d = call->d;
  call->report = (abut_decompose_report){0};
  d->report = &call->report;
  d->fit = (fitter){.device = on->device, .tau = d->options->union_, .plane = plane_temperature(d)};
  const abut_status status = fit_on(d, &call->found);
  fitter_free(&d->fit);
  take_off_device(&d->search);
  take_off_device(&d->fine);
  take_off_device(&d->cells.samples);
  take_off_device(&d->apart.outside.samples);
  return status;
}

static const operation decompose_operation = {
  .module = MODULE_DECOMPOSE, .test = test, .place = place, .launch = launch, .collect = collect};

/* ---- the body ---- */

static void hold_superquadric(const primitive *p, const scaled *m, abut_superquadric *to)
{
  for (int k = 0; k < 3; ++k) {
    to->axes[k] = p->axes[k] * m->diagonal;
    to->position[k] = p->centre[k] * m->diagonal + m->middle[k];
  }
  memcpy(to->exponents, p->exponents, sizeof to->exponents);
  to->operation = p->away ? ABUT_SUBTRACT : ABUT_ADD;
  primitive_quaternion(p, to->quaternion);
}

/* Leaves out planes that are farther than IDLE temperatures from all corners, since they contribute
 * nothing. */
static abut_status hold_polyhedron(arena *memory, const primitive *p, const scaled *m,
                                   double temperature, abut_polyhedron *to, double *half_width)
{
  double planes[PARTS_MOST * PLANES_EACH][4], lower[3], upper[3];
  void *all;
  to->count = polyhedron_planes(p, IDLE * temperature, planes, lower, upper, half_width);
  *half_width *= m->diagonal;
  TRY(arena_allocate(memory, &all, to->count, 6 * sizeof(double)));
  double *at = all;
  for (size_t i = 0; i < to->count; ++i, at += 6) {
    for (size_t k = 0; k < 3; ++k) {
      at[k] = planes[i][k];
      at[3 + k] = (p->centre[k] + planes[i][3] * planes[i][k]) * m->diagonal + m->middle[k];
    }
  }
  to->planes = all;
  to->operation = p->away ? ABUT_SUBTRACT : ABUT_ADD;
  return ABUT_SUCCESS;
}

static void report_polyhedron(abut_decompose_report *r, const abut_polyhedron *p, double half_width)
{
  ++r->primitives;
  ++r->polyhedra;
  r->planes += p->count;
  r->subtracted += p->operation == ABUT_SUBTRACT;
  r->smallest_axis = fmin(r->smallest_axis, half_width);
}

static abut_status hold_primitives(arena *memory, const primitives *found, const scaled *m,
                                   double temperature, abut_body_def *def, abut_decompose_report *r)
{
  void *quadrics, *others;
  TRY(arena_allocate(memory, &quadrics, found->count, sizeof(abut_superquadric)));
  TRY(arena_allocate(memory, &others, found->count, sizeof(abut_polyhedron)));
  abut_superquadric *superquadrics = quadrics;
  abut_polyhedron *polyhedra = others;
  for (size_t l = 0; l < found->count; ++l) {
    if (!found->at[l].parts) {
      hold_superquadric(&found->at[l], m, &superquadrics[def->superquadric_count++]);
    }
  }
  report_superquadrics(r, superquadrics, def->superquadric_count);
  for (size_t l = 0; l < found->count; ++l) {
    if (found->at[l].parts && !found->at[l].part) {
      double half_width;
      abut_polyhedron *to = &polyhedra[def->polyhedron_count++];
      TRY(hold_polyhedron(memory, &found->at[l], m, temperature, to, &half_width));
      report_polyhedron(r, to, half_width);
    }
  }
  def->superquadrics = def->superquadric_count ? superquadrics : NULL;
  def->polyhedra = def->polyhedron_count ? polyhedra : NULL;
  return ABUT_SUCCESS;
}

static abut_status hold_contact_mesh(arena *memory, const surface *s, const scaled *m,
                                     abut_body_def *def)
{
  abut_status status = ABUT_SUCCESS;
  skin contact = {0};
  void *vertices, *edges;
  TRY_DONE(skin_create(s, 0, &contact));
  TRY_DONE(arena_allocate(memory, &vertices, contact.vertex_count, 3 * sizeof(double)));
  TRY_DONE(arena_allocate(memory, &edges, contact.edge_count, 2 * sizeof(uint32_t)));
  for (size_t i = 0; i < 3 * contact.vertex_count; ++i) {
    ((double *)vertices)[i] = contact.vertices[i] * m->diagonal + m->middle[i % 3];
  }
  if (contact.edge_count) {
    memcpy(edges, contact.edges, contact.edge_count * 2 * sizeof(uint32_t));
  }
  def->vertices = vertices;
  def->vertex_count = contact.vertex_count;
  def->edges = edges;
  def->edge_count = contact.edge_count;
done:
  skin_free(&contact);
  return status;
}

void report_superquadrics(abut_decompose_report *r, const abut_superquadric *s, size_t count)
{
  r->primitives = count;
  r->smallest_axis = HUGE_VAL;
  r->subtracted = 0;
  for (size_t l = 0; l < count; ++l) {
    r->subtracted += s[l].operation == ABUT_SUBTRACT;
    for (int k = 0; k < 3; ++k) {
      r->smallest_axis = fmin(r->smallest_axis, s[l].axes[k]);
    }
    for (int k = 0; k < 2; ++k) {
      r->exponents_at_bound += s[l].exponents[k] <= EXPONENT_LOW ||
                               s[l].exponents[k] >= EXPONENT_HIGH;
    }
  }
}

static void report_mesh(abut_decompose_report *r, const decomposition *d, const scaled *m)
{
  const double cube = m->diagonal * m->diagonal * m->diagonal;
  for (size_t i = 0; i < d->fine.count; ++i) {
    r->sampled_volume += d->fine.distance[i] < 0.0 ? d->fine.volume[i] * cube : 0.0;
  }
  for (int k = 0; k < 3; ++k) { /* samples are in shares of the diagonal */
    r->depth_ratio_most_at[k] = r->depth_ratio_most_at[k] * m->diagonal + m->middle[k];
  }
  r->samples = d->fine.count;
  r->diagonal = m->diagonal;
  r->union_ = d->options->union_ * m->diagonal;
  r->plane = plane_temperature(d) * m->diagonal;
  r->suspicions = diagonal_suspicions(m->diagonal);
}

/* ---- all of it ---- */

static abut_status check_options(const abut_decompose_options *given, abut_decompose_options *o)
{
  *o = *given;
  if (o->primitives > ABUT_DECOMPOSE_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "the number of primitives is %u; give 1 to %d", o->primitives,
                ABUT_DECOMPOSE_MOST);
  }
  if (o->most_primitives > ABUT_DECOMPOSE_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "the largest number of primitives is %u; give 1 to %d",
                o->most_primitives, ABUT_DECOMPOSE_MOST);
  }
  if (o->error != 0.0 && !(o->error >= 1e-3 && o->error <= 0.9)) {
    return fail(ABUT_ERROR_ARGUMENT, "the error is %g, not in [0.001, 0.9]", o->error);
  }
  if (o->union_ != 0.0 && !(o->union_ >= 0.001 && o->union_ <= 0.05)) {
    return fail(ABUT_ERROR_ARGUMENT, "the union is %g of the diagonal, not in [0.001, 0.05]",
                o->union_);
  }
  if (o->family != ABUT_DECOMPOSE_SQ && o->family != ABUT_DECOMPOSE_AUTO) {
    return fail(ABUT_ERROR_ARGUMENT,
                "the family is %d; it must be ABUT_DECOMPOSE_SQ or ABUT_DECOMPOSE_AUTO",
                (int)o->family);
  }
  o->most_primitives = o->most_primitives ? o->most_primitives
                       : o->error != 0.0  ? ABUT_DECOMPOSE_MOST
                                          : MOST_USUAL;
  o->error = o->error != 0.0 ? o->error : ERROR_USUAL;
  o->union_ = o->union_ != 0.0 ? o->union_ : UNION_USUAL;
  return ABUT_SUCCESS;
}

static abut_status make(context *owner, const abut_body_def *mesh, const abut_decompose_options *o,
                        arena *memory, abut_decomposition *out)
{
  abut_status status = ABUT_SUCCESS;
  surface s = {0};
  solid inside = {0};
  scaled m = {.vertices = NULL};
  surface_report made;
  void *call_memory = NULL;
  decomposition d = {.options = o, .inside = &inside, .of = &s};
  const double begun = now();
  TRY_DONE(decompose_tell(&d, "surface", 0.0));
  TRY_DONE(scale_mesh(mesh, &m));
  TRY_DONE(surface_create(&m.def, &s, &made));
  TRY_DONE(solid_create(&inside, &s));
  TRY_DONE(sample(&d));
  const double sampled = now();
  TRY_DONE(allocate(&call_memory, 1, sizeof(decompose_call)));
  decompose_call *call = call_memory;
  call->base = (batch_call){.operation = &decompose_operation,
                            .context = owner,
                            .count = 1,
                            .rates = owner->query_rates[QUERY_DECOMPOSE]};
  call->d = &d;
  TRY_DONE(batch_run(&call->base));
  out->def = abut_default_body_def();
  abut_decompose_report *r = &out->report;
  *r = call->report;
  TRY_DONE(hold_primitives(memory, &call->found, &m, plane_temperature(&d), &out->def, r));
  TRY_DONE(hold_contact_mesh(memory, &s, &m, &out->def));
  TRY_DONE(field_hold_surface(memory, mesh, &out->def));
  report_mesh(r, &d, &m);
  TRY_DONE(surface_solid_volume(&s, &made, &r->volume));
  r->volume *= m.diagonal * m.diagonal * m.diagonal;
  out->def.union_ = r->union_;
  r->faces = mesh->face_count;
  r->shells_turned = made.shells_turned;
  r->holes = made.holes;
  r->open_edges = made.open_edges;
  r->welded_within = made.welded_within * m.diagonal;
  r->closing_doubt = made.doubt;
  r->suspicions |= (made.open_edges && !made.holes ? ABUT_SUSPECT_OPEN : 0u) |
                   (made.welded_within > 0.0 ? ABUT_SUSPECT_WELDED : 0u) |
                   (made.doubt > 0.0 ? ABUT_SUSPECT_CLOSING : 0u);
  r->seconds_sampling = sampled - begun;
  r->seconds = now() - begun;
  r->failures = call->base.failures;
done:
  samples_free(&d.search);
  samples_free(&d.fine);
  cells_free(&d.cells);
  cells_apart_free(&d.apart);
  solid_free(&inside);
  surface_free(&s);
  free(m.vertices);
  free(call_memory);
  return status;
}

abut_status abut_decompose(abut_context handle_, const abut_body_def *mesh,
                           const abut_decompose_options *options, abut_decomposition *out)
{
  ENTER(context_pool, handle_);
  abut_decompose_options o;
  void *memory = NULL;
  if (out) {
    memset(out, 0, sizeof *out);
  }
  context *owner = context_get(handle_);
  if (!owner) {
    return ABUT_ERROR_HANDLE;
  }
  if (!mesh || !options || !out || options->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_decompose: the mesh or the output pointer is NULL, or "
                                     "the options were not made by abut_default_decompose_options");
  }
  TRY(check_options(options, &o));
  TRY(check_mesh(mesh));
  TRY(allocate(&memory, 1, sizeof(arena)));
  const abut_status status = make(owner, mesh, &o, memory, out);
  if (status != ABUT_SUCCESS) {
    arena_free(memory);
    free(memory);
    memset(out, 0, sizeof *out);
    return status;
  }
  out->memory = memory;
  return ABUT_SUCCESS;
}

void abut_free_decomposition(abut_decomposition *d)
{
  if (d) {
    if (d->memory) {
      arena_free(d->memory);
      free(d->memory);
    }
    memset(d, 0, sizeof *d);
  }
}
