#include "device/tuning.h"

#include <string.h>

#define MIB ((uint64_t)1 << 20)

/* Measured with `abut bench` on CPUs, where a work-item carries lanes and works alone; on GPUs, not
 * measured yet, the hardware has the lanes. Scratch is small enough to stay in a CPU's last cache,
 * large enough to fill a GPU. The first row whose words are found wins. */
static const struct {
  const char *platform, *name; /* NULL fits all */
  int type;                    /* -1 fits all */
  uint32_t lanes[2];           /* by abut_precision */
  uint32_t group, items;
  uint64_t scratch_bytes;
} table[] = {
  {NULL, NULL, ABUT_DEVICE_HOST, {1, 1}, 1, 1, 16 * MIB},
  {"Portable Computing Language", NULL, ABUT_DEVICE_CPU, {16, 8}, 1, 8, 16 * MIB},
  {"rusticl", "llvmpipe", -1, {16, 8}, 1, 8, 16 * MIB},
  {"Oclgrind", NULL, -1, {1, 1}, 1, 1, 16 * MIB},
  {NULL, NULL, ABUT_DEVICE_CPU, {16, 8}, 1, 8, 16 * MIB},
  {NULL, NULL, ABUT_DEVICE_GPU, {1, 1}, 64, 64, 512 * MIB},
  {NULL, NULL, -1, {1, 1}, 64, 64, 16 * MIB},
};

#define ROWS (sizeof table / sizeof table[0])

tuning tuning_for(const abut_device_info *info, abut_precision precision)
{
  size_t i = 0;
  for (; i + 1 < ROWS; ++i) {
    const int fits = (!table[i].platform || strstr(info->platform, table[i].platform)) &&
                     (!table[i].name || strstr(info->name, table[i].name)) &&
                     (table[i].type < 0 || table[i].type == (int)info->type);
    if (fits) {
      break;
    }
  }
  return (tuning){table[i].lanes[precision], table[i].group, table[i].items,
                  table[i].scratch_bytes};
}

abut_status tuning_with(const abut_device_info *info, abut_precision precision,
                        const tuning *wanted, tuning *out)
{
  *out = tuning_for(info, precision);
  if (wanted->lanes == 1 && info->type != ABUT_DEVICE_HOST) {
    out->group = table[ROWS - 1].group;
    out->items = table[ROWS - 1].items;
  }
  out->lanes = wanted->lanes ? wanted->lanes : out->lanes;
  out->group = wanted->group ? wanted->group : out->group;
  out->items = wanted->items ? wanted->items : out->items;
  out->scratch_bytes = wanted->scratch_bytes ? wanted->scratch_bytes : out->scratch_bytes;
  return ABUT_SUCCESS;
}
