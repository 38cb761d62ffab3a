#include "query/closest/closest.h"

#include "mesh/fields.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of shapes per call when the nearest ones are searched. */
#define PAIRS_OF_CALL ((size_t)1 << 18)

/* A bare mesh with a larger diagonal [m] causes a warning about its unit, as for fields. */
#define UNIT_MOST 20.0

/* In the order of abut_body_part. */
static const char *const part_words[] = {"hull", "superquadrics", "polyhedra"};
#define PARTS (sizeof part_words / sizeof *part_words)

exit_code closest_read_part(closest *c)
{
  size_t word = ABUT_PART_HULL;
  CLI_TRY(option_word(c->o, OPTION_AS, part_words, PARTS, &word));
  c->part = (abut_body_part)word;
  return EXIT_GOOD;
}

bool closest_tells_rows(const closest *c)
{
  return c->counts[0] && c->part != ABUT_PART_HULL;
}

void closest_free_rows(closest *c)
{
  (c->o->value[OPTION_SHAPES] ? abut_free : free)(c->one);
  (c->o->value[OPTION_SHAPES] ? abut_free : free)(c->two);
  c->one = c->two = NULL;
}

void closest_free_shapes(closest *c)
{
  (c->o->value[OPTION_SHAPES] ? abut_free : free)(c->shapes); /* the context destroys the shapes */
  c->shapes = NULL;
}

/* Allocates the shapes of both bodies. */
static exit_code take_shapes(closest *c)
{
  c->shape_count = c->counts[0] + c->counts[1];
  c->shapes = calloc(c->shape_count, sizeof *c->shapes);
  return c->shapes ? EXIT_GOOD : report(EXIT_RUN, "no memory for %zu shapes", c->shape_count);
}

/* ---- hulls of meshes ---- */

/* Makes the hull again with its `count` vertices times `scale`. */
static exit_code scale_hull(const closest *c, double scale, size_t count, abut_shape *hull)
{
  abut_shape_def def = abut_default_shape_def();
  double *vertices = malloc(count * 3 * sizeof *vertices);
  if (!vertices) {
    return report(EXIT_RUN, "no memory for %zu vertices", count);
  }
  abut_status status = abut_get_shape_vertices(*hull, vertices);
  for (size_t i = 0; i < 3 * count; ++i) {
    vertices[i] *= scale;
  }
  def.vertices = vertices;
  def.vertex_count = count;
  abut_destroy_shape(*hull);
  if (status == ABUT_SUCCESS) {
    status = abut_create_shape(c->session.context, &def, hull);
  }
  free(vertices);
  return report_status(status);
}

static exit_code load_hull(const closest *c, int body, abut_shape *to)
{
  const char *path = c->o->operands[body];
  double scale = 1.0;
  abut_shape_info info;
  progress p = progress_begin(c->o, "");
  progress_say(&p, "reading %s", path);
  const abut_status status = abut_load_hull(c->session.context, path, to);
  progress_end(&p); /* before the cause of a failure is printed */
  CLI_TRY(report_status(status));
  CLI_TRY(option_real(c->o, OPTION_SCALE, 1e-9, 1e9, &scale));
  CLI_TRY(report_status(abut_get_shape_info(*to, &info)));
  warn_trailing(c->o, path, info.trailing);
  if (is_bare_mesh(path) && info.diagonal * scale > UNIT_MOST) {
    warn_field(c->o, path,
               &(abut_field_report){.suspicions = ABUT_SUSPECT_UNIT,
                                    .diagonal = info.diagonal * scale});
  }
  return is_bare_mesh(path) && scale != 1.0 ? scale_hull(c, scale, info.vertices, to) : EXIT_GOOD;
}

static exit_code load_hulls(closest *c)
{
  c->counts[0] = c->counts[1] = 1;
  CLI_TRY(take_shapes(c));
  CLI_TRY(load_hull(c, 0, &c->shapes[0]));
  c->shapes[1] = c->shapes[0];
  return strcmp(c->o->operands[0], c->o->operands[1]) == 0 ? EXIT_GOOD
                                                           : load_hull(c, 1, &c->shapes[1]);
}

/* ---- parts of bodies ---- */

static exit_code count_shapes(closest *c, int body)
{
  size_t *count = &c->counts[body];
  CLI_TRY(report_status(abut_count_body_shapes(c->session.bodies[body], c->part, count)));
  return *count
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: has no added %s", c->o->operands[body], part_words[c->part]);
}

/* Subtracted shapes are not convex obstacles: the nearest of the added shapes is found as if
 * nothing were subtracted. Primitives of other families are not among the shapes either. */
