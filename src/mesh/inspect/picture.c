/* Draws a mesh, the primitives, the field's surface and the deviations between them. */
#include "base/call_lock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "body/body.h"
#include "mesh/inspect/measure.h"
#include "mesh/inspect/raster.h"
#include "mesh/surface/mesh_check.h"
#include "mesh/surface/solid.h"
#include "math/vector.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0xab07000du
#define SIDE_LEAST 16
#define SIDE_MOST 4096
/* share of the diagonal to which triangles are cut for colouring */
#define PIECE_SIDE (1.0 / 100.0)
#define DEEPEST 24 /* cuts of a triangle */
#define FULL 0.02  /* share of the diagonal at which a colour is saturated */
/* size to which a face of an unbounded polyhedron is drawn, in diagonals of the mesh */
#define WIDE 4.0
#define ROUND 64 /* strips around a superquadric */
#define TALL 48  /* strips from pole to pole */
#define PI 3.14159265358979323846
#define QUERIES 256 /* queries per piece of work */

static const colour stone = {0.80f, 0.79f, 0.76f}, steel = {0.62f, 0.70f, 0.80f};
static const colour red = {0.86f, 0.20f, 0.16f}, blue = {0.16f, 0.40f, 0.86f};
static const colour neutral = {0.88f, 0.87f, 0.84f};

abut_fit_view abut_default_fit_view(void)
{
  abut_fit_view v;
  memset(&v, 0, sizeof v);
  v.width = 480;
  v.height = 400;
  v.azimuth = 0.6;
  v.elevation = 0.35;
  v.cookie = COOKIE;
  return v;
}

/* Triangles to draw. */
typedef struct sheet {
  void *corners, *colours; /* double (count, 3, 3), colour (count) */
  size_t count, corner_room, colour_room;
} sheet;

static void sheet_free(sheet *s)
{
  free(s->corners);
  free(s->colours);
  *s = (sheet){0};
}

static abut_status add_triangle(sheet *s, const double *a, const double *b, const double *c,
                                colour in)
{
  TRY(grow(&s->corners, &s->corner_room, s->count + 1, 9 * sizeof(double)));
  TRY(grow(&s->colours, &s->colour_room, s->count + 1, sizeof(colour)));
  double *to = (double *)s->corners + 9 * s->count;
  memcpy(to, a, 3 * sizeof *a);
  memcpy(to + 3, b, 3 * sizeof *b);
  memcpy(to + 6, c, 3 * sizeof *c);
  ((colour *)s->colours)[s->count++] = in;
  return ABUT_SUCCESS;
}

/* Adds a triangle. It is halved across its longest side until no side is longer than `most`. */
static abut_status add_pieces(sheet *s, const double *const c[3], double most, int deep, colour in)
{
  int longest = 0;
  double length2[3];
  for (int k = 0; k < 3; ++k) {
    double d[3];
    difference(c[(k + 1) % 3], c[k], d);
    length2[k] = dot(d, d);
    longest = length2[k] > length2[longest] ? k : longest;
  }
  if (!deep || length2[longest] <= most * most) {
    return add_triangle(s, c[0], c[1], c[2], in);
  }
  const double *a = c[longest], *b = c[(longest + 1) % 3], *apex = c[(longest + 2) % 3];
  const double middle[3] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])};
  const double *const one[3] = {a, middle, apex}, *const two[3] = {middle, b, apex};
  TRY(add_pieces(s, one, most, deep - 1, in));
  return add_pieces(s, two, most, deep - 1, in);
}

static abut_status add_surface(sheet *s, const surface *from, size_t triangles, double most,
                               colour in)
{
  for (size_t t = 0; t < triangles; ++t) {
    const double *c[3];
    for (size_t k = 0; k < 3; ++k) {
      c[k] = from->points + 3 * (size_t)from->triangles[3 * t + k];
    }
    TRY(add_pieces(s, c, most, DEEPEST, in));
  }
  return ABUT_SUCCESS;
}

/* ---- distances as colours ---- */

