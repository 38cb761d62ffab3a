#include <abut/contact_mesh.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "mesh/contact_mesh/relax.h"
#include "mesh/contact_mesh/zero_set.h"
#include "mesh/inspect/apart.h"
#include "mesh/inspect/quality.h"
#include "mesh/surface/thin.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab07000cu
#define VERTICES 300
#define SWEEPS 12
#define SWEEPS_MOST 100
#define LEFT_OUT_MOST 0.01 /* share of the volume in pieces other than the largest */
#define REACH 0.02 /* longest step of a vertex towards the surface, as a share of the diagonal */

abut_contact_mesh_options abut_default_contact_mesh_options(void)
{
  abut_contact_mesh_options options;
  memset(&options, 0, sizeof options);
  options.cookie = COOKIE;
  return options;
}

static abut_status check_options(abut_contact_mesh_options *o)
{
  if (o->vertices &&
      (o->vertices < ABUT_CONTACT_MESH_LEAST || o->vertices > ABUT_CONTACT_MESH_MOST)) {
    return fail(ABUT_ERROR_ARGUMENT, "a contact mesh cannot have %u vertices; give %d to %d",
                o->vertices, ABUT_CONTACT_MESH_LEAST, ABUT_CONTACT_MESH_MOST);
  }
  if (o->sweeps > SWEEPS_MOST) {
    return fail(ABUT_ERROR_ARGUMENT, "the search cannot do %u sweeps; at most %d are possible",
                o->sweeps, SWEEPS_MOST);
  }
  o->vertices = o->vertices ? o->vertices : VERTICES;
  o->sweeps = o->sweeps ? o->sweeps : SWEEPS;
  return ABUT_SUCCESS;
}

/* Thins a surface to the given number of vertices, each with a triangle, and pairs its sides. */
static abut_status thin_out(const surface *fine, size_t vertices, surface *out)
{
  thinner t = {0};
  abut_status status = thin_create(fine, &t);
  if (status != ABUT_SUCCESS) {
    return status;
  }
  thin_to(&t, vertices);
  status = thin_surface(&t, out);
  thin_free(&t);
  return status == ABUT_SUCCESS ? surface_pair_sides(out) : status;
}

static abut_status report_of(probe *p, const zero_set *z, surface *mesh,
                             abut_contact_mesh_report *r)
{
  distances apart;
  void *memory;
  level_set_measure(mesh);
  *r = (abut_contact_mesh_report){.vertices = mesh->point_count,
                                  .faces = mesh->triangle_count,
                                  .edges = mesh->triangle_count / 2 * 3,
                                  .parts_left_out = z->others,
                                  .left_out = z->others_share,
                                  .covers = z->others_share <= LEFT_OUT_MOST,
                                  .diagonal = z->fine.diagonal};
  r->genus = 1 - ((int64_t)mesh->point_count - (int64_t)mesh->triangle_count / 2) / 2;
  r->volume_kept = mesh->volume / z->fine.volume;
  r->quality_least = 1.0;
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t *c = mesh->triangles + 3 * t;
    const double quality = triangle_quality(mesh->points + 3 * (size_t)c[0],
                                            mesh->points + 3 * (size_t)c[1],
                                            mesh->points + 3 * (size_t)c[2]);
    r->quality_mean += quality / (double)mesh->triangle_count;
    r->quality_least = fmin(r->quality_least, quality);
  }
  TRY(allocate(&memory, mesh->point_count, sizeof(double)));
  const double *field = memory;
  probe_field(p, mesh->points, mesh->point_count, memory, NULL);
  for (size_t i = 0; i < mesh->point_count; ++i) {
    r->off = fmax(r->off, fabs(field[i]));
  }
  free(memory);
  TRY(surfaces_apart(mesh, &z->fine, 0.0, &apart));
  r->chamfer_percent = 50.0 * (apart.mean[0] + apart.mean[1]) / r->diagonal;
  r->hausdorff_percent = 100.0 * fmax(apart.most[0], apart.most[1]) / r->diagonal;
  return ABUT_SUCCESS;
}

/* Puts the mesh into the definition. */
static abut_status hold(const surface *s, arena *memory, abut_body_def *def)
{
  void *vertices, *sizes, *indices;
  TRY(arena_allocate(memory, &vertices, s->point_count, 3 * sizeof(double)));
  TRY(arena_allocate(memory, &sizes, s->triangle_count, sizeof(uint32_t)));
  TRY(arena_allocate(memory, &indices, s->triangle_count, 3 * sizeof(uint32_t)));
  memcpy(vertices, s->points, s->point_count * 3 * sizeof(double));
  memcpy(indices, s->triangles, s->triangle_count * 3 * sizeof(uint32_t));
  for (size_t i = 0; i < s->triangle_count; ++i) {
    ((uint32_t *)sizes)[i] = 3;
  }
  *def = abut_default_body_def();
  def->vertices = vertices;
  def->vertex_count = s->point_count;
  def->face_sizes = sizes;
  def->face_indices = indices;
  def->face_count = s->triangle_count;
  return ABUT_SUCCESS;
}

static abut_status make(const field_of *f, const abut_contact_mesh_options *o, arena *memory,
                        abut_contact_mesh *out)
{
  probe p;
  box b;
  zero_set z = {0};
  surface mesh = {0};
  abut_status status = ABUT_SUCCESS;
  TRY(probe_create(f, &p, &b));
  TRY_DONE(zero_set_create(f, &b, &z));
  p.reach = REACH * z.fine.diagonal;
  TRY_DONE(thin_out(&z.fine, o->vertices, &mesh));
  TRY_DONE(relax(&p, &z.fine, o->sweeps, &mesh));
  TRY_DONE(report_of(&p, &z, &mesh, &out->report));
  TRY_DONE(hold(&mesh, memory, &out->def));
done:
  surface_free(&mesh);
  zero_set_free(&z);
  probe_free(&p);
  return status;
}

abut_status abut_make_contact_mesh(abut_body body, double union_tau, double plane_tau,
                                   const abut_contact_mesh_options *options,
                                   abut_contact_mesh *mesh)
{
  const field_of field = {body, union_tau, plane_tau};
  void *memory;
  if (!options || !mesh || options->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT,
                "abut_make_contact_mesh: the options were not made by "
                "abut_default_contact_mesh_options, or the output pointer is NULL");
  }
  abut_contact_mesh_options o = *options;
  memset(mesh, 0, sizeof *mesh);
  TRY(check_options(&o));
  TRY(allocate(&memory, 1, sizeof(arena)));
  const abut_status status = make(&field, &o, memory, mesh);
  if (status != ABUT_SUCCESS) {
    arena_free(memory);
    free(memory);
    memset(mesh, 0, sizeof *mesh);
    return status;
  }
  mesh->memory = memory;
  return ABUT_SUCCESS;
}

void abut_free_contact_mesh(abut_contact_mesh *mesh)
{
  if (mesh) {
    if (mesh->memory) {
      arena_free(mesh->memory);
      free(mesh->memory);
    }
    memset(mesh, 0, sizeof *mesh);
  }
}
