#include "contact/shape_follow.h"

#include "base/error.h"
#include "engine/device/host_path.h"
#include "geometry/layout.h"
#include "geometry/sites.h"
#include "contact/shape_moves.h"
#include "contact/shape_rows.h"
#include "contact/smoothing.h"

/* Input and output of the kernels: one pose with a site at each vertex. */
typedef struct follower {
  const body *of;
  size_t sites, width;
  reals shape, coefficients; /* in double */
  double *points, *field, *at, *shares, *parts, *row;
  double *change; /* of the field, on duals */
} follower;

/* Prepares a pass: back to the primitives, or along a direction of them. */
static abut_status make(const body *b, const abut_smoothing *smoothing, bool back, follower *f)
{
  void *memory = NULL;
  const size_t sites = b->info.vertices;
  *f = (follower){.of = b, .sites = sites, .width = shape_fields_width(b, sites)};
  double **const arrays[] = {&f->points, &f->field, &f->at,    &f->shares,
                             &f->parts,  &f->row,   &f->change};
  const size_t counts[] = {POINT_PLANES * sites,
                           FIELD_PLANES * sites,
                           back ? SITE_PLANES * sites : 0,
                           back ? SHARE_PLANES * sites : 0,
                           back ? PART_PLANES * sites : 0,
                           back ? f->width : 0,
                           back ? 0 : 2 * sites};
  TRY(coefficients_of(smoothing, sizeof(double), 0, &f->coefficients));
  TRY(reals_widen(&b->shape, &f->shape));
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
    TRY(allocate(&memory, counts[i], sizeof(double)));
    *arrays[i] = memory;
  }
  return ABUT_SUCCESS;
}

static void unmake(follower *f)
{
  free(f->shape.data);
  free(f->coefficients.data);
  free(f->points);
  free(f->field);
  free(f->at);
  free(f->shares);
  free(f->parts);
  free(f->row);
  free(f->change);
}

/* Finds the field's distance and gradient at all vertices. */
static void find_gradients(follower *f)
{
  const size_t n = f->sites;
  for (size_t i = 0; i < 3 * n; ++i) {
    f->points[i % 3 * n + i / 3] = f->of->vertices[i];
  }
  const host_argument a[] = {{.pointer = f->points},
                             {.integer = 0},
                             {.integer = (int)(POINT_PLANES * n)},
                             {.integer = (int)n},
                             {.pointer = NULL},
                             {.integer = -1},
                             {.pointer = f->of->head},
                             {.pointer = f->shape.data},
                             {.pointer = f->coefficients.data},
                             {.pointer = f->field}};
  host_launch_f64(KERNEL_FIELD_GRADIENT, n, 1, a);
}

/* Returns -g / |g|^2 . v at vertex i, the change of distance against v; 0 if g is zero. */
static double against(const follower *f, size_t i, const double v[3])
{
  double along = 0.0, square = 0.0;
  for (size_t k = 0; k < 3; ++k) {
    const double g = f->field[(1 + k) * f->sites + i];
    along += g * v[k];
    square += g * g;
  }
  return square > 0.0 ? -along / square : 0.0;
}

/* Writes the sites: each vertex with the cotangent of its distance. */
static void make_sites(follower *f, const double *bars)
{
  const size_t n = f->sites;
  find_gradients(f);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      f->at[k * n + i] = f->points[k * n + i];
      f->at[(SITE_NORMAL + k) * n + i] = f->at[(SITE_GRADIENT + k) * n + i] = 0.0;
    }
    f->at[SITE_PHI * n + i] = against(f, i, bars + 3 * i);
  }
}

/* The launches of shape_run.c on the host path. */
static void add_part(follower *f, const shape_part *p)
{
  const host_argument sites = {.pointer = f->at}, shares = {.pointer = f->shares};
  const host_argument parts = {.pointer = f->parts}, count = {.integer = (int)f->sites};
  const host_argument shape = {.pointer = f->shape.data}, first = {.integer = (int)p->first};
  const host_argument many = {.integer = (int)p->count}, head = {.pointer = f->coefficients.data};
  const host_argument of = {.integer = p->operation}, row = {.pointer = f->row};
  const host_argument width = {.integer = (int)f->width}, base = {.integer = (int)p->row};
  const host_argument whole[] = {sites, shares, count, shape, first, many,
                                 head,  of,     row,   width, base};
  const host_argument parted[] = {sites, shares, count, shape, first, many, head, of, parts};
  const host_argument plane[] = {sites, parts, count, shape, first, many, head, row, width, base};
  const host_argument point[] = {sites, parts, count, shape, first, many, row, width, base};
  switch (p->family) {
  case SHAPE_SUPERQUADRICS:
    host_launch_f64(KERNEL_SUPERQUADRICS_BY_SHAPE, p->count, 1, whole);
    break;
  case SHAPE_CORES:
    host_launch_f64(KERNEL_CORES_BY_SHAPE, p->count, 1, whole);
    break;
  case SHAPE_POLYHEDRON:
    host_launch_f64(KERNEL_POLYHEDRON_PARTS, f->sites, 1, parted);
    host_launch_f64(KERNEL_PLANES_BY_SHAPE, p->count, 1, plane);
    break;
  case SHAPE_CLOUD:
    host_launch_f64(KERNEL_POINTCLOUD_PARTS, f->sites, 1, parted);
    host_launch_f64(KERNEL_POINTS_BY_SHAPE, p->count, 1, point);
    break;
  default:
    host_launch_f64(KERNEL_GRID_SITES, f->sites, 1, whole);
    break;
  }
}

abut_status shape_follow(const body *b, const abut_smoothing *smoothing, double *sum)
{
  abut_status status = ABUT_SUCCESS;
  follower f = {0};
  TRY_DONE(make(b, smoothing, true, &f));
  make_sites(&f, sum);
  const host_argument a[] = {
    {.pointer = f.at},         {.integer = (int)f.sites},        {.pointer = b->head},
    {.pointer = f.shape.data}, {.pointer = f.coefficients.data}, {.pointer = f.shares}};
  host_launch_f64(KERNEL_SITE_SHARES, f.sites, 1, a);
  shape_walk w = shape_walk_begin(b, f.sites, 0, shape_own_first(b));
  const shape_walk all = w;
  while (shape_walk_next(&w)) {
    add_part(&f, &w.part);
  }
  shape_add_row(all, f.row, sizeof(double), sum);
done:
  unmake(&f);
  return status;
}

abut_status shape_follow_moves(const body *b, const abut_smoothing *smoothing, double *moves)
{
  abut_status status = ABUT_SUCCESS;
  follower f = {0};
  double *mesh = moves + shape_moves_mesh_at(b);
  TRY_DONE(make(b, smoothing, false, &f));
  find_gradients(&f);
  const host_argument a[] = {{.pointer = f.points},
                             {.integer = 0},
                             {.integer = 0},
                             {.integer = (int)f.sites},
                             {.pointer = NULL},
                             {.integer = -1},
                             {.pointer = b->head},
                             {.pointer = f.shape.data},
                             {.pointer = f.coefficients.data},
                             {.pointer = moves},
                             {.integer = 0},
                             {.integer = 0},
                             {.pointer = f.change}};
  host_launch_f64_dual(KERNEL_FIELD_ALONG_SHAPE, f.sites, 1, a);
  for (size_t i = 0; i < f.sites; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const double axis[3] = {k == 0, k == 1, k == 2};
      mesh[3 * i + k] += against(&f, i, axis) * f.change[f.sites + i];
    }
  }
done:
  unmake(&f);
  return status;
}
