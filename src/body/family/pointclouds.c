#include "body/family/parts.h"

#include "base/error.h"
#include "base/limits.h"
#include "geometry/layout.h"
#include <math.h>

#define CLOUD_FAR 4.0 /* in cloud radii, from its centre */
#define LOG2E_DOUBLE 1.44269504088896340736

/* ---- definitions and files ---- */

static abut_status check(const void *one, size_t i)
{
  const abut_pointcloud *c = one;
  if (!c->count || c->count > ELEMENT_LIMIT || !c->points) {
    return fail(ABUT_ERROR_BODY, "point cloud %zu has %zu points", i, c->count);
  }
  for (size_t k = 0; k < c->count; ++k) {
    const double *point = c->points + 7 * k;
    if (!all_within(point, 3, COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "point cloud %zu: point %zu is %g %g %g, not within +-%g", i, k,
                  point[0], point[1], point[2], COORDINATE_MOST);
    }
    if (!has_length(point + 3, 3)) {
      return fail(
        ABUT_ERROR_BODY,
        "point cloud %zu: normal of point %zu is %g %g %g; its length must be finite and above 0",
        i, k, point[3], point[4], point[5]);
    }
    if (!(point[6] >= WIDTH_LEAST && point[6] <= COORDINATE_MOST)) {
      return fail(ABUT_ERROR_BODY, "point cloud %zu: width %zu is %g, not in [%g, %g]", i, k,
                  point[6], WIDTH_LEAST, COORDINATE_MOST);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read(const json_file *f, const json_at *at, arena *memory, void *one)
{
  static const char *const keys[] = {"points", "operation"};
  abut_pointcloud *c = one;
  json_at points;
  TRY(CHECK_KEYS(f, at, keys));
  TRY(json_need(f, at, "points", &points));
  TRY(read_rows(f, &points, 7, memory, &c->points, &c->count));
  for (size_t k = 0; k < c->count; k++) {
    json_at row = json_element(&points, k);
    TRY(check_range(f, &row, 0, 3, -COORDINATE_MOST, COORDINATE_MOST));
    TRY(check_not_zero(f, &row, c->points + 7 * k + 3, 3, "the normal"));
    TRY(check_range(f, &row, 6, 1, WIDTH_LEAST, COORDINATE_MOST));
  }
  return ABUT_SUCCESS;
}

static void inform(const void *one, abut_body_info *info)
{
  const abut_pointcloud *c = one;
  ++info->pointclouds;
  info->points += c->count;
}

/* ---- packing ---- */

/* Includes each cloud's own record. */
static size_t room(const void *const *ones, size_t count)
{
  size_t records = count;
  for (size_t i = 0; i < count; ++i) {
    const abut_pointcloud *c = ones[i];
    records += c->count;
  }
  return records * POINT_STRIDE;
}

static void pack_cloud_record(packer *p, const abut_pointcloud *c)
{
  double centre[3] = {0.0, 0.0, 0.0}, far2 = 0.0, widest = 0.0;
  for (size_t i = 0; i < c->count; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      centre[k] += c->points[7 * i + k] / (double)c->count;
    }
  }
  for (size_t i = 0; i < c->count; ++i) {
    const double *point = c->points + 7 * i;
    const double x = point[0] - centre[0], y = point[1] - centre[1], z = point[2] - centre[2];
    far2 = fmax(far2, CLOUD_FAR * CLOUD_FAR * (x * x + y * y + z * z));
    widest = fmax(widest, point[6]);
  }
  for (size_t k = 0; k < 3; ++k) {
    reals_set(p->shape, p->at + k, centre[k]);
  }
  reals_set(p->shape, p->at + CLOUD_FAR2, far2);
  reals_set(p->shape, p->at + CLOUD_WIDEST, 0.5 * LOG2E_DOUBLE / (widest * widest));
  p->at += POINT_STRIDE;
}

static void pack_pointcloud(packer *p, const abut_pointcloud *c)
{
  packer_range(p, c->count);
  pack_cloud_record(p, c);
  for (size_t i = 0; i < c->count; ++i, p->at += POINT_STRIDE) {
    const double *point = c->points + 7 * i;
    double n[3];
    normalise(point + 3, n);
    for (size_t k = 0; k < 3; ++k) {
      reals_set(p->shape, p->at + k, point[k]);
      reals_set(p->shape, p->at + 3 + k, n[k]);
    }
    const double width2 = point[6] * point[6];
    reals_set(p->shape, p->at + 6, 1.0 / width2);
    reals_set(p->shape, p->at + 7, 0.5 * LOG2E_DOUBLE / width2);
  }
}

static abut_status pack(packer *p, const void *const *ones, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    pack_pointcloud(p, ones[i]);
  }
  return ABUT_SUCCESS;
}

/* ---- pictures ---- */

/* The points of all clouds, with the range of each point's weight. */
static size_t spots(const packed *p, spot *out)
{
  size_t n = 0;
  for (size_t i = 0; i < p->count; ++i) {
    const int *range = p->ranges + i * RANGE_INTS;
    for (size_t k = 1; out && k <= (size_t)range[1]; ++k) {
      const size_t at = (size_t)range[0] + k * POINT_STRIDE;
      spot *s = &out[n + k - 1];
      for (size_t j = 0; j < 3; ++j) {
        s->at[j] = packed_number(p, at + j);
      }
      s->reach = 1.0 / sqrt(fmax(packed_number(p, at + 6), 1e-300));
    }
    n += (size_t)range[1];
  }
  return n;
}

static void cover(const packed *p, box *b)
{
  for (size_t i = 0; i < p->count; ++i) {
    const int *range = p->ranges + i * RANGE_INTS;
    for (size_t k = 1; k <= (size_t)range[1]; ++k) {
      const size_t at = (size_t)range[0] + k * POINT_STRIDE;
      const double point[3] = {packed_number(p, at), packed_number(p, at + 1),
                               packed_number(p, at + 2)};
      box_cover(b, point);
    }
  }
}

/* ---- bounds ---- */

/* Beyond its points, a cloud continues as the planes of the nearest points. */
static void enclose(const packed *p, double reach, box *b)
{
  (void)reach;
  if (p->count) {
    box_unbound(b);
  }
}

extern const family pointclouds_family;
const family pointclouds_family = {
  .key = "pointclouds",
  .one = "point cloud",
  .size = sizeof(abut_pointcloud),
  .operation = offsetof(abut_pointcloud, operation),
  .array = offsetof(abut_body_def, pointclouds),
  .count = offsetof(abut_body_def, pointcloud_count),
  .ranged = true,
  .read = read,
  .check = check,
  .room = room,
  .pack = pack,
  .inform = inform,
  .cover = cover,
  .enclose = enclose,
  .spots = spots,
};
