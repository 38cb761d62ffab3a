#include "body/family/parts.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/planes_box.h"
#include "geometry/layout.h"

/* ---- definitions and files ---- */

static abut_status check(const void *one, size_t i)
{
  const abut_polyhedron *p = one;
  if (!p->count || p->count > ELEMENT_LIMIT || !p->planes) {
    return fail(ABUT_ERROR_BODY, "polyhedron %zu has %zu planes", i, p->count);
  }
  for (size_t k = 0; k < p->count; ++k) {
    const double *plane = p->planes + 6 * k;
    if (!has_length(plane, 3)) {
      return fail(
        ABUT_ERROR_BODY,
        "polyhedron %zu: normal of plane %zu is %g %g %g; its length must be finite and above 0", i,
        k, plane[0], plane[1], plane[2]);
    }
    if (!all_within(plane + 3, 3, COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY,
                  "polyhedron %zu: point of plane %zu is %g %g %g, not within +-%g", i, k, plane[3],
                  plane[4], plane[5], COORDINATE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read(const json_file *f, const json_at *at, arena *memory, void *one)
{
  static const char *const keys[] = {"planes", "operation"};
  abut_polyhedron *p = one;
  json_at planes;
  TRY(CHECK_KEYS(f, at, keys));
  TRY(json_need(f, at, "planes", &planes));
  TRY(read_rows(f, &planes, 6, memory, &p->planes, &p->count));
  for (size_t k = 0; k < p->count; k++) {
    json_at row = json_element(&planes, k);
    TRY(check_not_zero(f, &row, p->planes + 6 * k, 3, "the normal"));
    TRY(check_range(f, &row, 3, 3, -COORDINATE_MOST, COORDINATE_MOST));
  }
  return ABUT_SUCCESS;
}

static void inform(const void *one, abut_body_info *info)
{
  const abut_polyhedron *p = one;
  ++info->polyhedra;
  info->planes += p->count;
}

/* ---- packing ---- */

static size_t room(const void *const *ones, size_t count)
{
  size_t planes = 0;
  for (size_t i = 0; i < count; ++i) {
    const abut_polyhedron *p = ones[i];
    planes += p->count;
  }
  return planes * PLANE_STRIDE;
}

static void pack_polyhedron(packer *p, const abut_polyhedron *c)
{
  packer_range(p, c->count);
  for (size_t i = 0; i < c->count; ++i, p->at += PLANE_STRIDE) {
    const double *plane = c->planes + 6 * i;
    double n[3];
    normalise(plane, n);
    for (size_t k = 0; k < 3; ++k) {
      reals_set(p->shape, p->at + k, n[k]);
    }
    reals_set(p->shape, p->at + 3, n[0] * plane[3] + n[1] * plane[4] + n[2] * plane[5]);
  }
}

static abut_status pack(packer *p, const void *const *ones, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    pack_polyhedron(p, ones[i]);
  }
  return ABUT_SUCCESS;
}

/* Planes have no bounding box: a polyhedron is assumed to be near its body's vertices. */
static void cover(const packed *p, box *b)
{
  (void)p;
  (void)b;
}

/* ---- bounds ---- */

/* A soft maximum is at least the largest of its planes' distances. */
static void enclose(const packed *p, double reach, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    const int *range = p->ranges + i * RANGE_INTS;
    const plane_set all = {p, (size_t)range[0], (size_t)range[1]};
    box one;
    if (!planes_box(&all, reach, &one)) {
      box_unbound(b);
      return;
    }
    box_cover(b, one.lower);
    box_cover(b, one.upper);
  }
}

extern const family polyhedra_family;
const family polyhedra_family = {
  .key = "polyhedra",
  .one = "polyhedron",
  .size = sizeof(abut_polyhedron),
  .operation = offsetof(abut_polyhedron, operation),
  .array = offsetof(abut_body_def, polyhedra),
  .count = offsetof(abut_body_def, polyhedron_count),
  .ranged = true,
  .loose = true,
  .read = read,
  .check = check,
  .room = room,
  .pack = pack,
  .inform = inform,
  .cover = cover,
  .enclose = enclose,
};
