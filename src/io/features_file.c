#include "io/features_file.h"

#include "base/error.h"
#include "base/limits.h"
#include "body/feature_check.h"
#include <stdio.h>
#include <string.h>

/* Finds a list of an object; a missing list is empty. */
static abut_status find_list(const json_file *f, const json_at *parent, const char *key,
                             json_at *list, size_t *count)
{
  *count = 0;
  if (!json_find(parent, key, list)) {
    return ABUT_SUCCESS;
  }
  TRY(json_check_array(f, list, 0));
  *count = json_array_size(list->value);
  return *count <= ELEMENT_LIMIT ? ABUT_SUCCESS
                                 : json_fail(f, list, "has %zu elements; at most %zu are possible",
                                             *count, ELEMENT_LIMIT);
}

/* Reads rows of four numbers, each accepted by `fits`. */
static abut_status read_rows(const json_file *f, const json_at *list, size_t count,
                             bool (*fits)(const double row[4], char why[FEATURE_WHY]),
                             arena *memory, const double **out)
{
  void *room;
  char why[FEATURE_WHY];
  TRY(arena_allocate(memory, &room, count, 4 * sizeof(double)));
  double *rows = room;
  for (size_t i = 0; i < count; ++i) {
    const json_at at = json_element(list, i);
    TRY(json_numbers(f, &at, 4, rows + 4 * i));
    if (!fits(rows + 4 * i, why)) {
      return json_fail(f, &at, "%s", why);
    }
  }
  *out = rows;
  return ABUT_SUCCESS;
}

/* Reads `length` numbers, of which the first two are vertices below `count`. */
static abut_status read_ends(const json_file *f, const json_at *at, size_t length, size_t count,
                             double *row, uint32_t ends[2])
{
  TRY(json_numbers(f, at, length, row));
  if (!count) {
    return json_fail(f, at, "the body has no vertices");
  }
  for (size_t k = 0; k < 2; ++k) {
    const json_at end = json_element(at, k);
    json_int_t index;
    TRY(json_whole(f, &end, (json_int_t)count - 1, &index));
    ends[k] = (uint32_t)index;
  }
  return ABUT_SUCCESS;
}

/* ---- features ---- */

static abut_status read_edge(const json_file *f, const json_at *at, bool arc,
                             const abut_body_def *def, abut_feature_edge *out)
{
  double row[9] = {0.0};
  uint32_t ends[2];
  char why[FEATURE_WHY];
  TRY(read_ends(f, at, arc ? 9 : 3, def->feature_vertex_count, row, ends));
  *out = (abut_feature_edge){.from = ends[0], .to = ends[1], .radius = row[2], .arc = arc};
  memcpy(out->centre, row + 3, sizeof out->centre);
  memcpy(out->axis, row + 6, sizeof out->axis);
  return feature_edge_fits(out, def->feature_vertices, def->feature_vertex_count, why)
           ? ABUT_SUCCESS
           : json_fail(f, at, "%s", why);
}

static abut_status refuse_equal(const json_file *f, const json_at lists[2], size_t straight,
                                const abut_body_def *def)
{
  size_t earlier, later;
  TRY(find_equal_edges(def->feature_edges, def->feature_edge_count, &earlier, &later));
  if (later == def->feature_edge_count) {
    return ABUT_SUCCESS;
  }
  const json_at at = later < straight ? json_element(&lists[0], later)
                                      : json_element(&lists[1], later - straight);
  return json_fail(f, &at, "has the same ends as %s %zu", earlier < straight ? "edge" : "arc",
                   earlier < straight ? earlier : earlier - straight);
}

/* Reads rows of circles: centre, axis, size and radius. */
static abut_status read_circles(const json_file *f, const json_at *at, arena *memory,
                                abut_body_def *def)
{
  json_at list;
  void *room;
  TRY(find_list(f, at, "circles", &list, &def->feature_circle_count));
  TRY(arena_allocate(memory, &room, def->feature_circle_count, sizeof(abut_feature_circle)));
  abut_feature_circle *circles = room;
  def->feature_circles = circles;
  for (size_t i = 0; i < def->feature_circle_count; ++i) {
    const json_at element = json_element(&list, i);
    char why[FEATURE_WHY];
    double row[8];
    TRY(json_numbers(f, &element, 8, row));
    circles[i] = (abut_feature_circle){.centre = {row[0], row[1], row[2]},
                                       .axis = {row[3], row[4], row[5]},
                                       .size = row[6],
                                       .radius = row[7]};
    if (!feature_circle_fits(&circles[i], why)) {
      return json_fail(f, &element, "%s", why);
    }
  }
  return ABUT_SUCCESS;
}

