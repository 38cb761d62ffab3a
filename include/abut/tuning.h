/* Tuning of devices: settings that change speed, and results only by rounding.
 *
 * Settings are taken from the first source that has the device. The first is the user's own file,
 * which `abut-dev tune` writes after measuring. The second is the library's table of measurements:
 * its rows for a device's name, its architecture, its vendor or platform, its type. Settings of an
 * abut_context_def override both.
 *
 * The user's file is the file that the environment variable ABUT_TUNING names, else
 * abut/tuning.json in $XDG_CONFIG_HOME, else ~/.config/abut/tuning.json. It may be missing. An
 * empty ABUT_TUNING turns the file off. The file is read when a context is made. Any fault in it is
 * ABUT_ERROR_FORMAT with file, line and cause.
 */
#ifndef ABUT_TUNING_H
#define ABUT_TUNING_H

#include <abut/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Settings of one device at one precision. Kernels come in modules, which are compiled separately:
 * "manifold" (contacts and their derivatives), "witness" (only witness points), "field" (a body's
 * field at points), "render", "world" (worlds that move), "lcp" (boxed problems), "spring" (springs
 * between clouds), "closest" (closest points of convex shapes), "ccd" (collision in time),
 * "decompose" (superquadrics fitted to meshes) and "shape" (derivatives with respect to shapes,
 * with "manifold"). A module may have settings of its own, except for the lanes, which determine
 * the layout of bodies in memory and are the same for all modules. */
typedef struct abut_tuning {
  uint32_t lanes;         /* elements per work-item: 1, 4, 8 or 16 */
  uint32_t group;         /* work-items of a work-group for kernels that work in groups: a power
                             of two up to 1024 */
  uint32_t items;         /* work-items of a work-group of other kernels: 1 to 1024 */
  uint64_t scratch_bytes; /* device memory for one chunk of poses or queries: 64 KiB to 1 TiB */
  char source[256];       /* source of the settings: "file PATH" or "table: ROW"; not written */
} abut_tuning;

/* Gets the settings that a context of this device takes for a module if its definition names none.
 * NULL as module: for every module without settings of its own. The host path always has one lane
 * and work-groups of one work-item, whatever a file says. Errors: ABUT_ERROR_ARGUMENT for an
 * unknown module, ABUT_ERROR_DEVICE, ABUT_ERROR_FORMAT, ABUT_ERROR_READ. */
ABUT_API abut_status abut_device_tuning(uint32_t device, abut_precision precision,
                                        const char *module, abut_tuning *out);

/* Gets the path of the user's file, whether or not it exists; NULL if the file is turned off or has
 * no place. Free it with abut_free. */
ABUT_API abut_status abut_tuning_path(char **path);

/* Writes a device's settings at one precision into a file as above, and keeps the file's other
 * settings. The settings are for a module, without lanes, or with NULL for all modules without
 * settings of their own. The file is replaced atomically: after a failure the old one remains.
 * Errors: ABUT_ERROR_ARGUMENT for settings out of range, ABUT_ERROR_DEVICE, ABUT_ERROR_FORMAT and
 * ABUT_ERROR_READ if the existing file is not valid, ABUT_ERROR_WRITE. */
ABUT_API abut_status abut_save_tuning(const char *path, uint32_t device, abut_precision precision,
                                      const char *module, const abut_tuning *tuning);

#ifdef __cplusplus
}
#endif
#endif
