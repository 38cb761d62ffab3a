#include "engine/device/tuning_file.h"
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

const sample_kind fuzz_seeds = SAMPLE_TUNING;

/* What was read is in range, and each entry is found by its own device. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
  tuning_file f;
  if (tuning_file_parse("fuzz", (const char *)bytes, count, &f) != ABUT_SUCCESS) {
    PROMISE(!f.entries && !f.count);
    return 0;
  }
  for (size_t i = 0; i < f.count; ++i) {
    const tuning_entry *e = &f.entries[i];
    abut_device_info info = {.type = ABUT_DEVICE_OTHER};
    int which;
    const char *range;
    PROMISE(tuning_holds(&e->values, &which, &range));
    PROMISE(memchr(e->name, 0, sizeof e->name) && memchr(e->platform, 0, sizeof e->platform));
    strcpy(info.name, e->name);
    strcpy(info.platform, e->platform);
    const char *module = *e->module ? e->module : NULL;
    const tuning_entry *found = tuning_file_find(&f, &info, e->precision, module);
    PROMISE(found == e || !found); /* a name that is not ASCII is no device's */
  }
  tuning_file_free(&f);
  return 0;
}
