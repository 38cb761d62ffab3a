#include "engine/device/tuning.h"

#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* Scratch of a row without its own: one part in so many of the device's memory, within bounds. */
#define SCRATCH_SHARE 32
#define SCRATCH_LEAST (512 * MIB)
#define SCRATCH_MOST (8192 * MIB)

/* The rows were measured on CPUs, where a work-item processes several lanes and works alone. With 8
 * items per work-group, PoCL takes 0.89 and Intel's runtime 0.72 of the processor time with 1; more
 * items gain nothing. Scratch memory from 8 to 64 MiB is within 2 % on PoCL without other devices.
 * If two devices share the cores, 32 MiB take 0.96 of the time of 16 MiB, with half of the
 * launches. In float64 with AVX-512, 16 lanes take 0.82 (PoCL) and 0.75 (Intel) of the time of 8.
 * GPUs have the lanes in hardware; their rows are not measured yet. A share of their memory as
 * scratch keeps all of a GPU busy with few launches. On NVIDIA, the groups of worlds are one warp,
 * whose barriers cost least. Mesa's llvmpipe (22.3) limits the loops of a work-item to 65535
 * iterations in all and then leaves them without an error. There, work-groups share the work of a
 * pose's many contacts. With 32 MiB, worlds need some forty launches per hundred pairs, a fifth of
 * PoCL's time. With 64 MiB, most of it for pairs, a step takes 0.9 of that time. */
static const tuning_row table[] = {
  {"the host path", NULL, NULL, NULL, NULL, ABUT_DEVICE_HOST, {1, 1}, 1, 1, 16 * MIB, NULL},
  {"llvmpipe", "llvmpipe", NULL, NULL, "rusticl", ANY_TYPE, {16, 8}, 64, 8, 16 * MIB, NULL},
  {"PoCL",
   NULL,
   NULL,
   NULL,
   "Portable Computing Language",
   ABUT_DEVICE_CPU,
   {16, 16},
   1,
   8,
   32 * MIB,
   NULL},
  {"PoCL, worlds",
   NULL,
   NULL,
   NULL,
   "Portable Computing Language",
   ABUT_DEVICE_CPU,
   {16, 16},
   1,
   8,
   64 * MIB,
   "world"},
  {"Intel's CPU runtime",
   NULL,
   NULL,
   NULL,
   "Intel(R) OpenCL",
   ABUT_DEVICE_CPU,
   {16, 16},
   1,
   8,
   32 * MIB,
   NULL},
  {"Oclgrind", NULL, NULL, NULL, "Oclgrind", ANY_TYPE, {1, 1}, 1, 1, 16 * MIB, NULL},
  {"a CPU", NULL, NULL, NULL, NULL, ABUT_DEVICE_CPU, {16, 8}, 1, 8, 16 * MIB, NULL},
  {"a GPU", NULL, NULL, NULL, NULL, ABUT_DEVICE_GPU, {1, 1}, 64, 64, 0, NULL},
  {"an NVIDIA GPU, worlds",
   NULL,
   NULL,
   "NVIDIA",
   NULL,
   ABUT_DEVICE_GPU,
   {1, 1},
   32,
   64,
   0,
   "world"},
  {"a device", NULL, NULL, NULL, NULL, ANY_TYPE, {1, 1}, 64, 64, 16 * MIB, NULL},
};

#define ROWS (sizeof table / sizeof *table)

static bool part_of(const char *wanted, const char *text)
{
  return !wanted || strstr(text, wanted);
}

static bool fits(const tuning_row *r, const abut_device_info *d, const char *module)
{
  return (!r->module || (module && strcmp(r->module, module) == 0)) && part_of(r->name, d->name) &&
         part_of(r->vendor, d->vendor) && part_of(r->platform, d->platform) &&
         (r->type == ANY_TYPE || r->type == (int)d->type) &&
         (!r->architecture || strcmp(r->architecture, d->architecture) == 0);
}

/* The module counts most, then the device's name, its architecture, its vendor and platform, its
 * type. */
static int rank(const tuning_row *r)
{
  return (r->module ? 32 : 0) + (r->name ? 16 : 0) + (r->architecture ? 8 : 0) +
         (r->vendor ? 4 : 0) + (r->platform ? 4 : 0) + (r->type != ANY_TYPE);
}

const tuning_row *tuning_pick(const tuning_row *rows, size_t count, const abut_device_info *info,
                              const char *module)
{
  const tuning_row *best = NULL;
  for (size_t i = 0; i < count; ++i) {
    if (fits(&rows[i], info, module) && (!best || rank(&rows[i]) > rank(best))) {
      best = &rows[i];
    }
  }
  return best;
}

const tuning_row *tuning_row_of(const abut_device_info *info, const char *module)
{
  return tuning_pick(table, ROWS, info, module);
}

/* Kernels count with int: the upper bound keeps each buffer of 4-byte numbers below 2^31 of them.
 */
static uint64_t scratch_by_memory(uint64_t memory)
{
  const uint64_t share = memory / SCRATCH_SHARE / MIB * MIB;
  return share < SCRATCH_LEAST ? SCRATCH_LEAST : share > SCRATCH_MOST ? SCRATCH_MOST : share;
}

tuning tuning_of_row(const tuning_row *row, const abut_device_info *info, abut_precision precision)
{
  const uint64_t scratch = row->scratch_bytes ? row->scratch_bytes
                                              : scratch_by_memory(info->memory_bytes);
  return (tuning){row->lanes[precision], row->group, row->items, scratch};
}

bool tuning_holds(const tuning *t, int *which, const char **what)
{
  const uint32_t n = t->lanes;
  const bool holds[] = {n == 1 || n == 4 || n == 8 || n == 16,
                        t->group && t->group <= 1024 && !(t->group & (t->group - 1)),
                        t->items && t->items <= 1024,
                        t->scratch_bytes >= 64 * KIB && t->scratch_bytes <= MIB * MIB};
  static const char *const ranges[] = {"1, 4, 8 or 16", "a power of two up to 1024", "1 to 1024",
                                       "65536 to 1099511627776"};
  int i = 0;
  while (i < 4 && holds[i]) {
    ++i;
  }
  *which = i;
  *what = i < 4 ? ranges[i] : NULL;
  return i == 4;
}
