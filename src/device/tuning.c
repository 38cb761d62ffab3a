#include "device/tuning.h"

#include <string.h>

/* Measured with `abut bench` on CPUs, where a work-item carries lanes and works alone; on GPUs, not
 * measured yet, the hardware has the lanes. The first row whose words are found wins. */
static const struct {
  const char *platform, *name; /* NULL fits all */
  int type;                    /* -1 fits all */
  tuning values;
} table[] = {
  {NULL, NULL, ABUT_DEVICE_HOST, {{1, 1}, 1, 1}},
  {"Portable Computing Language", NULL, ABUT_DEVICE_CPU, {{16, 8}, 1, 8}},
  {"rusticl", "llvmpipe", -1, {{16, 8}, 1, 8}},
  {"Oclgrind", NULL, -1, {{1, 1}, 1, 1}},
  {NULL, NULL, ABUT_DEVICE_CPU, {{16, 8}, 1, 8}},
  {NULL, NULL, -1, {{1, 1}, 64, 64}},
};

tuning tuning_for(const abut_device_info *info)
{
  size_t i = 0;
  for (; i + 1 < sizeof table / sizeof table[0]; ++i) {
    const int fits = (!table[i].platform || strstr(info->platform, table[i].platform)) &&
                     (!table[i].name || strstr(info->name, table[i].name)) &&
                     (table[i].type < 0 || table[i].type == (int)info->type);
    if (fits) {
      break;
    }
  }
  return table[i].values;
}

tuning tuning_with_lanes(const abut_device_info *info, uint32_t lanes)
{
  tuning t = tuning_for(info);
  if (lanes == 1 && info->type != ABUT_DEVICE_HOST) {
    t = table[sizeof table / sizeof table[0] - 1].values;
  }
  if (lanes) {
    t.lanes[0] = t.lanes[1] = lanes;
  }
  return t;
}
