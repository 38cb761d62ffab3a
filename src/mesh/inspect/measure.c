#include "mesh/inspect/measure.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/inspect/apart.h"
#include "mesh/inspect/depth.h"
#include "mesh/surface/mesh_check.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE ((size_t)MEASURE_SIDE)
#define CELLS (SIDE * SIDE * SIDE)
#define INSIDE 0.5   /* winding number */
#define TOUCHED 4    /* a bit of a cell: the surface passes through it, or almost */
#define ROUNDED 1e-6 /* in cells: a triangle that misses a cell by less is counted */
#define FINE 220.0   /* cells of the field's surface along the diagonal */
#define MARGIN 8     /* in these cells, around the mesh's box */
#define FAR 0.01     /* share of the diagonal */

/* ---- cells ---- */

typedef struct cutter {
  const surface *s;
  const solid *inside;
  double first[3], step[3]; /* the middle of cell (0, 0, 0), and the spacing [m] */
  unsigned char *cells;
} cutter;

static double middle_of(const cutter *c, int k, size_t i)
{
  return c->first[k] + c->step[k] * (double)i;
}

/* Finds the cells along an axis that the interval from `low` to `high` meets. */
static void cells_along(const cutter *c, int k, double low, double high, size_t range[2])
{
  const double from = floor((low - c->first[k]) / c->step[k] + 0.5 - ROUNDED);
  const double to = floor((high - c->first[k]) / c->step[k] + 0.5 + ROUNDED);
  range[0] = (size_t)fmin(fmax(from, 0.0), (double)(SIDE - 1));
  range[1] = (size_t)fmin(fmax(to, 0.0), (double)(SIDE - 1));
}

/* Marks the cells that a triangle's box and plane both pass through. */
static void touch(cutter *c, size_t t)
{
  const double *v[3];
  double normal[3], reach = 0.0;
  size_t range[3][2];
  triangle_area(c->s, t, normal);
  for (size_t k = 0; k < 3; ++k) {
    v[k] = c->s->points + 3 * (size_t)c->s->triangles[3 * t + k];
  }
  for (int k = 0; k < 3; ++k) {
    cells_along(c, k, fmin(v[0][k], fmin(v[1][k], v[2][k])), fmax(v[0][k], fmax(v[1][k], v[2][k])),
                range[k]);
    reach += (0.5 + ROUNDED) * c->step[k] * fabs(normal[k]);
  }
  for (size_t i = range[0][0]; i <= range[0][1]; ++i) {
    for (size_t j = range[1][0]; j <= range[1][1]; ++j) {
      for (size_t k = range[2][0]; k <= range[2][1]; ++k) {
        const double x[3] = {middle_of(c, 0, i), middle_of(c, 1, j), middle_of(c, 2, k)};
        double off[3];
        difference(x, v[0], off);
        if (fabs(dot(off, normal)) <= reach) {
          c->cells[(i * SIDE + j) * SIDE + k] = TOUCHED;
        }
      }
    }
  }
}

/* The surface does not pass between the middles of two cells that it does not touch, so both are on
 * the same side. Open edges of the surface are exceptions. */
static void fill_slab(void *user, size_t i)
{
  cutter *c = user;
  const double widest = fmax(c->step[0], fmax(c->step[1], c->step[2]));
  for (size_t j = 0; j < SIDE; ++j) {
    unsigned char *row = c->cells + (i * SIDE + j) * SIDE, before = TOUCHED;
    for (size_t k = 0; k < SIDE; ++k) {
      const double x[3] = {middle_of(c, 0, i), middle_of(c, 1, j), middle_of(c, 2, k)};
      const bool follows = !((before | row[k]) & TOUCHED) && solid_is_clear(c->inside, x, widest);
      const unsigned char is_in = follows ? before & CELL_OF_MESH
                                  : tree_winding(&c->inside->all, x) > INSIDE ? CELL_OF_MESH
                                                                              : 0;
      before = row[k] | is_in;
      row[k] = is_in;
    }
  }
}

static abut_status add_field(const field_of *f, const cutter *c)
{
  void *memory;
  const size_t size[3] = {SIDE, SIDE, SIDE};
  TRY(allocate(&memory, CELLS, sizeof(float)));
  const float *value = memory;
  const abut_status status = field_at_nodes(f, c->first, c->step, size, memory);
  for (size_t i = 0; i < CELLS && status == ABUT_SUCCESS; ++i) {
    c->cells[i] |= value[i] <= 0.0f ? CELL_OF_FIELD : 0;
  }
  free(memory);
  return status;
}

abut_status measure_cells(const field_of *f, const surface *s, const solid *inside,
                          unsigned char *cells)
{
  cutter c = {.s = s, .inside = inside, .cells = cells};
  for (int k = 0; k < 3; ++k) {
    c.step[k] = (s->upper[k] - s->lower[k]) / MEASURE_CELLS;
    c.first[k] = s->lower[k] + (0.5 - MEASURE_PAD) * c.step[k];
  }
  memset(cells, 0, CELLS);
  for (size_t t = 0; t < s->triangle_count; ++t) {
    touch(&c, t);
  }
  parallel_for(SIDE, fill_slab, &c);
  return add_field(f, &c);
}

static abut_status compare_solids(const field_of *f, const surface *s, const extent *e,
                                  abut_fit *out)
{
  solid inside = {0};
  volumes v = {0};
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(solid_create(&inside, s));
  TRY_DONE(volumes_create(f, s, &inside, e, &v));
  TRY_DONE(volumes_compare(&v, out));
  TRY_DONE(measure_depth(f, s, &inside, &v, out));
done:
  volumes_free(&v);
  solid_free(&inside);
  return status;
}

/* ---- surfaces ---- */