typedef struct asking {
  const double *places; /* (count, 3) */
  float *off;
  size_t count;
  const tree *to;
} asking;

static void ask(void *user, size_t piece)
{
  const asking *a = user;
  uint32_t guess = UINT32_MAX;
  for (size_t i = piece * QUERIES; i < (piece + 1) * QUERIES && i < a->count; ++i) {
    const nearest found = tree_nearest_from(a->to, a->places + 3 * i, guess);
    guess = found.at;
    a->off[i] = (float)sqrt(found.distance2);
  }
}

/* share: -1 is blue, 1 is red. */
static colour between(double share)
{
  const float s = (float)fmin(fabs(share), 1.0);
  const colour end = share > 0.0 ? red : blue;
  return (colour){neutral.r + s * (end.r - neutral.r), neutral.g + s * (end.g - neutral.g),
                  neutral.b + s * (end.b - neutral.b)};
}

/* Colours a sheet by its distance from the triangles of a tree. Red is where the field is above 0.
 * Without a field, red is inside the tree's surface by its winding number. */
static abut_status colour_by(sheet *s, const tree *to, const field_of *field, double full)
{
  void *places = NULL, *off = NULL, *value = NULL;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(allocate(&places, s->count, 3 * sizeof(double)));
  TRY_DONE(allocate(&off, s->count, sizeof(float)));
  TRY_DONE(allocate(&value, s->count, sizeof(float)));
  for (size_t i = 0; i < 3 * s->count; ++i) {
    const double *c = (const double *)s->corners + 9 * (i / 3) + i % 3;
    ((double *)places)[i] = (c[0] + c[3] + c[6]) / 3.0;
  }
  if (field) {
    TRY_DONE(field_at_places(field, places, s->count, value));
  }
  asking a = {places, off, s->count, to};
  parallel_for((s->count + QUERIES - 1) / QUERIES, ask, &a);
  for (size_t i = 0; i < s->count; ++i) {
    const bool in_red = field ? ((float *)value)[i] > 0.0f
                              : tree_winding(to, a.places + 3 * i) > 0.5;
    ((colour *)s->colours)[i] = between((in_red ? 1.0 : -1.0) * (double)a.off[i] / full);
  }
done:
  free(places);
  free(off);
  free(value);
  return status;
}

/* ---- primitives ---- */

