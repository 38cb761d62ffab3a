/* How a device is driven: settings of speed that leave the answers alone, up to rounding.
 *
 * They come from the first place that knows the device: the user's own file, which `abut-dev tune`
 * writes after measuring, else the library's table of measurements: its rows for a device's name,
 * its architecture, its vendor or platform, its type. What an abut_context_def names itself stands
 * above both.
 *
 * The user's file is the one that the environment's ABUT_TUNING names, else abut/tuning.json in
 * $XDG_CONFIG_HOME, else ~/.config/abut/tuning.json. None need be there. ABUT_TUNING set and empty
 * turns it off. It is read when a context is made, and anything wrong in it is
 * ABUT_ERROR_FORMAT with file, line and cause.
 */
#ifndef ABUT_TUNING_H
#define ABUT_TUNING_H

#include <abut/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of one device at one precision. Kernels come in modules, which are compiled each for itself:
 * "manifold" (contacts and their derivatives), "witness" (witness points alone), "field" (a body's
 * field at points), "render", "world" (worlds that move), "lcp" (boxed problems), "spring" (springs
 * between clouds), "closest" (closest points of convex shapes), "ccd" (collision in time),
 * "decompose" (superquadrics fitted to meshes) and "shape" (derivatives by shapes, with
 * "manifold"). A module may have settings of its own, but for the lanes, by which bodies lie in
 * memory: those are one for all. */
typedef struct abut_tuning {
  uint32_t lanes;         /* elements that a work-item carries: 1, 4, 8 or 16 */
  uint32_t group;         /* work-items of a work-group where a kernel works in groups: a power of
                             two up to 1024 */
  uint32_t items;         /* work-items of a work-group elsewhere: 1 to 1024 */
  uint64_t scratch_bytes; /* device memory for one chunk of poses or queries: 64 KiB to 1 TiB */
  char source[256];       /* where they were found: "file PATH" or "table: ROW"; not written */
} abut_tuning;

/* The settings that a context of this device takes for a module where its definition names none;
 * module NULL: for every module that has none of its own. The host path has one lane and works
 * alone, whatever a file says.
 * Errors: ABUT_ERROR_ARGUMENT for a module that is none, ABUT_ERROR_DEVICE, ABUT_ERROR_FORMAT,
 * ABUT_ERROR_READ. */
ABUT_API abut_status abut_device_tuning(uint32_t device, abut_precision precision,
                                        const char *module, abut_tuning *out);

/* The user's file, whether or not it is there; NULL where it is turned off or has no place. Free it
 * with abut_free. */
ABUT_API abut_status abut_tuning_path(char **path);

/* Writes a device's settings at one precision into a file as above, beside the others that are
 * there: for a module, whose lanes are left out, or with NULL for all that have none of their own.
 * The file is replaced in one step: after a failure the old one is left.
 * Errors: ABUT_ERROR_ARGUMENT for settings out of range, ABUT_ERROR_DEVICE, ABUT_ERROR_FORMAT and
 * ABUT_ERROR_READ from a file that is there and is none, ABUT_ERROR_WRITE. */
ABUT_API abut_status abut_save_tuning(const char *path, uint32_t device, abut_precision precision,
                                      const char *module, const abut_tuning *tuning);

#ifdef __cplusplus
}
#endif
#endif