static abut_status read_stated(const json_file *f, const json_at *at, arena *memory,
                               abut_body_def *def)
{
  static const char *const keys[] = {"vertices", "edges", "arcs", "circles"};
  json_at vertices, lists[2];
  size_t counts[2];
  void *room;
  TRY(json_check_keys(f, at, keys, 4));
  TRY(json_need(f, at, "vertices", &vertices));
  TRY(find_list(f, at, "vertices", &vertices, &def->feature_vertex_count));
  TRY(read_rows(f, &vertices, def->feature_vertex_count, feature_vertex_fits, memory,
                &def->feature_vertices));
  def->states_features = true;
  TRY(read_circles(f, at, memory, def));
  TRY(find_list(f, at, "edges", &lists[0], &counts[0]));
  TRY(find_list(f, at, "arcs", &lists[1], &counts[1]));
  if (counts[0] + counts[1] > ELEMENT_LIMIT) {
    return json_fail(f, at, "%zu edges and arcs; at most %zu are possible", counts[0] + counts[1],
                     ELEMENT_LIMIT);
  }
  TRY(arena_allocate(memory, &room, counts[0] + counts[1], sizeof(abut_feature_edge)));
  abut_feature_edge *edge = room;
  def->feature_edges = room;
  def->feature_edge_count = counts[0] + counts[1];
  for (size_t list = 0; list < 2; ++list) {
    for (size_t i = 0; i < counts[list]; ++i, ++edge) {
      const json_at element = json_element(&lists[list], i);
      TRY(read_edge(f, &element, list == 1, def, edge));
    }
  }
  return refuse_equal(f, lists, counts[0], def);
}

/* ---- cones ---- */

static abut_status read_edge_cones(const json_file *f, const json_at *list, size_t count,
                                   arena *memory, abut_body_def *def)
{
  const size_t vertices = def->states_features ? def->feature_vertex_count : ELEMENT_LIMIT;
  void *cones, *ends;
  char why[FEATURE_WHY];
  TRY(arena_allocate(memory, &cones, count, 4 * sizeof(double)));
  TRY(arena_allocate(memory, &ends, count, 2 * sizeof(uint32_t)));
  for (size_t i = 0; i < count; ++i) {
    const json_at at = json_element(list, i);
    double row[6];
    TRY(read_ends(f, &at, 6, vertices, row, (uint32_t *)ends + 2 * i));
    memcpy((double *)cones + 4 * i, row + 2, 4 * sizeof(double));
    if (!cone_fits(row + 2, why)) {
      return json_fail(f, &at, "%s", why);
    }
  }
  def->edge_cones = cones;
  def->edge_cone_ends = ends;
  def->edge_cone_count = count;
  const abut_status status = def->states_features ? check_edge_cones(def, NULL, 0) : ABUT_SUCCESS;
  if (status != ABUT_ERROR_BODY) {
    return status;
  }
  snprintf(why, sizeof why, "%s", abut_last_error());
  return json_fail(f, list, "%s", why);
}

static abut_status read_cones(const json_file *f, const json_at *at, arena *memory,
                              abut_body_def *def)
{
  static const char *const keys[] = {"vertices", "edges"};
  json_at list;
  size_t count;
  if (json_is_false(at->value)) {
    def->cones = ABUT_CONES_NONE;
    return ABUT_SUCCESS;
  }
  if (!json_is_object(at->value)) {
    return json_fail(f, at, "must be an object or false");
  }
  TRY(json_check_keys(f, at, keys, 2));
  def->cones = ABUT_CONES_GIVEN;
  TRY(find_list(f, at, "vertices", &list, &count));
  if (count) {
    TRY(read_rows(f, &list, count, cone_fits, memory, &def->vertex_cones));
  }
  if (count && def->states_features && count != def->feature_vertex_count) {
    return json_fail(f, &list, "has %zu cones for %zu vertices", count, def->feature_vertex_count);
  }
  def->vertex_cone_count = count;
  TRY(find_list(f, at, "edges", &list, &count));
  return count ? read_edge_cones(f, &list, count, memory, def) : ABUT_SUCCESS;
}

/* ---- all of it ---- */

abut_status features_read(const json_file *f, const json_at *root, arena *memory,
                          abut_body_def *def)
{
  json_at at;
  char why[FEATURE_WHY];
  if (json_find(root, "features", &at)) {
    TRY(read_stated(f, &at, memory, def));
  }
  if (json_find(root, "sharp", &at)) {
    TRY(json_number(f, &at, &def->sharp));
    if (!sharp_fits(def->sharp, why)) {
      return json_fail(f, &at, "%s", why);
    }
  }
  return json_find(root, "cones", &at) ? read_cones(f, &at, memory, def) : ABUT_SUCCESS;
}
