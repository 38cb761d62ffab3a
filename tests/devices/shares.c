#include "shares.h"

#include "core/scene.h"
#include <math.h>
#include <string.h>

abut_precision precision;

bool find_variants(const char *device, variant v[VARIANTS])
{
  char divided[64];
  abut_device_info infos[64];
  uint32_t whole = 0;
  size_t count = 0;
  if (abut_find_device(device, &whole) != ABUT_SUCCESS) {
    printf("not run: %s\n", abut_last_error());
    return false;
  }
  memset(v, 0, VARIANTS * sizeof *v);
  v[WHOLE] = (variant){"whole", {{whole, 0, 0}}, 1};
  v[PARTS].name = "parts";
  snprintf(divided, sizeof divided, "%s/1", device);
  if (abut_find_devices(divided, v[PARTS].choices, ABUT_DEVICES_MOST, &v[PARTS].count) !=
      ABUT_SUCCESS) {
    printf("without parts: %s\n", abut_last_error());
    v[PARTS].count = 0;
  }
  v[PARTS].count = v[PARTS].count < ABUT_DEVICES_MOST ? v[PARTS].count : ABUT_DEVICES_MOST;
  v[ALL].name = "all of the platform";
  CHECK_OK(abut_list_devices(infos, 64, &count));
  if (infos[whole].type == ABUT_DEVICE_HOST) {
    v[MORE] = (variant){"three times", {{whole, 0, 0}, {whole, 0, 0}, {whole, 0, 0}}, 3};
  } else {
    v[MORE] = v[PARTS];
    v[MORE].name = "whole beside its parts";
    v[MORE].count += v[MORE].count < ABUT_DEVICES_MOST;
    v[MORE].choices[v[MORE].count - 1] = v[WHOLE].choices[0];
  }
  for (size_t i = 0; i < count && i < 64 && v[ALL].count < ABUT_DEVICES_MOST; ++i) {
    if (strcmp(infos[i].platform, infos[whole].platform) == 0) {
      v[ALL].choices[v[ALL].count++] = (abut_device_choice){infos[i].index, 0, 0};
    }
  }
  return true;
}

bool world_open(const variant *v, uint32_t chunk, abut_select select, world *out)
{
  abut_context_def def = abut_default_context_def();
  abut_smoothing smoothing;
  abut_body bodies[2];
  uint64_t seed = 20;
  def.devices = v->choices;
  def.device_count = (uint32_t)v->count;
  def.precision = precision;
  def.chunk = chunk;
  def.fallback = ABUT_FALLBACK_NONE;
  if (!CHECK_OK(abut_create_context(&def, &out->context)) ||
      !random_body(out->context, &seed, &bodies[0]) ||
      !random_body(out->context, &seed, &bodies[1]) ||
      !CHECK_OK(abut_fit_edge_pairs(bodies[0], bodies[1], &smoothing))) {
    return false;
  }
  out->body = bodies[0];
  smoothing.select = select;
  smoothing.edges[0] = 4;
  smoothing.edges[1] = 3;
  smoothing.vertices[0] = 5;
  smoothing.trace = 1;
  return CHECK_OK(abut_create_pair(bodies[0], bodies[1], &smoothing, &out->pair));
}

void world_close(world *w)
{
  CHECK_OK(abut_destroy_context(w->context));
}

void make_poses(double *poses, size_t count, uint64_t seed)
{
  for (size_t i = 0; i < count; ++i) {
    random_pose(&seed, 0.5, poses + 7 * i);
    if (i % 16 == 5) {
      poses[7 * i + 2] = (double)NAN;
    } else if (i % 16 == 13) {
      memset(poses + 7 * i + 3, 0, 4 * sizeof *poses);
    }
  }
}
