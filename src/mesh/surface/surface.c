#include "mesh/surface/surface.h"

#include "base/error.h"
#include "base/memory.h"
#include "mesh/surface/maker.h"
#include "mesh/surface/overlap.h"
#include "mesh/surface/sides.h"
#include <stdlib.h>
#include <string.h>

#define DIAGONAL_LEAST 1e-6 /* [m] */
/* of the area: a mesh with larger holes may be a sheet, such as a terrain, */
#define SHEET_HOLES 0.25
#define SHEET_LEAST 0.01 /* and is one if its volume is below this */
/* volume over area to the power 3/2: meshes with less are sheets */
#define ENCLOSED_LEAST 2e-5

static void measure_box(surface *s)
{
  double d[3];
  for (int k = 0; k < 3; ++k) {
    s->lower[k] = HUGE_VAL;
    s->upper[k] = -HUGE_VAL;
  }
  for (size_t i = 0; i < 3 * s->triangle_count; ++i) {
    const double *p = point_of(s, s->triangles[i]);
    for (int k = 0; k < 3; ++k) {
      s->lower[k] = fmin(s->lower[k], p[k]);
      s->upper[k] = fmax(s->upper[k], p[k]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    d[k] = s->triangle_count ? s->upper[k] - s->lower[k] : 0.0;
  }
  s->diagonal = length(d);
}

static void measure_all(maker *m)
{
  surface *s = m->s;
  const double closing = m->report->hole_share;
  s->area = s->volume = 0.0;
  for (size_t i = 0; i < s->triangle_count; ++i) {
    double area[3];
    triangle_area(s, i, area);
    s->area += s->polygon[i] == NO_POLYGON ? 0.0 : length(area);
    s->volume += volume_under(s, i, s->lower);
  }
  m->report->hole_share = s->area > 0.0 ? closing / (s->area + closing) : 0.0;
}

static abut_status make(maker *m, const abut_body_def *def)
{
  surface *s = m->s;
  abut_status status = ABUT_SUCCESS;
  void *memory = NULL, *to_memory = NULL;
  bool any = false;
  TRY_DONE(allocate(&to_memory, def->vertex_count, sizeof(uint32_t)));
  uint32_t *to = to_memory;
  TRY_DONE(weld_equal(def->vertices, def->vertex_count, to));
  TRY_DONE(allocate(&memory, def->vertex_count, 3 * sizeof(double)));
  s->points = memory;
  s->point_count = m->point_room = def->vertex_count;
  memcpy(s->points, def->vertices, def->vertex_count * 3 * sizeof(double));
  for (size_t i = 0; i < def->vertex_count; ++i) {
    m->report->welded += to[i] != i;
  }
  TRY_DONE(add_faces(m, def, to));
  TRY_DONE(drop_repeated(m));
  measure_box(s);
  if (!s->triangle_count || !(s->diagonal > 0.0)) {
    status = fail(ABUT_ERROR_BODY, "every face of the mesh has area 0");
    goto done;
  }
  if (s->diagonal < DIAGONAL_LEAST) {
    status = fail(ABUT_ERROR_BODY,
                  "the size of the mesh is %g m, less than the minimum of %g m: scale it up",
                  s->diagonal, DIAGONAL_LEAST);
    goto done;
  }
  TRY_DONE(find_neighbours(m));
  TRY_DONE(drop_walls(m, &any));
  TRY_DONE(renew(m, any));
  TRY_DONE(join_open(m));
  TRY_DONE(orient(m));
  TRY_DONE(close_surface(m));
  measure_all(m);
  const double least = m->report->hole_share > SHEET_HOLES ? SHEET_LEAST : ENCLOSED_LEAST;
  if (!(s->volume > least * s->area * sqrt(s->area))) {
    status = fail(ABUT_ERROR_BODY,
                  "the mesh encloses no volume (its volume is %.2g of its area to the power 3/2; a "
                  "sphere has 0.094): an open sheet has no inside; give it a thickness, or write a "
                  "body file with a field of your own",
                  s->area > 0.0 ? s->volume / (s->area * sqrt(s->area)) : 0.0);
    goto done;
  }
  status = surface_pair_sides(s);
done:
  free(to_memory);
  return status;
}

abut_status surface_create(const abut_body_def *def, surface *out, surface_report *report)
{
  maker m = {.s = out, .report = report};
  *out = (surface){0};
  *report = (surface_report){0};
  const abut_status status = make(&m, def);
  free(m.across);
  out->shell = m.shell;
  out->shell_count = m.shell_count;
  free(m.tangles);
  free(m.opposed);
  if (status != ABUT_SUCCESS) {
    surface_free(out);
  }
  return status;
}

abut_status surface_pair_sides(surface *s)
{
  void *memory;
  if (s->triangle_count >= SIDE_TANGLED / 3) {
    return fail(ABUT_ERROR_BODY, "there are too many triangles: %zu", s->triangle_count);
  }
  TRY(allocate(&memory, s->triangle_count, 3 * sizeof(uint32_t)));
  s->across = memory;
  return sides_pair(s->triangles, s->triangle_count, s->point_count, s->across);
}

abut_status surface_solid_volume(const surface *s, const surface_report *report, double *out)
{
  double overlap[OVERLAP_MOMENTS] = {0.0};
  if (!report->open_edges) {
    TRY(surface_overlap(&(overlap_mesh){s->points, s->point_count, s->triangles, s->triangle_count,
                                        s->shell, s->shell_count},
                        overlap));
  }
  *out = s->volume - overlap[0];
  return ABUT_SUCCESS;
}

void surface_free(surface *s)
{
  free(s->points);
  free(s->triangles);
  free(s->across);
  free(s->shell);
  free(s->polygon);
  *s = (surface){0};
}