static exit_code warn_left_out(const closest *c, int body)
{
  abut_body_info info;
  CLI_TRY(report_status(abut_get_body_info(c->session.bodies[body], &info)));
  const size_t all = c->part == ABUT_PART_SUPERQUADRICS ? info.superquadrics : info.polyhedra;
  if (c->counts[body] < all) {
    warn("%s: %zu of %zu %s are subtracted, and this command ignores that: their hollows count as "
         "solid (contacts consider them)",
         c->o->operands[body], all - c->counts[body], all, part_words[c->part]);
  }
  const size_t every = info.superquadrics + info.polyhedra + info.pointclouds + info.grids +
                       info.height_fields + info.cores;
  if (all < every) {
    warn("%s: %zu of %zu primitives are not %s and are ignored", c->o->operands[body], every - all,
         every, part_words[c->part]);
  }
  return EXIT_GOOD;
}

static exit_code make_shapes(closest *c, int body, abut_shape *to)
{
  const abut_status status =
    abut_create_body_shapes(c->session.bodies[body], c->part, c->counts[body], to);
  return status == ABUT_SUCCESS
           ? EXIT_GOOD
           : report(status_exit_code(status), "%s: %s", c->o->operands[body], abut_last_error());
}

/* A bare mesh only has a field, which is not a shape. This is checked before the field is made. */
static exit_code check_has_parts(const closest *c)
{
  for (int i = 0; i < 2; ++i) {
    if (is_bare_mesh(c->o->operands[i])) {
      return report(EXIT_INPUT, "%s: a mesh has no %s; give a NAME.body.json", c->o->operands[i],
                    part_words[c->part]);
    }
  }
  return EXIT_GOOD;
}

static exit_code load_parts(closest *c)
{
  const abut_body *bodies = c->session.bodies;
  CLI_TRY(check_has_parts(c));
  CLI_TRY(session_bodies(&c->session, c->o));
  const bool same = memcmp(&bodies[0], &bodies[1], sizeof *bodies) == 0;
  CLI_TRY(count_shapes(c, 0));
  CLI_TRY(count_shapes(c, 1));
  CLI_TRY(take_shapes(c));
  CLI_TRY(make_shapes(c, 0, c->shapes));
  CLI_TRY(warn_left_out(c, 0));
  if (same) {
    memcpy(c->shapes + c->counts[0], c->shapes, c->counts[0] * sizeof *c->shapes);
    return EXIT_GOOD;
  }
  CLI_TRY(warn_left_out(c, 1));
  return make_shapes(c, 1, c->shapes + c->counts[0]);
}

/* ---- shapes of a file ---- */

static exit_code check_rows(const closest *c, const char *name, const uint32_t *rows, size_t first)
{
  for (size_t i = 0; i < c->poses.count; ++i) {
    if (rows[i] >= c->shape_count) {
      return report(EXIT_INPUT,
                    "%s: array '%s': row %zu: there is no shape %u (both 0-based); %s contains %zu",
                    c->o->value[OPTION_POSES], name, first + i, rows[i], c->o->value[OPTION_SHAPES],
                    c->shape_count);
    }
  }
  return EXIT_GOOD;
}

static exit_code rows_of_file(closest *c, size_t first)
{
  const char *path = c->o->value[OPTION_SHAPES], *poses = c->o->value[OPTION_POSES];
  CLI_TRY(report_status(c->file
                          ? abut_read_shape_rows(c->file, first, c->poses.count, &c->one, &c->two)
                          : abut_load_shape_rows(poses, c->poses.count, &c->one, &c->two)));
  if (!c->one) {
    return c->shape_count == 2
             ? EXIT_GOOD
             : report(EXIT_INPUT,
                      "%s: contains no arrays one and two, which name the shapes of each pose; "
                      "they are needed because %s contains %zu shapes, not two",
                      poses, path, c->shape_count);
  }
  CLI_TRY(check_rows(c, "one", c->one, first));
  return check_rows(c, "two", c->two, first);
}

exit_code closest_load_shapes(closest *c)
{
  const char *file = c->o->value[OPTION_SHAPES];
  CLI_TRY(file
            ? report_status(abut_load_shapes(c->session.context, file, &c->shape_count, &c->shapes))
          : c->part == ABUT_PART_HULL ? load_hulls(c)
                                      : load_parts(c));
  c->batch.shapes = c->shapes;
  c->batch.shape_count = c->shape_count;
  return EXIT_GOOD;
}

/* ---- the nearest of several shapes ---- */

/* Some poses, each repeated for every pair of shapes. */
typedef struct pairs {
  size_t count; /* number of pairs of shapes */
  size_t most;  /* poses per call */
  uint32_t *one, *two;
  void *pose1, *pose2, *d;
} pairs;

