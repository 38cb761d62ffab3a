#include "body/family/parts.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/height_file.h"
#include "body/family/height_spline.h"
#include "geometry/layout.h"
#include <math.h>

#define BOUND_SLACK (1.0 + 1e-6) /* factor for the rounding of bounds */

/* ---- definitions and files ---- */

static bool is_length(double x)
{
  return x >= AXIS_LEAST && x <= COORDINATE_MOST;
}

static abut_status check(const void *one, size_t i)
{
  const abut_height_field *h = one;
  const size_t sides[2] = {h->rows, h->columns};
  char cause[160];
  size_t at;
  for (int k = 0; k < 2; ++k) {
    if (sides[k] < HEIGHT_SIDE_LEAST || sides[k] > HEIGHT_SIDE_MOST) {
      return fail(ABUT_ERROR_BODY, "height field %zu has %zu %s, expected %d to %d", i, sides[k],
                  k ? "columns" : "rows", HEIGHT_SIDE_LEAST, HEIGHT_SIDE_MOST);
    }
    if (!is_length(h->size[k])) {
      return fail(ABUT_ERROR_BODY, "height field %zu: half length %d is %g, not in [%g, %g]", i, k,
                  h->size[k], AXIS_LEAST, COORDINATE_MOST);
    }
  }
  if (!is_length(h->base)) {
    return fail(ABUT_ERROR_BODY, "height field %zu: base is %g, not in [%g, %g]", i, h->base,
                AXIS_LEAST, COORDINATE_MOST);
  }
  if (!h->heights) {
    return fail(ABUT_ERROR_BODY, "height field %zu has no heights", i);
  }
  return height_field_fault(h, &at, cause, sizeof cause)
           ? fail(ABUT_ERROR_BODY, "height field %zu, row %zu, column %zu: %s", i, at / h->columns,
                  at % h->columns, cause)
           : ABUT_SUCCESS;
}

static abut_status read(const json_file *f, const json_at *at, arena *memory, void *one)
{
  return height_field_read(f, at, true, memory, one);
}

static void inform(const void *one, abut_body_info *info)
{
  const abut_height_field *h = one;
  ++info->height_fields;
  info->heights += h->rows * h->columns;
}

/* ---- packing ---- */

/* Advances to the next level of a map; returns false after the last one. */
static bool next_level(size_t side[2])
{
  const bool more = side[0] > 1 || side[1] > 1;
  side[0] = HEIGHT_MAP_NEXT(side[0]);
  side[1] = HEIGHT_MAP_NEXT(side[1]);
  return more;
}

static size_t room_of(const abut_height_field *h)
{
  size_t side[2] = {HEIGHT_MAP_SIDE(h->columns), HEIGHT_MAP_SIDE(h->rows)};
  size_t numbers = HEIGHT_STRIDE + HEIGHT_SIDE(h->columns) * HEIGHT_SIDE(h->rows);
  do {
    numbers += side[0] * side[1];
  } while (next_level(side));
  return numbers;
}

static size_t room(const void *const *ones, size_t count)
{
  size_t numbers = 0;
  for (size_t i = 0; i < count; ++i) {
    numbers += room_of(ones[i]);
  }
  return numbers;
}

/* Rounding error of a height: from the sum, from the coefficients, and from the position in a cell
 * times the slope. */
static double rounding_of(const abut_height_field *h, const height_spline *s, double epsilon)
{
  const double height = fmax(fabs(s->most), fabs(s->least));
  return FIELD_ROUNDINGS * epsilon * (height + s->slant * (h->size[0] + h->size[1]) * 0.125);
}

static void pack_record(packer *p, const abut_height_field *h, const height_spline *s,
                        double rounding, double slack)
{
  for (size_t k = 0; k < 2; ++k) {
    reals_set(p->shape, p->at + k, h->size[k]);
    reals_set(p->shape, p->at + HEIGHT_CELLS + k, s->cells[k]);
    reals_set(p->shape, p->at + HEIGHT_NODES + k, (double)s->nodes[k]);
  }
  reals_set(p->shape, p->at + HEIGHT_BASE, h->base);
  reals_set(p->shape, p->at + HEIGHT_ROUNDING, rounding);
  reals_set(p->shape, p->at + HEIGHT_MOST, s->most + rounding);
  reals_set(p->shape, p->at + HEIGHT_SLANT, s->slant * BOUND_SLACK + slack);
  reals_set(p->shape, p->at + HEIGHT_NEAR, HEIGHT_MAP_CELLS / fmax(s->cells[0], s->cells[1]));
  p->at += HEIGHT_STRIDE;
}