/* Adds the triangles of another surface, except those whose middles are in a box. */
static abut_status add_surface(surface *s, const surface *other, const double lower[3],
                               const double upper[3])
{
  const size_t first = s->point_count;
  size_t point_room = first, triangle_room = s->triangle_count;
  TRY(grow((void **)&s->points, &point_room, first + other->point_count, 3 * sizeof(double)));
  TRY(grow((void **)&s->triangles, &triangle_room, s->triangle_count + other->triangle_count,
           3 * sizeof(uint32_t)));
  memcpy(s->points + 3 * first, other->points, other->point_count * 3 * sizeof(double));
  s->point_count += other->point_count;
  for (size_t t = 0; t < other->triangle_count; ++t) {
    const uint32_t *c = other->triangles + 3 * t;
    bool is_within = true;
    for (size_t k = 0; k < 3; ++k) {
      const double middle =
        (other->points[3 * (size_t)c[0] + k] + other->points[3 * (size_t)c[1] + k] +
         other->points[3 * (size_t)c[2] + k]) /
        3.0;
      is_within = is_within && middle >= lower[k] && middle <= upper[k];
    }
    for (size_t k = 0; k < 3 && !is_within; ++k) {
      s->triangles[3 * s->triangle_count + k] = (uint32_t)(first + c[k]);
    }
    s->triangle_count += !is_within;
  }
  return ABUT_SUCCESS;
}

static abut_status march(const field_of *f, const lattice *l, surface *out)
{
  const double step[3] = {l->spacing, l->spacing, l->spacing};
  void *value;
  TRY(allocate(&value, lattice_count(l), sizeof(float)));
  abut_status status = field_at_nodes(f, l->origin, step, l->size, value);
  if (status == ABUT_SUCCESS) {
    status = level_set_create(l, value, out);
  }
  free(value);
  return status;
}

/* Adds the parts outside the lattice. */
static abut_status march_around(const field_of *f, const lattice *within, const extent *e,
                                surface *out)
{
  outskirts o = {.level = 0};
  double upper[3];
  abut_status status = ABUT_SUCCESS;
  for (int k = 0; k < 3; ++k) {
    o.origin[k] = within->origin[k];
    o.step[k] = within->spacing;
    o.cells[k] = (within->size[k] - 1) / INNER_BLOCKS;
    upper[k] = within->origin[k] + within->spacing * (double)(within->size[k] - 1);
  }
  TRY_DONE(outskirts_create(e, &o));
  for (size_t block = 0; block < o.count; ++block) {
    lattice l;
    double step[3];
    surface part;
    outskirts_place(&o, block, l.origin, step);
    l.spacing = step[0];
    for (int k = 0; k < 3; ++k) {
      l.size[k] = o.cells[k] + 1;
    }
    TRY_DONE(march(f, &l, &part));
    status = part.triangle_count ? add_surface(out, &part, within->origin, upper) : ABUT_SUCCESS;
    surface_free(&part);
    TRY_DONE(status);
  }
  level_set_measure(out);
done:
  outskirts_free(&o);
  return status;
}

abut_status measure_zero_set(const field_of *f, const surface *s, const extent *e, surface *out)
{
  lattice l = {.spacing = s->diagonal / FINE};
  *out = (surface){0};
  for (int k = 0; k < 3; ++k) {
    const size_t cells = (size_t)ceil((s->upper[k] - s->lower[k]) / l.spacing) + 2 * MARGIN;
    l.origin[k] = s->lower[k] - MARGIN * l.spacing;
    l.size[k] = (cells + INNER_BLOCKS - 1) / INNER_BLOCKS * INNER_BLOCKS + 1;
  }
  TRY(march(f, &l, out));
  if (!out->triangle_count) {
    return fail(ABUT_ERROR_BODY, "the field has no surface inside the box of the mesh: are both in "
                                 "the same unit of length and in the same place?");
  }
  const abut_status status = march_around(f, &l, e, out);
  if (status != ABUT_SUCCESS) {
    surface_free(out);
    *out = (surface){0};
  }
  return status;
}

static abut_status compare_surfaces(const field_of *f, const surface *s, const extent *e,
                                    abut_fit *out)
{
  surface zero = {0};
  distances apart;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(measure_zero_set(f, s, e, &zero));
  TRY_DONE(surfaces_apart(s, &zero, FAR * s->diagonal, &apart));
  out->chamfer_percent = 50.0 * (apart.mean[0] + apart.mean[1]) / s->diagonal;
  out->hausdorff_percent = 100.0 * fmax(apart.most[0], apart.most[1]) / s->diagonal;
  out->surface_beyond_1_percent = apart.beyond;
  out->over_holes = apart.over_holes;
done:
  surface_free(&zero);
  return status;
}

static abut_status measure_fit(const field_of *f, const surface *s, abut_fit *out)
{
  extent e;
  TRY(extent_create(f, &e));
  memset(out, 0, sizeof *out);
  out->endless = e.endless;
  abut_status status = compare_surfaces(f, s, &e, out);
  if (status == ABUT_SUCCESS) {
    status = compare_solids(f, s, &e, out);
  }
  extent_free(&e);
  return status;
}

abut_status abut_measure_fit(abut_body body, double union_tau, double plane_tau,
                             const abut_body_def *mesh, abut_fit *fit)
{
  const field_of field = {body, union_tau, plane_tau};
  surface s;
  surface_report report;
  if (!mesh || !fit) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_measure_fit: the mesh or the output pointer is NULL");
  }
  TRY(check_mesh(mesh));
  TRY(surface_create(mesh, &s, &report));
  const abut_status status = measure_fit(&field, &s, fit);
  surface_free(&s);
  return status;
}
