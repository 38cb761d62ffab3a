#include "inspect/measure.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "inspect/apart.h"
#include "surface/mesh_check.h"
#include "surface/solid.h"
#include "surface/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE ((size_t)MEASURE_SIDE)
#define CELLS (SIDE * SIDE * SIDE)
#define INSIDE 0.5      /* winding number */
#define TOUCHED 4       /* a bit of a cell: the surface passes through it, or nearly */
#define ROUNDED 1e-6    /* shares of a cell by which a triangle may miss it and yet count */
#define FINE 220.0      /* cells of the field's surface along the diagonal */
#define MARGIN 8        /* of them around the mesh's box */
#define FAR 0.01        /* of the diagonal */

/* ---- cells ---- */

typedef struct cutter {
  const surface *s;
  solid inside;
  double first[3], step[3]; /* the middle of cell (0, 0, 0), and on to the next ones [m] */
  unsigned char *cells;
} cutter;

static double middle_of(const cutter *c, int k, size_t i)
{
  return c->first[k] + c->step[k] * (double)i;
}

/* Finds which cells along an axis the interval from `low` to `high` meets. */
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

/* Between the middles of two cells that the surface does not touch it does not pass, so that the second
 * is inside if the first is; but for where it has open edges. */
static void fill_slab(void *user, size_t i)
{
  cutter *c = user;
  const double widest = fmax(c->step[0], fmax(c->step[1], c->step[2]));
  for (size_t j = 0; j < SIDE; ++j) {
    unsigned char *row = c->cells + (i * SIDE + j) * SIDE, before = TOUCHED;
    for (size_t k = 0; k < SIDE; ++k) {
      const double x[3] = {middle_of(c, 0, i), middle_of(c, 1, j), middle_of(c, 2, k)};
      const bool follows = !((before | row[k]) & TOUCHED) && solid_is_clear(&c->inside, x, widest);
      const unsigned char is_in = follows ? before & CELL_OF_MESH
                                          : tree_winding(&c->inside.all, x) > INSIDE ? CELL_OF_MESH : 0;
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

abut_status measure_cells(const field_of *f, const surface *s, unsigned char *cells)
{
  cutter c = {.s = s, .cells = cells};
  abut_status status = ABUT_SUCCESS;
  for (int k = 0; k < 3; ++k) {
    c.step[k] = (s->upper[k] - s->lower[k]) / MEASURE_CELLS;
    c.first[k] = s->lower[k] + (0.5 - MEASURE_PAD) * c.step[k];
  }
  memset(cells, 0, CELLS);
  TRY_DONE(solid_create(&c.inside, s));
  for (size_t t = 0; t < s->triangle_count; ++t) {
    touch(&c, t);
  }
  parallel_for(SIDE, fill_slab, &c);
  TRY_DONE(add_field(f, &c));
done:
  solid_free(&c.inside);
  return status;
}

/* ---- volumes ---- */

/* Returns how many cells of the mesh alone hang together with cell `at`, and takes them out of the
 * mesh. waiting: room for all of them. */
static size_t take_part(unsigned char *cells, size_t at, uint32_t *waiting)
{
  static const size_t step[3] = {SIDE * SIDE, SIDE, 1};
  size_t count = 0, size = 0;
  cells[at] = 0;
  waiting[count++] = (uint32_t)at;
  while (count) {
    const size_t one = waiting[--count], place[3] = {one / step[0], one / SIDE % SIDE, one % SIDE};
    ++size;
    for (int a = 0; a < 6; ++a) {
      const int k = a / 2;
      if (place[k] == (a & 1 ? SIDE - 1 : 0)) {
        continue;
      }
      const size_t beside = a & 1 ? one + step[k] : one - step[k];
      if (cells[beside] == CELL_OF_MESH) {
        cells[beside] = 0;
        waiting[count++] = (uint32_t)beside;
      }
    }
  }
  return size;
}

static abut_status compare_solids(const field_of *f, const surface *s, abut_fit *out)
{
  size_t count[4] = {0, 0, 0, 0}, largest = 0;
  void *cells = NULL, *waiting = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&cells, CELLS, 1));
  TRY_DONE(measure_cells(f, s, cells));
  unsigned char *cell = cells;
  for (size_t i = 0; i < CELLS; ++i) {
    ++count[cell[i]];
  }
  TRY_DONE(allocate(&waiting, count[CELL_OF_MESH], sizeof(uint32_t)));
  for (size_t i = 0; i < CELLS; ++i) {
    const size_t size = cell[i] == CELL_OF_MESH ? take_part(cell, i, waiting) : 0;
    largest = size > largest ? size : largest;
  }
  const double both = (double)count[CELL_OF_MESH | CELL_OF_FIELD];
  const double mesh = both + (double)count[CELL_OF_MESH], field = both + (double)count[CELL_OF_FIELD];
  if (!(mesh > 0.0)) {
    status = fail(ABUT_ERROR_BODY, "the mesh is so thin that no cell of %d along each side of its box "
                  "has its middle inside", MEASURE_CELLS);
    goto done;
  }
  out->iou = both / (mesh + field - both);
  out->coverage = both / mesh;
  out->precision = field > 0.0 ? both / field : 0.0;
  out->largest_uncovered = (double)largest / mesh;
done:
  free(cells);
  free(waiting);
  return status;
}

/* ---- surfaces ---- */

abut_status measure_zero_set(const field_of *f, const surface *s, surface *out)
{
  lattice l = {.spacing = s->diagonal / FINE};
  const double step[3] = {l.spacing, l.spacing, l.spacing};
  void *value = NULL;
  abut_status status = ABUT_SUCCESS;
  for (int k = 0; k < 3; ++k) {
    l.origin[k] = s->lower[k] - MARGIN * l.spacing;
    l.size[k] = (size_t)ceil((s->upper[k] - s->lower[k]) / l.spacing) + 2 * MARGIN + 1;
  }
  TRY_DONE(allocate(&value, lattice_count(&l), sizeof(float)));
  TRY_DONE(field_at_nodes(f, l.origin, step, l.size, value));
  TRY_DONE(level_set_create(&l, value, out));
  if (!out->triangle_count) {
    status = fail(ABUT_ERROR_BODY, "the field has no surface within the mesh's box: are both in one "
                  "unit and in one place?");
  }
done:
  free(value);
  return status;
}

static abut_status compare_surfaces(const field_of *f, const surface *s, abut_fit *out)
{
  surface zero = {0};
  distances apart;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(measure_zero_set(f, s, &zero));
  TRY_DONE(surfaces_apart(s, &zero, FAR * s->diagonal, &apart));
  out->chamfer_percent = 50.0 * (apart.mean[0] + apart.mean[1]) / s->diagonal;
  out->hausdorff_percent = 100.0 * fmax(apart.most[0], apart.most[1]) / s->diagonal;
  out->surface_beyond_1_percent = apart.beyond;
done:
  surface_free(&zero);
  return status;
}

abut_status measure_fit(const field_of *f, const surface *s, abut_fit *out)
{
  *out = (abut_fit){0};
  TRY(compare_surfaces(f, s, out));
  return compare_solids(f, s, out);
}

abut_status abut_measure_fit(abut_body body, double union_tau, double plane_tau,
                             const abut_body_def *mesh, abut_fit *fit)
{
  const field_of field = {body, union_tau, plane_tau};
  surface s;
  surface_report report;
  if (!mesh || !fit) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_measure_fit needs a mesh, and a place for its answer");
  }
  TRY(check_mesh(mesh));
  TRY(surface_create(mesh, &s, &report));
  const abut_status status = measure_fit(&field, &s, fit);
  surface_free(&s);
  return status;
}