/* The colour of primitive i: hues by the golden angle. */
static colour hue(size_t i)
{
  const double turn = fmod(0.58 + 0.61803398874989485 * (double)i, 1.0) * 6.0;
  const float low = 0.36f, high = 0.88f;
  const float x = low + (high - low) * (float)(1.0 - fabs(fmod(turn, 2.0) - 1.0));
  static const unsigned char order[6][3] = {{2, 1, 0}, {1, 2, 0}, {0, 2, 1},
                                            {0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
  const float of[3] = {low, x, high};
  const unsigned char *o = order[(int)turn % 6];
  return (colour){of[o[0]], of[o[1]], of[o[2]]};
}

static double power(double x, double exponent)
{
  return copysign(pow(fabs(x), exponent), x);
}

/* Gives a point of a superquadric from angles as on a sphere. */
static void point_of(const abut_superquadric *q, size_t i, size_t j, double out[3])
{
  const double around = 2.0 * PI * (double)i / ROUND, height = PI * ((double)j / TALL - 0.5);
  const double flat = power(cos(height), q->exponents[0]);
  const double y[3] = {q->axes[0] * flat * power(cos(around), q->exponents[1]),
                       q->axes[1] * flat * power(sin(around), q->exponents[1]),
                       q->axes[2] * power(sin(height), q->exponents[0])};
  const double *p = q->quaternion;
  const double size = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
  const double w = p[0] / size, v[3] = {p[1] / size, p[2] / size, p[3] / size};
  double t[3], u[3];
  cross(v, y, t);
  cross(v, t, u);
  for (int k = 0; k < 3; ++k) {
    out[k] = q->position[k] + y[k] + 2.0 * (w * t[k] + u[k]);
  }
}

static abut_status add_superquadric(sheet *s, const abut_superquadric *q, colour in)
{
  for (size_t i = 0; i < ROUND; ++i) {
    for (size_t j = 0; j < TALL; ++j) {
      double c[4][3];
      point_of(q, i, j, c[0]);
      point_of(q, i + 1, j, c[1]);
      point_of(q, i + 1, j + 1, c[2]);
      point_of(q, i, j + 1, c[3]);
      TRY(add_triangle(s, c[0], c[1], c[2], in));
      TRY(add_triangle(s, c[0], c[2], c[3], in));
    }
  }
  return ABUT_SUCCESS;
}

/* Cuts off the part of a polygon beyond a plane (a normal and a point). Returns the number of
 * corners in `to`. */
static size_t cut(const double (*from)[3], size_t count, const double plane[6], double (*to)[3])
{
  size_t left = 0;
  for (size_t i = 0; i < count; ++i) {
    const double *a = from[i], *b = from[(i + 1) % count];
    double from_point[2][3];
    difference(a, plane + 3, from_point[0]);
    difference(b, plane + 3, from_point[1]);
    const double at = dot(plane, from_point[0]), next = dot(plane, from_point[1]);
    if (at <= 0.0) {
      memcpy(to[left++], a, sizeof to[0]);
    }
    if ((at <= 0.0) != (next <= 0.0)) {
      for (int k = 0; k < 3; ++k) {
        to[left][k] = a[k] + at / (at - next) * (b[k] - a[k]);
      }
      ++left;
    }
  }
  return left;
}

/* Adds a face of a polyhedron: a square on its plane, `wide` to each side, without the parts beyond
 * other planes. */
static abut_status add_face(sheet *s, const abut_polyhedron *p, size_t face, double wide,
                            double (*room)[3], colour in)
{
  const double *n = p->planes + 6 * face;
  const double size = sqrt(dot(n, n));
  double along[3], across[3], (*one)[3] = room, (*other)[3] = room + p->count + 4;
  size_t count = 4;
  unit_across(n, along);
  cross(n, along, across);
  for (size_t i = 0; i < 4; ++i) { /* counterclockwise, seen against the normal */
    for (int k = 0; k < 3; ++k) {
      one[i][k] = n[3 + k] + wide * ((i == 0 || i == 3 ? 1.0 : -1.0) * along[k] +
                                     (i < 2 ? 1.0 : -1.0) * across[k] / size);
    }
  }
  for (size_t i = 0; i < p->count && count; ++i) {
    if (i != face) {
      double(*spare)[3] = one;
      count = cut((const double(*)[3])one, count, p->planes + 6 * i, other);
      one = other;
      other = spare;
    }
  }
  for (size_t i = 2; i < count; ++i) {
    TRY(add_triangle(s, one[0], one[i - 1], one[i], in));
  }
  return ABUT_SUCCESS;
}

static abut_status add_polyhedron(sheet *s, const abut_polyhedron *p, double wide, colour in)
{
  void *room;
  abut_status status = ABUT_SUCCESS;
  TRY(allocate(&room, 2 * (p->count + 4), 3 * sizeof(double)));
  for (size_t i = 0; i < p->count && status == ABUT_SUCCESS; ++i) {
    status = add_face(s, p, i, wide, room, in);
  }
  free(room);
  return status;
}

static abut_status add_primitives(sheet *s, abut_body handle_, double wide)
{
  ENTER(body_pool, handle_);
  const body *b = body_get(handle_);
  if (!b) {
    return ABUT_ERROR_HANDLE;
  }
  for (size_t i = 0; i < b->parts.superquadric_count; ++i) {
    const abut_superquadric *q = &b->parts.superquadrics[i];
    if (q->operation == ABUT_ADD) {
      TRY(add_superquadric(s, q, hue(i)));
    }
  }
  for (size_t i = 0; i < b->parts.polyhedron_count; ++i) {
    const abut_polyhedron *p = &b->parts.polyhedra[i];
    if (p->operation == ABUT_ADD) {
      TRY(add_polyhedron(s, p, wide, hue(b->parts.superquadric_count + i)));
    }
  }
  return ABUT_SUCCESS;
}

/* ---- all of them ---- */

static void put(raster *r, const sheet *s, const abut_fit_view *v, abut_fit_picture which,
                uint8_t *rgb)
{
  raster_clear(r);
  raster_draw(r, s->corners, s->colours, s->count);
  raster_picture(r, rgb + (size_t)which * v->width * v->height * 3);
}

static abut_status draw(const field_of *f, const surface *s, const abut_fit_view *v, uint8_t *rgb)
{
  surface zero = {0};
  sheet mesh = {0}, field = {0}, primitives = {0};
  tree of_mesh = {0}, of_field = {0};
  raster r = {0};
  extent reach = {0};
  double lower[3], upper[3];
  const double most = PIECE_SIDE * s->diagonal, full = FULL * s->diagonal;
  abut_status status = ABUT_SUCCESS;
  TRY_DONE(extent_create(f, &reach));
  TRY_DONE(measure_zero_set(f, s, &reach, &zero));
  for (int k = 0; k < 3; ++k) { /* if the field extends far, only a part is drawn */
    lower[k] = fmin(s->lower[k], fmax(zero.lower[k], s->lower[k] - s->diagonal));
    upper[k] = fmax(s->upper[k], fmin(zero.upper[k], s->upper[k] + s->diagonal));
  }
  TRY_DONE(raster_create(v, lower, upper, &r));
  TRY_DONE(add_surface(&mesh, s, s->triangle_count - s->closing_count, most, stone));
  /* its triangles are small enough already */
  TRY_DONE(add_surface(&field, &zero, zero.triangle_count, HUGE_VAL, steel));
  TRY_DONE(add_primitives(&primitives, f->body, WIDE * s->diagonal));
  put(&r, &mesh, v, ABUT_PICTURE_MESH, rgb);
  put(&r, primitives.count ? &primitives : &field, v, ABUT_PICTURE_PRIMITIVES, rgb);
  put(&r, &field, v, ABUT_PICTURE_FIELD, rgb);
  TRY_DONE(tree_create(s, NULL, s->triangle_count, &of_mesh));
  TRY_DONE(tree_create(&zero, NULL, zero.triangle_count, &of_field));
  TRY_DONE(colour_by(&mesh, &of_field, f, full));
  TRY_DONE(colour_by(&field, &of_mesh, NULL, full));
  put(&r, &mesh, v, ABUT_PICTURE_MESH_OFF, rgb);
  put(&r, &field, v, ABUT_PICTURE_FIELD_OFF, rgb);
done:
  extent_free(&reach);
  surface_free(&zero);
  sheet_free(&mesh);
  sheet_free(&field);
  sheet_free(&primitives);
  tree_free(&of_mesh);
  tree_free(&of_field);
  raster_free(&r);
  return status;
}

abut_status abut_draw_fit(abut_body handle_, double union_tau, double plane_tau,
                          const abut_body_def *mesh, const abut_fit_view *view, uint8_t *rgb)
{
  const field_of field = {handle_, union_tau, plane_tau};
  surface s;
  surface_report report;
  if (!mesh || !view || !rgb || view->cookie != COOKIE) {
    return fail(ABUT_ERROR_ARGUMENT, "abut_draw_fit: the mesh or the output pointer is NULL, or "
                                     "the view was not made by abut_default_fit_view");
  }
  if (view->width < SIDE_LEAST || view->height < SIDE_LEAST || view->width > SIDE_MOST ||
      view->height > SIDE_MOST || !isfinite(view->azimuth) || !isfinite(view->elevation)) {
    return fail(
      ABUT_ERROR_ARGUMENT,
      "a picture has %u x %u pixels (each must be %d to %d), or its angles are not finite",
      view->width, view->height, SIDE_LEAST, SIDE_MOST);
  }
  TRY(check_mesh(mesh));
  TRY(surface_create(mesh, &s, &report));
  const abut_status status = draw(&field, &s, view, rgb);
  surface_free(&s);
  return status;
}