/* Replaces a level of the map, with these sides, by the next one. It must not be the last. */
static void halve(double *map, const size_t side[2])
{
  const size_t half[2] = {HEIGHT_MAP_NEXT(side[0]), HEIGHT_MAP_NEXT(side[1])};
  for (size_t j = 0; j < half[1]; ++j) {
    for (size_t i = 0; i < half[0]; ++i) {
      const size_t right = 2 * i + 1 < side[0], down = 2 * j + 1 < side[1] ? side[0] : 0;
      const double *from = map + 2 * j * side[0] + 2 * i;
      map[j * half[0] + i] = fmax(fmax(from[0], from[right]), fmax(from[down], from[down + right]));
    }
  }
}

/* Packs all levels, and overwrites the map. */
static void pack_map(packer *p, height_spline *s, double slack)
{
  size_t side[2] = {s->map_side[0], s->map_side[1]};
  for (bool more = true; more;) {
    for (size_t i = 0; i < side[0] * side[1]; ++i) {
      reals_set(p->shape, p->at + i, s->map[i] * BOUND_SLACK + slack);
    }
    p->at += side[0] * side[1];
    const size_t last[2] = {side[0], side[1]};
    more = next_level(side);
    if (more) {
      halve(s->map, last);
    }
  }
}

static size_t count_levels(const abut_height_field *h)
{
  size_t side[2] = {HEIGHT_MAP_SIDE(h->columns), HEIGHT_MAP_SIDE(h->rows)}, levels = 1;
  while (next_level(side)) {
    ++levels;
  }
  return levels;
}

static abut_status pack_one(packer *p, const abut_height_field *h)
{
  const double epsilon = p->shape->size == sizeof(double) ? 0x1p-52 : 0x1p-23;
  height_spline s;
  TRY(height_spline_make(h, &s));
  const double rounding = rounding_of(h, &s, epsilon);
  const double slack = rounding * fmax(s.cells[0], s.cells[1]);
  packer_range(p, count_levels(h));
  pack_record(p, h, &s, rounding, slack);
  for (size_t i = 0; i < s.side[0] * s.side[1]; ++i) {
    reals_set(p->shape, p->at + i, s.coefficients[i]);
  }
  p->at += s.side[0] * s.side[1];
  pack_map(p, &s, slack);
  height_spline_free(&s);
  return ABUT_SUCCESS;
}

static abut_status pack(packer *p, const void *const *ones, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    TRY(pack_one(p, ones[i]));
  }
  return ABUT_SUCCESS;
}

/* ---- boxes ---- */

/* Where the distances to the walls, the base and the highest ground are at most `reach`. A soft
 * maximum is at least each of its terms, and z - h is at most the reach times the largest slant. */
static void widen(const packed *p, double reach, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    const size_t at = (size_t)p->ranges[i * RANGE_INTS];
    const double x = packed_number(p, at), y = packed_number(p, at + 1);
    const double base = packed_number(p, at + HEIGHT_BASE),
                 most = packed_number(p, at + HEIGHT_MOST);
    const double low[3] = {-x - reach, -y - reach, -base - reach};
    const double high[3] = {x + reach, y + reach,
                            most + reach * packed_number(p, at + HEIGHT_SLANT)};
    box_cover(b, low);
    box_cover(b, high);
  }
}

static void cover(const packed *p, box *b)
{
  widen(p, 0.0, b);
}

/* The rounding error of a wall's distance depends on coordinates, which are at most the half
 * lengths plus the reach. */
static void enclose(const packed *p, double reach, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    packed one = *p;
    const size_t at = (size_t)p->ranges[i * RANGE_INTS];
    const double size = packed_number(p, at) + packed_number(p, at + 1) +
                        packed_number(p, at + HEIGHT_BASE) +
                        fabs(packed_number(p, at + HEIGHT_MOST));
    one.count = 1;
    one.ranges = p->ranges + i * RANGE_INTS;
    widen(&one, reach + FIELD_ROUNDINGS * packed_epsilon(p) * (size + reach), b);
  }
}

extern const family height_fields_family;
const family height_fields_family = {
  .key = "height_fields",
  .one = "height field",
  .size = sizeof(abut_height_field),
  .operation = offsetof(abut_height_field, operation),
  .array = offsetof(abut_body_def, height_fields),
  .count = offsetof(abut_body_def, height_field_count),
  .ranged = true,
  .read = read,
  .check = check,
  .room = room,
  .pack = pack,
  .inform = inform,
  .cover = cover,
  .enclose = enclose,
};
