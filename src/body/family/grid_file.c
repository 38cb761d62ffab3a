#include "body/family/grid_file.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/family/named_file.h"
#include "format/npy_read.h"
#include "format/npz.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE ABUT_GRID_BLOCK

typedef struct grid_reader {
  const char *name;
  zip_t *archive;
  arena *memory;
} grid_reader;

/* ---- members ---- */

static zip_int64_t find(const grid_reader *r, const char *array)
{
  char member[64];
  snprintf(member, sizeof member, "%s.npy", array);
  return zip_name_locate(r->archive, member, 0);
}

static abut_status need(const grid_reader *r, const char *array, abut_array *out)
{
  const zip_int64_t member = find(r, array);
  return member >= 0 ? npz_read_array(r->name, r->archive, (zip_uint64_t)member, out)
                     : npy_fail((npy_where){r->name, array}, "missing");
}

static abut_status check_reals(npy_where where, const abut_array *a, uint32_t dimensions)
{
  if (a->type != ABUT_ARRAY_FLOAT32 && a->type != ABUT_ARRAY_FLOAT64) {
    return npy_fail(where, "has dtype %s, expected float32 or float64", npy_type_name(a->type));
  }
  return a->dimensions == dimensions
           ? ABUT_SUCCESS
           : npy_fail(where, "has %u dimensions, expected %u", a->dimensions, dimensions);
}