static void *take(size_t rows, size_t count, size_t bytes)
{
  size_t all = 0;
  return multiply(rows, count, bytes, &all) ? calloc(all ? all : 1, 1) : NULL;
}

static exit_code pairs_open(pairs *p, const closest *c)
{
  const size_t real = real_bytes(c->session.precision);
  p->count = c->counts[0] * c->counts[1]; /* no overflow: each body's shapes are in memory */
  p->most = p->count < PAIRS_OF_CALL ? PAIRS_OF_CALL / p->count : 1;
  p->most = p->most < c->poses.count ? p->most : c->poses.count;
  p->one = take(p->most, p->count, sizeof *p->one);
  p->two = take(p->most, p->count, sizeof *p->two);
  p->pose1 = take(p->most, p->count, c->width * real);
  p->pose2 = take(p->most, p->count, c->width * real);
  p->d = take(p->most, p->count, real);
  if (!p->one || !p->two || !p->pose1 || !p->pose2 || !p->d) {
    return report(EXIT_RUN, "no memory for %zu pairs of shapes", p->count);
  }
  for (size_t i = 0; i < p->most * p->count; ++i) {
    const size_t pair = i % p->count;
    p->one[i] = (uint32_t)(pair / c->counts[1]);
    p->two[i] = (uint32_t)(c->counts[0] + pair % c->counts[1]);
  }
  return EXIT_GOOD;
}

static void pairs_close(pairs *p)
{
  free(p->one);
  free(p->two);
  free(p->pose1);
  free(p->pose2);
  free(p->d);
}

/* Repeats `count` poses starting at `first` for all pairs. */
static void repeat_poses(const closest *c, const pairs *p, size_t first, size_t count)
{
  const size_t row = c->width * real_bytes(c->session.precision);
  for (size_t i = 0; i < count * p->count; ++i) {
    const size_t from = (first + i / p->count) * row;
    memcpy((char *)p->pose1 + i * row, (const char *)c->arrays.pose1 + from, row);
    memcpy((char *)p->pose2 + i * row, (const char *)c->arrays.pose2 + from, row);
  }
}

static void take_nearest(closest *c, const pairs *p, size_t first, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    size_t nearest = i * p->count;
    for (size_t k = nearest + 1; k < (i + 1) * p->count; ++k) {
      if (real_at(p->d, c->session.precision, k) < real_at(p->d, c->session.precision, nearest)) {
        nearest = k;
      }
    }
    c->one[first + i] = p->one[nearest];
    c->two[first + i] = p->two[nearest];
  }
}

static exit_code compute_pairs(closest *c, pairs *p)
{
  const bool shows = !c->file; /* in a folder, progress counts its blocks */
  progress shown = progress_begin(c->o, "nearest shapes, poses");
  exit_code code = EXIT_GOOD;
  CLI_TRY_DONE(pairs_open(p, c));
  for (size_t first = 0, count; first < c->poses.count; first += count) {
    abut_closest_batch b = abut_default_closest_batch();
    count = c->poses.count - first < p->most ? c->poses.count - first : p->most;
    repeat_poses(c, p, first, count);
    b.count = count * p->count;
    b.shapes = c->shapes;
    b.shape_count = c->shape_count;
    b.one = p->one;
    b.two = p->two;
    b.poses = c->poses.kind;
    b.pose1 = p->pose1;
    b.pose2 = p->pose2;
    b.cutoff = c->batch.cutoff;
    b.d = p->d;
    CLI_TRY_DONE(report_status(abut_closest(c->session.context, &b)));
    take_nearest(c, p, first, count);
    if (shows) {
      progress_step(first + count, c->poses.count, &shown);
    }
  }
done:
  if (shows) {
    progress_end(&shown);
  }
  return code;
}

static exit_code find_nearest(closest *c)
{
  pairs p = {0};
  c->one = take(c->poses.count, 1, sizeof *c->one);
  c->two = take(c->poses.count, 1, sizeof *c->two);
  if (!c->one || !c->two) {
    return report(EXIT_RUN, "not enough memory for the shapes of %zu poses", c->poses.count);
  }
  const double start = now();
  const exit_code code = compute_pairs(c, &p);
  c->seconds += now() - start;
  pairs_close(&p);
  return code;
}

exit_code closest_find_rows(closest *c, size_t first)
{
  closest_free_rows(c);
  if (c->o->value[OPTION_SHAPES]) {
    CLI_TRY(rows_of_file(c, first));
  } else if (closest_tells_rows(c)) {
    CLI_TRY(find_nearest(c));
  }
  c->batch.one = c->one;
  c->batch.two = c->two;
  return EXIT_GOOD;
}
