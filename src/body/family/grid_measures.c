#include "body/family/grid_measures.h"

#include "base/cache_folder.h"
#include "base/memory.h"
#include "body/family/grid_slopes.h"
#include <stdlib.h>
#include <string.h>

/* Increase this whenever the bounds of any grid change. */
#define BOUNDS_VERSION 1
/* For fewer coefficients, computing the bounds is as fast as reading them. */
#define KEPT_LEAST 16384
#define BLOCK_NODES ((size_t)ABUT_GRID_BLOCK * ABUT_GRID_BLOCK * ABUT_GRID_BLOCK)

static const cache_kind kind = {"bounds", ".bounds", 256, (uint64_t)64 << 20};

/* The key covers everything that the bounds depend on; the grid's position is not part of it. */
static cache_key key_of(const abut_grid *g, double real_epsilon)
{
  cache_key key = cache_key_begin();
  const uint64_t numbers[] = {BOUNDS_VERSION, sizeof(grid_bounds), g->size[0],
                              g->size[1],     g->size[2],          g->level_count};
  const double sizes[] = {g->spacing, real_epsilon};
  cache_key_add(&key, ABUT_VERSION);
  cache_key_add_bytes(&key, numbers, sizeof numbers);
  cache_key_add_bytes(&key, sizes, sizeof sizes);
  cache_key_add_words(&key, g->coefficients,
                      g->size[0] * g->size[1] * g->size[2] * sizeof *g->coefficients);
  for (size_t i = 0; i < g->level_count; ++i) {
    const abut_grid_level *l = &g->levels[i];
    cache_key_add_words(&key, l->blocks, 3 * l->block_count * sizeof *l->blocks);
    cache_key_add_words(&key, l->coefficients,
                        l->block_count * BLOCK_NODES * sizeof *l->coefficients);
  }
  return key;
}

/* An entry has the bounds, the reach, and both arrays. */
typedef struct stored {
  grid_bounds bounds;
  double reach;
} stored;

static bool read_entry(const char *folder, const cache_key *key, size_t cells, grid_measures *out)
{
  unsigned char *content = NULL;
  void *slope = NULL, *correction = NULL;
  size_t bytes = 0;
  const size_t row = cells * sizeof(double);
  stored s;
  const bool good = cache_folder_read(folder, &kind, key, &content, &bytes) &&
                    bytes == sizeof s + 2 * row &&
                    allocate(&slope, cells, sizeof(double)) == ABUT_SUCCESS &&
                    allocate(&correction, cells, sizeof(double)) == ABUT_SUCCESS;
  if (good) {
    memcpy(&s, content, sizeof s);
    memcpy(slope, content + sizeof s, row);
    memcpy(correction, content + sizeof s + row, row);
    *out = (grid_measures){s.bounds, {s.reach, slope, correction}};
  } else {
    free(slope);
    free(correction);
  }
  free(content);
  return good;
}

static void write_entry(const char *folder, const cache_key *key, size_t cells,
                        const grid_measures *m)
{
  const size_t row = cells * sizeof(double);
  const stored s = {m->bounds, m->near.reach};
  void *memory;
  if (allocate(&memory, sizeof s + 2 * row, 1) != ABUT_SUCCESS) {
    return;
  }
  unsigned char *content = memory;
  memcpy(content, &s, sizeof s);
  memcpy(content + sizeof s, m->near.slope, row);
  memcpy(content + sizeof s + row, m->near.correction, row);
  cache_folder_write(folder, &kind, key, content, sizeof s + 2 * row);
  free(content);
}

static abut_status find(const abut_grid *g, const grid_tree *t, double real_epsilon,
                        grid_measures *out)
{
  out->bounds = grid_bounds_of(g, real_epsilon);
  return grid_near_create(g, t, &out->near);
}

abut_status grid_measure(const abut_grid *g, const grid_tree *t, double real_epsilon,
                         grid_measures *out)
{
  const size_t cells = t->sides[0] * t->sides[1] * t->sides[2];
  char *folder = grid_coefficient_count(g) < KEPT_LEAST ? NULL : cache_folder_path(&kind);
  abut_status status = ABUT_SUCCESS;
  *out = (grid_measures){0};
  if (!folder) {
    return find(g, t, real_epsilon, out);
  }
  const cache_key key = key_of(g, real_epsilon);
  if (!read_entry(folder, &key, cells, out)) {
    status = find(g, t, real_epsilon, out);
    if (status == ABUT_SUCCESS) {
      write_entry(folder, &key, cells, out);
    }
  }
  free(folder);
  return status;
}

void grid_measures_free(grid_measures *m)
{
  grid_near_free(&m->near);
}