/* Copies numbers within +-most to double. */
static abut_status copy_reals(npy_where where, const abut_array *a, size_t count, double most,
                              double *out)
{
  for (size_t i = 0; i < count; i++) {
    out[i] = npy_real(a, i);
    if (!(fabs(out[i]) <= most)) {
      return npy_fail(where, "number %zu (0-based) is %g, not within +-%g", i, out[i], most);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status keep_reals(const grid_reader *r, const abut_array *a, size_t count,
                              const double **out)
{
  void *memory;
  TRY(arena_allocate(r->memory, &memory, count, sizeof **out));
  *out = memory;
  return copy_reals((npy_where){r->name, a->name}, a, count, GRID_DISTANCE_MOST, memory);
}

/* ---- the grid ---- */

static abut_status take_coefficients(const grid_reader *r, const abut_array *a, abut_grid *out)
{
  const npy_where where = {r->name, a->name};
  TRY(check_reals(where, a, 3));
  for (int k = 0; k < 3; k++) {
    out->size[k] = a->shape[k];
    if (a->shape[k] < GRID_SIDE_LEAST || a->shape[k] > GRID_SIDE_MOST) {
      return npy_fail(where, "has %zu nodes along axis %d, expected %d to %d", a->shape[k], k,
                      GRID_SIDE_LEAST, GRID_SIDE_MOST);
    }
  }
  const size_t count = a->shape[0] * a->shape[1] * a->shape[2];
  return count <= GRID_NODES_MOST
           ? keep_reals(r, a, count, &out->coefficients)
           : npy_fail(where, "has %zu nodes; at most %zu are possible", count, GRID_NODES_MOST);
}

static abut_status take_origin(const grid_reader *r, const abut_array *a, abut_grid *out)
{
  const npy_where where = {r->name, a->name};
  TRY(check_reals(where, a, 1));
  return a->shape[0] == 3 ? copy_reals(where, a, 3, COORDINATE_MOST, out->origin)
                          : npy_fail(where, "must have shape (3,)");
}

static abut_status take_spacing(const grid_reader *r, const abut_array *a, abut_grid *out)
{
  const npy_where where = {r->name, a->name};
  TRY(check_reals(where, a, 0));
  out->spacing = npy_real(a, 0);
  return out->spacing >= SPACING_LEAST && out->spacing <= COORDINATE_MOST
           ? ABUT_SUCCESS
           : npy_fail(where, "%g is not in [%g, %g]", out->spacing, SPACING_LEAST, COORDINATE_MOST);
}

typedef abut_status take_array(const grid_reader *r, const abut_array *a, abut_grid *out);

static abut_status read_array(const grid_reader *r, const char *array, take_array *take,
                              abut_grid *out)
{
  abut_array a;
  TRY(need(r, array, &a));
  const abut_status status = take(r, &a, out);
  npy_free(&a);
  return status;
}

/* ---- corrections ---- */

static abut_status take_blocks(const grid_reader *r, const abut_array *a, abut_grid_level *out)
{
  const npy_where where = {r->name, a->name};
  void *memory;
  if (a->type != ABUT_ARRAY_INT32) {
    return npy_fail(where, "has dtype %s, expected int32", npy_type_name(a->type));
  }
  if (a->dimensions != 2 || a->shape[1] != 3 || !a->shape[0] || a->shape[0] > ELEMENT_LIMIT) {
    return npy_fail(where, "must have shape (B, 3), one row per block");
  }
  out->block_count = a->shape[0];
  TRY(arena_allocate(r->memory, &memory, out->block_count, 3 * sizeof *out->blocks));
  memcpy(memory, a->data, 3 * out->block_count * sizeof *out->blocks);
  out->blocks = memory;
  return ABUT_SUCCESS;
}

static abut_status take_corrections(const grid_reader *r, const abut_array *a, abut_grid_level *out)
{
  const npy_where where = {r->name, a->name};
  TRY(check_reals(where, a, 4));
  if (a->shape[0] != out->block_count || a->shape[1] != SIDE || a->shape[2] != SIDE ||
      a->shape[3] != SIDE) {
    return npy_fail(where, "must have shape (%zu, %d, %d, %d)", out->block_count, SIDE, SIDE, SIDE);
  }
  return keep_reals(r, a, out->block_count * SIDE * SIDE * SIDE, &out->coefficients);
}

static abut_status read_level(const grid_reader *r, size_t level, abut_grid_level *out)
{
  char blocks[40], corrections[40];
  abut_array a;
  snprintf(blocks, sizeof blocks, "blocks_%zu", level);
  snprintf(corrections, sizeof corrections, "corrections_%zu", level);
  TRY(need(r, blocks, &a));
  abut_status status = take_blocks(r, &a, out);
  npy_free(&a);
  TRY(status);
  TRY(need(r, corrections, &a));
  status = take_corrections(r, &a, out);
  npy_free(&a);
  return status;
}

/* Returns the level in the name of an array; 0 for other arrays. */
static size_t level_of(const char *member)
{
  static const char *const kinds[] = {"blocks_", "corrections_"};
  for (int i = 0; i < 2; i++) {
    const size_t length = strlen(kinds[i]);
    if (strncmp(member, kinds[i], length) == 0 && member[length] >= '1' && member[length] <= '9' &&
        strcmp(member + length + 1, ".npy") == 0) {
      return (size_t)(member[length] - '0');
    }
  }
  return 0;
}

/* Reads all levels up to the last that has an array. Missing arrays are reported by name. */
static abut_status read_levels(const grid_reader *r, abut_grid *out)
{
  const zip_int64_t members = zip_get_num_entries(r->archive, 0);
  void *memory;
  for (zip_int64_t i = 0; i < members; i++) {
    const char *member = zip_get_name(r->archive, (zip_uint64_t)i, 0);
    const size_t level = member ? level_of(member) : 0;
    out->level_count = level > out->level_count ? level : out->level_count;
  }
  if (out->level_count > GRID_LEVELS_MOST) {
    return fail_at(ABUT_ERROR_FORMAT, r->name, 0, "has %zu levels; at most %d are possible",
                   out->level_count, GRID_LEVELS_MOST);
  }
  TRY(arena_allocate(r->memory, &memory, out->level_count, sizeof *out->levels));
  abut_grid_level *levels = memory;
  out->levels = levels;
  for (size_t i = 0; i < out->level_count; i++) {
    TRY(read_level(r, i + 1, &levels[i]));
  }
  return ABUT_SUCCESS;
}

abut_status grid_file_parse(const char *name, const char *bytes, size_t count, arena *memory,
                            abut_grid *out)
{
  grid_reader r = {name, NULL, memory};
  abut_status status = ABUT_SUCCESS;
  *out = (abut_grid){0};
  TRY(npz_open(name, bytes, count, &r.archive));
  TRY_DONE(read_array(&r, "coefficients", take_coefficients, out));
  TRY_DONE(read_array(&r, "origin", take_origin, out));
  TRY_DONE(read_array(&r, "spacing", take_spacing, out));
  status = read_levels(&r, out);
done:
  zip_discard(r.archive);
  return status;
}

/* ---- files ---- */

abut_status grid_file_read(const json_file *f, const json_at *at, arena *memory, abut_grid *out)
{
  const char *path;
  char *bytes;
  size_t count = 0;
  TRY(named_file_read(f, at, "its grid", memory, &path, &bytes, &count));
  const abut_status status = grid_file_parse(path, bytes, count, memory, out);
  free(bytes);
  return status;
}
